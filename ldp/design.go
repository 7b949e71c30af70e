package ldp

import (
	"math"
	"slices"

	"github.com/noren-privacy/noren"
)

// grrIsBest tells whether GRR has less variance than OUE: k < 3 e^eps + 2 (Wang
// et al. 2017, section 4.4).
func grrIsBest(k int, epsilon float64) bool { return float64(k) < 3*math.Exp(epsilon)+2 }

// Question holds the public facts from which a mechanism is chosen.
type Question struct {
	// Domain is the number of labels. Required, 2 or more.
	Domain int
	// Epsilon of one report. Required.
	Epsilon float64
	// N is the number of people who report. Optional; needed for expected errors.
	N int64
	// Repeats is how often each is asked the same. Defaults to 1.
	Repeats int
	// Lifetime is the epsilon of all reports together. Used where Repeats is above
	// 1; defaults to twice Epsilon.
	Lifetime float64
	// Error is a standard error of a share that is wanted. Optional; needed for
	// the sample size.
	Error float64
	// ReportBytes is the largest length of a report. Defaults to 1,024.
	ReportBytes int
}

// Option is a mechanism with its privacy loss and expected error.
type Option struct {
	Mechanism string `json:"mechanism"`
	Loss      Loss   `json:"loss"`
	// AllReports is the loss of all Repeats.
	AllReports float64 `json:"epsilon_all_reports"`
	// Variance is n times the variance of the estimated share of a rare label,
	// from one report each.
	Variance float64 `json:"n_variance"`
	// StdErr is the expected standard error of a rare label's share among N
	// people, NaN without N; WorstStdErr that of the label with the largest.
	StdErr      float64 `json:"-"`
	WorstStdErr float64 `json:"-"`
	// Needed is the number of people for the wanted Error, 0 without one.
	Needed int64 `json:"needed,omitempty"`
	// Bytes is about the length of a report.
	Bytes int `json:"bytes"`
}

// Advice is the mechanism to take, the reasons, and the alternatives.
type Advice struct {
	Best    Option
	Why     noren.Texts
	Options []Option // all that can run, the least variance first
}

// Advise picks a mechanism for a question. The variances are the standard
// results (n times the variance at low frequency; k labels): GRR
// (k-2+e^eps)/(e^eps-1)^2, OUE and OLH 4 e^eps/(e^eps-1)^2, SUE
// e^(eps/2)/(e^(eps/2)-1)^2, subset selection between GRR's and OUE's or below.
func Advise(q Question) (*Advice, error) {
	if err := checkDomain(q.Domain); err != nil {
		return nil, err
	}
	if err := checkEpsilon(q.Epsilon); err != nil {
		return nil, err
	}
	if q.Repeats == 0 {
		q.Repeats = 1
	}
	if q.Lifetime == 0 {
		q.Lifetime = min(2*q.Epsilon, MaxEpsilon)
	}
	if q.ReportBytes == 0 {
		q.ReportBytes = 1024
	}
	if q.N < 0 || q.Repeats < 1 || q.ReportBytes < 1 || q.Error < 0 || math.IsNaN(q.Error) || q.Error >= 1 {
		return nil, &noren.Error{Kind: noren.Usage, What: "people, repeats, bytes and the wanted error are not negative, and an error is below 1"}
	}
	a := &Advice{}
	for _, name := range Names() {
		o, err := NewOracle(name, q.Domain, q.Epsilon)
		if err != nil {
			continue // too many labels for one bit each
		}
		a.Options = append(a.Options, q.option(o, name))
	}
	if q.Repeats > 1 {
		if err := checkStages(q.Lifetime, q.Epsilon); err != nil {
			return nil, err
		}
		if o, err := NewLongitudinalGRR(q.Domain, q.Lifetime, q.Epsilon); err == nil {
			a.Options = append(a.Options, q.option(o, o.Name()))
		}
		if o, err := NewLongitudinalOUE(q.Domain, q.Lifetime, q.Epsilon); err == nil {
			a.Options = append(a.Options, q.option(o, o.Name()))
		}
	}
	slices.SortStableFunc(a.Options, func(x, y Option) int {
		switch {
		case x.Variance < y.Variance:
			return -1
		case x.Variance > y.Variance:
			return 1
		}
		return 0
	})
	a.choose(q)
	return a, nil
}

