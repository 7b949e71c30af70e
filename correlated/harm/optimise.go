package harm

import (
	"context"
	"math"

	"github.com/noren-privacy/noren"
)

// Optimum is the scale that makes the total smallest.
type Optimum struct {
	Evaluation
	// AtLimit is true if no scale above the lower limit has a smaller total.
	AtLimit bool `json:"at_limit"`
	// Minima are all local minima above the limit that were found, in rising
	// order.
	Minima []float64 `json:"minima"`
	// Threshold is the optimal alarm threshold at that scale; absent where neither a false
	// alarm nor a concealment has a cost.
	Threshold *Threshold `json:"threshold,omitempty"`
}

// Search says which scales are searched.
type Search struct {
	// EpsilonMax is the largest loss allowed: scales are at least
	// Delta/EpsilonMax. Required.
	EpsilonMax float64
	// Leakage gives CBP(b) where records depend on each other, falling in b; the
	// lower limit is then the scale where it falls to EpsilonMax, which the
	// caller gives as Least. Optional.
	Leakage func(ctx context.Context, b float64) (float64, error)
	Least   float64
	// Points is how many scales are tried before the search narrows. Defaults to
	// 400, or 60 with a Leakage.
	Points int
	// Progress is called as scales are tried. Optional.
	Progress noren.Progress
}

// Optimise finds the scale with the smallest total. All terms but
// identification rise with b (credit is kept below damage), and identification
// falls from 1 with all derivatives 0 at b = 0, so that the total has a local
// minimum at b = 0 and often another one: it is searched globally, on a grid of
// logarithms and then by golden section around every low point of the grid.
// Beyond 2 J(least)/(s_D-s_0) the slopes alone cost more than the limit does.
func (c *Costs) Optimise(ctx context.Context, s Search) (*Optimum, error) {
	if err := c.Validate(); err != nil {
		return nil, err
	}
	if !(s.EpsilonMax > 0) {
		return nil, noren.Usagef("epsilon", "the largest loss allowed is a positive number")
	}
	low := s.Least
	if s.Leakage == nil {
		low = c.sensitivity() / s.EpsilonMax
	} else if !(low > 0) {
		return nil, noren.Usagef("scale", "with a leakage, the least scale is a positive number")
	}
	at := func(b float64) (*Evaluation, error) {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		loss := 0.0
		if s.Leakage != nil {
			var err error
			if loss, err = s.Leakage(ctx, b); err != nil {
				return nil, err
			}
			loss = math.Max(loss, 1e-300) // 0 would stand for Delta/b
		}
		return c.Evaluate(b, loss)
	}
	first, err := at(low)
	if err != nil {
		return nil, err
	}
	best := &Optimum{Evaluation: *first, AtLimit: true, Minima: []float64{}}
	high := 1e6 * math.Max(low, c.sensitivity())
	if c.DamageSlope > c.CreditSlope {
		high = math.Min(high, math.Max(2*low, 2*first.Total/(c.DamageSlope-c.CreditSlope)))
	}
	n := s.Points
	if n <= 0 {
		n = 400
		if s.Leakage != nil {
			n = 60
		}
	}
	n = max(n, 3)
	grid := make([]*Evaluation, n)
	grid[0] = first
	for i := 1; i < n; i++ {
		s.Progress.Report("searching", int64(i), int64(n))
		if grid[i], err = at(low * math.Exp(math.Log(high/low)*float64(i)/float64(n-1))); err != nil {
			return nil, err
		}
	}
	for i := 1; i < n; i++ {
		if grid[i].Total > grid[i-1].Total || i+1 < n && grid[i].Total > grid[i+1].Total {
			continue
		}
		right := grid[min(i+1, n-1)].Scale
		e, err := golden(at, grid[i-1].Scale, right)
		if err != nil {
			return nil, err
		}
		if e.Scale > low*(1+1e-9) {
			best.Minima = append(best.Minima, e.Scale)
		}
		if e.Total < best.Total {
			best.Evaluation, best.AtLimit = *e, false
		}
	}
	if c.FalseAlarm > 0 || c.Concealment > 0 {
		if t, err := c.BestThreshold(best.Scale); err == nil {
			best.Threshold = &t
		}
	}
	return best, nil
}

// golden narrows a bracket in the logarithm of the scale.
func golden(at func(float64) (*Evaluation, error), low, high float64) (*Evaluation, error) {
	const section = 0.6180339887498949
	a, b := math.Log(low), math.Log(high)
	x, y := b-section*(b-a), a+section*(b-a)
	fx, err := at(math.Exp(x))
	if err != nil {
		return nil, err
	}
	fy, err := at(math.Exp(y))
	if err != nil {
		return nil, err
	}
	for b-a > 1e-8 {
		if fx.Total <= fy.Total {
			b, y, fy = y, x, fx
			x = b - section*(b-a)
			if fx, err = at(math.Exp(x)); err != nil {
				return nil, err
			}
		} else {
			a, x, fx = x, y, fy
			y = a + section*(b-a)
			if fy, err = at(math.Exp(y)); err != nil {
				return nil, err
			}
		}
	}
	if fx.Total <= fy.Total {
		return fx, nil
	}
	return fy, nil
}
