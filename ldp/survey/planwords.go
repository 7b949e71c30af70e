package survey

import (
	"math"
	"strconv"

	"github.com/noren-privacy/noren"
	"github.com/noren-privacy/noren/ldp"
)

// WordPlanOptions are the public facts from which a collection of texts is planned.
type WordPlanOptions struct {
	// Spec holds epsilon, and optionally the epsilon of a lifetime; the plan chooses
	// RAPPOR's parameters. Required.
	Spec Spec
	// N is the number of people who report. Required.
	N int64
	// Candidates is the number of words among which texts are found. Required.
	Candidates int
	// Repeats is how often each person is asked the same. Defaults to 1.
	Repeats int
}

// WordPlan is a choice of RAPPOR's parameters for a collection of texts, with expected
// errors and those of the alternatives.
type WordPlan struct {
	// Kind is what is estimated: words.
	Kind Kind `json:"kind"`
	// Epsilon of one report.
	Epsilon float64 `json:"epsilon"`
	// N is the number of people.
	N int64 `json:"n"`
	// Candidates is the number of candidate words.
	Candidates int `json:"candidates"`
	// Repeats is the number of times that each person reports.
	Repeats int `json:"repeats"`
	// Best is the recommended option.
	Best WordPlanOption `json:"best"`
	// Why are the reasons for Best, in sentences.
	Why noren.Texts `json:"why"`
	// Options are all choices that were compared.
	Options []WordPlanOption `json:"options"`
	// Privacy is the guarantee of Best.
	Privacy Privacy `json:"privacy"`
}

// WordPlanOption is a choice of RAPPOR's parameters with its expected errors.
type WordPlanOption struct {
	// Params are the parameters of RAPPOR: bits k, hash functions h, cohorts m, and f, p and
	// q.
	Params ldp.Params `json:"rappor"`
	// Loss is the privacy loss of the parameters.
	Loss ldp.Loss `json:"loss"`
	// StdErr is the standard error of the share of a rare word.
	StdErr float64 `json:"std_err"`
	// Detectable is the share from which on a word is found with probability 0.8.
	Detectable float64 `json:"detectable_share"`
	// Overlap is the standard error that an unnamed word of 10 % adds to the share of a
	// candidate, by chance overlap of their bits.
	Overlap float64 `json:"overlap_std_err"`
	// Joint is true if there are enough bits and cohorts to fit all candidates together.
	Joint bool `json:"fitted_together"`
	// Spec is the specification of this choice.
	Spec Spec `json:"-"`
}

// mostPlanCohorts is the largest number of cohorts of a plan.
const mostPlanCohorts = 1024

// NewWordPlan chooses RAPPOR's parameters by the expected standard error of a rare
// word. All faults are of kind Usage and name a field of the options or of the
// specification.
func NewWordPlan(o WordPlanOptions) (*WordPlan, error) {
	setOne(&o.Repeats)
	spec := &o.Spec
	if err := chosen(spec); err != nil {
		return nil, err
	}
	switch {
	case len(spec.Labels) > 0 || spec.Size != 0 || spec.Edges != nil || spec.Bins != nil || spec.Range != nil:
		return nil, fault("candidates", noren.Textf("is for texts, which have no domain"),
			noren.Textf("leave out labels, size, edges, bins and range"))
	case o.Candidates < 1:
		return nil, fault("candidates", noren.Textf("the number of candidate words must be 1 or more"), noren.Textf("for instance 100"))
	case o.N < 1:
		return nil, fault("n", noren.Textf("the number of people must be 1 or more"), noren.Textf("for instance 50000"))
	case o.Repeats < 1:
		return nil, fault("repeats", noren.Textf("must be 1 or more"), noren.Text{})
	}
	p := &WordPlan{Kind: Words, Epsilon: spec.Epsilon, N: o.N, Candidates: o.Candidates, Repeats: o.Repeats}
	for _, k := range []int{8, 16, 32} {
		for _, h := range []int{1, 2, 4} {
			one, err := p.option(*spec, k, h)
			if err != nil {
				if len(p.Options) == 0 && h == 1 {
					return nil, err // of epsilon, not of this choice
				}
				continue
			}
			p.Options = append(p.Options, one)
			if best := &p.Best; best.Params.K == 0 || one.Joint && !best.Joint || one.Joint == best.Joint && one.StdErr < best.StdErr {
				p.Best = one
			}
		}
	}
	s, err := New(p.Best.Spec)
	if err != nil {
		return nil, err
	}
	p.Privacy = s.Privacy()
	p.explain()
	return p, nil
}

