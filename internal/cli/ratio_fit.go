package cli

import (
	"bytes"
	"io"

	"github.com/spf13/cobra"

	"github.com/noren-privacy/noren"
	"github.com/noren-privacy/noren/api"
	"github.com/noren-privacy/noren/lang"
	"github.com/noren-privacy/noren/ratio"
	"github.com/noren-privacy/noren/report"
	words "github.com/noren-privacy/noren/report/text"
	"github.com/noren-privacy/noren/service"
)

type ratioFitFlags struct {
	columnFlags
	dpFlags
	spaceFlags
	features        string
	mechanism       string
	centres         int
	sigmas          []float64
	lambda          float64
	post            string
	raw             bool
	countShare      float64
	outsideShare    float64
	records         int
	publicDelimiter string
	publicEncoding  string
	weightColumn    string
	report          string
}

func newRatioFit(t *terminal) *cobra.Command {
	var f ratioFitFlags
	c := &cobra.Command{
		Use:   "fit DATASET PUBLIC --columns COLUMNS --epsilon E -o WEIGHTS",
		Short: "Compute a weight for each record of a public table, to match a private table",
		Long: `Write the public table with one more column, the weight of each record. From the private
table only noisy means of kernels about public points, or noisy counts of public bins, are
released; the weights are computed from these and from the public table. Meta data, which
noren ratio answer needs, are written to WEIGHTS` + service.RatioMetaSuffix + `.

Everything that defines the space is public. Types are those of the data set's schema.
Bounds are those of --bounds, --public-scale, the schema or the public table, in this
order; categories are those of --categories or the public table. One unit of distance is
the width of the bounds; two different categories are one unit apart. Private values
outside of the bounds count as the nearer bound, and other categories as none of them.

Choose few columns: those in which the tables differ, and that later questions depend on.
The fit is checked. Of epsilon, a tenth is spent on the number of private records, where
neighbours are add-remove, and a tenth on the number of private records outside of the
public range (--count-share, --outside-share); the other checks are free. They can show
that weights are bad; they cannot show that weights are good.`,
		Args: exactly("DATASET", "PUBLIC"),
		RunE: func(c *cobra.Command, args []string) error { return f.fit(c, t, args[0], args[1]) },
	}
	f.dpFlags.register(c, &f.columnFlags, api.RatioFitSchema)
	f.spaceFlags.register(c, "the schema, else of the public table")
	s := c.Flags()
	s.Lookup("output").Usage = "write the public table with its weights to this `FILE`, and its meta data beside it"
	s.StringVar(&f.publicDelimiter, "public-delimiter", "", "field delimiter of PUBLIC: one `CHARACTER`, or tab (detected when left out)")
	s.StringVar(&f.publicEncoding, "public-encoding", "", "`ENCODING` of PUBLIC: utf-8 or shift_jis (detected when left out)")
	s.StringVar(&f.features, "features", "", "what is released: kernels, marginals (histograms of columns and pairs) or both (default: "+
		"marginals where a column has more than two categories and no other flag is about kernels, else kernels; noren ratio plan compares them)")
	s.StringVar(&f.mechanism, "mechanism", "",
		"noise of kernels: rkhs-pure, rkhs-gaussian (needs --delta), laplace, parametric, or noisy-centres (replace-one) (default rkhs-pure)")
	s.IntVar(&f.centres, "centres", 0,
		"number of kernels, about `N` points of the public table (default 12 or 24, or twice the number of categories, up to 64)")
	s.Float64SliceVar(&f.sigmas, "sigma", nil, "the bandwidth `SIGMA`, in units of distance; of several, comma-separated, the best is "+
		"taken, which adds noise (default: half the median distance in the public table)")
	s.Float64Var(&f.lambda, "lambda", 0, "the regularisation (default: chosen from what was released, which is free)")
	s.StringVar(&f.post, "post", "", "plain, entropy, nnls or clip: how negative ratios are avoided (default plain, with marginals entropy)")
	s.BoolVar(&f.raw, "raw", false, "leave the weights as they are, not divided by their mean")
	s.Float64Var(&f.countShare, "count-share", ratio.CheckShare,
		"share of epsilon for the number of private records, where neighbours are add-remove")
	s.Float64Var(&f.outsideShare, "outside-share", ratio.CheckShare,
		"share of epsilon for the number of private records outside of the public range")
	s.IntVar(&f.records, "records", 0, "the public number of private records, where neighbours are replace-one (default: that of the schema)")
	s.StringVar(&f.weightColumn, "weight-column", "weight", "the name of the new `COLUMN`")
	s.StringVar(&f.report, "report", "", "write a page about weights and fit to this `FILE`")
	return c
}

