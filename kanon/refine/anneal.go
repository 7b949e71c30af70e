package refine

import (
	"context"
	"math"
	"math/rand/v2"

	"noren/kanon/space"
)

// annealer changes a partition of a cell at a temperature: it also takes
// changes that raise the sum of squares by D, with probability exp(-D/T)
// (Kirkpatrick, Gelatt and Vecchi 1983).
//
// T is a share of what a record of the two groups costs, and not one number for
// the whole table: outliers and dense places are then searched alike.
//
// Numeric axes are worked out from centres, the few words of a group's members
// directly. With c the centre of B and b its records, the squared distances from
// p to all of B sum up to b |p-c|² + SSE(B).
type annealer struct {
	k, limit int
	dims     int
	x        []float64 // n*dims
	words    int
	codes    []uint32 // n*words
	weight   []float64
	near     *space.Near
	group    []int32
	own      []float64 // by record: squared distance to its group's centre, numeric axes
	groups   []cluster
	free     []int32 // empty groups
	rng      *rand.Rand
	heat     float64 // the temperature, as a share
}

// cluster is a group under change.
type cluster struct {
	members []int32
	centre  []float64 // of the numeric axes
	squares float64   // sum of squares of the numeric axes
	words   float64   // sum over pairs of what their words differ by
}

// cost is the sum of squares of the group: with W a sum of squared distances
// over pairs, that of m records is W/m.
func (c *cluster) cost() float64 {
	if len(c.members) == 0 {
		return 0
	}
	return c.squares + c.words/float64(len(c.members))
}

func newAnnealer(s *space.Space, p space.Partition, near *space.Near, k int, rng *rand.Rand) *annealer {
	n := s.Len()
	a := &annealer{
		k: k, limit: 2*k - 1, near: near, rng: rng,
		dims: len(s.Numbers()), words: len(s.Words()),
		group: make([]int32, n), own: make([]float64, n), groups: make([]cluster, p.Groups),
	}
	a.x = make([]float64, n*a.dims)
	for j, column := range s.Numbers() {
		for i, v := range column {
			a.x[i*a.dims+j] = v
		}
	}
	a.codes = make([]uint32, n*a.words)
	for j, w := range s.Words() {
		a.weight = append(a.weight, w.Weight)
		for i, c := range w.Codes {
			a.codes[i*a.words+j] = c
		}
	}
	for i, g := range p.Group {
		a.group[i] = int32(g)
		a.groups[g].members = append(a.groups[g].members, int32(i))
	}
	for g := range a.groups {
		a.renew(int32(g))
	}
	return a
}

// point is the numeric part of a record.
func (a *annealer) point(i int32) []float64 { return a.x[int(i)*a.dims:][:a.dims] }

func squared(x, y []float64) float64 {
	var d float64
	y = y[:len(x)]
	for c, v := range x {
		t := v - y[c]
		d += t * t
	}
	return d
}

// differ is what the words of two records add to their squared distance.
func (a *annealer) differ(i, j int32) float64 {
	var d float64
	u, v := a.codes[int(i)*a.words:][:a.words], a.codes[int(j)*a.words:][:a.words]
	for c, w := range a.weight {
		if u[c] != v[c] {
			d += w
		}
	}
	return d
}

// differAll is what they add to those from p to all of some records.
func (a *annealer) differAll(p int32, records []int32) float64 {
	if a.words == 0 {
		return 0
	}
	var d float64
	for _, i := range records {
		d += a.differ(p, i)
	}
	return d
}

func (a *annealer) distance(i, j int32) float64 {
	d := squared(a.point(i), a.point(j))
	if a.words > 0 {
		d += a.differ(i, j)
	}
	return d
}

