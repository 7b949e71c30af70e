package query

import (
	"context"
	"math"
	"math/big"
)

// window is x_from..x_to, to > from.
type window struct{ from, to int }

// widest returns for every from <= m the window to >= m with the largest (x_to -
// x_from) e^(-beta (to-from-1)), at most reach gaps away on either side: O(n log n) comparisons by
// divide and conquer (Nissim, Raskhodnikova and Smith 2007).
//
// For fixed from = i, let j be the best to. If j is better than an earlier j0 at i, (x_j
// - x_i) e^(-beta j) >= (x_j0 - x_i) e^(-beta j0), then at i' > i as well: x_i' >= x_i
// takes more from the right side, whose factor is larger. So the best to moves right with
// from.
//
// Comparisons are exact: in floating point where the two sides are clearly apart, else
// with as many bits as it takes. e^(-beta s) is irrational for rational beta s > 0, so
// that only 0 equals 0.
func widest(ctx context.Context, x ordered, beta *powers, reach int) ([]window, error) {
	f, _ := beta.g.Float64()
	w := &widener{x: x, beta: f, exact: beta}
	m := x.middle()
	lo, hi := max(0, m-reach), min(len(x.values)+1, m+reach+1)
	// Each frame has its own range of i; together they are scanned once a level.
	if err := w.split(ctx, lo, m, m, hi); err != nil {
		return nil, err
	}
	return w.found, nil
}

type widener struct {
	x     ordered
	beta  float64
	exact *powers
	found []window
	work  int
}

// split finds the best to in jLo..jHi for every from in iLo..iHi.
func (w *widener) split(ctx context.Context, iLo, iHi, jLo, jHi int) error {
	if iLo > iHi {
		return nil
	}
	i := (iLo + iHi) / 2
	best := max(jLo, i+1)
	for j := best + 1; j <= jHi; j++ {
		if w.work++; w.work%checkEvery == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		if w.better(i, best, j) {
			best = j
		}
	}
	w.found = append(w.found, window{i, best})
	if err := w.split(ctx, iLo, i-1, jLo, best); err != nil {
		return err
	}
	return w.split(ctx, i+1, iHi, best, jHi)
}

// better reports whether x_j - x_i, less by e^(-beta (j-j0)), is above x_j0 - x_i.
func (w *widener) better(i, j0, j int) bool {
	near, far := w.x.at(j0)-w.x.at(i), w.x.at(j)-w.x.at(i)
	if far == 0 || near == far {
		return false
	}
	if near == 0 {
		return true
	}
	a, b := float64(near), float64(far)*math.Exp(-w.beta*float64(j-j0))
	if math.Abs(a-b) > 1e-9*max(a, b) {
		return b > a
	}
	for p := w.exact; ; p = newPowers(p.g, 2*p.prec) {
		lo, hi := p.of(int64(j - j0))
		left := new(big.Int).Lsh(big.NewInt(near), p.prec)
		if left.Cmp(lo.Mul(lo, big.NewInt(far))) < 0 {
			return true
		}
		if left.Cmp(hi.Mul(hi, big.NewInt(far))) > 0 {
			return false
		}
	}
}
