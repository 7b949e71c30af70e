package refine

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/noren-privacy/noren/internal/randtest"
	"github.com/noren-privacy/noren/kanon/space"
)

// What an annealer knows of its groups is so after any number of changes, at
// any heat, and no group is ever too small.
func TestAnnealerKnowsItsGroups(t *testing.T) {
	for seed := range uint64(40) {
		rng := rand.New(rand.NewPCG(seed, 21))
		k := 2 + rng.IntN(3)
		n := 6*k + rng.IntN(40)
		s := mixedTable(t, rng, n)
		p := anyGroups(rng, n, k).Canonical()
		near, err := newNeighbours(context.Background(), s, 2*k+2)
		if err != nil {
			t.Fatal(err)
		}
		a := newAnnealer(s, p, near, k, seed)
		for n, heat := range []float64{0.001, 0.3, 5} {
			a.heat, a.scale = heat, scale(n)
			if err := a.run(context.Background(), 4000); err != nil {
				t.Fatal(err)
			}
			q := a.partition()
			if err := q.Validate(k); err != nil {
				t.Fatalf("seed %d, heat %g: %v", seed, heat, err)
			}
			var known float64
			for g := range a.groups {
				known += a.groups[g].cost()
				for _, i := range a.groups[g].members {
					if a.group[i] != int32(g) {
						t.Fatalf("seed %d: record %d is in group %d and not in %d", seed, i, g, a.group[i])
					}
				}
			}
			if sse := s.SSE(q); math.Abs(known-sse) > 1e-9*(1+sse) {
				t.Fatalf("seed %d, heat %g: the groups cost %v, known are %v", seed, heat, sse, known)
			}
		}
	}
}

// Every change is judged by what it does: with no heat at all, the sum of
// squares never rises.
func TestColdAnnealingOnlyFalls(t *testing.T) {
	for seed := range uint64(20) {
		rng := rand.New(rand.NewPCG(seed, 22))
		s := mixedTable(t, rng, 60)
		p := anyGroups(rng, 60, 3).Canonical()
		near, err := newNeighbours(context.Background(), s, 8)
		if err != nil {
			t.Fatal(err)
		}
		a := newAnnealer(s, p, near, 3, seed)
		a.heat = 1e-300
		last := s.SSE(p)
		for range 300 {
			if err := a.run(context.Background(), 5); err != nil {
				t.Fatal(err)
			}
			sse := s.SSE(a.partition())
			if sse > last+1e-9 {
				t.Fatalf("seed %d: from %v up to %v", seed, last, sse)
			}
			last = sse
		}
	}
}

// A combination is a k-partition that costs no more than either, and where both
// fall into places that do not touch, the better of each place.
func TestCombine(t *testing.T) {
	for seed := range uint64(200) {
		rng := rand.New(rand.NewPCG(seed, 23))
		n, k := 30+rng.IntN(30), 1+rng.IntN(4)
		s := mixedTable(t, rng, n)
		p, q := anyGroups(rng, n, k).Canonical(), anyGroups(rng, n, k).Canonical()
		// Half of the records are grouped alike in both, so that something can
		// be taken from each.
		half := anyGroups(rng, n, k)
		for i := range n / 2 {
			p.Group[i], q.Group[i] = uint32(p.Groups)+half.Group[i], uint32(q.Groups)+half.Group[i]
		}
		p.Groups, q.Groups = p.Groups+half.Groups, q.Groups+half.Groups
		p, q = p.Canonical(), q.Canonical()
		c := combine(s, p, q)
		least := 0
		for _, of := range []space.Partition{p, q} {
			least = max(least, slices.Min(of.Sizes()))
		}
		if got := slices.Min(c.Sizes()); got < min(slices.Min(p.Sizes()), slices.Min(q.Sizes())) {
			t.Fatalf("seed %d: a group of %d, none of theirs is below %d", seed, got, least)
		}
		if got, limit := s.SSE(c), min(s.SSE(p), s.SSE(q)); got > limit+1e-9 {
			t.Fatalf("seed %d: %v, above %v", seed, got, limit)
		}
	}
	// Two places: each partition is the better one in one of them.
	s, err := space.New(8, [][]float64{{0, 0, 1, 1, 10, 10, 11, 11}}, nil)
	if err != nil {
		t.Fatal(err)
	}
	good, bad := []uint32{0, 0, 1, 1}, []uint32{0, 1, 0, 1}
	p := space.Partition{Group: slices.Concat(good, []uint32{2, 3, 2, 3}), Groups: 4}
	q := space.Partition{Group: slices.Concat(bad, []uint32{2, 2, 3, 3}), Groups: 4}
	if sse := s.SSE(combine(s, p, q)); sse != 0 {
		t.Errorf("the better halves cost %v", sse)
	}
}

// A round of annealing is the same for any number of workers.
func TestRoundsOfAnnealing(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 24))
	s := mixedTable(t, rng, 300)
	p := anyGroups(rng, 300, 4).Canonical()
	var first space.Partition
	for _, workers := range []int{1, 2, 5} {
		a := newSearch(s, p, &Options{K: 4, Seed: 3, Workers: workers})
		for range 4 {
			if err := a.round(context.Background()); err != nil {
				t.Fatal(err)
			}
		}
		if err := a.p.Validate(4); err != nil {
			t.Fatal(err)
		}
		if s.SSE(a.p) >= s.SSE(p) {
			t.Errorf("from %v to %v", s.SSE(p), s.SSE(a.p))
		}
		if first.Group == nil {
			first = a.p
		} else if !slices.Equal(first.Group, a.p.Group) {
			t.Errorf("%d workers find another partition", workers)
		}
	}
}

