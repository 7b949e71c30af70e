package outlier

import (
	"context"
	"math"
	"strings"

	"github.com/noren-privacy/noren"
	"github.com/noren-privacy/noren/account"
	"github.com/noren-privacy/noren/table"
	"github.com/noren-privacy/noren/table/axis"
)

// Options make a [Mechanism]. All of them are public: none may be taken from
// the data that are asked.
type Options struct {
	// Axes are the columns with their bounds and scales; a scale defaults to 1, and a
	// category is read as decimal numbers. Required.
	Axes []axis.Axis
	// Step is the grid of the coordinates, in units of distance. Required.
	Step float64
	// Radius, in units of distance. Required.
	Radius float64
	// K: a record with fewer than K others within the radius is an outlier.
	// Required.
	K int
	// Cost is the privacy cost of the count: its epsilon and, for Laplace and
	// Gaussian noise, its delta. Required.
	Cost account.Cost
	// Neighbours is the relation. Defaults to AddRemove.
	Neighbours account.Neighbours
	// Records is the number of records. Required for ReplaceOne, where it is
	// public; not used for AddRemove.
	Records int
	// Noise is the family of the noise. Defaults to what [NewPlan] chooses.
	Noise Noise
	// Calibrated is noise that the caller calibrated, with the epsilon and delta of Cost
	// less IntervalShare. Optional.
	Calibrated *Calibrated
	// Guess is the plan's. Defaults to 3 for the choice of the noise; an answer has an
	// expected interval only where a guess is given here.
	Guess int
	// Coverage defaults to CoverAuto.
	Coverage Coverage
	// IntervalShare, in [0, 0.9], of epsilon is spent on the size of the noise,
	// so that the answer comes with a narrower interval: how much noise there is
	// depends on the data, and releasing it has a privacy cost. A share by which the
	// interval is expected to be no narrower than without is refused. Defaults to 0.
	IntervalShare float64
}

// Mechanism releases the number of distance-based outliers among the records of
// a table. It is made of public parameters, states cost, guarantee and accuracy
// from them, and fits package release by its methods.
type Mechanism struct {
	options  Options
	frame    *frame
	set      Setting
	plan     *Plan
	noise    Calibrated
	global   int64
	count    account.Cost // for the count itself
	interval int64        // units of epsilon for the size of the noise
}

// New checks the options, all at once, and makes the mechanism. Error:
// [noren.Usage].
func New(ctx context.Context, o Options) (*Mechanism, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	m := &Mechanism{options: o}
	var bad faults
	m.frame, bad = newFrame(o.Axes, o.Step, o.Radius)
	m.set = Setting{K: o.K, Radius2: m.frame.radius2, Neighbours: o.Neighbours, Coverage: o.Coverage}
	if err := m.set.validate(max(1, len(o.Axes))); err != nil {
		bad = append(bad, noren.TextOf(err))
	}
	if err := o.Cost.Validate(); err != nil {
		bad = append(bad, noren.TextOf(err))
	}
	if !(o.IntervalShare >= 0 && o.IntervalShare <= 0.9) {
		bad.add("interval share", "the share of epsilon for the interval must lie between 0 and 0.9")
	}
	if err := bad.err(); err != nil {
		return nil, err
	}
	m.interval = int64(o.IntervalShare * float64(o.Cost.Epsilon))
	m.count = account.Cost{Epsilon: o.Cost.Epsilon - m.interval, Delta: o.Cost.Delta}
	epsilon, delta := m.count.Float()
	var err error
	m.plan, err = NewPlan(Facts{
		Neighbours: o.Neighbours, Records: o.Records, Dimensions: len(o.Axes), K: o.K, Epsilon: epsilon, Guess: o.Guess,
	})
	if err != nil {
		return nil, err
	}
	m.global = m.plan.G
	if m.noise, err = m.choose(epsilon, delta); err != nil {
		return nil, err
	}
	if m.noise.Family == GlobalLaplace {
		// The size of this noise is public: nothing is spent on it.
		m.count.Epsilon += m.interval
		m.interval = 0
		epsilon, _ = m.count.Float()
		m.noise, err = GlobalNoise(epsilon)
		return m, err
	}
	if m.interval > 0 {
		if err := m.checkInterval(ctx); err != nil {
			return nil, err
		}
	}
	return m, nil
}

