// Package records holds columns of a table in bounded memory while a release is made.
//
// Columns that do not fit the memory are in temporary files. They are read in two
// orders: their own, a run at a time ([Table.Runs]), and by the cell that each
// record belongs to ([Table.Arrange]).
//
// # Guarantee
//
// The table that is returned does not depend on the memory allowed: not its values, nor
// its order. Temporary files are readable by their owner alone, have no name
// where the system allows that (Unix), and are gone when the table is closed or
// the process dies.
package records

import (
	"context"

	"github.com/noren-privacy/noren"
	"github.com/noren-privacy/noren/internal/tempfile"
	"github.com/noren-privacy/noren/table"
)

// Options say where records are held.
type Options struct {
	// Memory is how many bytes of values are held in memory. Defaults to no
	// bound.
	Memory int64
	// Dir is the folder for temporary files. Defaults to the system's.
	Dir string
	// Progress receives progress. Optional.
	Progress noren.Progress
}

// Table holds columns of n records.
type Table struct {
	// Rows is n.
	Rows int
	// Columns describe the columns: fields, dictionaries, decimal places. In
	// memory (see [Table.InMemory]) they have the values too.
	Columns []*table.Column

	opts  Options
	codec *Codec
	file  *tempfile.File // nil in memory
	ranks [][]uint32     // by column: of the codes that the file has
}

// runRows is the most records of a run.
const runRows = 1 << 16

// Read reads the columns of these fields in one pass; see [table.Read] for
// missing and errors. The table must be closed.
func Read(ctx context.Context, src table.Source, fields []table.Field, missing []string, o Options) (_ *Table, err error) {
	t := &Table{opts: o, codec: NewCodec(fields)}
	defer func() {
		if err != nil {
			t.Close()
		}
	}()
	w := &appender{}
	var last []*table.Column // with the dictionaries as the codes go by them
	whole, err := table.ReadPieces(ctx, src, fields, table.ReadOptions{Missing: missing, Progress: o.Progress},
		func(builders []*table.Builder) error {
			n := builders[0].Len()
			switch {
			case t.file == nil && (o.Memory <= 0 || int64(n)*int64(t.codec.width) <= o.Memory):
				return nil
			case t.file == nil:
				if t.file, err = tempfile.Create(o.Dir); err != nil {
					return err
				}
				w.to = t.file
			case n < runRows:
				return nil
			}
			last = cut(builders)
			return w.rows(t.codec, last)
		})
	if err != nil {
		return nil, err
	}
	t.Rows, t.Columns = whole.Rows, whole.Columns
	if t.file == nil {
		return t, nil
	}
	// What is left has its final dictionary already: back to the order of the
	// file's codes.
	t.ranks = make([][]uint32, len(fields))
	rest := make([]*table.Column, len(fields))
	for j, c := range whole.Columns {
		rest[j] = c
		if c.Field.Type == table.Category {
			words := firstMet(last[j].Dict, c.Dict)
			t.ranks[j] = table.Ranks(words)
			rest[j] = recoded(c, t.ranks[j])
		}
		t.Columns[j] = c.Blank(0)
	}
	if err := w.rows(t.codec, rest); err != nil {
		return nil, err
	}
	return t, w.flush()
}

// cut cuts off what the builders hold.
func cut(builders []*table.Builder) []*table.Column {
	columns := make([]*table.Column, len(builders))
	for j, b := range builders {
		columns[j] = b.Cut()
	}
	return columns
}

// firstMet completes words, the first that were met, by those of dict that came
// after them, in any order: here that of dict.
func firstMet(words, dict []string) []string {
	known := make(map[string]bool, len(words))
	for _, w := range words {
		known[w] = true
	}
	out := append([]string(nil), words...)
	for _, w := range dict {
		if !known[w] {
			out = append(out, w)
		}
	}
	return out
}

// recoded is a column whose codes are ranks, by the codes that have them.
func recoded(c *table.Column, ranks []uint32) *table.Column {
	code := make([]uint32, len(ranks))
	for old, r := range ranks {
		code[r] = uint32(old)
	}
	out := c.Blank(c.Len())
	for i := range out.Codes {
		if c.IsMissing(i) {
			out.SetMissing(i)
		} else {
			out.Codes[i] = code[c.Codes[i]]
		}
	}
	return out
}

// InMemory reports whether the columns have their values.
func (t *Table) InMemory() bool { return t.file == nil }

// Close removes the temporary file, if there is one. It may be called more
// than once.
func (t *Table) Close() {
	if t.file != nil {
		_ = t.file.Close()
	}
}

// Runs calls f with all records in order, a run of them at a time, the first of
// which is record first. The columns are f's own.
func (t *Table) Runs(ctx context.Context, f func(first int, columns []*table.Column) error) error {
	return t.runs(ctx, func(r run) error { return f(r.first, r.columns()) })
}

// run is n records from first on; raw has them as the file does, nil in memory.
type run struct {
	t        *Table
	first, n int
	raw      []byte
}

func (r run) columns() []*table.Column {
	if r.raw != nil {
		return r.t.decode(r.raw, 0, r.n)
	}
	ids := make([]uint32, r.n)
	for i := range ids {
		ids[i] = uint32(r.first + i)
	}
	return r.t.pick(ids)
}

func (t *Table) runs(ctx context.Context, f func(r run) error) error {
	var raw []byte
	if !t.InMemory() {
		raw = make([]byte, runRows*t.codec.width)
	}
	for first := 0; first < t.Rows; first += runRows {
		if err := ctx.Err(); err != nil {
			return err
		}
		r := run{t: t, first: first, n: min(runRows, t.Rows-first)}
		if raw != nil {
			r.raw = raw[:r.n*t.codec.width]
			if _, err := t.file.ReadAt(r.raw, int64(first)*int64(t.codec.width)); err != nil {
				return readError(err)
			}
		}
		if err := f(r); err != nil {
			return err
		}
	}
	return nil
}

// All is the columns of all records, in memory.
func (t *Table) All(ctx context.Context) ([]*table.Column, error) {
	if t.InMemory() {
		return t.Columns, nil
	}
	all := make([]uint32, t.Rows)
	for i := range all {
		all[i] = uint32(i)
	}
	return t.Select(ctx, all)
}

// Select is the columns of the given records, which are in ascending order.
func (t *Table) Select(ctx context.Context, records []uint32) ([]*table.Column, error) {
	if t.InMemory() {
		return t.pick(records), nil
	}
	out := t.blank(len(records))
	at := 0
	err := t.runs(ctx, func(r run) error {
		for ; at < len(records) && int(records[at]) < r.first+r.n; at++ {
			t.codec.Get(r.raw[(int(records[at])-r.first)*t.codec.width:], out, at, t.ranks)
		}
		return nil
	})
	return out, err
}

func (t *Table) pick(records []uint32) []*table.Column {
	out := make([]*table.Column, len(t.Columns))
	for j, c := range t.Columns {
		out[j] = c.Select(records)
	}
	return out
}

func (t *Table) blank(n int) []*table.Column {
	out := make([]*table.Column, len(t.Columns))
	for j, c := range t.Columns {
		out[j] = c.Blank(n)
	}
	return out
}

// decode reads n records, each with lead bytes before it.
func (t *Table) decode(raw []byte, lead, n int) []*table.Column {
	out := t.blank(n)
	for i := range n {
		t.codec.Get(raw[i*(lead+t.codec.width)+lead:], out, i, t.ranks)
	}
	return out
}
