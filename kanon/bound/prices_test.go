package bound

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/noren-privacy/noren/internal/randtest"
	"github.com/noren-privacy/noren/kanon/space"
)

// drawPartition draws a partition into groups of k or more.
func drawPartition(t *rapid.T, n, k int) space.Partition {
	order := rapid.Permutation(seq(n)).Draw(t, "order")
	p := space.Partition{Group: make([]uint32, n), Groups: max(1, n/k-rapid.IntRange(0, 1).Draw(t, "fewer"))}
	for at, i := range order {
		p.Group[i] = uint32(min(at/k, p.Groups-1))
	}
	return p
}

// What is said to be better is, and it comes near the optimum.
func TestRegroup(t *testing.T) {
	reached, all := 0, 0
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(6, 12).Draw(t, "records")
		k := rapid.IntRange(2, min(4, n/2)).Draw(t, "k")
		s, p := drawSpace(t, n), drawPartition(t, n, k)
		ctx := context.Background()
		v, err := NewPrices(ctx, s, p, PriceOptions{K: k, Seed: 1, Workers: 1})
		if err != nil {
			t.Fatal(err)
		}
		least := leastSSE(s, k)
		for range 50 {
			regions, err := v.Regions(ctx, p, n)
			if err != nil {
				t.Fatal(err)
			}
			if len(regions) == 0 {
				break
			}
			for _, r := range regions {
				better, rough, err := r.Regroup(ctx, 200)
				if err != nil {
					t.Fatal(err)
				}
				for _, q := range rough {
					if err := q.Validate(k); err != nil {
						t.Fatal("rough: ", err)
					}
				}
				if better == nil {
					continue
				}
				before := s.SSE(p)
				p.Group = slices.Clone(p.Group)
				for j, i := range r.Records {
					p.Group[i] = uint32(p.Groups) + better.Group[j]
				}
				p.Groups += better.Groups
				p = p.Canonical()
				if err := p.Validate(k); err != nil {
					t.Fatal(err)
				}
				if after := s.SSE(p); !(after < before) {
					t.Fatalf("better: from %v to %v", before, after)
				}
			}
		}
		sse := s.SSE(p)
		if sse < least*(1-1e-9)-1e-12 {
			t.Fatalf("%v is below the optimum, %v", sse, least)
		}
		all++
		if sse <= least*(1+1e-9)+1e-12 {
			reached++
		}
	})
	t.Logf("%d of %d come to the optimum", reached, all)
	if reached*10 < all*7 {
		t.Errorf("%d of %d come to the optimum", reached, all)
	}
}

