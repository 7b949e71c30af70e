package text

import (
	"github.com/noren-privacy/noren"
	"github.com/noren-privacy/noren/api"
	"github.com/noren-privacy/noren/correlated"
)

// CorrelatedNoise says how large the noise of an answer about dependent records is, and
// what it leaks about one record.
func CorrelatedNoise(l Lang, scale, leakage float64) Line {
	return Line{"noise", l.Text("Laplace, scale %s, for a leakage of at most %s", Figure(scale), api.Decimal(leakage))}
}

// Correlated says the values of an answer about dependent records, and its noise.
func Correlated(l Lang, a *api.CorrelatedAnswer) (lines []Line) {
	for i, v := range a.Values {
		lines = append(lines, Line{"value", l.Text("%s, off by at most %s 95 times in 100", v, Figure(a.Within95[i]))})
	}
	return append(lines, CorrelatedNoise(l, a.Scale, a.CBP))
}

// Baseline is the noise scale of a method, and what that noise protects from.
type Baseline struct {
	Method   noren.Text
	Scale    float64
	Protects noren.Text
}

// Baselines lists the noise scales of other methods for one epsilon, of those that have
// one.
func Baselines(l Lang, b *correlated.Baselines) (out []Baseline) {
	for _, one := range []Baseline{
		{noren.Textf("plain"), b.Plain, noren.Textf("ordinary differential privacy: enough only for independent records")},
		{noren.Textf("group"), b.Group, noren.Textf("all records as one group")},
		{noren.Textf("range"), b.Range, noren.Textf("the range of the query: safe for any distribution")},
		{noren.Textf("quilt"), b.Quilt, noren.Textf("Markov quilt, exact influences: against adversaries who know no record")},
		{noren.Textf("quilt, approximate"), b.QuiltApprox, noren.Textf("the same by the eigengap")},
		{noren.Textf("Wasserstein"), b.Wasserstein, noren.Textf("the largest distance of conditional distributions")},
		{noren.Textf("tanh"), b.Tanh, noren.Textf("the tanh rule")},
	} {
		if one.Scale > 0 {
			out = append(out, one)
		}
	}
	return out
}

// HarmLimit says what it means that the best noise is the least that is allowed; empty
// where it is not. limited says that the request states the largest privacy loss.
func HarmLimit(l Lang, best *api.HarmOptimise, limited bool) string {
	switch {
	case !best.AtLimit:
		return ""
	case limited:
		return l.Text("the limit decides, and not the costs: no larger scale is better")
	}
	return l.Text("with these costs the least noise is the cheapest, which protects no record")
}
