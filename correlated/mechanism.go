package correlated

import (
	"context"
	"errors"
	"math"
	"math/big"
	"slices"
	"strconv"

	"github.com/noren-privacy/noren"
	"github.com/noren-privacy/noren/account"
	"github.com/noren-privacy/noren/noise"
	"github.com/noren-privacy/noren/table"
)

// Options say which query is answered, on which column, and what the answer may leak.
type Options struct {
	// Model is the joint distribution of the records, and Query what is asked of them.
	// Required.
	Model *ModelFile
	Query *Query
	// Column holds the records' states in the model's order, one record a row: the
	// states' names where the model gives them, otherwise the numbers "0", "1", ..
	// Required.
	Column string
	// Cost is what the answer alone may leak of one record: CBP <= epsilon, with a
	// delta of 0. Required. The charge is [Mechanism.Cost], which is at least that.
	Cost account.Cost
	// Noise defaults to Laplace, the one distribution for which leakages are
	// computed.
	Noise Noise
	// Leakage says against whom, and how much work may be done.
	Leakage LeakageOptions
}

// Noise is a distribution of noise.
type Noise string

// Laplace is discrete Laplace noise.
const Laplace Noise = "laplace"

func (o *Options) validate() error {
	var all []error
	check := func(ok bool, where string, format noren.Format, args ...any) {
		if !ok {
			all = append(all, noren.Usagef(where, format, args...))
		}
	}
	check(o.Model != nil && o.Model.Model != nil, "model", "the model is missing")
	check(o.Query != nil, "query", "the query is missing")
	check(o.Column != "", "column", "the column that holds the records' states is missing")
	check(o.Cost.Epsilon > 0, "epsilon", "expected a number above 0, got %s", account.Decimal(o.Cost.Epsilon, 9))
	check(o.Cost.Delta == 0, "delta", "expected 0, got %s: the leakage is bounded without a delta", account.Decimal(o.Cost.Delta, 18))
	check(o.Noise == "" || o.Noise == Laplace, "noise", "expected %s, got another distribution", Laplace)
	return errors.Join(all...)
}

// Mechanism answers a query as [Options] say: the exact answer, a whole number of steps, plus
// discrete Laplace noise in steps. On whole numbers the noise's likelihood
// ratios are those of the continuous noise at atoms, where by Theorem 1 the
// supremum lies: the leakage is the same. The scale is at least that of ordinary
// differential privacy, osc(g)/epsilon, so that both guarantees hold.
type Mechanism struct {
	options Options
	epsilon float64 // of options.Cost
	query   *boundQuery
	found   *Calibration
	leakage *Leakage
	scale   *big.Rat   // b, in the query's units
	steps   []*big.Rat // b in steps, by coordinate
	hash    string     // of the model
	// In units of account.Cost.Epsilon, rounded up.
	leaks, plain, charge int64
}

// New calibrates the noise. Nothing in it depends on data.
func New(ctx context.Context, o Options) (*Mechanism, error) {
	if err := o.validate(); err != nil {
		return nil, err
	}
	e, err := newEngine(o.Model.Model, o.Query, o.Leakage)
	if err != nil {
		return nil, err
	}
	epsilon, _ := o.Cost.Float()
	m := &Mechanism{options: o, epsilon: epsilon, query: e.query}
	if m.found, err = e.calibrate(ctx, epsilon); err != nil {
		return nil, err
	}
	if m.found.Scale == 0 {
		return nil, noren.Usagef("query", "no record changes the answer: it is public")
	}
	osc := e.query.osc(e.rates(1))
	m.scale = ratUp(math.Max(m.found.Scale, osc/epsilon*(1+roundingMargin)))
	b, _ := m.scale.Float64()
	if b < m.found.Scale {
		return nil, &noren.Error{Kind: noren.Internal, What: "a scale was rounded down"}
	}
	e.boundOnly = false
	if m.leakage, err = e.leakage(ctx, b); err != nil {
		return nil, err
	}
	if m.leakage.Upper > epsilon {
		return nil, &noren.Error{Kind: noren.Internal, What: "the leakage rose with the scale"}
	}
	charge, err := Charge(ctx, o.Model.Model, o.Query, b)
	if err != nil {
		return nil, err
	}
	if err := m.roundUp(charge, osc/b); err != nil {
		return nil, err
	}
	if m.hash, err = o.Model.Hash(); err != nil {
		return nil, err
	}
	for c := range e.query.dims {
		step := new(big.Rat).Quo(m.scale, e.query.dims[c].rat)
		if _, err := noise.NewLaplace(step); err != nil {
			return nil, &noren.Error{Kind: noren.Usage, Where: "epsilon", What: "the noise scale in steps of the query cannot be drawn", Err: err}
		}
		m.steps = append(m.steps, step)
	}
	for _, w := range append(m.within(0.95), b) {
		if !(w <= maxPublished) {
			return nil, &noren.Error{
				Kind: noren.Usage, Where: "epsilon", What: "expected noise below 2^53, got more",
				Hint: "choose a larger epsilon, or smaller values in the query",
			}
		}
	}
	return m, nil
}

