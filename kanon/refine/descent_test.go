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

// mixedTable is n records of two numbers, with ties in one of them, and a category.
func mixedTable(tb testing.TB, rng *rand.Rand, n int) *space.Space {
	tb.Helper()
	numbers := [][]float64{make([]float64, n), make([]float64, n)}
	word := space.Categorical{Codes: make([]uint32, n), Cardinality: 3, Weight: 0.25}
	for i := range n {
		numbers[0][i], numbers[1][i] = rng.Float64(), float64(rng.IntN(4))/4
		word.Codes[i] = uint32(rng.IntN(3))
	}
	s, err := space.New(n, numbers, []space.Categorical{word})
	if err != nil {
		tb.Fatal(err)
	}
	return s
}

func anyGroups(rng *rand.Rand, n, k int) space.Partition {
	p := space.Partition{Group: make([]uint32, n), Groups: max(1, n/k-rng.IntN(n/k))}
	for at, i := range rng.Perm(n) {
		p.Group[i] = uint32(at % p.Groups)
	}
	return p
}

// check compares what a descent knows with what is so.
func check(t *testing.T, d *descent, k int) {
	t.Helper()
	seen := 0
	for g, members := range d.members {
		if len(members) < k {
			t.Fatalf("group %d of %d records", g, len(members))
		}
		c := d.s.NewCentroid()
		for _, i := range members {
			seen++
			if d.group[i] != int32(g) {
				t.Fatalf("record %d is in group %d and in %d", i, g, d.group[i])
			}
			c.Add(i)
		}
		for _, i := range members {
			if math.Abs(d.own[i]-c.Distance2(i)) > 1e-12 || math.Abs(d.apart(i, int32(g))-c.Distance2(i)) > 1e-12 {
				t.Fatalf("record %d is %v from its centre, %v are known", i, c.Distance2(i), d.own[i])
			}
		}
	}
	if seen != d.s.Len() {
		t.Fatalf("%d records of %d", seen, d.s.Len())
	}
}

// At every stage of a descent the groups are of k or more, what is known of them
// is so, and the sum of squared errors has not risen.
func TestStagesOfADescent(t *testing.T) {
	for seed := range uint64(60) {
		rng := rand.New(rand.NewPCG(seed, 9))
		k := 2 + rng.IntN(3)
		s := mixedTable(t, rng, 2*k+rng.IntN(80))
		p := anyGroups(rng, s.Len(), k)
		near, err := s.NearLists(context.Background(), nearRecords, space.NearOptions{Ties: space.Cyclic, Workers: 1})
		if err != nil {
			t.Fatal(err)
		}
		d := newDescent(s, p, near, k)
		check(t, d, k)
		last := s.SSE(p)
		stage := func(what string, err error) {
			t.Helper()
			if err != nil {
				t.Fatal(err)
			}
			check(t, d, k)
			now := s.SSE(d.partition())
			if now > last*(1+1e-12) {
				t.Fatalf("seed %d, %s: from %v up to %v", seed, what, last, now)
			}
			last = now
		}
		for i := range s.Len() {
			d.improve(int32(i))
			stage("improve", nil)
		}
		for g := 0; g < len(d.members); g++ {
			if len(d.members[g]) >= 2*k {
				d.split(int32(g))
				stage("split", nil)
			}
			d.dissolve(int32(g))
			stage("dissolve", nil)
		}
		stage("descent", d.run(context.Background()))
	}
}

// A neighbourhood's sums are those of its division, before and after a descent,
// and after it no move and no swap betters it.
func TestNeighbourhood(t *testing.T) {
	for seed := range uint64(150) {
		rng := rand.New(rand.NewPCG(seed, 11))
		k := 1 + rng.IntN(4)
		n := max(2, 2*k+rng.IntN(2*k))
		s := mixedTable(t, rng, n+5)
		var records []int32
		for _, i := range rng.Perm(n + 5)[:n] {
			records = append(records, int32(i))
		}
		h := newHood(s.NewRows(), records)
		h.seedEnds(k)
		sse := func(group []int) float64 {
			p := space.Partition{Group: make([]uint32, n), Groups: h.groups}
			for j, g := range group {
				p.Group[j] = uint32(g)
			}
			return s.Subset(records).SSE(p)
		}
		consistent := func(when string) {
			size := make([]int, h.groups)
			for _, g := range h.group {
				size[g]++
			}
			if !slices.Equal(size, h.size) || slices.Min(size) < k {
				t.Fatalf("seed %d %s: sizes %v, known %v, k = %d", seed, when, size, h.size, k)
			}
			if got, want := h.sse(), sse(h.group); math.Abs(got-want) > 1e-9 {
				t.Fatalf("seed %d %s: sum of squares %v, is %v", seed, when, got, want)
			}
		}
		consistent("seeded")
		began := h.sse()
		h.descend(k)
		consistent("after")
		least := h.sse()
		if least > began {
			t.Fatalf("seed %d: from %v up to %v", seed, began, least)
		}
		try := func(group []int, what string) {
			if now := sse(group); now < least-1e-8*h.whole() {
				t.Fatalf("seed %d: %s leads from %v to %v", seed, what, least, now)
			}
		}
		for i := range n {
			for j := range i {
				swapped := slices.Clone(h.group)
				swapped[i], swapped[j] = swapped[j], swapped[i]
				try(swapped, "a swap")
			}
			for g := range h.groups {
				if h.size[h.group[i]] > k {
					moved := slices.Clone(h.group)
					moved[i] = g
					try(moved, "a move")
				}
			}
		}
	}
}

