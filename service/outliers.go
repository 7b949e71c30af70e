package service

import (
	"context"
	"slices"
	"strconv"

	"github.com/noren-privacy/noren"
	"github.com/noren-privacy/noren/account"
	"github.com/noren-privacy/noren/api"
	"github.com/noren-privacy/noren/dataset"
	"github.com/noren-privacy/noren/outlier"
	"github.com/noren-privacy/noren/query"
	"github.com/noren-privacy/noren/release"
	"github.com/noren-privacy/noren/spec"
	"github.com/noren-privacy/noren/table"
	"github.com/noren-privacy/noren/table/axis"
)

// OutliersCount counts distance-based outliers with differential privacy. The cost is
// charged before the data is read.
func (s *Service) OutliersCount(ctx context.Context, r *api.OutliersCountRequest) (*api.Outliers, error) {
	q, err := outliers(r)
	if err != nil {
		return nil, err
	}
	answer, receipt, _, err := pay[outlier.Answer](ctx, s, q)
	if err != nil {
		return nil, err
	}
	return &api.Outliers{Schema: q.schema, Answer: *answer, Receipt: receipt}, nil
}

// OutliersCountPrice says what a count of outliers would cost and how accurate it is expected
// to be, from public facts. Nothing is charged and no private file of a ledger is opened.
func (s *Service) OutliersCountPrice(ctx context.Context, r *api.OutliersCountRequest) (*api.Quote[api.OutliersAccuracy], error) {
	q, err := outliers(r)
	if err != nil {
		return nil, err
	}
	p, m, err := price(ctx, s, q)
	if err != nil {
		return nil, err
	}
	a, err := m.Accuracy(0.95, int64(r.Records))
	if err != nil {
		return nil, err
	}
	return &api.Quote[api.OutliersAccuracy]{Price: p, Accuracy: &api.OutliersAccuracy{
		Noise: a.Noise, SD: a.SD, HalfWidth: a.HalfWidth, MostSD: a.MostSD, MostHalfWidth: a.MostHalfWidth, About: m.Text(),
	}}, nil
}

// outliers is the question of a request.
func outliers(r *api.OutliersCountRequest) (requested[*outlier.Mechanism], error) {
	q := requested[*outlier.Mechanism]{ask: &r.Ask, schema: api.OutliersSchema, public: []string{r.ScaleFile}}
	if r.Scale == "zscore" || r.Scale == "minmax" {
		return q, noren.Usagef("scale", "%s: the data's own moments or bounds depend on every record: one record would move all others, and "+
			"the bound on what one record can change would be false", r.Scale).
			Hinted("state public scales in a file, or the scale bounds with a public box")
	}
	cost, fault := account.ParseCost(r.Epsilon, r.Delta)
	if fault != nil && (r.Unaccounted || r.Epsilon != "") {
		return q, fault
	}
	q.build = func(ctx context.Context, a *openSet) (*outlier.Mechanism, error) {
		o, err := a.outlierOptions(r)
		var radius error
		if !(r.Radius > 0) {
			radius = noren.Usagef("radius", "the radius must be a number above 0")
		}
		if err = together(fault, err, radius); err != nil {
			return nil, err
		}
		o.Cost = cost
		return outlier.New(ctx, *o)
	}
	return q, nil
}

// outlierOptions are those of a request, but for its cost.
func (a *openSet) outlierOptions(r *api.OutliersCountRequest) (*outlier.Options, error) {
	o := &outlier.Options{
		Step: r.Step, Radius: r.Radius, K: r.K, Neighbours: a.neighbours(),
		Noise: r.Noise, Guess: r.Guess, IntervalShare: r.IntervalShare,
	}
	if o.Step == 0 {
		o.Step = r.Radius / 100
	}
	var err error
	if o.Records, err = a.records(r.Records); err != nil {
		return nil, err
	}
	o.Axes, err = outlierAxes(r, a.Definition)
	return o, err
}

// outlierAxes are the columns with their public bounds and scales.
func outlierAxes(r *api.OutliersCountRequest, d *dataset.Definition) ([]axis.Axis, error) {
	if len(r.Columns) == 0 {
		return nil, noren.Usagef("columns", "say which columns make the space").Hinted("for instance x,y")
	}
	scales, err := readScales(r.ScaleFile)
	if err != nil {
		return nil, err
	}
	axes := make([]axis.Axis, len(r.Columns))
	for j, name := range r.Columns {
		a := &axes[j]
		if a.Field, err = d.Field(name); err != nil {
			return nil, &noren.Error{Kind: noren.KindOf(err), Code: noren.CodeOf(err), Where: "columns", Err: err}
		}
		if a.Field.Type == table.Category {
			return nil, noren.Usagef(noren.Textf("column %s", name), "distances expect integer, decimal, date or ordered, got category").
				Hinted("name columns of numbers").Coded(release.CodeColumnType)
		}
	}
	if err := outlierBounds(r, d, scales, axes); err != nil {
		return nil, err
	}
	for j, name := range r.Columns {
		a := &axes[j]
		a.Scale = 1
		switch line, ok := scales[name]; {
		case ok:
			a.Scale = line.Unit
		case r.ScaleFile != "":
			return nil, noren.Usagef(noren.File(r.ScaleFile), "has no line for column %q", name)
		case r.Scale == "bounds":
			a.Scale = a.High - a.Low
		case r.Scale != "" && r.Scale != "none":
			return nil, noren.Usagef("scale", "expected none or bounds")
		}
	}
	return axes, nil
}

