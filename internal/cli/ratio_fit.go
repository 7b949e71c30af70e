package cli

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/noren-privacy/noren"
	"github.com/noren-privacy/noren/account"
	"github.com/noren-privacy/noren/certificate"
	"github.com/noren-privacy/noren/dataset"
	"github.com/noren-privacy/noren/ratio"
	"github.com/noren-privacy/noren/release"
	"github.com/noren-privacy/noren/report"
	"github.com/noren-privacy/noren/table"
	"github.com/noren-privacy/noren/table/file"
)

const ratioSchema = "noren.ratio/1"

type ratioFitFlags struct {
	columnFlags
	dpFlags
	columns         []string
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
	bounds, words   []string
	publicScale     string
	publicDelimiter string
	publicEncoding  string
	weightColumn    string
	report          string
	flags           *pflag.FlagSet
}

func newRatioFit(t *terminal) *cobra.Command {
	var f ratioFitFlags
	c := &cobra.Command{
		Use:   "fit DATASET PUBLIC --columns COLUMNS --epsilon E -o WEIGHTS",
		Short: "Weight the records of a public table so that they stand in for private ones",
		Long: `Writes the public table with one column more: the weight of each record. Of the private
table only the mean of some kernels about public points is released, with noise; weights
and all that is made of them follow from that and from the public table. Beside WEIGHTS
it writes WEIGHTS` + metaEnding + `, which noren ratio answer needs.

Everything that defines the space is public. Types are those of the data set's schema.
Bounds are those of --bounds, --public-scale, the schema or the public table, in this
order, and words those of --words or the public table; one unit of distance is the width
of the bounds, and two different words are one unit apart. Private values outside of the
bounds count as the nearer bound, and other words as none of them.

Take few columns: those in which the tables differ, and that tell of what will be asked.
The weights come with a check of the fit. It takes a tenth of epsilon for the number of
private records, where neighbours are add-remove, and a tenth for the number of them
outside of the public ones (--count-share, --outside-share); the rest of it is free. It
can find that weights are bad; that it finds nothing does not make them good.`,
		Example: `  noren ratio fit patients.csv survey.csv --columns age,sex --epsilon 1 -o weighted.csv
  noren ratio fit patients.csv survey.csv --columns age,income --bounds age=0,110 --epsilon 0.5 -o weighted.csv --dry-run
  noren ratio fit patients.csv survey.parquet --columns age,sex --epsilon 1 -o weighted.parquet --report page.html --certificate c.json --json`,
		Args: exactly("DATASET", "PUBLIC"),
		RunE: func(c *cobra.Command, args []string) error { return f.fit(c, t, args[0], args[1]) },
	}
	f.dpFlags.register(c, &f.columnFlags, ratioSchema)
	s := c.Flags()
	f.flags = s
	s.Lookup("output").Usage = "write the public table with its weights to this `FILE`, and its meta data beside it"
	s.StringVar(&f.publicDelimiter, "public-delimiter", "", "field delimiter of PUBLIC: one `CHARACTER`, or tab (detected when left out)")
	s.StringVar(&f.publicEncoding, "public-encoding", "", "`ENCODING` of PUBLIC: utf-8 or shift_jis (detected when left out)")
	s.StringSliceVar(&f.columns, "columns", nil, "the `columns` of the space, which both tables have")
	s.StringVar(&f.features, "features", "", "what is released: kernels, marginals (histograms of columns and pairs) or both (default: marginals where a column has more than two words and no other flag is about kernels, else kernels; noren ratio plan compares them)")
	s.StringVar(&f.mechanism, "mechanism", "", "rkhs-pure, rkhs-gaussian (needs --delta), laplace, parametric, or noisy-centres (replace-one) (default rkhs-pure)")
	s.IntVar(&f.centres, "centres", 0, "how many kernels, about `N` points of the public table (default 12, or twice the number of words, up to 64)")
	s.Float64SliceVar(&f.sigmas, "sigma", nil, "the bandwidth, in units of distance; of several, comma-separated, the best is taken, at the price of more noise (default: half the median distance in the public table)")
	s.Float64Var(&f.lambda, "lambda", 0, "the regularisation (default: chosen from what was released, which is free)")
	s.StringVar(&f.post, "post", "", "plain, entropy, nnls or clip: how negative ratios are avoided (default plain, with marginals entropy)")
	s.BoolVar(&f.raw, "raw", false, "leave the weights as they are, not divided by their mean")
	s.Float64Var(&f.countShare, "count-share", defaultShare, "share of epsilon for the number of private records, where neighbours are add-remove")
	s.Float64Var(&f.outsideShare, "outside-share", defaultShare, "share of epsilon for the number of private records outside of the public ones")
	s.IntVar(&f.records, "records", 0, "the public number of private records, where neighbours are replace-one (default: that of the schema)")
	s.StringArrayVar(&f.bounds, "bounds", nil, "`COLUMN=LO,HI`: public bounds (default: those of the schema, else of the public table); may be repeated")
	s.StringArrayVar(&f.words, "words", nil, "`COLUMN=WORD,WORD`: the words that count (default: those of the public table); may be repeated")
	s.StringVar(&f.publicScale, "public-scale", "", "public `FILE` with one unit of distance for each column that it names: CSV column,scale or column,low,high,scale")
	s.StringVar(&f.weightColumn, "weight-column", "weight", "the name of the new `COLUMN`")
	s.StringVar(&f.report, "report", "", "write a page about weights and fit to this `FILE`")
	return c
}

