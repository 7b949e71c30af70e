package assess

import (
	"context"

	"github.com/noren-privacy/noren/kanon/publish"
	"github.com/noren-privacy/noren/table"
)

// AskGrouping asks random questions of a release that groups of a table would
// make, published as o says, without writing it: columns are the quasi-identifiers
// and group is the group of each record, below groups. See [AskQueries].
func AskGrouping(ctx context.Context, columns []*table.Column, group []uint32, groups int, o publish.Options, q QueryOptions) (*Queries,
	error,
) {
	stored := make([]table.StoredColumn, len(columns))
	for j, c := range columns {
		stored[j].Name = c.Field.Name
	}
	published, err := publish.Publish(ctx, columns, stored, group, groups, o)
	if err != nil {
		return nil, err
	}
	shown := make([]*table.Column, len(columns))
	for j, c := range columns {
		if shown[j], err = shownColumn(c, &published[j], group, o.Mode); err != nil {
			return nil, err
		}
	}
	rows := len(group)
	return AskQueries(ctx, &table.Table{Rows: rows, Columns: columns}, &table.Table{Rows: rows, Columns: shown}, q)
}

// shownColumn is a published column as a reader of the release has it.
func shownColumn(original *table.Column, p *publish.Column, group []uint32, mode publish.Mode) (*table.Column, error) {
	f := original.Field
	switch {
	case mode.Boxes() || !f.Type.IsNumber():
		f = table.Field{Name: f.Name, Type: table.Category}
	case f.Type == table.Integer:
		f.Type = table.Decimal // means may have places
	}
	b, err := table.NewBuilder(f, nil)
	if err != nil {
		return nil, err
	}
	var v table.Vector
	var text []byte
	for _, g := range group {
		p.Fill(&v, []uint32{g})
		if v.IsNull(0) {
			b.AppendMissing()
			continue
		}
		text = table.AppendText(text[:0], &p.Stored, &v, 0)
		if err := b.Append(text); err != nil {
			return nil, err
		}
	}
	return b.Column(), nil
}
