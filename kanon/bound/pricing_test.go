package bound

import (
	"context"
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/noren-privacy/noren/kanon/space"
)

// drawSpace draws a small mixed space with ties, copies and a far record.
func drawSpace(t *rapid.T, n int) *space.Space {
	number := rapid.Map(rapid.IntRange(0, 12), func(v int) float64 {
		if v == 12 {
			return 9
		}
		return float64(v) / 7
	})
	numbers := make([][]float64, rapid.IntRange(1, 3).Draw(t, "numeric axes"))
	for a := range numbers {
		numbers[a] = rapid.SliceOfN(number, n, n).Draw(t, "numbers")
	}
	words := make([]space.Categorical, rapid.IntRange(0, 2).Draw(t, "categorical axes"))
	for a := range words {
		words[a] = space.Categorical{
			Codes:       rapid.SliceOfN(rapid.Uint32Range(0, 2), n, n).Draw(t, "codes"),
			Cardinality: 3,
			Weight:      rapid.SampledFrom([]float64{1, 0.3}).Draw(t, "weight"),
		}
	}
	s, err := space.New(n, numbers, words)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func frameOf(tb interface{ Fatal(...any) }, s *space.Space, k int) *frame {
	f, err := layOut(context.Background(), s, k, 1)
	if err != nil {
		tb.Fatal(err)
	}
	return f
}

// eachGroup calls do with every group of k..2k-1 of n records.
func eachGroup(n, k int, do func([]int32)) {
	for set := range 1 << n {
		var members []int32
		for i := range n {
			if set>>i&1 == 1 {
				members = append(members, int32(i))
			}
		}
		if len(members) >= k && len(members) < 2*k {
			do(members)
		}
	}
}

// sumOfSquares is the sum of squared errors of a group, by its centre.
func sumOfSquares(s *space.Space, members []int32) float64 {
	c := s.NewCentroid()
	for _, i := range members {
		c.Add(i)
	}
	var sum float64
	for _, i := range members {
		sum += c.Distance2(i)
	}
	return sum
}

// reducedCost is that of a group by its definition.
func reducedCost(p *pricing, members []int32) float64 {
	r := sumOfSquares(p.f.s, members)
	for _, i := range members {
		r -= p.u[i]
	}
	for t, set := range p.cuts.set {
		held := 0
		for _, i := range set {
			if slices.Contains(members, i) {
				held++
			}
		}
		r += p.cuts.price[t] * float64(held/2)
	}
	return r
}

// drawPricing draws prices around those of a bound, and cuts.
func drawPricing(t *rapid.T) *pricing {
	n := rapid.IntRange(4, 9).Draw(t, "n")
	k := rapid.IntRange(2, min(4, n)).Draw(t, "k")
	s := drawSpace(t, n)
	p := &pricing{f: frameOf(t, s, k), cuts: newCuts(n), u: make([]float64, n)}
	scale := s.SST() / float64(n)
	for i := range p.u {
		p.u[i] = scale * rapid.Float64Range(-0.2, 1).Draw(t, "price")
	}
	for range rapid.IntRange(0, 4).Draw(t, "cuts") {
		all := make([]int32, n)
		for i := range all {
			all[i] = int32(i)
		}
		size := 3
		if n >= 5 && rapid.Bool().Draw(t, "five") {
			size = 5
		}
		set := rapid.Permutation(all).Draw(t, "set")[:size]
		slices.Sort(set)
		p.cuts.add(set)
	}
	for at := range p.cuts.price {
		p.cuts.price[at] = scale * rapid.Float64Range(0, 0.5).Draw(t, "cut's price")
	}
	for i := range int32(n) {
		if i == 0 || rapid.IntRange(0, 4).Draw(t, "fixed") > 0 {
			p.active = append(p.active, i)
		}
	}
	p.below = scale * rapid.Float64Range(-0.3, 0.5).Draw(t, "below")
	p.keep, p.budget, p.breadth = 1<<20, 1<<30, 1<<20
	return p
}

// Every group of a reduced cost below the limit that holds a record with a price
// of its own is found once, under the member that comes first, at its reduced
// cost; no other is.
func TestSearchFindsEveryGroup(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := drawPricing(t)
		out, err := p.run(context.Background(), rapid.IntRange(1, 3).Draw(t, "workers"))
		if err != nil {
			t.Fatal(err)
		}
		const tolerance = 1e-9
		got := map[int]float64{}
		key := func(members []int32) (set int) {
			for _, i := range members {
				set |= 1 << i
			}
			return set
		}
		for at, o := range out {
			if o.others < p.below {
				t.Fatalf("root %d: the search was broken off", at)
			}
			for j, g := range o.groups {
				if g.members[0] != p.order[at] {
					t.Fatalf("group %v was found from record %d", g.members, p.order[at])
				}
				if _, ok := got[key(g.members)]; ok {
					t.Fatalf("group %v was found twice", g.members)
				}
				if j > 0 && o.groups[j-1].cost > g.cost {
					t.Fatal("groups are not sorted")
				}
				got[key(g.members)] = g.cost
			}
		}
		eachGroup(p.f.n, p.f.k, func(members []int32) {
			r := reducedCost(p, members)
			cost, found := got[key(members)]
			free := slices.ContainsFunc(members, func(i int32) bool { return slices.Contains(p.active, i) })
			switch {
			case found && math.Abs(cost-r) > tolerance:
				t.Fatalf("group %v: reduced cost %v, want %v", members, cost, r)
			case found && (!free || r > p.below+tolerance):
				t.Fatalf("group %v of reduced cost %v was found below %v", members, r, p.below)
			case !found && free && r < p.below-tolerance:
				t.Fatalf("group %v of reduced cost %v was not found below %v", members, r, p.below)
			}
		})
	})
}

