package randtest

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/fnv"
	"math"
	"slices"
	"sync"
	"sync/atomic"

	"gonum.org/v1/gonum/mathext"

	"github.com/noren-privacy/noren/internal/entropy"
)

// Mechanism answers once, with bits from src. The answer is an integer: a grid
// point, or any public statistic of a richer answer. It is called from several
// goroutines, each with a source of its own.
type Mechanism func(src *entropy.Source) (int64, error)

// Audit says how to look for loss.
type Audit struct {
	// Runs of each mechanism, half of them to choose the event and half to
	// measure it. Defaults to 200,000.
	Runs int
	// Delta is the delta of the claim. Defaults to 0.
	Delta float64
	// Error is the probability that the bound is wrong for an honest mechanism.
	// Defaults to 1e-6.
	Error float64
	// Workers defaults to 2. The result does not depend on it.
	Workers int
	// Seed makes the audit repeatable.
	Seed uint64
}

// Bound is what an audit found.
type Bound struct {
	// Epsilon is a lower bound of the true epsilon, with probability 1 - Error.
	// It may be negative: the event shows nothing.
	Epsilon float64
	// Event is the event that shows it, and Side the mechanism it favours: 0 or 1.
	Event Event
	Side  int
	// Hits of the event in the measuring half, of Of runs each.
	Hits [2]int64
	Of   int64
}

// Event is the set From..To of answers, both included.
type Event struct{ From, To int64 }

// String writes e for a person.
func (e Event) String() string {
	switch {
	case e.From == e.To:
		return fmt.Sprintf("answer = %d", e.From)
	case e.From == math.MinInt64:
		return fmt.Sprintf("answer <= %d", e.To)
	case e.To == math.MaxInt64:
		return fmt.Sprintf("answer >= %d", e.From)
	default:
		return fmt.Sprintf("%d <= answer <= %d", e.From, e.To)
	}
}

// blockRuns is how many runs share a source. Work is cut into blocks by number,
// so that the result does not depend on who does it.
const blockRuns = 4096

// EpsilonLowerBound attacks: it runs a mechanism on two neighbouring inputs and
// returns an epsilon that the mechanism surely does not keep below.
//
// Half of the runs choose the event, among all half-lines and all single points;
// the other half, which the choice has not seen, count it. With p the
// Clopper-Pearson lower bound of its probability on the favoured side and p' the
// upper bound on the other, each at Error/2, every (epsilon, delta) that holds
// has epsilon >= ln((p - delta)/p'), with probability 1 - Error (Jagielski,
// Ullman and Oprea 2020, section 4). No correction for many events is needed as
// only one is measured.
func EpsilonLowerBound(ctx context.Context, a Audit, left, right Mechanism) (Bound, error) {
	if a.Runs == 0 {
		a.Runs = 200_000
	}
	if a.Error == 0 {
		a.Error = 1e-6
	}
	if a.Workers == 0 {
		a.Workers = 2
	}
	if a.Runs < 100 || a.Workers < 0 || !(a.Error > 0 && a.Error < 1) || !(a.Delta >= 0 && a.Delta < 1) {
		return Bound{}, errors.New("an audit needs 100 runs or more, 0 < error < 1, 0 <= delta < 1")
	}
	var choose, measure [2][]int64
	for side, m := range []Mechanism{left, right} {
		all, err := run(ctx, a, side, m)
		if err != nil {
			return Bound{}, err
		}
		half := len(all) / 2
		choose[side], measure[side] = all[:half], all[half:]
		slices.Sort(choose[side])
		slices.Sort(measure[side])
	}
	event, side := chooseEvent(choose, a.Delta)
	n := int64(len(measure[0]))
	b := Bound{Event: event, Side: side, Of: n}
	for i := range measure {
		b.Hits[i] = hits(measure[i], event)
	}
	low, _ := ClopperPearson(b.Hits[side], n, 1-a.Error)
	_, high := ClopperPearson(b.Hits[1-side], n, 1-a.Error)
	b.Epsilon = math.Inf(-1)
	if low > a.Delta {
		b.Epsilon = math.Log((low - a.Delta) / high)
	}
	return b, nil
}

