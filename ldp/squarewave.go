package ldp

import (
	"context"
	"math"
	"slices"
	"strconv"

	"github.com/noren-privacy/noren"
	"github.com/noren-privacy/noren/noise"
)

// SquareWave is the mechanism of Li, Wang, Lopuhaa-Zwakenberg, Li and Skoric
// (SIGMOD 2020) for the distribution of a number that lies in a public range: the
// number is put into one of d buckets, and a bucket near it is sent more often
// than one far from it. The distribution is found by maximum likelihood. It holds
// no state and is safe for concurrent use.
type SquareWave struct {
	bins    *Bins
	epsilon float64
	wave    window
}

// MaxBuckets is the largest number of buckets of a distribution.
const MaxBuckets = 1 << 16

// NewSquareWave returns the mechanism for numbers in [lo, hi] and d buckets of one
// width. The paper advises about sqrt(n) buckets, at most 1,024 say.
//
// The window has the width that gives the report most information about a
// uniform input (their section 5.3): 2b of the range with
// b = (eps e^eps - e^eps + 1)/(2 e^eps (e^eps - 1 - eps)). It is run on buckets
// (their "bucketize before randomize"), so the loss is that of whole numbers.
func NewSquareWave(lo, hi float64, d int, epsilon float64) (*SquareWave, error) {
	if err := checkEpsilon(epsilon); err != nil {
		return nil, err
	}
	if d < 2 || d > MaxBuckets {
		return nil, &noren.Error{Kind: noren.Usage, Where: "buckets", What: "there must be between 2 and %d", Args: []any{MaxBuckets}}
	}
	bins, err := EqualWidth(lo, hi, d)
	if err != nil {
		return nil, err
	}
	b := 0.5 // the limit for epsilon to 0
	if epsilon > 1e-3 {
		e := math.Exp(epsilon)
		b = (epsilon*e - e + 1) / (2 * e * (e - 1 - epsilon))
	}
	width := max(1, int(math.Round(2*b*float64(d))))
	return &SquareWave{bins: bins, epsilon: epsilon, wave: newWindow(d+width-1, width, epsilon)}, nil
}

// Loss is epsilon for each report.
func (m *SquareWave) Loss() Loss { return once(m.epsilon) }

// Buckets is the equal-width bins of the range.
func (m *SquareWave) Buckets() *Bins { return m.bins }

// Cells is how many different reports there are.
func (m *SquareWave) Cells() int { return m.wave.cells }

// Randomise makes the report of x: a cell, from 0. Numbers outside the range go
// to its nearest end; NaN is refused.
func (m *SquareWave) Randomise(src *noise.Source, x float64) (uint32, error) {
	bucket, err := m.bins.Label(x)
	if err != nil {
		return 0, err
	}
	cell, err := m.wave.draw(src, bucket)
	return uint32(cell), err
}

// Format writes a report in decimal; Parse reads it.
func (m *SquareWave) Format(cell uint32) string { return strconv.FormatUint(uint64(cell), 10) }

// Parse reads what Format writes.
func (m *SquareWave) Parse(word string) (uint32, error) {
	v, err := parseNumber(word)
	if err == nil && int64(v) >= int64(m.wave.cells) {
		err = malformed("a cell that the mechanism does not send")
	}
	return v, err
}

// WaveCollector counts the reports of a SquareWave. It is not safe for concurrent
// use.
type WaveCollector struct {
	m        *SquareWave
	n        int64
	counts   []int64
	rejected Rejected
}

// NewWaveCollector returns an empty collector.
func NewWaveCollector(m *SquareWave) *WaveCollector {
	return &WaveCollector{m: m, counts: make([]int64, m.wave.cells)}
}

// Add counts a report; one that cannot be is counted as rejected.
func (c *WaveCollector) Add(cell uint32) error {
	if int64(cell) >= int64(len(c.counts)) {
		err := malformed("a cell that the mechanism does not send")
		c.rejected.count(err)
		return err
	}
	c.counts[cell]++
	c.n++
	return nil
}

// AddWord counts a report in its text form.
func (c *WaveCollector) AddWord(word string) error {
	v, err := c.m.Parse(word)
	if err != nil {
		c.rejected.count(err)
		return err
	}
	return c.Add(v)
}

// N is the number of reports counted.
func (c *WaveCollector) N() int64 { return c.n }

// Rejected counts the reports that were excluded.
func (c *WaveCollector) Rejected() Rejected { return c.rejected }

// Distribution is an estimated distribution over buckets.
type Distribution struct {
	N          int64
	Edges      []float64 // len(Share)+1
	Share      []float64 // not negative, adding up to 1
	Iterations int
	Converged  bool
	Rejected   Rejected
	// Errors of the mean and of the quartiles, where they were computed; see
	// [WaveCollector.Errors].
	Errors *WaveErrors
}

// EM holds the options of expectation maximisation.
type EM struct {
	// Tolerance: it ends when a step adds less than this to the log-likelihood
	// per report. Defaults to 1e-9, which for millions of reports is well below
	// what chance moves.
	Tolerance float64
	// MaxIterations defaults to 10,000.
	MaxIterations int
}

