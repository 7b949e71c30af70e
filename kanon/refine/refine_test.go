package refine_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/noren-privacy/noren"
	"github.com/noren-privacy/noren/internal/randtest"
	"github.com/noren-privacy/noren/kanon/refine"
	"github.com/noren-privacy/noren/kanon/space"
)

// anySpace draws a mixed space, with ties (few values, exact sums) or without,
// and now and then far from zero.
func anySpace(t *rapid.T, n int) *space.Space {
	rng := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 0))
	tied := rapid.Bool().Draw(t, "tied")
	shift := rapid.SampledFrom([]float64{0, 0, 0, 1e9}).Draw(t, "shift")
	numbers := make([][]float64, rapid.IntRange(0, 3).Draw(t, "numeric axes"))
	for a := range numbers {
		numbers[a] = make([]float64, n)
		for i := range numbers[a] {
			numbers[a][i] = shift + rng.Float64()
			if tied {
				numbers[a][i] = shift + float64(rng.IntN(5))/4
			}
		}
	}
	words := make([]space.Categorical, rapid.IntRange(0, 3).Draw(t, "categorical axes"))
	for a := range words {
		words[a] = space.Categorical{Codes: make([]uint32, n), Cardinality: 4, Weight: rapid.SampledFrom([]float64{1, 0.5, 1. / 3}).
			Draw(t, "weight")}
		for i := range words[a].Codes {
			words[a].Codes[i] = uint32(rng.IntN(4))
		}
	}
	s, err := space.New(n, numbers, words)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// anyPartition draws a k-partition: any groups of k or more, some of them large.
func anyPartition(t *rapid.T, n, k int) space.Partition {
	rng := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 1))
	most := rapid.IntRange(k, max(k, min(n, 4*k))).Draw(t, "most")
	p := space.Partition{Group: make([]uint32, n)}
	order := rng.Perm(n)
	for len(order) > 0 {
		size := k + rng.IntN(most-k+1)
		if len(order)-size < k {
			size = len(order)
		}
		for _, i := range order[:size] {
			p.Group[i] = uint32(p.Groups)
		}
		p.Groups++
		order = order[size:]
	}
	return p
}

// sse is the sum of squared errors by the distances between records alone:
// sum over the pairs of a group of d² over its size.
func sse(s *space.Space, p space.Partition) float64 {
	var total float64
	list, start := p.Members()
	for g := range p.Groups {
		members := list[start[g]:start[g+1]]
		for x, i := range members {
			for _, j := range members[:x] {
				total += s.Distance2(int(i), int(j)) / float64(len(members))
			}
		}
	}
	return total
}

func close(a, b float64) bool { return math.Abs(a-b) <= 1e-9*max(1, math.Abs(a), math.Abs(b)) }

func refined(tb rapid.TB, s *space.Space, p space.Partition, o refine.Options) (space.Partition, refine.Stats) {
	// A descent that goes round in circles fails, and does not hang.
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	q, stats, err := refine.Refine(ctx, s, p, o)
	if err != nil {
		tb.Fatal(err)
	}
	return q, stats
}

// Groups stay groups of k or more, and the sum of squared errors is exact
// and falls or stays.
func TestRefineBettersAndNeverBreaksK(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		k := rapid.IntRange(1, 6).Draw(t, "k")
		n := rapid.IntRange(k, 150).Draw(t, "n")
		s, p := anySpace(t, n), anyPartition(t, n, k)
		before := slices.Clone(p.Group)
		q, stats := refined(t, s, p, refine.Options{K: k, Effort: refine.Fast})
		if !slices.Equal(p.Group, before) {
			t.Fatal("the partition that came in was changed")
		}
		if len(q.Group) != n {
			t.Fatalf("%d records of %d", len(q.Group), n)
		}
		if err := q.Validate(k); err != nil {
			t.Fatal(err)
		}
		if k > 1 && !slices.Equal(q.Group, q.Canonical().Group) {
			t.Fatal("groups are not numbered by their lowest record")
		}
		if !close(stats.Before, sse(s, p)) || !close(stats.After, sse(s, q)) {
			t.Fatalf("told %v to %v, is %v to %v", stats.Before, stats.After, sse(s, p), sse(s, q))
		}
		if stats.After > stats.Before {
			t.Fatalf("from %v up to %v", stats.Before, stats.After)
		}
	})
}

