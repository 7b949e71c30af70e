package cli

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/noren-privacy/noren"
	"github.com/noren-privacy/noren/spec"
	"github.com/noren-privacy/noren/table"
	"github.com/noren-privacy/noren/table/file"
	"github.com/noren-privacy/noren/table/infer"
)

// metaEnding is what the name of the meta data has more than that of the weights.
const metaEnding = ".ratio.json"

func newRatio(t *terminal) *cobra.Command {
	c := &cobra.Command{
		Use:   "ratio",
		Short: "Public records that stand in for private ones, weighted with differential privacy",
		Long: `Gives each record of a public table a weight, near the ratio of the private density to
the public one, so that means, counts, quantiles and models of a private table can be
read off the weighted public one: any number of them, at no further budget. Only the
weights are paid for.

Nothing that the public records do not cover can be answered, and in what the columns of
the weights do not tell, private records are taken to be like the public ones beside
them. Every answer says how much that matters; docs/density-ratio.md tells why.`,
		Example: `  noren ratio plan survey.csv --columns age,sex --epsilon 1 --records 2000
  noren ratio fit patients.csv survey.csv --columns age,sex --epsilon 1 -o weighted.csv --report page.html
  noren ratio answer weighted.csv mean --column income
  noren ratio answer weighted.csv count --where "income > 50000" --json
  noren ratio check patients.csv weighted.csv --epsilon 0.2`,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error { return c.Help() },
	}
	c.AddCommand(newRatioPlan(t), newRatioFit(t), newRatioAnswer(t), newRatioCheck(t))
	return c
}

// publicFields are the named columns of a public table, whose types may be looked
// for in its values. Whole numbers that nobody declared count as decimals: those of
// the private table need not be whole. Where nobody named them, the texts that stand
// for missing values are looked for too, and put into the specification.
func publicFields(ctx context.Context, t *terminal, s *spec.Spec, src table.Source, names []string) ([]table.Field, error) {
	at, err := file.Find(src, names)
	if err != nil {
		return nil, err
	}
	stored := src.Columns()
	known := *s
	known.Columns = map[string]spec.Column{}
	for _, name := range names {
		known.Columns[name] = s.Columns[name]
	}
	schema, err := known.Resolve(stored, func(untyped []int) ([]table.Field, error) {
		return make([]table.Field, len(untyped)), nil
	}, loadHierarchy(t))
	if err != nil {
		return nil, err
	}
	o := infer.Options{Progress: t.progress.report}
	if s.Name() != "" || len(s.Input.Missing) > 0 {
		o.Missing = append([]string{}, s.Input.Missing...)
	}
	for j, name := range names {
		c := known.Columns[name]
		declared := c.Type != "" || len(c.Order) > 0 || c.Format != "" || c.Hierarchy != "" || stored[at[j]].Proposed != nil
		if !declared && !slices.Contains(o.Columns, at[j]) {
			o.Columns = append(o.Columns, at[j])
		}
	}
	looked := map[int]table.Field{}
	if len(o.Columns) > 0 {
		found, err := infer.Infer(ctx, src, o)
		t.progress.clear()
		if err != nil {
			return nil, err
		}
		if o.Missing == nil && len(found.Missing) > 0 {
			s.Input.Missing = found.Missing
			t.note("taken for missing values: %s (say --missing to decide otherwise)", strings.Join(found.Missing, ", "))
		}
		for _, c := range found.Columns {
			looked[c.Position] = c.Field
		}
	}
	fields := make([]table.Field, len(names))
	for j, i := range at {
		f := schema.Fields[i]
		if g, inferred := looked[i]; inferred {
			f = g
		}
		if f.Type == table.Integer && s.Columns[names[j]].Type == "" {
			f.Type = table.Decimal
		}
		fields[j] = table.Field{Name: names[j], Type: f.Type, Levels: f.Levels, Layout: f.Layout}
	}
	return fields, nil
}

// pairs reads COLUMN=VALUE of a flag that may be repeated.
func pairs(flag string, list []string, columns []string) (map[string]string, error) {
	out := map[string]string{}
	for _, pair := range list {
		name, value, ok := strings.Cut(pair, "=")
		if !ok || value == "" {
			return nil, &noren.Error{Kind: noren.Usage, Where: flag, What: "expected COLUMN=VALUE"}
		}
		if !slices.Contains(columns, name) {
			return nil, &noren.Error{Kind: noren.Usage, Where: flag, What: fmt.Sprintf("column %q is not among --columns", name)}
		}
		out[name] = value
	}
	return out, nil
}
