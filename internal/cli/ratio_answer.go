package cli

import (
	"github.com/spf13/cobra"

	"github.com/noren-privacy/noren/api"
)

type ratioAnswerFlags struct {
	columnFlags
	weightsFlags
	column   string
	where    string
	rank     float64
	bins     string
	values   []string
	target   string
	equals   string
	features []string
	json     bool
}

func newRatioAnswer(t *terminal) *cobra.Command {
	var f ratioAnswerFlags
	c := &cobra.Command{
		Use:   "answer WEIGHTS mean|count|quantile|histogram|regression",
		Short: "Estimate statistics of the private table from a weighted public table, free of charge",
		Args:  exactly("WEIGHTS", "QUESTION"),
		RunE:  func(c *cobra.Command, args []string) error { return f.answer(c, t, args[0], args[1]) },
	}
	f.registerTypes(c)
	f.weightsFlags.register(c)
	s := c.Flags()
	s.StringVar(&f.column, "column", "", "the `COLUMN` of the question")
	s.StringVar(&f.where, "where", "", `only records that meet this condition, as in "age >= 65 and not (sex = 'male')"`)
	s.Float64Var(&f.rank, "rank", 0.5, "which quantile, between 0 and 1")
	s.StringVar(&f.bins, "bins", "", "`EDGES` of the bins of a column of numbers, rising, comma-separated: bin i is [edge i, edge i+1)")
	s.StringSliceVar(&f.values, "values", nil, "the bins of a column of categories: `VALUES`, comma-separated")
	s.StringVar(&f.target, "target", "", "the `COLUMN` that a regression explains")
	s.StringVar(&f.equals, "equals", "", "the target is 1 where it is this `CATEGORY`, 0 where it is another")
	s.StringSliceVar(&f.features, "features", nil, "the `columns` that a regression explains it by")
	s.BoolVar(&f.json, "json", false, "print one JSON object, "+api.RatioAnswerSchema)
	return c
}

func (f *ratioAnswerFlags) answer(c *cobra.Command, t *terminal, path, kind string) error {
	schema, err := f.schema()
	if err != nil {
		return err
	}
	q := &api.RatioAnswerRequest{
		RatioWeights: api.RatioWeights{Weights: path, Meta: f.meta}, SpecFile: f.spec, Spec: schema, Question: kind, Column: f.column,
		Where: f.where, Values: f.values, Target: f.target, Equals: f.equals, Features: f.features,
	}
	if c.Flags().Changed("rank") {
		q.Rank = &f.rank
	}
	if f.bins != "" {
		q.Bins = splitList(f.bins)
	}
	defer t.progress.clear()
	out, err := t.service(nil).RatioAnswer(c.Context(), q)
	if err != nil {
		return explainRatio(err)
	}
	t.progress.clear()
	if f.json {
		return printJSON(t.stdout, out)
	}
	printRatioAnswer(t.stdout, out)
	return nil
}
