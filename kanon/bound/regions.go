package bound

import (
	"cmp"
	"context"
	"math/rand/v2"
	"slices"

	"github.com/noren-privacy/noren/kanon/space"
)

// Region is some groups of a partition that hang together: their records are to
// be divided anew.
type Region struct {
	Records []int32 // ascending
	p       program // of these records
	groups  [][]int32
}

const (
	// hanging is the share from which on a group makes those that it shares
	// records with hang together.
	hanging = 0.003
	// leastRegion is the least number of groups of a region.
	leastRegion = 3
	// usable is up to how many times the heat a group of the pool may cost to be
	// taken along.
	usable = 200
)

// Regions chooses regions of about that many groups of a partition which do not
// touch, those first from which there is most to be hoped for. Regions that were
// chosen before and have not changed since are left out.
func (v *Prices) Regions(ctx context.Context, p space.Partition, groups int) ([]*Region, error) {
	if v.mu == 0 {
		return nil, nil // nothing costs anything
	}
	all := groupsOf(p)
	r := &regions{v: v, p: p, groups: all, reduced: make([]float64, len(all)), taken: make([]bool, len(all)), share: make([]float64, len(all))}
	order := make([]int32, len(all))
	for g := range order {
		order[g] = int32(g)
		r.reduced[g] = v.reduced(all[g])
	}
	slices.SortStableFunc(order, func(g, h int32) int { return cmp.Compare(r.reduced[h], r.reduced[g]) })
	var out []*Region
	for _, g := range order {
		if r.taken[g] {
			continue
		}
		if r.grow(g, groups) {
			region, err := v.region(ctx, all, r.own)
			if err != nil {
				return nil, err
			}
			out = append(out, region)
		}
	}
	return out, nil
}

// regions are regions under choice.
type regions struct {
	v       *Prices
	p       space.Partition
	groups  [][]int32
	reduced []float64
	taken   []bool
	share   []float64 // by group: what the region shares with it
	beside  []int32   // the groups that it shares anything with
	own     []int32
}

// grow makes a region from a group on, one by one of the group that shares most
// with those it has: by the shares of groups of the pool that have records in
// both.
func (r *regions) grow(from int32, most int) bool {
	r.own, r.beside = r.own[:0], r.beside[:0]
	r.include(from)
	for len(r.own) < most {
		best, at := int32(-1), 0
		for b, h := range r.beside {
			if best < 0 || r.share[h] > r.share[best] || r.share[h] == r.share[best] && h < best {
				best, at = h, b
			}
		}
		if best < 0 {
			break
		}
		r.share[best] = 0
		r.beside[at] = r.beside[len(r.beside)-1]
		r.beside = r.beside[:len(r.beside)-1]
		r.include(best)
	}
	for _, h := range r.beside {
		r.share[h] = 0
	}
	var hope float64
	key := uint64(0)
	for _, g := range r.own {
		hope += max(0, r.reduced[g])
		key += hashOf(r.groups[g])
	}
	_, known := r.v.tried[key]
	if known || len(r.own) < min(leastRegion, len(r.groups)) || hope <= 0 {
		for _, g := range r.own[1:] {
			r.taken[g] = false
		}
		return false
	}
	r.v.tried[key] = struct{}{}
	return true
}

// include takes a group into the region.
func (r *regions) include(g int32) {
	r.own = append(r.own, g)
	r.taken[g] = true
	pool := r.v.pool
	for _, i := range r.groups[g] {
		for _, l := range pool.group[pool.first[i]:pool.first[i+1]] {
			x := pool.x[l]
			if x < hanging {
				continue
			}
			for _, j := range pool.members(int(pool.live[l])) {
				h := int32(r.p.Group[j])
				if r.taken[h] {
					continue
				}
				if r.share[h] == 0 {
					r.beside = append(r.beside, h)
				}
				r.share[h] += x
			}
		}
	}
}

// region is the program of the records of some groups, with the groups of the
// pool and the cuts that lie within.
func (v *Prices) region(ctx context.Context, groups [][]int32, own []int32) (*Region, error) {
	r := &Region{}
	for _, g := range own {
		r.Records = append(r.Records, groups[g]...)
	}
	slices.Sort(r.Records)
	to := make(map[int32]int32, len(r.Records))
	for j, i := range r.Records {
		to[i] = int32(j)
	}
	within := func(members []int32) []int32 {
		in := make([]int32, 0, len(members))
		for _, i := range members {
			j, ok := to[i]
			if !ok {
				return nil
			}
			in = append(in, j)
		}
		return in
	}
	f, err := layOut(ctx, v.s.Subset(r.Records), v.f.k, 1)
	if err != nil {
		return nil, err
	}
	r.p = newProgram(f, seq(f.n), rand.New(rand.NewPCG(uint64(r.Records[0]), uint64(f.n))))
	r.p.mu = v.mu
	seen := map[int32]struct{}{}
	for j, i := range r.Records {
		r.p.u[j] = v.u[i]
		for _, g := range v.lowest[i] {
			if members := v.pool.members(int(g)); v.pool.bare(int(g), v.u) < usable*v.mu {
				if in := within(members); in != nil {
					r.p.pool.add(in)
				}
			}
		}
		for _, t := range v.cuts.of[i] {
			if _, ok := seen[t]; ok || v.cuts.price[t] == 0 {
				continue
			}
			seen[t] = struct{}{}
			if in := within(v.cuts.set[t]); in != nil {
				r.p.cuts.add(in)
				r.p.cuts.price[len(r.p.cuts.price)-1] = v.cuts.price[t]
			}
		}
	}
	for _, g := range own {
		in := within(groups[g])
		r.groups = append(r.groups, in)
		r.p.pool.add(slices.Clone(in))
	}
	return r, nil
}
