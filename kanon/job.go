package kanon

import (
	"io"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/noren-privacy/noren"
	"github.com/noren-privacy/noren/kanon/partition"
	"github.com/noren-privacy/noren/kanon/privacy"
	"github.com/noren-privacy/noren/kanon/publish"
	"github.com/noren-privacy/noren/kanon/refine"
	"github.com/noren-privacy/noren/kanon/space"
	"github.com/noren-privacy/noren/table"
	"github.com/noren-privacy/noren/table/csvio"
	"github.com/noren-privacy/noren/table/file"
	"github.com/noren-privacy/noren/table/infer"
)

// Job is one release.
type Job struct {
	// Source is the table. Required.
	Source table.Source
	// Schema has a field for each column of the source, in order. Required;
	// one column at least must be a quasi-identifier.
	Schema table.Schema
	// Missing are the texts that stand for no value, beside the empty one.
	Missing []string
	// Kept names the columns that are kept as they are whatever they look like:
	// the steward has decided on each. Any other column that looks like an
	// identifier, or tells a quasi-identifier, refuses the release (package gate).
	Kept []string
	// Open names the columns that a specification names without a role: they refuse the release
	// whatever they hold.
	Open []string
	// Looked is what infer found of the columns. Optional; it saves a reading.
	Looked *infer.Report
	// Output says where the release goes. Required.
	Output Output
	Options
	// Progress receives progress. Optional.
	Progress noren.Progress
}

// Output says where a release goes and how it is written.
type Output struct {
	// Path is the file, whose ending tells the format; "-" is Stdout, as CSV.
	// Required.
	Path string
	// Force replaces a file that exists.
	Force bool
	// Target is the table of a database, or the folder, that the release goes to
	// instead of a file; Path then names it in messages. Optional.
	Target file.Target
	// Stdout gets the release, once it is verified, when Path is "-".
	Stdout io.Writer
	// Dialect is how a text file is written. Defaults to the source's own.
	Dialect *csvio.Dialect
	// Classes keeps the class of each record in the result ([Result.ClassOf]).
	Classes bool
	// Verified is called when the release is verified and before it is created
	// (or goes to Stdout), with all of its bytes, or those of the manifest of a
	// folder: the place to certify it. Its error gives the release up. Not for a table of a
	// database. Optional.
	Verified func(r *Result, released io.Reader) error
	// VerifiedTable is Verified for a table of a database, and only for it: released is the
	// table as it was read back. Optional.
	VerifiedTable func(r *Result, released table.Source) error
	// Ready is called when nothing is left to do but to create the release (or to
	// pass it to Stdout): the place to create the files that go with it, so that
	// there is no release without them. Its error gives the release up; after
	// another error of [Anonymize] it is on the caller to remove them. Optional.
	Ready func() error
}

// Options are the parameters of a release.
type Options struct {
	// K is the least number of records of a class, or with a Unit of persons.
	// Required.
	K int
	// Unit names the column, of role identifier, that tells whose records belong
	// together: records with the same text in it are one person's, and one
	// without a text counts for no person. K, diversity and closeness then count
	// persons. Defaults to each record being a person's.
	Unit string
	// Linkage is what somebody who looks for a person knows of that person's
	// records. Defaults to one of them. LinkAll works on all records at once, in
	// memory.
	Linkage Linkage
	// Pseudonym keeps the unit's column with a pseudonym of each person in place
	// of the text, drawn for this release alone. Of the records of a person in a
	// class as many have it as each person of the class has at least there.
	// Needs LinkAll.
	Pseudonym bool
	// Diversity and Closeness hold for every sensitive column. Optional.
	Diversity *privacy.Diversity
	Closeness *privacy.Closeness
	// Scale defaults to min-max; the command line's default is z-score.
	Scale space.Scaling
	// Partition holds the method and its parameters; its K, Workers and Progress
	// are set by the job.
	Partition partition.Options
	// Refine defaults to refine.Off; the command line's default is
	// refine.Auto.
	Refine refine.Effort
	// Suppress limits how many records may be left out, those without which the
	// groups lose least; with a Unit all records of a person or none. Defaults to
	// none. It works on all records at once, in memory.
	Suppress Suppression
	// Gap is how long to look for a better lower bound of the loss than the
	// nearest neighbours give. Defaults to not at all. It does not change the
	// release.
	Gap time.Duration
	// Publish defaults to aggregate; the command line's default is matched.
	Publish publish.Mode
	// Ranges says where the ends of published ranges come from. Defaults to the
	// values of the class; fixed ranges need Publish to be generalize.
	Ranges publish.Ranges
	// KeepOrder keeps the order of the records, which links them to the
	// source. Defaults to a secret order.
	KeepOrder bool
	// SecretSeed fixes the search, and together with the source and all parameters
	// the secret order ([Options.OrderKey]); with it the order can be undone. It
	// must be secret and hard to guess: 16 bytes at least, from a random source.
	// Defaults to a drawn order and a search seeded by 0.
	SecretSeed []byte
	// Seed does the same for tests and experiments. It is insecure: small seeds
	// can be tried one after another until one gives the order of the release.
	Seed *uint64
	// Workers defaults to one a processor.
	Workers int
	// Memory is about how many bytes a release holds in memory. What exceeds it
	// goes to temporary files in the folder of the output, which no other user can
	// read and which vanish with the process. Defaults to DefaultMemory. The
	// release does not depend on it.
	Memory int64
	// Block is the least number of records of a block (see the package's guide)
	// where a table is released block by block. Defaults to a choice by size.
	Block int
}

