package spec

import (
	"context"
	"strings"

	"github.com/noren-privacy/noren"
	"github.com/noren-privacy/noren/account"
	"github.com/noren-privacy/noren/dataset"
	"github.com/noren-privacy/noren/table"
	"github.com/noren-privacy/noren/table/file"
)

// DatasetOptions are the parts of a data set's definition that no column states.
type DatasetOptions struct {
	// Neighbours defaults to add-remove, Unit to the record.
	Neighbours account.Neighbours
	Unit       string
	// AtMost and Records bound the number of records: see [dataset.Definition].
	AtMost, Records int64
	// Model is the model of dependence of one column. Optional.
	Model *dataset.Model
	// Sharded is as in [dataset.File].
	Sharded bool
	// Strict refuses columns whose type the specification does not say. Without it
	// their types are proposed from the values.
	Strict bool
	// Progress gets the stage of looking at values.
	Progress noren.Progress
}

// Definition is the definition of the data set in src, as s states it. Proposed
// names the columns whose types s does not say; they were proposed from the
// values, so that the definition depends on private data until the steward
// confirms it. Errors are those of [Spec.Resolve] and [dataset.Propose].
func (s *Spec) Definition(ctx context.Context, src file.Source, o DatasetOptions) (d *dataset.Definition, proposed []string, err error) {
	schema, err := s.Resolve(src.Columns(), nil, noHierarchy)
	if err != nil {
		return nil, nil, err
	}
	p := dataset.ProposeOptions{
		Sharded: o.Sharded, Missing: s.Input.Missing, Neighbours: o.Neighbours.String(), Unit: o.Unit, AtMost: o.AtMost, Records: o.Records,
		Model: o.Model, Progress: o.Progress,
	}
	for i, stored := range src.Columns() {
		f := schema.Fields[i]
		if f.Number != "" {
			return nil, nil, s.fault("columns."+f.Name+".format", noren.Textf("expected plain numbers: the cell rule of data sets knows no "+
				"number formats, so that their definitions stay as they are"), noren.Textf("write the numbers of the file as digits with a point"))
		}
		switch {
		case o.Model != nil && o.Model.Column == f.Name:
		case s.declares(f.Name):
			f.Hierarchy = nil
			p.Fields = append(p.Fields, f)
		case stored.Proposed != nil:
			p.Fields = append(p.Fields, table.Field{Name: f.Name, Type: *stored.Proposed})
		default:
			proposed = append(proposed, f.Name)
		}
	}
	if o.Strict {
		if len(proposed) > 0 {
			return nil, nil, &noren.Error{
				Kind: noren.Usage, Code: "schema-incomplete", Where: table.PlaceOf(src), What: "no type is given for %s", Args: []any{
					strings.Join(proposed, ", "),
				},
				Hint: "a specification must give the type of every column",
			}
		}
		p.Missing = append([]string{}, p.Missing...)
	}
	if s.Name() != "" { // a specification says which texts are missing, also when it says none
		p.Missing = append([]string{}, p.Missing...)
	}
	if d, err = dataset.Propose(ctx, src, p); err != nil {
		return nil, nil, err
	}
	s.defaults(d)
	d, err = d.Complete()
	return d, proposed, err
}

// Assumed is a definition of the columns that s names alone, for computations
// that read no file.
func (s *Spec) Assumed(o DatasetOptions) (*dataset.Definition, error) {
	columns := make([]table.StoredColumn, 0, len(s.Columns))
	for _, name := range s.sortedColumns() {
		columns = append(columns, table.StoredColumn{Name: name})
	}
	schema, err := s.Resolve(columns, nil, noHierarchy)
	if err != nil {
		return nil, err
	}
	d := &dataset.Definition{
		Missing: s.Input.Missing, Neighbours: o.Neighbours.String(), Unit: o.Unit, AtMost: o.AtMost, Records: o.Records,
		Model: o.Model,
	}
	for _, f := range schema.Fields {
		c := dataset.Column{Name: f.Name, Type: f.Type.String(), Levels: f.Levels}
		if f.Type == table.Date {
			c.Layout = string(f.Layout)
		}
		d.Columns = append(d.Columns, c)
	}
	if len(d.Columns) == 0 { // a definition has a column, and a count of all records names none
		d.Columns = []dataset.Column{{Name: "column", Type: table.Category.String()}}
	}
	s.defaults(d)
	return d.Complete()
}

// Of states the columns and the form of d, as a basis on which a new definition of
// the same data set is stated. The column of a model is not stated: its states are
// the model's.
func Of(d *dataset.Definition) *Spec {
	s := &Spec{Version: Version, Columns: map[string]Column{}}
	s.Input = Input{Delimiter: d.File.Delimiter, Encoding: d.File.Encoding, Missing: append([]string{}, d.Missing...)}
	for _, c := range d.Columns {
		if d.Model == nil || d.Model.Column != c.Name {
			s.Columns[c.Name] = Column{Type: c.Type, Format: c.Layout, Order: c.Levels, Bounds: c.Bounds, Keys: c.Keys}
		}
	}
	return s
}

// Over lays s over the schema d of the same data set: what s does not state stays as in
// d. A column whose type, order or format s states is stated anew; its bounds and keys
// stay unless s states them.
func (s *Spec) Over(d *dataset.Definition) *Spec {
	base := Of(d)
	for name := range s.Columns {
		if s.declares(name) {
			c := base.Columns[name]
			base.Columns[name] = Column{Bounds: c.Bounds, Keys: c.Keys}
		}
	}
	return base.With(s)
}

// declares reports whether s says of which type the column is.
func (s *Spec) declares(name string) bool {
	c := s.Columns[name]
	return c.Type != "" || len(c.Order) > 0 || c.Format != "" || c.Hierarchy != ""
}

// defaults gives the columns of d the bounds and keys that s states.
func (s *Spec) defaults(d *dataset.Definition) {
	for i := range d.Columns {
		c := s.Columns[d.Columns[i].Name]
		d.Columns[i].Bounds, d.Columns[i].Keys = c.Bounds, c.Keys
	}
}

// noHierarchy stands for the hierarchy files, which decide nothing about reading.
func noHierarchy(string) (*table.Hierarchy, error) { return nil, nil }
