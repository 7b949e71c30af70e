package publish

import (
	"context"
	"runtime"
	"sync"
	"sync/atomic"

	"github.com/noren-privacy/noren"
	"github.com/noren-privacy/noren/table"
)

// Column is what the groups show in one quasi-identifier.
type Column struct {
	// Stored describes the column in the released file. A whole number, a
	// decimal or a day keeps the type that its file has for it; all else is
	// text.
	Stored table.StoredColumn
	// Grid is the grid to which means were rounded where the field does not say to how many
	// places; nil where the column has none.
	Grid *Grid

	null   []bool // by group; nil when no group lacks a value
	ints   []int64
	floats []float64
	text   arena
	codes  []uint32 // in words
	words  [][]byte // nil where texts are in the arena
	own    *own     // until values are matched

	penalty float64 // of all records together, see NCP
}

// Fill sets dst to the values of records that are in these groups. Texts are
// shared with the column and must not be written to.
func (c *Column) Fill(dst *table.Vector, groups []uint32) {
	dst.Kind = c.Stored.Kind
	dst.Null, dst.Ints, dst.Floats, dst.Texts = dst.Null[:0], dst.Ints[:0], dst.Floats[:0], dst.Texts[:0]
	if c.null != nil {
		for _, g := range groups {
			dst.Null = append(dst.Null, c.null[g])
		}
	} else {
		dst.Null = nil
	}
	switch c.Stored.Kind {
	case table.Int:
		for _, g := range groups {
			dst.Ints = append(dst.Ints, c.ints[g])
		}
	case table.Float:
		for _, g := range groups {
			dst.Floats = append(dst.Floats, c.floats[g])
		}
	default:
		for _, g := range groups {
			if c.words != nil {
				dst.Texts = append(dst.Texts, c.words[c.codes[g]])
			} else {
				dst.Texts = append(dst.Texts, c.text.at(g))
			}
		}
	}
}

// groups is the number of groups.
func (c *Column) groups() int {
	return max(len(c.text.ends), len(c.codes), len(c.ints), len(c.floats))
}

// Publish makes the released columns out of cols, which all have a record for
// each entry of group; stored describes how the source stores each. group is
// the group of each record, below groups, and every group has a record. The
// stage it reports is "publishing". Errors are the context's, or of kind
// Internal for arguments that do not fit each other.
func Publish(ctx context.Context, cols []*table.Column, stored []table.StoredColumn, group []uint32, groups int, o Options) ([]Column,
	error,
) {
	p, err := NewPlan(cols, stored, o)
	if err != nil {
		return nil, err
	}
	p.Look(cols)
	if p.Twice() {
		p.Again()
		p.Look(cols)
	}
	m, err := p.members(cols, group, groups)
	if err != nil {
		return nil, err
	}
	out := make([]Column, len(cols))
	var next, done atomic.Int64
	var mu sync.Mutex
	work := func() {
		for ctx.Err() == nil {
			j := int(next.Add(1)) - 1
			if j >= len(cols) {
				return
			}
			out[j] = p.column(ctx, j, cols[j], m)
			mu.Lock()
			o.Progress.Report("publishing", done.Add(1), int64(len(cols)))
			mu.Unlock()
		}
	}
	var wg sync.WaitGroup
	for range min(runtime.GOMAXPROCS(0), len(cols)) - 1 {
		wg.Go(work)
	}
	work()
	wg.Wait()
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	return out, p.Finish(ctx, out, group)
}

// members lists the records group by group.
type members struct {
	list  []uint32
	start []uint32 // of each group in list, and the end
}

func (m *members) of(g int) []uint32 { return m.list[m.start[g]:m.start[g+1]] }
func (m *members) groups() int       { return len(m.start) - 1 }

func sortByGroup(group []uint32, groups int) (*members, error) {
	m := &members{list: make([]uint32, len(group)), start: make([]uint32, groups+1)}
	for _, g := range group {
		if int(g) >= groups {
			return nil, &noren.Error{What: "a record is in group %d of %d", Args: []any{g, groups}}
		}
		m.start[g+1]++
	}
	for g := range groups {
		if m.start[g+1] == 0 {
			return nil, &noren.Error{What: "group %d has no record", Args: []any{g}}
		}
		m.start[g+1] += m.start[g]
	}
	at := append([]uint32(nil), m.start[:groups]...)
	for i, g := range group {
		m.list[at[g]] = uint32(i)
		at[g]++
	}
	return m, nil
}

// writer gives the common value of the members that have one, all[0..n), n > 0.
type writer func(c *Column, all []uint32)

// missingGroups tells which groups lack a value in all their records, nil for
// none.
func missingGroups(col *table.Column, m *members) []bool {
	var null []bool
	for g := range m.groups() {
		whole := true
		for _, i := range m.of(g) {
			if !col.IsMissing(int(i)) {
				whole = false
				break
			}
		}
		if whole {
			if null == nil {
				null = make([]bool, m.groups())
			}
			null[g] = true
		}
	}
	return null
}
