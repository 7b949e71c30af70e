package survey

import (
	"math"
	"slices"
	"strings"

	"github.com/noren-privacy/noren"
	"github.com/noren-privacy/noren/ldp"
)

// Kind is what a survey estimates.
type Kind string

// Kinds of estimates.
const (
	Shares       Kind = "shares"       // of labels
	Words        Kind = "words"        // the shares of words among candidates
	Mean         Kind = "mean"         // of a number
	Distribution Kind = "distribution" // of a number
	Several      Kind = "several"      // attributes, each with its shares or mean
)

// Mechanisms are the names that a specification may hold, with what they are for.
func Mechanisms() []string {
	return []string{
		"grr", "oue", "sue", "olh", "subset", "longitudinal-grr", "longitudinal-oue",
		"rappor", "rappor-one-time", "basic-rappor", "basic-one-time",
		"duchi", "piecewise", "hybrid", "square-wave",
	}
}

// Survey is a specification that can run. It holds no state and is safe for
// concurrent use.
type Survey struct {
	spec    Spec
	kind    Kind
	answers []answer // one for each attribute
	domain  string   // the SHA-256 of what the values mean, as hexadecimal digits

	oracle ldp.Oracle        // shares
	device *ldp.Longitudinal // where the oracle has memory
	rappor *ldp.Rappor       // words, and shares by Basic RAPPOR
	mean   *ldp.Mean
	wave   *ldp.SquareWave
	multi  *ldp.Multi
}

// New checks a specification and makes its mechanism. All faults are of kind Usage.
func New(spec Spec) (*Survey, error) {
	s, err := compile(spec)
	if err != nil {
		return nil, err
	}
	s.domain = s.domainHash()
	return s, nil
}

func compile(spec Spec) (*Survey, error) {
	s := &Survey{spec: spec}
	s.spec.Mechanism = canonical(spec.Mechanism)
	if len(spec.Attributes) > 0 {
		return s.several()
	}
	switch m := s.spec.Mechanism; m {
	case "":
		return nil, fault("mechanism", noren.Textf("expected a mechanism, got none"), noren.Textf("one of %s", strings.Join(Mechanisms(), ", ")))
	case "grr", "oue", "sue", "olh", "subset", "longitudinal-grr", "longitudinal-oue", "basic-rappor", "basic-one-time":
		s.kind = Shares
	case "rappor", "rappor-one-time":
		s.kind = Words
	case "duchi", "piecewise", "hybrid":
		s.kind = Mean
	case "square-wave":
		s.kind = Distribution
	default:
		return nil, fault("mechanism", noren.Textf("is not known"), noren.Textf("one of %s", strings.Join(Mechanisms(), ", ")))
	}
	if err := s.strangers(); err != nil {
		return nil, err
	}
	a, err := newAnswer(&spec.Attribute, s.kind)
	if err != nil {
		return nil, err
	}
	s.answers = []answer{a}
	if err := s.mechanism(); err != nil {
		return nil, err
	}
	if s.Loss().Report <= 0 {
		return nil, fault("mechanism", noren.Textf("with these parameters reports cost nothing and tell nothing"),
			noren.Textf("take f below 1, or p and q further apart, or a larger epsilon"))
	}
	return s, nil
}

// canonical is a mechanism's name as Mechanisms has it.
func canonical(name string) string {
	name = strings.ReplaceAll(strings.ToLower(strings.TrimSpace(name)), "_", "-")
	switch name {
	case "squarewave", "sw":
		return "square-wave"
	case "basic":
		return "basic-rappor"
	case "one-time", "one-time-rappor":
		return "rappor-one-time"
	case "basic-rappor-one-time", "basic-one-time-rappor":
		return "basic-one-time"
	}
	return name
}

func fault(where any, what, hint noren.Text) error {
	return &noren.Error{Kind: noren.Usage, Where: where, What: what.Format, Args: what.Args, Hint: hint.Format, HintArgs: hint.Args}
}

// strangers refuses parameters that the mechanism does not use: their author expects
// another guarantee than the one that would hold.
func (s *Survey) strangers() error {
	sp, m := &s.spec, s.spec.Mechanism
	isRappor := strings.Contains(m, "rappor") || m == "basic-one-time"
	words := s.kind == Words
	for _, p := range []struct {
		name  string
		given bool
		known bool
	}{
		{"lifetime", sp.Lifetime != 0, strings.HasPrefix(m, "longitudinal")},
		{"k", sp.K != 0, words},
		{"h", sp.H != 0, words},
		{"m", sp.M != 0, words},
		{"f", sp.F != nil, isRappor},
		{"p", sp.P != nil, isRappor},
		{"q", sp.Q != nil, isRappor},
		{"sample", sp.Sample != 0, false},
	} {
		if p.given && !p.known {
			return fault(p.name, noren.Textf("is no parameter of %s", m), noren.Textf("leave it out, or take another mechanism"))
		}
	}
	return nil
}

