package shuffle

import (
	crand "crypto/rand"
	"encoding/binary"
	"fmt"
	"math"
	"math/rand/v2"

	"github.com/noren-privacy/noren"
)

// Permutation draws one of the n! orders of n records, each with the same
// probability (Fisher and Yates; Knuth, The Art of Computer Programming 2,
// 3.4.2, algorithm P), by ChaCha8 keyed from the system's secure source.
// Record i goes to place Permutation[i].
//
// With a seed the order is the same for the same n and seed, and the seed is a
// secret as much as the order is: with it the order can be undone. More
// records than 2^32-1, or fewer than none, are an error of kind Usage.
func Permutation(n int, seed *uint64) ([]uint32, error) {
	if n < 0 || uint64(n) > math.MaxUint32 {
		return nil, tooMany(n)
	}
	var key [32]byte
	if seed == nil {
		crand.Read(key[:]) // never fails
	} else {
		// The rest of the key sets this use of a seed apart from others.
		binary.LittleEndian.PutUint64(key[:], *seed)
		copy(key[8:], "noren/table/shuffle")
	}
	return Keyed(n, key)
}

// Keyed is [Permutation] with the key of ChaCha8: the order is the same for the
// same n and key. The order is secret as long as the key is, and the key is drawn
// from 2^256, too many to find it by trying.
func Keyed(n int, key [32]byte) ([]uint32, error) {
	if n < 0 || uint64(n) > math.MaxUint32 {
		return nil, tooMany(n)
	}
	rng := rand.New(rand.NewChaCha8(key))
	order := make([]uint32, n)
	for i := range order {
		j := int(rng.Uint64N(uint64(i) + 1))
		order[i] = order[j]
		order[j] = uint32(i)
	}
	return order, nil
}

func tooMany(n int) error {
	return &noren.Error{Kind: noren.Usage, What: fmt.Sprintf("%d records cannot be shuffled, at most %d can", n, uint32(math.MaxUint32)), Hint: "keep the order, or write the table in parts"}
}
