package correlated

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strings"

	"noren"
)

// Method is how a leakage was computed.
type Method uint8

const (
	// Auto is exact where the budget allows it, and otherwise the best certified
	// bound that it does allow.
	Auto Method = iota
	// Exact evaluates every adversary; it fails beyond the budget.
	Exact
	// Quilt is exact for all adversaries who know a record nearby, and certified
	// for the others (Theorem 6). Chains only.
	Quilt
	// Tanh is the certified bound of Theorem 5. Chains and trees.
	Tanh
	// Range bounds the leakage by range(f)/b, which holds for every law.
	Range
)

var methodNames = [...]string{"auto", "exact", "quilt", "tanh", "range"}

// String is the method's name as [ParseMethod] reads it.
func (m Method) String() string {
	if int(m) < len(methodNames) {
		return methodNames[m]
	}
	return fmt.Sprintf("method(%d)", uint8(m))
}

// ParseMethod reads a method's name: auto, exact, quilt, tanh or range.
func ParseMethod(s string) (Method, error) {
	for i, name := range methodNames {
		if s == name {
			return Method(i), nil
		}
	}
	return 0, &noren.Error{Kind: noren.Usage, Where: "method", What: "there is no such method", Hint: "choose " + strings.Join(methodNames[:], ", ")}
}

// MarshalText implements [encoding.TextMarshaler].
func (m Method) MarshalText() ([]byte, error) { return []byte(m.String()), nil }

// UnmarshalText implements [encoding.TextUnmarshaler].
func (m *Method) UnmarshalText(text []byte) error {
	v, err := ParseMethod(string(text))
	if err == nil {
		*m = v
	}
	return err
}

// Options say against whom, and with how much work, a leakage is computed. All
// of it is public.
type Options struct {
	// Adversaries defaults to all.
	Adversaries Adversaries
	// Method defaults to Auto.
	Method Method
	// Budget bounds the work of exact evaluation: the number of configurations
	// (a target, what is known near it and its value) that are looked at for
	// one noise scale. Defaults to 200,000 for trees, where it bounds the
	// options (note, section 4.3), and to 50,000,000 otherwise.
	Budget int
	// Gap is how far apart the bounds of the quilted evaluation may lie, as a
	// share of the upper one. Defaults to 0.01.
	Gap float64
	// Arm fixes how far the quilted evaluation looks, in records; 0 chooses it
	// by Gap.
	Arm int
}

const (
	treeBudget = 200_000
	workBudget = 50_000_000
)

func (o *Options) gap() float64 {
	if o.Gap > 0 {
		return o.Gap
	}
	return 0.01
}

func (o *Options) budget(fallback int) int {
	if o.Budget > 0 {
		return o.Budget
	}
	return fallback
}

func (o *Options) validate() error {
	if o.Budget < 0 {
		return usagef("budget", "the budget is a positive number, or 0 for the default")
	}
	if !(o.Gap >= 0 && o.Gap < 1) {
		return usagef("gap", "the gap lies between 0 and 1")
	}
	if o.Arm < 0 {
		return usagef("arm", "the arm is a number of records, or 0 to choose it by the gap")
	}
	if int(o.Method) >= len(methodNames) {
		return usagef("method", "there is no such method")
	}
	return nil
}

// Leakage says how much an answer tells of one record's state, at most: the
// log ratio of the answer's densities under two states of the record.
type Leakage struct {
	// Upper is a bound that no adversary of the kind asked for exceeds.
	Upper float64 `json:"cbp"`
	// Lower is reached by an adversary of that kind: Upper itself if Exact.
	Lower float64 `json:"lower"`
	// Exact reports that Upper is the leakage and not only a bound.
	Exact bool `json:"exact"`
	// Method is how Upper was found.
	Method Method `json:"method"`
	// Arm is how many records far the quilted evaluation looked; 0 otherwise.
	Arm int `json:"arm,omitempty"`
	// Witness is the adversary for whom Lower was found; nil where there is
	// none, because nothing leaks or because no adversary was looked at.
	Witness *Witness `json:"witness,omitempty"`
	// Member is the member of a class that leaks most.
	Member int `json:"member,omitempty"`
}

