package cli

import (
	"context"
	"fmt"
	"math"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/noren-privacy/noren"
	"github.com/noren-privacy/noren/account"
	"github.com/noren-privacy/noren/dataset"
	"github.com/noren-privacy/noren/ratio"
	"github.com/noren-privacy/noren/report"
	"github.com/noren-privacy/noren/spec"
	"github.com/noren-privacy/noren/table"
	"github.com/noren-privacy/noren/table/file"
)

const ratioPlanSchema = "noren.ratio.plan/1"

// ratioPlanFlags are those of a fit that say what is public.
type ratioPlanFlags struct {
	fit        ratioFitFlags
	epsilon    string
	delta      string
	neighbours string
	json       bool
}

func newRatioPlan(t *terminal) *cobra.Command {
	var f ratioPlanFlags
	c := &cobra.Command{
		Use:   "plan PUBLIC --columns COLUMNS --epsilon E --records N",
		Short: "Estimate the errors of weighted answers before paying, from the public table",
		Long: `Estimates, for an expected number of private records, the standard errors of typical
answers: the mean of each column, or the share of its most frequent word, by weights of
kernels, of histograms (marginals) and of both, and by a direct query. It reads the public
table alone and charges nothing.

The figures are those of a private table that is distributed as the public one is. Where
the tables differ, fewer public records carry an answer, and its error is larger. For one
question a direct query is always better; the last line says from how many questions on
the weights are.`,
		Example: `  noren ratio plan survey.csv --columns age,sex --epsilon 1 --records 2000
  noren ratio plan survey.csv --columns age,income,sex --epsilon 0.5 --records 20000 --json`,
		Args: exactly("PUBLIC"),
		RunE: func(c *cobra.Command, args []string) error { return f.plan(c.Context(), t, args[0]) },
	}
	f.fit.columnFlags.registerTypes(c)
	s := c.Flags()
	s.Lookup("delimiter").Usage = "field delimiter of PUBLIC: one `CHARACTER`, or tab (detected when left out)"
	s.Lookup("encoding").Usage = "`ENCODING` of PUBLIC: utf-8 or shift_jis (detected when left out)"
	s.StringSliceVar(&f.fit.columns, "columns", nil, "the `columns` of the space, which both tables have")
	s.StringVar(&f.epsilon, "epsilon", "", "the `EPSILON` that the fit may cost")
	s.StringVar(&f.delta, "delta", "", "its delta, for rkhs-gaussian")
	s.IntVar(&f.fit.records, "records", 0, "the expected number of private records")
	s.StringVar(&f.neighbours, "neighbours", "", "add-remove or replace-one (default add-remove)")
	s.StringVar(&f.fit.mechanism, "mechanism", "", "rkhs-pure, rkhs-gaussian (needs --delta), laplace or parametric, of kernels (default rkhs-pure)")
	s.IntVar(&f.fit.centres, "centres", 0, "how many kernels, about `N` points of the public table (default: as for noren ratio fit)")
	s.StringArrayVar(&f.fit.bounds, "bounds", nil, "`COLUMN=LO,HI`: public bounds (default: those of the public table); may be repeated")
	s.StringArrayVar(&f.fit.words, "words", nil, "`COLUMN=WORD,WORD`: the words that count (default: those of the public table); may be repeated")
	s.StringVar(&f.fit.publicScale, "public-scale", "", "public `FILE` with one unit of distance for each column that it names: CSV column,scale or column,low,high,scale")
	s.BoolVar(&f.json, "json", false, "print one JSON object, "+ratioPlanSchema)
	return c
}

// planned is an answer with its errors by features, in their order.
type planned struct {
	Question string                       `json:"question"`
	SD       float64                      `json:"sd"` // among the public records
	By       map[ratio.Feature]ratio.Plan `json:"by"`
}

type ratioPlanJSON struct {
	Schema    string        `json:"schema"`
	Input     string        `json:"input"`
	Epsilon   float64       `json:"epsilon"`
	Records   int           `json:"records"`
	Answers   []planned     `json:"answers"`
	Take      ratio.Feature `json:"take"`
	Why       string        `json:"why"`
	Questions int           `json:"questions"` // from how many on the weights are better
}

var featureKinds = []ratio.Feature{ratio.KernelFeatures, ratio.MarginalFeatures, ratio.BothFeatures}

// schema is that of the columns of the space, as the public table has them where no
// flag says otherwise.
func (f *ratioPlanFlags) schema(ctx context.Context, t *terminal, public string, s *spec.Spec) (*dataset.Definition, error) {
	o, err := publicForm(f.fit.publicDelimiter, f.fit.publicEncoding)
	if err != nil {
		return nil, err
	}
	src, err := file.Open(ctx, public, o)
	if err != nil {
		return nil, err
	}
	defer closeSource(src)
	fields, err := publicFields(ctx, t, s, src, f.fit.columns)
	t.progress.clear()
	if err != nil {
		return nil, err
	}
	d := &dataset.Definition{Missing: s.Input.Missing}
	for _, field := range fields {
		c := dataset.Column{Name: field.Name, Type: field.Type.String(), Levels: field.Levels, Bounds: s.Columns[field.Name].Bounds}
		if field.Type == table.Date {
			c.Layout = string(field.Layout)
		}
		d.Columns = append(d.Columns, c)
	}
	return d.Complete()
}