// roundUp brings the leakage, the ordinary epsilon and the charge up to whole
// units of account.Cost.Epsilon, the last to at least the other two: the tanh
// rule and the range bound every adversary, and quilted bounds may be looser. So
// they are decimals of nine places, and what is printed is what holds.
func (m *Mechanism) roundUp(charge, plain float64) (err error) {
	if m.leaks, err = unitsUp(m.leakage.Upper); err != nil {
		return err
	}
	if m.plain, err = unitsUp(plain * (1 + roundingMargin)); err != nil {
		return err
	}
	if m.charge, err = unitsUp(charge * (1 + roundingMargin)); err != nil {
		return err
	}
	m.charge = max(m.charge, m.leaks, m.plain)
	m.leakage = m.leakage.Decimal()
	found := *m.found
	found.Leakage = found.Leakage.Decimal()
	m.found = &found
	return nil
}

// Decimal returns l with its bounds as decimals of nine places, Upper rounded up and
// Lower and the log ratio of Witness rounded down: what is printed then holds.
func (l *Leakage) Decimal() *Leakage {
	out := *l
	if units, err := unitsUp(l.Upper); err == nil {
		out.Upper = epsilonOf(units)
	}
	out.Lower = math.Floor(l.Lower*account.EpsilonUnits) / account.EpsilonUnits
	if l.Witness != nil {
		w := *l.Witness
		w.Log = math.Floor(w.Log*account.EpsilonUnits) / account.EpsilonUnits
		out.Witness = &w
	}
	return &out
}

// scaleBits is how many bits a published scale has.
const scaleBits = 32

// ratUp is the smallest number of 32 significant bits that is at least x > 0.
func ratUp(x float64) *big.Rat {
	frac, exp := math.Frexp(x)
	m := math.Ceil(math.Ldexp(frac, scaleBits))
	r := new(big.Rat).SetFloat64(m)
	two := new(big.Rat).SetInt(new(big.Int).Lsh(big.NewInt(1), uint(max(exp-scaleBits, scaleBits-exp))))
	if exp >= scaleBits {
		return r.Mul(r, two)
	}
	return r.Quo(r, two)
}

// Name is "correlated.answer".
func (m *Mechanism) Name() string { return "correlated.answer" }

type mechanismParameters struct {
	Model       string      `json:"model_sha256"`
	Query       *Query      `json:"query"`
	Column      string      `json:"column"`
	Epsilon     float64     `json:"epsilon"`
	Adversaries Adversaries `json:"adversaries"`
	Method      Method      `json:"method"`
	Scale       string      `json:"scale"`
}

// Parameters are the public parameters; of the model its hash
// ([ModelFile.Hash]).
func (m *Mechanism) Parameters() any {
	return mechanismParameters{
		Model: m.hash, Query: m.options.Query, Column: m.options.Column, Epsilon: m.epsilon,
		Adversaries: m.options.Leakage.Adversaries, Method: m.leakage.Method, Scale: m.scale.RatString(),
	}
}

// Options are the options that m was made with.
func (m *Mechanism) Options() Options { return m.options }

// Calibration is how the scale was found.
func (m *Mechanism) Calibration() *Calibration { return m.found }

// Leakage is what the answer alone leaks: the leakage at [Mechanism.Scale].
func (m *Mechanism) Leakage() *Leakage { return m.leakage }

// Scale is the noise scale b in the query's units, rounded up.
func (m *Mechanism) Scale() *big.Rat { return new(big.Rat).Set(m.scale) }

// Plain is the epsilon of ordinary differential privacy, for one record
// replaced, that the noise gives as well.
func (m *Mechanism) Plain() float64 { return epsilonOf(m.plain) }

// Cost is the charge of one answer to a data set under the model, of replace-one
// neighbours: what [Charge] gives, because charges of that kind add up and
// leakages do not. It is at least the leakage and at least the ordinary epsilon.
func (m *Mechanism) Cost(n account.Neighbours, unit string) (account.Cost, error) {
	if err := m.covers(n, unit); err != nil {
		return account.Cost{}, err
	}
	return account.Cost{Epsilon: m.charge}, nil
}

