package survey

import (
	"math"
	"strconv"

	"gonum.org/v1/gonum/mathext"

	"github.com/noren-privacy/noren"
	"github.com/noren-privacy/noren/ldp"
)

// PlanOptions are the public facts from which a collection of labels or of a number is
// planned.
type PlanOptions struct {
	// Spec holds epsilon and the domain of one attribute; the plan chooses the
	// mechanism. Required.
	Spec Spec
	// N is the number of people who report. Needed for expected errors.
	N int64
	// Repeats is how often each person is asked the same. Defaults to 1.
	Repeats int
	// Error is the standard error that is wanted: of a share, or of a mean in the units
	// of its range. Needed for the number of people that it takes.
	Error float64
	// ReportBytes is the largest length of a report. Defaults to 1,024.
	ReportBytes int
	// Attributes is the number of attributes of a record, all with this domain, that
	// share epsilon. Defaults to 1.
	Attributes int
}

// Plan is a mechanism for a collection, with expected errors and those of the
// alternatives.
type Plan struct {
	// Kind is what is estimated: shares or mean.
	Kind Kind `json:"kind"`
	// Domain is the number of labels; absent for a mean.
	Domain int `json:"domain,omitempty"`
	// Range are the two ends of a number; absent for labels.
	Range []float64 `json:"range,omitempty"`
	// Epsilon of one record.
	Epsilon float64 `json:"epsilon"`
	// N is the number of people; absent where none was given.
	N int64 `json:"n,omitempty"`
	// Repeats is the number of times that each person reports.
	Repeats int `json:"repeats"`
	// Attributes is the number of attributes of a record.
	Attributes int `json:"attributes"`
	// Sampled is the number of attributes that one report holds, drawn at random.
	Sampled int `json:"sampled_attributes"`
	// Wanted is the requested standard error; absent where none was given.
	Wanted float64 `json:"wanted_error,omitempty"`
	// Best is the recommended option.
	Best PlanOption `json:"best"`
	// Why are the reasons for Best, in sentences.
	Why noren.Texts `json:"why"`
	// Options are all mechanisms that can run.
	Options []PlanOption `json:"options"`
	// Privacy is the guarantee of Best.
	Privacy Privacy `json:"privacy"`
	// Spec is the specification of Best.
	Spec Spec `json:"-"`
}

// PlanOption is a mechanism with its expected errors.
type PlanOption struct {
	// Mechanism is the name of the mechanism.
	Mechanism string `json:"mechanism"`
	// Loss is the privacy loss of the mechanism.
	Loss ldp.Loss `json:"loss"`
	// AllReports is the epsilon of all reports of a person.
	AllReports float64 `json:"epsilon_all_reports"`
	// Variance is n times the variance of the share of a rare label, or n times the largest
	// variance of a mean.
	Variance float64 `json:"n_variance"`
	// StdErr is the standard error of the share of a rare label, or the largest standard error
	// of a mean; null without a number of people.
	StdErr *float64 `json:"std_err"`
	// Worst is the largest standard error of a share, or the standard error of a mean; null
	// without a number of people.
	Worst *float64 `json:"worst_std_err"`
	// Within is a bound on the error of all shares, or of the mean, with probability 0.95; null
	// without a number of people.
	Within *float64 `json:"within_95"`
	// Needed is the number of people for the requested standard error; absent where none was
	// given.
	Needed int64 `json:"n_needed,omitempty"`
	// Bytes is the approximate length of a report, in bytes.
	Bytes int `json:"bytes"`
}

// NewPlan chooses a mechanism of labels or of a mean by its expected error. All faults
// are of kind Usage and name a field of the options or of the specification.
func NewPlan(o PlanOptions) (*Plan, error) {
	setOne(&o.Repeats)
	setOne(&o.Attributes)
	if o.ReportBytes == 0 {
		o.ReportBytes = 1024
	}
	if err := chosen(&o.Spec); err != nil {
		return nil, err
	}
	if err := o.check(); err != nil {
		return nil, err
	}
	p := &Plan{
		Epsilon: o.Spec.Epsilon, N: o.N, Repeats: o.Repeats, Attributes: o.Attributes, Wanted: o.Error, Sampled: 1, Spec: o.Spec,
	}
	if o.Attributes > 1 {
		p.Sampled = max(1, min(o.Attributes, int(o.Spec.Epsilon/2.5)))
	}
	if len(o.Spec.Range) > 0 {
		return p, p.means()
	}
	return p, p.shares(o.ReportBytes)
}