// renew works out all that is known of a group from its members, so that
// rounding does not add up.
func (a *annealer) renew(g int32) {
	c := &a.groups[g]
	if c.centre == nil {
		c.centre = make([]float64, a.dims)
	}
	clear(c.centre)
	m := float64(len(c.members))
	for _, i := range c.members {
		for j, v := range a.point(i) {
			c.centre[j] += v
		}
	}
	for j := range c.centre {
		c.centre[j] /= m
	}
	c.squares, c.words = 0, 0
	for n, i := range c.members {
		a.own[i] = squared(a.point(i), c.centre)
		c.squares += a.own[i]
		c.words += a.differAll(i, c.members[:n])
	}
}

// joined is what a group would cost with p, and left what it would without.
func (a *annealer) joined(p int32, c *cluster) float64 {
	m := float64(len(c.members))
	return c.squares + m/(m+1)*squared(a.point(p), c.centre) + (c.words+a.differAll(p, c.members))/(m+1)
}

func (a *annealer) left(p int32, c *cluster) float64 {
	m := float64(len(c.members))
	return c.squares - m/(m-1)*a.own[p] + (c.words-a.differAll(p, c.members))/(m-1)
}

// accepts decides on a change by d of two groups with together m records and
// the sum of squares now.
func (a *annealer) accepts(d, now float64, m int) bool {
	if d <= 0 {
		return true
	}
	t := a.heat * now / float64(m)
	if d > 12*t {
		return false
	}
	return a.rng.Float64() < math.Exp(-d/t)
}

// cool anneals from a heat down to coolest, in steps, with that many proposals
// in all.
func (a *annealer) cool(ctx context.Context, from float64, proposals int) error {
	const steps = 24
	for step := range steps {
		a.heat = from * math.Pow(coolest/from, float64(step)/(steps-1))
		if err := a.run(ctx, proposals/steps); err != nil {
			return err
		}
	}
	return nil
}

// run makes that many proposals.
func (a *annealer) run(ctx context.Context, proposals int) error {
	n := len(a.group)
	for step := range proposals {
		if step&4095 == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		p := int32(a.rng.IntN(n))
		records, _ := a.near.Of(p)
		q := records[a.rng.IntN(len(records))]
		from, to := a.group[p], a.group[q]
		if from == to {
			continue
		}
		sizeA, sizeB := len(a.groups[from].members), len(a.groups[to].members)
		switch {
		case sizeA > a.k && sizeB < a.limit && a.rng.Uint32()&1 == 0:
			a.move(p, to)
		case sizeA > a.k && sizeB == a.limit && a.rng.Uint32()&3 == 0:
			a.moveAndSplit(p, to)
		case sizeA == a.k && a.rng.Uint32()&15 == 0:
			a.dissolve(from)
		default:
			a.swap(p, to)
		}
	}
	return nil
}

// move proposes to move p to another group.
func (a *annealer) move(p, to int32) {
	A, B := &a.groups[a.group[p]], &a.groups[to]
	now := A.cost() + B.cost()
	if d := a.left(p, A) + a.joined(p, B) - now; a.accepts(d, now, len(A.members)+len(B.members)) {
		from := a.group[p]
		a.take(p)
		a.put(p, to)
		a.renew(from)
		a.renew(to)
	}
}

// take and put change membership alone; renew must follow.
func (a *annealer) take(p int32) {
	c := &a.groups[a.group[p]]
	for m, i := range c.members {
		if i == p {
			last := len(c.members) - 1
			c.members[m] = c.members[last]
			c.members = c.members[:last]
			return
		}
	}
}

func (a *annealer) put(p, g int32) {
	a.groups[g].members = append(a.groups[g].members, p)
	a.group[p] = g
}

