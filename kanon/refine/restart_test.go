package refine

import (
	"context"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/noren-privacy/noren/internal/randtest"

	"github.com/noren-privacy/noren/kanon/space"
)

// Beginning again loses nothing, whatever the search comes to in between, and is
// the same for any number of workers.
func TestRestart(t *testing.T) {
	randtest.SkipShort(t)
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
			was := a.again
			if err := a.restart(ctx); err != nil {
				t.Fatal(err)
			}
			if got := s.SSE(a.again.best); got > least*(1+1e-12) {
				t.Errorf("turn %d: %v, where %v was found", turn, got, least)
			}
			// Only a new best is gone on at, and only a beginning can be in vain.
			better := was.best.Group != nil && s.SSE(a.again.best) < s.SSE(was.best)*(1-gainShare)
			vain := was.vain
			if was.fresh {
				vain++
			}
			if better {
				vain = 0
			}
			if a.again.fresh != !(was.fresh && better) || a.again.vain != vain {
				t.Errorf("turn %d: from %v to %v, %d in vain of %d, better %v", turn, was.fresh, a.again.fresh, a.again.vain, was.vain, better)
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

// A search that finds nothing more ends before its time, by changes alone and with
// prices.
func TestSearchEnds(t *testing.T) {
	randtest.SkipShort(t)
	testSearchEnds(t, 24, 8)
}

func TestLongSearchEnds(t *testing.T) {
	randtest.Long(t)
	testSearchEnds(t, 27, 3)
}

func testSearchEnds(t *testing.T, n, k int) {
	s := mixedTable(t, rand.New(rand.NewPCG(6, 9)), n)
	p := anyGroups(rand.New(rand.NewPCG(3, 9)), n, k).Canonical()
	a := newSearch(s, p, &Options{K: k, Seed: 7, Workers: 2, Effort: Effort{Descend: true, Duration: time.Hour}})
	if err := a.run(context.Background(), time.Now(), nil); err != nil {
		t.Fatal(err)
	}
	if a.again.vain != mostVain || (a.priced > 1) != (k == 3) {
		t.Errorf("k = %d: ended after %d vain beginnings and %d searches by prices", k, a.again.vain, a.priced)
	}
	if err := a.p.Validate(k); err != nil {
		t.Fatal(err)
	}
	if !(s.SSE(a.p) < s.SSE(p)) {
		t.Errorf("k = %d: from %v to %v", k, s.SSE(p), s.SSE(a.p))
	}
}