// After a descent no move of one record, no swap of two, and no group given
// away record by record lowers the sum of squared errors. The tables are so
// small that every record is near every other.
func TestDescentEndsWhereNoChangeBetters(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		k := rapid.IntRange(2, 4).Draw(t, "k")
		n := rapid.OneOf(rapid.IntRange(k, 8), rapid.IntRange(12, 22)).Draw(t, "n")
		s := anySpace(t, n)
		for range 4 {
			noChangeBetters(t, s, anyPartition(t, n, k), k)
		}
	})
}

func noChangeBetters(t *rapid.T, s *space.Space, start space.Partition, k int) {
	n := s.Len()
	p, stats := refined(t, s, start, refine.Options{K: k, Effort: refine.Fast})
	limit := stats.After - 1e-6*s.SST() - 1e-12
	try := func(what string, change func(group []uint32)) {
		q := space.Partition{Group: slices.Clone(p.Group), Groups: p.Groups}
		change(q.Group)
		q = q.Canonical()
		if q.Validate(k) == nil && sse(s, q) < limit {
			t.Fatalf("%s lowers %v to %v: %v to %v", what, stats.After, sse(s, q), p.Group, q.Group)
		}
	}
	for i := range n {
		for g := range uint32(p.Groups) {
			try("a move", func(group []uint32) { group[i] = g })
		}
		for j := range i {
			try("a swap", func(group []uint32) { group[i], group[j] = group[j], group[i] })
		}
	}
	for g := range uint32(p.Groups) {
		if p.Groups < 2 {
			continue
		}
		try("dissolving", func(group []uint32) {
			left := slices.Clone(group)
			for i := range n {
				if left[i] != g {
					continue
				}
				// To the group whose own sum it raises least, of those that
				// are there and those that went before it.
				best, to := math.Inf(1), g
				for h := range uint32(p.Groups) {
					if h == g {
						continue
					}
					var members []int32
					for j, gj := range group {
						if gj == h {
							members = append(members, int32(j))
						}
					}
					c := s.NewCentroid()
					for _, j := range members {
						c.Add(j)
					}
					m := float64(len(members))
					if rise := m / (m + 1) * c.Distance2(int32(i)); rise < best {
						best, to = rise, h
					}
				}
				group[i] = to
			}
		})
	}
}

// Numbers far from zero, as unscaled instants are, are searched like the same
// numbers near it.
func TestFarFromZero(t *testing.T) {
	const n, k = 120, 3
	for _, offset := range []float64{1e9, -1e9, 1.7e12} {
		for seed := range uint64(30) {
			rng := rand.New(rand.NewPCG(seed, 5))
			near, far := make([][]float64, 2), make([][]float64, 2)
			for a := range near {
				near[a], far[a] = make([]float64, n), make([]float64, n)
				for i := range n {
					near[a][i] = float64(rng.IntN(5))
					far[a][i] = near[a][i] + offset
				}
			}
			start := space.Partition{Group: make([]uint32, n), Groups: n / k}
			for at, i := range rng.Perm(n) {
				start.Group[i] = uint32(at / k)
			}
			var told [2]float64
			for at, numbers := range [][][]float64{near, far} {
				s, err := space.New(n, numbers, nil)
				if err != nil {
					t.Fatal(err)
				}
				_, stats := refined(t, s, start, refine.Options{K: k, Effort: refine.Fast})
				told[at] = stats.After
			}
			if math.Abs(told[0]-told[1]) > 1e-6*told[0] {
				t.Fatalf("offset %g, seed %d: down to %v, to %v without it", offset, seed, told[1], told[0])
			}
		}
	}
}

