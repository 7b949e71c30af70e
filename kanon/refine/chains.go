package refine

import (
	"cmp"
	"context"
	"math"
	"slices"
)

// chains improves groups by exchanges along many of them: a record goes to
// another group, one of that group to a third, and so on, until one takes the
// place of the first (a cycle), or one joins a group where the
// first left a group of more than k (a path). Each group changes once, so that
// what an exchange costs is the sum of what its steps do, and good ones are found
// step by step among very many (Thompson and Psaraftis 1993; Ahuja, Orlin and
// Sharma 2000). They carry what is over in one place to where it is wanted, far
// away, with groups of k all along the way, which single changes do not get
// through.
//
// A cycle that gains has a step to begin with from which on every part of it
// does (Lin and Kernighan 1973): parts that do not are given up.
type chains struct {
	a      *annealer
	apart  []float64 // by record: squared distance from its group's centre
	away   []float64 // its root
	widest []float64 // by group: the greatest apart of its members, on numeric axes
	oddest []float64 // by group: the greatest sum of what a member's words differ by from all
	unlike []float64 // what the words of the record at hand differ by from each of a group's
	words  float64   // the most that the words of two records differ by
	guard  float64   // the gain that counts
	steps  int       // the largest number of records that an exchange moves
	layers [][]part  // by the number of steps
	best   []int32   // by record: the part of the next layer that ends there, or -1
	found  []closed
	mark   []uint32 // by group: the last part that looked at it
	stamp  uint32
	used   []bool // by group
	chain  []int32
	turn   int
	work   int // groups that parts looked at
	pairs  int // records of these that were looked at
}

// part is an exchange without its last step: every record of a sequence takes
// the place of the next, the last of which is without a place.
type part struct {
	before     int32 // the part without the last record, in the layer before
	start, end int32
	path       bool // whether the first leaves a group of more than k
	cost       float64
}

// closed is a part whose end joins a group or, in a cycle, takes the place of
// the start.
type closed struct {
	layer, at int32
	join      int32 // -1 for a cycle
	cost      float64
}

const (
	// longSteps is how many records an exchange of a long search moves at most, and
	// shortSteps of one that is to be over soon.
	longSteps, shortSteps = 9, 6
	// chainNear is how many near places a record may go to.
	chainNear = 15
	// mostPasses bounds how often exchanges are looked for.
	mostPasses = 100
	// groupsProposal is about how many groups are looked at in the time of a
	// proposal of annealing.
	groupsProposal = 3
)

// exchangeAll makes exchanges along many groups until none that pays is found, and
// returns how much work that was, in proposals of annealing. When the context ends,
// it returns its error, and what was done stays.
func (a *annealer) exchangeAll(ctx context.Context) (work int, err error) {
	a.renewAll()
	c := newChains(a, longSteps)
	for ; c.turn < mostPasses; c.turn++ {
		if err := c.search(ctx); err != nil {
			return 0, err
		}
		if !c.exchange() {
			break
		}
	}
	return c.work / groupsProposal, nil
}

func newChains(a *annealer, steps int) *chains {
	n, groups := len(a.group), len(a.groups)
	c := &chains{
		a: a, guard: 1e-9 * a.mean, steps: steps,
		apart: make([]float64, n), away: make([]float64, n), unlike: make([]float64, a.limit), widest: make([]float64, groups),
		oddest: make([]float64, groups),
		layers: make([][]part, steps), best: slices.Repeat([]int32{-1}, n),
		mark: make([]uint32, groups), used: make([]bool, groups),
	}
	c.words = a.rows.MostDiffer()
	for g := range a.groups {
		c.measure(int32(g))
	}
	return c
}

// measure works out what is kept of a group.
func (c *chains) measure(g int32) {
	a := c.a
	members, words := a.groups[g].members, a.groups[g].words
	m := float64(len(members))
	c.widest[g], c.oddest[g] = 0, 0
	for _, i := range members {
		apart, unlike := squared(a.point(i), a.middle(g)), a.differAll(i, members)
		c.widest[g] = max(c.widest[g], apart)
		c.oddest[g] = max(c.oddest[g], unlike)
		c.apart[i] = apart + max(0, unlike-words/m)/m
		c.away[i] = math.Sqrt(c.apart[i])
	}
}

// search looks for exchanges that gain, step by step: of the parts with the same
// number of records that end at the same one, it goes on with the best.
func (c *chains) search(ctx context.Context) error {
	a := c.a
	c.found = c.found[:0]
	first := c.layers[0][:0]
	for p, g := range a.group {
		i := int32(p)
		first = append(first, part{start: i, end: i})
		if len(a.groups[g].members) > a.k {
			first = append(first, part{start: i, end: i, path: true, cost: a.leaving(i, g)})
		}
	}
	c.layers[0] = first
	for l := range c.steps {
		var next []part
		if l+1 < c.steps {
			next = c.layers[l+1][:0]
		}
		for at := range c.layers[l] {
			if at&1023 == 0 && ctx.Err() != nil {
				return ctx.Err()
			}
			next = c.extend(l, int32(at), next)
		}
		if l+1 < c.steps {
			c.layers[l+1] = next
		}
		for i := range next {
			c.best[next[i].end] = -1
		}
	}
	return nil
}