// request is the request that the flags make.
func (f *ratioFitFlags) request(c *cobra.Command, private, public string) (*api.RatioFitRequest, error) {
	switch {
	case len(f.spaceFlags.columns) == 0:
		return nil, noren.Usagef("--columns", "expected the columns of the space").
			Hinted("--columns age,sex: few, in which the tables differ, and that later questions depend on")
	case f.weightColumn == "":
		return nil, noren.Usagef("--weight-column", "expected a name for the new column, got an empty text")
	case !f.dryRun && (f.output == "" || f.output == "-"):
		return nil, noren.Usagef("-o", "expected a file for the weights: their meta data are written beside it").Hinted("-o weighted.csv")
	}
	ask, err := f.dpFlags.ask(private)
	if err != nil {
		return nil, err
	}
	ask.Outputs = append(ask.Outputs, f.report)
	space, err := f.space(public)
	if err != nil {
		return nil, err
	}
	space.PublicDelimiter, space.PublicEncoding = f.publicDelimiter, f.publicEncoding
	q := &api.RatioFitRequest{
		Ask: ask, RatioSpace: space, Features: f.features, Noise: f.mechanism, Centres: f.centres, Sigmas: f.sigmas, Lambda: f.lambda,
		Post: f.post, Raw: f.raw, Records: f.records, WeightColumn: f.weightColumn, Output: f.output, Force: f.force,
		Certified: f.certificate != "",
	}
	if c.Flags().Changed("count-share") {
		q.CountShare = &f.countShare
	}
	if c.Flags().Changed("outside-share") {
		q.OutsideShare = &f.outsideShare
	}
	return q, checkTargets(f.force, f.report)
}

func (f *ratioFitFlags) fit(c *cobra.Command, t *terminal, private, public string) error {
	ctx := c.Context()
	q, err := f.request(c, private, public)
	if err != nil {
		return err
	}
	s := t.service(&f.ledgerFlag)
	defer t.progress.clear()
	if f.dryRun {
		quote, err := s.RatioFitPrice(ctx, q)
		if err != nil {
			return f.explain(private, err)
		}
		head := t.lang.Text("weights of %s for %s: a dry run, nothing is charged", public, private)
		return printPrice(t, f.json, quote, &quote.Price, head, words.RatioFitPrice(t.lang, quote)...)
	}
	var page bytes.Buffer
	if f.report != "" {
		q.Page = &page
	}
	if err := f.agree(ctx, t, func() (*api.Price, []api.Message, error) {
		quote, err := s.RatioFitPrice(ctx, q)
		if err != nil {
			return nil, nil, err
		}
		return &quote.Price, nil, nil
	}); err != nil {
		return f.explain(private, err)
	}
	fit, err := s.RatioFit(ctx, q)
	if err != nil {
		return f.explain(private, err)
	}
	t.progress.clear()
	dp := f.dpFlags
	dp.output = "" // the weights, which are written
	if err := dp.write(t, &fit.Receipt, written{f.report, bytesWriter(page.Bytes())}); err != nil {
		return besideWeights(fit, err)
	}
	if f.json {
		return printJSON(t.stdout, fit)
	}
	printRatioFit(t.stdout, private, fit)
	return nil
}

func printRatioFit(w io.Writer, private string, fit *api.RatioFit) {
	lang.Fprintf(w, "%s: %s public {record|records}, weighted to match those of %s\n\n", fit.Output, report.Integer(fit.PublicRecords),
		private)
	printLines(w, words.RatioFit(lang.Of(w), fit))
	printLines(w, words.Guarantee(lang.Of(w), &fit.Receipt))
	lang.Fprintf(w, "\nmeta data are in %s: keep both files together, for noren ratio answer\n", fit.Meta)
}

// besideWeights says of an error that the weights are there.
func besideWeights(fit *api.RatioFit, err error) error {
	return &noren.Error{
		Kind: noren.KindOf(err), Where: noren.File(fit.Output), What: "the weights are written, with %s; the page and the certificate are not",
		Args: []any{noren.File(fit.Meta)},
		Hint: "remove both files, or repeat the command: with a request key it is free", Err: err,
	}
}
