package outlier

import (
	"context"
	"math"
)

// smoothed finds the maximum of e^{-beta t} U_t.
type smoothed struct {
	p    *profile
	beta float64
	best float64
}

// term is e^{-beta t} u.
func (s *smoothed) term(t int, u int64) float64 {
	return math.Exp(-s.beta*float64(t)) * float64(u)
}

// tail is an upper bound of all terms after t: the cap for replace-one; for
// add-remove also n + t', as no more records than that are there. On each of
// the pieces where min(G, max(1, n+t')) is constant or linear the product with
// e^{-beta t'} has one top, so that the ends and the tops decide.
func (s *smoothed) tail(t int) float64 {
	next := float64(t) + 1
	if s.p.set.Neighbours == ReplaceOne {
		return math.Exp(-s.beta*next) * float64(s.p.cap)
	}
	n, g := float64(s.p.n), float64(s.p.cap)
	value := func(x float64) float64 {
		x = max(x, next)
		return math.Exp(-s.beta*x) * min(g, max(1, n+x))
	}
	return max(value(next), value(1/s.beta-n), value(g-n))
}

// smooth returns S = max_{t>=0} e^{-beta t} U_t, the exact maximum but for the
// rounding of floating point, which goes upward: the result is never smaller
// than S and greater by less than a part in 1e14.
//
// It stops at t when nothing later can exceed what was found. As U_t does not
// fall with t, all terms between a and b are at most e^{-beta(a+1)} U_b: it
// goes ahead in growing strides, small windows first, and looks between two of
// them only where that exceeds what was found.
func (p *profile) smooth(ctx context.Context, beta float64) (float64, error) {
	s := &smoothed{p: p, beta: beta}
	if p.cap == 0 {
		return 0, nil
	}
	type point struct {
		t int
		u int64
	}
	var visited []point
	for t, stride := 0, 1; ; {
		u, err := p.bound(ctx, t)
		if err != nil {
			return 0, err
		}
		visited = append(visited, point{t, u})
		s.best = max(s.best, s.term(t, u))
		if u == p.cap || s.best >= s.tail(t) {
			break
		}
		if t > 1 {
			stride *= 2
		}
		// Not beyond the last t that can still matter.
		for stride > 1 && s.best >= s.tail(t+stride-1) {
			stride--
		}
		t += stride
	}
	for i := 1; i < len(visited); i++ {
		if err := s.between(ctx, visited[i-1].t, visited[i].t, visited[i].u); err != nil {
			return 0, err
		}
	}
	return up(s.best), nil
}

// between looks at the terms strictly between a and b, where U_b = ub.
func (s *smoothed) between(ctx context.Context, a, b int, ub int64) error {
	if b-a < 2 || s.term(a+1, ub) <= s.best {
		return nil
	}
	mid := (a + b) / 2
	u, err := s.p.bound(ctx, mid)
	if err != nil {
		return err
	}
	s.best = max(s.best, s.term(mid, u))
	if err := s.between(ctx, a, mid, u); err != nil {
		return err
	}
	return s.between(ctx, mid, b, ub)
}

// up raises x by more than the error of a product and an exponential.
func up(x float64) float64 { return x * (1 + 1.0/(1<<50)) }

// reach returns up to which degree counts must be exact for the smooth maximum:
// as U_0 >= 1, no t matters beyond the first whose tail is 1 at the most, and
// its windows end at k+t.
func reach(set Setting, n, d int, beta float64) int {
	p := &profile{set: set, n: n, cap: GlobalSensitivity(set.Neighbours, n, d, set.K)}
	s := &smoothed{p: p, beta: beta}
	t := 0
	for p.cap > 0 && s.tail(t) > 1 {
		t += t/8 + 1
	}
	if most := math.MaxInt32 - set.K - 2; t > most {
		t = most
	}
	return set.K + t + 2
}