// extend closes a part if that gains, and adds those to next that are longer by
// a record and gain so far.
func (c *chains) extend(l int, at int32, next []part) []part {
	a, x := c.a, c.layers[l][at]
	c.stamp++
	for y, i := l, at; y >= 0; y-- {
		z := &c.layers[y][i]
		c.mark[a.group[z.end]] = c.stamp
		i = z.before
	}
	p, point := x.end, a.point(x.end)
	if l > 0 && !x.path {
		h := a.group[x.start]
		members := a.groups[h].members
		m := float64(len(members))
		d := squared(point, a.middle(h)) + max(0, a.differAll(p, members)-a.groups[h].words/m)/m
		c.close(l, at, -1, x.cost+d-c.apart[x.start]-a.distance(p, x.start)/m)
	}
	join, least := int32(-1), -c.guard
	for _, near := range a.near.some(p, c.turn) {
		h := a.group[near]
		if c.mark[h] == c.stamp {
			continue
		}
		c.mark[h] = c.stamp
		c.work++
		members := a.groups[h].members
		m := float64(len(members))
		d := squared(point, a.middle(h))
		// Without what p's words add.
		words := a.groups[h].words
		joins := x.path && len(members) < a.limit && x.cost+m/(m+1)*d-words/m/(m+1) < least
		longer := l+1 < c.steps && x.cost+c.replacingLeast(d, c.widest[h], c.oddest[h], m) < -c.guard
		if !joins && !longer {
			continue
		}
		c.pairs += len(members)
		if a.words {
			d += max(0, a.rows.DifferAll(p, members, c.unlike)-words/m) / m
		}
		if s := x.cost + m/(m+1)*d; joins && s < least {
			join, least = h, s
		}
		if !longer {
			continue
		}
		// With q of the group replaced by p its cost changes by
		// |p-c|² - |q-c|² - |p-q|²/m, and |p-q| <= |p-c| + |q-c|.
		from, far, share := x.cost+d, math.Sqrt(d), 1/m
		for j, q := range members {
			before, limit := c.best[q], -c.guard
			if before >= 0 {
				limit = next[before].cost
			}
			s, most := from-c.apart[q], far+c.away[q]
			if s-most*most*share >= limit {
				continue
			}
			pq := squared(point, a.point(q))
			if a.words {
				pq += c.unlike[j]
			}
			s -= pq * share
			if s >= limit {
				continue
			}
			if before < 0 {
				before = int32(len(next))
				next = append(next, part{})
				c.best[q] = before
			}
			next[before] = part{before: at, start: x.start, end: q, path: x.path, cost: s}
		}
	}
	if join >= 0 {
		c.close(l, at, join, least)
	}
	return next
}

// replacingLeast is no more than by how much the cost of a group of m records
// changes when a record comes and one goes, d being the squared distance of the
// first from the centre on numeric axes, widest the greatest of a member and oddest
// the greatest sum of what a member's words differ by from those of all: |p-q|² <= 2 |p-c|² + 2 |q-c|² on numeric axes.
func (c *chains) replacingLeast(d, widest, oddest, m float64) float64 {
	return d - widest - (oddest+c.words+2*(d+widest))/m
}

// close notes an exchange if it gains.
func (c *chains) close(l int, at, join int32, cost float64) {
	if cost < -c.guard {
		c.found = append(c.found, closed{layer: int32(l), at: at, join: join, cost: cost})
	}
}

// exchange makes the exchanges that were found, the best first, as far as they
// change different groups, and reports whether there were any.
func (c *chains) exchange() bool {
	a := c.a
	slices.SortFunc(c.found, func(x, y closed) int {
		if x.cost != y.cost {
			return cmp.Compare(x.cost, y.cost)
		}
		return cmp.Or(cmp.Compare(x.layer, y.layer), cmp.Compare(x.at, y.at), cmp.Compare(x.join, y.join))
	})
	clear(c.used)
next:
	for _, e := range c.found {
		c.chain = c.chain[:0]
		for l, at := e.layer, e.at; l >= 0; l-- {
			x := &c.layers[l][at]
			c.chain = append(c.chain, x.end)
			at = x.before
		}
		// The last record comes first.
		to := e.join
		if to < 0 {
			to = a.group[c.chain[len(c.chain)-1]]
		}
		if c.used[to] {
			continue
		}
		for _, p := range c.chain {
			if c.used[a.group[p]] {
				continue next
			}
		}
		c.used[to] = true
		for _, p := range c.chain {
			from := a.group[p]
			c.used[from] = true
			a.take(p)
			a.put(p, to)
			to = from
		}
	}
	for g, used := range c.used {
		if used {
			a.renew(int32(g))
			c.measure(int32(g))
		}
	}
	return len(c.found) > 0
}
