package bound

import (
	"context"

	"github.com/noren-privacy/noren/kanon/space"
)

// searcher searches from one root at a time.
type searcher struct {
	ctx    context.Context
	p      *pricing
	target space.Target
	away   []float64 // deflated distances of the root to later positions
	least  []float64 // of one size: what each later position adds at least
	local  []int32   // position -> candidate, -1
	cands  []int32   // candidate -> position
	sizes  [][]int32 // candidates of each size
	matrix []float64 // distances of candidates
	width  int
	// Per candidate: sums of its smallest distances to all candidates, to those
	// that are left of one size, and whichever of these is in use.
	wide, narrowed, near []float64
	levels               []level
	chosen               []int32 // candidates in the group, the root left out
	m                    int
	half                 float64 // 1/(2m)
	each                 float64 // 1/m

	limit  float64 // what is looked for lies below
	steps  int
	result outcome
	rootID int32
	hits   []int8
}

// level is the candidates at one depth of the search.
type level struct {
	c []int32
	a []float64 // what it adds for sure: distances to the chosen over m, less its price
	b []float64 // and at least
}

func newSearcher(ctx context.Context, p *pricing) *searcher {
	s := &searcher{
		ctx: ctx, p: p, width: p.f.largest, away: make([]float64, len(p.order)), least: make([]float64, len(p.order)),
		local: make([]int32, len(p.order)),
	}
	for i := range s.local {
		s.local[i] = -1
	}
	s.levels = make([]level, p.f.largest)
	s.sizes = make([][]int32, len(p.rest))
	s.hits = make([]int8, len(p.cuts.set))
	return s
}

// smallest keeps the t smallest of a stream.
type smallest struct {
	v []float64
	t int
}

func (s *smallest) reset(t int) { s.v, s.t = s.v[:0], t }

func (s *smallest) offer(x float64) {
	if len(s.v) == s.t {
		if s.t == 0 || x >= s.v[s.t-1] {
			return
		}
		s.v = s.v[:s.t-1]
	}
	at := len(s.v)
	s.v = append(s.v, x)
	for at > 0 && s.v[at-1] > x {
		s.v[at] = s.v[at-1]
		at--
	}
	s.v[at] = x
}

func (s *smallest) sum(t int) float64 {
	var sum float64
	for _, x := range s.v[:t] {
		sum += x
	}
	return sum
}

func (s *searcher) root(at int) outcome {
	p := s.p
	s.limit, s.steps = p.below, p.budget
	s.result = outcome{others: p.below}
	s.rootID = p.order[at]
	later := len(p.order) - at - 1
	away := s.away[:later]
	p.points.Target(&s.target, at)
	const block = 256
	for lo := 0; lo < later; lo += block {
		hi := min(lo+block, later)
		p.points.Distances2(&s.target, at+1+lo, away[lo:hi])
	}
	for q := range away {
		away[q] *= p.f.deflate
	}
	for _, c := range s.cands {
		s.local[c] = -1
	}
	s.cands = s.cands[:0]
	base := -p.price[at]
	for m := p.f.k; m <= p.f.largest; m++ {
		s.gather(at, m, base)
	}
	s.measure()
	for m := p.f.k; m <= p.f.largest; m++ {
		s.size(at, m, base)
	}
	s.result.others = min(s.result.others, s.limit)
	return s.result
}