// checkInterval refuses a share of epsilon for the size of the noise by which the
// interval is expected to be no narrower. With the share the count has more noise, the
// released size has noise of its own and a margin, and a part of the doubt goes to
// it; without, the interval rests on the global sensitivity. Both half-widths follow
// from public facts, the first by the plan's guess.
func (m *Mechanism) checkInterval(ctx context.Context) error {
	with, without, err := m.intervals(ctx)
	if err != nil || with < without {
		return err
	}
	return &noren.Error{
		Kind: noren.Usage, Code: "interval-share", Where: noren.Phrase("interval share"),
		What: "expected a narrower interval, got a half-width of about %.4g with the share and at most %.4g without it", Args: []any{
			with, without,
		},
		Hint: "spend all of epsilon on the count, or choose another share or a larger epsilon",
	}
}

// intervals are the half-width of the interval that is expected with the share of
// epsilon for the size of the noise, and the largest one without that share.
func (m *Mechanism) intervals(ctx context.Context) (with, without float64, err error) {
	margin, err := m.sizeMargin()
	if err != nil {
		return 0, 0, err
	}
	beta := m.noise.smoothBeta()
	level := math.Ceil(math.Log(guessedS(beta, m.global, m.plan.Guess)) / beta)
	with = m.halfWidth(min(float64(m.global), math.Exp(beta*(level+float64(margin)))), level95+sizeDoubt)
	o := m.options
	o.IntervalShare = 0
	if o.Calibrated != nil {
		// This noise is for what the share leaves of epsilon; with all of it the
		// interval would be narrower still.
		return with, m.halfWidth(float64(m.global), level95), nil
	}
	all, err := New(ctx, o)
	if err != nil {
		return 0, 0, err
	}
	return with, all.halfWidth(float64(all.global), level95), nil
}

// choose makes the noise that the options name.
func (m *Mechanism) choose(epsilon, delta float64) (Calibrated, error) {
	o := &m.options
	if o.Calibrated != nil {
		n := *o.Calibrated
		if n.Epsilon != epsilon || n.Delta != delta || o.Noise != "" && o.Noise != n.Family {
			return n, noren.Usagef("noise", "the noise has another epsilon, delta or family than the options").
				Hinted("make it for the epsilon that the interval leaves")
		}
		again, err := remade(n)
		if err == nil && again != n {
			err = noren.Usagef("noise", "the noise was not made by the functions of this package")
		}
		return n, err
	}
	if delta > 0 && o.Noise != Laplace && o.Noise != Gaussian {
		return Calibrated{}, noren.Usagef("delta", "this noise needs no delta").Hinted("leave delta out, or ask for Laplace or Gaussian noise")
	}
	switch o.Noise {
	case "":
		return m.plan.Noise, nil
	case Lomax:
		return m.plan.Smooth.Noise, nil
	case StudentT:
		return bestStudent(epsilon, m.global, m.plan.Guess)
	case Laplace:
		return LaplaceNoise(epsilon, delta)
	case Gaussian:
		return GaussianNoise(epsilon, delta)
	case GlobalLaplace:
		return GlobalNoise(epsilon)
	}
	return Calibrated{}, noren.Usagef("noise", "unknown family of noise").Hinted("lomax, student-t, laplace, gaussian or global-laplace")
}

// remade makes a noise again from its parameters.
func remade(n Calibrated) (Calibrated, error) {
	switch n.Family {
	case Lomax:
		return LomaxNoise(n.Epsilon, n.Beta, n.Shape)
	case StudentT:
		return StudentNoise(n.Epsilon, n.Beta, int(n.Shape))
	case Laplace:
		return LaplaceNoise(n.Epsilon, n.Delta)
	case Gaussian:
		return GaussianNoise(n.Epsilon, n.Delta)
	case GlobalLaplace:
		return GlobalNoise(n.Epsilon)
	}
	return Calibrated{}, noren.Usagef("noise", "unknown family of noise")
}

