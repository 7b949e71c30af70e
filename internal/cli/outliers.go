package cli

import (
	"strconv"

	"github.com/spf13/cobra"

	"github.com/noren-privacy/noren"
	"github.com/noren-privacy/noren/api"
	"github.com/noren-privacy/noren/lang"
	"github.com/noren-privacy/noren/outlier"
	words "github.com/noren-privacy/noren/report/text"
	"github.com/noren-privacy/noren/spec"
)

func newOutliers(t *terminal) *cobra.Command {
	c := &cobra.Command{
		Use:   "outliers",
		Short: "Count distance-based outliers with differential privacy",
		Args:  cobra.NoArgs,
		RunE:  func(c *cobra.Command, _ []string) error { return c.Help() },
	}
	c.AddCommand(newOutliersCount(t), newOutliersSensitivity(t), newOutliersPlan(t))
	return c
}

type outliersFlags struct {
	columnFlags
	dpFlags
	columns       []string
	k             int
	radius        float64
	step          float64
	box           string
	publicScale   string
	scale         string
	records       int
	mechanism     string
	guess         int
	intervalShare float64
}

func newOutliersCount(t *terminal) *cobra.Command {
	var f outliersFlags
	c := &cobra.Command{
		Use:   "count DATASET --columns COLUMNS --radius R --box LO,HI --epsilon E",
		Short: "Count outliers of a data set",
		Args:  exactly("DATASET"),
		RunE:  func(c *cobra.Command, args []string) error { return f.count(c, t, args[0]) },
	}
	f.dpFlags.register(c, &f.columnFlags, api.OutliersSchema)
	s := c.Flags()
	s.StringSliceVar(&f.columns, "columns", nil, "the `columns` of the space")
	s.IntVar(&f.k, "k", 5, "a record with fewer than `K` others within the radius is an outlier")
	s.Float64Var(&f.radius, "radius", 0, "the radius, in units of distance (required)")
	s.Float64Var(&f.step, "step", 0, "coordinates are rounded to multiples of it, in units of distance (default: radius / 100)")
	s.StringVar(&f.box, "box", "", "`LO,HI` of every column, or LO,HI,LO,HI,... one pair per column: values outside are replaced by the "+
		"nearer bound; public (default: the bounds of the schema)")
	s.StringVar(&f.publicScale, "public-scale", "",
		"public `FILE` with one unit of distance for each column: CSV column,scale or column,low,high,scale")
	s.StringVar(&f.scale, "scale", "none", "none, or bounds: the width of a column's box is one unit of distance")
	s.IntVar(&f.records, "records", 0, "the public number of records, where neighbours are replace-one (default: that of the schema)")
	s.StringVar(&f.mechanism, "mechanism", "",
		"lomax, student-t, laplace, gaussian or global-laplace (default: what the plan chooses; laplace and gaussian need --delta)")
	s.IntVar(&f.guess, "guess", 0, "public guess of the local sensitivity on typical data; prints the interval that holds if it is right "+
		"(default: 3, for the choice of the noise alone)")
	s.Float64Var(&f.intervalShare, "interval-share", 0,
		"share of epsilon for an interval by the size of the noise that was drawn (default: none)")
	return c
}

func (f *outliersFlags) count(c *cobra.Command, t *terminal, path string) error {
	ctx := c.Context()
	r, err := f.request(path)
	if err != nil {
		return err
	}
	s := t.service(&f.ledgerFlag)
	if f.dryRun {
		quote, err := s.OutliersCountPrice(ctx, r)
		if err != nil {
			return f.explain(path, err)
		}
		a := quote.Accuracy
		return printPrice(t, f.json, quote, &quote.Price, t.lang.Text("%s: a dry run, nothing is charged", a.About),
			words.OutliersAccuracy(t.lang, a, f.guess)...)
	}
	if err := f.agree(ctx, t, func() (*api.Price, []api.Message, error) {
		quote, err := s.OutliersCountPrice(ctx, r)
		if err != nil {
			return nil, nil, err
		}
		return &quote.Price, nil, nil
	}); err != nil {
		return f.explain(path, err)
	}
	answer, err := s.OutliersCount(ctx, r)
	if err != nil {
		return f.explain(path, err)
	}
	if err := f.write(t, &answer.Receipt); err != nil {
		return err
	}
	if f.json {
		return printJSON(t.stdout, answer)
	}
	lang.Fprintf(t.stdout, "outliers in %s: %s\n\n", path, figure(float64(answer.Count)))
	printLines(t.stdout, words.Outliers(t.lang, &answer.Answer, f.guess))
	printMessages(t.stdout, "note", []api.Message{words.CareBox()})
	printLines(t.stdout, words.Guarantee(t.lang, &answer.Receipt))
	return nil
}