// gather finds the later positions that a group of m of low reduced cost may
// hold.
func (s *searcher) gather(at, m int, base float64) {
	p := s.p
	list := s.sizes[m-p.f.k][:0]
	defer func() { s.sizes[m-p.f.k] = list }()
	left := m - 1
	away := s.away[:len(p.order)-at-1]
	if len(away) < left {
		return
	}
	each := 1 / float64(m)
	rest := p.rest[m-p.f.k][at+1:]
	least := s.least[:len(away)]
	var low smallest
	low.reset(left)
	for q, d := range away {
		x := d*each + rest[q]
		least[q] = x
		if len(low.v) < left || x < low.v[left-1] {
			low.offer(x)
		}
	}
	if base+low.sum(left) >= s.limit {
		return
	}
	slack := s.limit - base - low.sum(left-1)
	if p.breadth < len(away) {
		count := 0
		for _, x := range least {
			if x < slack {
				count++
			}
		}
		if count > p.breadth {
			var cap smallest
			cap.reset(p.breadth + 1)
			for _, x := range least {
				cap.offer(x)
			}
			slack = cap.v[p.breadth]
			s.result.others = min(s.result.others, base+low.sum(left-1)+slack)
		}
	}
	for q, x := range least {
		if x >= slack {
			continue
		}
		c := at + 1 + q
		if s.local[c] < 0 {
			s.local[c] = int32(len(s.cands))
			s.cands = append(s.cands, int32(c))
		}
		list = append(list, s.local[c])
	}
}

// measure fills the distances of the candidates, and the sums of the nearest.
func (s *searcher) measure() {
	n := len(s.cands)
	if cap(s.matrix) < n*n {
		s.matrix = make([]float64, n*n*5/4)
	}
	s.matrix = s.matrix[:n*n]
	for a, c := range s.cands {
		i := s.p.order[c]
		s.matrix[a*n+a] = 0
		for b, e := range s.cands[:a] {
			d := s.p.f.distance(i, s.p.order[e])
			s.matrix[a*n+b], s.matrix[b*n+a] = d, d
		}
	}
	if cap(s.wide) < n*s.width {
		s.wide, s.narrowed = make([]float64, n*s.width*5/4), make([]float64, n*s.width*5/4)
	}
	s.wide, s.narrowed = s.wide[:n*s.width], s.narrowed[:n*s.width]
	s.near = s.wide
	all := s.levels[0].c[:0]
	for c := range s.cands {
		all = append(all, int32(c))
	}
	s.levels[0].c = all
	s.sum(all, s.width-2)
}

// sum fills near for the candidates of a list: sums of up to most smallest
// distances to others of it.
func (s *searcher) sum(list []int32, most int) {
	n := len(s.cands)
	var store [32]float64
	low := store[:]
	if most > len(low) {
		low = make([]float64, most)
	}
	low = low[:most]
	for _, c := range list {
		for j := range low {
			low[j] = inf
		}
		row := s.matrix[int(c)*n : int(c)*n+n]
		worst := inf
		if most == 0 {
			worst = -inf
		}
		for _, e := range list {
			d := row[e]
			if d >= worst || e == c {
				continue
			}
			at := most - 1
			for at > 0 && low[at-1] > d {
				low[at] = low[at-1]
				at--
			}
			low[at] = d
			worst = low[most-1]
		}
		sums := s.near[int(c)*s.width : int(c)*s.width+s.width]
		var sum float64
		sums[0] = 0
		for j, d := range low {
			sum += d
			sums[j+1] = sum
		}
	}
}

// size searches the groups of m.
func (s *searcher) size(at, m int, base float64) {
	list := s.sizes[m-s.p.f.k]
	left := m - 1
	if len(list) < left {
		return
	}
	s.m, s.each, s.half = m, 1/float64(m), 1/float64(2*m)
	l := &s.levels[0]
	l.c, l.a = append(l.c[:0], list...), l.a[:0]
	for _, c := range l.c {
		q := s.cands[c]
		l.a = append(l.a, s.away[int(q)-at-1]*s.each-s.p.price[q])
	}
	// The nearest of all candidates first; of those that are left when it is
	// worth it.
	s.near = s.wide
	for over := len(s.cands); ; {
		if !s.narrow(l, left, base) {
			return
		}
		if len(l.c) > over*3/4 || len(l.c) == left {
			break
		}
		over = len(l.c)
		s.near = s.narrowed
		s.sum(l.c, left-1)
	}
	s.chosen = s.chosen[:0]
	s.cutPrice(s.rootID)
	s.extend(0, left, base)
	s.untoll(s.rootID)
}