// run runs m, block by block, and returns the answers in the blocks' order.
func run(ctx context.Context, a Audit, side int, m Mechanism) ([]int64, error) {
	out := make([]int64, a.Runs)
	blocks := (a.Runs + blockRuns - 1) / blockRuns
	errs := make([]error, a.Workers)
	var next atomic.Int64
	var wg sync.WaitGroup
	for w := range a.Workers {
		wg.Go(func() {
			for {
				block := int(next.Add(1) - 1)
				if block >= blocks {
					return
				}
				errs[w] = ctx.Err()
				if errs[w] != nil {
					return
				}
				src := entropy.Seeded(seedOf(a.Seed, side, block))
				for i := block * blockRuns; i < min(a.Runs, (block+1)*blockRuns); i++ {
					out[i], errs[w] = m(src)
					if errs[w] != nil {
						return
					}
				}
			}
		})
	}
	wg.Wait()
	return out, errors.Join(errs...)
}

// seedOf tells the blocks of an audit apart.
func seedOf(seed uint64, side, block int) uint64 {
	h := fnv.New64a()
	var b [8]byte
	for _, v := range []uint64{seed, uint64(side), uint64(block)} {
		binary.LittleEndian.PutUint64(b[:], v)
		h.Write(b[:])
	}
	return h.Sum64()
}

// chooseEvent picks the event with the largest expected bound: half-lines and
// points, by a rough interval of five deviations. sorted are sorted.
func chooseEvent(sorted [2][]int64, delta float64) (Event, int) {
	n := float64(len(sorted[0]))
	best, bestScore, bestSide := Event{math.MinInt64, math.MaxInt64}, math.Inf(-1), 0
	try := func(e Event, c [2]int64) {
		for side := range c {
			p, q := float64(c[side])/n, float64(c[1-side])/n
			low := p - 5*math.Sqrt(p*(1-p)/n) - delta
			high := q + 5*math.Sqrt(q*(1-q)/n) + 12/n
			if low <= 0 {
				continue
			}
			if score := math.Log(low / high); score > bestScore {
				best, bestScore, bestSide = e, score, side
			}
		}
	}
	total := int64(len(sorted[0]))
	var before [2]int64 // answers below the value at hand
	for before[0] < total || before[1] < total {
		value := int64(math.MaxInt64)
		for i := range sorted {
			if before[i] < total {
				value = min(value, sorted[i][before[i]])
			}
		}
		var here, upTo, from [2]int64
		for i := range sorted {
			from[i] = total - before[i]
			for before[i] < total && sorted[i][before[i]] == value {
				before[i]++
				here[i]++
			}
			upTo[i] = before[i]
		}
		try(Event{value, value}, here)
		try(Event{math.MinInt64, value}, upTo)
		try(Event{value, math.MaxInt64}, from)
	}
	return best, bestSide
}

// hits counts the answers in e; sorted is sorted.
func hits(sorted []int64, e Event) int64 {
	from, _ := slices.BinarySearch(sorted, e.From)
	to := len(sorted)
	if e.To < math.MaxInt64 {
		to, _ = slices.BinarySearch(sorted, e.To+1)
	}
	return int64(to - from)
}

// ClopperPearson returns the interval of a probability that was seen k times in
// n, 0 <= k <= n, n >= 1: each side misses the truth with probability at most
// (1 - confidence)/2 (Clopper and Pearson 1934).
func ClopperPearson(k, n int64, confidence float64) (lo, hi float64) {
	tail := (1 - confidence) / 2
	lo, hi = 0, 1
	if k > 0 { // P(X >= k) = I_p(k, n-k+1) = tail, rising in p
		lo, _ = bisect(func(p float64) bool { return mathext.RegIncBeta(float64(k), float64(n-k+1), p) < tail })
	}
	if k < n { // P(X <= k) = I_{1-p}(n-k, k+1) = tail, falling in p
		_, hi = bisect(func(p float64) bool { return mathext.RegIncBeta(float64(n-k), float64(k+1), 1-p) > tail })
	}
	return lo, hi
}

// bisect returns the neighbouring numbers of [0, 1] between which under turns
// from true to false. (gonum's InvRegIncBeta would be shorter, but it is off by
// orders of magnitude in far tails; RegIncBeta is not.)
func bisect(under func(p float64) bool) (below, above float64) {
	below, above = 0, 1
	for {
		mid := below + (above-below)/2
		if mid <= below || mid >= above {
			return below, above
		}
		if under(mid) {
			below = mid
		} else {
			above = mid
		}
	}
}
