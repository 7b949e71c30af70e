package cost

import (
	"cmp"
	"slices"
)

// Cutter divides records into groups from the top down: a set of records is cut in
// two where the parts together lose least, and so on, until no cut lowers the
// loss. A cut is a place in an order of the records by an axis, so that both parts
// have k records or more and a judge, where there is one, allows both.
//
// With a judge of sensitive values the records are also ordered in each stratum by
// itself and the strata interleaved: a beginning of such an order has about the
// shares of the whole, so that it is allowed where a cut by the axis alone is not.
type Cutter struct {
	m      Measure
	k      int
	judge  Judge
	strata []uint32
	rank   [][]uint32 // by axis and record: its place among the different keys
}

const (
	// mostPlaces is how many places of an order are judged at most; in a longer
	// order they are evenly apart.
	mostPlaces = 256
	// mostChecks is how many cuts of a set are judged at most, the best first,
	// for sets of few records; a set of n records is judged about mostChecked/n
	// times, leastChecks times in any case.
	mostChecks, leastChecks, mostChecked = 512, 48, 200_000
)

// NewCutter prepares to cut records of m into groups of k or more. judge is nil
// where every group of k is allowed.
func NewCutter(m Measure, k int, judge Judge) *Cutter {
	c := &Cutter{m: m, k: k, judge: judge, rank: make([][]uint32, m.Axes())}
	if judge != nil {
		c.strata, _ = judge.Strata()
	}
	order := make([]int32, m.Len())
	key := make([]float64, m.Len())
	for a := range c.rank {
		for i := range order {
			order[i] = int32(i)
			key[i] = m.Key(a, int32(i))
		}
		slices.SortFunc(order, func(i, j int32) int { return cmp.Compare(key[i], key[j]) })
		rank := make([]uint32, m.Len())
		for at := 1; at < len(order); at++ {
			rank[order[at]] = rank[order[at-1]]
			if key[order[at]] != key[order[at-1]] {
				rank[order[at]]++
			}
		}
		c.rank[a] = rank
	}
	return c
}

// All lists the records so that the order of those that differ does not depend on
// their place in the table.
func (c *Cutter) All() []int32 {
	all := make([]int32, c.m.Len())
	for i := range all {
		all[i] = int32(i)
	}
	slices.SortFunc(all, func(i, j int32) int {
		for _, rank := range c.rank {
			if rank[i] != rank[j] {
				return cmp.Compare(rank[i], rank[j])
			}
		}
		return cmp.Compare(i, j)
	})
	return all
}

// Cut cuts the records at the best place, and returns nil where none lowers the
// loss.
func (c *Cutter) Cut(records []int32) (left, right []int32) {
	n := len(records)
	if n < 2*c.k {
		return nil, nil
	}
	w := c.cutting(records)
	whole := Of(c.m, records)
	if whole <= c.m.Guard() {
		return nil, nil
	}
	w.limit = whole - c.m.Guard()
	for a := range c.rank {
		if order := w.by(a); order != nil {
			w.look(order, false)
			if c.strata != nil {
				w.look(w.interleaved(order), true)
			}
		}
	}
	return w.best()
}

// Halve divides the records into groups of at most most, each of which the judge
// allows, by cuts near to the middle of interleaved orders; ok is false where it
// finds none.
func (c *Cutter) Halve(records []int32, most int) (groups [][]int32, ok bool) {
	if len(records) <= most {
		return [][]int32{records}, true
	}
	first, second, ok := c.Middle(records)
	if !ok {
		return nil, false
	}
	left, ok := c.Halve(first, most)
	if !ok {
		return nil, false
	}
	right, ok := c.Halve(second, most)
	return append(left, right...), ok
}

// Middle cuts the records once, as [Cutter.Halve] does: of the cuts nearest to the
// middle of each interleaved order it takes the one that loses least.
func (c *Cutter) Middle(records []int32) (left, right []int32, ok bool) {
	w := c.cutting(records)
	var best []int32
	at, least := 0, 0.0
	for a := range c.rank {
		order := w.by(a)
		if order == nil {
			continue
		}
		order = w.interleaved(order)
		if j, ok := w.middle(order); ok {
			if cost := Of(c.m, order[:j]) + Of(c.m, order[j:]); best == nil || cost < least {
				best, at, least = order, j, cost
			}
		}
	}
	return best[:at], best[at:], best != nil
}

// middle is the place of an order nearest to its middle at which the judge allows
// both parts.
func (w *cutting) middle(order []int32) (int, bool) {
	n := len(order)
	for d := 0; n/2-d >= w.c.k || n/2+d <= n-w.c.k; d++ {
		for _, j := range [2]int{n/2 - d, n/2 + d} {
			if j >= w.c.k && j <= n-w.c.k && w.c.judge.Holds(order[:j]) && w.c.judge.Holds(order[j:]) {
				return j, true
			}
		}
		if d >= mostChecks {
			break
		}
	}
	return 0, false
}

func (c *Cutter) cutting(records []int32) *cutting {
	n := len(records)
	return &cutting{c: c, records: records, up: make([]float64, n), down: make([]float64, n), back: make([]int32, n)}
}