// heaps are records around some centres.
func heaps(t *testing.T, n int) *space.Space {
	t.Helper()
	rng := rand.New(rand.NewPCG(3, 4))
	x := make([][]float64, 3)
	for a := range x {
		x[a] = make([]float64, n)
	}
	for i := range n {
		for a := range x {
			x[a][i] = float64(i%7*(a+1)%5) + 0.3*rng.NormFloat64()
		}
	}
	s, err := space.New(n, x, nil)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// inOrder puts k records after each other into a group.
func inOrder(n, k int) space.Partition {
	p := space.Partition{Group: make([]uint32, n), Groups: n / k}
	for i := range p.Group {
		p.Group[i] = uint32(min(i/k, p.Groups-1))
	}
	return p
}

// Regions do not touch, hold whole groups, and come once.
func TestRegions(t *testing.T) {
	const n, k = 300, 3
	s, p := heaps(t, n), inOrder(n, k)
	ctx := context.Background()
	v, err := NewPrices(ctx, s, p, PriceOptions{K: k, Seed: 1, Workers: 2})
	if err != nil {
		t.Fatal(err)
	}
	total := 0
	for {
		regions, err := v.Regions(ctx, p, 10)
		if err != nil {
			t.Fatal(err)
		}
		if len(regions) == 0 {
			break
		}
		of := make([]int, n)
		for number, r := range regions {
			for _, i := range r.Records {
				if of[i] != 0 {
					t.Fatalf("record %d is in two regions", i)
				}
				of[i] = number + 1
			}
		}
		for i := range of {
			for j := range i {
				if p.Group[i] == p.Group[j] && of[i] != of[j] {
					t.Fatalf("a region takes record %d and leaves %d of its group", i, j)
				}
			}
		}
		total += len(regions)
		if total > n*n {
			t.Fatal("regions have no end")
		}
	}
	if total < 10 {
		t.Errorf("%d regions", total)
	}
}

// Prices are the same whatever the number of workers.
func TestPricesOfWorkers(t *testing.T) {
	randtest.SkipShort(t)
	const n, k = 200, 3
	s, p := heaps(t, n), inOrder(n, k)
	for _, thorough := range []bool{false, true} {
		var want []float64
		for _, workers := range []int{1, 3} {
			v, err := NewPrices(context.Background(), s, p, PriceOptions{K: k, Seed: 5, Thorough: thorough, Workers: workers})
			if err != nil {
				t.Fatal(err)
			}
			if want == nil {
				want = v.u
			}
			if !slices.Equal(v.u, want) {
				t.Errorf("thorough %v: %d workers find other prices than one", thorough, workers)
			}
		}
	}
}

// Prices are worth nearly what the bound is, the more nearly if they are thorough.
func TestPricesAreNearTheBound(t *testing.T) {
	randtest.SkipShort(t)
	const n, k = 200, 3
	s, p := heaps(t, n), inOrder(n, k)
	b, err := Lower(context.Background(), s, Options{K: k, Duration: 1 << 40, Seed: 1})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		thorough bool
		off      float64
	}{{false, 0.005}, {true, 0.0005}} {
		v, err := NewPrices(context.Background(), s, p, PriceOptions{K: k, Seed: 5, Thorough: c.thorough})
		if err != nil {
			t.Fatal(err)
		}
		if got := v.value(); math.Abs(got/b.SSE-1) > c.off {
			t.Errorf("thorough %v: worth %v, the bound is %v", c.thorough, got, b.SSE)
		}
	}
}

// Where nothing can be better there is nothing to do, coordinates without
// squares do no harm, and a context that has ended is an error.
func TestPricesAtTheEnds(t *testing.T) {
	ctx := context.Background()
	for name, x := range map[string][]float64{
		"one place":       slices.Repeat([]float64{1}, 12),
		"three places":    {0, 0, 0, 0, 5, 5, 5, 5, 9, 9, 9, 9},
		"without squares": {1e200, -1e200, 2e200, 3e200, 4e200, -4e200, 1, 2, 3, 4, 5, 6},
	} {
		s, err := space.New(len(x), [][]float64{x}, nil)
		if err != nil {
			t.Fatal(err)
		}
		p := inOrder(len(x), 4)
		v, err := NewPrices(ctx, s, p, PriceOptions{K: 4, Seed: 1, Workers: 1})
		if err != nil {
			t.Fatal(name, err)
		}
		regions, err := v.Regions(ctx, p, 3)
		if err != nil {
			t.Fatal(name, err)
		}
		for _, r := range regions {
			if better, _, err := r.Regroup(ctx, 50); err != nil || better != nil {
				t.Errorf("%s: %v, %v", name, better, err)
			}
		}
	}
	over, cancel := context.WithCancel(ctx)
	cancel()
	if _, err := NewPrices(over, heaps(t, 60), inOrder(60, 3), PriceOptions{K: 3, Seed: 1, Workers: 1}); !errors.Is(err, context.Canceled) {
		t.Errorf("prices without time: %v", err)
	}
	v, err := NewPrices(ctx, heaps(t, 60), inOrder(60, 3), PriceOptions{K: 3, Seed: 1, Workers: 1})
	if err != nil {
		t.Fatal(err)
	}
	regions, err := v.Regions(ctx, inOrder(60, 3), 20)
	if err != nil || len(regions) == 0 {
		t.Fatal(len(regions), err)
	}
	if _, _, err := regions[0].Regroup(over, 50); !errors.Is(err, context.Canceled) {
		t.Errorf("regrouped without time: %v", err)
	}
}