// option tells what a mechanism yields.
func (q *Question) option(o Oracle, name string) Option {
	c := o.Channel()
	r := Option{Mechanism: name, Loss: o.Loss(), Variance: c.Variance(0), StdErr: math.NaN(), WorstStdErr: math.NaN()}
	r.AllReports = LossAfter(o, r.Loss, q.Repeats)
	// r(1-r) is largest where r is nearest to 1/2.
	worst := min(max((0.5-c.Other)/(c.True-c.Other), 0), 1)
	if q.N > 0 {
		r.StdErr = math.Sqrt(r.Variance / float64(q.N))
		r.WorstStdErr = math.Sqrt(c.Variance(worst) / float64(q.N))
	}
	if q.Error > 0 {
		r.Needed = int64(math.Ceil(min(c.Variance(worst)/(q.Error*q.Error), 1<<62)))
	}
	switch m := o.(type) {
	case *OLH:
		r.Bytes = 20
	case *Subset:
		r.Bytes = min((m.k+7)/8, 4*m.w)
	case *Unary:
		r.Bytes = (m.k + 7) / 8
	case *GRR:
		r.Bytes = 4
	case *Longitudinal:
		r.Bytes = 4
		if m.bits {
			r.Bytes = (m.Domain() + 7) / 8
		}
	}
	return r
}

// choose takes GRR, OUE or OLH by the rule of the variances and by what fits in
// a report, and says why.
func (a *Advice) choose(q Question) {
	why := func(format noren.Format, args ...any) { a.Why = append(a.Why, noren.Textf(format, args...)) }
	find := func(name string) *Option {
		if i := slices.IndexFunc(a.Options, func(o Option) bool { return o.Mechanism == name }); i >= 0 {
			return &a.Options[i]
		}
		return nil
	}
	prefix := ""
	if q.Repeats > 1 {
		prefix = "longitudinal-"
		why("each person is asked %d {time|times}: a permanent answer keeps all reports of a value together at epsilon %s, where %d "+
			"{report|reports} without memory would cost %s", q.Repeats, noren.LossFigure(q.Lifetime, 4), q.Repeats,
			noren.LossFigure(noren.ComposedLoss(q.Repeats, q.Epsilon), 4))
	}
	threshold := 3*math.Exp(q.Epsilon) + 2
	best := find(prefix + "grr")
	unary, hashed := find(prefix+"oue"), find("olh")
	switch {
	case grrIsBest(q.Domain, q.Epsilon):
		why("with %d {label|labels} and epsilon %s, one answer is better than a bit a label: labels are fewer than 3 e^epsilon + 2 = %.1f",
			q.Domain, noren.LossFigure(q.Epsilon, 4), threshold)
	case unary != nil && unary.Bytes <= q.ReportBytes:
		best = unary
		why("with %d {label|labels}, not fewer than 3 e^epsilon + 2 = %.1f, a bit a label is better than one answer, and its error does not "+
			"grow with the labels", q.Domain, threshold)
	case q.Repeats == 1 && hashed.Bytes <= q.ReportBytes:
		best = hashed
		why("%d {label is|labels are} too many for a bit each in a report of %d {byte|bytes}; hashing is as exact in %d {byte|bytes}", q.Domain,
			q.ReportBytes, hashed.Bytes)
	default:
		why("a bit for each of %d {label|labels} does not fit in a report of %d {byte|bytes}; one answer does, though its error grows with "+
			"the labels: put labels together, or allow longer reports", q.Domain, q.ReportBytes)
	}
	a.Best = *best
	if s := find("subset"); q.Repeats == 1 && s != nil && s.Bytes <= q.ReportBytes && s.Variance < 0.9*best.Variance {
		why("subset selection would have %.0f %% less variance, for reports of about %d {byte|bytes}", 100*(1-s.Variance/best.Variance), s.Bytes)
	}
}
