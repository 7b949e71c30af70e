package spec

import (
	"context"

	"github.com/noren-privacy/noren/table"
	"github.com/noren-privacy/noren/table/file"
	"github.com/noren-privacy/noren/table/infer"
)

// ResolveRelease lays s over a file that may be a release: its identifiers may be
// absent, its quasi-identifiers are text of any type, and types matter for the sensitive
// columns alone. Errors are those of [Spec.ResolveSource].
func (s *Spec) ResolveRelease(ctx context.Context, src file.Source, how Reading) (*Resolved, error) {
	r := s.resolution(how)
	if err := r.settleReleased(ctx, src); err != nil {
		return nil, err
	}
	present := map[string]bool{}
	for _, c := range src.Columns() {
		present[c.Name] = true
	}
	sensitive := map[string]bool{}
	r.Columns = map[string]Column{}
	for name, c := range s.Columns {
		switch {
		case c.Role == table.Sensitive.String():
			sensitive[name] = true
			c = plainNumber(c)
		case !present[name] && (c.Role == table.Identifier.String() || c.Role == table.Drop.String() || c.Role == table.Other.String() ||
			c.Role == ""):
			continue
		default:
			c = Column{Role: c.Role, Type: table.Category.String()}
		}
		r.Columns[name] = c
	}
	if !present[s.Unit] {
		r.Unit = ""
	}
	schema, err := r.Resolve(src.Columns(), func(untyped []int) ([]table.Field, error) {
		fields := make([]table.Field, len(untyped))
		var look, place []int
		for j, at := range untyped {
			fields[j] = table.Field{Type: table.Category}
			if sensitive[src.Columns()[at].Name] {
				look, place = append(look, at), append(place, j)
			}
		}
		if len(look) == 0 {
			return fields, nil
		}
		report, err := infer.Infer(ctx, src, infer.Options{
			Columns: look, Missing: append([]string{}, r.Input.Missing...),
			Progress: how.Progress,
		})
		if err != nil {
			return nil, err
		}
		for i, f := range fieldsAt(report, look) {
			fields[place[i]] = f
		}
		return fields, nil
	}, r.hierarchy)
	if err != nil {
		return nil, err
	}
	return &Resolved{Source: src, Schema: schema, Missing: r.Input.Missing}, nil
}

// plainNumber is a column as a release has it: a release holds plain numbers.
func plainNumber(c Column) Column {
	reader, err := table.NumberFormat(c.Format).Reader()
	if err != nil {
		return c
	}
	if c.Type == "" {
		c.Type = table.Decimal.String()
		if reader.Whole() {
			c.Type = table.Integer.String()
		}
	}
	c.Format = ""
	return c
}
