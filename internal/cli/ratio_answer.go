package cli

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/noren-privacy/noren"
	"github.com/noren-privacy/noren/query"
	"github.com/noren-privacy/noren/ratio"
	"github.com/noren-privacy/noren/spec"
	"github.com/noren-privacy/noren/table"
	"github.com/noren-privacy/noren/table/file"
)

const ratioAnswerSchema = "noren.ratio.answer/1"

type ratioAnswerFlags struct {
	columnFlags
	meta     string
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
		Short: "Ask the weighted public table about the private one, free of charge",
		Long: `Answers from a table that noren ratio fit has weighted, and from its meta data. The
weights were paid for: nothing is charged, however much is asked.

  mean        of --column
  count       of records that meet --where, and their share
  quantile    of --column, at --rank (0.5, the median)
  histogram   of --column, by --bins or --values (default: all words of the public table)
  regression  of --target on --features, by least squares; words become columns of 0 and 1

Each answer is corrected by what was released (docs/density-ratio.md, section 7), and has
its standard error and its parts: there are only so many public records (public), noise
was added (privacy), the private records are a sample themselves (private), and the
released means do not follow the question in full (model). None of them holds how far
private records differ, in what the columns of the weights do not tell, from the public
ones beside them. Where the public data cannot carry the question, a warning says so.`,
		Example: `  noren ratio answer weighted.csv mean --column income
  noren ratio answer weighted.csv count --where "income > 50000 and sex = 'female'" --json
  noren ratio answer weighted.csv quantile --column income --rank 0.9
  noren ratio answer weighted.csv histogram --column age --bins 0,20,40,60,80
  noren ratio answer weighted.csv regression --target income --features age,sex`,
		Args: exactly("WEIGHTS", "QUESTION"),
		RunE: func(c *cobra.Command, args []string) error { return f.answer(c, t, args[0], args[1]) },
	}
	f.registerTypes(c)
	s := c.Flags()
	s.StringVar(&f.meta, "meta", "", "the meta data of the weights, a JSON `FILE` (default: WEIGHTS"+metaEnding+")")
	s.StringVar(&f.column, "column", "", "the `COLUMN` that is asked about")
	s.StringVar(&f.where, "where", "", `only records that meet this condition, as in "age >= 65 and not (sex = 'male')"`)
	s.Float64Var(&f.rank, "rank", 0.5, "which quantile, between 0 and 1")
	s.StringVar(&f.bins, "bins", "", "`EDGES` of the bins of a column of numbers, rising, comma-separated: bin i is [edge i, edge i+1)")
	s.StringSliceVar(&f.values, "values", nil, "the bins of a column of words: `VALUES`, comma-separated")
	s.StringVar(&f.target, "target", "", "the `COLUMN` that a regression explains")
	s.StringVar(&f.equals, "equals", "", "the target is 1 where it is this `WORD`, 0 where it is another")
	s.StringSliceVar(&f.features, "features", nil, "the `columns` that a regression explains it by")
	s.BoolVar(&f.json, "json", false, "print one JSON object, "+ratioAnswerSchema)
	return c
}

// questions are the kinds of questions, with the flags that each may have.
var questions = map[string][]string{
	"mean": {"column"}, "count": nil, "quantile": {"column", "rank"}, "histogram": {"column", "bins", "values"},
	"regression": {"target", "equals", "features"},
}

func (f *ratioAnswerFlags) answer(c *cobra.Command, t *terminal, path, kind string) error {
	ctx := c.Context()
	own, known := questions[kind]
	if !known {
		return &noren.Error{Kind: noren.Usage, What: fmt.Sprintf("%q is no question", kind), Hint: "ask for mean, count, quantile, histogram or regression"}
	}
	for _, flags := range questions {
		for _, name := range flags {
			if c.Flags().Changed(name) && !slices.Contains(own, name) {
				return &noren.Error{Kind: noren.Usage, Where: "--" + name, What: "is not for a " + kind}
			}
		}
	}
	if slices.Contains(own, "column") && f.column == "" {
		return &noren.Error{Kind: noren.Usage, Where: "--column", What: "say which column is asked about"}
	}
	if kind == "regression" && (f.target == "" || len(f.features) == 0) {
		return &noren.Error{Kind: noren.Usage, What: "a regression needs --target and --features", Hint: "--target income --features age,sex"}
	}
	s, err := f.merged()
	if err != nil {
		return err
	}
	o, err := inputOptions(s)
	if err != nil {
		return err
	}
	v, err := openWeighted(ctx, t, path, f.meta, o)
	if err != nil {
		return err
	}
	defer closeSource(v.source)
	w, tab, err := f.read(ctx, t, s, v)
	if err != nil {
		return err
	}
	a := &asked{kind: kind, where: f.where}
	switch kind {
	case "regression":
		err = f.regression(a, w, tab)
	case "count":
		err = f.count(a, v)
	case "histogram":
		err = f.histogram(a, w, tab.Column(f.column))
	default:
		err = f.number(a, w, tab.Column(f.column))
	}
	if err != nil {
		return err
	}
	if f.json {
		return printJSON(t.stdout, a.json(v))
	}
	a.print(t.stdout, v)
	return nil
}

