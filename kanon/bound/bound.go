package bound

import (
	"context"
	"fmt"
	"math"
	"time"

	"github.com/noren-privacy/noren"
	"github.com/noren-privacy/noren/kanon/space"
)

// Options are the parameters of [Lower].
type Options struct {
	// K is the least number of records of a group. Required.
	K int
	// Duration is the time that the dual bound may take. Defaults to none of
	// it: the simple bound alone.
	Duration time.Duration
	// MostPlaces is up to how many different points the simple bound is
	// computed. Defaults to no limit. The dual bound is looked for beyond it.
	MostPlaces int
	// MostRecords is up to how many records get prices of their own; beyond it
	// a sample of cells does and the rest keeps the prices of the simple bound.
	// Defaults to 5,000, and in longer than a minute to as many a minute, up to
	// 20,000: a larger table would not get done.
	MostRecords int
	// Seed fixes the random choices: which cells, and the order in which prices
	// are fitted.
	Seed uint64
	// Workers is the number of parallel workers. Defaults to one a processor.
	// The result depends on it only as far as it depends on the time.
	Workers int
	// Progress receives progress. Optional.
	Progress noren.Progress
}

// underflow is more than what operations whose results are too small for full
// precision can add up to: each is wrong by less than 2^-1074.
const underflow = 0x1p-960

const (
	// leastMost and mostMost are the ends of the default of
	// [Options.MostRecords].
	leastMost, mostMost = 5000, 20_000
	// MostSampled is beyond how many records there is no dual bound, not even
	// on a sample: looking past all others takes too long.
	MostSampled = 400_000
)

// Method is what a bound rests on.
type Method uint8

const (
	// None: no bound was computed. 0 stands for it, and is a bound.
	None Method = iota
	// Simple goes by the nearest neighbours.
	Simple
	// Dual goes by prices.
	Dual
)

var methodNames = [...]string{None: "none", Simple: "simple", Dual: "dual"}

// String is "none", "simple" or "dual".
func (m Method) String() string {
	if int(m) < len(methodNames) {
		return methodNames[m]
	}
	return fmt.Sprintf("method(%d)", m)
}

// Bound is a lower bound of what every k-partition loses.
type Bound struct {
	// SSE is a lower bound of the sum of squared errors.
	SSE float64
	// Loss is one of SSE/SST, 0 where SST is 0.
	Loss float64
	// Method is the bound that SSE comes from: the better one of those computed.
	Method Method
	// Records is how many records the ascent of the dual bound had a price of
	// their own for, 0 when there was none.
	Records int
	// Places is the number of different points.
	Places int
	// Converged is true when the dual bound stopped because it no longer rose,
	// and not because its time was over.
	Converged bool
}

// Gap is the share of sse that a better partition could save at most:
// (sse - SSE)/sse, rounded up, between 0 and 1.
func (b *Bound) Gap(sse float64) float64 {
	if sse <= b.SSE {
		return 0
	}
	return min(1, (sse-b.SSE)/sse*(1+8*epsilon))
}

// Lower computes a lower bound. When the context ends, its error is returned;
// when the time of the dual bound ends, what was reached by then.
func Lower(ctx context.Context, s *space.Space, o Options) (Bound, error) {
	if o.K < 1 || o.K > s.Len() {
		return Bound{}, noren.Reasonf("bound: no partition of %d {record|records} has groups of %d", s.Len(), o.K)
	}
	if o.MostRecords <= 0 {
		o.MostRecords = int(min(leastMost*max(1, o.Duration.Minutes()), mostMost))
	}
	if o.K == 1 {
		return Bound{Method: Simple}, nil // every record alone
	}
	deadline := time.Now().Add(o.Duration)
	p := newPlaces(s)
	b := Bound{Places: len(p.first)}
	dual := o.Duration > 0 && s.Len() <= MostSampled
	if o.MostPlaces > 0 && b.Places > o.MostPlaces && !dual {
		return b, nil
	}
	reach := o.K - 1
	if dual {
		reach = 2*o.K - 2
	}
	sums, err := p.nearSums(ctx, s, reach, o.Workers, o.Progress)
	if err != nil {
		return Bound{}, err
	}
	b.Method, b.SSE = Simple, sums.simple(o.K, p)
	if dual {
		a := newAscent(newFrame(s, o.K, p, sums), &o)
		sse, err := a.run(ctx, deadline, o.Progress)
		if err != nil {
			return Bound{}, err
		}
		b.Records, b.Converged = len(a.active), a.converged
		if sse > b.SSE {
			b.Method, b.SSE = Dual, sse
		}
	}
	if math.IsInf(b.SSE, 0) || math.IsNaN(b.SSE) {
		// Squares of such coordinates are no numbers.
		return Bound{Places: b.Places}, nil
	}
	b.SSE = max(0, b.SSE-underflow)
	if most := greatestSST(s); most > 0 {
		b.Loss = max(0, b.SSE/most*(1-2*epsilon))
	}
	return b, nil
}

// greatestSST is no less than the total sum of squares. About any point at all
// the numbers' sum of squares is no less than about the mean, so that only the
// summing of n terms that are not negative, each rounded three times, is to be
// allowed for; a categorical axis is (w/2)(n - sum m_c²/n), with whole numbers
// up to the division, wrong by no more than w n epsilon.
func greatestSST(s *space.Space) float64 {
	n := float64(s.Len())
	most := s.SST()
	for _, w := range s.Words() {
		most += w.Weight * n * epsilon
	}
	return most * (1 + (n+float64(len(s.Numbers())+2*len(s.Words()))+8)*epsilon)
}

var inf = math.Inf(1)
