package correlated

import (
	"math"
	"math/big"

	"noren"
	"noren/noise"
)

// Gradual is noise for an answer that is published coarsely first and refined
// later: scales b_1 < b_2 < .. < b_m, whose noises are drawn together so that
// each is the one before plus something independent. All published answers
// together then leak no more than the finest of them: CBP(b_1), and CBP(b_2)
// until it is out.
//
// Theorem 2's corollary gives it for the Laplace law, and the same holds for the
// discrete one that is drawn here. With q_j = e^(-1/b_j), the generating function
// of discrete Laplace noise is (1-q)^2/(1-2q cos t+q^2), and
//
//	1 - 2 q1 cos t + q1^2 = (q1/q2)(1 - 2 q2 cos t + q2^2) + (1-q1 q2)(1-q1/q2),
//
// so that the noise of b_2 is that of b_1 plus W, where W = 0 with probability
//
//	c = (q1/q2) ((1-q2)/(1-q1))^2,
//
// and otherwise is discrete Laplace noise of scale b_2 itself. (As the steps
// become small c tends to (b_1/b_2)^2, the continuous value.)
type Gradual struct {
	scales []*big.Rat
	laws   []*noise.Laplace
	steps  []refinement
}

// refinement adds W to go from scale b_j to b_{j+1}.
type refinement struct {
	coarse *noise.Laplace // of scale b_{j+1}
	gap    *noise.Laplace // of scale 1/(1/b_j - 1/b_{j+1})
}

// NewGradual returns the noise for the scales given, in steps of the answer's
// unit, from the finest (smallest) to the coarsest. Errors are of kind Usage.
func NewGradual(scales ...*big.Rat) (*Gradual, error) {
	if len(scales) == 0 {
		return nil, usagef("scales", "there is no scale")
	}
	g := &Gradual{}
	for i, b := range scales {
		l, err := noise.NewLaplace(b)
		if err != nil {
			return nil, &noren.Error{Kind: noren.Usage, Where: index("scales", i), Err: err}
		}
		if i > 0 {
			if b.Cmp(scales[i-1]) <= 0 {
				return nil, usagef(index("scales", i), "the scales must rise")
			}
			gap := new(big.Rat).Sub(new(big.Rat).Inv(scales[i-1]), new(big.Rat).Inv(b))
			n, err := noise.NewLaplace(gap.Inv(gap))
			if err != nil {
				return nil, &noren.Error{Kind: noren.Usage, Where: index("scales", i), What: "this scale is too near to the one before", Err: err}
			}
			g.steps = append(g.steps, refinement{coarse: l, gap: n})
		}
		g.scales = append(g.scales, new(big.Rat).Set(b))
		g.laws = append(g.laws, l)
	}
	return g, nil
}

// Draw draws the noises of all scales together, from the finest to the
// coarsest. Whoever publishes the coarse ones first must keep the finer ones
// secret until then.
func (g *Gradual) Draw(src *noise.Source) ([]int64, error) {
	z, err := g.laws[0].Draw(src)
	if err != nil {
		return nil, err
	}
	out := []int64{z}
	for _, s := range g.steps {
		w, err := s.draw(src)
		if err != nil {
			return nil, err
		}
		z = noise.AddSaturating(z, w)
		out = append(out, z)
	}
	return out, nil
}

func (s *refinement) draw(src *noise.Source) (int64, error) {
	zero, err := s.zero(src)
	if err != nil || zero {
		return 0, err
	}
	return s.coarse.Draw(src)
}

// zero is true with probability c: three independent draws that must all be.
func (s *refinement) zero(src *noise.Source) (bool, error) {
	ok, err := exponential(s.gap, src) // q1/q2
	for range 2 {
		if err != nil || !ok {
			return false, err
		}
		ok, err = s.ratio(src)
	}
	return ok, err
}

// ratio is true with probability (1-q2)/(1-q1): an event of probability 1-q2
// within one of probability 1-q1, drawn again outside of the latter.
func (s *refinement) ratio(src *noise.Source) (bool, error) {
	for {
		second, err := exponential(s.coarse, src) // q2
		if err != nil || !second {
			return true, err
		}
		first, err := exponential(s.gap, src) // q1 = q2 (q1/q2)
		if err != nil || !first {
			return false, err
		}
	}
}

// exponential is true with probability q = e^(-1/b), b the scale of l: of the
// values that are not negative, those above 0 have the share q exactly.
func exponential(l *noise.Laplace, src *noise.Source) (bool, error) {
	for {
		x, err := l.Draw(src)
		if err != nil {
			return false, err
		}
		if x >= 0 {
			return x > 0, nil
		}
	}
}

// Unchanged is the probability c that the step from scale fine to scale coarse
// adds nothing, for continuous Laplace noise: (fine/coarse)^2.
func Unchanged(fine, coarse float64) float64 { return (fine / coarse) * (fine / coarse) }

// UnchangedDiscrete is the same for discrete Laplace noise, scales in steps.
func UnchangedDiscrete(fine, coarse float64) float64 {
	r := math.Expm1(-1/coarse) / math.Expm1(-1/fine)
	return math.Exp(1/coarse-1/fine) * r * r
}
