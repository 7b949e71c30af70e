package learn

import "math/rand/v2"

// stream returns the generator of one unit of work (a fold, a tree, a class):
// units have different numbers, so that it does not matter who does which.
func stream(seed, unit uint64) *rand.Rand {
	return rand.New(rand.NewPCG(mix(seed), mix(unit^0x9e3779b97f4a7c15)))
}

// mix spreads the bits of v (the finaliser of SplitMix64, Steele, Lea and Flood
// 2014): seeds 1, 2, 3 give unrelated streams.
func mix(v uint64) uint64 {
	v += 0x9e3779b97f4a7c15
	v = (v ^ v>>30) * 0xbf58476d1ce4e5b9
	v = (v ^ v>>27) * 0x94d049bb133111eb
	return v ^ v>>31
}
