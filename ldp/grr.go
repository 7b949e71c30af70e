package ldp

import (
	"math"
	"strconv"

	"github.com/noren-privacy/noren"
	"github.com/noren-privacy/noren/noise"
)

// GRR is generalised randomised response (Warner 1965; Kairouz, Bonawitz and
// Ramage 2016): the true label with probability p = e^eps/(e^eps+k-1), else any
// other, all alike. It is the best choice for few labels, k < 3 e^eps + 2.
type GRR struct {
	k     int
	truth prob
	loss  Loss
}

// NewGRR returns generalised randomised response on k labels. The loss is
// ln(p (k-1)/(1-p)) <= epsilon, since p is rounded down.
func NewGRR(k int, epsilon float64) (*GRR, error) {
	if err := checkDomain(k); err != nil {
		return nil, err
	}
	if err := checkEpsilon(epsilon); err != nil {
		return nil, err
	}
	return &GRR{k: k, truth: grrTruth(k, epsilon), loss: once(epsilon)}, nil
}

// grrTruth is the probability of the true label among k.
func grrTruth(k int, epsilon float64) prob { return share(safeExp(epsilon), float64(k-1)) }

// Name implements Oracle.
func (m *GRR) Name() string { return "grr" }

// Domain implements Oracle.
func (m *GRR) Domain() int { return m.k }

// Loss implements Oracle.
func (m *GRR) Loss() Loss { return m.loss }

// Randomise implements Oracle.
func (m *GRR) Randomise(src *noise.Source, label int) (Report, error) {
	if err := checkLabel(label, m.k); err != nil {
		return Report{}, err
	}
	v, err := respond(src, m.truth, m.k, label)
	return Report{Value: uint32(v)}, err
}

// respond answers label with probability truth, else one of the others. The same
// words are drawn in either case.
func respond(src words, truth prob, k, label int) (int, error) {
	keep, err := truth.draw(src)
	if err != nil {
		return 0, err
	}
	other, err := uniform(src, uint64(k-1))
	if err != nil {
		return 0, err
	}
	if keep {
		return label, nil
	}
	if int(other) >= label {
		other++
	}
	return int(other), nil
}

// Channel implements Oracle.
func (m *GRR) Channel() Channel {
	return grrChannel(m.k, m.truth)
}

func grrChannel(k int, truth prob) Channel {
	p, q := truth.float(), truth.not().float()/float64(k-1)
	return Channel{True: p, Other: q, On: p, Off: q}
}

// Check implements Oracle.
func (m *GRR) Check(r Report) error {
	if uint64(r.Value) >= uint64(m.k) {
		return malformed("a label outside the domain")
	}
	return nil
}

// Supports implements Oracle.
func (m *GRR) Supports(r Report, label int) bool { return int(r.Value) == label }

func (m *GRR) tally(counts []int64, r *Report) { counts[r.Value]++ }

// Format implements Oracle: the label in decimal.
func (m *GRR) Format(r Report) string { return strconv.FormatUint(uint64(r.Value), 10) }

// Parse implements Oracle.
func (m *GRR) Parse(word string) (Report, error) {
	v, err := parseNumber(word)
	if err != nil {
		return Report{}, err
	}
	r := Report{Value: v}
	return r, m.Check(r)
}

// parseNumber reads a decimal number as Format writes it: digits alone, no
// leading zero.
func parseNumber(word string) (uint32, error) {
	v, err := strconv.ParseUint(word, 10, 32)
	if err != nil || word[0] == '+' || len(word) > 1 && word[0] == '0' || v > math.MaxUint32 {
		return 0, malformed("not a number as the mechanism writes it")
	}
	return uint32(v), nil
}

var _ = []Oracle{(*GRR)(nil), (*Unary)(nil), (*OLH)(nil), (*Subset)(nil)}

// refuse is the error of a label count that a mechanism cannot take.
func refuse(where any, what noren.Format) error {
	return &noren.Error{Kind: noren.Usage, Where: where, What: what}
}
