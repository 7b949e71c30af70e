package space

import (
	"context"
	"fmt"
	"runtime"
	"sync"

	"github.com/noren-privacy/noren"
)

// Ties ranks records at equal distance from u.
type Ties uint8

const (
	// Cyclic ranks v by (v-u) mod n, so that no record of a set of duplicates
	// is nearer to all others than the rest.
	Cyclic Ties = iota
	// ByIndex ranks v by v.
	ByIndex
)

// String is "cyclic" or "index".
func (t Ties) String() string {
	if t == ByIndex {
		return "index"
	}
	return "cyclic"
}

// Rank is the place of v, of n records, among those equally far from u.
func (t Ties) Rank(u, v, n int32) int32 {
	if t == ByIndex {
		return v
	}
	if v > u {
		return v - u
	}
	return v - u + n
}

// Near holds the q nearest other records of every record, nearest first.
type Near struct {
	Q        int
	Record   []int32   // n*Q
	Distance []float64 // n*Q, squared
}

// Of returns the near records of i and their squared distances.
func (l *Near) Of(i int32) ([]int32, []float64) {
	at := int(i) * l.Q
	return l.Record[at : at+l.Q], l.Distance[at : at+l.Q]
}

// first is the lists cut to q records.
func (l *Near) first(q int) *Near {
	if q == l.Q || q < 0 {
		return l
	}
	n := len(l.Record) / l.Q
	out := &Near{Q: q, Record: make([]int32, 0, n*q), Distance: make([]float64, 0, n*q)}
	for at := 0; at < len(l.Record); at += l.Q {
		out.Record = append(out.Record, l.Record[at:at+q]...)
		out.Distance = append(out.Distance, l.Distance[at:at+q]...)
	}
	return out
}

// NearOptions say how near lists are found.
type NearOptions struct {
	// Ties ranks equal distances.
	Ties Ties
	// Workers is the number of parallel workers; the result does not depend on it.
	// Defaults to one a processor.
	Workers int
	// Progress receives progress. Optional.
	Progress noren.Progress
}

// NearLists finds the q nearest other records of every record, exactly; q is
// cut to n-1.
func (s *Space) NearLists(ctx context.Context, q int, o NearOptions) (*Near, error) {
	q = min(q, s.n-1)
	if l := s.kept; l != nil && l.Q > 0 && s.keptTies == o.Ties && q <= l.Q {
		return l.first(q), nil
	}
	l := &Near{Q: q, Record: make([]int32, s.n*q), Distance: make([]float64, s.n*q)}
	if q <= 0 {
		return l, nil
	}
	t := newTree(s)
	var leaves []int32
	for k, nd := range t.nodes {
		if nd.left < 0 {
			leaves = append(leaves, int32(k))
		}
	}
	err := Parallel(ctx, len(leaves), "near lists", ParallelOptions{Workers: o.Workers, Progress: o.Progress}, func() func(int) {
		f := &finder{t: t, l: l, ties: o.Ties}
		return func(i int) { f.leaf(leaves[i]) }
	})
	if err != nil {
		return nil, err
	}
	return l, nil
}

// KeepNear finds the lists that [Space.NearLists] is going to be asked for, q
// records long or less, and keeps them: what is done to a space one thing after
// the other need not find them again. It must be called before the space is
// used by several goroutines.
func (s *Space) KeepNear(ctx context.Context, q int, ties Ties, workers int) error {
	l, err := s.NearLists(ctx, q, NearOptions{Ties: ties, Workers: workers})
	if err != nil {
		return err
	}
	s.kept, s.keptTies = l, ties
	return nil
}

// finder fills in the lists of some records.
type finder struct {
	t        *tree
	l        *Near
	ties     Ties
	target   Target
	codes    []uint32
	out      []float64
	home     int32
	u        int32
	records  []int32
	distance []float64
	have     int
}

