package bound_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/noren-privacy/noren/internal/randtest"
	"github.com/noren-privacy/noren/kanon/bound"
	"github.com/noren-privacy/noren/kanon/space"
)

// exact is the least sum of squared errors of all k-partitions, and the total
// sum of squares, in rational arithmetic on the coordinates as they are.
func exact(s *space.Space, k int) (least, total *big.Rat) {
	n := s.Len()
	rat := func(x float64) *big.Rat { return new(big.Rat).SetFloat64(x) }
	distance := make([][]*big.Rat, n)
	for i := range n {
		distance[i] = make([]*big.Rat, n)
		for j := range n {
			d := new(big.Rat)
			for _, x := range s.Numbers() {
				t := new(big.Rat).Sub(rat(x[i]), rat(x[j]))
				d.Add(d, t.Mul(t, t))
			}
			for _, w := range s.Words() {
				if w.Codes[i] != w.Codes[j] {
					d.Add(d, rat(w.Weight))
				}
			}
			distance[i][j] = d
		}
	}
	cost := make([]*big.Rat, 1<<n) // by set; nil when it is too small
	var all *big.Rat
	for set := 1; set < 1<<n; set++ {
		sum, m := new(big.Rat), int64(0)
		for i := range n {
			if set>>i&1 == 0 {
				continue
			}
			m++
			for j := range i {
				if set>>j&1 == 1 {
					sum.Add(sum, distance[i][j])
				}
			}
		}
		sum.Quo(sum, new(big.Rat).SetInt64(m))
		all = sum
		if m >= int64(k) {
			cost[set] = sum
		}
	}
	best := make([]*big.Rat, 1<<n)
	best[0] = new(big.Rat)
	for set := 1; set < 1<<n; set++ {
		low := set & -set
		for g := set; g > 0; g = (g - 1) & set {
			if g&low == 0 || cost[g] == nil || best[set&^g] == nil {
				continue
			}
			if t := new(big.Rat).Add(cost[g], best[set&^g]); best[set] == nil || t.Cmp(best[set]) < 0 {
				best[set] = t
			}
		}
	}
	return best[1<<n-1], all
}

