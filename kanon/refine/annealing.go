package refine

import (
	"cmp"
	"context"
	"errors"
	"math"
	"slices"
	"time"

	"noren"
	"noren/kanon/space"
)

// annealing betters a partition region by region: a region is some tens of
// groups that lie together, which are heated, cooled down, and taken over if
// they are better then. What a table loses is the sum of what its regions lose,
// and the best of many attempts at each is far below the mean: this reaches in
// seconds what annealing a whole table does not in minutes.
//
// The regions of a round do not touch. They, and what happens in each, depend
// on the partition and the seed alone; so the clock only decides how far the
// search gets in a fixed order of work.
type annealing struct {
	s      *space.Space
	p      space.Partition
	k      int
	o      *Options
	rounds int
	// failed counts, by record, the attempts in vain since one that bettered
	// it. The more, the rarer and the longer further ones are.
	failed []uint8
	idle   int // proposals since the last gain
}

const (
	// leastGroups and mostGroups are about how many groups a region has.
	leastGroups, mostGroups = 12, 24
	// coldest and hottest are what attempts begin with. Which heat serves
	// depends on the data and on the place: what is too hot forgets, too little
	// does not get out. coolest is where next to nothing is accepted any more
	// that costs something.
	coldest, hottest, coolest = 0.3, 1.6, 0.05
	// proposals is how many changes the first attempt proposes for each record.
	proposals = 120
	// idleProposals is after how many proposals a record without a gain the
	// search ends.
	idleProposals = 40_000
	// gainShare is the least gain that counts, as a share of the whole.
	gainShare = 1e-7
)

func newAnnealing(s *space.Space, p space.Partition, o *Options) *annealing {
	return &annealing{s: s, p: p, k: o.K, o: o, failed: make([]uint8, s.Len())}
}

// search goes on until the time is over or it no longer pays.
func (a *annealing) search(ctx context.Context, began time.Time, progress noren.Progress) error {
	late, cancel := context.WithDeadlineCause(ctx, began.Add(a.o.Effort.Duration), errLate)
	defer cancel()
	for a.idle < idleProposals*a.s.Len() {
		err := a.round(late)
		if ctx.Err() == nil && errors.Is(context.Cause(late), errLate) {
			return nil
		}
		if err != nil {
			return err
		}
		progress.Report("refine", time.Since(began).Milliseconds(), a.o.Effort.Duration.Milliseconds())
	}
	return nil
}

// errLate says that the time is over.
var errLate = errors.New("refine: out of time")

// attempt is a region and what is tried on it.
type attempt struct {
	records   []int32 // ascending
	heat      float64
	proposals int
	seed      uint64
	// result
	done bool
	gain float64
	p    space.Partition // of records
	err  error
}

// round chooses regions, anneals each and takes over what is better. When time
// is over on the way, attempts count up to the first that is not done.
func (a *annealing) round(ctx context.Context) error {
	attempts, err := a.choose(ctx)
	if err != nil {
		return err
	}
	err = space.Parallel(ctx, a.o.Workers, len(attempts), "refine", nil, func() func(int) {
		return func(i int) { attempts[i].make(ctx, a.s, a.p, a.k) }
	})
	if err != nil && !errors.Is(context.Cause(ctx), errLate) {
		return err
	}
	group, groups := slices.Clone(a.p.Group), a.p.Groups
	for i := range attempts {
		t := &attempts[i]
		if t.err != nil && !errors.Is(context.Cause(ctx), errLate) {
			return t.err
		}
		if !t.done {
			break
		}
		a.idle += t.proposals
		if t.gain > 0 {
			a.idle = 0
			for j, r := range t.records {
				group[r] = uint32(groups) + t.p.Group[j]
			}
			groups += t.p.Groups
		}
		for _, r := range t.records {
			if t.gain > 0 {
				a.failed[r] = 0
			} else if a.failed[r] < math.MaxUint8 {
				a.failed[r]++
			}
		}
	}
	a.p = space.Partition{Group: group, Groups: groups}.Canonical()
	a.rounds++
	return err
}

