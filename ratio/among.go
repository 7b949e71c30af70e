package ratio

import (
	"math"

	"github.com/noren-privacy/noren"
)

// Among is w for questions about the records alone that in holds of; in has one entry
// for each public record. Means, quantiles and regressions are then those of such
// private records, and their error grows as there are fewer of them; counts and
// histograms count such records only. Error: [noren.Usage].
func (w *Weights) Among(in []bool) (*Weights, error) {
	if len(in) != len(w.W) {
		return nil, noren.Usagef("question", "one entry for each public record is needed")
	}
	some := *w
	some.among = make([]bool, len(in))
	for i, v := range in {
		some.among[i] = v && (w.among == nil || w.among[i])
	}
	return &some, nil
}

// asked is f for the records that are asked about, and no number for the others.
func (w *Weights) asked(f []float64) []float64 {
	if w.among == nil || len(f) != len(w.among) {
		return f
	}
	out := make([]float64, len(f))
	for i, v := range f {
		out[i] = v
		if !w.among[i] {
			out[i] = math.NaN()
		}
	}
	return out
}
