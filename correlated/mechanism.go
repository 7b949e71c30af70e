package correlated

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"math/big"

	"noren"
	"noren/account"
	"noren/noise"
	"noren/table"
)

// Spec is a query to be answered on a column of a table, one record of the
// model a row, with noise calibrated to a model of their dependence.
type Spec struct {
	// Model is the law of the records, and Query what is asked of them. Required.
	Model *ModelFile
	Query *Query
	// Column holds the records' states in the model's order: the states' names
	// where the model gives them, otherwise the numbers 0, 1, .. Required.
	Column string
	// Epsilon is what the answer alone may leak: CBP <= Epsilon. Required.
	Epsilon float64
	// Options say against whom, and how much work may be spent.
	Options Options
}

// Mechanism answers a [Spec]: the exact answer, a whole number of steps, plus
// discrete Laplace noise in steps. On whole numbers the noise's likelihood
// ratios are those of the continuous noise at atoms, where by Theorem 1 the
// supremum lies: the leakage is the same. The scale is at least that of ordinary
// differential privacy, osc(g)/epsilon, so that both promises hold.
type Mechanism struct {
	spec    Spec
	query   *boundQuery
	found   *Calibration
	leakage *Leakage
	scale   *big.Rat   // b, in the query's units
	steps   []*big.Rat // b in steps, by coordinate
	charge  float64
	plain   float64
}

// NewMechanism calibrates the noise. Nothing in it depends on data.
func NewMechanism(ctx context.Context, s Spec) (*Mechanism, error) {
	if s.Model == nil || s.Model.Model == nil {
		return nil, usagef("model", "the model is missing")
	}
	if s.Column == "" {
		return nil, usagef("column", "the column that holds the records' states is missing")
	}
	e, err := newEngine(s.Model.Model, s.Query, nil, s.Options)
	if err != nil {
		return nil, err
	}
	m := &Mechanism{spec: s, query: e.query}
	if m.found, err = e.calibrate(ctx, s.Epsilon); err != nil {
		return nil, err
	}
	if m.found.Scale == 0 {
		return nil, usagef("query", "no record changes the answer: it is public")
	}
	osc := e.query.osc(e.rates(1))
	m.scale = ratUp(math.Max(m.found.Scale, osc/s.Epsilon*(1+roundingMargin)))
	b, _ := m.scale.Float64()
	if b < m.found.Scale {
		return nil, &noren.Error{Kind: noren.Internal, What: "a scale was rounded down"}
	}
	e.boundOnly = false
	if m.leakage, err = e.leakage(ctx, b); err != nil {
		return nil, err
	}
	if m.leakage.Upper > s.Epsilon {
		return nil, &noren.Error{Kind: noren.Internal, What: "the leakage rose with the scale"}
	}
	if m.charge, err = Charge(ctx, s.Model.Model, s.Query, b); err != nil {
		return nil, err
	}
	m.plain = osc / b
	// The tanh rule and the range bound every adversary; what was promised
	// against fewer may be more.
	m.charge = math.Max(m.charge, math.Max(m.leakage.Upper, m.plain)) * (1 + roundingMargin)
	for c := range e.query.dims {
		step := new(big.Rat).Quo(m.scale, e.query.dims[c].rat)
		if _, err := noise.NewLaplace(step); err != nil {
			return nil, &noren.Error{Kind: noren.Usage, Where: "epsilon", What: "the noise scale in steps of the query cannot be drawn", Err: err}
		}
		m.steps = append(m.steps, step)
	}
	return m, nil
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
	Model       *ModelFile  `json:"model"`
	Query       *Query      `json:"query"`
	Column      string      `json:"column"`
	Epsilon     float64     `json:"epsilon"`
	Adversaries Adversaries `json:"adversaries"`
	Method      Method      `json:"method"`
	Scale       string      `json:"scale"`
}

// Parameters are the public parameters, the model among them.
func (m *Mechanism) Parameters() any {
	return mechanismParameters{
		Model: m.spec.Model, Query: m.spec.Query, Column: m.spec.Column, Epsilon: m.spec.Epsilon,
		Adversaries: m.spec.Options.Adversaries, Method: m.leakage.Method, Scale: m.scale.RatString(),
	}
}

// Calibration is how the scale was found.
func (m *Mechanism) Calibration() *Calibration { return m.found }

// Leakage is what the answer alone leaks: the leakage at [Mechanism.Scale].
func (m *Mechanism) Leakage() *Leakage { return m.leakage }

// Scale is the noise scale b in the query's units, rounded up.
func (m *Mechanism) Scale() *big.Rat { return new(big.Rat).Set(m.scale) }

// Plain is the epsilon of ordinary differential privacy, for one record
// replaced, that the noise gives as well.
func (m *Mechanism) Plain() float64 { return m.plain }

// Cost is the charge of one answer to a book of replace-one neighbours: what
// [Charge] gives, because charges of that kind add up and leakages do not. It is
// at least the leakage and at least the ordinary epsilon.
func (m *Mechanism) Cost(n account.Neighbours, unit string) (account.Cost, error) {
	if err := m.covers(n, unit); err != nil {
		return account.Cost{}, err
	}
	r := new(big.Rat).SetFloat64(m.charge)
	eps, err := account.EpsilonUp(r)
	return account.Cost{Epsilon: eps}, err
}