// mechanisms are the paper's names of methods beside those of package ratio.
var mechanisms = map[string]ratio.Noise{"a": ratio.NoisyCentres, "b": ratio.Parametric, "c": ratio.SampledCentres, "A": ratio.NoisyCentres, "B": ratio.Parametric, "C": ratio.SampledCentres}

// Shares of epsilon that checks of a fit take: each as a default, and all together at most.
const (
	defaultShare = 0.1
	mostShare    = 0.2
)

// shares are those of the number of records, which is public where neighbours are
// replace-one, and of the number of records outside.
func (f *ratioFitFlags) shares(n account.Neighbours) (count, outside float64, err error) {
	count, outside = f.countShare, f.outsideShare
	if n == account.ReplaceOne && !f.flags.Changed("count-share") {
		count = 0
	}
	if !f.flags.Changed("outside-share") {
		outside = max(0, min(outside, mostShare-count))
	}
	if sum := count + outside; !(count >= 0 && outside >= 0 && sum <= mostShare+1e-9) {
		return 0, 0, &noren.Error{
			Kind: noren.Usage, Where: "--count-share, --outside-share", What: fmt.Sprintf("expected shares that add up to at most %g of epsilon, got %g", mostShare, sum),
			Hint: "0 leaves a check out",
		}
	}
	return count, outside, nil
}

// plain says that no flag is about kernels.
func (f *ratioFitFlags) plain() bool {
	for _, name := range []string{"mechanism", "centres", "sigma", "lambda", "post"} {
		if f.flags.Changed(name) {
			return false
		}
	}
	return true
}

// manyWords reports whether a column has more than two words: kernels, which see words as
// points that are equally far from each other, follow them worse than histograms do.
func manyWords(f *ratio.Frame) bool {
	for _, a := range f.Axes() {
		if len(a.Words) > 2 {
			return true
		}
	}
	return false
}

// fitting is one fit under way.
type fitting struct {
	private, public string
	source          file.Source // of the public table
	table           *table.Table
	frame           *ratio.Frame
	points          *ratio.Points
	missing         []string
	mechanism       *ratio.Mechanism
	weights         *ratio.Weights
	made            *weightFiles
}

func (f *ratioFitFlags) fit(c *cobra.Command, t *terminal, private, public string) error {
	ctx := c.Context()
	cost, err := parseCost(f.epsilon, f.delta)
	if err != nil {
		return err
	}
	if err := f.check(); err != nil {
		return err
	}
	a, err := f.open(ctx, c, private)
	if err != nil {
		return err
	}
	defer a.close()
	if err := a.public(ctx, public, f.publicScale); err != nil {
		return err
	}
	if f.records, err = a.records(f.records); err != nil {
		return err
	}
	v := &fitting{private: private, public: public}
	o := ratio.Options{
		Cost: cost, Records: f.records, Features: ratio.Feature(f.features), Mechanism: ratio.Noise(f.mechanism), Centres: f.centres, Sigmas: f.sigmas,
		Lambda: f.lambda, Post: ratio.Post(f.post), Raw: f.raw,
	}
	if named, ok := mechanisms[f.mechanism]; ok {
		o.Mechanism = named
	}
	if err := f.look(ctx, t, v, a.Definition); err != nil {
		return err
	}
	defer closeSource(v.source)
	o.Public, o.Frame, o.Neighbours = v.points, v.frame, a.neighbours()
	if o.CountShare, o.OutsideShare, err = f.shares(a.neighbours()); err != nil {
		return err
	}
	if o.Features == "" && f.plain() && manyWords(v.frame) {
		o.Features = ratio.MarginalFeatures
	}
	if v.mechanism, err = ratio.New(ctx, o); err != nil {
		return err
	}
	request := f.request(a, v.mechanism)
	if f.dryRun {
		return f.quote(ctx, t, v, &request)
	}
	return f.make(ctx, t, v, request)
}