// Where the search is cut short, in whatever way, it says how low the reduced
// costs of the groups can be that it did not return.
func TestSearchCutShort(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := drawPricing(t)
		p.keep = rapid.IntRange(1, 5).Draw(t, "keep")
		p.budget = rapid.IntRange(0, 20).Draw(t, "budget")
		p.breadth = rapid.IntRange(1, 8).Draw(t, "breadth")
		if rapid.Bool().Draw(t, "no limit") {
			p.below = inf
		}
		out, err := p.run(context.Background(), 1)
		if err != nil {
			t.Fatal(err)
		}
		place := make([]int, p.f.n)
		for at, i := range p.order {
			place[i] = at
		}
		eachGroup(p.f.n, p.f.k, func(members []int32) {
			root := len(p.order)
			for _, i := range members {
				root = min(root, place[i])
			}
			if root >= len(p.active) {
				return
			}
			for _, g := range out[root].groups {
				sorted := slices.Sorted(slices.Values(g.members))
				if slices.Equal(sorted, members) {
					return
				}
			}
			if r := reducedCost(p, members); r < out[root].others-1e-9 {
				t.Fatalf("group %v of reduced cost %v is not among those returned, and the others are said to be at %v or more", members, r,
					out[root].others)
			}
		})
	})
}

// Whatever the prices and however short the search: what is certified is no
// more than any partition costs, and no group costs less than lowered prices.
func TestCertifiedIsNoMoreThanTheOptimum(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := drawPricing(t)
		// Fixed prices are always those of the simple bound.
		for i := range int32(p.f.n) {
			if !slices.Contains(p.active, i) {
				p.u[i] = p.f.near.price(p.f.k, p.f.places.of[i])
			}
		}
		p.below = max(p.below, 0)
		if rapid.Bool().Draw(t, "short") {
			p.keep = rapid.IntRange(1, 5).Draw(t, "keep")
			p.budget = rapid.IntRange(0, 20).Draw(t, "budget")
			p.breadth = rapid.IntRange(1, 8).Draw(t, "breadth")
		}
		out, err := p.run(context.Background(), 1)
		if err != nil {
			t.Fatal(err)
		}
		got := certify(p, out)
		if best := leastSSE(p.f.s, p.f.k); got > best+1e-12 {
			t.Fatalf("certified %v, the optimum is %v", got, best)
		}
		// Prices that no group undercuts are worth their sum.
		feasible := true
		eachGroup(p.f.n, p.f.k, func(members []int32) {
			feasible = feasible && reducedCost(p, members) > 1e-9
		})
		if sum := worth(p); feasible && p.budget > 1000 && got < sum-1e-9*(1+math.Abs(sum)) {
			t.Fatalf("certified %v of prices worth %v", got, sum)
		}
	})
}