func (m *Mechanism) covers(n account.Neighbours, unit string) error {
	if n != account.ReplaceOne {
		return &noren.Error{Kind: noren.Usage, Where: "neighbours", What: "a model of dependent records compares tables of one size: it promises nothing in an add-remove book", Hint: "use a book of replace-one neighbours"}
	}
	if unit != account.Record {
		return &noren.Error{Kind: noren.Usage, Where: "unit", What: "the model's records are rows, and the book's unit is another", Hint: "use a book whose unit is the record"}
	}
	return nil
}

// Guarantee states what the answer alone promises, and on what that rests.
func (m *Mechanism) Guarantee(n account.Neighbours, unit string) (noren.Guarantee, error) {
	if err := m.covers(n, unit); err != nil {
		return noren.Guarantee{}, err
	}
	g := noren.Guarantee{
		Model:   "correlated Bayesian privacy",
		Epsilon: math.Max(m.leakage.Upper, m.plain), Neighbours: n.String(), Unit: unit,
	}
	source := "its source is not stated"
	if m.spec.Model.Source != "" {
		source = "source: " + m.spec.Model.Source
	}
	how := "bounded by " + m.leakage.Method.String()
	if m.leakage.Exact {
		how = "computed exactly"
	}
	g.Assumptions = []string{
		fmt.Sprintf("The %d records follow %s; %s.", m.spec.Model.Model.Records(), describeModel(m.spec.Model.Model), source),
		"The model is public and was not made from the records that it protects.",
		"Protected against: " + m.spec.Options.Adversaries.describe() + ".",
		fmt.Sprintf("For any two states of a record that such an adversary holds possible, the answer's likelihoods differ by a factor of at most e^%.6g (%s).", m.leakage.Upper, how),
		fmt.Sprintf("Whatever the model, replacing one record changes likelihoods by a factor of at most e^%.6g.", m.plain),
		"Leakages of several answers do not add up; their charges do, where every release about these records was charged by this rule under this model.",
	}
	return g, nil
}

func describeModel(m Model) string {
	switch m := m.(type) {
	case *Chain:
		if m.Homogeneous() {
			return "a homogeneous Markov chain"
		}
		return "a Markov chain"
	case *Tree:
		return "a tree model"
	case *Class:
		return fmt.Sprintf("one of %d laws, whichever", len(m.list))
	case *Box:
		return "some " + m.centre.Kind() + " whose transition probabilities lie within the stated bounds"
	}
	return "a given joint law"
}

// Columns is the one column that is read.
func (m *Mechanism) Columns() []table.Field {
	f := table.Field{Name: m.spec.Column, Role: table.Sensitive, Type: table.Category}
	if m.spec.Model.States == nil {
		f.Type = table.Integer
	}
	return []table.Field{f}
}

// Answer is the published answer.
type Answer struct {
	// Values are the noisy values by coordinate, exactly.
	Values []json.Number `json:"values"`
	// Scale is the noise scale b.
	Scale float64 `json:"scale"`
	// Within95 is, by coordinate, how far the noise moves an answer at most,
	// 95 times in 100.
	Within95 []float64 `json:"within_95"`
}

// Answer computes the answer on t, whose first column is that of
// [Mechanism.Columns], and adds noise. Errors are of kind BadData where a row
// is missing, surplus or in no state of the model.
func (m *Mechanism) Answer(ctx context.Context, t *table.Table, src *noise.Source) (any, error) {
	steps, err := m.Steps(ctx, t)
	if err != nil {
		return nil, err
	}
	b, _ := m.scale.Float64()
	a := &Answer{Scale: b}
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
		a.Within95 = append(a.Within95, float64(l.Interval(0.95))*d.unit)
	}
	return a, nil
}

// value is base + steps*unit, written out.
func (d *dim) value(steps int64) json.Number {
	v := new(big.Rat).SetInt64(steps)
	v.Mul(v, d.rat).Add(v, d.base)
	places, _ := v.FloatPrec() // the denominator is a power of ten, or a part of one
	return json.Number(v.FloatString(places))
}

// Steps is the exact answer, private: by coordinate, how many steps of the
// query's unit it lies above the smallest possible answer.
func (m *Mechanism) Steps(ctx context.Context, t *table.Table) ([]int64, error) {
	model := m.spec.Model
	col := t.Column(m.spec.Column)
	if col == nil {
		return nil, &noren.Error{Kind: noren.BadData, Where: m.spec.Column, What: "the table has no such column"}
	}
	if n := model.Model.Records(); col.Len() != n {
		return nil, &noren.Error{Kind: noren.BadData, Where: m.spec.Column, What: "the table does not have as many rows as the model has records"}
	}
	states := make([]int, len(col.Dict))
	for code, name := range col.Dict {
		states[code] = -1
		for v, s := range model.States {
			if s == name {
				states[code] = v
			}
		}
	}
	out := make([]int64, len(m.query.dims))
	for i := range col.Len() {
		if i&0xffff == 0 {
			if err := ctx.Err(); err != nil {
				return nil, err
			}
		}
		v := -1
		switch {
		case col.IsMissing(i):
		case col.Codes != nil:
			v = states[col.Codes[i]]
		case col.Ints != nil:
			if x := col.Ints[i]; x >= 0 && x < int64(model.Model.States(i)) {
				v = int(x)
			}
		}
		if v < 0 || v >= model.Model.States(i) {
			return nil, &noren.Error{Kind: noren.BadData, Where: noren.Position{Record: int64(i + 1), Column: m.spec.Column}.String(), What: "the value is no state of the model"}
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