// outlierBounds sets the bounds of the axes: those of the request, of the scale file, or
// of the schema.
func outlierBounds(r *api.OutliersCountRequest, d *dataset.Definition, scales map[string]axis.Scale, axes []axis.Axis) error {
	n := len(axes)
	switch len(r.Box) {
	case 0:
	case 2:
		for j := range axes {
			axes[j].Low, axes[j].High = r.Box[0], r.Box[1]
		}
		return nil
	case 2 * n:
		for j := range axes {
			axes[j].Low, axes[j].High = r.Box[2*j], r.Box[2*j+1]
		}
		return nil
	default:
		return noren.Usagef("box", "expected LO,HI or %d {number|numbers}, LO,HI for each of the %d {column|columns}, found %d", 2*n, n,
			len(r.Box))
	}
	for j := range axes {
		name := axes[j].Field.Name
		if line, ok := scales[name]; ok && line.Bounded {
			axes[j].Low, axes[j].High = line.Low, line.High
			continue
		}
		bounds := d.Column(name).Bounds
		if len(bounds) != 2 {
			return noren.Usagef("box", "say between which public bounds the values lie").Hinted("LO,HI, or low and high in the file of scales")
		}
		for i, into := range []*float64{&axes[j].Low, &axes[j].High} {
			v, err := query.ParseBound(axes[j].Field, bounds[i])
			if err != nil {
				return &noren.Error{Kind: noren.KindOf(err), Where: noren.Textf("column %s", name), Err: err}
			}
			*into = v
		}
	}
	return nil
}

// readScales reads a file of public scales; without a name there is none.
func readScales(path string) (map[string]axis.Scale, error) {
	if path == "" {
		return nil, nil
	}
	text, _, err := spec.ReadSide(path, "the public scales", "does the file exist?")
	if err != nil {
		return nil, err
	}
	r, above, err := spec.SideRows(path, text)
	if err != nil {
		return nil, err
	}
	rows, err := r.ReadAll()
	if err != nil {
		rows = nil
	}
	return axis.ParseScales(path, rows, above)
}

// OutliersPlan chooses noise from public facts, before any data is read.
func (s *Service) OutliersPlan(_ context.Context, r *api.OutliersPlanRequest) (*api.OutliersPlan, error) {
	facts := r.Facts
	if r.Neighbours != "" {
		var err error
		if facts.Neighbours, err = account.ParseNeighbours(r.Neighbours); err != nil {
			return nil, err
		}
	}
	p, err := outlier.NewPlan(facts)
	if err != nil {
		return nil, err
	}
	records := []int{facts.Records}
	if facts.Records == 0 {
		records = []int{1000, 10_000, 100_000, 1_000_000}
	}
	epsilons := []float64{0.1, 0.3, 1, 3, facts.Epsilon}
	slices.Sort(epsilons)
	rows, err := outlier.PlanTable(facts, r.Share, records, slices.Compact(epsilons))
	if err != nil {
		return nil, err
	}
	return &api.OutliersPlan{Schema: api.OutliersPlanSchema, Plan: p, Share: r.Share, Table: rows}, nil
}

// OutliersSensitivity computes the sensitivity from which noise is made. The result is
// computed from private data without noise, and must not be released.
func (s *Service) OutliersSensitivity(ctx context.Context, r *api.OutliersSensitivityRequest) (*api.OutliersSensitivity, error) {
	set := outlier.Setting{K: r.K, Radius2: r.Radius2}
	var err error
	if r.Neighbours != "" {
		if set.Neighbours, err = account.ParseNeighbours(r.Neighbours); err != nil {
			return nil, err
		}
	}
	coverages := map[string]outlier.Coverage{
		"": outlier.CoverAuto, "auto": outlier.CoverAuto, "core": outlier.CoverCore,
		"exact": outlier.CoverExact,
	}
	var known bool
	set.Coverage, known = coverages[r.Coverage]
	if !known {
		return nil, noren.Usagef("coverage", "expected auto, core or exact")
	}
	betas := make([]float64, len(r.Beta))
	for i, text := range r.Beta {
		if betas[i], err = strconv.ParseFloat(text, 64); err != nil {
			return nil, noren.Usagef("beta", "expected numbers above 0")
		}
	}
	points, err := s.integerPoints(ctx, r)
	if err != nil {
		return nil, err
	}
	d, err := outlier.Diagnose(ctx, points, set, r.UpTo, betas)
	if err != nil {
		return nil, err
	}
	out := &api.OutliersSensitivity{
		Schema: api.OutliersSensitivitySchema, Private: "do not release", Diagnosis: d,
		Neighbours: set.Neighbours.String(),
	}
	if len(d.S) == 1 {
		out.S = d.S[0].S
		return out, nil
	}
	by := map[string]float64{}
	for i := range d.S {
		by[r.Beta[i]] = d.S[i].S
	}
	out.S = by
	return out, nil
}

// integerPoints reads the coordinates of a table of whole numbers.
func (s *Service) integerPoints(ctx context.Context, r *api.OutliersSensitivityRequest) (*axis.Points[int32], error) {
	sheet := r.Spec
	if sheet == nil {
		sheet = &spec.Spec{}
	}
	src, err := s.openStrict(ctx, r.Input, sheet)
	if err != nil {
		return nil, err
	}
	defer func() { _ = src.Close() }()
	columns := r.Columns
	if len(columns) == 0 {
		for _, stored := range src.Columns() {
			columns = append(columns, stored.Name)
		}
	}
	fields := make([]table.Field, len(columns))
	for j, name := range columns {
		fields[j] = table.Field{Name: name, Type: table.Integer}
	}
	t, err := table.Read(ctx, src, fields, table.ReadOptions{Missing: sheet.Input.Missing, Progress: s.Progress})
	if err != nil {
		return nil, err
	}
	return outlier.IntegerPoints(t, columns)
}
