package space

import (
	"cmp"
	"context"
	"math"
	"runtime"
	"slices"
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
	t      *tree
	l      *Near
	ties   Ties
	target Target
	bits   []uint64 // of the target's codes
	out    []float64
	u      int32
	list   []found  // of the target, nearest first
	lists  []found  // of the records of the leaf at hand
	reach  float64  // how far the lists of the leaf at hand go
	beside []beside // leaves within that reach
}

// WithNear is the space with lists kept as [Space.KeepNear] does; s stays as it is.
func (s *Space) WithNear(ctx context.Context, q int, ties Ties, workers int) (*Space, error) {
	if s.kept != nil && s.keptTies == ties && s.kept.Q >= min(q, s.n-1) {
		return s, nil
	}
	t := *s
	if err := t.KeepNear(ctx, q, ties, workers); err != nil {
		return nil, err
	}
	return &t, nil
}

// found is a near record.
type found struct {
	distance float64
	record   int32
}

// beside is a leaf near the one at hand.
type beside struct {
	least float64 // that records of the two are apart
	order float64 // the nearer the lower, about
	leaf  int32
}

// slack widens what may still hold a neighbour by more than rounding: the
// bound of a box and a distance are summed in different ways.
const slack = 1 - 1e-9

// leaf fills in the lists of the records of a leaf: first from the records around,
// which are a run of positions, then from all leaves that are not too far from this
// one, as far as they are not too far from the record.
func (f *finder) leaf(k int32) {
	home, around := f.t.nodes[k], k
	for f.t.nodes[around].to-f.t.nodes[around].from <= int32(f.l.Q) { // there are more in all
		around = f.t.parent[around]
	}
	f.reach = 0
	f.lists = slices.Grow(f.lists[:0], int(home.to-home.from)*f.l.Q)[:int(home.to-home.from)*f.l.Q]
	for i := range f.lists {
		f.lists[i] = found{math.Inf(1), -1}
	}
	for at := range home.to - home.from {
		f.begin(home, at)
		f.scan(f.t.nodes[around].from, f.t.nodes[around].to)
		f.reach = max(f.reach, f.farthest())
	}
	f.beside = f.beside[:0]
	f.collect(0, k, around)
	slices.SortFunc(f.beside, func(a, b beside) int { return cmp.Compare(a.order, b.order) })
	for at := range home.to - home.from {
		f.begin(home, at)
		far := f.farthest()
		for _, b := range f.beside {
			if b.least*slack > far || f.t.bound(f.target.numbers, f.bits, b.leaf)*slack > far {
				continue
			}
			nd := &f.t.nodes[b.leaf]
			f.scan(nd.from, nd.to)
			far = f.farthest()
		}
		records, distances := f.l.Of(f.u)
		for i, n := range f.list {
			records[i], distances[i] = n.record, n.distance
		}
	}
}

// begin turns to a record of a leaf.
func (f *finder) begin(home node, at int32) {
	f.u = f.t.points.ID[home.from+at]
	f.list = f.lists[int(at)*f.l.Q:][:f.l.Q]
	f.t.points.Target(&f.target, int(home.from+at))
	f.bits = f.bits[:0]
	for a := range f.t.s.words {
		w := &f.t.s.words[a]
		f.bits = append(f.bits, w.bit(w.Codes[f.u]))
	}
}

// farthest is how far a record may be that the list has a place for.
func (f *finder) farthest() float64 { return f.list[len(f.list)-1].distance }

// collect lists the leaves below a node, other than those below around, that are
// within reach of leaf home.
func (f *finder) collect(k, home, around int32) {
	if k == around {
		return
	}
	nd := &f.t.nodes[k]
	inside := nd.from <= f.t.nodes[home].from && f.t.nodes[home].to <= nd.to
	var least float64
	if !inside {
		least = f.t.between(home, k)
		if least*slack > f.reach {
			return
		}
	}
	if nd.left < 0 {
		f.beside = append(f.beside, beside{least, f.t.apart(home, k), k})
		return
	}
	f.collect(nd.left, home, around)
	f.collect(nd.right, home, around)
}

// scan offers every record of a run of positions.
func (f *finder) scan(from, to int32) {
	const block = 256
	for lo := from; lo < to; lo += block {
		n := int(min(block, to-lo))
		if cap(f.out) < block {
			f.out = make([]float64, block)
		}
		out := f.out[:n]
		f.t.points.Distances2(&f.target, int(lo), out)
		ids := f.t.points.ID[lo:][:n]
		far := f.farthest()
		for i, d := range out {
			if d <= far {
				f.offer(ids[i], d)
				far = f.farthest()
			}
		}
	}
}

// offer inserts v in its place. It must not be farther than the last of the list.
func (f *finder) offer(v int32, d float64) {
	if v == f.u {
		return
	}
	list := f.list
	// The place is counted, in eights and then one by one, for the processor could
	// not foretell where a search ends.
	at := 0
	for i := 7; i < len(list); i += 8 {
		nearer := 0
		if list[i].distance < d {
			nearer = 8
		}
		at += nearer
	}
	rest := list[at:]
	for i := range rest[:min(7, len(rest))] {
		nearer := 0
		if rest[i].distance < d {
			nearer = 1
		}
		at += nearer
	}
	for ; at < len(list) && list[at].distance == d; at++ {
		// Places that are free hold distances beyond all others, and may be reached.
		n := int32(f.t.s.n)
		if other := list[at].record; other < 0 || f.ties.Rank(f.u, v, n) < f.ties.Rank(f.u, other, n) {
			break
		}
	}
	if at == len(list) {
		return
	}
	copy(list[at+1:], list[at:])
	list[at] = found{d, v}
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
		return noren.Reasonf("%s: %s", stage, err)
	}
	return nil
}
