package ldp

import (
	"math"
	"math/bits"

	"github.com/noren-privacy/noren/noise"
)

// Unary sends one bit a label, each randomised by itself: the true label's bit is
// 1 with probability True, every other with probability Other.
type Unary struct {
	k           int
	true, other prob
	loss        Loss
	name        string
}

// NewOUE returns optimised unary encoding on k labels (Wang et al. 2017): the
// true bit is sent half the time, every other with q = 1/(e^eps+1). Two labels
// differ in two bits, so the loss is ln((1/2)(1-q) / ((1/2) q)) <= epsilon as q
// is rounded up.
func NewOUE(k int, epsilon float64) (*Unary, error) {
	if err := checkUnary(k, epsilon); err != nil {
		return nil, err
	}
	return &Unary{k: k, true: prob{t: 1 << 63}, other: share(safeExp(epsilon), 1).not(), loss: once(epsilon), name: "oue"}, nil
}

// NewSUE returns symmetric unary encoding on k labels, which is Basic One-time
// RAPPOR with f = 2/(e^(eps/2)+1): each bit is turned with q = 1/(e^(eps/2)+1).
// The loss is 2 ln((1-q)/q) <= epsilon.
func NewSUE(k int, epsilon float64) (*Unary, error) {
	if err := checkUnary(k, epsilon); err != nil {
		return nil, err
	}
	q := share(safeExp(epsilon/2), 1).not()
	return &Unary{k: k, true: q.not(), other: q, loss: once(epsilon), name: "sue"}, nil
}

// maxUnary bounds the bits of one report; beyond it OLH says the same in a few
// bytes.
const maxUnary = 1 << 20

func checkUnary(k int, epsilon float64) error {
	if err := checkDomain(k); err != nil {
		return err
	}
	if k > maxUnary {
		return refuse("domain", "one bit a label is too long a report for this number of labels: take olh")
	}
	return checkEpsilon(epsilon)
}

// Name implements Oracle.
func (m *Unary) Name() string { return m.name }

// Domain implements Oracle.
func (m *Unary) Domain() int { return m.k }

// Loss implements Oracle.
func (m *Unary) Loss() Loss { return m.loss }

// Randomise implements Oracle.
func (m *Unary) Randomise(src *noise.Source, label int) (Report, error) {
	if err := checkLabel(label, m.k); err != nil {
		return Report{}, err
	}
	b := make([]uint64, (m.k+63)/64)
	b[label/64] = 1 << (label % 64)
	return Report{Bits: b}, randomiseBits(src, b, m.k, m.true, m.other)
}

// randomiseBits replaces each of the k bits of b by one that is 1 with
// probability on where it was 1, off where it was 0.
func randomiseBits(src words, b []uint64, k int, on, off prob) error {
	for i := range b {
		w, err := lanes(src, off, on, b[i])
		if err != nil {
			return err
		}
		if i == len(b)-1 && k%64 != 0 {
			w &= 1<<(k%64) - 1
		}
		b[i] = w
	}
	return nil
}

// Channel implements Oracle.
func (m *Unary) Channel() Channel {
	t, o := m.true.float(), m.other.float()
	// Given the label, the other bits have one probability whatever it is; what
	// depends on the label is the ratio of its own bit to one of the others.
	return Channel{True: t, Other: o, On: t / o, Off: m.true.not().float() / m.other.not().float()}
}

// Check implements Oracle.
func (m *Unary) Check(r Report) error { return checkBits(r.Bits, m.k) }

// Supports implements Oracle.
func (m *Unary) Supports(r Report, label int) bool { return r.Bits[label/64]>>(label%64)&1 == 1 }

func (m *Unary) tally(counts []int64, r *Report) { tallyBits(counts, r.Bits) }

func tallyBits(counts []int64, b []uint64) {
	for i, w := range b {
		for ; w != 0; w &= w - 1 {
			counts[i*64+bits.TrailingZeros64(w)]++
		}
	}
}

// Format implements Oracle: k bits, the highest label first.
func (m *Unary) Format(r Report) string { return formatBits(r.Bits, m.k) }

// Parse implements Oracle.
func (m *Unary) Parse(word string) (Report, error) {
	b, err := parseBits(word, m.k)
	return Report{Bits: b}, err
}

// RandomSetBit maps the bits of a report back to a label as the paper does: one
// of the set bits, all alike, or any label when none is set. [Unary.DecodedLabel] says
// how often it is right.
func (m *Unary) RandomSetBit(src *noise.Source, r Report) (int, error) {
	if err := m.Check(r); err != nil {
		return 0, err
	}
	set := 0
	for _, w := range r.Bits {
		set += bits.OnesCount64(w)
	}
	if set == 0 {
		v, err := uniform(src, uint64(m.k))
		return int(v), err
	}
	pick, err := uniform(src, uint64(set))
	if err != nil {
		return 0, err
	}
	for i, w := range r.Bits {
		if n := uint64(bits.OnesCount64(w)); pick >= n {
			pick -= n
			continue
		}
		for ; pick > 0; pick-- {
			w &= w - 1
		}
		return i*64 + bits.TrailingZeros64(w), nil
	}
	return 0, malformed("no set bit")
}

// Decoded is a label made from the bits of a report by RandomSetBit, seen as a
// mechanism of its own.
type Decoded struct {
	True    float64 // probability of the true label
	Other   float64 // probability of any other given label
	Epsilon float64 // ln(True/Other): what the label alone tells
}

// DecodedLabel returns the channel from label to decoded label. The bit of the
// true label is set with probability a, each of the k-1 others with b:
//
//	P(true) = a E[1/(1+X)] + (1-a)(1-b)^(k-1)/k,   X ~ Binomial(k-1, b),
//	E[1/(1+X)] = (1 - (1-b)^k)/(k b).
//
// By symmetry the rest is shared alike. The report as sent tells more than the
// label; its loss is the oracle's.
func (m *Unary) DecodedLabel() Decoded {
	a, b, k := m.true.float(), m.other.float(), float64(m.k)
	none := math.Exp((k - 1) * math.Log1p(-b))
	mean := 1.0
	if b > 0 {
		mean = -math.Expm1(k*math.Log1p(-b)) / (k * b)
	}
	d := Decoded{True: a*mean + (1-a)*none/k}
	d.Other = (1 - d.True) / (k - 1)
	d.Epsilon = math.Log(d.True / d.Other)
	return d
}