func lower(t testing.TB, s *space.Space, o bound.Options) bound.Bound {
	t.Helper()
	b, err := bound.Lower(context.Background(), s, o)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// atMost demands that a float64 is no more than a rational, without any
// tolerance.
func atMost(t testing.TB, what string, got float64, most *big.Rat) {
	t.Helper()
	if math.IsNaN(got) || math.IsInf(got, 0) || new(big.Rat).SetFloat64(got).Cmp(most) > 0 {
		t.Fatalf("%s: %v is more than %v", what, got, most.FloatString(20))
	}
}

// Both bounds are no more than the optimum in exact arithmetic, far from zero
// and on coordinates that are no round numbers too; and not by much.
func TestBoundsAreBelowTheOptimum(t *testing.T) {
	randtest.SkipShort(t)
	rng := rand.New(rand.NewPCG(5, 6))
	var reached, of float64
	for round := range 60 {
		n := 2 + rng.IntN(7)
		k := 2 + rng.IntN(n-1)
		numbers := make([][]float64, 1+rng.IntN(3))
		far := []float64{0, 1, 1e6}[round%3]
		for a := range numbers {
			numbers[a] = make([]float64, n)
			for i := range numbers[a] {
				numbers[a][i] = far + float64(rng.IntN(7))/7
				if rng.IntN(8) == 0 {
					numbers[a][i] += 3 * rng.Float64()
				}
			}
		}
		word := space.Categorical{Codes: make([]uint32, n), Cardinality: 3, Weight: 0.1}
		for i := range word.Codes {
			word.Codes[i] = uint32(rng.IntN(3))
		}
		s, err := space.New(n, numbers, []space.Categorical{word})
		if err != nil {
			t.Fatal(err)
		}
		least, total := exact(s, k)
		simple := lower(t, s, bound.Options{K: k})
		dual := lower(t, s, bound.Options{K: k, Duration: time.Minute, Seed: uint64(round)})
		atMost(t, "simple bound", simple.SSE, least)
		atMost(t, "dual bound", dual.SSE, least)
		if total.Sign() > 0 {
			atMost(t, "loss", dual.Loss, new(big.Rat).Quo(least, total))
		}
		if dual.SSE < simple.SSE || simple.Method != bound.Simple {
			t.Fatalf("dual %v, simple %v", dual, simple)
		}
		x, _ := least.Float64()
		of += x
		reached += dual.SSE
	}
	if reached < 0.97*of {
		t.Errorf("the dual bounds come to %.4f of the optima", reached/of)
	}
	t.Logf("the dual bounds come to %.4f of the optima", reached/of)
}

// alongLine is the least sum of squared errors of records on a line: an optimal
// partition has groups of neighbours (Hansen and Mukherjee 2003).
func alongLine(x []float64, k int) float64 {
	x = slices.Sorted(slices.Values(x))
	best := make([]float64, len(x)+1)
	for to := 1; to <= len(x); to++ {
		best[to] = math.Inf(1)
		for from := max(0, to-2*k+1); from <= to-k; from++ {
			var sum, squares float64
			for _, v := range x[from:to] {
				sum += v
			}
			for _, v := range x[from:to] {
				d := v - sum/float64(to-from)
				squares += d * d
			}
			best[to] = min(best[to], best[from]+squares)
		}
	}
	return best[len(x)]
}

func line(rng *rand.Rand, n int) []float64 {
	x := make([]float64, n)
	for i := range x {
		x[i] = rng.ExpFloat64()
	}
	return x
}

// On a line the optimum is known, and the dual bound comes close to it: to
// within 1 %, since the program that it solves has fractional partitions that are
// better. Of a sample of the records it lies between that and the simple bound;
// all grow with k.
func TestAlongALine(t *testing.T) {
	randtest.SkipShort(t)
	rng := rand.New(rand.NewPCG(7, 8))
	x := line(rng, 48)
	s, err := space.New(len(x), [][]float64{x}, nil)
	if err != nil {
		t.Fatal(err)
	}
	last := [2]float64{}
	for k := 2; k <= 4; k++ {
		best := alongLine(x, k)
		simple := lower(t, s, bound.Options{K: k})
		dual := lower(t, s, bound.Options{K: k, Duration: 2 * time.Minute})
		part := lower(t, s, bound.Options{K: k, Duration: 2 * time.Minute, MostRecords: 24})
		if dual.SSE > best || dual.SSE < 0.99*best {
			t.Errorf("k = %d: dual bound %v, the optimum is %v", k, dual.SSE, best)
		}
		if !(simple.SSE < part.SSE && part.SSE < dual.SSE) {
			t.Errorf("k = %d: simple %v, of a sample %v, dual %v", k, simple.SSE, part.SSE, dual.SSE)
		}
		if dual.Method != bound.Dual || dual.Records != 48 || !dual.Converged || part.Records > 24 || part.Records < 12 || simple.Records != 0 {
			t.Errorf("k = %d: %+v, %+v, %+v", k, simple, part, dual)
		}
		if got, want := dual.Loss, dual.SSE/s.SST(); got > want || got < want*(1-1e-9) {
			t.Errorf("loss %v, want %v", got, want)
		}
		if dual.SSE <= last[0] || simple.SSE <= last[1] {
			t.Errorf("k = %d: no more than for k-1", k)
		}
		last = [2]float64{dual.SSE, simple.SSE}
	}
}

// The simple bound is that of its definition, copies of records included, for
// any number of workers.
func TestSimpleBoundIsItsDefinition(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 40).Draw(t, "n")
		k := rapid.IntRange(1, n).Draw(t, "k")
		x := rapid.SliceOfN(rapid.Map(rapid.IntRange(0, 6), func(v int) float64 { return float64(v) / 3 }), n, n)
		codes := rapid.SliceOfN(rapid.Uint32Range(0, 1), n, n).Draw(t, "codes")
		s, err := space.New(n, [][]float64{x.Draw(t, "x"), x.Draw(t, "y")}, []space.Categorical{{Codes: codes, Cardinality: 2, Weight: 0.5}})
		if err != nil {
			t.Fatal(err)
		}
		var want float64
		places := map[[3]float64]bool{}
		for i := range n {
			var d []float64
			for j := range n {
				if j != i {
					d = append(d, s.Distance2(i, j))
				}
			}
			slices.Sort(d)
			for _, v := range d[:k-1] {
				want += v / float64(2*k)
			}
			places[[3]float64{s.Numbers()[0][i], s.Numbers()[1][i], float64(codes[i])}] = true
		}
		b, err := bound.Lower(context.Background(), s, bound.Options{K: k, Workers: rapid.IntRange(1, 3).Draw(t, "workers")})
		if err != nil {
			t.Fatal(err)
		}
		if b.SSE > want*(1+1e-15) || b.SSE < want*(1-1e-12) {
			t.Fatalf("%v, want %v", b.SSE, want)
		}
		if b.Places != len(places) && k > 1 {
			t.Fatalf("%d places, want %d", b.Places, len(places))
		}
	})
}

// Neither bound depends on the number of workers.
func TestWorkersDoNotMatter(t *testing.T) {
	randtest.SkipShort(t)
	rng := rand.New(rand.NewPCG(9, 9))
	s, err := space.New(60, [][]float64{line(rng, 60), line(rng, 60)}, nil)
	if err != nil {
		t.Fatal(err)
	}
	a := lower(t, s, bound.Options{K: 3, Duration: 3 * time.Minute, Workers: 1, Seed: 3})
	b := lower(t, s, bound.Options{K: 3, Duration: 3 * time.Minute, Workers: 4, Seed: 3})
	if !a.Converged || a != b {
		t.Errorf("%+v with one worker, %+v with four", a, b)
	}
}

