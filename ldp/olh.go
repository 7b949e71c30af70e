package ldp

import (
	"fmt"
	"math"
	"strconv"

	"github.com/noren-privacy/noren/noise"
)

// OLH is optimised local hashing (Wang et al. 2017): the device draws a hash
// function to g values, hashes its label and sends the function and generalised
// randomised response on the hash. A report is 20 bytes however many labels
// there are. It is as exact as OUE.
type OLH struct {
	k, g  int
	truth prob
	loss  Loss
}

// NewOLH returns optimised local hashing on k labels with g = round(e^eps) + 1,
// at least 2: the g of least variance.
func NewOLH(k int, epsilon float64) (*OLH, error) {
	if err := checkDomain(k); err != nil {
		return nil, err
	}
	if err := checkEpsilon(epsilon); err != nil {
		return nil, err
	}
	g := 2
	if e := math.Round(math.Exp(epsilon)) + 1; e > 2 {
		g = int(min(e, maxHash))
	}
	return &OLH{k: k, g: g, truth: grrTruth(g, epsilon), loss: once(epsilon)}, nil
}

// maxHash bounds g: two labels then still hash alike with probability 1/g within
// one part in a million.
const maxHash = 1 << 12

// Name implements Oracle.
func (m *OLH) Name() string { return "olh" }

// Domain implements Oracle.
func (m *OLH) Domain() int { return m.k }

// HashDomain is g.
func (m *OLH) HashDomain() int { return m.g }

// Loss implements Oracle.
func (m *OLH) Loss() Loss { return m.loss }

// Hash returns label's value below g under the function h = (a, b):
// floor(g floor((a label + b mod 2^64) / 2^32) / 2^32). The upper half of a
// label + b is strongly universal for a, b uniform on 64 bits and labels of 32
// (Dietzfelbinger 1996, theorem 3; Thorup 2015, section 3.3), so two labels hash
// alike with probability 1/g within g/2^32.
func (m *OLH) Hash(h [2]uint64, label int) int {
	return int(olhHash(h[0], h[1], uint64(label), uint64(m.g)))
}

func olhHash(a, b, label, g uint64) uint64 { return (a*label + b) >> 32 * g >> 32 }

// Randomise implements Oracle.
func (m *OLH) Randomise(src *noise.Source, label int) (Report, error) {
	if err := checkLabel(label, m.k); err != nil {
		return Report{}, err
	}
	var r Report
	for i := range r.Hash {
		var err error
		if r.Hash[i], err = src.Uint64(); err != nil {
			return Report{}, err
		}
	}
	v, err := respond(src, m.truth, m.g, m.Hash(r.Hash, label))
	r.Value = uint32(v)
	return r, err
}

// Channel implements Oracle.
func (m *OLH) Channel() Channel {
	c := grrChannel(m.g, m.truth)
	// A label that is not the true one is supported if it hashes as the answer
	// does, whatever the answer is.
	return Channel{True: c.True, Other: 1 / float64(m.g), On: c.On, Off: c.Off}
}

// Check implements Oracle.
func (m *OLH) Check(r Report) error {
	if uint64(r.Value) >= uint64(m.g) {
		return malformed("a hashed label outside the domain of the hash")
	}
	return nil
}

// Supports implements Oracle.
func (m *OLH) Supports(r Report, label int) bool { return m.Hash(r.Hash, label) == int(r.Value) }

// tally hashes every label. The hash of the next label is that of the last plus
// a, so there is no multiplication but the one that brings it below g.
func (m *OLH) tally(counts []int64, r *Report) {
	a, h, g, v := r.Hash[0], r.Hash[1], uint64(m.g), uint64(r.Value)
	// floor(g x / 2^32) = v for x from lo to hi - 1: a comparison for each label.
	lo := (v<<32 + g - 1) / g
	width := ((v+1)<<32+g-1)/g - lo
	for l := range counts {
		var hit int64
		if h>>32-lo < width {
			hit = 1
		}
		counts[l] += hit
		h += a
	}
}

// Format implements Oracle: the hash function in 32 hexadecimal digits, a colon,
// the value in decimal.
func (m *OLH) Format(r Report) string {
	return fmt.Sprintf("%016x%016x:%d", r.Hash[0], r.Hash[1], r.Value)
}

// Parse implements Oracle.
func (m *OLH) Parse(word string) (Report, error) {
	if len(word) < 34 || word[32] != ':' {
		return Report{}, malformed("not a hash function and a value")
	}
	var r Report
	for i := range r.Hash {
		part := word[16*i : 16*i+16]
		v, err := strconv.ParseUint(part, 16, 64)
		if err != nil {
			return Report{}, malformed("not a hash function and a value")
		}
		r.Hash[i] = v
	}
	v, err := parseNumber(word[33:])
	if err != nil {
		return Report{}, err
	}
	r.Value = v
	return r, m.Check(r)
}