// Each kind of change, where it alone leads on.
func TestKindsOfChange(t *testing.T) {
	for _, c := range []struct {
		name        string
		k           int
		x           []float64
		group, want []uint32
	}{
		{"move", 2, []float64{0, 1, 2, 10, 11}, []uint32{0, 0, 1, 1, 1}, []uint32{0, 0, 0, 1, 1}},
		{"swap", 3, []float64{0, 1, 2, 10, 11, 12}, []uint32{0, 0, 1, 0, 1, 1}, []uint32{0, 0, 0, 1, 1, 1}},
		{"split", 2, []float64{0, 1, 10, 11}, []uint32{0, 0, 0, 0}, []uint32{0, 0, 1, 1}},
		{"split twice", 2, []float64{0, 1, 10, 11, 30, 31}, []uint32{0, 0, 0, 0, 0, 0}, []uint32{0, 0, 1, 1, 2, 2}},
		{"dissolve", 2, []float64{0, 0, 10, 10, 0, 10}, []uint32{0, 0, 1, 1, 2, 2}, []uint32{0, 0, 1, 1, 0, 1}},
		{"nothing", 2, []float64{0, 1, 10, 11}, []uint32{0, 0, 1, 1}, []uint32{0, 0, 1, 1}},
	} {
		t.Run(c.name, func(t *testing.T) {
			s, err := space.New(len(c.x), [][]float64{c.x}, nil)
			if err != nil {
				t.Fatal(err)
			}
			p := space.Partition{Group: c.group, Groups: int(slices.Max(c.group)) + 1}
			q, _ := refined(t, s, p, refine.Options{K: c.k, Effort: refine.Fast})
			if !slices.Equal(q.Group, c.want) {
				t.Errorf("groups %v, want %v", q.Group, c.want)
			}
		})
	}
}

// Nothing is done where nothing was asked for or nothing can be done.
func TestLeftAlone(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		k := rapid.IntRange(1, 5).Draw(t, "k")
		n := rapid.IntRange(k, 40).Draw(t, "n")
		s, p := anySpace(t, n), anyPartition(t, n, k)
		o := refine.Options{K: k, Effort: refine.Off}
		if k == 1 || n < 2*k {
			o.Effort = refine.Fast
		}
		q, stats := refined(t, s, p, o)
		if q.Groups != p.Groups || !slices.Equal(q.Group, p.Group) || stats.Rounds != 0 || stats.Before != stats.After {
			t.Fatalf("%v became %v, %+v", p.Group, q.Group, stats)
		}
	})
}

func grid(tb testing.TB, n int) *space.Space {
	tb.Helper()
	rng := rand.New(rand.NewPCG(7, 7))
	numbers := make([][]float64, 3)
	for a := range numbers {
		numbers[a] = make([]float64, n)
		for i := range numbers[a] {
			numbers[a][i] = float64(rng.IntN(64)) / 64
		}
	}
	word := space.Categorical{Codes: make([]uint32, n), Cardinality: 5, Weight: 1}
	for i := range word.Codes {
		word.Codes[i] = uint32(rng.IntN(5))
	}
	s, err := space.New(n, numbers, []space.Categorical{word})
	if err != nil {
		tb.Fatal(err)
	}
	return s
}

// inOrder puts the records into groups of k as the first axis has them: near
// enough for a start.
func inOrder(s *space.Space, k int) space.Partition {
	n := s.Len()
	x := s.Numbers()[0]
	order := make([]int, n)
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(i, j int) int {
		switch {
		case x[i] < x[j]:
			return -1
		case x[i] > x[j]:
			return 1
		}
		return 0
	})
	p := space.Partition{Group: make([]uint32, n), Groups: n / k}
	for at, i := range order {
		p.Group[i] = uint32(min(at/k, p.Groups-1))
	}
	return p
}

// On a table of several cells, the result is the same for any number of
// workers, and for any seed, as a descent draws nothing.
func TestWorkersChangeNothing(t *testing.T) {
	randtest.SkipShort(t)
	testWorkers(t, 3)
}

func TestLongWorkersChangeNothing(t *testing.T) {
	randtest.Long(t)
	testWorkers(t, 2, 8)
}

func testWorkers(t *testing.T, others ...int) {
	const n, k = 41_000, 3
	s := grid(t, n)
	p := inOrder(s, k)
	want, stats := refined(t, s, p, refine.Options{K: k, Effort: refine.Fast, Workers: 1})
	if err := want.Validate(k); err != nil {
		t.Fatal(err)
	}
	if stats.Rounds != 2 || stats.After > 0.5*stats.Before {
		t.Errorf("%+v: expected two rounds and half of the errors gone", stats)
	}
	for _, workers := range others {
		got, _ := refined(t, s, p, refine.Options{K: k, Effort: refine.Fast, Workers: workers, Seed: uint64(workers)})
		if !slices.Equal(got.Group, want.Group) {
			t.Errorf("%d workers: another partition than one", workers)
		}
	}
}

