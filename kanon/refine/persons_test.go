package refine_test

import (
	"context"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/noren-privacy/noren/internal/randtest"
	"github.com/noren-privacy/noren/kanon/partition"
	"github.com/noren-privacy/noren/kanon/persons"
	"github.com/noren-privacy/noren/kanon/refine"
	"github.com/noren-privacy/noren/kanon/space"
)

// With time, groups of k persons lose less than after the descent, and stay
// groups of k persons.
func TestRefinePersonsWithTime(t *testing.T) {
	randtest.SkipShort(t)
	const n, k = 1200, 4
	rng := rand.New(rand.NewPCG(3, 4))
	x, y, of := make([]float64, n), make([]float64, n), make([]uint32, n)
	for i := range n {
		x[i], y[i], of[i] = rng.Float64(), rng.Float64(), uint32(rng.IntN(n/3))
	}
	s, err := space.New(n, [][]float64{x, y}, nil)
	if err != nil {
		t.Fatal(err)
	}
	p, err := persons.Divide(context.Background(), s, of, partition.Options{K: k})
	if err != nil {
		t.Fatal(err)
	}
	fast, _, err := refine.Refine(context.Background(), s, p, refine.Options{K: k, Effort: refine.Fast, Persons: of})
	if err != nil {
		t.Fatal(err)
	}
	var long space.Partition
	var stats refine.Stats
	for d := 200 * time.Millisecond; d < time.Minute; d *= 2 { // a busy machine needs longer
		long, stats, err = refine.Refine(context.Background(), s, p, refine.Options{
			K: k, Effort: refine.Effort{Descend: true, Duration: d},
			Persons: of,
		})
		if err != nil {
			t.Fatal(err)
		}
		if s.SSE(long) < s.SSE(fast) {
			break
		}
	}
	if s.SSE(long) >= s.SSE(fast) || stats.After != s.SSE(long) {
		t.Fatalf("%g after the descent, %g with time, %g said", s.SSE(fast), s.SSE(long), stats.After)
	}
	for _, q := range []space.Partition{fast, long} {
		if err := refine.ValidatePersons(q, of, k); err != nil {
			t.Fatal(err)
		}
	}
}

// A partition whose groups hold too few persons is refused.
func TestRefineRefusesTooFewPersons(t *testing.T) {
	s, err := space.New(4, [][]float64{{0, 1, 2, 3}}, nil)
	if err != nil {
		t.Fatal(err)
	}
	p := space.Partition{Group: []uint32{0, 0, 1, 1}, Groups: 2}
	for _, of := range [][]uint32{{1, 1, 1, 2}, {1, 0, 1, 2}, {1, 2, 3}} {
		if _, _, err := refine.Refine(context.Background(), s, p, refine.Options{K: 2, Effort: refine.Fast, Persons: of}); err == nil {
			t.Errorf("%v passes", of)
		}
	}
	if _, _, err := refine.Refine(context.Background(), s, p,
		refine.Options{K: 2, Effort: refine.Fast, Persons: []uint32{1, 2, 1, 2}}); err != nil {
		t.Error(err)
	}
}
