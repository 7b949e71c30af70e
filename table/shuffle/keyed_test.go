package shuffle_test

import (
	"slices"
	"testing"

	"github.com/noren-privacy/noren"
	"github.com/noren-privacy/noren/table/shuffle"
)

// A key decides the order; every bit of it counts, and the order is one of all
// records.
func TestKeyed(t *testing.T) {
	key := [32]byte{1: 7}
	a, err := shuffle.Keyed(200, key)
	if err != nil {
		t.Fatal(err)
	}
	if b, _ := shuffle.Keyed(200, key); !slices.Equal(a, b) {
		t.Error("the same key gives another order")
	}
	for i := range 256 {
		other := key
		other[i/8] ^= 1 << (i % 8)
		if b, _ := shuffle.Keyed(200, other); slices.Equal(a, b) {
			t.Errorf("bit %d of the key does not count", i)
		}
	}
	slices.Sort(a)
	for i, v := range a {
		if int(v) != i {
			t.Fatalf("no permutation at %d", i)
		}
	}
	if _, err := shuffle.Keyed(-1, key); noren.KindOf(err) != noren.Usage {
		t.Errorf("fewer than no records: %v", err)
	}
}