func (o EM) withDefaults() (EM, error) {
	if o.Tolerance == 0 {
		o.Tolerance = 1e-9
	}
	if o.MaxIterations == 0 {
		o.MaxIterations = 10_000
	}
	if !(o.Tolerance > 0) || o.MaxIterations < 1 {
		return o, &noren.Error{Kind: noren.Usage, What: "the tolerance of a search must be above 0, and its number of steps 1 or more"}
	}
	return o, nil
}

// Estimate finds the distribution by expectation maximisation, with smooth by EMS
// (Li et al., section 5.5): after each step every bucket is averaged with its
// neighbours by weights 1/4, 1/2, 1/4, which keeps the estimate from following
// the noise. Smoothing is right for distributions without spikes.
func (c *WaveCollector) Estimate(ctx context.Context, smooth bool, o EM) (*Distribution, error) {
	o, err := o.withDefaults()
	if err != nil {
		return nil, err
	}
	if c.n < 1 {
		return nil, &noren.Error{Kind: noren.BadData, What: "no report was counted, so nothing can be estimated"}
	}
	shares := make([]float64, len(c.counts))
	for y, v := range c.counts {
		shares[y] = float64(v) / float64(c.n)
	}
	r := &Distribution{N: c.n, Edges: c.m.bins.Edges(), Rejected: c.rejected}
	r.Share = make([]float64, c.m.bins.Len())
	for i := range r.Share {
		r.Share[i] = 1 / float64(len(r.Share))
	}
	r.Iterations, r.Converged, err = c.m.climb(ctx, shares, r.Share, smooth, o)
	if err != nil {
		return nil, err
	}
	return r, nil
}

// climb runs the search from f, which it changes, for these shares of reports.
func (m *SquareWave) climb(ctx context.Context, shares, f []float64, smooth bool, o EM) (iterations int, converged bool, err error) {
	d, width, cells := m.bins.Len(), m.wave.width, m.wave.cells
	in, out := m.wave.densities()
	next := make([]float64, d)
	// Sums of f over windows of buckets, and of counts over expected shares, by
	// differences of running sums: a step takes as long as there are cells.
	run := make([]float64, max(d, cells)+1)
	ratio := make([]float64, cells)
	last := math.Inf(-1)
	for iterations = 1; iterations <= o.MaxIterations; iterations++ {
		if err := ctx.Err(); err != nil {
			return 0, false, err
		}
		for i, v := range f {
			run[i+1] = run[i] + v
		}
		whole, likelihood := 0.0, 0.0
		for y := range cells {
			// Buckets y-width+1 .. y have cell y in their window.
			near := run[min(y+1, d)] - run[max(y-width+1, 0)]
			p := out + (in-out)*near
			ratio[y] = shares[y] / p
			whole += ratio[y]
			if shares[y] > 0 {
				likelihood += shares[y] * math.Log(p)
			}
		}
		for y, v := range ratio {
			run[y+1] = run[y] + v
		}
		for i := range f {
			next[i] = f[i] * (out*whole + (in-out)*(run[i+width]-run[i]))
		}
		if smooth {
			smoothen(f, next)
		} else {
			copy(f, next)
		}
		normalise(f)
		if math.Abs(likelihood-last) < o.Tolerance {
			return iterations, true, nil
		}
		last = likelihood
	}
	return o.MaxIterations, false, nil
}

// smoothen writes the smoothed src to dst.
func smoothen(dst, src []float64) {
	d := len(src)
	for i := range src {
		switch {
		case d == 2:
			dst[i] = (2*src[i] + src[1-i]) / 3
		case i == 0:
			dst[i] = (2*src[0] + src[1]) / 3
		case i == d-1:
			dst[i] = (2*src[i] + src[i-1]) / 3
		default:
			dst[i] = src[i-1]/4 + src[i]/2 + src[i+1]/4
		}
	}
}

// normalise makes f add up to 1.
func normalise(f []float64) {
	sum := 0.0
	for _, v := range f {
		sum += v
	}
	for i := range f {
		f[i] /= sum
	}
}

// Mean of the distribution, each bucket at its middle.
func (d *Distribution) Mean() float64 {
	m := 0.0
	for i, s := range d.Share {
		m += s * (d.Edges[i]/2 + d.Edges[i+1]/2)
	}
	return m
}

// Quantile returns the number below which a share q lies, 0 <= q <= 1, evenly
// within buckets.
func (d *Distribution) Quantile(q float64) float64 {
	below := 0.0
	for i, s := range d.Share {
		if s > 0 && below+s >= q {
			return d.Edges[i] + max(q-below, 0)/s*(d.Edges[i+1]-d.Edges[i])
		}
		below += s
	}
	last := slices.IndexFunc(d.Share, func(s float64) bool { return s > 0 })
	for i, s := range d.Share {
		if s > 0 {
			last = i
		}
	}
	return d.Edges[last+1]
}
