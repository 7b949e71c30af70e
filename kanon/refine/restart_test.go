package refine

import (
	"context"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"noren/kanon/space"
)

// Beginning again loses nothing, whatever the search comes to in between, and is
// the same for any number of workers.
func TestRestart(t *testing.T) {
	const n, k = 200, 9
	s := mixedTable(t, rand.New(rand.NewPCG(6, 9)), n)
	p := anyGroups(rand.New(rand.NewPCG(3, 9)), n, k).Canonical()
	ctx := context.Background()
	var want space.Partition
	for _, workers := range []int{1, 3} {
		a := newSearch(s, p, &Options{K: k, Seed: 7, Workers: workers, Effort: Effort{Descend: true, Duration: time.Second}})
		least := s.SSE(p)
		for turn := range 6 {
			if err := a.round(ctx); err != nil {
				t.Fatal(err)
			}
			least = min(least, s.SSE(a.p))
			if a.halted() {
				t.Fatal("it has come to a halt after one round")
			}
			a.idle = halting * n
			if !a.halted() {
				t.Fatal("it does not come to a halt")
			}
			if err := a.restart(ctx); err != nil {
				t.Fatal(err)
			}
			if got := s.SSE(a.again.best); got > least*(1+1e-12) {
				t.Errorf("turn %d: %v, where %v was found", turn, got, least)
			}
			if fresh := turn%2 == 0; a.again.fresh != fresh {
				t.Errorf("turn %d: fresh is %v", turn, a.again.fresh)
			}
			if err := a.p.Validate(k); err != nil {
				t.Fatal(err)
			}
		}
		a.keep()
		if want.Group == nil {
			want = a.again.best
		}
		if !slices.Equal(a.again.best.Group, want.Group) {
			t.Error("another partition with three workers than with one")
		}
	}
}

// A search that finds nothing more ends before its time.
func TestSearchEnds(t *testing.T) {
	const n, k = 12, 8
	s := mixedTable(t, rand.New(rand.NewPCG(6, 9)), n)
	a := newSearch(s, anyGroups(rand.New(rand.NewPCG(3, 9)), n, k).Canonical(), &Options{K: k, Seed: 7, Workers: 1, Effort: Effort{Descend: true, Duration: time.Hour}})
	began := time.Now()
	if err := a.run(context.Background(), began, nil); err != nil {
		t.Fatal(err)
	}
	if took := time.Since(began); took > 5*time.Minute {
		t.Errorf("took %v", took)
	}
}