// Witness is who, knowing what, learns most from which answer.
type Witness struct {
	// Target is the record that is learned about.
	Target int `json:"record"`
	// Known are the known records that matter, with their states.
	Known []Known `json:"known"`
	// OthersKnown reports that every record beyond Known is known as well;
	// which states these have makes no difference (Theorem 3).
	OthersKnown bool `json:"others_known"`
	// State and Other are the target's states whose ratio is the largest:
	// the answer speaks for State and against Other.
	State int `json:"state"`
	Other int `json:"other"`
	// Answer is the answer, by coordinate, less what the known records (Known
	// and the others, if known) contribute to it.
	Answer []float64 `json:"answer"`
	// Log is the log ratio that is reached.
	Log float64 `json:"log_ratio"`
}

// Known is a record whose state an adversary knows.
type Known struct {
	Record int `json:"record"`
	State  int `json:"state"`
}

// String says w in one sentence.
func (w *Witness) String() string {
	if w == nil {
		return "nobody learns anything"
	}
	var b strings.Builder
	fmt.Fprintf(&b, "of record %d, one who knows ", w.Target)
	switch {
	case len(w.Known) == 0 && w.OthersKnown:
		b.WriteString("all records that do not depend on it")
	case len(w.Known) == 0:
		b.WriteString("no record")
	default:
		for i, k := range w.Known {
			if i > 0 {
				b.WriteString(", ")
			}
			fmt.Fprintf(&b, "record %d in state %d", k.Record, k.State)
		}
		if w.OthersKnown {
			b.WriteString(" and all beyond")
		}
	}
	fmt.Fprintf(&b, " learns a factor of e^%.4g for state %d against %d", w.Log, w.State, w.Other)
	return b.String()
}

// ComputeLeakage returns CBP(b): the largest leakage about any record of the
// sum q(x) + Laplace noise of scale b (in every coordinate), where the records
// x follow m, to the adversaries that o names. The scale is a scale: density
// exp(-|z|/b)/(2b).
//
// Errors are of kind Usage for what cannot be meant, NotMet when Method is
// Exact and the budget does not cover it, and Interrupted.
func ComputeLeakage(ctx context.Context, m Model, q *Query, b float64, o Options) (*Leakage, error) {
	e, err := newEngine(m, q, nil, o)
	if err != nil {
		return nil, err
	}
	return e.leakage(ctx, b)
}

// engine holds what does not depend on the scale.
type engine struct {
	model   Model
	query   *boundQuery
	options Options
	scales  []float64 // relative scales of the coordinates
	extra   float64   // loss of further mechanisms, the same in every record
	members []*memberEngine
	box     *Box
	boxPlan *tanhPlan
	// boundOnly leaves out what only fills in Lower.
	boundOnly bool
}

// memberEngine is the engine for one law.
type memberEngine struct {
	model Model
	all   *engine
	table *tablePlan
	chain *chainPlan
	tree  *treePlan
	tanh  *tanhPlan
	// beyond is set once exact evaluation, or the quilted one, was found to be
	// beyond the budget: other scales cost as much.
	beyond, beyondQuilt bool
}

func newEngine(m Model, q *Query, scales []float64, o Options) (*engine, error) {
	if m == nil {
		return nil, usagef("model", "the model is missing")
	}
	if err := o.validate(); err != nil {
		return nil, err
	}
	bound, err := q.bind(m)
	if err != nil {
		return nil, err
	}
	if err := o.Adversaries.check(m); err != nil {
		return nil, err
	}
	if scales == nil {
		scales = make([]float64, len(bound.dims))
		for i := range scales {
			scales[i] = 1
		}
	}
	e := &engine{model: m, query: bound, options: o, scales: scales}
	e.box, _ = m.(*Box)
	for _, member := range m.members() {
		e.members = append(e.members, &memberEngine{model: member, all: e})
	}
	return e, nil
}

// rates are unit/b by coordinate.
func (e *engine) rates(b float64) []float64 {
	r := make([]float64, len(e.scales))
	for i, s := range e.scales {
		r[i] = e.query.dims[i].unit / (b * s)
	}
	return r
}

