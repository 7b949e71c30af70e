package refine

import "math"

// The changes that make groups and unmake them.

// empty is a group without members.
func (a *annealer) empty() int32 {
	if last := len(a.free) - 1; last >= 0 {
		g := a.free[last]
		a.free = a.free[:last]
		return g
	}
	a.groups = append(a.groups, cluster{members: make([]int32, 0, a.limit)})
	for range a.dims {
		a.centre = append(a.centre, 0)
	}
	return int32(len(a.groups) - 1)
}

func (a *annealer) set(g int32, records []int32) {
	a.groups[g].members = append(a.groups[g].members[:0], records...)
	for _, i := range records {
		a.group[i] = g
	}
	a.renew(g)
}

// halves divides records into two groups of k at least by their farthest pair;
// they are put into order.
func (a *annealer) halves(records []int32) (left, right []int32) {
	var p, q int32
	far := -1.0
	for m, i := range records {
		for _, j := range records[:m] {
			if d := a.distance(i, j); d > far {
				far, p, q = d, i, j
			}
		}
	}
	gain := a.gains[:0]
	for m, i := range records {
		d := a.distance(i, p) - a.distance(i, q)
		gain = append(gain, d)
		for m > 0 && gain[m-1] > d {
			gain[m], records[m] = gain[m-1], records[m-1]
			m--
		}
		gain[m], records[m] = d, i
	}
	a.gains = gain
	cut := a.k
	for cut < len(records)-a.k && gain[cut] < 0 {
		cut++
	}
	return records[:cut], records[cut:]
}

// costOf is the sum of squares of records as one group.
func (a *annealer) costOf(records []int32) float64 {
	var w float64
	for m, i := range records {
		for _, j := range records[:m] {
			w += a.distance(i, j)
		}
	}
	return w / float64(len(records))
}

// moveAndSplit proposes to move p to a full group and to split that.
func (a *annealer) moveAndSplit(p, to int32) {
	from := a.group[p]
	A, B := &a.groups[from], &a.groups[to]
	now := A.cost() + B.cost()
	a.records = append(append(a.records[:0], B.members...), p)
	one, two := a.halves(a.records)
	d := a.leaving(p, from) + A.cost() + a.costOf(one) + a.costOf(two) - now
	if !a.accepts(d, now, len(A.members)+len(B.members)) {
		return
	}
	a.take(p)
	a.set(to, one)
	a.set(a.empty(), two)
}

// dissolve proposes to give each member of a group of k to the group of one of
// its near records.
func (a *annealer) dissolve(g int32) {
	c := &a.groups[g]
	now, total := c.cost(), len(c.members)
	d := -now
	placed := 0
	for _, p := range c.members {
		rise, to := a.cheapest(p, g)
		if to < 0 {
			break
		}
		d += rise
		now += a.groups[to].cost()
		total += len(a.groups[to].members)
		a.put(p, to)
		placed++
	}
	if placed == len(c.members) && a.accepts(d, now, total) {
		c.members = c.members[:0]
		c.squares, c.words = 0, 0
		a.free = append(a.free, g)
		return
	}
	for m := placed - 1; m >= 0; m-- {
		a.take(c.members[m])
		a.group[c.members[m]] = g
	}
	for _, p := range c.members[:placed] {
		a.group[p] = g
	}
}

// cheapest is the group beside g, of four that p's near records are in, whose
// cost p raises least; -1 for none.
func (a *annealer) cheapest(p, g int32) (rise float64, to int32) {
	var seen [4]int32
	tried := 0
	rise, to = math.Inf(1), -1
next:
	for _, q := range a.near.of(p) {
		h := a.group[q]
		if h == g || len(a.groups[h].members) >= a.limit {
			continue
		}
		for _, o := range seen[:tried] {
			if o == h {
				continue next
			}
		}
		seen[tried] = h
		tried++
		if r := a.joining(p, h); r < rise {
			rise, to = r, h
		}
		if tried == len(seen) {
			break
		}
	}
	return rise, to
}

// gather proposes a new group of p and of the nearest of its near records that
// their groups can spare: the inverse of [annealer.dissolve].
func (a *annealer) gather(p int32) {
	taken, from := append(a.records[:0], p), append(a.sources[:0], a.group[p])
	for _, q := range a.near.of(p) {
		if len(taken) == a.k {
			break
		}
		h := a.group[q]
		spare := len(a.groups[h].members) - a.k
		for _, g := range from {
			if g == h {
				spare--
			}
		}
		if q != p && spare > 0 {
			taken, from = append(taken, q), append(from, h)
		}
	}
	a.records, a.sources = taken, from
	if len(taken) < a.k {
		return
	}
	var now float64
	total := 0
	for m, h := range from {
		seen := false
		for _, g := range from[:m] {
			seen = seen || g == h
		}
		if !seen {
			now += a.groups[h].cost()
			total += len(a.groups[h].members)
		}
	}
	d := a.costOf(taken)
	for m, i := range taken {
		d += a.leaving(i, from[m])
		a.take(i)
	}
	if a.accepts(d, now, total) {
		a.set(a.empty(), taken)
		return
	}
	for m, i := range taken {
		a.put(i, from[m])
	}
}
