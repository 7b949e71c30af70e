package table

import (
	"context"
	"io"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"github.com/noren-privacy/noren"
)

// ReadOptions say how columns are read.
type ReadOptions struct {
	// Missing are the texts that mean no value, beside the empty one. Defaults to none.
	Missing []string
	// Progress receives the stage "reading", in thousandths of the file. Optional.
	Progress noren.Progress
}

// Read reads the columns that fields name into memory, in one pass: a column
// for every field, in their order. The texts in o.Missing mean no value, and
// so do the empty text and a null.
//
// A value that its type cannot take is an error of kind BadData with its place
// in the file; of several it is the first by record, then by column. A field
// that the file does not have, or that contradicts itself, is an error of kind
// Usage. A day that a Parquet file holds as such is read as one, whatever
// layout the field has; the layout is how it is written.
func Read(ctx context.Context, src Source, fields []Field, o ReadOptions) (*Table, error) {
	return ReadPieces(ctx, src, fields, o, nil)
}

// ReadPieces is [Read] for a table that may not fit memory: each, where it is
// not nil, is called now and then with the builders of all columns, and may cut
// off what they hold (all at the same record; see [Builder.Cut]). The
// columns that are returned hold the records behind the last cut; Rows counts
// all.
func ReadPieces(ctx context.Context, src Source, fields []Field, o ReadOptions, each func(builders []*Builder) error) (_ *Table,
	err error,
) {
	names := make([]string, len(fields))
	for i := range fields {
		names[i] = fields[i].Name
	}
	positions, err := Find(src, names)
	if err != nil {
		return nil, err
	}
	all := src.Columns()
	fills, builders := make([]fill, len(fields)), make([]*Builder, len(fields))
	for i := range fields {
		if all[positions[i]].Nested {
			return nil, &noren.Error{
				Kind: noren.Usage, Code: "nested", Where: noren.Position{File: src.Name(), Field: positions[i] + 1, Column: names[i]},
				What: "expected one value a record, got a list, a map or a group",
				Hint: "drop the column or keep it untouched, or write its parts as columns of their own",
			}
		}
		b, err := NewBuilder(fields[i], o.Missing)
		if err != nil {
			return nil, &noren.Error{Kind: noren.Usage, Where: PlaceOf(src, noren.Textf("column %s", names[i])), Err: err}
		}
		builders[i] = b
		fills[i] = fill{b: b, field: &fields[i], stored: &all[positions[i]], tokens: len(o.Missing) > 0}
	}
	r, err := src.Open(ctx, positions)
	if err != nil {
		return nil, err
	}
	defer func() {
		if e := r.Close(); err == nil && e != nil {
			err = e
		}
	}()
	t := &Table{}
	report := ticker(o.Progress, "reading")
	for {
		c, err := r.Next()
		if err == io.EOF {
			break
		}
		if err != nil {
			return nil, err
		}
		if i, row, bad := takeChunk(fills, c); bad != nil {
			what := noren.TextOf(bad)
			return nil, &noren.Error{
				Kind: noren.BadData, Where: r.Position(row, i), What: what.Format, Args: what.Args,
				Hint: "correct the file, say which texts stand for missing values, or give the column another type than %s", HintArgs: []any{
					fields[i].Type,
				},
			}
		}
		t.Rows += c.Rows
		if each != nil {
			if err := each(builders); err != nil {
				return nil, err
			}
		}
		report(r.Progress())
	}
	report(1)
	for i := range fills {
		t.Columns = append(t.Columns, fills[i].b.Column())
	}
	return t, nil
}

// ReadText is [Read] for columns whose text alone matters: each becomes a
// Category, coded by its distinct texts. nil names reads all columns.
func ReadText(ctx context.Context, src Source, names []string, o ReadOptions) (*Table, error) {
	if names == nil {
		for _, c := range src.Columns() {
			names = append(names, c.Name)
		}
	}
	fields := make([]Field, len(names))
	for i := range names {
		fields[i] = Field{Name: names[i], Type: Category}
	}
	return Read(ctx, src, fields, o)
}

