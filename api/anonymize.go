package api

import (
	"io"

	"github.com/noren-privacy/noren/assess"
	"github.com/noren-privacy/noren/kanon"
)

// AnonymizeRequest asks for a k-anonymous release of a table. The parameters of the
// release are those of its specification.
type AnonymizeRequest struct {
	Table
	// Output is the file of the release, a table of a database (pg:TABLE), or - for
	// Stdout. With SplitRows it is a folder, or a folder and a name with one star. Required.
	Output string `json:"output"`
	// SplitRows writes files of at most this number of records into the folder, with a
	// manifest. Defaults to one file.
	SplitRows int64 `json:"split_rows,omitempty"`
	// OutputDelimiter is one character, or tab. Defaults to that of the input.
	OutputDelimiter string `json:"output_delimiter,omitempty"`
	// OutputEncoding is the encoding of a text file. Defaults to that of the input.
	OutputEncoding string `json:"output_encoding,omitempty"`
	// Report is the file of a page about risk and utility. It is private. Optional.
	Report string `json:"report,omitempty"`
	// ReportJapanese is the file of the same page in Japanese, which is written beside Report. Optional.
	ReportJapanese string `json:"-"`
	// Command says on the page by which command the release was made. Optional.
	Command string `json:"-"`
	// Previous is an earlier release of the same people: the page counts the candidates
	// that remain to a person who holds both. Optional; needs Report.
	Previous string `json:"previous,omitempty"`
	// PreviousSource is the table that Previous was made from.
	PreviousSource string `json:"previous_source,omitempty"`
	// PreviousQuasi are the quasi-identifiers of Previous. Defaults to the columns that differ
	// from PreviousSource; it is refused where another column may be one.
	PreviousQuasi []string `json:"previous_quasi,omitempty"`
	// PreviousCertificate is the certificate of Previous, which states its
	// quasi-identifiers. Optional; not beside PreviousQuasi.
	PreviousCertificate string `json:"previous_certificate,omitempty"`
	// Certificate is the file of a signed certificate of the release. Optional.
	Certificate string `json:"certificate,omitempty"`
	// Notes are public facts that the page and the certificate state, in plain sentences.
	// Optional.
	Notes []string `json:"notes,omitempty"`
	// Force replaces files that exist.
	Force bool `json:"force,omitempty"`
	// Seed fixes the search, and together with the table and the other parameters the
	// order of the rows: 32 hexadecimal digits or more, drawn at random and kept secret.
	// Two releases that differ in table or parameters have independent orders. Defaults
	// to a drawn seed.
	Seed string `json:"-"`
	// InsecureSeed accepts a whole number as the seed. The order of the rows can then be
	// found by trying seeds; for tests only.
	InsecureSeed bool `json:"-"`
	// Workers is the number of parallel workers. Defaults to one for each processor.
	Workers int `json:"workers,omitempty"`
	// Memory is about how many bytes the release holds in memory. Defaults to 2 GiB.
	Memory int64 `json:"memory,omitempty"`
	// Stdout receives the release where Output is -.
	Stdout io.Writer `json:"-"`
	// Assess measures the release beside its source, as the page does: see
	// [Release.Assessment]. It needs a release in one file.
	Assess bool `json:"-"`
	// PlainNames names files on the page without their folders.
	PlainNames bool `json:"-"`
	// CopyOfDatabase says that Input is a copy of a table of a database, so that a seed
	// gives the order that it gives for that table.
	CopyOfDatabase bool `json:"-"`
}

// ReleasePlanSchema names the JSON form of a [ReleasePlan].
const ReleasePlanSchema = "noren.anonymize.plan/1"

// ReleasePlan says what a release would read, drop, transform and keep:
// noren.anonymize.plan/1. Nothing is written for it. It is private: it holds the numbers
// of records and persons of the source.
type ReleasePlan struct {
	// Schema is noren.anonymize.plan/1.
	Schema string `json:"schema"`
	kanon.Plan
	// Read is how each column would be read, in order.
	Read []ReadColumn `json:"read"`
	// Missing are the texts, besides the empty one, that would be read as missing values.
	Missing []string `json:"missing_texts"`
}

// ReadColumn says how a column is read.
type ReadColumn struct {
	// Column is the column's name.
	Column string `json:"column"`
	// Type of the column: integer, decimal, date, ordered or category.
	Type string `json:"type"`
	// Hierarchy is the file of the column's hierarchy; absent where the column has none.
	Hierarchy string `json:"hierarchy,omitempty"`
}

// Release describes a k-anonymous release: noren.anonymize/1. It is private: loss and
// uniqueness are computed from the source.
type Release struct {
	kanon.Result
	// Assessment is risk and utility, where the request asks for it.
	Assessment *assess.Assessment `json:"-"`
	// Scatter shows two quasi-identifiers before and after, where the request asks for the
	// assessment and the release publishes two columns as numbers.
	Scatter *Scatter `json:"-"`
	// SHA256 is the SHA-256 of the file that was verified, in hexadecimal digits, where the
	// request asks for the assessment.
	SHA256 string `json:"-"`
}

// ScatterMost is the number of records up to which a [Scatter] shows each record.
const ScatterMost = 5000

// ScatterBins is the number of bins of each axis of a [Scatter].
const ScatterBins = 64

// Scatter shows two columns of numbers before and after a release, as points or, above
// [ScatterMost] records, as counts in bins. It is private: it shows the source.
type Scatter struct {
	// X is the column across.
	X string `json:"x"`
	// Y is the column upwards.
	Y string `json:"y"`
	// Before shows the table.
	Before ScatterSide `json:"before"`
	// After shows the release.
	After ScatterSide `json:"after"`
}

// ScatterSide is one side of a [Scatter]: points or bins.
type ScatterSide struct {
	// Points are pairs of x and y.
	Points [][2]float64 `json:"points,omitempty"`
	// XEdges are the ends of the bins across, one more than there are bins.
	XEdges []float64 `json:"x_edges,omitempty"`
	// YEdges are the ends of the bins upwards.
	YEdges []float64 `json:"y_edges,omitempty"`
	// Counts is the number of records of each bin: rows upwards, in each row across.
	Counts [][]int64 `json:"counts,omitempty"`
}