// Prices that are far too high are lowered for groups that the search did not
// look at, too.
func TestCertifyLowersForWhatWasNotSearched(t *testing.T) {
	x := []float64{0, 1, 5, 7, 12, 13, 20, 26}
	s, err := space.New(len(x), [][]float64{x}, nil)
	if err != nil {
		t.Fatal(err)
	}
	best := leastSSE(s, 3)
	for _, cut := range []pricing{
		{keep: 1, budget: 1 << 30, breadth: 1 << 20},
		{keep: 1 << 20, budget: 0, breadth: 1 << 20},
		{keep: 1 << 20, budget: 1 << 30, breadth: 1},
	} {
		p := cut
		p.f, p.cuts = frameOf(t, s, 3), newCuts(len(x))
		for i := range x {
			p.u, p.active = append(p.u, 50), append(p.active, int32(i))
		}
		out, err := p.run(context.Background(), 1)
		if err != nil {
			t.Fatal(err)
		}
		if got := certify(&p, out); got > best {
			t.Errorf("keep %d, budget %d, breadth %d: certified %v, the optimum is %v", p.keep, p.budget, p.breadth, got, best)
		}
	}
}

func worth(p *pricing) float64 {
	var sum float64
	for _, u := range p.u {
		sum += u
	}
	return sum - p.cuts.paid()
}

// leastSSE is the least sum of squared errors of all k-partitions, by dynamic
// programming over sets of records.
func leastSSE(s *space.Space, k int) float64 {
	n := s.Len()
	cost := make([]float64, 1<<n)
	for set := range cost {
		cost[set] = inf
		var members []int32
		for i := range n {
			if set>>i&1 == 1 {
				members = append(members, int32(i))
			}
		}
		if len(members) >= k {
			cost[set] = sumOfSquares(s, members)
		}
	}
	best := make([]float64, 1<<n)
	for set := 1; set < 1<<n; set++ {
		best[set] = inf
		low := set & -set
		for g := set; g > 0; g = (g - 1) & set {
			if g&low != 0 && cost[g] < inf {
				best[set] = min(best[set], cost[g]+best[set&^g])
			}
		}
	}
	return best[1<<n-1]
}

// The pairs that groups hold of the sets of cuts; those of a partition are no
// more than half the set.
func TestCutsMet(t *testing.T) {
	c := newCuts(7)
	c.add([]int32{0, 1, 2})
	c.add([]int32{1, 2, 3, 4, 5})
	c.add([]int32{0, 1, 2}) // again
	if len(c.set) != 2 || c.pairs[0] != 1 || c.pairs[1] != 2 {
		t.Fatalf("%v, %v pairs", c.set, c.pairs)
	}
	for _, x := range []struct {
		members []int32
		want    []int32
	}{
		{[]int32{0, 3, 6}, nil},
		{[]int32{0, 1}, []int32{0}},
		{[]int32{0, 1, 2}, []int32{0, 1}},
		{[]int32{1, 3, 5}, []int32{1}},
		{[]int32{1, 2, 3, 4}, []int32{0, 1, 1}},
		{[]int32{0, 1, 2, 3, 4, 5}, []int32{0, 1, 1}},
	} {
		for range 2 { // nothing is left behind
			got := slices.Sorted(slices.Values(c.met(nil, x.members)))
			if !slices.Equal(got, x.want) {
				t.Errorf("%v meets %v, want %v", x.members, got, x.want)
			}
		}
	}
}

// Half shares in the groups of a cycle of three and of five, one in all others,
// are found out.
func TestSeparateFindsOddCycles(t *testing.T) {
	for _, size := range []int32{3, 5} {
		n := 2*size + 1
		f := frameOf(t, lineOf(int(n)), 3)
		all := make([]int32, n)
		for i := range all {
			all[i] = int32(i)
		}
		a := newProgram(f, all, nil)
		clear(a.u)
		a.mu = 1
		p, c := a.pool, a.cuts
		for i := range size {
			p.add([]int32{i, (i + 1) % size, size + i})
		}
		p.add([]int32{n - 1, 0, 2})
		p.index(&a, inf)
		for l := range p.x {
			p.x[l] = 0.5
		}
		p.x[size] = 0
		if got := a.separate(0.1); got != 1 {
			t.Fatalf("%d cuts from a cycle of %d", got, size)
		}
		if !slices.Equal(c.set[0], all[:size]) {
			t.Errorf("the cut is of %v", c.set[0])
		}
		if again := a.separate(0.1); again != 0 {
			t.Errorf("%d cuts the second time", again)
		}
		for l := range p.x {
			p.x[l] = 0.4
		}
		p.x[size] = 0
		a.cuts = newCuts(int(n))
		if got := a.separate(0.01); got != 0 && size == 5 || got != 1 && size == 3 {
			t.Errorf("%d cuts from a cycle of %d with shares of 0.4", got, size)
		}
	}
}

func lineOf(n int) *space.Space {
	x := make([]float64, n)
	for i := range x {
		x[i] = float64(i)
	}
	s, err := space.New(n, [][]float64{x}, nil)
	if err != nil {
		panic(err)
	}
	return s
}
