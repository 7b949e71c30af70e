package cli

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/noren-privacy/noren"
	"github.com/noren-privacy/noren/kanon/gate"
	"github.com/noren-privacy/noren/spec"
	"github.com/noren-privacy/noren/table"
	"github.com/noren-privacy/noren/table/file"
	"github.com/noren-privacy/noren/table/infer"
)

// resolve lays a specification over a file. Types that it does not say are
// inferred from the file; so are the texts that stand for missing values when
// neither a specification file nor a flag names any.
func resolve(ctx context.Context, s *spec.Spec, src table.Source, t *terminal) (*table.Schema, error) {
	schema, _, err := resolveLooking(ctx, s, src, t)
	return schema, err
}

// resolveLooking is resolve, and returns what was found out about the columns
// that had to be looked at, nil when there were none.
func resolveLooking(ctx context.Context, s *spec.Spec, src table.Source, t *terminal) (*table.Schema, *infer.Report, error) {
	var looked *infer.Report
	schema, err := s.Resolve(src.Columns(), func(untyped []int) ([]table.Field, error) {
		report, err := look(ctx, s, src, untyped, t)
		if err != nil {
			return nil, err
		}
		looked = report
		fields := make([]table.Field, 0, len(untyped))
		for _, at := range untyped {
			for i := range report.Columns {
				if report.Columns[i].Position == at {
					fields = append(fields, report.Columns[i].Field)
				}
			}
		}
		return fields, nil
	}, loadHierarchy(t))
	return schema, looked, err
}

// look infers the columns whose type is wanted and those that nobody named,
// which may turn out to be identifiers.
func look(ctx context.Context, s *spec.Spec, src table.Source, untyped []int, t *terminal) (*infer.Report, error) {
	o := infer.Options{Formats: true, Progress: t.progress.report}
	if s.Name() != "" || len(s.Input.Missing) > 0 {
		o.Missing = append([]string{}, s.Input.Missing...)
	}
	wanted := map[int]bool{}
	for _, at := range untyped {
		wanted[at] = true
	}
	for i, c := range src.Columns() {
		if _, named := s.Columns[c.Name]; named && !wanted[i] {
			continue
		}
		o.Columns = append(o.Columns, i)
	}
	report, err := infer.Infer(ctx, src, o)
	if err != nil {
		return nil, err
	}
	if o.Missing == nil && len(report.Missing) > 0 {
		tellMissing(t, s, report.Missing)
	}
	return report, nil
}

// formatsOf are the number formats of a schema by column.
func formatsOf(schema *table.Schema) map[string]table.NumberFormat {
	formats := map[string]table.NumberFormat{}
	for _, f := range schema.Fields {
		if f.Number != "" {
			formats[f.Name] = f.Number
		}
	}
	return formats
}

// withNumbers is src, and its schema, with all numbers plain; it says by which
// formats the columns are read whose formats were found in the file.
func withNumbers(t *terminal, s *spec.Spec, src file.Source, schema *table.Schema, looked *infer.Report) (file.Source, *table.Schema, error) {
	for _, f := range schema.Fields {
		if f.Number != "" && s.Columns[f.Name].Format == "" {
			t.note("column %s: numbers are read as %s and written plain (say --format to decide otherwise)", f.Name, f.Number)
		}
	}
	plain, fields, err := file.WithNumbers(src, schema.Fields)
	if err != nil {
		return nil, nil, err
	}
	if looked != nil { // of a column that is rewritten, or kept as words, it is looked at again
		looked.Columns = slices.DeleteFunc(looked.Columns, func(c infer.Column) bool { return c.Field.Number != "" || schema.Fields[c.Position].Number != "" })
	}
	return plain, &table.Schema{Fields: fields}, nil
}

// tellIndex names the columns that are dropped because they are the row index of
// the tool that wrote the file.
func tellIndex(t *terminal, s *spec.Spec, src table.Source) {
	for _, c := range src.Columns() {
		if _, named := s.Columns[c.Name]; !named && c.Index {
			t.note("%s is dropped: it is the row index of pandas, which can link the release to the source (--other %s keeps it)", c.Name, c.Name)
		}
	}
}

// tellReaders warns of kept columns that not every tool can read in OUTPUT.
func tellReaders(t *terminal, output string, src table.Source, schema *table.Schema) {
	for i, c := range src.Columns() {
		if schema.Fields[i].Role == table.Other || schema.Fields[i].Role == table.Sensitive {
			if what := file.Unreadable(output, &c); what != "" {
				t.warn("column %s of %s: %s", c.Name, output, what)
			}
		}
	}
}

// tellKept names the columns that were given no role: they are kept as they are.
func tellKept(t *terminal, s *spec.Spec, schema *table.Schema) {
	var kept []string
	for _, f := range schema.Fields {
		if _, named := s.Columns[f.Name]; !named && f.Role == table.Other {
			kept = append(kept, f.Name)
		}
	}
	if len(kept) > 0 {
		t.note("kept untouched: %s (name what others may know in --quasi, what names a person in --identifier)", strings.Join(kept, ", "))
	}
}

// keptBy names the columns whose role a specification or a flag says to be other.
func keptBy(s *spec.Spec) []string {
	var names []string
	for name, c := range s.Columns {
		if c.Role == table.Other.String() {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

// decideHint says by which flags the columns of a refusal are decided on.
func decideHint(err error) error {
	var e *noren.Error
	var refused *gate.Refused
	if !errors.As(err, &e) || !errors.As(err, &refused) {
		return err
	}
	names := make([]string, len(refused.Columns))
	for i, c := range refused.Columns {
		names[i] = c.Column
	}
	list := strings.Join(names, ",")
	return &noren.Error{
		Kind: e.Kind, Code: e.Code, Where: e.Where, What: e.What,
		Hint: fmt.Sprintf("decide on each: --identifier %s drops, --quasi %s transforms, --other %s keeps; or write its role in a specification", list, list, list),
	}
}