func (f *ratioPlanFlags) plan(ctx context.Context, t *terminal, public string) error {
	s, err := f.fit.merged()
	if err != nil {
		return err
	}
	cost, err := parseCost(f.epsilon, f.delta)
	if err != nil {
		return err
	}
	var neighbours account.Neighbours
	if f.neighbours != "" {
		if neighbours, err = account.ParseNeighbours(f.neighbours); err != nil {
			return at("--neighbours", err)
		}
	}
	switch {
	case len(f.fit.columns) == 0:
		return &noren.Error{Kind: noren.Usage, Where: "--columns", What: "expected the columns of the space", Hint: "--columns age,sex"}
	case f.fit.records < 1:
		return &noren.Error{Kind: noren.Usage, Where: "--records", What: "expected the number of private records", Hint: "--records 2000"}
	}
	f.fit.publicDelimiter, f.fit.publicEncoding = s.Input.Delimiter, s.Input.Encoding
	schema, err := f.schema(ctx, t, public, s)
	if err != nil {
		return err
	}
	v := &fitting{public: public}
	if err := f.fit.look(ctx, t, v, schema); err != nil {
		return err
	}
	defer closeSource(v.source)
	out := ratioPlanJSON{Schema: ratioPlanSchema, Input: public, Records: f.fit.records}
	out.Epsilon, _ = cost.Float()
	var questions [][]float64
	for _, c := range v.table.Columns {
		name, values := typical(c)
		questions = append(questions, values)
		out.Answers = append(out.Answers, planned{Question: name, SD: spreadOf(values), By: map[ratio.Feature]ratio.Plan{}})
	}
	count := defaultShare
	if neighbours == account.ReplaceOne {
		count = 0
	}
	best, errors := math.Inf(1), map[ratio.Feature]float64{}
	for _, kind := range featureKinds {
		m, err := ratio.New(ctx, ratio.Options{
			Cost: cost, Public: v.points, Frame: v.frame, Neighbours: neighbours, Records: f.fit.records, Features: kind,
			Noise: ratio.Noise(f.fit.mechanism), Centres: f.fit.centres, CountShare: count, OutsideShare: defaultShare,
		})
		if err != nil {
			return err
		}
		plans, err := m.Plan(ctx, f.fit.records, questions)
		if err != nil {
			return err
		}
		for i, p := range plans {
			out.Answers[i].By[kind] = p
			if sd := out.Answers[i].SD; sd > 0 {
				errors[kind] += p.SE / sd / float64(len(plans))
			}
		}
		if errors[kind] < best {
			best, out.Take = errors[kind], kind
		}
	}
	out.Why = fmt.Sprintf("their mean standard error is %s standard deviations of the public column", figure(best))
	out.Questions = 2
	for _, a := range out.Answers {
		if p := a.By[out.Take]; p.Direct > 0 && p.SE/p.Direct < 1e6 {
			out.Questions = max(out.Questions, int(math.Ceil(p.SE/p.Direct)))
		}
	}
	if f.json {
		return printJSON(t.stdout, out)
	}
	out.print(t)
	return nil
}

// typical is a question to a column: its mean, or the share of its most frequent word.
func typical(c *table.Column) (string, []float64) {
	if c.Field.Type != table.Category {
		return "mean of " + c.Field.Name, numbersOf(c)
	}
	count := make([]int, len(c.Dict))
	for i := range c.Len() {
		if !c.IsMissing(i) {
			count[c.Codes[i]]++
		}
	}
	most := 0
	for l, n := range count {
		if n > count[most] {
			most = l
		}
	}
	out := make([]float64, c.Len())
	for i := range out {
		switch {
		case c.IsMissing(i):
			out[i] = math.NaN()
		case int(c.Codes[i]) == most:
			out[i] = 1
		}
	}
	return fmt.Sprintf("share of %s = %s", c.Field.Name, c.Dict[most]), out
}

// spreadOf is the standard deviation of the values that are there.
func spreadOf(values []float64) float64 {
	var n, sum, square float64
	for _, v := range values {
		if !math.IsNaN(v) {
			n++
			sum += v
			square += v * v
		}
	}
	return math.Sqrt(max(0, square/n-sum/n*sum/n))
}

func (p *ratioPlanJSON) print(t *terminal) {
	fmt.Fprintf(t.stdout, "weights of %s for %s private records at epsilon %g: a plan, nothing is charged\n\n", p.Input, report.Integer(p.Records), p.Epsilon)
	w := tabwriter.NewWriter(t.stdout, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "  standard error of\tkernels\tmarginals\tboth\tdirect query\tpublic std. deviation")
	for _, a := range p.Answers {
		fmt.Fprintf(w, "  %s\t%s\t%s\t%s\t%s\t%s\n", a.Question, figure(a.By[ratio.KernelFeatures].SE), figure(a.By[ratio.MarginalFeatures].SE), figure(a.By[ratio.BothFeatures].SE), figure(a.By[ratio.KernelFeatures].Direct), figure(a.SD))
	}
	_ = w.Flush()
	fmt.Fprintf(t.stdout, "\n  take        --features %s: %s\n", p.Take, p.Why)
	fmt.Fprintf(t.stdout, "  questions   direct queries are better up to about %s, which share epsilon; weights answer any number\n", report.Integer(p.Questions-1))
}
