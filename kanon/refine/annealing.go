package refine

import (
	"cmp"
	"context"
	"errors"
	"math"
	"slices"
	"sync"
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
	idle   int // proposals since the last gain
	// proposed is how many proposals were made, and due after how many there is a
	// first search by prices at the latest.
	proposed, due int
	priced        int // such searches
	// what the ways, the jolts, and annealing regions against shaking, have gained
	// by proposals.
	byWay, byJolt, byKind yields
	taken                 [kinds]int // proposals, by kind
	again                 restarts
	tell                  func()  // how far time has come
	floor                 float64 // times proposals a record: a gain that is next to none
}

const (
	// rate is about how many proposals a second two processors make.
	rate = 8e6
	// leastGroups and mostGroups are about how many groups a region has.
	leastGroups, mostGroups = 12, 24
	// coolest is the heat at which next to nothing is accepted any more that
	// costs something.
	coolest = 0.05
	// proposals is how many changes an attempt proposes for each record at the
	// least, and four times as many at the most.
	proposals = 120
	// idleProposals is after how many proposals a record without a gain the
	// search ends.
	idleProposals = 100_000
	// gainShare is the least gain that counts, as a share of what the region
	// loses.
	gainShare = 1e-7
)

// ways are how a region is attempted: the heat to begin with, how many near
// records a record is tried with, as a multiple of k, how long, in the usual
// length, and what the heat is a share of. Which way serves depends on the data
// and on how far the search has come: what is too hot forgets, too little does
// not get out. What each has gained decides how often it is taken.
var ways = [...]way{
	{0.25, 2.2, 1, local},
	{0.4, 2.2, 1, middle},
	{0.4, 3.5, 1, local},
	{0.4, 2.2, 1, global},
	{0.8, 1.6, 1, middle},
	{0.8, 1.6, 1, global},
	{1.2, 1.2, 1, local},
	{2, 1.2, 1, middle},
	{0.4, 2.2, 8, middle},
	{0.4, 2.2, 8, global},
}

type way struct {
	heat, near, long float64
	scale            scale
}

func newAnnealing(s *space.Space, p space.Partition, o *Options) *annealing {
	a := &annealing{s: s, p: p, k: o.K, o: o, floor: 2.5e-9 * s.SSE(p)}
	if a.pricing() {
		first := pricedAfter / min(1, a.pricedShare())
		a.due = max(int(first*o.Effort.Duration.Seconds()*rate), annealedFirst*s.Len())
	}
	floor := a.floor / float64(s.Len())
	a.byWay = newYields(len(ways), 0.99, 0.2, floor)
	a.byJolt = newYields(len(jolts), 0.9, 0.2, floor)
	a.byKind = newYields(kinds, 0.8, 0.2, floor)
	a.again = restarts{start: p}
	return a
}

// search goes on until the time is over or it no longer pays.
func (a *annealing) search(ctx context.Context, began time.Time, progress noren.Progress) error {
	late, cancel := context.WithDeadlineCause(ctx, began.Add(a.o.Effort.Duration), errLate)
	defer cancel()
	var telling sync.Mutex
	a.tell = func() {
		telling.Lock()
		defer telling.Unlock()
		progress.Report("refine", time.Since(began).Milliseconds(), a.o.Effort.Duration.Milliseconds())
	}
	defer func() {
		a.keep()
		a.p = a.again.best
	}()
	for a.floor > 0 && a.idle < idleProposals*a.s.Len() && a.again.vain < mostVain {
		var err error
		switch whole := a.wholeProposals(); {
		case a.rounds == 0 && whole > 0:
			err = a.whole(late, whole)
		case a.pricing() && !a.again.priced && (a.halted() || a.priced == 0 && a.proposed >= a.due):
			err = a.price(late)
		case a.halted() && whole > 0:
			err = a.restart(late)
		default:
			err = a.next(late)
		}
		if ctx.Err() == nil && errors.Is(context.Cause(late), errLate) {
			return nil
		}
		if err != nil {
			return err
		}
		a.tell()
	}
	return nil
}

// errLate says that the time is over.
var errLate = errors.New("refine: out of time")

// attempt is a region and what is tried on it.
type attempt struct {
	records   []int32 // ascending
	heat      float64
	scale     scale
	way       int
	near      int // records
	proposals int
	seed      uint64
	whole     bool // a whole cell
	shaken    bool // a whole cell, by exchanges
	priced    bool // a whole cell, by prices,
	nodes     int  // with so many nodes a region
	// result
	done bool
	gain float64
	p    space.Partition // of records
	err  error
}

// wholeProposals is how many changes the first round proposes for each record:
// what takes about a twentieth of the time on two processors, for each way, or a
// fiftieth where prices follow.
func (a *annealing) wholeProposals() int {
	const most, least = 4000, 100
	share := 0.05
	if a.pricing() {
		share = 0.02
	}
	n := int(share * a.o.Effort.Duration.Seconds() * rate / float64(a.s.Len()))
	if n < least {
		return 0
	}
	return min(n, most)
}

