package refine

import (
	"context"
	"math"
	"slices"

	"github.com/noren-privacy/noren/kanon/space"
)

// Annealing goes region by region: a region is some tens of groups that lie
// together, which are heated, cooled down, and taken over if they are better
// then. What a table loses is the sum of what its regions lose, and the best of
// many attempts at each is far below the mean: this reaches in seconds what
// annealing a whole table does not in minutes. The regions of a round do not touch.

const (
	// leastGroups and mostGroups are about how many groups a region has.
	leastGroups, mostGroups = 12, 24
	// coolest is the heat at which next to nothing is accepted any more that
	// costs something.
	coolest = 0.05
	// proposals is how many changes an attempt proposes for each record at least,
	// and four times as many at most.
	proposals = 120
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

// wholeProposals is how many changes [search.whole] proposes for each record: what
// takes about a fiftieth of the time on two processors, for each way; none where that
// is too few.
func (a *search) wholeProposals() int {
	const most, least, share = 4000, 100, 0.02
	n := int(share * a.o.Effort.Duration.Seconds() * rate / float64(a.s.Len()))
	if n < least {
		return 0
	}
	return min(n, most)
}

// whole is a round with which a search begins: it anneals whole cells in several
// ways and takes the best of them place by place. Regions alone would get stuck in
// what groups a greedy method leaves.
func (a *search) whole(ctx context.Context, proposals int) error {
	cells := cutCells(a.s, a.p, cellRecords, 0)
	begin := [...]way{{heat: 1.5, near: 1.2, scale: middle}, {heat: 1.5, near: 1.2, scale: global}, {heat: 0.4, near: 2.2, scale: middle}}
	attempts := make([]attempt, len(begin)*len(cells))
	rng := draws(a.o.Seed ^ uint64(a.rounds)<<32)
	for i := range attempts {
		records, with := cells[i/len(begin)], begin[i%len(begin)]
		attempts[i] = attempt{
			records: records, heat: with.heat, scale: with.scale, near: a.nearBy(with.near),
			proposals: proposals * len(records), seed: rng.next(), by: byCell,
		}
	}
	return a.take(ctx, attempts)
}

// round chooses regions and anneals each.
func (a *search) round(ctx context.Context) error {
	attempts, err := a.choose(ctx)
	if err != nil {
		return err
	}
	return a.take(ctx, attempts)
}

// choose divides the table into cells and chooses regions in each.
func (a *search) choose(ctx context.Context) ([]attempt, error) {
	cells := cutCells(a.s, a.p, cellRecords, a.rounds)
	chosen := make([][]attempt, len(cells))
	err := space.Parallel(ctx, len(cells), "refine", space.ParallelOptions{Workers: a.o.Workers}, func() func(int) {
		return func(i int) {
			rng := draws(a.o.Seed)
			rng = draws(rng.next() ^ uint64(a.rounds)<<32 ^ uint64(i))
			chosen[i] = a.regions(cells[i], draws(rng.next()))
		}
	})
	return slices.Concat(chosen...), err
}

// nearBy is how many near records that many times k are.
func (a *search) nearBy(times float64) int { return int(math.Ceil(times * float64(a.k))) }

// weights are by how much each record loses in a partition, so that more time is
// spent where more is lost, though less than in proportion.
func weights(s *space.Space, p space.Partition, least float64) []float64 {
	out := make([]float64, s.Len())
	costs, sizes := s.GroupSSE(p), p.Sizes()
	floor := least + 1e-3*s.SSE(p)/float64(s.Len())
	for i, g := range p.Group {
		out[i] = math.Pow(costs[g]/float64(sizes[g])+floor, 0.6)
	}
	return out
}

// regions chooses regions of a cell that do not touch, with at most about half
// of its records, where much is lost rather than elsewhere.
func (a *search) regions(records []int32, rng draws) []attempt {
	c := &cell{s: a.s, p: a.p, records: records, k: a.k}
	sub, inner := c.own()
	list, start := inner.Members()
	centres := make([]*space.Centroid, inner.Groups)
	for g := range centres {
		centres[g] = sub.NewCentroid()
		for _, i := range list[start[g]:start[g+1]] {
			centres[g].Add(i)
		}
	}
	// The sum of weights up to each record.
	up := weights(sub, inner, 0)
	var sum float64
	for j, w := range up {
		sum += w
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
		groups = min(groups, len(nearest))
		if 2*groups > len(centres) && len(centres) <= mostGroups {
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