// cutting is the search for a cut of a set.
type cutting struct {
	c        *Cutter
	records  []int32
	limit    float64
	up, down []float64
	back     []int32
	orders   [][]int32
	plain    []place // cuts of the orders by axes
	mixed    []place // cuts of the interleaved ones
}

// place is a cut: the records of an order before at, and the others.
type place struct {
	order, at int32
	cost      float64
}

// by orders the records by an axis, nil where they are all at one place on it.
// Equal ones stay as they are.
func (w *cutting) by(axis int) []int32 {
	rank := w.c.rank[axis]
	keys := make([]uint64, len(w.records))
	same := true
	for j, i := range w.records {
		keys[j] = uint64(rank[i])<<32 | uint64(j)
		same = same && rank[i] == rank[w.records[0]]
	}
	if same {
		return nil
	}
	if !w.c.m.Ordered(axis) {
		w.commonFirst(keys)
	}
	slices.Sort(keys)
	order := make([]int32, len(keys))
	for j, key := range keys {
		order[j] = w.records[uint32(key)]
	}
	return order
}

// commonFirst ranks values that have no order by how many records have them.
func (w *cutting) commonFirst(keys []uint64) {
	count := map[uint32]int{}
	for _, key := range keys {
		count[uint32(key>>32)]++
	}
	values := make([]uint32, 0, len(count))
	for v := range count {
		values = append(values, v)
	}
	slices.SortFunc(values, func(a, b uint32) int { return cmp.Or(cmp.Compare(count[b], count[a]), cmp.Compare(a, b)) })
	for n, v := range values {
		count[v] = n
	}
	for j, key := range keys {
		keys[j] = uint64(count[uint32(key>>32)])<<32 | uint64(uint32(key))
	}
}

// interleaved takes the strata of an order evenly.
func (w *cutting) interleaved(order []int32) []int32 {
	size := map[uint32]int{}
	for _, i := range order {
		size[w.c.strata[i]]++
	}
	met := make(map[uint32]int, len(size))
	type at struct {
		share  float64
		record int32
		stands int
	}
	all := make([]at, len(order))
	for j, i := range order {
		s := w.c.strata[i]
		all[j] = at{share: (float64(met[s]) + 0.5) / float64(size[s]), record: i, stands: j}
		met[s]++
	}
	slices.SortFunc(all, func(a, b at) int { return cmp.Or(cmp.Compare(a.share, b.share), cmp.Compare(a.stands, b.stands)) })
	out := make([]int32, len(all))
	for j := range all {
		out[j] = all[j].record
	}
	return out
}

// look notes the places of an order at which the parts lose less than the whole:
// the best one, or with a judge all that are looked at.
func (w *cutting) look(order []int32, mixed bool) {
	n, k := len(order), w.c.k
	for j, i := range order {
		w.back[n-1-j] = i
	}
	w.c.m.Beginnings(order, w.up)
	w.c.m.Beginnings(w.back, w.down)
	at := int32(len(w.orders))
	if w.c.judge == nil {
		best := -1
		for j := k; j <= n-k; j++ {
			if cost := w.up[j-1] + w.down[n-j-1]; cost < w.limit {
				w.limit, best = cost, j
			}
		}
		if best >= 0 {
			w.orders = append(w.orders[:0], order)
			w.plain = append(w.plain[:0], place{0, int32(best), w.limit})
		}
		return
	}
	w.orders = append(w.orders, order)
	places := &w.plain
	if mixed {
		places = &w.mixed
	}
	step := max(1, (n-2*k+1)/mostPlaces)
	for j := k; j <= n-k; j += step {
		if cost := w.up[j-1] + w.down[n-j-1]; cost < w.limit {
			*places = append(*places, place{at, int32(j), cost})
		}
	}
}

// best is the best cut that is allowed.
func (w *cutting) best() (left, right []int32) {
	found, ok := w.allowed(w.plain, w.limit)
	if ok {
		w.limit = found.cost
	}
	if better, is := w.allowed(w.mixed, w.limit); is {
		found, ok = better, true
	}
	if !ok {
		return nil, nil
	}
	order := w.orders[found.order]
	return slices.Clone(order[:found.at]), slices.Clone(order[found.at:])
}

// allowed is the best of some places below a limit at which the judge allows both
// parts, as far as it is asked.
func (w *cutting) allowed(places []place, limit float64) (place, bool) {
	slices.SortFunc(places, func(a, b place) int {
		return cmp.Or(cmp.Compare(a.cost, b.cost), cmp.Compare(a.order, b.order), cmp.Compare(a.at, b.at))
	})
	checks := min(mostChecks, max(leastChecks, mostChecked/len(w.records)))
	for _, p := range places[:min(len(places), checks)] {
		if w.c.judge != nil && p.cost >= limit {
			break
		}
		order := w.orders[p.order]
		if w.c.judge == nil || w.c.judge.Holds(order[:p.at]) && w.c.judge.Holds(order[p.at:]) {
			return p, true
		}
	}
	return place{}, false
}