// swap proposes to exchange p with the member q of another group that fits
// best. It changes the numeric part by
//
//	|q-c_A|² - |p-c_A|² - |p-q|²/a + |p-c_B|² - |q-c_B|² - |p-q|²/b
//
// and the sums over pairs of words in the same way as those of distances.
func (a *annealer) swap(p, to int32) {
	from := a.group[p]
	A, B := &a.groups[from], &a.groups[to]
	sa, sb := float64(len(A.members)), float64(len(B.members))
	x := a.point(p)
	base := squared(x, B.centre) - a.own[p]
	share := 1/sa + 1/sb
	pa, pb := a.differAll(p, A.members), a.differAll(p, B.members)
	best, with := math.Inf(1), int32(-1)
	for _, q := range B.members {
		y := a.point(q)
		d := base - a.own[q] + squared(y, A.centre)
		d -= squared(x, y) * share
		if a.words > 0 {
			pq := a.differ(p, q)
			d += (a.differAll(q, A.members)-pq-pa)/sa + (pb-pq-a.differAll(q, B.members))/sb
		}
		if d < best {
			best, with = d, q
		}
	}
	if !a.accepts(best, A.cost()+B.cost(), len(A.members)+len(B.members)) {
		return
	}
	a.take(p)
	a.take(with)
	a.put(p, to)
	a.put(with, from)
	a.renew(from)
	a.renew(to)
}

// halves divides records into two groups of k at least by their farthest pair.
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
	gain := make([]float64, len(records))
	for m, i := range records {
		gain[m] = a.distance(i, p) - a.distance(i, q)
	}
	order := make([]int, len(records))
	for m := range order {
		order[m] = m
		for o := m; o > 0 && gain[order[o]] < gain[order[o-1]]; o-- {
			order[o], order[o-1] = order[o-1], order[o]
		}
	}
	for at, m := range order {
		if at < a.k || at < len(records)-a.k && gain[m] < 0 {
			left = append(left, records[m])
		} else {
			right = append(right, records[m])
		}
	}
	return left, right
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
	one, two := a.halves(append(append([]int32(nil), B.members...), p))
	d := a.left(p, A) + a.costOf(one) + a.costOf(two) - now
	if !a.accepts(d, now, len(A.members)+len(B.members)) {
		return
	}
	a.take(p)
	a.renew(from)
	a.set(to, one)
	a.set(a.empty(), two)
}

// empty is a group without members.
func (a *annealer) empty() int32 {
	if last := len(a.free) - 1; last >= 0 {
		g := a.free[last]
		a.free = a.free[:last]
		return g
	}
	a.groups = append(a.groups, cluster{})
	return int32(len(a.groups) - 1)
}

func (a *annealer) set(g int32, records []int32) {
	a.groups[g].members = append(a.groups[g].members[:0], records...)
	for _, i := range records {
		a.group[i] = g
	}
	a.renew(g)
}

// dissolve proposes to give each member of a group of k to the group of one of
// its near records.
func (a *annealer) dissolve(g int32) {
	members := append([]int32(nil), a.groups[g].members...)
	now, total := a.groups[g].cost(), len(members)
	d := -now
	placed := 0
	for _, p := range members {
		rise, to := a.cheapest(p, g)
		if to < 0 {
			break
		}
		d += rise
		now += a.groups[to].cost()
		total += len(a.groups[to].members)
		a.put(p, to)
		a.renew(to)
		placed++
	}
	if placed == len(members) && a.accepts(d, now, total) {
		a.groups[g].members = a.groups[g].members[:0]
		a.free = append(a.free, g)
		return
	}
	for _, p := range members[:placed] {
		to := a.group[p]
		a.take(p)
		a.renew(to)
		a.group[p] = g
	}
	a.renew(g)
}

// cheapest is the group beside g, of four that p's near records are in, whose
// cost p raises least; -1 for none with room.
func (a *annealer) cheapest(p, g int32) (rise float64, to int32) {
	records, _ := a.near.Of(p)
	var seen [4]int32
	tried := 0
	rise, to = math.Inf(1), -1
next:
	for _, q := range records {
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
		if r := a.joined(p, &a.groups[h]) - a.groups[h].cost(); r < rise {
			rise, to = r, h
		}
		if tried == len(seen) {
			break
		}
	}
	return rise, to
}

// partition is the state.
func (a *annealer) partition() space.Partition {
	p := space.Partition{Group: make([]uint32, len(a.group)), Groups: len(a.groups)}
	for i, g := range a.group {
		p.Group[i] = uint32(g)
	}
	return p.Canonical()
}
