package dataset

import (
	"context"

	"github.com/noren-privacy/noren"
	"github.com/noren-privacy/noren/table"
	"github.com/noren-privacy/noren/table/file"
)

// Identity is what a table and its columns are recognised by. It is private.
type Identity struct {
	// Print is the table print.
	Print string
	// Prints are the column prints, by name: of the cells in their order.
	Prints map[string]string
	// Values recognise the columns by their values alone.
	Values map[string]Values
}

// identities computes an [Identity] in one pass.
type identities struct {
	d      *Definition
	keys   Keys
	rows   *rowHash
	tapes  map[string]*tape
	values map[string]*valueHash
}

func newIdentity(src file.Source, d *Definition, k Keys) *identities {
	return &identities{d: d, keys: k, rows: newRowHash(src.Columns(), []Keys{k}), tapes: map[string]*tape{}, values: map[string]*valueHash{}}
}

// column are the cells of a column that are to be read.
func (p *identities) column(stored *table.StoredColumn, c *Column) *cells {
	out := &cells{stored: stored, tape: newTape(p.keys.Column, c.Name)}
	p.tapes[c.Name] = out.tape
	if len(p.keys.Value) > 0 && len(p.keys.Values) > 0 {
		out.values = newValueHash(p.d, c, p.keys)
		p.values[c.Name] = out.values
	}
	return out
}

// identity is that of all that was read.
func (p *identities) identity() Identity {
	out := Identity{Print: p.rows.prints()[0], Prints: map[string]string{}, Values: map[string]Values{}}
	for name, t := range p.tapes {
		out.Prints[name] = t.print()
	}
	for name, v := range p.values {
		out.Values[name] = v.values()
	}
	return out
}

// Identify reads the whole table and returns its identity, as [Inspect] does without its
// review. A file that is not of the form that d describes is an error of kind BadData,
// code "structure", after it was read to its end.
func Identify(ctx context.Context, src file.Source, d *Definition, k Keys) (*Identity, error) {
	out, err := identify(ctx, src, d, k)
	if err == nil {
		return out, nil
	}
	if e := drain(ctx, src); e != nil {
		err = e
	}
	return nil, asStructure(table.PlaceOf(src), err)
}

func identify(ctx context.Context, src file.Source, d *Definition, k Keys) (*Identity, error) {
	d, err := d.Complete()
	if err == nil {
		err = sameColumns(src, d)
	}
	if err != nil {
		return nil, err
	}
	stored := src.Columns()
	of := newIdentity(src, d, k)
	columns, positions := make([]*cells, len(stored)), make([]int, len(stored))
	for i := range stored {
		positions[i] = i
		columns[i] = of.column(&stored[i], d.Column(stored[i].Name))
	}
	records := int64(0)
	err = scan(ctx, src, positions, columns, func(_ table.Reader, c *table.Chunk) error {
		records += int64(c.Rows)
		if records > d.AtMost {
			return structure(table.PlaceOf(src), noren.Textf("expected at most %d records, got more", d.AtMost))
		}
		return of.rows.take(c)
	})
	if err != nil {
		return nil, err
	}
	out := of.identity()
	return &out, nil
}