// read reads the columns that are asked about, and keeps to the records that --where
// is for.
func (f *ratioAnswerFlags) read(ctx context.Context, t *terminal, s *spec.Spec, v *weighted) (*ratio.Weights, *table.Table, error) {
	if s.Name() == "" && len(s.Input.Missing) == 0 {
		s.Input.Missing = v.meta.Missing
	}
	names := append([]string(nil), f.features...)
	for _, name := range []string{f.column, f.target} {
		if name != "" {
			names = append(names, name)
		}
	}
	for i, name := range names {
		if slices.Contains(names[:i], name) {
			return nil, nil, &noren.Error{Kind: noren.Usage, Where: "--features", What: fmt.Sprintf("column %q is named twice", name)}
		}
	}
	var condition *query.Predicate
	fields, err := f.fields(ctx, t, s, v, names)
	if err != nil {
		return nil, nil, err
	}
	if f.where != "" {
		all, err := f.conditionFields(ctx, t, s, v)
		if err != nil {
			return nil, nil, err
		}
		if condition, err = query.ParsePredicate(f.where, all); err != nil {
			return nil, nil, at("--where", err)
		}
		for _, field := range condition.Fields() {
			if !slices.Contains(names, field.Name) {
				names, fields = append(names, field.Name), append(fields, field)
			}
		}
	}
	if len(fields) == 0 {
		return v.weights, nil, nil
	}
	tab, err := file.Read(ctx, v.source, fields, s.Input.Missing, t.progress.report)
	t.progress.clear()
	if err != nil || condition == nil {
		return v.weights, tab, err
	}
	if v.among, err = condition.Select(tab); err != nil {
		return nil, nil, at("--where", err)
	}
	w, err := v.weights.Among(v.among)
	return w, tab, err
}

// conditionFields are all columns, for the condition: types are looked for where a
// column's name stands in it.
func (f *ratioAnswerFlags) conditionFields(ctx context.Context, t *terminal, s *spec.Spec, v *weighted) ([]table.Field, error) {
	var all []table.Field
	var named []string
	for _, c := range v.source.Columns() {
		all = append(all, table.Field{Name: c.Name})
		if c.Name != "" && strings.Contains(f.where, c.Name) && !slices.Contains(named, c.Name) {
			named = append(named, c.Name)
		}
	}
	typed, err := f.fields(ctx, t, s, v, named)
	if err != nil {
		return nil, err
	}
	for i := range all {
		if j := slices.Index(named, all[i].Name); j >= 0 {
			all[i] = typed[j]
		}
	}
	return all, nil
}

// fields are those of the weights' own columns as they were then, unless declared
// otherwise, and of others as they look.
func (f *ratioAnswerFlags) fields(ctx context.Context, t *terminal, s *spec.Spec, v *weighted, names []string) ([]table.Field, error) {
	out := make([]table.Field, len(names))
	var others []string
	for j, name := range names {
		_, declared := s.Columns[name]
		for _, own := range v.frame.Columns() {
			if own.Name == name && !declared {
				out[j] = own
			}
		}
		if out[j].Name == "" {
			others = append(others, name)
		}
	}
	if len(others) == 0 {
		return out, nil
	}
	fields, err := publicFields(ctx, t, s, v.source, others)
	if err != nil {
		return nil, err
	}
	for _, field := range fields {
		out[slices.Index(names, field.Name)] = field
	}
	return out, nil
}