// request is the request that the flags make.
func (f *outliersFlags) request(name string) (*api.OutliersCountRequest, error) {
	ask, err := f.dpFlags.ask(name)
	if err != nil {
		return nil, err
	}
	r := &api.OutliersCountRequest{
		Ask: ask, Columns: f.columns, K: f.k, Radius: f.radius, Step: f.step, ScaleFile: f.publicScale, Scale: f.scale,
		Records: f.records, Noise: outlier.Noise(f.mechanism), Guess: f.guess, IntervalShare: f.intervalShare,
	}
	if f.box != "" {
		r.Box, err = floats("--box", f.box)
	}
	return r, err
}

func floats(flag, text string) ([]float64, error) {
	var out []float64
	for i, part := range splitList(text) {
		v, err := strconv.ParseFloat(part, 64)
		if err != nil {
			return nil, &noren.Error{Kind: noren.Usage, Where: flag, What: "value %d is no number", Args: []any{i + 1}}
		}
		out = append(out, v)
	}
	return out, nil
}

type sensitivityFlags struct {
	columnFlags
	columns    []string
	k          int
	radius2    int64
	upTo       int
	neighbours string
	beta       []string
	coverage   string
	json       bool
}

func newOutliersSensitivity(t *terminal) *cobra.Command {
	var f sensitivityFlags
	c := &cobra.Command{
		Use:   "sensitivity FILE --columns COLUMNS --radius2 R2",
		Short: "Compute the sensitivity of a count of outliers (private: do not release)",
		Args:  exactly("FILE"),
		RunE:  func(c *cobra.Command, args []string) error { return f.run(c, t, args[0]) },
	}
	f.registerInput(c)
	s := c.Flags()
	s.StringSliceVar(&f.columns, "columns", nil, "the `columns` of the space, of whole numbers (default: all)")
	s.IntVar(&f.k, "k", 5, "a record with fewer than `K` others within the radius is an outlier")
	s.Int64Var(&f.radius2, "radius2", 0, "the squared radius, in squared units of the coordinates")
	s.IntVar(&f.upTo, "up-to", 10, "U for t = 0..`T`")
	s.StringVar(&f.neighbours, "neighbours", "add-remove", "add-remove or replace-one")
	s.StringSliceVar(&f.beta, "beta", nil, "S for these `BETAS`, comma-separated")
	s.StringVar(&f.coverage, "coverage", "auto", "auto, core or exact: how the number of points in one ball is bounded")
	s.BoolVar(&f.json, "json", false, "print one JSON object, noren.outliers.sensitivity/1")
	return c
}

func (f *sensitivityFlags) run(c *cobra.Command, t *terminal, path string) error {
	r := &api.OutliersSensitivityRequest{
		Input: path, Spec: &spec.Spec{}, Columns: f.columns, K: f.k, Radius2: f.radius2, UpTo: f.upTo, Neighbours: f.neighbours, Beta: f.beta,
		Coverage: f.coverage,
	}
	if err := f.layOver(r.Spec); err != nil {
		return err
	}
	d, err := t.service(nil).OutliersSensitivity(c.Context(), r)
	t.progress.clear()
	if err != nil {
		return err
	}
	if f.json {
		return printJSON(t.stdout, d)
	}
	w := t.stdout
	lang.Fprintf(w, "PRIVATE: do not release\n\n  outliers  %d of %d {record|records}\n  G         %d (%s)\n", d.Query, len(d.Degrees), d.G,
		d.Neighbours)
	for i, u := range d.U {
		lang.Fprintf(w, "  U_%-7d %d\n", i, u)
	}
	for i, bound := range d.Diagnosis.S {
		lang.Fprintf(w, "  S         %s for beta %s\n", figure(bound.S), f.beta[i])
	}
	return nil
}