// Name is "outlier.count".
func (m *Mechanism) Name() string { return "outlier.count" }

// Noise is the noise that will be drawn, Plan what it was chosen by.
func (m *Mechanism) Noise() Calibrated { return m.noise }

// Plan is what was known before any data: see [NewPlan].
func (m *Mechanism) Plan() *Plan { return m.plan }

// Columns describes the columns that are read.
func (m *Mechanism) Columns() []table.Field { return m.frame.columns() }

// Parameters are all public parameters, for the certificate.
func (m *Mechanism) Parameters() any {
	type column struct {
		Column string  `json:"column"`
		Type   string  `json:"type"`
		Layout string  `json:"layout,omitempty"`
		Levels int     `json:"levels,omitempty"`
		Low    float64 `json:"low"`
		High   float64 `json:"high"`
		Scale  float64 `json:"scale"`
	}
	axes := make([]column, len(m.frame.axes))
	for j, a := range m.frame.axes {
		axes[j] = column{a.Field.Name, a.Field.Type.String(), string(a.Field.Layout), len(a.Field.Levels), a.Low, a.High, a.Scale}
	}
	coverage := "core"
	if m.set.Coverage == CoverExact || len(axes) == 1 && m.set.Coverage == CoverAuto {
		coverage = "exact"
	}
	return struct {
		Axes       []column   `json:"axes"`
		Step       float64    `json:"step"`
		Radius2    int64      `json:"radius_squared_steps"`
		K          int        `json:"k"`
		Neighbours string     `json:"neighbours"`
		Records    int        `json:"records,omitempty"`
		G          int64      `json:"global_sensitivity"`
		Coverage   string     `json:"coverage"`
		Noise      Calibrated `json:"noise"`
		Interval   string     `json:"epsilon_for_interval,omitempty"`
		Guess      int        `json:"guess"` // 0 for none; the expected interval of an answer follows from it
	}{
		axes, m.options.Step, m.set.Radius2, m.set.K, m.set.Neighbours.String(), m.plan.Records, m.global, coverage, m.noise, spent(m.interval),
		m.options.Guess,
	}
}

func spent(units int64) string {
	if units == 0 {
		return ""
	}
	return account.Decimal(units, 9)
}

// Cost is the privacy cost for neighbours of the relation and unit of a budget. The
// theorems are about single records: another unit is refused.
func (m *Mechanism) Cost(n account.Neighbours, unit string) (account.Cost, error) {
	if unit != account.Record {
		return account.Cost{}, noren.Usagef("unit", "the count of outliers is private for single records").
			Hinted("use a data set whose unit is the record, or a table with one record for each %s", unit)
	}
	return account.Charge(account.Cost{Epsilon: m.count.Epsilon + m.interval, Delta: m.count.Delta}, m.set.Neighbours, n)
}

// Covers refuses a data set whose tables cannot all be answered: of more records than
// [MaxRecords], or, for replace-one, of another number than Options.Records. atMost is a
// public bound of the number of records, and records their public number, 0 where it is
// not stated. Error: [noren.Usage], code "too-many-records" or "records".
func (m *Mechanism) Covers(atMost, records int64) error {
	if m.set.Neighbours == account.ReplaceOne && records != int64(m.plan.Records) {
		return &noren.Error{
			Kind: noren.Usage, Code: "records", Where: "records", What: "expected the data set's public number of records, %d, got %d", Args: []any{
				records, m.plan.Records,
			},
			Hint: "a data set of replace-one neighbours states the number of its records",
		}
	}
	if most := MaxRecords(len(m.frame.axes)); atMost > int64(most) {
		return &noren.Error{
			Kind: noren.Usage, Code: codeTooMany, Where: "records", What: "expected at most %d records for %d {column|columns}, got a bound of %d",
			Args: []any{most, len(m.frame.axes), atMost},
			Hint: "use fewer columns, or state a smaller bound of the number of records",
		}
	}
	return nil
}

const codeTooMany = "too-many-records"

