package persons

import (
	"cmp"
	"context"
	"slices"

	"github.com/noren-privacy/noren/kanon/privacy"
	"github.com/noren-privacy/noren/kanon/space"
)

// mending makes groups of k persons out of groups of k records.
type mending struct {
	s      *space.Space
	k      int
	person []uint32
	group  []int32 // of each record, -1 for none
	groups []*space.Centroid
}

// poolRecords is about how many records groups are made of at a time: beyond it
// they are cut in two as long as both halves have records of k persons.
const poolRecords = 4000

// mend keeps the groups that have records of k persons and makes the others
// again.
func (m *mending) mend(ctx context.Context, p space.Partition) (space.Partition, error) {
	list, start := p.Members()
	m.group = make([]int32, len(p.Group))
	var loose []int32
	seen := map[uint32]bool{}
	for g := range p.Groups {
		members := list[start[g]:start[g+1]]
		clear(seen)
		for _, i := range members {
			if m.person[i] != privacy.NoPerson {
				seen[m.person[i]] = true
			}
		}
		if len(seen) >= m.k {
			m.open(members)
			continue
		}
		loose = append(loose, members...)
		for _, i := range members {
			m.group[i] = -1
		}
	}
	if len(loose) == 0 {
		return p, nil
	}
	slices.Sort(loose)
	if err := m.regroup(ctx, loose); err != nil {
		return space.Partition{}, err
	}
	out := space.Partition{Group: make([]uint32, len(m.group)), Groups: len(m.groups)}
	for i, g := range m.group {
		out.Group[i] = uint32(g)
	}
	return out, nil
}

// open makes a group.
func (m *mending) open(members []int32) {
	c := m.s.NewCentroid()
	for _, i := range members {
		c.Add(i)
		m.group[i] = int32(len(m.groups))
	}
	m.groups = append(m.groups, c)
}

// regroup makes groups of records that are in none.
func (m *mending) regroup(ctx context.Context, loose []int32) error {
	if len(loose) > poolRecords {
		if left, right := m.halve(loose); left != nil {
			if err := m.regroup(ctx, left); err != nil {
				return err
			}
			return m.regroup(ctx, right)
		}
	}
	made := len(m.groups)
	c := m.s.NewCentroid()
	for _, i := range loose {
		c.Add(i)
	}
	type far struct {
		i int32
		d float64
	}
	order := make([]far, len(loose))
	for n, i := range loose {
		order[n] = far{i, c.Distance2(i)}
	}
	slices.SortFunc(order, func(a, b far) int { return cmp.Or(cmp.Compare(b.d, a.d), cmp.Compare(a.i, b.i)) })
	p := &pool{m: m, points: m.s.NewPoints(slices.Clone(loose)), alive: len(loose), left: map[uint32]int{}}
	for _, i := range loose {
		if m.person[i] != privacy.NoPerson {
			p.left[m.person[i]]++
		}
	}
	for n, f := range order {
		if n%64 == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		if len(p.left) < m.k {
			break
		}
		if m.group[f.i] < 0 && m.person[f.i] != privacy.NoPerson {
			p.take(f.i)
		}
	}
	// What is left joins the nearest group made here, or any where none was.
	to := m.groups[made:]
	if len(to) == 0 {
		made, to = 0, m.groups
	}
	for _, f := range order {
		if m.group[f.i] >= 0 {
			continue
		}
		best, least := -1, 0.0
		for g, c := range to {
			n := float64(c.N)
			if rise := n / (n + 1) * c.Distance2(f.i); best < 0 || rise < least {
				best, least = g, rise
			}
		}
		m.group[f.i] = int32(made + best)
		to[best].Add(f.i)
	}
	return nil
}

