package shuffle

import (
	crand "crypto/rand"
	"math"
	"math/rand/v2"

	"github.com/noren-privacy/noren"
)

// Permutation draws one of the n! orders of n records, each with the same
// probability (Fisher and Yates; Knuth, The Art of Computer Programming 2,
// 3.4.2, algorithm P), by ChaCha8 keyed from the system's secure source.
// Record i goes to place Permutation[i].
//
// More records than 2^32-1, or fewer than none, are an error of kind Usage.
func Permutation(n int) ([]uint32, error) {
	var key [32]byte
	crand.Read(key[:]) // never fails
	return Keyed(n, key)
}

// Keyed is [Permutation] with the key of ChaCha8: the order is the same for the
// same n and key. The order is secret as long as the key is.
//
// A key must be used for one set of records alone: two tables of n records in the order of
// one key can be joined line by line. kanon.Options.OrderKey makes the key of a release.
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
	return &noren.Error{
		Kind: noren.Usage, What: "%d {record|records} cannot be shuffled, at most %d can",
		Args: []any{n, uint32(math.MaxUint32)}, Hint: "keep the order, or write the table in parts",
	}
}