// mechanism makes the mechanism of the one attribute.
func (s *Survey) mechanism() error {
	sp, k := &s.spec, s.answers[0].size()
	var err error
	switch sp.Mechanism {
	case "longitudinal-grr", "longitudinal-oue":
		life := sp.Lifetime
		if life == 0 {
			life = min(2*sp.Epsilon, ldp.MaxEpsilon)
		}
		if sp.Mechanism == "longitudinal-grr" {
			s.device, err = ldp.NewLongitudinalGRR(k, life, sp.Epsilon)
		} else {
			s.device, err = ldp.NewLongitudinalOUE(k, life, sp.Epsilon)
		}
		s.oracle = s.device
	case "rappor", "rappor-one-time", "basic-rappor", "basic-one-time":
		if s.rappor, err = s.newRappor(); err == nil && s.kind == Shares {
			s.oracle, err = s.rappor.Oracle()
		}
	case "duchi", "piecewise", "hybrid":
		lo, hi := s.answers[0].lo, s.answers[0].hi
		s.mean, err = map[string]func(lo, hi, epsilon float64) (*ldp.Mean, error){
			"duchi": ldp.NewDuchi, "piecewise": ldp.NewPiecewise, "hybrid": ldp.NewHybrid,
		}[sp.Mechanism](lo, hi, sp.Epsilon)
	case "square-wave":
		if sp.Buckets == 0 {
			sp.Buckets = 256
		}
		s.wave, err = ldp.NewSquareWave(s.answers[0].lo, s.answers[0].hi, sp.Buckets, sp.Epsilon)
	default:
		s.oracle, err = ldp.NewOracle(sp.Mechanism, k, sp.Epsilon)
	}
	return err
}

// several makes the mechanism of several attributes.
func (s *Survey) several() (*Survey, error) {
	sp := &s.spec
	s.kind = Several
	if sp.Mechanism != "" && sp.Mechanism != "several" {
		return nil, fault("mechanism", noren.Textf("is chosen for each of several attributes by its domain"), noren.Textf("leave it out"))
	}
	sp.Mechanism = "several"
	if sp.Column != "" || sp.Labels != nil || sp.Size != 0 || sp.Edges != nil || sp.Bins != nil || sp.Range != nil || sp.Buckets != 0 {
		return nil, fault("attributes", noren.Textf("a domain stands beside them"), noren.Textf("write each attribute's domain with it"))
	}
	sample := sp.Sample
	sp.Sample = 0
	if err := s.strangers(); err != nil {
		return nil, err
	}
	list := make([]ldp.Attribute, len(sp.Attributes))
	seen := map[string]bool{}
	for j := range sp.Attributes {
		at := &sp.Attributes[j]
		where := noren.Textf("attribute %d", j+1)
		if at.Column == "" || seen[at.Column] {
			return nil, fault(where, noren.Textf("needs a column of its own"), noren.Textf("column: NAME"))
		}
		seen[at.Column] = true
		kind := Shares
		if at.Range != nil {
			kind = Mean
		}
		a, err := newAnswer(at, kind)
		if err != nil {
			return nil, &noren.Error{Kind: noren.KindOf(err), Where: where, Err: err}
		}
		s.answers = append(s.answers, a)
		list[j] = ldp.Attribute{Name: at.Column, Lo: a.lo, Hi: a.hi}
		if kind == Shares {
			list[j].Labels = a.size()
		}
	}
	var err error
	if sample == 0 {
		s.multi, err = ldp.NewMulti(list, sp.Epsilon)
	} else {
		s.multi, err = ldp.NewMultiOf(list, sp.Epsilon, sample)
	}
	sp.Sample = sample
	if err != nil {
		return nil, err
	}
	return s, nil
}

