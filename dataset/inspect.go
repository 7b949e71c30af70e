package dataset

import (
	"context"
	"slices"

	"github.com/noren-privacy/noren"
	"github.com/noren-privacy/noren/account"
	"github.com/noren-privacy/noren/table"
	"github.com/noren-privacy/noren/table/file"
)

// Review is what a steward sees of a file before confirming its definition. It is
// private: nothing of it is released. It holds no cell.
type Review struct {
	Records int64
	// Columns are in the order of the definition.
	Columns []ColumnReview
	// WithoutUnit is the number of records without a label, and LargestUnit the
	// largest number of records of one label; 0 where the unit is a record.
	WithoutUnit, LargestUnit int64
	// Identity has the prints of the table and of every column.
	Identity
}

// ColumnReview tells how the cells of a column fit its definition.
type ColumnReview struct {
	Name string
	Type string
	// Misfits is the number of cells that do not fit the type and are read as
	// missing; in the column of a model, of those that are no state and no missing
	// text. Missing is the number of cells that are null, empty or a missing text.
	Misfits, Missing int64
	// First are the numbers, from 1, of the first five records with a misfit, and
	// Lines the places of these in the file.
	First []int64
	Lines []string
}

// Misfits is the number of cells that do not fit, and of columns with such cells.
func (r *Review) Misfits() (cells int64, columns int) {
	for i := range r.Columns {
		cells += r.Columns[i].Misfits
		if r.Columns[i].Misfits > 0 {
			columns++
		}
	}
	return cells, columns
}

const firstMisfits = 5

// reviewer applies the cell rule and counts.
type reviewer struct {
	name   string
	b      *table.Builder
	any    bool  // category: every text fits
	misfit int64 // counted here for the column of a model, else by b
	model  bool
	states map[string]bool
	out    *ColumnReview
	fresh  []int // rows of the chunk whose misfits are among the first
	labels map[string]*int64
	none   int64
}

func newReviewer(d *Definition, f table.Field, out *ColumnReview) (*reviewer, error) {
	b, _, err := newTyped(d, f)
	if err != nil {
		return nil, err
	}
	r := &reviewer{name: f.Name, b: b, any: f.Type == table.Category, model: d.isModel(f.Name), out: out}
	if r.model {
		r.states = map[string]bool{}
		for _, s := range d.Model.States {
			r.states[s] = true
		}
	}
	if f.Name == d.Unit && d.Unit != account.Record {
		r.labels = map[string]*int64{}
	}
	return r, nil
}

func (r *reviewer) cell(row int, text []byte) error {
	if len(text) > maxCell {
		return &noren.Error{
			Kind: noren.BadData, Where: noren.Textf("column %s", r.name), What: "holds a cell of more than %d MiB",
			Args: []any{maxCell >> 20},
		}
	}
	missing := r.b.IsMissing(text)
	if missing {
		r.out.Missing++
	}
	if r.labels != nil {
		switch n := r.labels[string(text)]; {
		case missing:
			r.none++
		case n != nil:
			*n++
		default:
			one := int64(1)
			r.labels[string(text)] = &one
		}
	}
	if missing || r.any {
		return nil
	}
	before := r.misfit
	if r.model {
		if !r.states[string(text)] {
			r.misfit++
		}
	} else {
		if err := r.b.Append(text); err != nil {
			return err
		}
		r.misfit = r.b.Misfits()
	}
	if r.misfit > before && len(r.out.First)+len(r.fresh) < firstMisfits {
		r.fresh = append(r.fresh, row)
	}
	return nil
}

// settle notes the places of the first misfits of a chunk and forgets its values.
func (r *reviewer) settle(reader table.Reader, c *table.Chunk, column int) {
	for _, row := range r.fresh {
		r.out.First = append(r.out.First, c.First+int64(row)+1)
		r.out.Lines = append(r.out.Lines, reader.Position(row, column).String())
	}
	r.fresh = r.fresh[:0]
	r.b.Cut()
	r.out.Misfits = r.misfit
}

// InspectOptions are the options of [Inspect].
type InspectOptions struct {
	// Keys are the secret keys of the prints. Required.
	Keys Keys
	// Progress receives the progress of reading, which the steward alone may see.
	// Optional.
	Progress noren.Progress
}