// When the time is over on the way, what is there is a k-partition that lost
// nothing, and the same as far as the search got: attempts count in their order.
func TestLateAttempts(t *testing.T) {
	rng := rand.New(rand.NewPCG(8, 25))
	s := mixedTable(t, rng, 400)
	p := anyGroups(rng, 400, 3).Canonical()
	for n, round := range []func(*search, context.Context) error{
		(*search).round, (*search).shake, (*search).exchange,
		func(a *search, ctx context.Context) error { return a.whole(ctx, 300) },
	} {
		a := newSearch(s, p, &Options{K: 3, Seed: 5, Workers: 2})
		late, cancel := context.WithDeadlineCause(context.Background(), time.Now().Add(5*time.Millisecond), errLate)
		var err error
		for err == nil {
			err = round(a, late)
		}
		cancel()
		if !errors.Is(context.Cause(late), errLate) {
			t.Fatal(err)
		}
		if err := a.p.Validate(3); err != nil {
			t.Fatal(err)
		}
		if s.SSE(a.p) > s.SSE(p)+1e-9 {
			t.Errorf("round %d: from %v up to %v", n, s.SSE(p), s.SSE(a.p))
		}
	}
}

// What was done to a cell by the time that it is over is not lost.
func TestLateCells(t *testing.T) {
	randtest.SkipShort(t)
	rng := rand.New(rand.NewPCG(8, 26))
	s := mixedTable(t, rng, 600)
	p := anyGroups(rng, 600, 3).Canonical()
	for _, by := range []means{byShaking, byCell} {
		var a *search
		// A busy machine may leave no time of a short while: then a longer one.
		for d := 150 * time.Millisecond; d < 30*time.Second; d *= 4 {
			a = newSearch(s, p, &Options{K: 3, Seed: 5, Workers: 1})
			late, cancel := context.WithDeadlineCause(context.Background(), time.Now().Add(d), errLate)
			err := a.take(late, []attempt{{by: by, records: cutCells(s, p, 1000, 0)[0], near: chainNear, heat: 0.3, proposals: 1 << 40, seed: 1}})
			cancel()
			if err == nil || !errors.Is(context.Cause(late), errLate) {
				t.Fatalf("not late: %v", err)
			}
			if err := a.p.Validate(3); err != nil {
				t.Fatal(err)
			}
			if s.SSE(a.p) < s.SSE(p) {
				break
			}
		}
		if !(s.SSE(a.p) < s.SSE(p)) {
			t.Errorf("means %d: %v, as at the start", by, s.SSE(a.p))
		}
	}
}

// Records that are equal are one point, and near points are others.
func TestNeighboursOfDuplicates(t *testing.T) {
	s, err := space.New(7, [][]float64{{0, 0, 0, 1, 3, 3, 7}}, nil)
	if err != nil {
		t.Fatal(err)
	}
	b, err := newNeighbours(context.Background(), s, 2)
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range [][]int32{0: {3, 4, 0}, 3: {0, 4}, 5: {3, 0, 4}, 6: {4, 3}} {
		if want != nil && !slices.Equal(b.of(int32(i)), want) {
			t.Errorf("near to %d: %v, want %v", i, b.of(int32(i)), want)
		}
	}
	rng, seen := draws(1), map[int32]bool{}
	for range 200 {
		seen[b.pick(3, uint32(rng.next()>>48), &rng)] = true
	}
	for _, i := range []int32{0, 1, 2, 4, 5} {
		if !seen[i] {
			t.Errorf("record %d is never picked", i)
		}
	}
}

// The table draws as its weights say.
func TestAliases(t *testing.T) {
	weights := []float64{1, 2, 0.5, 4, 2.5}
	table := aliases(weights)
	got := make([]float64, len(weights))
	for i, e := range table {
		got[i] += float64(e.keep) / (1 << 32)
		got[e.other] += 1 - float64(e.keep)/(1<<32)
	}
	for i, w := range weights {
		if math.Abs(got[i]*10/5-w) > 1e-6 {
			t.Errorf("weight %d: %v, want %v", i, got[i]*10/5, w)
		}
	}
}

// A proposal of annealing on regions of 100 records, of numbers and of numbers
// with words.
func BenchmarkProposals(b *testing.B) {
	rng := rand.New(rand.NewPCG(9, 26))
	const n, k = 100, 5
	numbers := make([][]float64, 12)
	for a := range numbers {
		numbers[a] = make([]float64, n)
		for i := range numbers[a] {
			numbers[a][i] = rng.NormFloat64()
		}
	}
	words := make([]space.Categorical, 3)
	for a := range words {
		words[a] = space.Categorical{Codes: make([]uint32, n), Cardinality: 8, Weight: 1}
		for i := range words[a].Codes {
			words[a].Codes[i] = uint32(rng.IntN(8))
		}
	}
	for _, c := range []struct {
		name    string
		numbers [][]float64
		words   []space.Categorical
	}{{"4 numbers", numbers[:4], nil}, {"12 numbers", numbers, nil}, {"5 numbers, 3 words", numbers[:5], words}} {
		b.Run(c.name, func(b *testing.B) {
			s, err := space.New(n, c.numbers, c.words)
			if err != nil {
				b.Fatal(err)
			}
			near, err := newNeighbours(context.Background(), s, 2*k)
			if err != nil {
				b.Fatal(err)
			}
			a := newAnnealer(s, anyGroups(rng, n, k).Canonical(), near, k, 1)
			a.heat = 0.3
			b.ResetTimer()
			if err := a.run(context.Background(), b.N); err != nil {
				b.Fatal(err)
			}
		})
	}
}