// halve cuts records at the middle of the axis on which they spread most, where
// both halves have records of k persons; nil where no axis allows it.
func (m *mending) halve(records []int32) (left, right []int32) {
	for _, value := range m.axes(records) {
		order := slices.Clone(records)
		slices.SortFunc(order, func(i, j int32) int { return cmp.Or(cmp.Compare(value(i), value(j)), cmp.Compare(i, j)) })
		left, right := order[:len(order)/2], order[len(order)/2:]
		if m.enough(left) && m.enough(right) {
			slices.Sort(left)
			slices.Sort(right)
			return left, right
		}
	}
	return nil, nil
}

func (m *mending) enough(records []int32) bool {
	seen := map[uint32]bool{}
	for _, i := range records {
		if m.person[i] != privacy.NoPerson {
			seen[m.person[i]] = true
		}
		if len(seen) >= m.k {
			return true
		}
	}
	return false
}

// pool holds the records that are in no group yet.
type pool struct {
	m      *mending
	points *space.Points
	alive  int
	left   map[uint32]int // by person: its records in the pool
	target space.Target
	out    [512]float64
}

// take makes a group of record r and the nearest records of k-1 other persons.
func (p *pool) take(r int32) {
	m := p.m
	m.s.Target(&p.target, r)
	own := m.person[r]
	type near struct {
		person uint32
		i      int32
		d      float64
	}
	var found []near // nearest first, one a person
	for lo := 0; lo < len(p.points.ID); lo += len(p.out) {
		out := p.out[:min(len(p.out), len(p.points.ID)-lo)]
		p.points.Distances2(&p.target, lo, out)
		for n, d := range out {
			full := len(found) == m.k-1
			if full && (m.k == 1 || d >= found[m.k-2].d) {
				continue
			}
			i := p.points.ID[lo+n]
			person := m.person[i]
			if m.group[i] >= 0 || person == own || person == privacy.NoPerson {
				continue
			}
			at := len(found)
			if known := slices.IndexFunc(found, func(f near) bool { return f.person == person }); known >= 0 {
				if d >= found[known].d {
					continue
				}
				at = known
			} else if full {
				at--
			} else {
				found = append(found, near{})
			}
			for at > 0 && d < found[at-1].d {
				found[at] = found[at-1]
				at--
			}
			found[at] = near{person, i, d}
		}
	}
	members := []int32{r}
	for _, f := range found {
		members = append(members, f.i)
	}
	m.open(members)
	for _, i := range members {
		person := m.person[i]
		if p.left[person]--; p.left[person] == 0 {
			delete(p.left, person)
		}
	}
	p.alive -= len(members)
	if len(p.points.ID)-p.alive > len(p.points.ID)/6 {
		p.points.Keep(func(at int) bool { return m.group[p.points.ID[at]] < 0 })
	}
}

// axes are the axes on which records differ, the one first on which they spread
// most, by the values on them.
func (m *mending) axes(records []int32) []func(i int32) float64 {
	type axis struct {
		value  func(i int32) float64
		spread float64
	}
	var axes []axis
	for _, x := range m.s.Numbers() {
		a := axis{value: func(i int32) float64 { return x[i] }}
		var sum, squares float64
		shift := x[records[0]]
		for _, i := range records {
			sum += x[i] - shift
			squares += (x[i] - shift) * (x[i] - shift)
		}
		a.spread = squares - sum*sum/float64(len(records))
		axes = append(axes, a)
	}
	for _, w := range m.s.Words() {
		a := axis{value: func(i int32) float64 { return float64(w.Codes[i]) }}
		count := map[uint32]float64{}
		for _, i := range records {
			count[w.Codes[i]]++
		}
		a.spread = w.Weight / 2 * float64(len(records))
		for _, n := range count {
			a.spread -= w.Weight / 2 * n * n / float64(len(records))
		}
		axes = append(axes, a)
	}
	slices.SortStableFunc(axes, func(a, b axis) int { return cmp.Compare(b.spread, a.spread) })
	var values []func(i int32) float64
	for _, a := range axes {
		if a.spread > 0 {
			values = append(values, a.value)
		}
	}
	return values
}