// Covers refuses a data set that has not as many records as the model: records
// is their public number, 0 where none is stated. The bound atMost adds nothing. Error: [noren.Usage], code "records".
func (m *Mechanism) Covers(_, records int64) error {
	if n := m.options.Model.Model.Records(); records != int64(n) {
		return &noren.Error{
			Kind: noren.Usage, Code: codeRecords, Where: "model", What: "expected %d {record|records}, as the model has, got %s", Args: []any{
				n, stated(records),
			},
			Hint: "the data set states the number of its records, and the model has one for each",
		}
	}
	return nil
}

func stated(records int64) noren.Text {
	if records == 0 {
		return noren.Textf("no stated number")
	}
	return noren.Textf("%d", records)
}

func (m *Mechanism) covers(n account.Neighbours, unit string) error {
	if n != account.ReplaceOne {
		return &noren.Error{
			Kind: noren.Usage, Where: "neighbours", Code: codeModel,
			What: "expected replace-one, got add-remove: a model of dependent records compares tables of one size",
			Hint: "use a data set of replace-one neighbours",
		}
	}
	if unit != account.Record {
		return &noren.Error{
			Kind: noren.Usage, Where: "unit", Code: codeModel,
			What: "expected the record, got another: the model's records are rows", Hint: "use a data set whose unit is the record",
		}
	}
	return nil
}

// Guarantee is the guarantee of the answer alone, with its assumptions.
func (m *Mechanism) Guarantee(n account.Neighbours, unit string) (noren.Guarantee, error) {
	if err := m.covers(n, unit); err != nil {
		return noren.Guarantee{}, err
	}
	g := noren.Guarantee{
		Model:   "correlated Bayesian privacy",
		Epsilon: epsilonOf(max(m.leaks, m.plain)), Neighbours: n.String(), Unit: unit,
	}
	source := noren.Textf("its source is not stated")
	if m.options.Model.Source != "" {
		source = noren.Textf("its source: %s", m.options.Model.Source)
	}
	how := noren.Textf("bounded by %s", m.leakage.Method)
	if m.leakage.Exact {
		how = noren.Textf("computed exactly")
	}
	g.Assumptions = noren.Texts{
		noren.Textf("The %d {record follows|records follow} %s; %s.", m.options.Model.Model.Records(), describeModel(m.options.Model.Model),
			source),
		noren.Textf("The model is public and was not made from the records that it protects."),
		noren.Textf("Protected against: %s.", m.options.Leakage.Adversaries.describe()),
		noren.Textf("For any two states of a record that such an adversary holds possible, the answer's likelihoods differ by a factor of at "+
			"most e^%s (%s).", account.Decimal(m.leaks, 9), how),
		noren.Textf("Whatever the model, replacing one record changes likelihoods by a factor of at most e^%s.", account.Decimal(m.plain, 9)),
		noren.Textf("A value that is no state of its record counts as that record's first state."),
		noren.Textf("Leakages of several answers do not add up; their charges do, where every release about these records was charged under " +
			"this model (docs/correlated-privacy.md, section 12)."),
	}
	return g, nil
}

func describeModel(m Model) noren.Text {
	switch m := m.(type) {
	case *Chain:
		if m.Homogeneous() {
			return noren.Textf("a homogeneous Markov chain")
		}
		return noren.Textf("a Markov chain")
	case *Tree:
		return noren.Textf("a tree model")
	case *Class:
		return noren.Textf("any one of %d {distribution|distributions}", len(m.list))
	case *Box:
		return noren.Textf("some %s whose transition probabilities lie within the stated bounds", m.centre.Kind())
	}
	return noren.Textf("a given joint distribution")
}

// ModelHash identifies the model ([ModelFile.Hash]).
func (m *Mechanism) ModelHash() string { return m.hash }

// Column is the column that holds the records' states.
func (m *Mechanism) Column() string { return m.options.Column }

// Columns is the one column that is read; its levels are the model's states.
func (m *Mechanism) Columns() []table.Field {
	return []table.Field{{Name: m.options.Column, Role: table.Sensitive, Type: table.Ordered, Levels: m.options.Model.StateNames()}}
}

// StateNames are the names of the states: those that the file gives, otherwise
// "0", "1", .. up to the largest number of states of a record.
func (f *ModelFile) StateNames() []string {
	if f.States != nil {
		return f.States
	}
	most := 0
	for i := range f.Model.Records() {
		most = max(most, f.Model.States(i))
	}
	names := make([]string, most)
	for v := range names {
		names[v] = strconv.Itoa(v)
	}
	return names
}

