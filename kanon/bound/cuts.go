package bound

import (
	"cmp"
	"slices"
)

const (
	// perRecord is how many cuts a record gets at a time.
	perRecord = 3
	// negligible is the share below which a group is not looked at for cuts.
	negligible = 1e-4
)

// cuts are triples of records of which a partition has at most one group that
// holds two or more: sum over such groups of x <= 1.
type cuts struct {
	triple [][3]int32
	price  []float64 // not negative
	of     [][]int32 // by record
	known  map[[3]int32]struct{}
	count  []int8
}

func newCuts(n int) *cuts {
	return &cuts{of: make([][]int32, n), known: map[[3]int32]struct{}{}}
}

func (c *cuts) add(t [3]int32) {
	if _, ok := c.known[t]; ok {
		return
	}
	c.known[t] = struct{}{}
	at := int32(len(c.triple))
	c.triple = append(c.triple, t)
	c.price = append(c.price, 0)
	c.count = append(c.count, 0)
	for _, i := range t {
		c.of[i] = append(c.of[i], at)
	}
}

// met appends the cuts of which the members hold two or more.
func (c *cuts) met(list, members []int32) []int32 {
	for _, i := range members {
		for _, t := range c.of[i] {
			c.count[t]++
			if c.count[t] == 2 {
				list = append(list, t)
			}
		}
	}
	for _, i := range members {
		for _, t := range c.of[i] {
			c.count[t] = 0
		}
	}
	return list
}

// separate adds the triples that the shares of p violate most, by least or more
// and at most perRecord of a record, and returns their number.
func (p *pool) separate(c *cuts, least float64) int {
	type link struct {
		to int32
		x  float64
	}
	links := make([][]link, p.n)
	add := func(i, j int32, x float64) {
		for a := range links[i] {
			if links[i][a].to == j {
				links[i][a].x += x
				return
			}
		}
		links[i] = append(links[i], link{j, x})
	}
	for l, x := range p.x {
		if x < negligible {
			continue
		}
		members := p.members(int(p.live[l]))
		for a, i := range members {
			for _, j := range members[a+1:] {
				add(i, j, x)
			}
		}
	}
	at := func(i, j int32) float64 {
		for _, l := range links[i] {
			if l.to == j {
				return l.x
			}
		}
		return 0
	}
	type violated struct {
		t [3]int32
		x float64
	}
	var all []violated
	for i := range links {
		for a, j := range links[i] {
			for b, h := range links[i] {
				if b == a || h.to <= j.to || j.x+h.x < least {
					continue
				}
				jh := at(j.to, h.to)
				if jh == 0 {
					continue
				}
				sum := j.x + h.x + jh
				if sum < 1+least {
					continue
				}
				// Groups that hold all three are in each of the sums.
				t := [3]int32{int32(i), j.to, h.to}
				for q := p.first[i]; q < p.first[i+1]; q++ {
					l := p.group[q]
					m := p.members(int(p.live[l]))
					if p.x[l] >= negligible && slices.Contains(m, t[1]) && slices.Contains(m, t[2]) {
						sum -= 2 * p.x[l]
					}
				}
				if sum >= 1+least {
					all = append(all, violated{t, sum - 1})
				}
			}
		}
	}
	slices.SortStableFunc(all, func(a, b violated) int { return cmp.Compare(b.x, a.x) })
	used := make([]int, p.n)
	added := 0
	for _, v := range all {
		if _, ok := c.known[v.t]; ok || used[v.t[0]] >= perRecord || used[v.t[1]] >= perRecord || used[v.t[2]] >= perRecord {
			continue
		}
		for _, i := range v.t {
			used[i]++
		}
		c.add(v.t)
		added++
	}
	return added
}
