package ldp

import (
	"cmp"
	"context"
	"math"
	"math/bits"
	"slices"
)

// choose returns the candidates that stand out, ascending: those that a
// non-negative LASSO with an intercept keeps (the intercept is for the bits of
// unnamed words). The penalty of each is what the largest of all candidates' noise
// is expected to reach, sqrt(2 ln candidates) standard errors; weights are from
// the fitted shares of the step before. No more are returned than half of the
// equations.
//
// Who is chosen decides how much other words disturb an estimate, and not whether a
// candidate is tested: all are.
func (b *bloomModel) choose(ctx context.Context) ([]int, *lasso, error) {
	l := &lasso{b: b, beta: make([]float64, len(b.masks)), base: b.pi, without: -1}
	chosen, err := l.choose(ctx)
	return chosen, l, err
}

// chooseWithout returns the candidates that stand out if w is not one.
func (l *lasso) chooseWithout(ctx context.Context, w int) ([]int, error) {
	other := &lasso{b: l.b, beta: slices.Clone(l.beta), base: l.base, without: w}
	other.beta[w] = 0
	return other.choose(ctx)
}

func (l *lasso) choose(ctx context.Context) ([]int, error) {
	b := l.b
	penalty := math.Sqrt(2 * math.Log(max(2, float64(len(b.masks)))))
	for range 3 {
		l.weigh()
		if err := l.descend(ctx, penalty); err != nil {
			return nil, err
		}
	}
	var chosen []int
	for j, v := range l.beta {
		if v > 0 {
			chosen = append(chosen, j)
		}
	}
	if most := max(min(b.rows/2, mostJoint), 1); len(chosen) > most {
		slices.SortStableFunc(chosen, func(i, j int) int {
			return cmp.Compare(l.beta[j]*math.Sqrt(l.norm[j]), l.beta[i]*math.Sqrt(l.norm[i]))
		})
		chosen = chosen[:most]
		slices.Sort(chosen)
	}
	return chosen, nil
}

// lasso is the weighted regression of bit shares on words, by coordinate descent
// with the residuals kept up to date.
type lasso struct {
	b        *bloomModel
	weight   []float64 // 1/variance of each cell; 0 for cohorts without reports
	residual []float64
	norm     []float64 // sum of the weights of a word's cells
	beta     []float64
	base     float64 // the intercept
	without  int     // a word that is left out, or -1
}

// weigh computes weights and residuals at the fitted shares.
func (l *lasso) weigh() {
	b := l.b
	fitted := make([]float64, len(b.y))
	for i := range fitted {
		fitted[i] = l.base
	}
	for j, v := range l.beta {
		if v > 0 {
			l.cells(j, func(at int) { fitted[at] += v })
		}
	}
	l.weight, l.residual = make([]float64, len(b.y)), make([]float64, len(b.y))
	for c, n := range b.counts.N {
		for bit := range b.k {
			if at := c*b.k + bit; n > 0 {
				l.weight[at] = float64(n) / b.variance(c, min(max(fitted[at], 0), 1))
				l.residual[at] = b.y[at] + b.pi - fitted[at]
			}
		}
	}
	l.norm = make([]float64, len(b.masks))
	for j := range l.norm {
		l.cells(j, func(at int) { l.norm[j] += l.weight[at] })
	}
}

// cells calls f for each cell that a word sets.
func (l *lasso) cells(j int, f func(at int)) {
	for c, mask := range l.b.masks[j] {
		for ; mask != 0; mask &= mask - 1 {
			f(c*l.b.k + bits.TrailingZeros32(mask))
		}
	}
}

// step minimises over one word's share and returns how far it moved, in standard
// errors.
func (l *lasso) step(j int, penalty float64) float64 {
	if l.norm[j] == 0 || j == l.without {
		return 0
	}
	g := 0.0
	l.cells(j, func(at int) { g += l.weight[at] * l.residual[at] })
	root := math.Sqrt(l.norm[j])
	was := l.beta[j]
	now := max(0, was+(g-penalty*root)/l.norm[j])
	if now == was {
		return 0
	}
	l.cells(j, func(at int) { l.residual[at] -= now - was })
	l.beta[j] = now
	return math.Abs(now-was) * root
}

// intercept minimises over the intercept.
func (l *lasso) intercept() float64 {
	g, norm := 0.0, 0.0
	for at, w := range l.weight {
		g += w * l.residual[at]
		norm += w
	}
	now := max(0, l.base+g/norm)
	for at := range l.residual {
		l.residual[at] -= now - l.base
	}
	moved := math.Abs(now-l.base) * math.Sqrt(norm)
	l.base = now
	return moved
}

// settled is the largest move of a share, in standard errors, at which a descent
// has ended.
const settled = 1e-4

// descend runs the LASSO: passes over all words, and between them over those
// that are in.
func (l *lasso) descend(ctx context.Context, penalty float64) error {
	every := make([]int, len(l.beta))
	for j := range every {
		every[j] = j
	}
	for {
		if l.pass(every, penalty) < settled {
			return nil
		}
		var active []int
		for j, v := range l.beta {
			if v > 0 {
				active = append(active, j)
			}
		}
		for range 1000 {
			if err := ctx.Err(); err != nil {
				return err
			}
			if l.pass(active, penalty) < settled {
				break
			}
		}
		if err := ctx.Err(); err != nil {
			return err
		}
	}
}

// pass steps through some words and the intercept.
func (l *lasso) pass(words []int, penalty float64) float64 {
	moved := l.intercept()
	for _, j := range words {
		moved = max(moved, l.step(j, penalty))
	}
	return moved
}