// check finds what can be told to be wrong before anything is opened.
func (f *ratioFitFlags) check() error {
	switch {
	case len(f.columns) == 0:
		return &noren.Error{Kind: noren.Usage, Where: "--columns", What: "say which columns make the space", Hint: "--columns age,sex: few, in which the tables differ, and that tell of what will be asked"}
	case f.weightColumn == "":
		return &noren.Error{Kind: noren.Usage, Where: "--weight-column", What: "the new column needs a name"}
	case f.dryRun:
		return nil
	case f.output == "" || f.output == "-":
		return &noren.Error{Kind: noren.Usage, Where: "-o", What: "name a file for the weights: their meta data go beside it", Hint: "-o weighted.csv"}
	}
	if err := file.Check(f.output); err != nil {
		return err
	}
	return checkTargets(f.force, f.output+metaEnding, f.report)
}

// look reads the public table as the data set's schema reads the private one, and lays
// out the space.
func (f *ratioFitFlags) look(ctx context.Context, t *terminal, v *fitting, schema *dataset.Definition) (err error) {
	o, err := publicForm(f.publicDelimiter, f.publicEncoding)
	if err != nil {
		return err
	}
	if v.source, err = file.Open(ctx, v.public, o); err != nil {
		return err
	}
	defer func() {
		if err != nil {
			closeSource(v.source)
		}
	}()
	for _, c := range v.source.Columns() {
		if c.Name == f.weightColumn {
			return &noren.Error{Kind: noren.Usage, Where: v.public, What: fmt.Sprintf("has a column %q already", f.weightColumn), Hint: "name the new one otherwise: --weight-column w"}
		}
	}
	fields := make([]table.Field, len(f.columns))
	for j, name := range f.columns {
		if fields[j], err = schema.Field(name); err != nil {
			return at("--columns", err)
		}
	}
	v.missing = schema.Missing
	v.table, err = file.Read(ctx, v.source, fields, v.missing, t.progress.report)
	t.progress.clear()
	if err != nil {
		return err
	}
	axes, err := f.axes(v.table, schema)
	if err != nil {
		return err
	}
	if v.frame, err = ratio.NewFrame(axes); err != nil {
		return err
	}
	v.points, err = v.frame.Points(v.table)
	return err
}

// make asks and pays, and writes what is to be written. The files are made before the
// answer is settled, and get their names after it.
func (f *ratioFitFlags) make(ctx context.Context, t *terminal, v *fitting, request release.Request) error {
	var released certificate.Released
	finish := func(ctx context.Context, payload []byte) (_ certificate.Released, err error) {
		released, err = f.finish(ctx, v, payload)
		return released, err
	}
	request.Publish = finish
	dp := f.dpFlags
	dp.output, dp.certificate = "", "" // written below, behind the files they are about
	answer, err := dp.run(ctx, t, request)
	defer func() { v.made.discard() }()
	if err != nil {
		return err
	}
	if v.weights == nil { // answered before: the same sums again
		if _, err := finish(ctx, answer.Payload); err != nil {
			return err
		}
	}
	if about := answer.Certificate.Certificate.Released; about.SHA256 != released.SHA256 {
		if f.certificate != "" {
			return &noren.Error{
				Kind: noren.NotMet, Where: "--certificate", What: "the certificate is of the file that was made first, and this is another",
				Hint: "the public table and --lambda, --post, --raw, --weight-column must be as they were; without --certificate the file is written, under the same promise",
			}
		}
		t.warn("this is another file than the one that was certified: the public table, or what is made of the same release, has changed; the promise is the same")
	}
	if err := v.made.commit(); err != nil {
		return f.unwritten(answer.Charge != nil, err)
	}
	if f.report != "" {
		if err := writeFile(f.report, f.force, t.stdout, ratioPage(v, answer).Write); err != nil {
			return f.unwritten(answer.Charge != nil, err)
		}
	}
	if f.certificate != "" {
		text, err := answer.Certificate.Encode()
		if err == nil {
			err = writeFile(f.certificate, f.force, t.stdout, bytesWriter(text))
		}
		if err != nil {
			return f.unwritten(answer.Charge != nil, err)
		}
	}
	return f.tell(t, v, answer)
}