// Inspect decodes the whole file under d and returns how it fits, with all prints
// under the keys. A file that is not of the form that d describes is an error of kind
// BadData, code "structure": a header whose names are not the columns of d, records
// that cannot be decoded, more than d.AtMost records, other than d.Records records,
// or days stored as such in a column with another layout than "YYYY-MM-DD". These
// errors and the review are for the steward only.
//
// Cells that do not fit their type are no error. A text file of one column has a
// record for every blank line behind its header, with an empty cell; in a file of
// several columns blank lines are no records.
func Inspect(ctx context.Context, src file.Source, d *Definition, o InspectOptions) (*Review, error) {
	d, err := d.Complete()
	if err != nil {
		return nil, err
	}
	stored := src.Columns()
	if err := sameColumns(src, d); err != nil {
		return nil, err
	}
	out := &Review{Columns: make([]ColumnReview, len(d.Columns))}
	names := make([]string, len(d.Columns))
	for i := range d.Columns {
		names[i] = d.Columns[i].Name
	}
	at, err := find(src, names) // of each column of d, its position in the file
	if err != nil {
		return nil, err
	}
	columns, positions := make([]*cells, len(stored)), make([]int, len(stored))
	for i := range positions {
		positions[i] = i
	}
	of := newIdentity(src, d, o.Keys)
	for i := range d.Columns {
		out.Columns[i] = ColumnReview{Name: names[i], Type: d.Columns[i].Type}
		review, err := newReviewer(d, d.field(&d.Columns[i]), &out.Columns[i])
		if err != nil {
			return nil, err
		}
		columns[at[i]] = of.column(&stored[at[i]], &d.Columns[i])
		columns[at[i]].review = review
	}
	err = scan(ctx, src, positions, columns, func(r table.Reader, c *table.Chunk) error {
		out.Records += int64(c.Rows)
		if out.Records > d.AtMost {
			return structure(table.PlaceOf(src), noren.Textf("expected at most %d records, got more", d.AtMost))
		}
		for i := range columns {
			columns[i].review.settle(r, c, i)
		}
		if err := of.rows.take(c); err != nil {
			return err
		}
		o.Progress.Report("checking", int64(1000*r.Progress()), 1000)
		return nil
	})
	if err != nil {
		return nil, asStructure(table.PlaceOf(src), err)
	}
	if d.Records > 0 && out.Records != d.Records {
		return nil, structure(table.PlaceOf(src), noren.Textf("expected %d {record|records}, got %d", d.Records, out.Records))
	}
	o.Progress.Report("checking", 1000, 1000)
	for i := range columns {
		r := columns[i].review
		if r.labels != nil {
			out.WithoutUnit = r.none
			for _, n := range r.labels {
				out.LargestUnit = max(out.LargestUnit, *n)
			}
		}
	}
	out.Identity = of.identity()
	return out, nil
}

// sameColumns compares the header with the columns of d as sets.
func sameColumns(src file.Source, d *Definition) error {
	stored := src.Columns()
	have := make(map[string]*table.StoredColumn, len(stored))
	for i := range stored {
		name := stored[i].Name
		if have[name] != nil {
			return structure(table.PlaceOf(src), noren.Textf("has two columns named %q", name))
		}
		have[name] = &stored[i]
		if _, known := slices.BinarySearchFunc(d.Columns, name, compareName); !known {
			return structure(table.PlaceOf(src), noren.Textf("has a column %q that the definition does not have", name))
		}
	}
	for i := range d.Columns {
		c := &d.Columns[i]
		s := have[c.Name]
		if s == nil {
			return structure(table.PlaceOf(src), noren.Textf("has no column %q, which the definition has", c.Name))
		}
		if s.Proposed != nil && *s.Proposed == table.Date && c.Type == table.Date.String() && table.Layout(c.Layout) != table.ISODate {
			return structure(table.PlaceOf(src, noren.Textf("column %s", c.Name)),
				noren.Textf("stores days, which read as %s: expected that layout, got %s", table.ISODate, c.Layout))
		}
	}
	return nil
}

// Prints returns the column prints of the named columns, nil for all of the
// definition, in one pass. Errors are those of [Read].
func Prints(ctx context.Context, src file.Source, d *Definition, names []string, k Keys) (map[string]string, error) {
	if names == nil {
		for i := range d.Columns {
			names = append(names, d.Columns[i].Name)
		}
	}
	p := &plan{}
	for _, name := range names {
		if _, err := d.Field(name); err != nil {
			return nil, err
		}
		if !slices.Contains(p.names, name) {
			p.names, p.cells = append(p.names, name), append(p.cells, &cells{tape: newTape(k.Column, name)})
		}
	}
	_, prints, err := p.read(ctx, src)
	if err == nil {
		return prints, nil
	}
	if e := drain(ctx, src); e != nil {
		err = e
	}
	return nil, asStructure(table.PlaceOf(src), err)
}

// TablePrint returns the table print under each of the keys, in one pass. The
// columns are those of the file, which need no definition. A file that cannot be
// decoded is an error of kind BadData.
func TablePrint(ctx context.Context, src file.Source, keys []Keys) ([]string, error) {
	rows := newRowHash(src.Columns(), keys)
	err := scan(ctx, src, nil, nil, func(_ table.Reader, c *table.Chunk) error {
		return rows.take(c)
	})
	if err != nil {
		return nil, asStructure(table.PlaceOf(src), err)
	}
	return rows.prints(), nil
}

func compareName(c Column, name string) int {
	switch {
	case c.Name < name:
		return -1
	case c.Name > name:
		return 1
	}
	return 0
}
