package bound

import (
	"cmp"
	"context"
	"math/rand/v2"
	"slices"

	"noren"
	"noren/kanon/space"
)

// Prices are prices of the records of a table, near the best there are: what a
// group costs beyond the prices of its members, its reduced cost, tells how far
// it is from being one of the best partition's. They are not certified; they
// guide a search ([Region.Regroup]).
type Prices struct {
	program
	s      *space.Space
	lowest [][]int32 // by record: the groups of the pool that it is the lowest member of
	// tried are the regions, by what is in them, that were searched.
	tried map[uint64]struct{}
}

const (
	// near is the share of the bound that the heat costs in the end.
	near = 3e-4
	// fairSteps and fairCrowd bound the search from a root for groups that
	// prices are fitted to, when nothing is to be certified.
	fairGroups, fairSteps, fairCrowd = 20, 20_000, 200
	// fairSweeps and fairlySettled are how well prices are fitted.
	fairSweeps, fairlySettled = 120, 0.01
	// fits is how many times prices are fitted at the most.
	fits = 120
	// clearly is by how much a cut must be violated to be added.
	clearly = 0.03
)

// NewPrices fits prices for partitions of s into groups of k or more, beginning
// with the groups of p. It depends on the seed, but not on the number of
// workers. When the context ends, its error is returned.
func NewPrices(ctx context.Context, s *space.Space, p space.Partition, k int, seed uint64, workers int, progress noren.Progress) (*Prices, error) {
	f, err := layOut(ctx, s, k, workers)
	if err != nil {
		return nil, err
	}
	v := &Prices{program: newProgram(f, seq(f.n), rand.New(rand.NewPCG(seed, 0x707269636573))), s: s, tried: map[uint64]struct{}{}}
	v.addAll(groupsOf(p))
	if err := v.settle(ctx, workers, progress); err != nil {
		return nil, err
	}
	v.lowest = make([][]int32, s.Len())
	for g := range v.pool.cost {
		i := v.pool.members(g)[0]
		v.lowest[i] = append(v.lowest[i], int32(g))
	}
	return v, nil
}

// groupsOf lists the members of every group.
func groupsOf(p space.Partition) [][]int32 {
	list, start := p.Members()
	groups := make([][]int32, p.Groups)
	for g := range groups {
		groups[g] = list[start[g]:start[g+1]]
	}
	return groups
}

// settle goes down to a low heat once.
func (v *Prices) settle(ctx context.Context, workers int, progress noren.Progress) error {
	complete := func(below float64, keep, budget, crowd int) (int, error) {
		out, err := v.pricing(below, keep, budget, crowd).run(ctx, workers)
		return v.add(out), err
	}
	total := v.value()
	if total <= 0 {
		return nil // k records at every place: the heat stays 0
	}
	v.mu = total / float64(len(v.active)) * float64(v.f.k) / 2
	if _, err := complete(inf, firstGroups, firstSteps, firstCrowd); err != nil {
		return err
	}
	hasty := true
	for step := range fits {
		progress.Report("prices", int64(step), fits)
		if err := v.fit(ctx, fairSweeps, fairlySettled); err != nil {
			return err
		}
		lost := v.mu * v.entropy
		total = max(total, v.value())
		if hasty {
			added, err := complete(0, quickGroups, quickSteps, quickCrowd)
			if err != nil {
				return err
			}
			if added*5 >= len(v.active) {
				continue
			}
			if hasty = lost > exploring*total; hasty {
				v.mu /= 2
			}
			continue
		}
		if step%pricedEvery == 0 || lost <= near*total {
			added, err := complete(2*v.mu, fairGroups, fairSteps, fairCrowd)
			if err != nil {
				return err
			}
			if lost <= near*total && added*20 < len(v.active) {
				break
			}
			if added*4 >= len(v.active) {
				continue
			}
		}
		v.separate(clearly)
		if lost > near*total {
			v.mu *= cooling
		}
	}
	v.pool.index(&v.program, counted*v.mu)
	return nil
}

// Region is some groups of a partition that hang together: their records are to
// be divided anew.
type Region struct {
	Records []int32 // ascending
	p       program // of these records
	groups  [][]int32
}

// hanging is the share from which on a group makes those that it shares records
// with hang together.
const hanging = 0.003

// Regions chooses regions of about that many groups of a partition which do not
// touch, those first from which there is most to be hoped for. Regions that were
// chosen before and have not changed since are left out.
func (v *Prices) Regions(ctx context.Context, p space.Partition, groups int) ([]*Region, error) {
	all := groupsOf(p)
	r := &regions{v: v, p: p, groups: all, reduced: make([]float64, len(all)), taken: make([]bool, len(all)), share: make([]float64, len(all))}
	order := make([]int32, len(all))
	for g := range order {
		order[g] = int32(g)
		r.reduced[g] = v.reduced(all[g])
	}
	slices.SortStableFunc(order, func(g, h int32) int { return cmp.Compare(r.reduced[h], r.reduced[g]) })
	var out []*Region
	if v.mu == 0 {
		return nil, nil // all is for nothing
	}
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

// leastRegion is the least number of groups of a region.
const leastRegion = 3

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
			if members := v.pool.members(int(g)); v.pool.bare(int(g), v.u) < 200*v.mu {
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

// layOut lays out a space by itself.
func layOut(ctx context.Context, s *space.Space, k, workers int) (*frame, error) {
	places := newPlaces(s)
	sums, err := places.nearSums(ctx, s, 2*k-2, workers, nil)
	if err != nil {
		return nil, err
	}
	return newFrame(s, k, places, sums), nil
}

func seq(n int) []int32 {
	all := make([]int32, n)
	for i := range all {
		all[i] = int32(i)
	}
	return all
}
