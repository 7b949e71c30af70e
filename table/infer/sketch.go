package infer

import (
	"math"
	"math/bits"
)

// sketch estimates how many distinct texts it was shown in 16 KiB: HyperLogLog
// (Flajolet, Fusy, Gandouet and Meunier 2007) with 2^14 registers, whose
// standard error is 1.04/sqrt(2^14) = 0.8 %. Texts are hashed to 64 bits, so
// that no correction for large numbers is needed; small ones are counted by the
// registers that are still empty, as the paper does.
type sketch struct {
	registers [1 << sketchBits]uint8
}

const sketchBits = 14

func (s *sketch) add(text []byte) {
	h := hash(text)
	// The first bits choose the register, which keeps the longest run of zeros
	// (plus one) that the others began with.
	r := &s.registers[h>>(64-sketchBits)]
	*r = max(*r, uint8(bits.LeadingZeros64(h<<sketchBits|1<<(sketchBits-1)))+1)
}

func (s *sketch) estimate() int64 {
	const m = 1 << sketchBits
	sum, empty := 0.0, 0
	for _, r := range s.registers {
		sum += math.Ldexp(1, -int(r))
		if r == 0 {
			empty++
		}
	}
	alpha := 0.7213 / (1 + 1.079/m)
	e := alpha * m * m / sum
	if e <= 2.5*m && empty > 0 {
		e = m * math.Log(float64(m)/float64(empty))
	}
	return int64(math.Round(e))
}

// hash is FNV-1a, mixed by the last steps of MurmurHash3, since the first bits
// of FNV alone differ too little between short texts. It is the same in every
// run, so that estimates are too.
func hash(text []byte) uint64 {
	h := uint64(0xcbf29ce484222325)
	for _, c := range text {
		h = (h ^ uint64(c)) * 0x100000001b3
	}
	h = (h ^ h>>33) * 0xff51afd7ed558ccd
	h = (h ^ h>>33) * 0xc4ceb9fe1a85ec53
	return h ^ h>>33
}