// newRappor makes RAPPOR from its parameters, or finds f for the epsilon wanted.
func (s *Survey) newRappor() (*ldp.Rappor, error) {
	sp := &s.spec
	p := ldp.Params{K: sp.K, H: sp.H, M: sp.M, P: 0, Q: 1}
	if s.kind == Shares {
		p.K, p.H, p.M = s.answers[0].size(), 1, 1
		if p.K > 32 {
			return nil, fault("domain", noren.Textf("has more labels than the 32 bits of RAPPOR"),
				noren.Textf("take rappor with candidates, or oue"))
		}
	}
	oneTime := strings.HasSuffix(sp.Mechanism, "one-time")
	switch {
	case oneTime && (sp.P != nil && *sp.P != 0 || sp.Q != nil && *sp.Q != 1):
		return nil, fault("p, q", noren.Textf("a one-time report has no instantaneous step: p is 0 and q is 1"),
			noren.Textf("leave them out, or take the mechanism without one-time"))
	case !oneTime && (sp.P == nil || sp.Q == nil):
		return nil, fault("p, q", noren.Textf("are needed"), noren.Textf("for instance p: 0.25 and q: 0.75"))
	case !oneTime:
		p.P, p.Q = *sp.P, *sp.Q
	}
	if s.kind == Words && (p.K == 0 || p.H == 0 || p.M == 0) {
		return nil, fault("k, h, m", noren.Textf("are needed: bits, hash functions and cohorts"), noren.Textf("for instance k: 16, h: 2, m: 64"))
	}
	switch {
	case sp.F != nil && sp.Epsilon != 0:
		p.F = *sp.F
		r, err := ldp.NewRappor(p)
		if err != nil {
			return nil, err
		}
		if e := r.Loss().Report; math.Abs(e-sp.Epsilon) > 1e-4*e {
			return nil, fault("epsilon", noren.Textf("is not what the parameters give: one report costs %s", noren.LossFigure(e, 6)),
				noren.Textf("leave out epsilon, or f"))
		}
		return r, nil
	case sp.F != nil:
		p.F = *sp.F
		return ldp.NewRappor(p)
	case sp.Epsilon > 0:
		return rapporFor(p, sp.Epsilon)
	}
	return nil, fault("f", noren.Textf("is needed, or epsilon instead of it"), noren.Textf("for instance f: 0.5"))
}

// rapporFor is RAPPOR with the least f, a multiple of 1/128, for which a report
// costs no more than epsilon.
func rapporFor(p ldp.Params, epsilon float64) (*ldp.Rappor, error) {
	if math.IsNaN(epsilon) || math.IsInf(epsilon, 0) {
		return nil, fault("epsilon", noren.Textf("must be a number above 0"), noren.Text{})
	}
	for i := 1; i < 128; i++ { // f = 1 would say nothing
		p.F = float64(i) / 128
		r, err := ldp.NewRappor(p)
		if err != nil {
			return nil, err
		}
		e := r.Loss().Report
		if i == 1 && e < epsilon {
			return nil, fault("epsilon", noren.Textf("no f gives it: with these h, p and q one report costs at most %s", noren.LossFigure(e, 4)),
				noren.Textf("take a smaller epsilon, or p and q further apart"))
		}
		if e <= epsilon {
			return r, nil
		}
	}
	return nil, fault("epsilon", noren.Textf("no f gives so small a value except f = 1, from which nothing can be estimated"),
		noren.Textf("take a larger epsilon, or p and q nearer to each other"))
}

// Kind is what the survey estimates.
func (s *Survey) Kind() Kind { return s.kind }

// Spec is the specification that runs.
func (s *Survey) Spec() Spec { return s.spec }

// Mechanism is the mechanism's name.
func (s *Survey) Mechanism() string { return s.spec.Mechanism }

// Rappor is the survey's RAPPOR, nil for other mechanisms.
func (s *Survey) Rappor() *ldp.Rappor { return s.rappor }

// Oracle is the mechanism of a survey of shares, nil for others.
func (s *Survey) Oracle() ldp.Oracle { return s.oracle }

// MeanMechanism is the mechanism of a survey of a mean, nil for others.
func (s *Survey) MeanMechanism() *ldp.Mean { return s.mean }

// Multi is the mechanism of several attributes, nil for one.
func (s *Survey) Multi() *ldp.Multi { return s.multi }

// Columns are the names of the attributes' columns, empty where none is said.
func (s *Survey) Columns() []string {
	if s.kind != Several {
		return []string{s.spec.Column}
	}
	names := make([]string, len(s.spec.Attributes))
	for j, a := range s.spec.Attributes {
		names[j] = a.Column
	}
	return names
}

// Labels are the names of an attribute's labels, nil for numbers and words.
func (s *Survey) Labels(attribute int) []string { return slices.Clone(s.answers[attribute].names) }

// Bins are the bins of an attribute, nil where its labels are no bins.
func (s *Survey) Bins(attribute int) *ldp.Bins { return s.answers[attribute].bins }

// Loss is the privacy loss of a person who takes part.
func (s *Survey) Loss() ldp.Loss {
	switch {
	case s.multi != nil:
		return s.multi.Loss()
	case s.mean != nil:
		return s.mean.Loss()
	case s.wave != nil:
		return s.wave.Loss()
	case s.rappor != nil:
		return s.rappor.Loss()
	}
	return s.oracle.Loss()
}