// Answer is the published answer.
type Answer struct {
	// Values are the noisy values by coordinate.
	Values []Decimal `json:"values"`
	// Scale is the noise scale b.
	Scale float64 `json:"scale"`
	// Within95 is, for each coordinate, a bound on the noise that holds with probability 0.95.
	Within95 []float64 `json:"within_95"`
}

// Answer computes the answer on t, which has the column of [Mechanism.Columns],
// and adds noise. It answers every table of as many records as the model has: a
// value that is missing or no state of its record counts as the record's first
// state. That rule looks at one record alone, so it maps tables that differ in
// one record to such tables. Errors are of kind BadData where the column is
// absent, has other levels than the model's states or another number of records.
func (m *Mechanism) Answer(ctx context.Context, t *table.Table, src *noise.Source) (any, error) {
	steps, err := m.Steps(ctx, t)
	if err != nil {
		return nil, err
	}
	b, _ := m.scale.Float64()
	a := &Answer{Scale: b, Within95: m.within(0.95)}
	for c, d := range m.query.dims {
		l, err := noise.NewLaplace(m.steps[c])
		if err != nil {
			return nil, err
		}
		z, err := l.Draw(src)
		if err != nil {
			return nil, err
		}
		a.Values = append(a.Values, d.value(noise.AddSaturating(steps[c], z)))
	}
	return a, nil
}

// Accuracy is a forecast of an answer's error, from public parameters alone.
type Accuracy struct {
	// Level is the probability.
	Level float64 `json:"level"`
	// Within is how far the noise moves each coordinate at most, with that probability.
	Within []float64 `json:"within"`
}

// Accuracy is how far the noise moves an answer at most, with confidence level,
// 0 < level < 1. records is the public number of records, which the model fixes: it
// must be the model's, or 0 where the caller states none. Error: [noren.Usage].
func (m *Mechanism) Accuracy(level float64, records int64) (Accuracy, error) {
	if !(level > 0 && level < 1) {
		return Accuracy{}, noren.Usagef("level", "expected a confidence above 0 and below 1")
	}
	if n := m.options.Model.Model.Records(); records != 0 && records != int64(n) {
		return Accuracy{}, &noren.Error{
			Kind: noren.Usage, Code: codeRecords, Where: "records",
			What: "expected %d, the records of the model, got %d", Args: []any{n, records},
		}
	}
	return Accuracy{level, m.within(level)}, nil
}

// within is Accuracy.Within.
func (m *Mechanism) within(level float64) []float64 {
	out := make([]float64, len(m.steps))
	for c, d := range m.query.dims {
		l, err := noise.NewLaplace(m.steps[c])
		if err != nil { // it was made before
			return []float64{math.Inf(1)}
		}
		out[c] = float64(l.Interval(level)) * d.unit
	}
	return out
}

// value is base + steps*unit, written out.
func (d *dim) value(steps int64) Decimal {
	v := new(big.Rat).SetInt64(steps)
	v.Mul(v, d.rat).Add(v, d.base)
	places, _ := v.FloatPrec() // the denominator is a power of ten, or a part of one
	return Decimal(v.FloatString(places))
}

// Steps is the exact answer, private: by coordinate, how many steps of the
// query's unit it lies above the smallest possible answer.
func (m *Mechanism) Steps(ctx context.Context, t *table.Table) ([]int64, error) {
	model := m.options.Model
	col := t.Column(m.options.Column)
	if col == nil || col.Field.Type != table.Ordered || !slices.Equal(col.Dict, model.StateNames()) {
		return nil, &noren.Error{
			Kind: noren.BadData, Where: m.options.Column,
			What: "expected an ordered column whose levels are the model's states",
		}
	}
	if n := model.Model.Records(); col.Len() != n {
		return nil, &noren.Error{
			Kind: noren.BadData, Where: m.options.Column,
			What: "the table does not have as many rows as the model has records",
		}
	}
	out := make([]int64, len(m.query.dims))
	for i := range col.Len() {
		if i&0xffff == 0 {
			if err := ctx.Err(); err != nil {
				return nil, err
			}
		}
		v := int(col.Codes[i]) // 0 where the value is missing
		if v >= model.Model.States(i) {
			v = 0
		}
		key := m.query.rows[m.query.row[i]].key[v]
		if len(out) == 1 {
			out[0] += key
			continue
		}
		for c := range out {
			out[c] += m.query.dims[c].coordinate(key)
		}
	}
	return out, nil
}