// A duration betters more than a descent does, and is kept to: a search of this length
// would take hours to come to its end. How long a duration is needed depends on how busy
// the machine is.
func TestDuration(t *testing.T) {
	randtest.SkipShort(t)
	const n, k = 400, 3
	s := grid(t, n)
	p := inOrder(s, k)
	_, fast := refined(t, s, p, refine.Options{K: k, Effort: refine.Fast})
	for d := 150 * time.Millisecond; ; d *= 2 {
		q, long := refined(t, s, p, refine.Options{K: k, Effort: refine.Effort{Descend: true, Duration: d}, Seed: 1})
		if err := q.Validate(k); err != nil {
			t.Fatal(err)
		}
		if long.After < fast.After && long.Rounds > fast.Rounds {
			return
		}
		if d > time.Minute {
			t.Fatalf("%+v in %v, %+v without", long, d, fast)
		}
	}
}

// A context that has ended, or ends on the way, ends the search with its error
// and without a partition.
func TestContext(t *testing.T) {
	randtest.SkipShort(t)
	const k = 3
	s := grid(t, 3000)
	p := inOrder(s, k)
	hour := refine.Effort{Descend: true, Duration: time.Hour}
	for _, effort := range []refine.Effort{refine.Fast, hour} {
		ended, cancel := context.WithCancel(context.Background())
		cancel()
		q, _, err := refine.Refine(ended, s, p, refine.Options{K: k, Effort: effort})
		if !errors.Is(err, context.Canceled) || noren.KindOf(err) != noren.Interrupted || q.Group != nil {
			t.Errorf("%v, ended before: error %v", effort, err)
		}
	}
	ends, cancel := context.WithTimeout(context.Background(), 200*time.Millisecond)
	defer cancel()
	q, _, err := refine.Refine(ends, s, p, refine.Options{K: k, Effort: hour})
	if !errors.Is(err, context.DeadlineExceeded) || q.Group != nil {
		t.Errorf("ended on the way: error %v", err)
	}
}

func TestNotAPartition(t *testing.T) {
	s := grid(t, 6)
	for name, p := range map[string]space.Partition{
		"of another space": {Group: make([]uint32, 5), Groups: 1},
		"too small":        {Group: []uint32{0, 0, 0, 0, 1, 1}, Groups: 2},
		"no such group":    {Group: []uint32{0, 0, 0, 1, 1, 2}, Groups: 2},
		"an empty group":   {Group: make([]uint32, 6), Groups: 2},
	} {
		for _, effort := range []refine.Effort{refine.Off, refine.Fast} {
			if _, _, err := refine.Refine(context.Background(), s, p, refine.Options{K: 3, Effort: effort}); err == nil {
				t.Errorf("%s, %v: no error", name, effort)
			}
		}
	}
}

func TestEffortNames(t *testing.T) {
	for word, want := range map[string]refine.Effort{
		"off": refine.Off, "fast": refine.Fast, "1m30s": {Descend: true, Duration: 90 * time.Second}, "20ms": {
			Descend: true, Duration: 20 * time.Millisecond,
		},
	} {
		got, err := refine.ParseEffort(word)
		if err != nil || got != want || got.String() != word {
			t.Errorf("%q read as %v, %v", word, got, err)
		}
	}
	for _, word := range []string{"", "slow", "-3s", "0s", "10"} {
		if _, err := refine.ParseEffort(word); noren.KindOf(err) != noren.Usage {
			t.Errorf("%q: error %v, want one of usage", word, err)
		}
	}
}

// Two heaps and a bad division of them.
func Example() {
	s, err := space.FromMatrix([][]float64{{23, 61, 25, 59, 22, 63}}, space.MinMax)
	if err != nil {
		fmt.Println(err)
		return
	}
	p := space.Partition{Group: []uint32{0, 0, 0, 1, 1, 1}, Groups: 2}
	q, stats, err := refine.Refine(context.Background(), s, p, refine.Options{K: 3, Effort: refine.Fast})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(q.Group)
	fmt.Printf("loss %.3f, was %.3f\n", stats.After/s.SST(), stats.Before/s.SST())
	// Output:
	// [0 1 0 1 0 1]
	// loss 0.006, was 0.905
}

func ExampleParseEffort() {
	for _, word := range []string{"off", "fast", "30s"} {
		e, err := refine.ParseEffort(word)
		fmt.Println(e, err)
	}
	// Output:
	// off <nil>
	// fast <nil>
	// 30s <nil>
}