// check refuses numbers out of range.
func (o *PlanOptions) check() error {
	switch {
	case o.N < 0:
		return fault("n", noren.Textf("must not be negative"), noren.Text{})
	case !(o.Error >= 0) || math.IsInf(o.Error, 0):
		return fault("error", noren.Textf("must be a number that is not negative"), noren.Text{})
	case o.Repeats < 1:
		return fault("repeats", noren.Textf("must be 1 or more"), noren.Text{})
	case o.Attributes < 1:
		return fault("attributes", noren.Textf("must be 1 or more"), noren.Text{})
	case o.ReportBytes < 1:
		return fault("report-bytes", noren.Textf("must be 1 or more"), noren.Text{})
	}
	return nil
}

func setOne(v *int) {
	if *v == 0 {
		*v = 1
	}
}

// chosen refuses what a plan chooses itself.
func chosen(s *Spec) error {
	if s.Mechanism != "" || len(s.Attributes) > 0 || s.F != nil || s.P != nil || s.Q != nil || s.K != 0 || s.H != 0 || s.M != 0 {
		return fault("", noren.Textf("the design chooses the mechanism"),
			noren.Textf("leave out the mechanism and its parameters; a simulation tries a mechanism of your own"))
	}
	if s.Buckets != 0 {
		return fault("buckets", noren.Textf("no mechanism that the design chooses has buckets"), noren.Textf("leave it out"))
	}
	return nil
}

// each is epsilon and the number of people for one attribute of several.
func (p *Plan) each() (epsilon float64, n int64) {
	return p.Epsilon / float64(p.Sampled), p.N * int64(p.Sampled) / int64(p.Attributes)
}

// ofRecord makes the loss of one attribute that of a record of several.
func (p *Plan) ofRecord(o *PlanOption) {
	o.Loss = ldp.Loss{Report: o.Loss.Report, Record: p.Epsilon, Lifetime: math.Inf(1)}
	o.AllReports = ldp.LossAfter(nil, o.Loss, p.Repeats)
}

// finish states the guarantee of the mechanism that was chosen.
func (p *Plan) finish(mechanism string) error {
	p.Spec.Mechanism = mechanism
	one := p.Spec
	one.Epsilon, _ = p.each()
	s, err := New(one)
	if err != nil {
		return err
	}
	p.Privacy = s.Privacy()
	if p.Attributes > 1 {
		// Whichever attributes a report holds, the record loses its epsilon in all.
		p.Privacy = newPrivacy(ldp.Loss{Report: one.Epsilon, Record: p.Epsilon, Lifetime: math.Inf(1)}, s.Unprotected())
		p.Why = append(p.Why, noren.Textf("of %d {attribute|attributes} a report holds a random %d, each at epsilon %s: splitting epsilon "+
			"over all would cost more", p.Attributes, p.Sampled, noren.LossFigure(one.Epsilon, 4)))
	}
	return nil
}

