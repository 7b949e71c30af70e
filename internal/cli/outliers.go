package cli

import (
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/noren-privacy/noren"
	"github.com/noren-privacy/noren/account"
	"github.com/noren-privacy/noren/dataset"
	"github.com/noren-privacy/noren/outlier"
	"github.com/noren-privacy/noren/query"
	"github.com/noren-privacy/noren/release"
	"github.com/noren-privacy/noren/table"
	"github.com/noren-privacy/noren/table/file"
)

const outliersSchema = "noren.outliers/1"

func newOutliers(t *terminal) *cobra.Command {
	c := &cobra.Command{
		Use:   "outliers",
		Short: "Count distance-based outliers with differential privacy",
		Long: `Counts distance-based outliers: records with fewer than k others within a radius.
One record can change their number by much in the worst case, and by little in data
as they are: the noise is scaled by a smooth upper bound of what one record can
change in these data and all near them.`,
		Example: `  noren outliers plan --n 10000 --dimensions 2 --k 5 --epsilon 1
  noren outliers count sensors --columns x,y --radius 0.5 --step 0.01 --box 0,100 --epsilon 1
  noren outliers sensitivity grid.csv --columns x,y --radius2 25 --up-to 10 --beta 0.1`,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error { return c.Help() },
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
		Short: "Count outliers with differential privacy",
		Long: `Releases how many records have fewer than K others within RADIUS, in the space of
the columns. Everything that defines the space is public: the box that values are
brought into, the step that they are rounded to, and what one unit of distance is in
each column (--public-scale FILE: CSV with the header column,scale or
column,low,high,scale; --scale bounds: the width of its box). Scaling by the data's
own moments (z-scores) would let every record move all others, and is refused.

The answer comes with an interval that holds whatever the data, and with --guess one that
holds if that public guess is right; a guess is no bound. How much noise there really was depends on the data
and is not released: --interval-share spends a share of epsilon on it.`,
		Example: `  noren outliers count sensors --columns x,y --radius 0.5 --step 0.01 --box 0,100 --epsilon 1
  noren outliers count sensors.csv --columns x,y --radius 0.5 --step 0.01 --box 0,100,0,50 --epsilon 1 --dry-run
  noren outliers count visits --columns age,systolic --box 0,120,0,300 --scale bounds --radius 0.05 --epsilon 0.5 --json`,
		Args: exactly("DATASET"),
		RunE: func(c *cobra.Command, args []string) error { return f.count(c, t, args[0]) },
	}
	f.dpFlags.register(c, &f.columnFlags, outliersSchema)
	s := c.Flags()
	s.StringSliceVar(&f.columns, "columns", nil, "the `columns` of the space")
	s.IntVar(&f.k, "k", 5, "a record with fewer than `K` others within the radius is an outlier")
	s.Float64Var(&f.radius, "radius", 0, "in units of distance")
	s.Float64Var(&f.step, "step", 0, "coordinates are rounded to multiples of it, in units of distance (default: radius / 100)")
	s.StringVar(&f.box, "box", "", "`LO,HI` of every column, or LO,HI,LO,HI,... one pair a column: values outside count as the nearer bound; public (default: the bounds of the schema)")
	s.StringVar(&f.publicScale, "public-scale", "", "public `FILE` with one unit of distance for each column: CSV column,scale or column,low,high,scale")
	s.StringVar(&f.scale, "scale", "none", "none, or bounds: the width of a column's box is one unit of distance")
	s.IntVar(&f.records, "records", 0, "the public number of records, where neighbours are replace-one (default: that of the schema)")
	s.StringVar(&f.mechanism, "mechanism", "", "lomax, student-t, laplace, gaussian or global-laplace (default: what the plan chooses; laplace and gaussian need --delta)")
	s.IntVar(&f.guess, "guess", 0, "public guess of how many records change sides at once; prints the interval that holds if it is right (default: 3, for the choice of the noise alone)")
	s.Float64Var(&f.intervalShare, "interval-share", 0, "share of epsilon for an interval by the noise that was really drawn")
	return c
}

