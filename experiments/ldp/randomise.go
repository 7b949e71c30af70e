package ldp

import (
	"github.com/noren-privacy/noren/internal/entropy"
	"github.com/noren-privacy/noren/ldp"
	"github.com/noren-privacy/noren/learn"
)

// mechanism makes the oracle of one attribute with k labels.
type mechanism func(k int) (ldp.Oracle, error)

// rappor is one of the paper's settings.
func (s setting) rappor(k int) (ldp.Oracle, error) {
	r, err := ldp.NewRappor(ldp.Basic(k, s.f, s.p, s.q))
	if err != nil {
		return nil, err
	}
	return r.Oracle()
}

// oneTime is Basic One-time RAPPOR at epsilon. (Not by NewRappor, which would
// bring f up to a multiple of 1/128.)
func oneTime(epsilon float64) mechanism {
	return func(k int) (ldp.Oracle, error) { return ldp.NewSUE(k, epsilon) }
}

func grr(epsilon float64) mechanism {
	return func(k int) (ldp.Oracle, error) { return ldp.NewGRR(k, epsilon) }
}

// randomised returns the records as they come back from reports: every attribute
// of every record is randomised by itself, decoded to a label (RAPPOR: a random
// set bit) and that to its midpoint.
func (s *space) randomised(m mechanism, seed uint64) (*learn.Matrix, error) {
	src := entropy.Seeded(seed)
	out := learn.NewMatrix(s.raw.Rows, s.raw.Cols)
	for j, column := range s.label {
		o, err := m(s.bins[j].Len())
		if err != nil {
			return nil, err
		}
		for i, l := range column {
			r, err := o.Randomise(src, l)
			if err != nil {
				return nil, err
			}
			decoded := int(r.Value)
			if u, ok := o.(*ldp.Unary); ok {
				if decoded, err = u.RandomSetBit(src, r); err != nil {
					return nil, err
				}
			}
			out.Set(i, j, s.middle[j][decoded])
		}
	}
	return out, nil
}