func TestCopies(t *testing.T) {
	x := []float64{1, 1, 1, 5, 5, 5, 5}
	s, err := space.New(len(x), [][]float64{x}, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, o := range []bound.Options{{K: 3}, {K: 3, Duration: time.Second}} {
		if b := lower(t, s, o); b.SSE != 0 || b.Loss != 0 || b.Places != 2 {
			t.Errorf("a partition without loss exists: %+v", b)
		}
	}
	// At k = 4 one of the three has to come over: 4*4/4 * 3 in groups of 4 and 3 is
	// no partition, so all seven are one group.
	want := s.SST()
	if b := lower(t, s, bound.Options{K: 4, Duration: 2 * time.Second}); b.SSE > want || b.SSE <= lower(t, s, bound.Options{K: 4}).SSE {
		t.Errorf("%+v, the optimum is %v", b, want)
	}
}

func TestSkippedBeyondASize(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 9))
	x := line(rng, 30)
	s, err := space.New(60, [][]float64{append(x, x...)}, nil)
	if err != nil {
		t.Fatal(err)
	}
	if b := lower(t, s, bound.Options{K: 3, MostPlaces: 29}); b.Method != bound.None || b.SSE != 0 || b.Places != 30 {
		t.Errorf("30 places, 29 allowed: %+v", b)
	}
	if b := lower(t, s, bound.Options{K: 3, MostPlaces: 30}); b.Method != bound.Simple || b.SSE <= 0 {
		t.Errorf("30 places, 30 allowed: %+v", b)
	}
	if b := lower(t, s, bound.Options{K: 3, MostPlaces: 29, Duration: time.Second}); b.Method == bound.None {
		t.Errorf("asked for: %+v", b)
	}
}

func TestEnds(t *testing.T) {
	rng := rand.New(rand.NewPCG(2, 2))
	s, err := space.New(2000, [][]float64{line(rng, 2000), line(rng, 2000), line(rng, 2000)}, nil)
	if err != nil {
		t.Fatal(err)
	}
	simple := lower(t, s, bound.Options{K: 5})
	short := lower(t, s, bound.Options{K: 5, Duration: time.Nanosecond})
	if short.SSE != simple.SSE || short.Method != bound.Simple || short.Converged {
		t.Errorf("out of time at once: %+v, the simple bound is %+v", short, simple)
	}
	ctx, cancel := context.WithCancel(context.Background())
	told := 0
	_, err = bound.Lower(ctx, s, bound.Options{K: 5, Duration: time.Hour, Progress: func(stage string, done, total int64) {
		if told++; stage == "lower bound" {
			cancel()
		}
	}})
	if !errors.Is(err, context.Canceled) || told == 0 {
		t.Errorf("cancelled: %v", err)
	}
	for _, k := range []int{0, -1, 2001} {
		if _, err := bound.Lower(context.Background(), s, bound.Options{K: k}); err == nil {
			t.Errorf("k = %d was taken", k)
		}
	}
	if b := lower(t, s, bound.Options{K: 1, Duration: time.Hour}); b.SSE != 0 || b.Method != bound.Simple {
		t.Errorf("k = 1: %+v", b)
	}
}

func TestGap(t *testing.T) {
	b := bound.Bound{SSE: 3}
	for sse, want := range map[float64]float64{4: 0.25, 3: 0, 2.5: 0, 0: 0} {
		if got := b.Gap(sse); got < want || got > want*(1+1e-14) {
			t.Errorf("gap of %v: %v, want %v", sse, got, want)
		}
	}
	if got := (&bound.Bound{}).Gap(7); got != 1 {
		t.Errorf("gap without a bound: %v", got)
	}
}

func TestMethodNames(t *testing.T) {
	for m, want := range map[bound.Method]string{bound.None: "none", bound.Simple: "simple", bound.Dual: "dual", 9: "method(9)"} {
		if m.String() != want {
			t.Errorf("%d: %q", m, m)
		}
	}
}

func ExampleLower() {
	s, _ := space.FromMatrix([][]float64{{1, 2, 3, 10, 11, 30, 31}}, space.None)
	best := space.Partition{Group: []uint32{0, 0, 0, 1, 1, 2, 2}, Groups: 3}
	b, _ := bound.Lower(context.Background(), s, bound.Options{K: 2, Duration: time.Minute})
	fmt.Printf("%s bound %.3f, this partition %.3f, gap %.1f %%\n", b.Method, b.SSE, s.SSE(best), 100*b.Gap(s.SSE(best)))
	// Output: dual bound 3.000, this partition 3.000, gap 0.0 %
}

// Coordinates whose squares are too large or too small for a float64 do not make
// a bound that is none.
func TestExtremeCoordinates(t *testing.T) {
	for _, unit := range []float64{1e-162, 1e-158, 1e200} {
		x := []float64{0, 1.1 * unit, 2.3 * unit, 3.7 * unit, 5.9 * unit, 6.1 * unit}
		s, err := space.New(len(x), [][]float64{x}, nil)
		if err != nil {
			t.Fatal(err)
		}
		least, _ := exact(s, 2)
		for _, o := range []bound.Options{{K: 2}, {K: 2, Duration: 50 * time.Millisecond}} {
			b := lower(t, s, o)
			atMost(t, "bound", b.SSE, least)
			if math.IsNaN(b.Loss) || b.Loss < 0 || b.Loss > 1 {
				t.Errorf("loss %v", b.Loss)
			}
		}
	}
}
