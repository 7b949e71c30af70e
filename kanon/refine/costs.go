package refine

import (
	"context"
	"math"
	"slices"

	"github.com/noren-privacy/noren"
	"github.com/noren-privacy/noren/kanon/cost"
	"github.com/noren-privacy/noren/kanon/space"
)

// Where groups publish ranges, or must be diverse or close, the descent goes by a
// measure and a judge (package cost): single records move, pairs change places,
// groups are dissolved, divided, and made again two at a time, whenever the measure
// falls and the judge allows the groups that come of it.

// refineCosts is [Refine] with a measure or a judge. A longer search than a descent
// is made of more rounds of descents, in cells that are cut elsewhere. With a judge a
// round with fewer records in large groups is taken even where the measure rises.
func refineCosts(ctx context.Context, s *space.Space, p space.Partition, o *Options, progress noren.Progress) (space.Partition, Stats,
	error,
) {
	m := o.measure(s)
	total := func(p space.Partition) float64 {
		list, start := p.Members()
		return cost.Total(m, list, start)
	}
	stats := Stats{Before: total(p)}
	stats.After = stats.Before
	if !o.Effort.Descend || o.K < 2 || p.Groups < 2 && s.Len() < 2*o.K {
		return p, stats, nil
	}
	rounds := fastRounds(s.Len(), cellRecords)
	for range rounds {
		progress.Report("refine", int64(stats.Rounds), int64(rounds))
		next, err := byCosts(ctx, s, p, m, o, stats.Rounds)
		if err != nil {
			return space.Partition{}, Stats{}, err
		}
		stats.Rounds++
		after, fewer := total(next), 0
		if o.Judge != nil {
			fewer = inLarge(p, o.K) - inLarge(next, o.K)
		}
		if fewer > 0 || fewer == 0 && after < stats.After {
			p, stats.After = next, after
		}
	}
	return p.Canonical(), stats, nil
}

// byCosts refines a partition by the measure, which must be of the space's records.
func byCosts(ctx context.Context, s *space.Space, p space.Partition, whole cost.Measure, o *Options, number int) (space.Partition, error) {
	cells := cutCells(s, p, cellRecords, number)
	results := make([]cellResult, len(cells))
	err := space.Parallel(ctx, len(cells), "refine", space.ParallelOptions{Workers: o.Workers}, func() func(int) {
		return func(task int) {
			c := &cell{s: s, p: p, records: cells[task], k: o.K}
			sub, inner := c.own()
			m, judge := whole, o.Judge
			if len(c.records) < s.Len() {
				m = m.Subset(c.records)
				if judge != nil {
					judge = judge.Subset(c.records)
				}
			}
			results[task].p, results[task].err = descendedCosts(ctx, sub, m, judge, inner, c.k)
		}
	})
	if err != nil {
		return space.Partition{}, err
	}
	return joined(s.Len(), cells, results)
}

func descendedCosts(ctx context.Context, s *space.Space, m cost.Measure, judge cost.Judge, p space.Partition, k int) (space.Partition,
	error,
) {
	near, err := s.NearLists(ctx, nearRecords, space.NearOptions{Ties: space.Cyclic, Workers: 1})
	if err != nil {
		return p, err
	}
	d := newCostDescent(m, judge, p, near, k)
	if err := d.run(ctx); err != nil {
		return p, err
	}
	if shrunk, err := d.shrink(ctx); err != nil {
		return p, err
	} else if shrunk {
		if err := d.run(ctx); err != nil {
			return p, err
		}
	}
	return d.partition(), nil
}

// costDescent is a partition under change.
type costDescent struct {
	watched
	m       cost.Measure
	judge   cost.Judge
	ruling  *ruling // on changes of groups, nil without a judge
	most    int     // records that a group may grow to
	cutter  *cost.Cutter
	k       int
	costs   []cost.Group
	vacant  []float64  // by record: its group's cost at least with another in its place
	without []float64  // by record: its group's cost without it
	again   []int64    // by group: when it was last made again with others
	links   []int32    // by group: near records of the group at hand in it
	scratch cost.Group // of a group that there may be
}

