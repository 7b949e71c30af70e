package bound

import (
	"cmp"
	"context"
	"slices"

	"github.com/noren-privacy/noren/kanon/space"
)

// tree divides the records of a region anew by branch and price (Barnhart,
// Johnson, Nemhauser, Savelsbergh and Vance 1998): at each node prices are
// fitted, with groups and cuts that are still missing; groups that have all of
// their records' shares are taken, or else the groups of one record are tried
// in turn; and what cannot be better than the best so far is given up.
//
// The bound of a node is not certified, and not all groups of a record are tried,
// so that what is not found may exist. What is found is better for certain.
type tree struct {
	program
	ctx   context.Context
	nodes int // that are left
	best  float64
	least float64 // the gain that counts
	taken [][]int32
	found [][]int32
	rough []nearly
}

const (
	// whole is the share from which on a group is taken at once.
	whole = 0.95
	// slight is the share below which a group is not tried, and mostTried how
	// many groups of a record are.
	slight, mostTried = 0.05, 3
	// nodeRounds is how often groups and cuts are looked for at a node.
	nodeRounds = 3
	// few is how many times k records are too few to be divided by shares, and
	// mostRough how many divisions up to these are kept.
	few, mostRough = 4, 2
	// cooler is by how much the heat is lower than that of the whole table's prices.
	cooler = 1.5
	// nodeSweeps and nodeSettled are how well prices are fitted there.
	nodeSweeps, nodeSettled = 100, 0.005
)

// Regroup looks for better divisions of the region's records into groups of k
// or more, at up to that many nodes. better is the best that it found, nil
// when it found none. rough are divisions, the most promising first, of which all
// but the last group are those of a good one; the last is of records that are
// still to be divided. Both are by position in Records. When the context ends,
// its error is returned. Regions may be regrouped in parallel, each once.
func (r *Region) Regroup(ctx context.Context, nodes int) (better *space.Partition, rough []space.Partition, err error) {
	t := &tree{program: r.p, ctx: ctx, nodes: nodes}
	for _, members := range r.groups {
		t.best += t.f.cost(members)
	}
	t.least = 1e-7 * t.best
	t.mu /= cooler
	if err := t.node(t.u, t.cuts.price, t.active, 0); err != nil {
		return nil, nil, err
	}
	partition := func(groups [][]int32) space.Partition {
		p := space.Partition{Group: make([]uint32, len(r.Records)), Groups: len(groups)}
		for g, members := range groups {
			for _, i := range members {
				p.Group[i] = uint32(g)
			}
		}
		return p
	}
	if t.found != nil {
		p := partition(t.found)
		better = &p
	}
	for _, x := range t.rough {
		rough = append(rough, partition(x.groups))
	}
	return better, rough, nil
}

// nearly is a division whose last group is of records that were not divided yet.
type nearly struct {
	groups [][]int32
	bound  float64
}

// note keeps what was taken so far, with the others as one group, if it is among
// the most promising: few records can seldom be divided as well as by shares, but
// with changes to the groups about them.
func (t *tree) note(active []int32, bound float64) {
	if !(bound < t.best) {
		return
	}
	at := len(t.rough)
	for at > 0 && bound < t.rough[at-1].bound {
		at--
	}
	if at == mostRough {
		return
	}
	t.rough = slices.Insert(t.rough, at, nearly{append(slices.Clone(t.taken), active), bound})
	t.rough = t.rough[:min(len(t.rough), mostRough)]
}

