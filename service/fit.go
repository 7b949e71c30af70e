package service

import (
	"context"
	"slices"

	"github.com/noren-privacy/noren"
	"github.com/noren-privacy/noren/api"
	"github.com/noren-privacy/noren/spec"
	"github.com/noren-privacy/noren/table"
)

// Codes of errors about a table and its specification.
const (
	// CodeTypesOpen: the specification does not state the type of a column that matters.
	CodeTypesOpen = "types-open"
)

// firstMisfits is how many records with a misfit [Service.Fit] names in a column.
const firstMisfits = 5

// Fit reads a whole table and counts the values that are not of the type that its
// specification states. A specification that leaves the type of a quasi-identifier or
// sensitive column open is an error of kind Usage. The result is private. Other errors
// are those of the specification, or of reading the table.
func (s *Service) Fit(ctx context.Context, r *api.FitRequest) (*api.Fit, error) {
	sp, err := specOf(&r.Table)
	if err != nil {
		return nil, err
	}
	src, err := s.openLooked(ctx, r.Input, sp)
	if err != nil {
		return nil, err
	}
	defer closeTable(src)
	schema, err := sp.Resolve(src.Columns(), func(open []int) ([]table.Field, error) {
		return nil, noren.Usagef(table.PlaceOf(src), "expected the type of column %s", src.Columns()[open[0]].Name).Coded(CodeTypesOpen)
	}, func(path string) (*table.Hierarchy, error) { return spec.LoadHierarchy(path, s.tableNotes()) })
	if err != nil {
		return nil, err
	}
	out := &api.Fit{Columns: make([]api.FittedColumn, len(schema.Fields))}
	columns := make([]*fitting, len(schema.Fields))
	for i := range schema.Fields {
		if columns[i], err = newFitting(&schema.Fields[i], &src.Columns()[i], sp.Input.Missing, &out.Columns[i]); err != nil {
			return nil, about(table.PlaceOf(src, noren.Textf("column %s", schema.Fields[i].Name)), err)
		}
	}
	unit := slices.IndexFunc(schema.Fields, func(f table.Field) bool { return sp.Unit != "" && f.Name == sp.Unit })
	persons := map[string]struct{}{}
	err = eachChunk(ctx, src, func(c *table.Chunk) error {
		for i, column := range columns {
			for row := range c.Rows {
				text, err := column.take(&c.Cols[i], row, c.First+int64(row)+1)
				if err != nil {
					return err
				}
				if i == unit && text != nil {
					if _, known := persons[string(text)]; !known {
						persons[string(text)] = struct{}{}
					}
				}
			}
			column.b.Cut()
		}
		out.Rows += int64(c.Rows)
		return nil
	}, s.Progress)
	if err != nil {
		return nil, err
	}
	out.Persons, out.Hidden, out.Form = int64(len(persons)), hiddenOf(src), tableForm(src, &sp.Input)
	return out, nil
}

// fitting counts the misfits of a column.
type fitting struct {
	stored *table.StoredColumn
	b      *table.Builder
	number *table.NumberReader // nil for plain numbers
	any    bool                // every text fits
	buffer []byte
	plain  []byte
	out    *api.FittedColumn
}

func newFitting(f *table.Field, stored *table.StoredColumn, missing []string, out *api.FittedColumn) (*fitting, error) {
	out.Name, out.Type = f.Name, f.Type.String()
	c := &fitting{stored: stored, any: f.Type == table.Category, out: out}
	plain := *f
	if f.Number != "" {
		var err error
		if c.number, err = f.Number.Reader(); err != nil {
			return nil, err
		}
		plain.Number = ""
	}
	plain.Hierarchy = nil
	var err error
	if c.b, err = table.NewBuilder(plain, missing); err != nil {
		return nil, err
	}
	c.b.Total()
	return c, nil
}

// take looks at one value and returns its text, nil where it is missing. record is the
// number of the record, from 1.
func (c *fitting) take(v *table.Vector, row int, record int64) ([]byte, error) {
	c.buffer = table.AppendText(c.buffer[:0], c.stored, v, row)
	text := c.buffer
	if v.IsNull(row) || c.b.IsMissing(text) {
		c.out.Missing++
		return nil, nil
	}
	if c.any {
		return text, nil
	}
	misfit := false
	if c.number != nil {
		var ok bool
		c.plain, ok = c.number.Plain(c.plain[:0], text)
		if !ok {
			misfit = true
		}
		text = c.plain
	}
	if !misfit {
		before := c.b.Misfits()
		if err := c.b.Append(text); err != nil {
			return nil, err
		}
		misfit = c.b.Misfits() > before
	}
	if misfit {
		if c.out.Misfits++; len(c.out.First) < firstMisfits {
			c.out.First = append(c.out.First, record)
		}
	}
	return c.buffer, nil
}