func (f *outliersFlags) count(c *cobra.Command, t *terminal, path string) error {
	ctx := c.Context()
	if f.scale == "zscore" || f.scale == "minmax" {
		return &noren.Error{
			Kind: noren.Usage, Where: "--scale " + f.scale, What: "the data's own moments or bounds depend on every record: one record would move all others, and the bound on what one record can change would be false",
			Hint: "give public scales: --public-scale FILE, or --scale bounds with a public --box",
		}
	}
	cost, err := parseCost(f.epsilon, f.delta)
	if err != nil {
		return err
	}
	a, err := f.open(ctx, c, path)
	if err != nil {
		return err
	}
	defer a.close()
	if err := a.public(ctx, f.publicScale); err != nil {
		return err
	}
	if f.records, err = a.records(f.records); err != nil {
		return err
	}
	o := outlier.Options{
		Step: f.step, Radius: f.radius, K: f.k, Cost: cost, Neighbours: a.neighbours(), Records: f.records,
		Family: outlier.Family(f.mechanism), Guess: f.guess, IntervalShare: f.intervalShare,
	}
	if o.Step == 0 {
		o.Step = f.radius / 100
	}
	if o.Axes, err = f.axes(a.Definition); err != nil {
		return err
	}
	m, err := outlier.New(o)
	if err != nil {
		return err
	}
	request := f.request(a, m)
	if f.dryRun {
		return f.quote(c, t, &request, m)
	}
	out, answer, err := askOld[outlier.Answer](ctx, t, &f.dpFlags, request)
	if err != nil {
		return err
	}
	if f.json {
		return printJSON(t.stdout, struct {
			Schema string `json:"schema"`
			outlier.Answer
			dpJSON
		}{outliersSchema, *out, answerJSON(answer)})
	}
	w := t.stdout
	fmt.Fprintf(w, "outliers in %s: %s\n\n", path, figure(float64(out.Count)))
	fmt.Fprintf(w, "  95 %%        %s to %s, whatever the data\n", figure(float64(out.Interval.Low)), figure(float64(out.Interval.High)))
	if out.Expected != nil {
		fmt.Fprintf(w, "  expected    %s to %s, if at most %d records change sides at once (your guess, not a bound)\n", figure(float64(out.Expected.Low)), figure(float64(out.Expected.High)), f.guess)
	}
	fmt.Fprintf(w, "  noise       %s\n  basis       %s\n", out.Noise, out.Basis)
	printPromise(w, answer)
	return nil
}

// quote prints a dry run: what public facts say.
func (f *outliersFlags) quote(c *cobra.Command, t *terminal, r *release.Request, m *outlier.Mechanism) error {
	quote, err := release.Price(c.Context(), r)
	if err != nil {
		return err
	}
	a := m.Accuracy()
	return tellQuote(t, f.json, outliersSchema, quote, a, func(w io.Writer) {
		fmt.Fprintf(w, "%s: a dry run, nothing is charged\n\n", m)
	}, func(w io.Writer) {
		fmt.Fprintf(w, "  noise       %s\n", a.Noise)
		if a.SD > 0 {
			fmt.Fprintf(w, "  expected    standard deviation %s, 95 %% within %s, if at most %d records change sides at once (your guess, not a bound)\n", figure(a.SD), figure(a.HalfWidth), f.guess)
		}
		fmt.Fprintf(w, "  at most     standard deviation %s, 95 %% within %s, whatever the data\n", figure(a.MostSD), figure(a.MostHalfWidth))
	})
}

// axes are the columns with their public boxes and scales.
func (f *outliersFlags) axes(d *dataset.Definition) ([]outlier.Axis, error) {
	if len(f.columns) == 0 {
		return nil, &noren.Error{Kind: noren.Usage, Where: "--columns", What: "say which columns make the space", Hint: "--columns x,y"}
	}
	public, err := readPublicScale(f.publicScale)
	if err != nil {
		return nil, err
	}
	fields := make([]table.Field, len(f.columns))
	for j, name := range f.columns {
		if fields[j], err = d.Field(name); err != nil {
			return nil, at("--columns", err)
		}
		if fields[j].Type == table.Category {
			return nil, &noren.Error{Kind: noren.Usage, Code: release.CodeColumnType, Where: "column " + name, What: "distances expect integer, decimal, date or ordered, got category", Hint: "name columns of numbers"}
		}
	}
	box, err := f.boxes(public, d, fields)
	if err != nil {
		return nil, err
	}
	axes := make([]outlier.Axis, len(f.columns))
	for j, name := range f.columns {
		axes[j] = outlier.Axis{Field: fields[j], Low: box[j][0], High: box[j][1], Scale: 1}
		switch p, ok := public[name]; {
		case ok:
			axes[j].Scale = p.scale
		case f.publicScale != "":
			return nil, &noren.Error{Kind: noren.Usage, Where: f.publicScale, What: fmt.Sprintf("has no line for column %q", name)}
		case f.scale == "bounds":
			axes[j].Scale = box[j][1] - box[j][0]
		case f.scale != "none":
			return nil, &noren.Error{Kind: noren.Usage, Where: "--scale", What: "expected none or bounds"}
		}
	}
	return axes, nil
}