func (f *finder) leaf(k int32) {
	nd := f.t.nodes[k]
	for p := nd.from; p < nd.to; p++ {
		f.u = f.t.points.ID[p]
		f.records, f.distance = f.l.Of(f.u)
		f.have = 0
		f.home = k
		f.t.points.Target(&f.target, int(p))
		f.codes = f.codes[:0]
		for a := range f.t.s.words {
			f.codes = append(f.codes, f.t.s.words[a].Codes[f.u])
		}
		f.scan(k)
		f.visit(0)
	}
}

// slack widens what may still hold a neighbour by more than rounding: the
// bound of a box and a distance are summed in different ways.
const slack = 1 - 1e-9

// visit looks into a node unless it is too far. Its nearer child comes first.
func (f *finder) visit(k int32) {
	nd := &f.t.nodes[k]
	if nd.left < 0 {
		if k != f.home {
			f.scan(k)
		}
		return
	}
	a, b := nd.left, nd.right
	da, db := f.t.bound(f.target.numbers, f.codes, a), f.t.bound(f.target.numbers, f.codes, b)
	if db < da {
		a, b, da, db = b, a, db, da
	}
	if !f.tooFar(da) {
		f.visit(a)
	}
	if !f.tooFar(db) {
		f.visit(b)
	}
}

func (f *finder) tooFar(bound float64) bool {
	return f.have == len(f.records) && bound*slack > f.distance[f.have-1]
}

// scan offers every record of a leaf.
func (f *finder) scan(k int32) {
	nd := &f.t.nodes[k]
	const block = 256
	for lo := nd.from; lo < nd.to; lo += block {
		n := int(min(block, nd.to-lo))
		if cap(f.out) < block {
			f.out = make([]float64, block)
		}
		out := f.out[:n]
		f.t.points.Distances2(&f.target, int(lo), out)
		ids := f.t.points.ID[lo : int(lo)+n]
		for i, d := range out {
			if f.have < len(f.records) || d <= f.distance[f.have-1] {
				f.offer(ids[i], d)
			}
		}
	}
}

// offer inserts v in its place, if it has one.
func (f *finder) offer(v int32, d float64) {
	if v == f.u {
		return
	}
	n := int32(f.t.s.n)
	records, distance := f.records, f.distance
	at := f.have
	if at == len(records) {
		at--
		if d > distance[at] || d == distance[at] && f.ties.Rank(f.u, v, n) >= f.ties.Rank(f.u, records[at], n) {
			return
		}
	} else {
		f.have++
	}
	for at > 0 {
		before := distance[at-1]
		if d > before || d == before && f.ties.Rank(f.u, v, n) >= f.ties.Rank(f.u, records[at-1], n) {
			break
		}
		records[at], distance[at] = records[at-1], before
		at--
	}
	records[at], distance[at] = v, d
}

// ParallelOptions say how work is divided among goroutines.
type ParallelOptions struct {
	// Workers is the number of goroutines. Defaults to one a processor.
	Workers int
	// Progress receives progress, from one goroutine at a time. Optional.
	Progress noren.Progress
}

// Parallel calls work(0..n-1) from several goroutines, each with a function of
// its own made by start, and ends early when the context does. The
// stage is named in progress and errors.
func Parallel(ctx context.Context, n int, stage string, o ParallelOptions, start func() func(int)) error {
	workers := o.Workers
	if workers <= 0 {
		workers = runtime.GOMAXPROCS(0)
	}
	var mu sync.Mutex
	var wg sync.WaitGroup
	next, done := 0, 0
	for range min(workers, n) {
		wg.Add(1)
		go func() {
			defer wg.Done()
			work := start()
			for {
				mu.Lock()
				i := next
				next++
				if i > 0 && i < n {
					done++
					o.Progress.Report(stage, int64(done), int64(n))
				}
				mu.Unlock()
				if i >= n || ctx.Err() != nil {
					return
				}
				work(i)
			}
		}()
	}
	wg.Wait()
	if err := ctx.Err(); err != nil {
		return fmt.Errorf("%s: %w", stage, err)
	}
	return nil
}
