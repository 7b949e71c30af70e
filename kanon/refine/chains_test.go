package refine

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/noren-privacy/noren/internal/randtest"
	"github.com/noren-privacy/noren/kanon/space"
)

func annealerOf(t testing.TB, s *space.Space, p space.Partition, k, near int) *annealer {
	t.Helper()
	b, err := newNeighbours(context.Background(), s, near)
	if err != nil {
		t.Fatal(err)
	}
	return newAnnealer(s, p, b, k, 1)
}

// Exchanges find the way through groups of k that single changes do not.
func TestExchangesGoFar(t *testing.T) {
	x := []float64{0, 0.01, 0.3, 1, 2, 3, 4, 5, 6, 6.1, 6.12}
	s, err := space.New(len(x), [][]float64{x}, nil)
	if err != nil {
		t.Fatal(err)
	}
	p := space.Partition{Group: []uint32{0, 0, 0, 1, 1, 2, 2, 3, 3, 4, 4}, Groups: 5}
	want := space.Partition{Group: []uint32{0, 0, 1, 1, 2, 2, 3, 3, 4, 4, 4}, Groups: 5}
	cold := annealerOf(t, s, p, 2, len(x))
	if err := cold.run(context.Background(), 100_000); err != nil {
		t.Fatal(err)
	}
	if got := cold.partition(); !slices.Equal(got.Group, p.Group) {
		t.Fatalf("single changes come to %v: this is no test", got.Group)
	}
	a := annealerOf(t, s, p, 2, len(x))
	if _, err := a.exchangeAll(context.Background()); err != nil {
		t.Fatal(err)
	}
	if got := a.partition(); !slices.Equal(got.Group, want.Group) {
		t.Errorf("%v, want %v", got.Group, want.Group)
	}
}

// An exchange does what it was thought to do, a path as well as a cycle, on
// numbers and on words, and leaves no group too small or too large.
func TestExchangesDoWhatTheySay(t *testing.T) {
	randtest.SkipShort(t)
	paths, cycles, steps := 0, 0, 0
	for seed := range uint64(60) {
		rng := rand.New(rand.NewPCG(seed, 31))
		k, n := 2+rng.IntN(4), 60+rng.IntN(60)
		s := mixedTable(t, rng, n)
		a := annealerOf(t, s, anyGroups(rng, n, k).Canonical(), k, 10)
		c := newChains(a, longSteps)
		for range 30 {
			if err := c.search(context.Background()); err != nil {
				t.Fatal(err)
			}
			if len(c.found) == 0 {
				break
			}
			one := c.found[rng.IntN(len(c.found))]
			steps = max(steps, int(one.layer)+1)
			if one.join < 0 {
				cycles++
			} else {
				paths++
			}
			before := s.SSE(a.partition())
			c.found = append(c.found[:0], one)
			c.exchange()
			p := a.partition()
			if got := s.SSE(p) - before; math.Abs(got-one.cost) > 1e-9*before {
				t.Fatalf("seed %d: an exchange of %d records changed the cost by %v, not by %v", seed, one.layer+1, got, one.cost)
			}
			for _, size := range p.Sizes() {
				if size < k || size > 2*k-1 {
					t.Fatalf("seed %d: a group of %d with k = %d", seed, size, k)
				}
			}
		}
	}
	t.Logf("%d paths, %d cycles, of up to %d records", paths, cycles, steps)
	if paths < 100 || cycles < 100 || steps < 5 {
		t.Errorf("only %d paths, %d cycles, of up to %d records", paths, cycles, steps)
	}
}

// Passes of exchanges lower the cost until one finds none; then no record can go to
// another group at a gain.
func TestExchangesEnd(t *testing.T) {
	for seed := range uint64(30) {
		rng := rand.New(rand.NewPCG(seed, 32))
		k, n := 2+rng.IntN(3), 40+rng.IntN(60)
		s := mixedTable(t, rng, n)
		a := annealerOf(t, s, anyGroups(rng, n, k).Canonical(), k, n)
		last := s.SSE(a.partition())
		for {
			c := newChains(a, longSteps)
			if err := c.search(context.Background()); err != nil {
				t.Fatal(err)
			}
			more := c.exchange()
			now := s.SSE(a.partition())
			if more != (now < last) {
				t.Fatalf("seed %d: from %v to %v, and more is %v", seed, last, now, more)
			}
			if !more {
				break
			}
			last = now
		}
		for p := range int32(n) {
			from := a.group[p]
			if len(a.groups[from].members) == k {
				continue
			}
			for h := range a.groups {
				if size := len(a.groups[h].members); size == 0 || size >= a.limit || int32(h) == from {
					continue
				}
				if d := a.leaving(p, from) + a.joining(p, int32(h)); d < -1e-6*last {
					t.Fatalf("seed %d: record %d could go to group %d at a gain of %v", seed, p, h, -d)
				}
			}
		}
	}
}