// boxes are the bounds of the columns: of --box, of the public file, or of the
// schema.
func (f *outliersFlags) boxes(public map[string]publicScale, schema *dataset.Definition, fields []table.Field) ([][2]float64, error) {
	d := len(f.columns)
	box := make([][2]float64, d)
	if f.box == "" {
		for j, name := range f.columns {
			if p, ok := public[name]; ok && p.bounded {
				box[j] = [2]float64{p.low, p.high}
				continue
			}
			bounds := schema.Column(name).Bounds
			if len(bounds) != 2 {
				return nil, &noren.Error{Kind: noren.Usage, Where: "--box", What: "say between which public bounds the values lie", Hint: "--box LO,HI, or low and high in --public-scale"}
			}
			for i := range bounds {
				v, err := query.ParseBound(fields[j], bounds[i])
				if err != nil {
					return nil, at("column "+name, err)
				}
				box[j][i] = v
			}
		}
		return box, nil
	}
	values, err := floats("--box", f.box)
	if err != nil {
		return nil, err
	}
	if len(values) != 2 && len(values) != 2*d {
		return nil, &noren.Error{Kind: noren.Usage, Where: "--box", What: fmt.Sprintf("expected LO,HI or %d numbers, LO,HI for each of the %d columns, found %d", 2*d, d, len(values))}
	}
	for j := range box {
		at := 2 * j
		if len(values) == 2 {
			at = 0
		}
		box[j] = [2]float64{values[at], values[at+1]}
	}
	return box, nil
}

func floats(flag, text string) ([]float64, error) {
	var out []float64
	for i, part := range splitList(text) {
		v, err := strconv.ParseFloat(part, 64)
		if err != nil {
			return nil, &noren.Error{Kind: noren.Usage, Where: flag, What: fmt.Sprintf("value %d is no number", i+1)}
		}
		out = append(out, v)
	}
	return out, nil
}

type publicScale struct {
	low, high, scale float64
	bounded          bool
}

// readPublicScale reads what one unit of distance is in each column.
func readPublicScale(path string) (map[string]publicScale, error) {
	if path == "" {
		return nil, nil
	}
	bad := func(line int, what string) error {
		return &noren.Error{Kind: noren.BadData, Where: noren.Position{File: path, Line: int64(line)}.String(), What: what, Hint: "CSV with the header column,scale or column,low,high,scale"}
	}
	text, _, err := readSide(path, "the public scales", "does the file exist?")
	if err != nil {
		return nil, err
	}
	r, skip := sideRows(text)
	rows, err := r.ReadAll()
	if err != nil || len(rows) < 2 {
		return nil, bad(1, "expected a header and a line for each column")
	}
	at := func(name string) int { return slices.Index(rows[0], name) }
	column, low, high, scale := at("column"), at("low"), at("high"), at("scale")
	if column < 0 || scale < 0 || (low < 0) != (high < 0) {
		return nil, bad(1, "its header has not the columns that are needed: "+strings.Join(rows[0], ","))
	}
	out := map[string]publicScale{}
	for i, row := range rows[1:] {
		p := publicScale{bounded: low >= 0}
		for _, v := range []struct {
			at   int
			into *float64
		}{{scale, &p.scale}, {low, &p.low}, {high, &p.high}} {
			if v.at < 0 {
				continue
			}
			if *v.into, err = strconv.ParseFloat(row[v.at], 64); err != nil {
				return nil, bad(i+2+skip, "expected a number")
			}
		}
		if !(p.scale > 0) {
			return nil, bad(i+2+skip, "a scale must be above 0")
		}
		out[row[column]] = p
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
		Short: "What the noise of a count would be made from (private: do not release)",
		Long: `Computes, from whole-number coordinates, what the noise of a count is made from: the
number of neighbours of each record, the number of outliers, the bound U of the local
sensitivity at distance t for t = 0..T, the global bound G, and the smooth bound S for
each beta. All of it is computed from private data without any noise: do not release.`,
		Example: `  noren outliers sensitivity grid.csv --columns x,y --radius2 25 --up-to 10
  noren outliers sensitivity grid.csv --columns x,y --radius2 25 --up-to 10 --beta 0.1 --neighbours replace-one --json`,
		Args: exactly("FILE"),
		RunE: func(c *cobra.Command, args []string) error { return f.run(c, t, args[0]) },
	}
	f.registerInput(c)
	s := c.Flags()
	s.StringSliceVar(&f.columns, "columns", nil, "the `columns` of the space, of whole numbers (default: all)")
	s.IntVar(&f.k, "k", 5, "a record with fewer than `K` others within the radius is an outlier")
	s.Int64Var(&f.radius2, "radius2", 0, "the squared radius, in squared units of the coordinates")
	s.IntVar(&f.upTo, "up-to", 10, "U for t = 0..`T`")
	s.StringVar(&f.neighbours, "neighbours", "add-remove", "add-remove or replace-one")
	s.StringSliceVar(&f.beta, "beta", nil, "S for these `BETAS`, comma-separated")
	s.StringVar(&f.coverage, "coverage", "auto", "auto, core or exact: how many points one ball can hold")
	s.BoolVar(&f.json, "json", false, "print one JSON object, noren.outliers.sensitivity/1")
	return c
}