// finish makes the weights and their files of what was released. It sees nothing of
// the private table but that.
func (f *ratioFitFlags) finish(ctx context.Context, v *fitting, payload []byte) (certificate.Released, error) {
	sums, err := v.mechanism.Decode(payload)
	if err != nil {
		return certificate.Released{}, err
	}
	if v.weights, err = v.mechanism.Weights(ctx, sums); err != nil {
		return certificate.Released{}, err
	}
	m := v.weights.Meta
	m.Column, m.Missing = f.weightColumn, v.missing
	m.Notes = append(m.Notes, publicRemarks(v, len(m.Centres))...)
	if v.made, err = stageWeights(ctx, f.output, f.force, v.source, v.weights); err != nil {
		return certificate.Released{}, err
	}
	released, err := v.made.hash(ctx)
	released.Name = filepath.Base(f.output)
	return released, err
}

// ratioJSON is a fit for programs.
type ratioJSON struct {
	Schema        string         `json:"schema"`
	Output        string         `json:"output"`
	Meta          string         `json:"meta"`
	Columns       []string       `json:"columns"`
	PublicRecords int            `json:"public_records"`
	Records       float64        `json:"records"`
	RecordsFrom   string         `json:"records_from"`
	Mechanism     ratio.Noise    `json:"mechanism"`
	B             int            `json:"b"`
	Sigma         float64        `json:"sigma"`
	Lambda        float64        `json:"lambda"`
	Post          ratio.Post     `json:"post"`
	ESS           float64        `json:"ess"`
	MaxShare      float64        `json:"max_share"`
	MeanWeight    float64        `json:"mean_weight"`
	FitCheck      ratio.FitCheck `json:"fit_check"`
	Warnings      []string       `json:"warnings"`
	dpJSON
}

func (f *ratioFitFlags) tell(t *terminal, v *fitting, answer *release.Answer) error {
	m := v.weights.Meta
	if f.json {
		return printJSON(t.stdout, ratioJSON{
			Schema: ratioSchema, Output: f.output, Meta: f.output + metaEnding, Columns: f.columns,
			PublicRecords: m.PublicRecords, Records: m.Records, RecordsFrom: m.RecordsFrom, Mechanism: m.Mechanism,
			B: len(m.Centres), Sigma: m.Sigma, Lambda: m.Lambda, Post: m.Post, ESS: m.ESS, MaxShare: m.MaxShare,
			MeanWeight: m.MeanWeight, FitCheck: m.Check, Warnings: fitWarnings(m), dpJSON: answerJSON(answer),
		})
	}
	w := t.stdout
	fmt.Fprintf(w, "%s: %s public records, weighted to stand in for those of %s\n\n", f.output, report.Integer(m.PublicRecords), v.private)
	if len(m.Centres) > 0 {
		fmt.Fprintf(w, "  method      %s, %d kernels of bandwidth %s, lambda %s\n", m.Mechanism, len(m.Centres), figure(m.Sigma), figure(m.Lambda))
	}
	if len(m.Histograms) > 0 {
		fmt.Fprintf(w, "  histograms  %s of %s: %s\n", plural(len(m.Histograms), "histogram"), plural(len(m.Cells), "cell"), strings.Join(v.mechanism.Histograms(), ", "))
	}
	fmt.Fprintf(w, "  worth       %s records; the heaviest carries %s of the weight\n", report.Number(m.ESS), report.Percent(m.MaxShare))
	fmt.Fprintf(w, "  records     %s private ones, %s\n", report.Number(m.Records), recordsFrom[m.RecordsFrom])
	if o := m.Check.Outside; o != nil {
		fmt.Fprintf(w, "  outside     %s of the private records, standard error %s\n", share(*o), share(m.Check.OutsideSD))
	}
	if m.RecordsFrom != ratio.Estimated {
		fmt.Fprintf(w, "  mean weight %s before it was made 1\n", figure(m.MeanWeight))
	}
	if m.Check.Passed {
		fmt.Fprintln(w, "  fit check   found nothing wrong: of what the kernels can see (docs/density-ratio.md)")
	} else {
		fmt.Fprintln(w, "  fit check   FAILED:")
	}
	for _, text := range m.Check.Findings {
		fmt.Fprintf(w, "              - %s\n", text)
	}
	for _, text := range m.Notes {
		fmt.Fprintf(w, "  remark      %s\n", text)
	}
	fmt.Fprintf(w, "  misfit      %s of the weighted records, %s of the unweighted (1 is what noise explains)\n", figure(m.Check.Misfit), figure(m.Check.Signal))
	printPromise(w, answer)
	fmt.Fprintf(w, "\nmeta data are in %s: keep both files together, for noren ratio answer\n", f.output+metaEnding)
	return nil
}

var recordsFrom = map[string]string{
	ratio.Declared: "as declared", ratio.Paid: "as released with noise", ratio.Estimated: "by the weights' own estimate",
}

// fitWarnings are what the check found, and the remarks of the fit.
func fitWarnings(m *ratio.Meta) []string {
	return append(append([]string{}, m.Check.Findings...), m.Notes...)
}
