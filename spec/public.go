package spec

import (
	"context"
	"slices"

	"github.com/noren-privacy/noren"
	"github.com/noren-privacy/noren/table"
	"github.com/noren-privacy/noren/table/infer"
)

// PublicOptions say how a public table is described.
type PublicOptions struct {
	// Progress receives the progress of looking at values. Optional.
	Progress noren.Progress
}

// PublicFields describes the named columns of a public table. A type that neither s nor the
// file states is inferred from the values; a column of whole numbers that s does not declare
// counts as decimal, as other tables of the same columns may hold fractions. Where s comes
// from no file and states no texts for missing values, these are inferred too and returned
// in missing. Errors are of kind Usage, those of reading the file, and the context's.
//
// The table must be public: everything that is inferred from it is.
func (s *Spec) PublicFields(ctx context.Context, src table.Source, names []string, o PublicOptions) (fields []table.Field, missing []string,
	err error,
) {
	at, err := table.Find(src, names)
	if err != nil {
		return nil, nil, err
	}
	stored := src.Columns()
	known := *s
	known.Columns = map[string]Column{}
	for _, name := range names {
		known.Columns[name] = s.Columns[name]
	}
	schema, err := known.Resolve(stored, func(untyped []int) ([]table.Field, error) {
		return make([]table.Field, len(untyped)), nil
	}, noHierarchy)
	if err != nil {
		return nil, nil, err
	}
	look := infer.Options{Progress: o.Progress}
	if s.Name() != "" || len(s.Input.Missing) > 0 {
		look.Missing = append([]string{}, s.Input.Missing...)
	}
	for j, name := range names {
		if !s.declares(name) && stored[at[j]].Proposed == nil && !slices.Contains(look.Columns, at[j]) {
			look.Columns = append(look.Columns, at[j])
		}
	}
	inferred := map[int]table.Field{}
	if len(look.Columns) > 0 {
		found, err := infer.Infer(ctx, src, look)
		if err != nil {
			return nil, nil, err
		}
		if look.Missing == nil {
			missing = found.Missing
		}
		for _, c := range found.Columns {
			inferred[c.Position] = c.Field
		}
	}
	fields = make([]table.Field, len(names))
	for j, i := range at {
		f := schema.Fields[i]
		if g, ok := inferred[i]; ok {
			f = g
		}
		if f.Type == table.Integer && s.Columns[names[j]].Type == "" {
			f.Type = table.Decimal
		}
		fields[j] = table.Field{Name: names[j], Type: f.Type, Levels: f.Levels, Layout: f.Layout}
	}
	return fields, missing, nil
}