// shares plans for the shares of labels.
func (p *Plan) shares(reportBytes int) error {
	p.Kind = Shares
	probe := p.Spec
	probe.Mechanism, probe.Epsilon, probe.Lifetime = "grr", 1, 0 // only the domain is checked
	s, err := New(probe)
	if err != nil {
		return err
	}
	p.Domain = len(s.Labels(0))
	if p.Attributes > 1 && p.Repeats > 1 {
		return fault("repeats", noren.Textf("reports of a random few of several attributes have no memory, and each costs epsilon again"),
			noren.Textf("ask for one attribute with a longitudinal mechanism, or lower epsilon and ask once"))
	}
	e, n := p.each()
	if p.Attributes > 1 {
		reportBytes = math.MaxInt // several attributes go by GRR or OUE
	}
	a, err := ldp.Advise(ldp.Question{
		Domain: p.Domain, Epsilon: e, N: n, Repeats: p.Repeats, Lifetime: p.Spec.Lifetime, Error: p.Wanted,
		ReportBytes: reportBytes,
	})
	if err != nil {
		return err
	}
	// Within: of normal estimates, each of which may miss with 0.05/labels.
	z := mathext.NormalQuantile(1 - 0.05/2/float64(p.Domain))
	for _, o := range a.Options {
		out := PlanOption{
			Mechanism: o.Mechanism, Loss: o.Loss, AllReports: o.AllReports, Variance: o.Variance, Bytes: o.Bytes,
			StdErr: finite(o.StdErr), Worst: finite(o.WorstStdErr), Within: finite(z * o.WorstStdErr),
			Needed: scaleUp(o.Needed, p.Attributes, p.Sampled),
		}
		if p.Attributes > 1 {
			if o.Mechanism != "grr" && o.Mechanism != "oue" {
				continue
			}
			p.ofRecord(&out)
		}
		p.Options = append(p.Options, out)
		if o.Mechanism == a.Best.Mechanism {
			p.Best = out
		}
	}
	p.Why = a.Why
	if p.Repeats > 1 && p.Spec.Lifetime == 0 {
		p.Spec.Lifetime = min(2*p.Epsilon, ldp.MaxEpsilon)
	}
	if p.Repeats == 1 {
		p.Spec.Lifetime = 0
	}
	return p.finish(a.Best.Mechanism)
}

// finite is v, nil where it is no finite number.
func finite(v float64) *float64 {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return nil
	}
	return &v
}

// scaleUp is the number of people for n reports of one attribute.
func scaleUp(n int64, attributes, sampled int) int64 {
	return int64(math.Ceil(min(float64(n)*float64(attributes)/float64(sampled), 1<<62)))
}

// means plans for the mean of a number.
func (p *Plan) means() error {
	p.Kind, p.Range = Mean, p.Spec.Range
	if p.Spec.Lifetime != 0 {
		return fault("lifetime", noren.Textf("the mechanisms for means have no memory"),
			noren.Textf("put the number into bins for a longitudinal mechanism"))
	}
	e, n := p.each()
	for _, name := range []string{"hybrid", "duchi", "piecewise"} {
		one := p.Spec
		one.Mechanism, one.Epsilon = name, e
		s, err := New(one)
		if err != nil {
			return err
		}
		m := s.MeanMechanism()
		out := PlanOption{
			Mechanism: name, Loss: m.Loss(), AllReports: ldp.LossAfter(m, m.Loss(), p.Repeats), Variance: m.WorstVariance(),
			Bytes: (bitLength(m.Symbols()) + 7) / 8,
		}
		if n > 0 {
			se := s.StdErr(n)
			out.StdErr, out.Worst, out.Within = finite(se), finite(se), finite(mathext.NormalQuantile(0.975)*se)
		}
		if p.Wanted > 0 {
			out.Needed = scaleUp(int64(math.Ceil(min(out.Variance/(p.Wanted*p.Wanted), 1<<62))), p.Attributes, p.Sampled)
		}
		if p.Attributes > 1 {
			p.ofRecord(&out)
		}
		p.Options = append(p.Options, out)
	}
	p.Best = p.Options[0]
	half := (p.Range[1] - p.Range[0]) / 2
	p.Why = noren.Texts{
		noren.Textf("hybrid has the least worst-case variance of the three; the Laplace mechanism would have %.4g", 8/(e*e)*half*half),
		noren.Textf("for the whole distribution of the number take square-wave; for the shares of bins put it into bins"),
	}
	if p.Repeats > 1 {
		p.Why = append(p.Why, noren.Textf("%d {report costs|reports cost} %s: means have no memory; put the number into bins for a "+
			"longitudinal mechanism", p.Repeats, noren.LossFigure(p.Best.AllReports, 4)))
	}
	return p.finish("hybrid")
}

func bitLength(n int) int { return len(strconv.FormatInt(int64(n-1), 2)) }
