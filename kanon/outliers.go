package kanon

import (
	"cmp"
	"container/heap"
	"context"
	"slices"

	"github.com/noren-privacy/noren/kanon/cost"
	"github.com/noren-privacy/noren/kanon/persons"
	"github.com/noren-privacy/noren/kanon/privacy"
	"github.com/noren-privacy/noren/kanon/space"
)

// remote picks the units whose records are farthest, on average, from their k-1
// nearest records, in a table that is worked on as a whole.
func (p *population) remote(ctx context.Context, j *Job, limit int) ([]int32, error) {
	if p.space.Len() > wholeRecords || j.K < 2 {
		return nil, nil
	}
	near, err := p.space.NearLists(ctx, j.K-1, space.NearOptions{Ties: space.Cyclic, Workers: j.Workers})
	if err != nil {
		return nil, err
	}
	units := make([]*outlier, 0, p.space.Len())
	for _, records := range p.units() {
		u := &outlier{records: records}
		for _, i := range records {
			_, distances := near.Of(i)
			for _, d := range distances {
				u.gain += d
			}
		}
		u.gain /= float64(len(records))
		units = append(units, u)
	}
	slices.SortFunc(units, func(a, b *outlier) int {
		return cmp.Or(cmp.Compare(b.gain, a.gain), cmp.Compare(a.records[0], b.records[0]))
	})
	var out []int32
	for _, u := range units {
		if u.gain > 0 && len(out)+len(u.records) <= limit {
			out = append(out, u.records...)
		}
	}
	slices.Sort(out)
	return out, nil
}

// outliers picks up to limit records without which the groups, as they are, lose
// least: again and again the unit that lowers the sum most for each of its records.
// Where groups are to stay complete, what else would fall below k is not picked,
// and whole groups are units as well.
func (g *grouping) outliers(k, limit int, complete bool) []int32 {
	m := g.measure
	if m == nil {
		m = cost.Squares(g.space)
	}
	q := &outlierQueue{m: m, in: make([]int32, m.Len())}
	list, start := g.Members()
	for at := range g.Groups {
		group := m.NewGroup()
		members := slices.Clone(list[start[at]:start[at+1]])
		group.Set(members)
		q.groups, q.members = append(q.groups, group), append(q.members, members)
		for _, i := range members {
			q.in[i] = int32(at)
		}
	}
	q.changed = make([]int, len(q.groups))
	units := g.units()
	if complete && g.persons == nil {
		for _, members := range q.members {
			units = append(units, slices.Clone(members))
		}
	}
	for _, records := range units {
		if u := (&outlier{records: records}); len(records) <= limit {
			q.value(u)
			q.heap = append(q.heap, u)
		}
	}
	heap.Init(q)
	gone := make([]bool, m.Len())
	var out []int32
	for q.Len() > 0 {
		u := heap.Pop(q).(*outlier)
		if u.gain <= m.Guard() {
			break
		}
		if len(out)+len(u.records) > limit || slices.ContainsFunc(u.records, func(i int32) bool { return gone[i] }) {
			continue
		}
		if q.stale(u) {
			q.value(u)
			heap.Push(q, u)
			continue
		}
		if complete && !q.staysComplete(u, g.persons, k) {
			continue
		}
		q.remove(u)
		for _, i := range u.records {
			gone[i] = true
		}
		out = append(out, u.records...)
	}
	slices.Sort(out)
	return out
}

// staysComplete reports whether every group of the unit goes whole, or keeps k
// records, or persons where they are known.
func (q *outlierQueue) staysComplete(u *outlier, person []uint32, k int) bool {
	for _, i := range u.records {
		rest := slices.DeleteFunc(slices.Clone(q.members[q.in[i]]), func(j int32) bool { return slices.Contains(u.records, j) })
		n := len(rest)
		if person != nil {
			var of []uint32
			for _, j := range rest {
				of = append(of, person[j])
			}
			n = persons.Count(of)
		}
		if len(rest) > 0 && n < k {
			return false
		}
	}
	return true
}

// units lists the records that are left out together: those of a person.
func (p *population) units() [][]int32 {
	n := p.space.Len()
	units := make([][]int32, 0, n)
	at := map[uint32]int{}
	for i := range int32(n) {
		if p.persons != nil && p.persons[i] != privacy.NoPerson {
			if u, ok := at[p.persons[i]]; ok {
				units[u] = append(units[u], i)
				continue
			}
			at[p.persons[i]] = len(units)
		}
		units = append(units, []int32{i})
	}
	return units
}

// outlier is a unit and what its groups lose less without it, for each record.
type outlier struct {
	records []int32
	gain    float64
	when    int // the last change when it was valued
}

// outlierQueue gives the unit of the greatest gain, of equal ones that with the
// lowest record.
type outlierQueue struct {
	m       cost.Measure
	groups  []cost.Group
	members [][]int32
	in      []int32 // group of each record
	changed []int   // by group: the last change of it
	now     int
	heap    []*outlier
}

func (q *outlierQueue) Len() int      { return len(q.heap) }
func (q *outlierQueue) Swap(i, j int) { q.heap[i], q.heap[j] = q.heap[j], q.heap[i] }
func (q *outlierQueue) Push(x any)    { q.heap = append(q.heap, x.(*outlier)) }

func (q *outlierQueue) Less(i, j int) bool {
	a, b := q.heap[i], q.heap[j]
	if a.gain != b.gain {
		return a.gain > b.gain
	}
	return a.records[0] < b.records[0]
}

func (q *outlierQueue) Pop() any {
	last := q.heap[len(q.heap)-1]
	q.heap = q.heap[:len(q.heap)-1]
	return last
}

// value sums up what the unit's groups lose less without it; of several records in
// a group that stays each is taken by itself.
func (q *outlierQueue) value(u *outlier) {
	u.gain, u.when = 0, q.now
	if g := q.in[u.records[0]]; len(u.records) > 1 && slices.Equal(u.records, q.members[g]) {
		u.gain = q.groups[g].Cost() / float64(len(u.records))
		return
	}
	for _, i := range u.records {
		g := q.groups[q.in[i]]
		u.gain += g.Cost() - g.Without(i)
	}
	u.gain /= float64(len(u.records))
}

func (q *outlierQueue) stale(u *outlier) bool {
	for _, i := range u.records {
		if q.changed[q.in[i]] > u.when {
			return true
		}
	}
	return false
}

func (q *outlierQueue) remove(u *outlier) {
	q.now++
	for _, i := range u.records {
		g := q.in[i]
		q.members[g] = slices.DeleteFunc(q.members[g], func(j int32) bool { return j == i })
		q.groups[g].Set(q.members[g])
		q.changed[g] = q.now
	}
}