// explain fills in Why.
func (p *WordPlan) explain() {
	best := &p.Best.Params
	p.Why = append(p.Why, noren.Textf("of %d {choice|choices} of bits and hash functions, %d {bit|bits} and %d {hash function|hash "+
		"functions} have the smallest standard error at this epsilon", len(p.Options), best.K, best.H))
	equations, candidates := grouped(best.M*int64(best.K)), noren.Textf("%s {candidate|candidates}", grouped(int64(p.Candidates)))
	if p.Best.Joint {
		p.Why = append(p.Why, noren.Textf("%d {cohort|cohorts} of %d {bit|bits} {1|is|are} %s equations for %s, and {1|keeps|keep} chance "+
			"overlaps with unnamed words near the noise", best.M, best.K, equations, candidates))
	} else {
		p.Why = append(p.Why, noren.Textf("%d {cohort|cohorts} of %d {bit|bits} {1|is|are} %s equations for %s: too few to tell all of them "+
			"apart; name fewer candidates, or expect errors that further reports do not reduce", best.M, best.K, equations, candidates))
	}
	if p.Repeats > 1 {
		p.Why = append(p.Why, noren.Textf("each person is asked %d {time|times}: the permanent response keeps all reports of a word together "+
			"at epsilon %s", p.Repeats, noren.LossFigure(p.Best.Loss.Lifetime, 4)))
	}
}

// grouped writes n with thousands separated by commas.
func grouped(n int64) string {
	text := strconv.FormatInt(n, 10)
	for i := len(text) - 3; i > 0; i -= 3 {
		text = text[:i] + "," + text[i:]
	}
	return text
}

// counted is n of a thing, in the plural where n is not 1.
// option completes k and h: f, p and q from epsilon, and the number of cohorts.
func (p *WordPlan) option(spec Spec, k, h int) (WordPlanOption, error) {
	spec.Mechanism, spec.K, spec.H, spec.M = "rappor-one-time", k, h, 1
	if p.Repeats > 1 {
		if err := withMemory(&spec, h); err != nil {
			return WordPlanOption{}, err
		}
	}
	spec.Lifetime = 0
	var o WordPlanOption
	for m := int64(8); m <= mostPlanCohorts; m *= 2 {
		spec.M = m
		s, err := New(spec)
		if err != nil {
			return o, err
		}
		r := s.Rappor()
		a, err := r.WordAccuracy(p.N, p.Candidates)
		if err != nil {
			return o, err
		}
		o = WordPlanOption{
			Params: r.Params, Loss: r.Loss(), StdErr: a.StdErr, Detectable: a.Detectable, Overlap: a.Overlap, Joint: a.Joint,
			Spec: spec,
		}
		if f := r.EffectiveF(); spec.F == nil { // what runs, for devices that take f
			o.Params.F = f
		}
		enough := float64(m)*float64(k) >= 4*float64(p.Candidates) && a.Overlap <= a.StdErr/2
		if enough || 10*m > p.N {
			break
		}
	}
	return o, nil
}

// withMemory sets f, p and q so that all reports cost spec's lifetime (default: twice
// epsilon) and one report epsilon, with p + q = 1.
func withMemory(spec *Spec, h int) error {
	lifetime := spec.Lifetime
	if lifetime == 0 {
		lifetime = min(2*spec.Epsilon, ldp.MaxEpsilon)
	}
	if !(lifetime > spec.Epsilon) {
		return fault("lifetime", noren.Textf("one report must cost less than all reports of a lifetime"), noren.Text{})
	}
	// eps_inf = 2 h ln((1-f/2)/(f/2)); one report h ln(((1-p*)/p*)^2) with p* = f/2 + (1-f) p.
	f := math.Ceil(128*2/(math.Exp(lifetime/2/float64(h))+1)) / 128
	wrong := 1 / (math.Exp(spec.Epsilon/2/float64(h)) + 1)
	p := math.Ceil(1e4*(wrong-f/2)/(1-f)) / 1e4
	if !(f > 0 && f < 1 && p > 0 && p < 0.5) {
		return fault("lifetime", noren.Textf("no f, p and q give it beside this epsilon"),
			noren.Textf("take them further apart, or a larger epsilon"))
	}
	q := 1 - p
	spec.Mechanism, spec.F, spec.P, spec.Q, spec.Epsilon = "rappor", &f, &p, &q, 0
	return nil
}