// A record changes as a plain search through all moves and swaps with the groups
// beside it would change it, however many groups are skipped because they have not
// changed: the sum of squares falls by as much, and in the end by none.
func TestDescentTakesTheBestChange(t *testing.T) {
	randtest.SkipShort(t)
	for seed := range uint64(40) {
		rng := rand.New(rand.NewPCG(seed, 12))
		k := 2 + rng.IntN(3)
		s := mixedTable(t, rng, 2*k+rng.IntN(60))
		near, err := s.NearLists(context.Background(), nearRecords, space.NearOptions{Ties: space.Cyclic, Workers: 1})
		if err != nil {
			t.Fatal(err)
		}
		d := newDescent(s, anyGroups(rng, s.Len(), k), near, k)
		// plain is the least sum of squares after a change of record p.
		plain := func(p int32) float64 {
			from := d.partition()
			sse := func(change func(group []uint32)) float64 {
				q := space.Partition{Group: slices.Clone(from.Group), Groups: from.Groups}
				change(q.Group)
				return s.SSE(q)
			}
			least := s.SSE(from)
			records, _ := near.Of(p)
			for _, beside := range records {
				g, h := from.Group[p], from.Group[beside]
				if g == h {
					continue
				}
				if len(d.members[g]) > k {
					least = min(least, sse(func(group []uint32) { group[p] = h }))
				}
				for _, q := range d.members[h] {
					least = min(least, sse(func(group []uint32) { group[p], group[q] = h, g }))
				}
			}
			return least
		}
		for sweep, changed := 0, true; changed; sweep++ {
			changed = false
			for p := range int32(s.Len()) {
				want := plain(p)
				changed = d.improve(p) || changed
				if now := s.SSE(d.partition()); math.Abs(now-want) > 1e-9*(1+want) {
					t.Fatalf("seed %d, sweep %d: record %d leads to %v, the best change to %v", seed, sweep, p, now, want)
				}
			}
		}
	}
}

// Rows measure as the space does, one pair or many at a time.
func TestRows(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 13))
	for words := range 12 {
		const n = 50
		numbers := make([][]float64, words%6)
		for a := range numbers {
			numbers[a] = make([]float64, n)
			for i := range numbers[a] {
				numbers[a][i] = rng.NormFloat64()
			}
		}
		axes := make([]space.Categorical, words)
		for a := range axes {
			axes[a] = space.Categorical{
				Codes: make([]uint32, n), Cardinality: []int{2, 9, 300, 70_000}[rng.IntN(min(4, 1+words/2))],
				Weight: rng.Float64(),
			}
			for i := range axes[a].Codes {
				axes[a].Codes[i] = uint32(rng.IntN(axes[a].Cardinality)) & 3 % uint32(axes[a].Cardinality)
			}
		}
		s, err := space.New(n, numbers, axes)
		if err != nil {
			t.Fatal(err)
		}
		rows := s.NewRows()
		records, out := []int32{4, 0, 44, 17, 30}, make([]float64, 5)
		for i := range int32(n) {
			var sum float64
			for j := range int32(n) {
				if got, want := distance(rows, i, j), s.Distance2(int(i), int(j)); math.Abs(got-want) > 1e-12 {
					t.Fatalf("%d axes: %v, want %v", words, got, want)
				}
				if rows.Differ(i, j) > rows.MostDiffer() {
					t.Fatalf("%d axes: %v is more than %v", words, rows.Differ(i, j), rows.MostDiffer())
				}
			}
			for _, j := range records {
				sum += rows.Differ(i, j)
			}
			got, alone := rows.DifferAll(i, records, out), rows.DifferAll(i, records, nil)
			if math.Abs(got-sum) > 1e-12 || got != alone {
				t.Fatalf("%d axes: the sum is %v and %v, want %v", words, got, alone, sum)
			}
			for at, j := range records {
				if out[at] != rows.Differ(i, j) {
					t.Fatalf("%d axes: %v of the sum is %v", words, rows.Differ(i, j), out[at])
				}
			}
		}
	}
}