func newCostDescent(m cost.Measure, judge cost.Judge, p space.Partition, near *space.Near, k int) *costDescent {
	n := m.Len()
	d := &costDescent{
		watched: newWatched(n, near), m: m, judge: judge, cutter: cost.NewCutter(m, k, judge), k: k,
		vacant: make([]float64, n), without: make([]float64, n), scratch: m.NewGroup(),
	}
	d.most = math.MaxInt
	if judge != nil {
		d.ruling = newRuling(judge)
		if d.ruling.strata != nil {
			d.most = LargeGroup * k
		}
	}
	list, start := p.Members()
	for g := range p.Groups {
		d.open(slices.Clone(list[start[g]:start[g+1]]))
	}
	return d
}

// open adds a group of records that are in none.
func (d *costDescent) open(records []int32) {
	d.costs, d.again, d.links = append(d.costs, d.m.NewGroup()), append(d.again, 0), append(d.links, 0)
	d.renew(d.add(records))
}

func (d *costDescent) renew(g int32) {
	c := d.costs[g]
	c.Set(d.members[g])
	for _, i := range d.members[g] {
		d.vacant[i], d.without[i] = c.Vacant(i), c.Without(i)
	}
	if d.ruling != nil {
		d.ruling.renew(g)
	}
	d.touch(g)
}

func (d *costDescent) run(ctx context.Context) error {
	for {
		before := d.clock
		for i := range d.group {
			if i%256 == 0 && ctx.Err() != nil {
				return ctx.Err()
			}
			for d.improve(int32(i)) {
				if ctx.Err() != nil {
					return ctx.Err()
				}
			}
		}
		for g := 0; g < len(d.members); g++ {
			if ctx.Err() != nil {
				return ctx.Err()
			}
			d.split(int32(g))
			d.dissolve(int32(g))
			if g < len(d.members) {
				d.remake(int32(g))
			}
		}
		if d.clock == before {
			return nil
		}
	}
}

// improve makes the move or the swap of record p that lowers the measure most, if
// any does.
func (d *costDescent) improve(p int32) bool {
	if !d.look(p) {
		return false
	}
	g := d.group[p]
	a := d.costs[g]
	best := d.m.Guard()
	to, with := int32(-1), int32(-1)
	leaves := a.Cost() - d.without[p]
	room := a.Cost() - d.vacant[p]
	for _, h := range d.candidates {
		b := d.costs[h]
		if len(d.members[g]) > d.k && leaves > best {
			if gain := leaves + b.Cost() - b.With(p); gain > best && d.moves(p, h) {
				best, to, with = gain, h, -1
			}
		}
		for _, q := range d.members[h] {
			if room+b.Cost()-d.vacant[q] <= best {
				continue
			}
			gain := b.Cost() - b.Replaced(q, p)
			if gain+room <= best {
				continue
			}
			gain += a.Cost() - a.Replaced(p, q)
			if gain > best && d.swaps(p, q) {
				best, to, with = gain, h, q
			}
		}
	}
	if to < 0 {
		return false
	}
	d.move(p, to)
	if with >= 0 {
		d.move(with, g)
	}
	d.renew(g)
	d.renew(to)
	return true
}

// moves reports whether record p may join the group to, and swaps whether p and q
// may change places.
func (d *costDescent) moves(p, to int32) bool {
	if len(d.members[to]) >= d.most {
		return false
	}
	g := d.group[p]
	return d.ruling == nil || d.ruling.allows(d.members[g], g, p, -1) && d.ruling.allows(d.members[to], to, -1, p)
}

func (d *costDescent) swaps(p, q int32) bool {
	g, h := d.group[p], d.group[q]
	return d.ruling == nil || d.ruling.allows(d.members[g], g, p, q) && d.ruling.allows(d.members[h], h, q, p)
}

// split divides a group where that lowers the measure.
func (d *costDescent) split(g int32) {
	if len(d.members[g]) < 2*d.k || d.changed[g] <= d.tried[g] {
		return
	}
	members := slices.Clone(d.members[g])
	slices.Sort(members)
	left, right := d.cutter.Cut(members)
	if left == nil {
		return
	}
	d.members[g] = left
	d.renew(g)
	d.open(right)
}