func (e *engine) leakage(ctx context.Context, b float64) (*Leakage, error) {
	if !(b > 0) || math.IsInf(b, 1) {
		return nil, usagef("scale", "the noise scale is a positive number")
	}
	rates := e.rates(b)
	if e.box != nil && (e.boundOnly || e.options.Method == Tanh || e.options.Method == Range) {
		return e.boxLeakage(ctx, rates, nil)
	}
	var worst *Leakage
	for i, m := range e.members {
		l, err := m.leakage(ctx, rates)
		if err != nil {
			return nil, err
		}
		l.Member = i
		if worst == nil {
			worst = l
			continue
		}
		if l.Upper > worst.Upper {
			l.Lower, l.Witness = pickLower(l, worst)
			l.Exact = l.Exact || worst.Exact && l.Upper == l.Lower
			worst = l
		} else {
			worst.Lower, worst.Witness = pickLower(worst, l)
		}
	}
	if e.box != nil {
		return e.boxLeakage(ctx, rates, worst)
	}
	return worst, nil
}

func pickLower(a, b *Leakage) (float64, *Witness) {
	if b.Lower > a.Lower {
		return b.Lower, b.Witness
	}
	return a.Lower, a.Witness
}

var errBudget = errors.New("beyond the budget")

// leakage of one law.
func (m *memberEngine) leakage(ctx context.Context, rates []float64) (*Leakage, error) {
	o := &m.all.options
	if m.all.extra > 0 && o.Method != Tanh {
		return nil, usagef("method", "mechanisms other than Laplace noise are bounded by the tanh rule only")
	}
	switch {
	case o.Adversaries.kind == advFull:
		l := m.full(rates)
		if m.all.extra > 0 {
			l.Upper += m.all.extra
			l.Exact = false
		}
		return l, nil
	case o.Adversaries.kind == advListed && m.all.extra == 0:
		return m.listed(ctx, rates)
	}
	switch o.Method {
	case Exact:
		l, err := m.exact(ctx, rates)
		if isBudget(err) {
			return nil, &noren.Error{Kind: noren.NotMet, Where: "method", What: "the exact leakage is beyond the budget", Hint: "raise the budget, or let the method be auto", Err: err}
		}
		return l, err
	case Quilt:
		if m.model.Kind() != "chain" {
			return nil, usagef("method", "the quilted evaluation is for chains, and this model is a %s", m.model.Kind())
		}
		return m.quilted(ctx, rates)
	case Tanh:
		return m.tanhBound(ctx, rates)
	case Range:
		return m.rangeBound(rates), nil
	}
	if !m.beyond {
		l, err := m.exact(ctx, rates)
		if !isBudget(err) {
			return l, err
		}
		m.beyond, m.chain = true, nil
	}
	if m.model.Kind() == "table" {
		return m.rangeBound(rates), nil
	}
	var l *Leakage
	if m.model.Kind() == "chain" && !m.beyondQuilt {
		var err error
		if l, err = m.quilted(ctx, rates); err != nil && !isBudget(err) {
			return nil, err
		}
		m.beyondQuilt = err != nil
	}
	t, err := m.tanhBound(ctx, rates)
	if err != nil {
		return nil, err
	}
	if l != nil && l.Upper <= t.Upper {
		return l, nil
	}
	if l != nil {
		t.Lower, t.Witness = l.Lower, l.Witness
	}
	return t, nil
}

func isBudget(err error) bool {
	return errors.Is(err, errBudget) || errors.Is(err, errTooManyAtoms)
}

// exact evaluates every adversary.
func (m *memberEngine) exact(ctx context.Context, rates []float64) (*Leakage, error) {
	switch model := m.model.(type) {
	case *Table:
		if m.table == nil {
			m.table = newTablePlan(model, m.all.query)
		}
		return m.table.leakage(ctx, rates, &m.all.options)
	case *Chain:
		if m.chain == nil || !m.chain.whole() {
			p, err := newChainPlan(ctx, model, m.all.query, &m.all.options, model.Records())
			if err != nil {
				return nil, err
			}
			m.chain = p
		}
		return m.chain.leakage(ctx, rates)
	case *Tree:
		if m.tree == nil {
			p, err := newTreePlan(ctx, model, m.all.query, &m.all.options)
			if err != nil {
				return nil, err
			}
			m.tree = p
		}
		return m.tree.leakage(ctx, rates)
	}
	return nil, &noren.Error{Kind: noren.Internal, What: "a law of an unknown kind"}
}

// rangeBound holds for any law: whatever else is unknown, the answers under
// two states of a record are the same law moved by at most range(f), mixed.
func (m *memberEngine) rangeBound(rates []float64) *Leakage {
	return &Leakage{Upper: m.all.query.rangeLoss(rates), Method: Range}
}