// narrow drops the candidates of l that no group of low reduced cost holds and
// sorts the others by what they add at least. It returns false when there
// is no such group at all.
func (s *searcher) narrow(l *level, left int, base float64) bool {
	if len(l.c) < left {
		l.c = l.c[:0]
		return false
	}
	l.b = l.b[:0]
	var store [20]float64
	low := smallest{v: store[:0], t: left}
	for j, c := range l.c {
		x := l.a[j] + s.half*s.near[int(c)*s.width+left-1]
		l.b = append(l.b, x)
		if len(low.v) < left || x < low.v[left-1] {
			low.offer(x)
		}
	}
	if base+low.sum(left) >= s.limit {
		l.c = l.c[:0]
		return false
	}
	slack := s.limit - base - low.sum(left-1)
	to := 0
	for j, x := range l.b {
		if x >= slack {
			continue
		}
		c, a := l.c[j], l.a[j]
		i := to
		for i > 0 && l.b[i-1] > x {
			l.c[i], l.a[i], l.b[i] = l.c[i-1], l.a[i-1], l.b[i-1]
			i--
		}
		l.c[i], l.a[i], l.b[i] = c, a, x
		to++
	}
	l.c, l.a, l.b = l.c[:to], l.a[:to], l.b[:to]
	return to >= left
}

// extend adds left more to the chosen ones, out of the candidates of the level
// depth, which are sorted by what they add at least.
func (s *searcher) extend(depth, left int, base float64) {
	l := &s.levels[depth]
	if left == 1 {
		for j, c := range l.c {
			if r := base + l.a[j]; r < s.limit {
				id := s.p.order[s.cands[c]]
				r += s.cutPrice(id)
				if r < s.limit {
					s.chosen = append(s.chosen, c)
					s.found(r)
					s.chosen = s.chosen[:len(s.chosen)-1]
				}
				s.untoll(id)
			}
		}
		return
	}
	n := len(s.cands)
	next := &s.levels[depth+1]
	for j := 0; j+left <= len(l.c); j++ {
		bound := base
		for _, x := range l.b[j : j+left] {
			bound += x
		}
		if bound >= s.limit {
			return
		}
		if s.steps--; s.steps&8191 == 0 && s.ctx.Err() != nil {
			s.steps = 0
		}
		if s.steps < 0 {
			s.result.others = min(s.result.others, bound)
			return
		}
		c := l.c[j]
		id := s.p.order[s.cands[c]]
		below := base + l.a[j] + s.cutPrice(id)
		row := s.matrix[int(c)*n : int(c)*n+n]
		next.c, next.a = next.c[:0], next.a[:0]
		for i := j + 1; i < len(l.c); i++ {
			e := l.c[i]
			next.c = append(next.c, e)
			next.a = append(next.a, l.a[i]+row[e]*s.each)
		}
		if s.narrow(next, left-1, below) {
			s.chosen = append(s.chosen, c)
			s.extend(depth+1, left-1, below)
			s.chosen = s.chosen[:len(s.chosen)-1]
		}
		s.untoll(id)
	}
}

// found notes the group of the root and the chosen ones.
func (s *searcher) found(r float64) {
	members := make([]int32, 0, s.m)
	members = append(members, s.rootID)
	for _, c := range s.chosen {
		members = append(members, s.p.order[s.cands[c]])
	}
	g := s.result.groups
	at := len(g)
	g = append(g, found{})
	for at > 0 && g[at-1].cost > r {
		g[at] = g[at-1]
		at--
	}
	g[at] = found{members, r}
	if len(g) > s.p.keep {
		g = g[:s.p.keep]
		s.limit = g[len(g)-1].cost
	}
	s.result.groups = g
}

// cutPrice adds a record to the group, as far as the cuts are concerned, and
// returns what the cuts cost of which it makes a pair.
func (s *searcher) cutPrice(id int32) float64 {
	var w float64
	for _, t := range s.p.cuts.of[id] {
		if s.hits[t]++; s.hits[t]%2 == 0 {
			w += s.p.cuts.price[t]
		}
	}
	return w
}

func (s *searcher) untoll(id int32) {
	for _, t := range s.p.cuts.of[id] {
		s.hits[t]--
	}
}
