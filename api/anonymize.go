package api

import (
	"io"

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
	// Command says on the page by which command the release was made. Optional.
	Command string `json:"-"`
	// Previous is an earlier release of the same people: the page counts the candidates
	// that remain to a person who holds both. Optional; needs Report.
	Previous string `json:"previous,omitempty"`
	// PreviousSource is the table that Previous was made from.
	PreviousSource string `json:"previous_source,omitempty"`
	// Certificate is the file of a signed certificate of the release. Optional.
	Certificate string `json:"certificate,omitempty"`
	// Force replaces files that exist.
	Force bool `json:"force,omitempty"`
	// Seed fixes the search and the order of the rows: 32 hexadecimal digits or more,
	// drawn at random and kept secret. Defaults to a drawn seed.
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
}

// Release describes a k-anonymous release: noren.anonymize/1. It is private: loss and
// uniqueness are computed from the source.
type Release struct {
	kanon.Result
}
