package refine

import (
	"context"
	"errors"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/noren-privacy/noren/internal/randtest"
	"github.com/noren-privacy/noren/kanon/space"
)

// A search by prices betters what annealing leaves, the same for any number of
// workers; cut short it leaves what it has.
func TestRedivide(t *testing.T) {
	const n, k = 240, 3
	ctx := context.Background()
	s := mixedTable(t, rand.New(rand.NewPCG(8, 9)), n)
	p, err := descended(ctx, s, anyGroups(rand.New(rand.NewPCG(1, 9)), n, k).Canonical(), k)
	if err != nil {
		t.Fatal(err)
	}
	before := s.SSE(p)
	calls := 0
	want, err := redivide(ctx, s, p, k, 3, false, 20, 1, func() { calls++ })
	if err != nil {
		t.Fatal(err)
	}
	if err := want.Validate(k); err != nil {
		t.Fatal(err)
	}
	after := s.SSE(want)
	if !(after < 0.99*before) {
		t.Errorf("from %v to %v", before, after)
	}
	got, err := redivide(ctx, s, p, k, 3, false, 20, 4, func() {})
	if err != nil || !slices.Equal(got.Group, want.Group) {
		t.Errorf("four workers: %v, or another partition than one", err)
	}
	for _, after := range []int{1, calls / 2} {
		late, cancel := context.WithCancel(ctx)
		calls := 0
		got, err := redivide(late, s, p, k, 3, false, 20, 2, func() {
			if calls++; calls == after {
				cancel()
			}
		})
		if !errors.Is(err, context.Canceled) {
			t.Errorf("cut short: %v", err)
		}
		if err := got.Validate(k); err != nil {
			t.Errorf("cut short: %v", err)
		}
		if sse := s.SSE(got); !(sse <= before) {
			t.Errorf("cut short: from %v to %v", before, sse)
		}
	}
}

// A round by prices is taken over as those of annealing are.
func TestPricedRound(t *testing.T) {
	randtest.SkipShort(t)
	const n, k = 200, 4
	s := mixedTable(t, rand.New(rand.NewPCG(5, 9)), n)
	var want space.Partition
	for _, workers := range []int{1, 3} {
		a := newSearch(s, anyGroups(rand.New(rand.NewPCG(2, 9)), n, k).Canonical(), &Options{K: k, Seed: 7, Workers: workers})
		a.tell = func() {}
		before := s.SSE(a.p)
		if err := a.price(context.Background()); err != nil {
			t.Fatal(err)
		}
		if err := a.p.Validate(k); err != nil {
			t.Fatal(err)
		}
		if after := s.SSE(a.p); !(after < 0.9*before) || a.rounds != 1 || a.priced != 1 {
			t.Errorf("from %v to %v in %d rounds", before, after, a.rounds)
		}
		if want.Group == nil {
			want = a.p
		}
		if !slices.Equal(a.p.Group, want.Group) {
			t.Error("another partition with three workers than with one")
		}
	}
}
