package bound

import (
	"context"
	"math/rand/v2"

	"github.com/noren-privacy/noren"
	"github.com/noren-privacy/noren/kanon/space"
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
	// cold is the share of the bound that the heat costs in the end.
	cold = 3e-4
	// fairSteps and fairCrowd bound the search from a root for groups that
	// prices are fitted to, when nothing is to be certified.
	fairGroups, fairSteps, fairCrowd = 20, 20_000, 200
	// fairSweeps and fairlySettled are how well prices are fitted.
	fairSweeps, fairlySettled = 120, 0.01
	// fits is how many times prices are fitted at most.
	fits = 120
	// clearly is by how much a cut must be violated to be added.
	clearly = 0.03
)

// PriceOptions are the parameters of prices.
type PriceOptions struct {
	// K is the least number of records of a group. Required.
	K int
	// Seed fixes the random choices.
	Seed uint64
	// Thorough fits prices as those of a bound, which takes many times as long.
	// Defaults to short searches and few cuts.
	Thorough bool
	// Workers is the number of parallel workers; the result does not depend on it.
	// Defaults to one a processor.
	Workers int
	// Progress receives steps, of which there may be fewer than said, or more
	// where Thorough. Optional.
	Progress noren.Progress
}

// NewPrices fits prices for partitions of s into groups of o.K or more, beginning
// with the groups of p. When the context ends, its error is returned.
func NewPrices(ctx context.Context, s *space.Space, p space.Partition, o PriceOptions) (*Prices, error) {
	f, err := layOut(ctx, s, o.K, o.Workers)
	if err != nil {
		return nil, err
	}
	v := &Prices{program: newProgram(f, seq(f.n), rand.New(rand.NewPCG(o.Seed, 0x707269636573))), s: s, tried: map[uint64]struct{}{}}
	v.addAll(groupsOf(p))
	settle := v.settle
	if o.Thorough {
		settle = v.climb
	}
	if err := settle(ctx, o.Workers, o.Progress); err != nil {
		return nil, err
	}
	if v.mu > 0 {
		v.pool.index(&v.program, counted*v.mu)
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
	complete := func(below float64, keep, budget, breadth int) (int, error) {
		out, err := v.pricing(below, keep, budget, breadth).run(ctx, workers)
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
			hasty = lost > exploring*total
			if hasty {
				v.mu /= 2
			}
			continue
		}
		if step%pricedEvery == 0 || lost <= cold*total {
			added, err := complete(2*v.mu, fairGroups, fairSteps, fairCrowd)
			if err != nil {
				return err
			}
			if lost <= cold*total && added*20 < len(v.active) {
				break
			}
			if added*4 >= len(v.active) {
				continue
			}
		}
		v.separate(clearly)
		if lost > cold*total {
			v.mu *= cooling
		}
	}
	return nil
}

// climb goes up and down as [ascent.climb] does, until the value rises no more.
func (v *Prices) climb(ctx context.Context, workers int, progress noren.Progress) error {
	a := &ascent{program: v.program, o: &Options{K: v.f.k, Workers: workers}}
	step := int64(0)
	err := a.climb(ctx, func() {
		progress.Report("prices", min(step, fits), fits)
		step++
	})
	v.program = a.program
	if err != nil {
		return err
	}
	if v.mu == 0 {
		return nil
	}
	return v.fit(ctx, mostSweeps, settled)
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