// node divides the active records, the others being in groups of this cost.
// u and price are the prices to begin with; they are changed.
func (t *tree) node(u, price []float64, active []int32, cost float64) error {
	if len(active) < 2*t.f.k {
		if len(active) > 0 {
			t.take(active)
			defer t.back(len(t.taken) - 1)
			cost += t.f.cost(active)
		}
		if cost < t.best-t.least {
			t.best = cost
			t.found = slices.Clone(t.taken)
		}
		return nil
	}
	if t.nodes--; t.nodes < 0 {
		return nil
	}
	t.enter(u, price, active)
	for round := range nodeRounds {
		if err := t.fit(t.ctx, nodeSweeps, nodeSettled); err != nil {
			return err
		}
		below := 0.0
		if t.lacksGroups() {
			below = inf
		}
		out, err := t.pricing(below, quickGroups, fairSteps, quickCrowd).run(t.ctx, 1)
		if err != nil {
			return err
		}
		more := t.add(out)
		if round < nodeRounds-1 {
			more += t.separate(clearly)
		}
		if more == 0 {
			break
		}
	}
	bound := cost + t.value()
	if len(active) <= few*t.f.k && len(t.taken) > 0 {
		t.note(active, bound)
	}
	if bound >= t.best-t.least {
		return nil
	}
	u, price = t.u, t.cuts.price
	mark := len(t.taken)
	gone := make([]bool, t.f.n)
	if sum := t.takeAll(gone); len(t.taken) > mark {
		defer t.back(mark)
		return t.node(u, price, without(active, gone), cost+sum)
	}
	for _, members := range t.choices() {
		clear(gone)
		for _, i := range members {
			gone[i] = true
		}
		rest := without(active, gone)
		if len(rest) > 0 && len(rest) < t.f.k {
			continue
		}
		t.take(members)
		err := t.node(slices.Clone(u), slices.Clone(price), rest, cost+t.f.cost(members))
		t.back(mark)
		if err != nil || t.nodes < 0 || bound >= t.best-t.least {
			return err
		}
	}
	return nil
}

// enter makes the program that of the active records.
func (t *tree) enter(u, price []float64, active []int32) {
	t.u, t.active = u, active
	t.gone = slices.Repeat([]bool{true}, t.f.n)
	for _, i := range active {
		t.gone[i] = false
	}
	t.cuts.price = append(price, make([]float64, len(t.cuts.set)-len(price))...)
	for c, set := range t.cuts.set {
		if t.lacks(set) {
			t.cuts.price[c] = 0
		}
	}
}

// lacksGroups reports whether there is a record that none of the groups of the
// pool has.
func (t *tree) lacksGroups() bool {
	return slices.ContainsFunc(t.active, func(i int32) bool { return t.pool.first[i] == t.pool.first[i+1] })
}

func (t *tree) take(members []int32) { t.taken = append(t.taken, members) }

func (t *tree) back(mark int) { t.taken = t.taken[:mark] }

// takeAll takes the groups that have all of their records' shares, unless less
// than k records would be left, and returns what they cost.
func (t *tree) takeAll(gone []bool) float64 {
	var cost float64
	left := len(t.active)
	for l, x := range t.pool.x {
		if x <= whole {
			continue
		}
		g := int(t.pool.live[l])
		members := t.pool.members(g)
		if rest := left - len(members); rest > 0 && rest < t.f.k || slices.ContainsFunc(members, func(i int32) bool { return gone[i] }) {
			continue
		}
		for _, i := range members {
			gone[i] = true
		}
		left -= len(members)
		cost += t.pool.cost[g]
		t.take(slices.Clone(members))
	}
	return cost
}

// choices are the groups to try: those of a record of the group with the largest
// share, the one whose second group has most.
func (t *tree) choices() [][]int32 {
	p := t.pool
	if len(p.x) == 0 {
		return nil
	}
	best := int32(0)
	for l, x := range p.x {
		if x > p.x[best] {
			best = int32(l)
		}
	}
	of := func(i int32) []int32 { return p.group[p.first[i]:p.first[i+1]] }
	record, most := int32(-1), -1.0
	for _, i := range p.members(int(p.live[best])) {
		second := 0.0
		for _, l := range of(i) {
			if l != best {
				second = max(second, p.x[l])
			}
		}
		if second > most {
			record, most = i, second
		}
	}
	list := slices.Clone(of(record))
	slices.SortFunc(list, func(a, b int32) int { return cmp.Or(cmp.Compare(p.x[b], p.x[a]), cmp.Compare(a, b)) })
	var out [][]int32
	for n, l := range list {
		if n == mostTried || n > 0 && p.x[l] < slight {
			break
		}
		out = append(out, slices.Clone(p.members(int(p.live[l]))))
	}
	return out
}

// without are the records of a list that are not gone.
func without(list []int32, gone []bool) []int32 {
	out := make([]int32, 0, len(list))
	for _, i := range list {
		if !gone[i] {
			out = append(out, i)
		}
	}
	return out
}
