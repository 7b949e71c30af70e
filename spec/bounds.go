package spec

import (
	"github.com/noren-privacy/noren"
	"github.com/noren-privacy/noren/dataset"
	"github.com/noren-privacy/noren/table"
)

// BoundsFault says why the bounds of a column cannot be those of its type, as a data set reads
// them; it is no text where they can, where there are none, and where the column has no type or
// a format that is none: those are faults of their own. missing are the texts of missing values.
func (c Column) BoundsFault(missing []string) noren.Text {
	kind, err := table.ParseType(c.Type)
	if len(c.Bounds) == 0 || err != nil {
		return noren.Text{}
	}
	field := table.Field{Type: kind}
	if kind == table.Date {
		field.Layout = table.Layout(c.Format)
		if field.Layout.Validate() != nil {
			return noren.Text{}
		}
	}
	return dataset.BoundsFault(field, missing, c.Bounds)
}
