package kanon

import (
	"cmp"
	"container/heap"
	"context"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/noren-privacy/noren"
	"github.com/noren-privacy/noren/kanon/cost"
	"github.com/noren-privacy/noren/kanon/persons"
	"github.com/noren-privacy/noren/kanon/privacy"
	"github.com/noren-privacy/noren/kanon/refine"
	"github.com/noren-privacy/noren/kanon/space"
	"github.com/noren-privacy/noren/table"
)

// Suppression limits how many records a release may leave out. The zero value is
// none.
type Suppression struct {
	// Share of the records, from 0 to 1, or Records; not both.
	Share   float64
	Records int
}

// ParseSuppression reads "off", a share such as "1%" or a number of records.
func ParseSuppression(s string) (Suppression, error) {
	if s == "off" {
		return Suppression{}, nil
	}
	if share, ok := strings.CutSuffix(s, "%"); ok {
		if v, err := strconv.ParseFloat(share, 64); err == nil && v >= 0 && v < 100 {
			return Suppression{Share: v / 100}, nil
		}
	} else if n, err := strconv.Atoi(s); err == nil && n >= 0 {
		return Suppression{Records: n}, nil
	}
	return Suppression{}, &noren.Error{
		Kind: noren.Usage, What: "unknown limit of suppression %q", Args: []any{s},
		Hint: "off, a share below 100% such as 1%, or a number of records",
	}
}

// String is the limit as [ParseSuppression] reads it, "" for none.
func (s Suppression) String() string {
	switch {
	case s.Share > 0:
		return strconv.FormatFloat(math.Round(s.Share*1e14)/1e12, 'f', -1, 64) + "%"
	case s.Records > 0:
		return strconv.Itoa(s.Records)
	}
	return ""
}

// most is the limit in a table of n records.
func (s Suppression) most(n int) int {
	return max(s.Records, int(math.Floor(s.Share*float64(n))))
}

func (o *Options) suppressionFaults() noren.Texts {
	s := o.Suppress
	var faults noren.Texts
	if !(s.Share >= 0 && s.Share < 1) || s.Records < 0 || s.Share > 0 && s.Records > 0 {
		faults = append(faults, noren.Textf("suppression is limited by a share of the records from 0 to below 1, or by a number of them"))
	}
	if s != (Suppression{}) && o.Linkage == LinkAll {
		faults = append(faults, noren.Textf("suppression cannot go with a linkage of all records: leave one of them out"))
	}
	return faults
}

// suppress leaves out records, or with a unit all records of persons, that raise the
// loss of their groups most, up to the limit, and makes the groups of the others
// anew. It tries three ways: to leave out what lowers the loss most, whatever
// becomes of the groups; only what leaves groups of k, or whole groups; and what is
// far from its nearest records. The way by which the others lose least is taken, and
// nothing is left out where none makes them lose less, or they could not be made
// diverse or close.
//
// All of this is judged after a descent. The longer refinement that a release asks for
// follows for the way that is taken.
func (r *run) suppress(ctx context.Context) error {
	most := min(r.job.Suppress.most(r.held.Rows), r.held.Rows-r.job.K)
	if most <= 0 {
		return nil
	}
	began := time.Now()
	defer func() { r.effort = r.job.Refine }()
	r.effort = refine.Effort{Descend: r.job.Refine.Descend}
	if err := r.refine(ctx); err != nil {
		return err
	}
	whole := r.space
	all := make([]uint32, whole.Len())
	for i := range all {
		all[i] = uint32(i)
	}
	start, figures := *r, *r.result
	best, bestFigures, least, kept := start, figures, r.objective(), all
	var last []int32
	for _, pick := range []func(context.Context, int) ([]int32, error){r.costly, r.costlyWhole, r.remote} {
		*r, *start.result = start, figures
		out, err := pick(ctx, most)
		if err != nil {
			return err
		}
		if len(out) == 0 || slices.Equal(out, last) {
			continue
		}
		last = out
		rest := without(all, out)
		err = r.without(ctx, whole, rest)
		if kind := noren.KindOf(err); err != nil && kind != noren.NotMet && kind != noren.BadData {
			return err
		}
		if err != nil {
			continue
		}
		if loses := r.objective(); loses < least {
			best, bestFigures, least, kept = *r, *r.result, loses, rest
		}
	}
	*r, *start.result = best, bestFigures
	if len(kept) < len(all) {
		r.leave(whole, kept)
	}
	timed(&r.result.Seconds.Refine, began)
	return nil
}

// objective is what the groups lose of what they were made to lower.
func (r *run) objective() float64 {
	if r.lowers == nil {
		return r.space.SSE(r.groups)
	}
	list, start := r.groups.Members()
	return cost.Total(r.lowers, list, start)
}

// without makes the groups of these records of the table anew.
func (r *run) without(ctx context.Context, whole *space.Space, kept []uint32) error {
	columns, err := r.held.Select(ctx, kept)
	if err != nil {
		return err
	}
	r.take(columns)
	records := make([]int32, len(kept))
	for j, i := range kept {
		records[j] = int32(i)
	}
	r.space = whole.Subset(records)
	for _, step := range []func(context.Context) error{r.divide, r.enforce, r.refine} {
		if err := step(ctx); err != nil {
			return err
		}
	}
	return nil
}

