package bound

import (
	"math"
	"slices"
)

// pool is the groups that prices are fitted to. Rows are the records, then the
// cuts; a group has an entry in the rows of its members and of the cuts that it holds
// pairs of, once for each pair.
type pool struct {
	f      *frame
	n      int
	start  []int32 // group g's members are member[start[g]:start[g+1]]
	member []int32
	cost   []float64
	known  map[uint64]struct{}

	// The groups that matter at present: their rows, their shares in the
	// fractional partition, and for each row the groups in it.
	live   []int32
	x      []float64
	begin  []int32
	row    []int32
	first  []int32
	group  []int32
	met    []int32
	cursor []int32
}

func newPool(f *frame) *pool {
	return &pool{f: f, n: f.n, start: []int32{0}, known: map[uint64]struct{}{}}
}

func (p *pool) members(g int) []int32 { return p.member[p.start[g]:p.start[g+1]] }

// add takes a group in unless it is there. Its members get sorted.
func (p *pool) add(members []int32) bool {
	slices.Sort(members)
	h := hashOf(members)
	if _, ok := p.known[h]; ok {
		return false
	}
	p.known[h] = struct{}{}
	p.member = append(p.member, members...)
	p.start = append(p.start, int32(len(p.member)))
	p.cost = append(p.cost, p.f.cost(members))
	return true
}

// hashOf identifies a group by its members in order.
func hashOf(members []int32) uint64 {
	h := uint64(14695981039346656037)
	for _, i := range members {
		h = (h ^ uint64(i)) * 1099511628211
		h ^= h >> 29
	}
	return h
}

// bare is the reduced cost of group g without the cuts.
func (p *pool) bare(g int, u []float64) float64 {
	r := p.cost[g]
	for _, i := range p.members(g) {
		r -= u[i]
	}
	return r
}

// index lists, for every row, the groups of records that are there whose reduced
// cost is below most, and sets their shares for the heat.
func (p *pool) index(a *program, most float64) {
	u, c := a.u, a.cuts
	p.lift(a, most)
	p.live, p.x, p.row, p.begin = p.live[:0], p.x[:0], p.row[:0], append(p.begin[:0], 0)
	rows := p.n + len(c.set)
	if cap(p.first) < rows+1 {
		p.first = make([]int32, rows+1, rows+1+rows/4)
	}
	p.first = p.first[:rows+1]
	clear(p.first)
	for g := range p.cost {
		r := p.bare(g, u)
		members := p.members(g)
		if r >= most || a.lacks(members) {
			continue
		}
		p.met = c.met(p.met[:0], members)
		for _, t := range p.met {
			r += c.price[t]
		}
		if r >= most {
			continue
		}
		p.live = append(p.live, int32(g))
		p.x = append(p.x, math.Exp(min(-r/a.mu, 300)))
		p.row = append(p.row, members...)
		for _, t := range p.met {
			p.row = append(p.row, int32(p.n)+t)
		}
		p.begin = append(p.begin, int32(len(p.row)))
	}
	for _, i := range p.row {
		p.first[i+1]++
	}
	for i := range rows {
		p.first[i+1] += p.first[i]
	}
	p.group = slices.Grow(p.group[:0], len(p.row))[:len(p.row)]
	p.cursor = append(p.cursor[:0], p.first[:rows]...)
	for l := range p.live {
		for _, i := range p.row[p.begin[l]:p.begin[l+1]] {
			p.group[p.cursor[i]] = int32(l)
			p.cursor[i]++
		}
	}
}

// lift raises the prices of records all of whose groups cost more than most,
// by no more than keeps every reduced cost from falling below 0.
func (p *pool) lift(a *program, most float64) {
	least := make([]float64, p.n)
	for range 30 {
		for i := range least {
			least[i] = inf
		}
		for g := range p.cost {
			members := p.members(g)
			if a.lacks(members) {
				continue
			}
			r := p.bare(g, a.u)
			for _, i := range members {
				least[i] = min(least[i], r)
			}
		}
		low := false
		for _, i := range a.active {
			if r := least[i]; r > most/2 && r < inf {
				low = true
				a.u[i] += r / float64(p.f.largest)
			}
		}
		if !low {
			return
		}
	}
}

// sweep moves every price once to where its row is kept, or beyond, and returns
// by how much rows were off, in the sum of |log|.
func (p *pool) sweep(u []float64, c *cuts, mu float64, order []int32) float64 {
	var off float64
	for _, i := range order {
		list := p.group[p.first[i]:p.first[i+1]]
		var sum float64
		for _, l := range list {
			sum += p.x[l]
		}
		if int(i) < p.n {
			if sum == 0 {
				continue
			}
		} else {
			sum = max(sum/c.pairs[int(i)-p.n], 1e-300)
		}
		// The groups' reduced costs rise by step, their shares fall by the factor
		// exp(-step/mu).
		step, factor := mu*math.Log(sum), 1/sum
		if math.Abs(step) < 0.5*mu {
			step *= over
			factor /= math.Sqrt(sum) // the power of sum that over says, without another exp
		}
		if int(i) < p.n {
			u[i] -= step
		} else {
			w := &c.price[int(i)-p.n]
			if step < -*w {
				if *w == 0 {
					continue
				}
				step = -*w
				factor = math.Exp(-step / mu)
			}
			*w += step
		}
		off += math.Abs(step) / mu
		for _, l := range list {
			p.x[l] *= factor
		}
	}
	return off
}

// entropy is sum -x log x over the shares.
func (p *pool) entropy() float64 {
	var h float64
	for _, x := range p.x {
		if x > 0 {
			h -= x * math.Log(x)
		}
	}
	return max(h, 0)
}