// DefaultMemory is the memory of a release where none is said.
const DefaultMemory = 2 << 30

// Shares of the memory: of the quasi-identifiers, while groups are made, of the
// records, while they are put in order, and of the classes, while they are
// verified.
const (
	columnShare = 3
	orderShare  = 8
	classShare  = 2
)

func (o *Options) memory() int64 {
	if o.Memory <= 0 {
		return DefaultMemory
	}
	return o.Memory
}

// dir is the folder for temporary files, empty for the system's own.
func (o *Output) dir() string {
	if split, ok := o.Target.(file.Split); ok {
		return filepath.Dir(split.Folder())
	}
	if o.Path == "-" || o.Target != nil {
		return ""
	}
	return filepath.Dir(o.Path)
}

// Validate reports all faults of a job at once, as an error of kind Usage.
func (j *Job) Validate() error {
	var faults noren.Texts
	add := func(format noren.Format, args ...any) { faults = append(faults, noren.Textf(format, args...)) }
	if j.K < 1 {
		add("k must be 1 at least: say how many records are to share their quasi-identifiers (5, for instance)")
	}
	if j.Source == nil {
		return &noren.Error{Kind: noren.Usage, What: "a job needs a source"}
	}
	if got, want := len(j.Schema.Fields), len(j.Source.Columns()); got != want {
		add("the schema has %d {field|fields} for %d {column|columns}", got, want)
	}
	if len(j.Schema.WithRole(table.Quasi)) == 0 {
		add("no column is a quasi-identifier: name those that others may know")
	}
	if !slices.ContainsFunc(j.Schema.Fields, func(f table.Field) bool { return !f.Role.Dropped() }) {
		add("every column is dropped: nothing would be left")
	}
	if (j.Diversity != nil || j.Closeness != nil) && len(j.Schema.WithRole(table.Sensitive)) == 0 {
		add("l-diversity and t-closeness are about sensitive columns, and there is none")
	}
	if j.Output.Path == "" {
		add("no output is named")
	}
	_, split := j.Output.Target.(file.Split)
	if database := j.Output.Target != nil && !split; database && j.Output.Verified != nil || !database && j.Output.VerifiedTable != nil {
		add("a file is verified by its bytes, and a table of a database by its records")
	}
	if j.Output.Path == "-" && j.Output.Stdout == nil {
		add("standard output is asked for, and there is none")
	}
	if j.Ranges == publish.Fixed && j.Publish != publish.Generalize {
		add("fixed ranges are a way to generalize, and the table is to be published by %s", j.Publish)
	}
	faults = append(faults, j.unitFaults(&j.Schema)...)
	faults = append(faults, j.suppressionFaults()...)
	if n := len(j.SecretSeed); n > 0 && n < leastSeed {
		add("the secret seed has %d {byte|bytes}, expected %d at least", n, leastSeed)
	}
	if j.SecretSeed != nil && j.Seed != nil {
		add("a secret seed and an insecure one contradict each other")
	}
	if sameFile(j.Source.Name(), j.Output.Path) {
		add("the output is the input: a release never replaces its source")
	}
	if err := j.Requirement().Validate(); err != nil && j.K >= 1 {
		add("%v", err)
	}
	if len(faults) > 0 {
		return &noren.Error{Kind: noren.Usage, What: "%s", Args: []any{faults}}
	}
	return nil
}

// leastSeed is the least number of bytes of a secret seed.
const leastSeed = 16

// sameFile reports whether two names lead to one file, by whatever path or link.
func sameFile(a, b string) bool {
	if b == "-" {
		return false
	}
	x, err := os.Stat(a)
	if err != nil {
		return false
	}
	y, err := os.Stat(b)
	return err == nil && os.SameFile(x, y)
}

// wholeHint says what to do without where a table is too large to be held at once.
const wholeHint = "do without what works on all records at once: a duration to refine, suppression, l-diversity, t-closeness, linkage " +
	"of all records, mondrian, a release without coarse step"

// needsWhole names what of the options works on all records at once, in memory; empty
// where the table can be released block by block.
func (o *Options) needsWhole() noren.Phrase {
	switch {
	case o.Refine.Duration > 0:
		return "a duration to refine"
	case o.Diversity != nil:
		return "l-diversity"
	case o.Closeness != nil:
		return "t-closeness"
	case o.Linkage == LinkAll:
		return "linkage of all records"
	case o.Suppress != Suppression{}:
		return "suppression"
	case (o.Partition.Method == partition.Mondrian || o.Partition.Method == partition.MondrianStrict) &&
		o.Partition.Coarse == partition.CoarseAuto:
		return "mondrian"
	case o.Partition.Coarse == partition.CoarseOff:
		return "a release without coarse step"
	}
	return ""
}