// A round that shakes loses nothing and is the same for any number of workers.
func TestRoundsOfShaking(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 33))
	s := mixedTable(t, rng, 300)
	p := anyGroups(rng, 300, 4).Canonical()
	var first space.Partition
	for _, workers := range []int{1, 2, 5} {
		a := newSearch(s, p, &Options{K: 4, Seed: 3, Workers: workers})
		last := s.SSE(a.p)
		for range 6 {
			if err := a.shake(context.Background()); err != nil {
				t.Fatal(err)
			}
			now := s.SSE(a.p)
			if now > last*(1+1e-12) {
				t.Errorf("from %v up to %v", last, now)
			}
			last = now
		}
		if err := a.p.Validate(4); err != nil {
			t.Fatal(err)
		}
		if first.Group == nil {
			first = a.p
		} else if !slices.Equal(first.Group, a.p.Group) {
			t.Errorf("%d workers find another partition", workers)
		}
	}
}

// A table of several cells is exchanged in each of them, alike for any number of
// workers.
func TestExchangesInCells(t *testing.T) {
	randtest.SkipShort(t)
	const n, k = 2*shakenRecords + 200, 3
	rng := rand.New(rand.NewPCG(7, 34))
	x := make([]float64, n)
	for i := range x {
		x[i] = rng.Float64()
	}
	slices.Sort(x)
	s, err := space.New(n, [][]float64{x}, nil)
	if err != nil {
		t.Fatal(err)
	}
	p := space.Partition{Group: make([]uint32, n), Groups: n / k}
	for i := range p.Group {
		p.Group[i] = uint32(min(i/(2*k)*2+i%2, p.Groups-1)) // two groups intertwined
	}
	p = p.Canonical()
	if err := p.Validate(k); err != nil {
		t.Fatal(err)
	}
	if cells := cutCells(s, p, shakenRecords, 0); len(cells) < 2 {
		t.Fatalf("%d cells: this is no test", len(cells))
	}
	var first space.Partition
	for _, workers := range []int{1, 3} {
		a := newSearch(s, p, &Options{K: k, Seed: 3, Workers: workers})
		if err := a.exchange(context.Background()); err != nil {
			t.Fatal(err)
		}
		if err := a.p.Validate(k); err != nil {
			t.Fatal(err)
		}
		changed := [2]bool{}
		for i, g := range a.p.Group {
			changed[2*i/n] = changed[2*i/n] || g != p.Group[i]
		}
		if s.SSE(a.p) >= s.SSE(p) || changed != [2]bool{true, true} {
			t.Errorf("from %v to %v, changed in each half: %v", s.SSE(p), s.SSE(a.p), changed)
		}
		if first.Group == nil {
			first = a.p
		} else if !slices.Equal(first.Group, a.p.Group) {
			t.Errorf("%d workers find another partition", workers)
		}
	}
}

// What gains more is chosen more often, and nothing is given up.
func TestYields(t *testing.T) {
	y := newYields(4, 0.9, 0.2, 0)
	for c := range 4 {
		if got := y.share(c); got != 0.25 {
			t.Errorf("nothing known: %v", got)
		}
	}
	for range 100 {
		y.learn(1, 3, 10)
		y.learn(2, 1, 10)
	}
	want := []float64{0.05, 0.05 + 0.8*0.75, 0.05 + 0.8*0.25, 0.05}
	for c, w := range want {
		if got := y.share(c); math.Abs(got-w) > 1e-12 {
			t.Errorf("share of %d: %v, want %v", c, got, w)
		}
	}
	rng, times := draws(5), make([]int, 4)
	const n = 100_000
	for range n {
		times[y.choose(rng.float())]++
	}
	for c, w := range want {
		if sd := math.Sqrt(w * (1 - w) / n); math.Abs(float64(times[c])/n-w) > 5*sd {
			t.Errorf("%d was chosen %d times of %d, want %v of them", c, times[c], n, w)
		}
	}
}

// All exchanges of 2,000 records from groups that a descent left, with what must be
// known for them.
func BenchmarkExchanges(b *testing.B) {
	const n, k = 2000, 5
	for _, words := range []int{0, 3} {
		name := "8 numbers"
		if words > 0 {
			name = "5 numbers, 3 words"
		}
		b.Run(name, func(b *testing.B) {
			rng := rand.New(rand.NewPCG(9, 34))
			numbers := make([][]float64, 8-words)
			for a := range numbers {
				numbers[a] = make([]float64, n)
				for i := range numbers[a] {
					numbers[a][i] = rng.NormFloat64()
				}
			}
			var text []space.Categorical
			for range words {
				w := space.Categorical{Codes: make([]uint32, n), Cardinality: 8, Weight: 1}
				for i := range w.Codes {
					w.Codes[i] = uint32(rng.IntN(8))
				}
				text = append(text, w)
			}
			s, err := space.New(n, numbers, text)
			if err != nil {
				b.Fatal(err)
			}
			p, err := descended(context.Background(), s, anyGroups(rng, n, k).Canonical(), k)
			if err != nil {
				b.Fatal(err)
			}
			var after float64
			for b.Loop() {
				a := annealerOf(b, s, p, k, chainNear)
				if _, err := a.exchangeAll(context.Background()); err != nil {
					b.Fatal(err)
				}
				after = s.SSE(a.partition())
			}
			b.ReportMetric(after/s.SSE(p), "of-descent")
		})
	}
}
