package correlated

import (
	"context"
	"math"

	"github.com/noren-privacy/noren"
)

// Calibration is the smallest noise scale that keeps a leakage bound, within
// the tolerance of the search.
type Calibration struct {
	// Epsilon is the largest leakage that is allowed.
	Epsilon float64 `json:"epsilon"`
	// Scale is the scale b of the Laplace noise: the safe end of the last
	// bracket. 0 where no noise is needed, because the query is constant.
	Scale float64 `json:"scale"`
	// Leakage is the leakage at Scale: its upper bound `cbp` is at most Epsilon.
	Leakage *Leakage `json:"leakage"`
	// Evaluations is the number of scales that were tried.
	Evaluations int `json:"evaluations"`
}

// calibrationTolerance is the relative width of the last bracket, and
// roundingMargin what is kept below epsilon for the rounding of densities.
const (
	calibrationTolerance = 1e-9
	roundingMargin       = 1e-11
)

// Calibrate returns the smallest scale b with CBP(b) <= epsilon, by bisection:
// CBP is continuous and does not increase in b (Theorem 2). Where the leakage
// is bounded and not exact, it is the bound that is kept below epsilon.
//
// The search starts at range(f)/epsilon, which is always safe, goes down until
// the leakage exceeds epsilon, and narrows the bracket to a relative width of
// 1e-9; it returns the safe end. Errors are those of [ComputeLeakage].
func Calibrate(ctx context.Context, m Model, q *Query, epsilon float64, o LeakageOptions) (*Calibration, error) {
	e, err := newEngine(m, q, o)
	if err != nil {
		return nil, err
	}
	return e.calibrate(ctx, epsilon)
}

func (e *engine) calibrate(ctx context.Context, epsilon float64) (*Calibration, error) {
	if !(epsilon > 0) || math.IsInf(epsilon, 1) {
		return nil, noren.Usagef("epsilon", "epsilon is a positive number")
	}
	c := &Calibration{Epsilon: epsilon}
	if isConstant(e.query) {
		c.Leakage = &Leakage{Exact: true, Method: Exact}
		return c, nil
	}
	target := epsilon * (1 - roundingMargin)
	e.boundOnly = true
	try := func(b float64) (*Leakage, error) { return e.try(ctx, c, b) }
	high := e.query.rangeLoss(e.rates(1)) / target
	safe, err := try(high)
	if err != nil {
		return nil, err
	}
	for safe.Upper > target {
		// Only a bound that is looser than the range gets here.
		high *= 2
		if math.IsInf(high, 1) {
			return nil, &noren.Error{
				Kind: noren.NotMet, Where: "epsilon", What: "no scale brings the bound below this",
				Hint: "choose another method",
			}
		}
		if safe, err = try(high); err != nil {
			return nil, err
		}
	}
	low := high
	for {
		// The log of the leakage falls about as fast as that of the scale rises.
		low *= max(min(safe.Upper/target, 0.5), 1e-3) * 0.98
		l, err := try(low)
		if err != nil {
			return nil, err
		}
		if l.Upper > target {
			return e.bisect(ctx, c, target, bracket{low, l, high, safe})
		}
		high, safe = low, l
		if low < 1e-9*e.query.rangeLoss(e.rates(1))/target {
			// The leakage does not reach epsilon at any scale worth the name.
			return e.finish(ctx, c, high, safe)
		}
	}
}

// try is the leakage at one scale of the search.
func (e *engine) try(ctx context.Context, c *Calibration, b float64) (*Leakage, error) {
	c.Evaluations++
	e.options.Progress.Report("calibrating", int64(c.Evaluations), 0)
	return e.leakage(ctx, b)
}

// bracket holds the scales between which the leakage crosses epsilon.
type bracket struct {
	low    float64
	unsafe *Leakage
	high   float64
	safe   *Leakage
}

// bisect narrows the bracket: by the secant of the logarithms, which are nearly
// on a line, and by halving where that does not help.
func (e *engine) bisect(ctx context.Context, c *Calibration, target float64, k bracket) (*Calibration, error) {
	for round := 0; k.high/k.low-1 > calibrationTolerance; round++ {
		low, high := math.Log(k.low), math.Log(k.high)
		width := high - low
		mid := low + width/2
		if fl, fh := math.Log(k.unsafe.Upper/target), math.Log(k.safe.Upper/target); round%3 != 2 && !math.IsInf(fl, 0) && !math.IsInf(fh, 0) &&
			fl > fh {
			at := low + width*fl/(fl-fh)
			// Aim a little past the crossing, to either side in turn, so that
			// both ends close in.
			nudge := max(0.02*min(at-low, high-at), 0.2*calibrationTolerance)
			if round%3 == 0 {
				at += nudge
			} else {
				at -= nudge
			}
			mid = min(max(at, low+width*1e-4), high-width*1e-4)
		}
		b := math.Exp(mid)
		if b <= k.low || b >= k.high {
			break
		}
		l, err := e.try(ctx, c, b)
		if err != nil {
			return nil, err
		}
		if l.Upper > target {
			k.low, k.unsafe = b, l
		} else {
			k.high, k.safe = b, l
		}
	}
	return e.finish(ctx, c, k.high, k.safe)
}

func (e *engine) finish(ctx context.Context, c *Calibration, b float64, l *Leakage) (*Calibration, error) {
	c.Scale, c.Leakage = b, l
	if e.box != nil {
		e.boundOnly = false
		var err error
		if c.Leakage, err = e.leakage(ctx, b); err != nil {
			return nil, err
		}
	}
	return c, nil
}
