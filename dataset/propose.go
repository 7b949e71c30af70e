package dataset

import (
	"context"
	"slices"

	"github.com/noren-privacy/noren"
	"github.com/noren-privacy/noren/account"
	"github.com/noren-privacy/noren/table"
	"github.com/noren-privacy/noren/table/csvio"
	"github.com/noren-privacy/noren/table/file"
	"github.com/noren-privacy/noren/table/infer"
	"github.com/noren-privacy/noren/table/parquetio"
	"github.com/noren-privacy/noren/table/parts"
)

// ProposeOptions say what of a definition is given.
type ProposeOptions struct {
	// Fields are the columns whose types, layouts and levels are given. Others
	// are proposed. An ordered column must be given, as levels are never proposed.
	Fields []table.Field
	// Missing are the texts that mean a missing value. Nil means that the usual
	// ones that occur in the file are proposed, but for levels and states.
	Missing []string
	// Neighbours, Unit, AtMost, Records and Model are as in a Definition. The
	// number of records is taken from the file where replace-one neighbours of one
	// record need it and it is not given: it is public under this relation.
	Neighbours, Unit string
	AtMost, Records  int64
	Model            *Model
	// Sharded is as in the form of the file.
	Sharded bool
	// Progress gets the stage "looking", in thousandths.
	Progress noren.Progress
}

// Propose proposes a complete definition of a file: types, layouts and missing
// texts where the options do not give them (package table/infer), the delimiter
// and encoding by which src was opened. It never proposes levels, keys, bounds,
// states or a bound on the number of records. A proposal depends on private data:
// the steward confirms it as a public fact. Errors are those of reading and of
// [Definition.Validate].
func Propose(ctx context.Context, src file.Source, o ProposeOptions) (*Definition, error) {
	stored := src.Columns()
	form := formOf(src)
	form.Sharded = o.Sharded
	d := &Definition{
		Format: Format, File: form, Missing: slices.Clone(o.Missing), Neighbours: o.Neighbours, Unit: o.Unit, AtMost: o.AtMost,
		Records: o.Records, Model: o.Model,
	}
	given, said := map[string]bool{}, []string(nil)
	if o.Model != nil {
		given[o.Model.Column] = true
		said = append(said, o.Model.States...)
	}
	columns := map[string]Column{}
	for _, f := range o.Fields {
		c := Column{Name: f.Name, Type: f.Type.String(), Layout: string(f.Layout), Levels: f.Levels}
		if f.Type != table.Date {
			c.Layout = ""
		}
		columns[f.Name], given[f.Name] = c, true
		said = append(said, f.Levels...)
	}
	look := o.Missing == nil
	for i := range stored {
		look = look || !given[stored[i].Name]
	}
	var records int64
	exact := o.Records == 0 && o.Neighbours == account.ReplaceOne.String() && (o.Unit == "" || o.Unit == account.Record)
	switch {
	case look:
		report, err := infer.Infer(ctx, src, infer.Options{Missing: o.Missing, Progress: o.Progress})
		if err != nil {
			return nil, asStructure(table.PlaceOf(src), err)
		}
		records = report.Rows
		for i := range report.Columns {
			if c := proposed(report.Columns[i].Field); !given[c.Name] {
				columns[c.Name] = c
			}
		}
		if o.Missing == nil {
			d.Missing = slices.DeleteFunc(report.Missing, func(m string) bool { return slices.Contains(said, m) })
		}
	case exact:
		err := scan(ctx, src, []int{}, nil, func(_ table.Reader, c *table.Chunk) error {
			records += int64(c.Rows)
			return nil
		})
		if err != nil {
			return nil, asStructure(table.PlaceOf(src), err)
		}
	}
	if exact {
		d.Records = records
	}
	for i := range stored {
		c, known := columns[stored[i].Name]
		if !known { // the column of the model: completed from its states
			c = Column{Name: stored[i].Name}
		}
		d.Columns = append(d.Columns, c)
		delete(columns, stored[i].Name)
	}
	for i := range o.Fields {
		if _, left := columns[o.Fields[i].Name]; left {
			return nil, d.complete().missingColumn(o.Fields[i].Name)
		}
	}
	return d.Complete()
}

// proposed is a column as package infer sees it, without what it takes from values.
func proposed(f table.Field) Column {
	c := Column{Name: f.Name, Type: f.Type.String()}
	switch f.Type {
	case table.Date:
		c.Layout = string(f.Layout)
	case table.Ordered:
		c.Type = table.Category.String()
	}
	return c
}

// formOf is how the file of src is written.
func formOf(src file.Source) File {
	if o, ok := src.(*opened); ok {
		src = o.Source
	}
	of := table.Source(src)
	if several, ok := src.(*parts.Source); ok {
		of = several.Unwrap() // the grant reads each file in the form of the first
	}
	switch s := of.(type) {
	case *csvio.Source:
		return File{Kind: kindCSV, Delimiter: string(s.Dialect().Delimiter), Encoding: s.Dialect().Encoding.String()}
	case *parquetio.Source:
		return File{Kind: kindParquet}
	}
	return File{}
}