// dissolve gives each member of a group to the near group that rises least, and
// takes it back when the measure does not fall or a group is not allowed.
func (d *costDescent) dissolve(g int32) {
	if d.changed[g] <= d.tried[g] {
		return
	}
	d.tried[g] = d.clock
	if len(d.members) < 2 || len(d.members[g]) > 2*d.k {
		return
	}
	members := slices.Clone(d.members[g])
	slices.Sort(members)
	gain := d.costs[g].Cost()
	took := map[int32]int{} // how many each group had before
	undo := func() {
		for h, n := range took {
			d.members[h] = d.members[h][:n]
			d.costs[h].Set(d.members[h])
		}
	}
	for _, p := range members {
		d.around(p)
		rise, to := 0.0, int32(-1)
		for _, h := range d.candidates {
			if len(d.members[h]) >= d.most {
				continue
			}
			if r := d.costs[h].With(p) - d.costs[h].Cost(); to < 0 || r < rise {
				rise, to = r, h
			}
		}
		if to < 0 || gain-rise <= d.m.Guard() {
			undo()
			return
		}
		gain -= rise
		if _, ok := took[to]; !ok {
			took[to] = len(d.members[to])
		}
		d.members[to] = append(d.members[to], p)
		d.costs[to].Set(d.members[to])
	}
	if d.judge != nil {
		for h := range took {
			if !d.judge.Holds(d.members[h]) {
				undo()
				return
			}
		}
	}
	touched := make([]int32, 0, len(took))
	for h := range took {
		touched = append(touched, h)
	}
	slices.Sort(touched)
	for _, h := range touched {
		for _, i := range d.members[h][took[h]:] {
			d.group[i] = h
		}
		d.renew(h)
	}
	d.drop(g)
}

// drop removes a group without records; the last one takes its number.
func (d *costDescent) drop(g int32) {
	last := int32(len(d.members) - 1)
	d.costs[g], d.again[g] = d.costs[last], d.again[last]
	if d.ruling != nil {
		d.ruling.renew(g)
	}
	d.costs, d.again, d.links = d.costs[:last], d.again[:last], d.links[:last]
	d.remove(g)
}

// remakes is with how many groups beside it a group is made again, and remadeMost
// times k up to how many records the two may have.
const remakes, remadeMost = 6, 10

// remake puts a group and one beside it together and cuts them anew, if that lowers
// the measure.
func (d *costDescent) remake(g int32) {
	beside := d.beside(g, remakes)
	fresh := d.changed[g] > d.again[g]
	for _, h := range beside {
		fresh = fresh || d.changed[h] > d.again[g]
	}
	if !fresh {
		return
	}
	d.again[g] = d.clock
	for _, h := range beside {
		if len(d.members[g])+len(d.members[h]) > max(remadeMost*d.k, len(d.members[g])+2*d.k) {
			continue
		}
		union := slices.Concat(d.members[g], d.members[h])
		slices.Sort(union)
		left, right := d.cutter.Cut(union)
		if left == nil {
			continue
		}
		d.scratch.Set(left)
		after := d.scratch.Cost()
		d.scratch.Set(right)
		after += d.scratch.Cost()
		if after >= d.costs[g].Cost()+d.costs[h].Cost()-d.m.Guard() ||
			max(len(left), len(right)) > max(d.most, len(d.members[g]), len(d.members[h])) {
			continue
		}
		d.members[g], d.members[h] = left, right
		for _, i := range left {
			d.group[i] = g
		}
		for _, i := range right {
			d.group[i] = h
		}
		d.renew(g)
		d.renew(h)
	}
}

// beside lists up to so many groups, those that most near records of a group's members are in.
func (d *costDescent) beside(g int32, most int) []int32 {
	var found []int32
	for _, p := range d.members[g] {
		records, _ := d.near.Of(p)
		for _, q := range records {
			if h := d.group[q]; h != g {
				if d.links[h] == 0 {
					found = append(found, h)
				}
				d.links[h]++
			}
		}
	}
	slices.SortFunc(found, func(a, b int32) int {
		if d.links[a] != d.links[b] {
			return int(d.links[b] - d.links[a])
		}
		return int(a - b)
	})
	for _, h := range found {
		d.links[h] = 0
	}
	return found[:min(most, len(found))]
}