// make anneals the region.
func (t *attempt) make(ctx context.Context, s *space.Space, p space.Partition, k int) {
	c := &cell{s: s, p: p, records: t.records, k: k}
	sub, inner := c.own()
	near, err := newNeighbours(ctx, sub, k+1)
	if err != nil {
		t.err = err
		return
	}
	a := newAnnealer(sub, inner, near, k, t.seed)
	if t.err = a.cool(ctx, t.heat, coolest, t.proposals); t.err != nil {
		return
	}
	t.p = a.partition()
	before := sub.SSE(inner)
	t.gain = before - sub.SSE(t.p)
	if t.gain < gainShare*before {
		t.gain = 0
	}
	t.done = true
}

// choose divides the table into cells and chooses regions in each.
func (a *annealing) choose(ctx context.Context) ([]attempt, error) {
	cells := cutCells(a.s, a.p, cellRecords, a.rounds)
	chosen := make([][]attempt, len(cells))
	err := space.Parallel(ctx, a.o.Workers, len(cells), "refine", nil, func() func(int) {
		return func(i int) {
			rng := draws(a.o.Seed)
			rng = draws(rng.next() ^ uint64(a.rounds)<<32 ^ uint64(i))
			chosen[i] = a.regions(cells[i], draws(rng.next()))
		}
	})
	return slices.Concat(chosen...), err
}

// regions chooses regions of a cell that do not touch, with about half of its
// records, where much is lost and little was tried rather than elsewhere.
func (a *annealing) regions(records []int32, rng draws) []attempt {
	c := &cell{s: a.s, p: a.p, records: records, k: a.k}
	sub, inner := c.own()
	list, start := inner.Members()
	costs := sub.GroupSSE(inner)
	centres := make([]*space.Centroid, inner.Groups)
	for g := range centres {
		centres[g] = sub.NewCentroid()
		for _, i := range list[start[g]:start[g+1]] {
			centres[g].Add(i)
		}
	}
	// The sum of weights up to each record. A region that loses more gets
	// more of the time, though less than in proportion.
	up := make([]float64, len(records))
	var sum float64
	floor := 1e-3 * sub.SSE(inner) / float64(len(records))
	for j := range records {
		g := inner.Group[j]
		cost := costs[g]/float64(start[g+1]-start[g]) + floor
		sum += math.Pow(cost, 0.6)
		up[j] = sum
	}
	type far struct {
		group    int32
		distance float64
	}
	taken := make([]bool, inner.Groups)
	byDistance := make([]far, inner.Groups)
	var attempts []attempt
	covered := 0
	for refused := 0; refused < 2 && covered < len(records); {
		at, _ := slices.BinarySearch(up, rng.float()*sum)
		p := int32(min(at, len(records)-1))
		for g, centre := range centres {
			byDistance[g] = far{int32(g), centre.Distance2(p)}
		}
		slices.SortFunc(byDistance, func(x, y far) int {
			return cmp.Or(cmp.Compare(x.distance, y.distance), cmp.Compare(x.group, y.group))
		})
		groups := leastGroups + int(rng.next()%(mostGroups-leastGroups+1))
		if groups = min(groups, len(byDistance)); 2*groups > len(byDistance) && len(byDistance) <= mostGroups {
			groups = len(byDistance)
		}
		if slices.ContainsFunc(byDistance[:(groups+1)/2], func(f far) bool { return taken[f.group] }) {
			refused++
			continue
		}
		t := attempt{seed: rng.next(), heat: 1.2}
		for _, f := range byDistance[:groups] {
			if taken[f.group] {
				continue
			}
			taken[f.group] = true
			for _, i := range list[start[f.group]:start[f.group+1]] {
				t.records = append(t.records, records[i])
			}
		}
		slices.Sort(t.records)
		covered += len(t.records)
		longer := 1.0
		t.proposals = int(proposals * math.Pow(4, rng.float()) * longer * float64(len(t.records)))
		attempts = append(attempts, t)
	}
	return attempts
}
