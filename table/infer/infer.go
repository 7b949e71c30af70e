package infer

import (
	"context"
	"io"
	"slices"
	"time"

	"github.com/noren-privacy/noren"
	"github.com/noren-privacy/noren/table"
	"github.com/noren-privacy/noren/table/personal"
)

// Options say what is looked for.
type Options struct {
	// Columns are the positions in the file of the columns to look at. Nil
	// means all.
	Columns []int
	// Missing are the texts that stand for no value, beside the empty one. Nil
	// means that the usual ones are looked for; an empty slice that there are
	// none.
	Missing []string
	// Distinct is how many distinct values of a column are counted exactly.
	// Defaults to 100,000.
	Distinct int
	// Values is how many distinct values a column may have for all of them to
	// be listed with their counts. Defaults to 50.
	Values int
	// Formats looks for numbers that are not written in the plain format
	// (table.NumberFormat), and for nothing else than plain ones without it: a
	// reader of the plain format takes them for words.
	Formats bool
	// Progress receives the stage "looking", in thousandths.
	Progress noren.Progress
}

// Report is what a table looks like. It holds values of the table.
type Report struct {
	Rows    int64
	Columns []Column
	// Missing are the texts that stand for a missing value in this file, in
	// byte order; the empty text, which always does, is not among them.
	Missing []string
}

// Column is what a column looks like.
type Column struct {
	// Position is its place in the file, from 0.
	Position int
	// Field is what is proposed: name, type, layout, levels and role.
	Field table.Field
	// Declared tells that the file itself declares the type.
	Declared bool
	// TypeReason and RoleReason say why, without any value.
	TypeReason Reason
	RoleReason Reason
	// Layouts are all layouts by which every value of a Date can be read, the
	// proposed one first. More than one means that the file does not tell
	// which number is the day.
	Layouts []table.Layout
	// Records is the number of records with a value, Missing of those without;
	// Tokens tells which texts the missing were, by descending count.
	Records int64
	Missing int64
	Tokens  []Count
	// Nulls is how many of the missing were no text at all but null.
	Nulls int64
	// Distinct is the number of distinct values as they are written. It is an
	// estimate when Estimated is set, with a standard error of 0.8 %.
	Distinct  int64
	Estimated bool
	// Unique tells that no value occurs twice. It is known for sure (never
	// estimated); a column with an estimated number of distinct values is
	// known to be unique only when its numbers rise from record to record.
	Unique bool
	// Smallest and Largest are the extreme values as they are written: by
	// number or date, by rank for Ordered, by bytes for Category. Empty
	// where there is no value.
	Smallest, Largest string
	// Values are all distinct values with their counts, by descending count,
	// where they are few; else nil.
	Values []Count
	// Unit tells that the column seems to name persons of whom the table has
	// several records each: what is guaranteed about records is then not
	// guaranteed about persons.
	Unit bool
	// Personal is what speaks for personal identifiers in the column, by its
	// name or its values; nil where nothing does.
	Personal *personal.Finding
}

// Count is a text and how often it occurs.
type Count struct {
	Text  string
	Count int64
}

// Fields are the proposed fields in the order of the columns.
func (r *Report) Fields() []table.Field {
	fields := make([]table.Field, len(r.Columns))
	for i := range r.Columns {
		fields[i] = r.Columns[i].Field
	}
	return fields
}

// Infer reads src once. Its errors are those of reading.
func Infer(ctx context.Context, src table.Source, opts Options) (_ *Report, err error) {
	if opts.Distinct <= 0 {
		opts.Distinct = 100_000
	}
	if opts.Values <= 0 {
		opts.Values = 50
	}
	all := src.Columns()
	if opts.Columns == nil {
		for i := range all {
			opts.Columns = append(opts.Columns, i)
		}
	}
	r, err := src.Open(ctx, opts.Columns)
	if err != nil {
		return nil, err
	}
	defer func() {
		if e := r.Close(); err == nil && e != nil {
			err = e
		}
	}()
	scans, err := newScans(ctx, src, opts)
	if err != nil {
		return nil, err
	}
	report := &Report{}
	var told time.Time
	for {
		c, err := r.Next()
		if err == io.EOF {
			break
		}
		if err != nil {
			return nil, err
		}
		if err := scans.take(r, c); err != nil {
			return nil, err
		}
		report.Rows += int64(c.Rows)
		if now := time.Now(); opts.Progress != nil && now.Sub(told) > 100*time.Millisecond {
			told = now
			opts.Progress.Report("looking", int64(1000*r.Progress()), 1000)
		}
	}
	opts.Progress.Report("looking", 1000, 1000)
	report.Missing = settleMissing(scans.all)
	for i, s := range scans.all {
		report.Columns = append(report.Columns, s.column(opts.Columns[i], opts.Values, report.Missing))
	}
	return report, nil
}

// settleMissing is the list of texts that stand for missing values in the
// whole file: the clear ones that occur in any column, and those of the others
// that occur among numbers or dates.
func settleMissing(scans []*scan) []string {
	var missing []string
	for _, s := range scans {
		typed := s.guess().typed
		for text, n := range s.seen {
			if n > 0 && text != "" && (s.tokens.clear[text] || typed) && !slices.Contains(missing, text) {
				missing = append(missing, text)
			}
		}
	}
	slices.Sort(missing)
	return missing
}