// whole is the first round: it anneals whole cells in several ways and takes the
// best of them place by place. Regions alone would get stuck in what groups a
// greedy method leaves.
func (a *annealing) whole(ctx context.Context, proposals int) error {
	cells := cutCells(a.s, a.p, cellRecords, 0)
	begin := [...]way{{heat: 1.5, near: 1.2, scale: middle}, {heat: 1.5, near: 1.2, scale: global}, {heat: 0.4, near: 2.2, scale: middle}}
	attempts := make([]attempt, len(begin)*len(cells))
	rng := draws(a.o.Seed ^ uint64(a.rounds)<<32)
	for i := range attempts {
		records, with := cells[i/len(begin)], begin[i%len(begin)]
		attempts[i] = attempt{records: records, heat: with.heat, scale: with.scale, near: a.nearBy(with.near), proposals: proposals * len(records), seed: rng.next(), whole: true}
	}
	return a.take(ctx, attempts)
}

// round chooses regions and anneals each.
func (a *annealing) round(ctx context.Context) error {
	attempts, err := a.choose(ctx)
	if err != nil {
		return err
	}
	return a.take(ctx, attempts)
}

// take makes attempts, the longest first, so that no worker waits long for
// another, and takes over what is better. When time is over on the way, they
// count up to the first that is not done.
func (a *annealing) take(ctx context.Context, attempts []attempt) error {
	within := 1
	if len(attempts) == 1 {
		within = a.o.Workers
	}
	slices.SortStableFunc(attempts, func(x, y attempt) int { return cmp.Compare(y.proposals, x.proposals) })
	err := space.Parallel(ctx, a.o.Workers, len(attempts), "refine", nil, func() func(int) {
		return func(i int) {
			if attempts[i].priced {
				attempts[i].price(ctx, a.s, a.p, a.k, within, a.tell)
				return
			}
			attempts[i].make(ctx, a.s, a.p, a.k)
		}
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
		a.proposed += t.proposals
		switch {
		case t.shaken:
			a.byJolt.learn(t.way, t.gain, float64(t.proposals))
		case !t.whole && !t.priced:
			a.byWay.learn(t.way, t.gain, float64(t.proposals))
		}
		if t.whole || t.shaken {
			// There may be other attempts at the cell.
			sub, inner := (&cell{s: a.s, p: space.Partition{Group: group, Groups: groups}, records: t.records, k: a.k}).own()
			t.p = combine(sub, inner, t.p)
			t.gain = sub.SSE(inner) - sub.SSE(t.p)
		}
		if t.gain > 0 {
			a.idle = 0
			for j, r := range t.records {
				group[r] = uint32(groups) + t.p.Group[j]
			}
			groups += t.p.Groups
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
	near, err := newNeighbours(ctx, sub, t.near)
	if err != nil {
		t.err = err
		return
	}
	a := newAnnealer(sub, inner, near, k, t.seed)
	a.scale = t.scale
	if t.whole {
		// Records that lose more are proposed more often.
		weights := make([]float64, sub.Len())
		costs, sizes := sub.GroupSSE(inner), inner.Sizes()
		floor := 1e-9 + 1e-3*sub.SSE(inner)/float64(sub.Len())
		for i, g := range inner.Group {
			weights[i] = math.Pow(costs[g]/float64(sizes[g])+floor, 0.6)
		}
		a.often = aliases(weights)
	}
	if t.shaken {
		t.err = a.shake(ctx, t.heat, t.proposals)
	} else {
		t.err = a.cool(ctx, t.heat, coolest, t.proposals)
	}
	if t.err != nil {
		return
	}
	if t.shaken || t.whole {
		if t.near != chainNear {
			if a.near, t.err = newNeighbours(ctx, sub, chainNear); t.err != nil {
				return
			}
		}
		work, err := a.exchangeAll(ctx)
		if err != nil {
			t.err = err
			return
		}
		t.proposals += work
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

// nearBy is how many near records that many times k are.
func (a *annealing) nearBy(times float64) int { return int(math.Ceil(times * float64(a.k))) }

// regions chooses regions of a cell that do not touch, with about half of its
// records at the most, where much is lost rather than elsewhere.
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
	nearest := make([]far, 0, mostGroups)
	var attempts []attempt
	covered := 0
	for refused := 0; refused < 2 && covered < len(records); {
		at, _ := slices.BinarySearch(up, rng.float()*sum)
		p := int32(min(at, len(records)-1))
		// The groups nearest to p.
		nearest = nearest[:0]
		for g, centre := range centres {
			f := far{int32(g), centre.Distance2(p)}
			at := len(nearest)
			if at == mostGroups {
				if at--; f.distance >= nearest[at].distance {
					continue
				}
				nearest = nearest[:at]
			}
			for at > 0 && f.distance < nearest[at-1].distance {
				at--
			}
			nearest = slices.Insert(nearest, at, f)
		}
		with := a.byWay.choose(rng.float())
		groups := leastGroups + int(rng.next()%(mostGroups-leastGroups+1))
		if groups = min(groups, len(nearest)); 2*groups > len(centres) && len(centres) <= mostGroups {
			groups = len(nearest)
		}
		if slices.ContainsFunc(nearest[:(groups+1)/2], func(f far) bool { return taken[f.group] }) {
			refused++
			continue
		}
		t := attempt{seed: rng.next(), way: with}
		t.heat, t.near, t.scale = ways[with].heat, a.nearBy(ways[with].near), ways[with].scale
		for _, f := range nearest[:groups] {
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
		t.proposals = int(proposals * ways[with].long * math.Pow(4, rng.float()) * float64(len(t.records)))
		attempts = append(attempts, t)
	}
	return attempts
}
