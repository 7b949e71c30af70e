package ratio

import (
	"context"
	"math"

	"github.com/noren-privacy/noren"
)

// Plan is what public facts let one expect of an answer.
type Plan struct {
	// SE is the standard error of the mean of these private records by the weights, without
	// the sampling error of the private records, if they are distributed as the public ones.
	// Otherwise fewer public records support the answer, and the error is larger.
	SE float64 `json:"standard_error"`
	// Privacy is the part of SE that comes from the noise.
	Privacy float64 `json:"privacy"`
	// Direct is the standard error of the noise of a direct query for the same mean at the
	// whole epsilon, of values clamped to the public range.
	Direct float64 `json:"direct"`
}

// Plan tells, for n private records and questions f (values of the public records, NaN
// where missing), what the answers' errors may be, from public facts alone: it fits a
// release without noise of a private table that is distributed as the public one is. Not
// for NoisyCentres, whose centres are not public. Errors: [noren.Usage], or the context's.
func (m *Mechanism) Plan(ctx context.Context, n int, questions [][]float64) ([]Plan, error) {
	o := &m.options
	if o.Noise == NoisyCentres {
		return nil, noren.Usagef("plan", "noisy centres are not public: nothing can be told of them before")
	}
	if n < 1 {
		return nil, noren.Usagef("plan", "expected a number of private records of at least 1")
	}
	count := 0.0
	for i := range o.Public.Rows {
		if isWhole(o.Public.Row(i)) {
			count++
		}
	}
	r := &Released{}
	for _, k := range m.kernels {
		sums, phi := make([]float64, k.Size()), make([]float64, k.Size())
		for i := range o.Public.Rows {
			if isWhole(o.Public.Row(i)) {
				k.Phi(phi, o.Public.Row(i))
				for l, v := range phi {
					sums[l] += v * float64(n) / count
				}
			}
		}
		r.Sums = append(r.Sums, sums)
	}
	if len(m.marginals) > 0 {
		shares := make([]float64, cells(m.marginals))
		for i := range o.Public.Rows {
			if x := o.Public.Row(i); isWhole(x) {
				from := 0
				for k := range m.marginals {
					shares[from+m.marginals[k].cell(x)] += float64(n) / count
					from += m.marginals[k].Cells()
				}
			}
		}
		for _, v := range shares {
			r.Cells = append(r.Cells, int64(math.Round(v)))
		}
	}
	if m.count > 0 {
		records := int64(n)
		r.Records = &records
	}
	if m.beyond > 0 {
		r.Outside = new(int64)
	}
	w, err := m.Weights(ctx, r)
	if err != nil {
		return nil, err
	}
	epsilon, _ := o.Cost.Float()
	var out []Plan
	for _, f := range questions {
		a, err := w.Mean(f)
		if err != nil {
			return nil, err
		}
		low, high := math.Inf(1), math.Inf(-1)
		for _, v := range f {
			if !math.IsNaN(v) {
				low, high = min(low, v), max(high, v)
			}
		}
		own := math.Sqrt(max(0, a.SE*a.SE-a.Parts.Private*a.Parts.Private))
		out = append(out, Plan{SE: own, Privacy: a.Parts.Privacy, Direct: math.Sqrt2 * (high - low) / (float64(n) * epsilon)})
	}
	return out, nil
}
