package cli

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"noren"
	"noren/internal/spec"
	"noren/query"
	"noren/ratio"
	"noren/table"
	"noren/table/file"
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

Each answer has its standard error and its parts: there are only so many public records
(public), noise was added (privacy), and the private records are a sample themselves
(private). None of them holds the bias of the model: how far private records differ, in
what the columns of the weights do not tell, from the public ones beside them. Where the
public data cannot carry the question, a warning says so.`,
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

// weighted is a weighted table with its meta data, held together.
type weighted struct {
	path    string
	meta    *ratio.Meta
	frame   *ratio.Frame
	points  *ratio.Points
	weights *ratio.Weights
	among   []bool // the records that --where is for; nil for all
	source  file.Source
}

// openWeighted reads a weighted table, makes its weights again from the meta data, and
// compares. The caller closes its source.
func openWeighted(ctx context.Context, t *terminal, path, metaPath string, o file.Options) (_ *weighted, err error) {
	if metaPath == "" {
		metaPath = path + metaEnding
	}
	text, err := os.ReadFile(metaPath)
	if err != nil {
		e := &noren.Error{Kind: noren.Usage, Where: metaPath, What: "the meta data of the weights cannot be read", Hint: "noren ratio fit writes them beside the weights; --meta FILE says where they are now"}
		if !errors.Is(err, fs.ErrNotExist) {
			e.Err = errors.Unwrap(err)
		}
		return nil, e
	}
	v := &weighted{path: path}
	if v.meta, err = ratio.DecodeMeta(text); err != nil {
		return nil, at(metaPath, err)
	}
	if v.frame, err = v.meta.Frame(); err != nil {
		return nil, at(metaPath, err)
	}
	if v.source, err = file.Open(ctx, path, o); err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			closeSource(v.source)
		}
	}()
	column := v.meta.Column
	if column == "" {
		column = "weight"
	}
	fields := append(v.frame.Columns(), table.Field{Name: column, Type: table.Decimal})
	tab, err := file.Read(ctx, v.source, fields, v.meta.Missing, t.progress.report)
	t.progress.clear()
	if err != nil {
		return nil, err
	}
	if v.points, err = v.frame.Points(tab); err != nil {
		return nil, at(path, err)
	}
	if v.weights, err = ratio.Open(ctx, v.meta, v.points); err != nil {
		return nil, at(path, err)
	}
	if err = v.weights.Same(tab.Columns[len(tab.Columns)-1].Floats); err != nil {
		return nil, at(path, err)
	}
	return v, nil
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

// count is of the records that meet --where, or of all.
func (f *ratioAnswerFlags) count(a *asked, v *weighted) (err error) {
	in := v.among
	if in == nil {
		in = slices.Repeat([]bool{true}, len(v.weights.W))
	}
	share := make([]float64, len(in))
	for i, holds := range in {
		if holds {
			share[i] = 1
		}
	}
	a.of = "count"
	if a.one, err = v.weights.Count(in); err != nil {
		return err
	}
	a.share, err = v.weights.Mean(share)
	return err
}

// number is a mean or a quantile.
func (f *ratioAnswerFlags) number(a *asked, w *ratio.Weights, c *table.Column) (err error) {
	if c.Field.Type == table.Category || c.Field.Type == table.Ordered && a.kind == "mean" {
		return &noren.Error{Kind: noren.Usage, Where: "--column " + f.column, What: "the column is of words, which have no " + a.kind, Hint: "ask for a count --where, or a histogram; or declare it: --type " + f.column + "=decimal"}
	}
	a.field = c.Field
	if a.kind == "mean" {
		a.of = "mean of " + f.column
		a.one, err = w.Mean(numbersOf(c))
		return err
	}
	a.of = fmt.Sprintf("%g-quantile of %s", f.rank, f.column)
	if a.one, err = w.Quantile(numbersOf(c), f.rank); err != nil {
		return at("--rank", err)
	}
	return nil
}

// numbersOf are a column's numbers, NaN where missing.
func numbersOf(c *table.Column) []float64 {
	out := make([]float64, c.Len())
	for i := range out {
		if out[i] = c.Number(i); c.IsMissing(i) {
			out[i] = math.NaN()
		}
	}
	return out
}

func (f *ratioAnswerFlags) histogram(a *asked, w *ratio.Weights, c *table.Column) error {
	a.of, a.field = "histogram of "+f.column, c.Field
	words := c.Field.Type == table.Category || c.Field.Type == table.Ordered
	bin := make([]int, c.Len())
	switch {
	case f.bins != "" && len(f.values) > 0:
		return &noren.Error{Kind: noren.Usage, Where: "--bins", What: "goes without --values"}
	case words && f.bins != "":
		return &noren.Error{Kind: noren.Usage, Where: "--bins", What: "the column is of words", Hint: "--values, or declare it: --type " + f.column + "=decimal"}
	case !words && f.bins == "":
		return &noren.Error{Kind: noren.Usage, Where: "--bins", What: "say where the bins of a column of numbers end", Hint: "--bins 0,20,40,60,80"}
	case words:
		if a.labels = f.values; len(a.labels) == 0 {
			a.labels = c.Dict
		}
		for i := range bin {
			bin[i] = -1
			if !c.IsMissing(i) {
				bin[i] = slices.Index(a.labels, c.Dict[c.Codes[i]])
			}
		}
	default:
		var edges []float64
		texts := splitList(f.bins)
		for _, text := range texts {
			edge, err := query.ParseBound(c.Field, text)
			if err != nil {
				return at("--bins", err)
			}
			if len(edges) > 0 && edge <= edges[len(edges)-1] {
				return &noren.Error{Kind: noren.Usage, Where: "--bins", What: "the edges must rise"}
			}
			edges = append(edges, edge)
		}
		if len(edges) < 2 {
			return &noren.Error{Kind: noren.Usage, Where: "--bins", What: "at least two edges are needed"}
		}
		for i := range edges[1:] {
			a.labels = append(a.labels, "["+texts[i]+", "+texts[i+1]+")")
		}
		for i := range bin {
			bin[i] = -1
			if c.IsMissing(i) {
				continue
			}
			at, found := slices.BinarySearch(edges, c.Number(i))
			if !found {
				at--
			}
			if at < len(edges)-1 {
				bin[i] = at
			}
		}
	}
	var err error
	a.several, err = w.Histogram(bin, len(a.labels))
	return err
}

// regression lays out target and features; of words all but the first are columns.
func (f *ratioAnswerFlags) regression(a *asked, w *ratio.Weights, tab *table.Table) error {
	a.of = "regression of " + f.target + " on " + strings.Join(f.features, ", ")
	a.labels = []string{"(intercept)"}
	target := tab.Column(f.target)
	a.field = target.Field
	y := numbersOf(target)
	words := func(c *table.Column) bool { return c.Field.Type == table.Category || c.Field.Type == table.Ordered }
	switch {
	case words(target) && f.equals == "":
		return &noren.Error{Kind: noren.Usage, Where: "--target " + f.target, What: "the column is of words", Hint: "--equals WORD: 1 where it is that word, 0 where it is another"}
	case !words(target) && f.equals != "":
		return &noren.Error{Kind: noren.Usage, Where: "--equals", What: "the target is of numbers"}
	case f.equals != "":
		a.of = "regression of " + f.target + " = " + f.equals + " on " + strings.Join(f.features, ", ")
		word := slices.Index(target.Dict, f.equals)
		if word < 0 {
			return &noren.Error{Kind: noren.Usage, Where: "--equals", What: "the public table has no such word in the target"}
		}
		for i := range y {
			if y[i] = 0; target.IsMissing(i) {
				y[i] = math.NaN()
			} else if int(target.Codes[i]) == word {
				y[i] = 1
			}
		}
	}
	var columns [][]float64
	for _, name := range f.features {
		c := tab.Column(name)
		if !words(c) {
			a.labels, columns = append(a.labels, name), append(columns, numbersOf(c))
			continue
		}
		if len(c.Dict) > 256 {
			return &noren.Error{Kind: noren.Usage, Where: "--features " + name, What: "the column has more than 256 words", Hint: "leave it out, or declare it: --type " + name + "=decimal"}
		}
		for l := 1; l < len(c.Dict); l++ {
			column := make([]float64, c.Len())
			for i := range column {
				if c.IsMissing(i) {
					column[i] = math.NaN()
				} else if int(c.Codes[i]) == l {
					column[i] = 1
				}
			}
			a.labels, columns = append(a.labels, name+" = "+c.Dict[l]), append(columns, column)
		}
	}
	x := ratio.NewPoints(len(y), len(columns))
	for i := range y {
		for j, column := range columns {
			x.Row(i)[j] = column[i]
		}
	}
	r, err := w.Regression(x, y)
	if err != nil {
		return err
	}
	a.several, a.r2, a.also = r.Coefficients, &r.R2, r.Warnings
	return nil
}
