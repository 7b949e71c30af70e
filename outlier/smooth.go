package outlier

import (
	"context"
	"math"

	"github.com/noren-privacy/noren/account"
)

// search looks for the largest worth(t, U_t), t >= 0, for a worth that rises with
// U_t and falls with t. tail(t) bounds all worths after t.
type search struct {
	p     *profile
	worth func(t int, u int64) float64
	tail  func(t int) float64
	best  float64
}

// run finds the exact maximum. It stops at t when nothing later can exceed what
// was found. As U_t does not fall with t, everything between a and b is worth at
// most worth(a+1, U_b): it goes ahead in growing strides, small windows first,
// and looks between two of them only where that exceeds what was found.
func (s *search) run(ctx context.Context) (float64, error) {
	type point struct {
		t int
		u int64
	}
	var visited []point
	s.best = math.Inf(-1)
	for t, stride := 0, 1; ; {
		u, err := s.p.bound(ctx, t)
		if err != nil {
			return 0, err
		}
		visited = append(visited, point{t, u})
		s.best = max(s.best, s.worth(t, u))
		if u == s.p.cap || s.best >= s.tail(t) {
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
	return s.best, nil
}

// between looks strictly between a and b, where U_b = ub.
func (s *search) between(ctx context.Context, a, b int, ub int64) error {
	if b-a < 2 || s.worth(a+1, ub) <= s.best {
		return nil
	}
	mid := (a + b) / 2
	u, err := s.p.bound(ctx, mid)
	if err != nil {
		return err
	}
	s.best = max(s.best, s.worth(mid, u))
	if err := s.between(ctx, a, mid, u); err != nil {
		return err
	}
	return s.between(ctx, mid, b, ub)
}

// decay is the search for the largest e^{-beta t} U_t.
func (p *profile) decay(beta float64) *search {
	return &search{
		p:     p,
		worth: func(t int, u int64) float64 { return math.Exp(-beta*float64(t)) * float64(u) },
		tail:  func(t int) float64 { return p.tail(beta, t) },
	}
}

// tail is an upper bound of e^{-beta t'} U_t' for all t' > t. U_t' is at most the
// cap and, for add-remove, at most n + t', as no more records than that are
// there. On each of the pieces where min(G, max(1, n+t')) is constant or linear
// its product with e^{-beta t'} has one top, so that the ends of the pieces and
// the tops decide.
func (p *profile) tail(beta float64, t int) float64 {
	next := float64(t) + 1
	if p.set.Neighbours == account.ReplaceOne {
		return math.Exp(-beta*next) * float64(p.cap)
	}
	n, g := float64(p.n), float64(p.cap)
	value := func(x float64) float64 {
		x = max(x, next)
		return math.Exp(-beta*x) * min(g, max(1, n+x))
	}
	return max(value(next), value(1/beta-n), value(g-n))
}

// smooth returns S = max_{t>=0} e^{-beta t} U_t: the exact maximum but for the
// rounding of floating point, which goes upward. The result is never smaller
// than S and greater by less than a part in 1e14.
func (p *profile) smooth(ctx context.Context, beta float64) (float64, error) {
	if p.cap == 0 {
		return 0, nil
	}
	best, err := p.decay(beta).run(ctx)
	return up(best), err
}

// level returns the integer L = max_{t>=0} (c(U_t) - t), where c(u) is ln u / beta
// rounded up: S <= e^{beta L}, nearly with equality. Neighbouring data sets have
// levels that differ by at most 1, exactly: c rises with u, whatever its
// rounding, so that c(U_t(X)) - t <= c(U_{t+1}(X')) - (t+1) + 1.
func (p *profile) level(ctx context.Context, beta float64) (int64, error) {
	if p.cap == 0 {
		return 0, nil
	}
	c := func(u int64) float64 { return math.Ceil(up(math.Log(float64(u)) / beta)) }
	s := &search{
		p:     p,
		worth: func(t int, u int64) float64 { return c(u) - float64(t) },
		tail:  func(t int) float64 { return c(p.cap) - float64(t) - 1 },
	}
	best, err := s.run(ctx)
	return int64(best), err
}

// up raises x by more than the error of a product and an exponential.
func up(x float64) float64 { return x * (1 + 1.0/(1<<50)) }

// reach returns up to which degree counts must be exact for the smooth maximum
// and the level: as U_0 >= 1, no t matters beyond the first at which the cap is
// worth no more than that, and its windows end at k+t.
func reach(set Setting, n, d int, beta float64) int {
	g := GlobalSensitivity(set.Neighbours, n, d, set.K)
	if g <= 1 {
		return set.K + 2
	}
	t := math.Ceil(math.Log(float64(g))/beta) + 2
	return set.K + 2 + int(min(t, math.MaxInt32-maxK-4))
}
