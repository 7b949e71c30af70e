package ldp

import (
	"math"
	"math/bits"
	"slices"
	"strconv"
	"strings"

	"github.com/noren-privacy/noren/noise"
)

// Subset is subset selection (Wang et al. 2016; Ye and Barg 2018): the device
// sends a set of w labels. The true one is among them with probability
// p = w e^eps/(w e^eps + k - w); all sets with it, and all without, are alike. With
// w = k/(e^eps+1) no mechanism has a smaller worst error. With w = 1 it is GRR.
type Subset struct {
	k, w  int
	truth prob
	loss  Loss
}

// NewSubset returns subset selection on k labels, with the w of least variance.
// A set with the label has probability p/C(k-1, w-1), one without it
// (1-p)/C(k-1, w): the loss is ln(p (k-w)/((1-p) w)) <= epsilon as p is rounded
// down.
func NewSubset(k int, epsilon float64) (*Subset, error) {
	if err := checkUnary(k, epsilon); err != nil {
		return nil, err
	}
	e := safeExp(epsilon)
	// The best w is one of the two integers around k/(e^eps+1).
	at := int(float64(k) / (e + 1))
	var best *Subset
	variance := math.Inf(1)
	for _, w := range []int{at, at + 1} {
		w = min(max(w, 1), k-1)
		rest := float64(k - w)
		m := &Subset{k: k, w: w, truth: share(float64(w)*e, rest), loss: once(epsilon)}
		if v := m.Channel().Variance(0); v < variance {
			best, variance = m, v
		}
	}
	return best, nil
}

// Name implements Oracle.
func (m *Subset) Name() string { return "subset" }

// Domain implements Oracle.
func (m *Subset) Domain() int { return m.k }

// Size is w, the number of labels in a report.
func (m *Subset) Size() int { return m.w }

// Loss implements Oracle.
func (m *Subset) Loss() Loss { return m.loss }

// Randomise implements Oracle.
func (m *Subset) Randomise(src *noise.Source, label int) (Report, error) {
	if err := checkLabel(label, m.k); err != nil {
		return Report{}, err
	}
	with, err := m.truth.draw(src)
	if err != nil {
		return Report{}, err
	}
	// w of the other k-1 labels, all sets alike (Floyd's method: Bentley and Floyd
	// 1987): for j from k-1-w, add a random one of the first j+1, or j itself where
	// that one is already in. If the label is sent, it replaces one of them, all
	// alike. As many words are drawn either way.
	b := make([]uint64, (m.k+63)/64)
	chosen := make([]int, 0, m.w)
	for j := m.k - 1 - m.w; j < m.k-1; j++ {
		v, err := uniform(src, uint64(j+1))
		if err != nil {
			return Report{}, err
		}
		l := around(int(v), label)
		if b[l/64]>>(l%64)&1 == 1 {
			l = around(j, label)
		}
		b[l/64] |= 1 << (l % 64)
		chosen = append(chosen, l)
	}
	out, err := uniform(src, uint64(m.w))
	if err != nil {
		return Report{}, err
	}
	if with {
		l := chosen[out]
		b[l/64] &^= 1 << (l % 64)
		b[label/64] |= 1 << (label % 64)
	}
	return Report{Bits: b}, nil
}

// around numbers the labels other than one.
func around(v, label int) int {
	if v >= label {
		return v + 1
	}
	return v
}

// Channel implements Oracle.
func (m *Subset) Channel() Channel {
	p, not := m.truth.float(), m.truth.not().float()
	k, w := float64(m.k), float64(m.w)
	return Channel{
		True:  p,
		Other: p*(w-1)/(k-1) + not*w/(k-1),
		On:    p / w, Off: not / (k - w),
	}
}

// Check implements Oracle.
func (m *Subset) Check(r Report) error {
	if err := checkBits(r.Bits, m.k); err != nil {
		return err
	}
	size := 0
	for _, w := range r.Bits {
		size += bits.OnesCount64(w)
	}
	if size != m.w {
		return malformed("a set of another size than the mechanism's")
	}
	return nil
}

// Supports implements Oracle.
func (m *Subset) Supports(r Report, label int) bool { return r.Bits[label/64]>>(label%64)&1 == 1 }

func (m *Subset) tally(counts []int64, r *Report) { tallyBits(counts, r.Bits) }

// Format implements Oracle: the labels in decimal, ascending, with commas.
func (m *Subset) Format(r Report) string {
	var parts []string
	for i, w := range r.Bits {
		for ; w != 0; w &= w - 1 {
			parts = append(parts, strconv.Itoa(i*64+bits.TrailingZeros64(w)))
		}
	}
	return strings.Join(parts, ",")
}

// Parse implements Oracle.
func (m *Subset) Parse(word string) (Report, error) {
	parts := strings.Split(word, ",")
	labels := make([]uint32, len(parts))
	for i, p := range parts {
		v, err := parseNumber(p)
		if err != nil {
			return Report{}, err
		}
		if uint64(v) >= uint64(m.k) || i > 0 && v <= labels[i-1] {
			return Report{}, malformed("labels must lie in the domain and ascend")
		}
		labels[i] = v
	}
	b := make([]uint64, (m.k+63)/64)
	for _, l := range slices.Clip(labels) {
		b[l/64] |= 1 << (l % 64)
	}
	r := Report{Bits: b}
	return r, m.Check(r)
}