// ticker returns a function that reports a share of the work as thousandths,
// some ten times a second.
func ticker(progress noren.Progress, stage string) func(share float64) {
	if progress == nil {
		return func(float64) {}
	}
	var last time.Time
	return func(share float64) {
		if now := time.Now(); share >= 1 || now.Sub(last) >= 100*time.Millisecond {
			last = now
			progress.Report(stage, int64(1000*share), 1000)
		}
	}
}

// fill brings the values of a stored column to its builder.
type fill struct {
	b      *Builder
	field  *Field
	stored *StoredColumn
	tokens bool // texts other than the empty one stand for no value
	buf    []byte
}

// takeChunk fills all columns, several at a time, and returns the first value
// that its column refuses.
func takeChunk(fills []fill, c *Chunk) (column, row int, err error) {
	rows, errs := make([]int, len(fills)), make([]error, len(fills))
	workers := min(runtime.GOMAXPROCS(0), len(fills))
	var next atomic.Int64
	work := func() {
		for {
			i := int(next.Add(1)) - 1
			if i >= len(fills) {
				return
			}
			rows[i], errs[i] = fills[i].take(&c.Cols[i], c.Rows)
		}
	}
	var wg sync.WaitGroup
	for range workers - 1 {
		wg.Go(work)
	}
	work()
	wg.Wait()
	for i := range errs {
		if errs[i] != nil && (err == nil || rows[i] < row) {
			column, row, err = i, rows[i], errs[i]
		}
	}
	return column, row, err
}

// take appends n values; it returns the first that is refused.
func (f *fill) take(v *Vector, n int) (row int, err error) {
	text := v.Kind == Text && f.stored.AppendText == nil
	number := v.Kind == Int && f.stored.AppendText == nil && f.field.Type == Integer && !f.tokens
	day := f.field.Type == Date && f.stored.Proposed != nil && *f.stored.Proposed == Date
	for i := range n {
		switch {
		case v.IsNull(i):
			f.b.AppendMissing()
			continue
		case text:
			err = f.b.Append(v.Texts[i])
		case number:
			f.b.AppendInt(v.Ints[i])
		default:
			f.buf = AppendText(f.buf[:0], f.stored, v, i)
			if day {
				err = f.takeDay()
			} else {
				err = f.b.Append(f.buf)
			}
		}
		if err != nil {
			return i, err
		}
	}
	return 0, nil
}

// takeDay appends the date in f.buf, which is written in the ISO form.
func (f *fill) takeDay() error {
	if f.b.IsMissing(f.buf) {
		f.b.AppendMissing()
		return nil
	}
	days, err := ISODate.Parse(string(f.buf))
	if err != nil {
		return err
	}
	if f.field.Layout.HasTime() {
		days *= 24 * 60 * 60
	}
	f.b.AppendInt(days)
	return nil
}

func columnNames(src Source) []string {
	var names []string
	for _, c := range src.Columns() {
		names = append(names, c.Name)
	}
	return names
}

// Find returns the positions in src of the columns of those names. One that is
// not there is an error of kind Usage, code "column-missing".
func Find(src Source, names []string) ([]int, error) {
	at := make(map[string]int)
	for i, c := range src.Columns() {
		at[c.Name] = i
	}
	found := make([]int, len(names))
	for i, name := range names {
		p, ok := at[name]
		if !ok {
			e := &noren.Error{Kind: noren.Usage, Code: "column-missing", Where: PlaceOf(src), What: "has no column %q", Args: []any{name}}
			if best := Nearest(name, columnNames(src)); best != "" {
				e.Hinted("did you mean %s?", best)
			}
			return nil, e
		}
		found[i] = p
	}
	return found, nil
}