// Guarantee states the guarantee that Cost is charged for.
func (m *Mechanism) Guarantee(n account.Neighbours, unit string) (noren.Guarantee, error) {
	cost, err := m.Cost(n, unit)
	if err != nil {
		return noren.Guarantee{}, err
	}
	g := noren.Guarantee{Model: "differential privacy", Neighbours: n.String(), Unit: unit}
	g.Epsilon, g.Delta = cost.Float()
	g.Assumptions = noren.Sentences(
		"The columns, boxes, scales, step, radius, k and the choice of noise are public and were not taken from these data.",
		"Coordinates were brought to whole steps, and distances compared exactly, so that the smooth bound of the sensitivity is one "+
			"(docs/outliers.md, theorems 2 and 3).",
		"A record without one of the coordinates has no neighbours and counts as an outlier.",
	)
	if n == account.ReplaceOne {
		g.Assumptions = append(g.Assumptions, noren.Textf("The number of records is public."))
	}
	if m.noise.Family != GlobalLaplace {
		g.Assumptions = append(g.Assumptions, noren.Textf("How much noise was drawn depends on the data and is not released."))
	}
	return g, nil
}

// Accuracy is what public facts say of the error of an answer.
type Accuracy struct {
	// Noise describes the noise.
	Noise noren.Text `json:"noise"`
	// Level is the confidence of the half-widths.
	Level float64 `json:"level"`
	// SD and HalfWidth, of an interval that holds the count of the data, are expected if
	// the plan's guess is right. They are 0 where no guess was given: the default is made
	// without any knowledge of the data.
	SD        float64 `json:"expected_sd,omitempty"`
	HalfWidth float64 `json:"expected_half_width,omitempty"`
	// MostSD and MostHalfWidth hold whatever the data.
	MostSD        float64 `json:"most_sd"`
	MostHalfWidth float64 `json:"most_half_width"`
}

// Accuracy says from public facts how accurate an answer will be, with confidence level,
// 0 < level < 1. It does not depend on the number of records, which is a guess here and
// may be 0. Error: [noren.Usage].
func (m *Mechanism) Accuracy(level float64, _ int64) (Accuracy, error) {
	if !(level > 0 && level < 1) {
		return Accuracy{}, noren.Usagef("level", "the confidence must be above 0 and below 1").Hinted("0.95 is usual")
	}
	if m.global == 0 {
		return Accuracy{Level: level, Noise: noren.Textf("no noise: every record is an outlier")}, nil
	}
	most := float64(m.global)
	a := Accuracy{Level: level, Noise: m.noise.words(), MostSD: m.noise.SD(most), MostHalfWidth: m.halfWidth(most, level)}
	if m.options.Guess != 0 {
		s := m.guessed()
		a.SD, a.HalfWidth = m.noise.SD(s), m.halfWidth(s, level)
	}
	return a, nil
}

// guessed is the bound that the noise is scaled by if the guess is right.
func (m *Mechanism) guessed() float64 {
	if m.noise.Family == GlobalLaplace {
		return float64(m.global)
	}
	return guessedS(m.noise.Beta, m.global, m.plan.Guess)
}

// level95 is the confidence of intervals; where the size of the noise is
// released, a part of the doubt goes to it.
const (
	level95   = 0.95
	sizeDoubt = 0.01
)

// halfWidth of an interval of a level for a bound s. Discrete noise on integers
// is not rounded.
func (m *Mechanism) halfWidth(s, level float64) float64 {
	if m.noise.Family == GlobalLaplace {
		return s/m.noise.Divisor*-math.Log(1-level) + 1
	}
	return m.noise.Interval(s, level)
}

// String says the query in one line.
func (m *Mechanism) String() string { return m.Text().String() }

// Text says what is counted.
func (m *Mechanism) Text() noren.Text {
	names := make([]string, len(m.frame.axes))
	for j, a := range m.frame.axes {
		names[j] = a.Field.Name
	}
	return noren.Textf("records with fewer than %d others within %g in %s", m.set.K, m.options.Radius, strings.Join(names, ", "))
}