func (f *sensitivityFlags) run(c *cobra.Command, t *terminal, path string) error {
	ctx := c.Context()
	s, err := f.merged()
	if err != nil {
		return err
	}
	set := outlier.Setting{K: f.k, Radius2: f.radius2}
	if set.Neighbours, err = account.ParseNeighbours(f.neighbours); err != nil {
		return at("--neighbours", err)
	}
	coverages := map[string]outlier.Coverage{"auto": outlier.CoverAuto, "core": outlier.CoverCore, "exact": outlier.CoverExact}
	var known bool
	if set.Coverage, known = coverages[f.coverage]; !known {
		return &noren.Error{Kind: noren.Usage, Where: "--coverage", What: "expected auto, core or exact"}
	}
	betas := make([]float64, len(f.beta))
	for i, text := range f.beta {
		if betas[i], err = strconv.ParseFloat(text, 64); err != nil {
			return &noren.Error{Kind: noren.Usage, Where: "--beta", What: "expected numbers above 0"}
		}
	}
	src, err := openInput(ctx, path, t.stdin, s)
	if err != nil {
		return err
	}
	defer closeSource(src)
	columns := f.columns
	if len(columns) == 0 {
		for _, stored := range src.Columns() {
			columns = append(columns, stored.Name)
		}
	}
	fields := make([]table.Field, len(columns))
	for j, name := range columns {
		fields[j] = table.Field{Name: name, Type: table.Integer}
	}
	tab, err := file.Read(ctx, src, fields, s.Input.Missing, t.progress.report)
	if err != nil {
		return err
	}
	points, err := outlier.IntegerPoints(tab, columns)
	if err != nil {
		return err
	}
	d, err := outlier.Diagnose(ctx, points, set, f.upTo, betas)
	t.progress.clear()
	if err != nil {
		return err
	}
	if f.json {
		return printJSON(t.stdout, struct {
			Schema  string `json:"schema"`
			Private string `json:"private"`
			*outlier.Diagnosis
			S any `json:"S"`
		}{"noren.outliers.sensitivity/1", "do not release", d, smoothJSON(f.beta, d.S)})
	}
	w := t.stdout
	fmt.Fprintf(w, "PRIVATE: do not release\n\n  outliers  %d of %d records\n  G         %d (%s)\n", d.Query, len(d.Degrees), d.G, set.Neighbours)
	for i, u := range d.U {
		fmt.Fprintf(w, "  U_%-7d %d\n", i, u)
	}
	for i := range d.S {
		fmt.Fprintf(w, "  S         %s for beta %s\n", figure(d.S[i].S), f.beta[i])
	}
	return nil
}

// smoothJSON is S itself for one beta, by beta for several.
func smoothJSON(betas []string, s []outlier.SmoothBound) any {
	if len(s) == 1 {
		return s[0].S
	}
	by := map[string]float64{}
	for i := range s {
		by[betas[i]] = s[i].S
	}
	return by
}
