package bound

import (
	"cmp"
	"slices"
)

const (
	// perRecord is how many cuts a record gets at a time.
	perRecord = 3
	// negligible is the share below which a group is not looked at for cuts,
	// faint that below which a pair is not looked at for sets of five.
	negligible, faint = 1e-4, 0.08
	// mostPaths is how many paths from a record are followed.
	mostPaths = 20_000
)

// link is how much of the shares holds a pair of records.
type link struct {
	to int32
	x  float64
}

// violated is a set and by how much the shares violate its cut.
type violated struct {
	set []int32
	by  float64
}

// separator looks for cuts that the shares of a pool violate.
type separator struct {
	p     *pool
	c     *cuts
	least float64
	links [][]link
	count []int8 // by live group
	seen  map[[5]int32]struct{}
	out   []violated
	paths int
}

// separate adds the cuts that the shares violate most, by least or more and
// at most perRecord of a record, and returns their number. Sets of five are
// looked at where few triples are left.
func (a *program) separate(least float64) int {
	p := a.pool
	s := &separator{p: p, c: a.cuts, least: least, count: make([]int8, len(p.live)), seen: map[[5]int32]struct{}{}}
	s.link()
	s.triples()
	if len(s.out)*50 < len(a.active) {
		s.fives()
	}
	return s.take()
}

// link sums the shares of all pairs.
func (s *separator) link() {
	p := s.p
	s.links = make([][]link, p.n)
	add := func(i, j int32, x float64) {
		for a := range s.links[i] {
			if s.links[i][a].to == j {
				s.links[i][a].x += x
				return
			}
		}
		s.links[i] = append(s.links[i], link{j, x})
	}
	for l, x := range p.x {
		if x < negligible {
			continue
		}
		members := p.members(int(p.live[l]))
		for a, i := range members {
			for b, j := range members {
				if a != b {
					add(i, j, x)
				}
			}
		}
	}
}

func (s *separator) between(i, j int32) float64 {
	for _, l := range s.links[i] {
		if l.to == j {
			return l.x
		}
	}
	return 0
}

// pairs is how many pairs of a set the shares hold.
func (s *separator) pairs(set []int32) float64 {
	var sum float64
	lists := func(do func(l int32)) {
		for _, i := range set {
			for _, l := range s.p.group[s.p.first[i]:s.p.first[i+1]] {
				do(l)
			}
		}
	}
	lists(func(l int32) {
		if s.count[l]++; s.count[l]%2 == 0 {
			sum += s.p.x[l]
		}
	})
	lists(func(l int32) { s.count[l] = 0 })
	return sum
}

// offer notes a set if its cut is violated.
func (s *separator) offer(set []int32) {
	slices.Sort(set)
	k := key(set)
	if _, ok := s.seen[k]; ok || s.c.has(set) {
		return
	}
	s.seen[k] = struct{}{}
	if by := s.pairs(set) - float64(len(set)/2); by >= s.least {
		s.out = append(s.out, violated{set, by})
	}
}

// triples looks at all triangles of pairs.
func (s *separator) triples() {
	for i := range s.links {
		for _, j := range s.links[i] {
			if int(j.to) < i {
				continue
			}
			for _, h := range s.links[i] {
				if h.to <= j.to || j.x+h.x < s.least {
					continue
				}
				if x := s.between(j.to, h.to); x > 0 && j.x+h.x+x >= 1+s.least {
					s.offer([]int32{int32(i), j.to, h.to})
				}
			}
		}
	}
}

// fives looks at the cycles of five pairs, from their lowest record.
func (s *separator) fives() {
	for i := range s.links {
		s.links[i] = slices.DeleteFunc(s.links[i], func(l link) bool { return l.x < faint })
		slices.SortFunc(s.links[i], func(a, b link) int { return cmp.Or(cmp.Compare(b.x, a.x), cmp.Compare(a.to, b.to)) })
	}
	path := make([]int32, 1, 5)
	for i := range s.links {
		path[0] = int32(i)
		s.paths = mostPaths
		s.follow(path, 0)
	}
}

// follow goes on from the end of a path whose pairs sum to x.
func (s *separator) follow(path []int32, x float64) {
	last := path[len(path)-1]
	for _, l := range s.links[last] {
		// The pairs to come sum to one each at most.
		if x+l.x+float64(5-len(path)) < 2+s.least {
			return
		}
		if l.to <= path[0] || slices.Contains(path, l.to) {
			continue
		}
		if s.paths--; s.paths < 0 {
			return
		}
		if len(path) < 4 {
			s.follow(append(path, l.to), x+l.x)
			continue
		}
		if path[1] < l.to && x+l.x+s.between(l.to, path[0]) >= 2+s.least {
			s.offer(append(slices.Clone(path), l.to))
		}
	}
}

// take adds the cuts of what was found, the most violated first.
func (s *separator) take() int {
	slices.SortStableFunc(s.out, func(a, b violated) int { return cmp.Compare(b.by, a.by) })
	used := make([]int, s.p.n)
	added := 0
	for _, v := range s.out {
		if slices.ContainsFunc(v.set, func(i int32) bool { return used[i] >= perRecord }) {
			continue
		}
		for _, i := range v.set {
			used[i]++
		}
		s.c.add(v.set)
		added++
	}
	return added
}