// leave leaves out the records that are not kept and adds up what they count for: in
// the loss by their distance from the centre of the table.
func (r *run) leave(whole *space.Space, kept []uint32) {
	n := whole.Len()
	r.result.Suppressed, r.result.Rows, r.result.SST = n-len(kept), len(kept), whole.SST()
	centre := whole.NewCentroid()
	for i := range int32(n) {
		centre.Add(i)
	}
	r.left = make([]bool, n)
	for i := range r.left {
		r.left[i] = true
	}
	for _, i := range kept {
		r.left[i] = false
	}
	for i, left := range r.left {
		if left {
			r.lost += centre.Distance2(int32(i))
		}
	}
	if r.result.SST > 0 {
		r.result.SuppressedLoss = r.lost / r.result.SST
	}
}

// without lists what is in kept and not at the given places of it; both ascend.
func without(kept []uint32, places []int32) []uint32 {
	rest := make([]uint32, 0, len(kept)-len(places))
	for j, i := range kept {
		if len(places) > 0 && int(places[0]) == j {
			places = places[1:]
			continue
		}
		rest = append(rest, i)
	}
	return rest
}

// costly and costlyWhole pick what lowers the loss of the groups most.
func (r *run) costly(_ context.Context, limit int) ([]int32, error) {
	return r.outliers(limit, false), nil
}

func (r *run) costlyWhole(_ context.Context, limit int) ([]int32, error) {
	return r.outliers(limit, true), nil
}

// remote picks the units whose records are farthest, on average, from their k-1
// nearest records, in a table that is worked on as a whole.
func (r *run) remote(ctx context.Context, limit int) ([]int32, error) {
	if r.space.Len() > wholeRecords || r.job.K < 2 {
		return nil, nil
	}
	near, err := r.space.NearLists(ctx, r.job.K-1, space.NearOptions{Ties: space.Cyclic, Workers: r.job.Workers})
	if err != nil {
		return nil, err
	}
	units := make([]*outlier, 0, r.space.Len())
	for _, records := range r.units() {
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
func (r *run) outliers(limit int, complete bool) []int32 {
	m := r.lowers
	if m == nil {
		m = cost.Squares(r.space)
	}
	q := &outlierQueue{m: m, in: make([]int32, m.Len())}
	list, start := r.groups.Members()
	for g := range r.groups.Groups {
		group := m.NewGroup()
		members := slices.Clone(list[start[g]:start[g+1]])
		group.Set(members)
		q.groups, q.members = append(q.groups, group), append(q.members, members)
		for _, i := range members {
			q.in[i] = int32(g)
		}
	}
	q.changed = make([]int, len(q.groups))
	units := r.units()
	if complete && r.persons == nil {
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
		if complete && !r.staysComplete(q, u) {
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
// records or persons.
func (r *run) staysComplete(q *outlierQueue, u *outlier) bool {
	for _, i := range u.records {
		rest := slices.DeleteFunc(slices.Clone(q.members[q.in[i]]), func(j int32) bool { return slices.Contains(u.records, j) })
		n := len(rest)
		if r.persons != nil {
			var of []uint32
			for _, j := range rest {
				of = append(of, r.persons[j])
			}
			n = persons.Count(of)
		}
		if len(rest) > 0 && n < r.job.K {
			return false
		}
	}
	return true
}

// units lists the records that are left out together: those of a person.
func (r *run) units() [][]int32 {
	n := r.space.Len()
	units := make([][]int32, 0, n)
	at := map[uint32]int{}
	for i := range int32(n) {
		if r.persons != nil && r.persons[i] != privacy.NoPerson {
			if u, ok := at[r.persons[i]]; ok {
				units[u] = append(units[u], i)
				continue
			}
			at[r.persons[i]] = len(units)
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

// leaving reads the source without the records that are left out.
type leaving struct {
	table.Reader
	left []bool
	kept table.Chunk
	next int64
}

// Next implements [table.Reader].
func (l *leaving) Next() (*table.Chunk, error) {
	for {
		c, err := l.Reader.Next()
		if err != nil {
			return nil, err
		}
		left := l.left[c.First : c.First+int64(c.Rows)]
		l.kept.First, l.kept.Rows = l.next, 0
		for _, out := range left {
			if !out {
				l.kept.Rows++
			}
		}
		if l.kept.Rows == 0 {
			continue
		}
		l.next += int64(l.kept.Rows)
		if len(l.kept.Cols) != len(c.Cols) {
			l.kept.Cols = make([]table.Vector, len(c.Cols))
		}
		for j := range c.Cols {
			v, k := &c.Cols[j], &l.kept.Cols[j]
			k.Kind = v.Kind
			k.Null, k.Ints = keptOf(k.Null, v.Null, left), keptOf(k.Ints, v.Ints, left)
			k.Floats, k.Texts = keptOf(k.Floats, v.Floats, left), keptOf(k.Texts, v.Texts, left)
		}
		return &l.kept, nil
	}
}

// keptOf sets dst to the values that are not left out, nil where there are none.
func keptOf[T any](dst, from []T, left []bool) []T {
	if len(from) == 0 {
		return nil
	}
	dst = dst[:0]
	for i, out := range left {
		if !out {
			dst = append(dst, from[i])
		}
	}
	return dst
}
