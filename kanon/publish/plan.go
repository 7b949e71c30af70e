package publish

import (
	"context"
	"math"
	"sync"

	"github.com/noren-privacy/noren"
	"github.com/noren-privacy/noren/table"
)

// Plan says how the groups of a table are shown in each column. As it rests on
// the whole table (how often each value occurs, how its numbers are written),
// all records are looked at first, run by run ([Plan.Look]); then the groups can
// be published a piece of the table at a time ([Plan.Groups]), several at once.
// The pieces are put together by [Append], and made a release's columns by
// [Plan.Finish]. What comes out does not depend on the pieces.
//
// A mode that matches looks at all records a second time ([Plan.Twice]), at how
// often the values of two columns come together, and chooses the values of all
// groups in [Plan.Finish].
type Plan struct {
	opts    Options
	columns []planned
	tables  *tables // of the second look
}

// planned is what is known of one column.
type planned struct {
	head   *table.Column // for its description; its records do not matter
	stored table.StoredColumn
	gaps   bool     // some record has no value
	counts []uint64 // of a category, how often each code occurs
	values *values  // of a number that is matched
	uneven bool     // not all numbers are whole at the places they are written with
	words  [][]byte // of a category, and the empty one
	leaf   []uint32 // of each code, in a hierarchy
	known  []bool   // whether a code has one
	lo, hi float64  // of a number, over all records
	below  [][]int  // in a hierarchy: by level and node, how many leaves
	units  *Multiples
	found  sync.Once
	grid   *Grid // once all records have been looked at; nil where there is none
}

// NewPlan begins a plan for columns of these descriptions; stored describes how
// the source stores each.
func NewPlan(heads []*table.Column, stored []table.StoredColumn, o Options) (*Plan, error) {
	if len(stored) != len(heads) {
		return nil, &noren.Error{What: "%d stored {column|columns} for %d {column|columns}", Args: []any{len(stored), len(heads)}}
	}
	p := &Plan{opts: o, columns: make([]planned, len(heads))}
	for j, head := range heads {
		c := &p.columns[j]
		c.head, c.stored, c.uneven = head, stored[j], head.Places > 15
		f := &head.Field
		c.lo, c.hi = math.Inf(1), math.Inf(-1)
		if f.Type.IsNumber() {
			if o.Mode == Matched {
				c.values = newValues(f.Type)
			}
			if o.Mode != Generalize {
				c.units = newMultiples(f.Type)
			}
			continue
		}
		c.counts = make([]uint64, len(head.Dict))
		if o.Mode == Aggregate || o.Mode == Matched {
			for _, word := range head.Dict {
				c.words = append(c.words, []byte(word))
			}
			c.words = append(c.words, nil)
		} else if h := f.Hierarchy; h != nil && o.Mode == Generalize {
			c.below = leavesBelow(h)
			c.leaf, c.known = make([]uint32, len(head.Dict)), make([]bool, len(head.Dict))
			for code, word := range head.Dict {
				c.leaf[code], c.known[code] = h.Leaf(word)
			}
		}
	}
	return p, nil
}

// Twice reports whether all records must be looked at a second time, after
// [Plan.Again].
func (p *Plan) Twice() bool { return p.opts.Mode == Matched }

// Again begins the second look.
func (p *Plan) Again() {
	for j := range p.columns {
		if v := p.columns[j].values; v != nil {
			v.sort()
		}
	}
	p.tables = newTables(p.columns)
}

// Look takes in a run of records.
func (p *Plan) Look(cols []*table.Column) {
	if p.tables != nil {
		p.tables.look(cols)
		return
	}
	for j, col := range cols {
		c := &p.columns[j]
		gaps := col.Missing() > 0
		c.gaps = c.gaps || gaps
		if c.values != nil {
			c.values.look(col)
		}
		if c.counts == nil {
			for i := range col.Len() {
				if !gaps || !col.IsMissing(i) {
					x := col.Number(i)
					c.lo, c.hi = min(c.lo, x), max(c.hi, x)
				}
			}
		}
		switch {
		case p.opts.Mode == Generalize:
		case c.counts != nil:
			for i, code := range col.Codes {
				if !gaps || !col.IsMissing(i) {
					c.counts[code]++
				}
			}
		default:
			c.uneven = !c.units.look(col, c.head.Places) || c.uneven
		}
	}
}

// Grid is the grid to which the means of a column are rounded, nil where they are not.
// All records must have been looked at.
func (p *Plan) Grid(j int) *Grid {
	c := &p.columns[j]
	c.found.Do(func() {
		f := &c.head.Field
		if c.units == nil {
			return
		}
		if g, ok := c.units.grid(f, c.head.Places); ok {
			if lo, hi, some := c.reach(); some {
				g.ends = g.within(lo, hi, f)
			}
			c.grid = &g
		}
	})
	return c.grid
}

// Groups publishes the groups of some records, given by their columns: group is
// the group of each, below groups, and every group has a record.
func (p *Plan) Groups(ctx context.Context, cols []*table.Column, group []uint32, groups int) ([]Column, error) {
	m, err := p.members(cols, group, groups)
	if err != nil {
		return nil, err
	}
	out := make([]Column, len(cols))
	for j := range out {
		out[j] = p.column(ctx, j, cols[j], m)
	}
	return out, ctx.Err()
}

func (p *Plan) members(cols []*table.Column, group []uint32, groups int) (*members, error) {
	for _, c := range cols {
		if c.Len() != len(group) {
			return nil, &noren.Error{
				Where: noren.Textf("column %s", c.Field.Name), What: "%d {value|values} for %d {record|records}",
				Args: []any{c.Len(), len(group)},
			}
		}
	}
	return sortByGroup(group, groups)
}

// Append puts the groups of more behind those of dst; nil for dst begins.
func Append(dst, more []Column) []Column {
	if dst == nil {
		return more
	}
	for j := range dst {
		a, b := &dst[j], &more[j]
		if a.null != nil || b.null != nil {
			a.null = append(a.nulls(), b.nulls()...)
		}
		a.ints = append(a.ints, b.ints...)
		a.floats = append(a.floats, b.floats...)
		a.codes = append(a.codes, b.codes...)
		a.text.add(&b.text)
		a.penalty += b.penalty
		if a.own != nil {
			a.own.addGroups(b.own)
		}
	}
	return dst
}

func (c *Column) nulls() []bool {
	if c.null != nil {
		return c.null
	}
	return make([]bool, c.groups())
}

// Finish makes columns, which hold all groups, those of a release. group is the
// group of each record. Where values are matched they are chosen now. Errors are
// the context's.
func (p *Plan) Finish(ctx context.Context, columns []Column, group []uint32) error {
	if p.opts.Mode == Matched && len(columns) > 0 {
		size := make([]uint32, columns[0].groups())
		for _, g := range group {
			size[g]++
		}
		if err := p.match(ctx, columns, size); err != nil {
			return err
		}
	}
	for j := range columns {
		c, stored := &columns[j], &p.columns[j].stored
		switch {
		case c.null == nil || stored.Nullable:
		case stored.Kind != table.Text:
			// A number of the file stands for a missing value: the column must
			// become one that can lack a value.
			c.Stored.Nullable = true
		case c.Stored.Kind == table.Text:
			c.null = nil // the empty text says it
		}
	}
	return nil
}

// column publishes the groups in one column.
func (p *Plan) column(ctx context.Context, j int, col *table.Column, m *members) Column {
	of := &p.columns[j]
	c := Column{Stored: table.StoredColumn{Name: of.stored.Name, Nullable: of.stored.Nullable}}
	gaps := of.gaps && col.Missing() > 0
	if gaps {
		c.null = missingGroups(col, m)
	}
	c.Grid = p.Grid(j)
	write := writerFor(&c, col, of, p.opts)
	var remember func(all []uint32)
	if p.opts.Mode == Matched {
		c.own = &own{}
		remember = func(all []uint32) { c.own.appendExtent(col, all) }
		if of.counts != nil {
			remember = ownCodes(c.own, col, of.counts)
		}
	}
	penalty := penaltyOf(col, of, p.opts)
	var present []uint32
	for g := range m.groups() {
		if g&4095 == 0 && ctx.Err() != nil {
			return c
		}
		all := m.of(g)
		if gaps {
			present = present[:0]
			for _, i := range all {
				if !col.IsMissing(int(i)) {
					present = append(present, i)
				}
			}
			all = present
		}
		if len(all) > 0 {
			write(&c, all)
			c.penalty += float64(len(m.of(g))) * penalty(all)
		}
		if remember != nil {
			remember(all)
		}
		switch {
		case c.Stored.Kind == table.Text && c.words == nil:
			c.text.end()
		case len(all) > 0:
		case c.Stored.Kind == table.Text:
			c.codes = append(c.codes, uint32(len(c.words)-1))
		case c.Stored.Kind == table.Int:
			c.ints = append(c.ints, 0)
		default:
			c.floats = append(c.floats, 0)
		}
	}
	return c
}

func writerFor(c *Column, col *table.Column, of *planned, o Options) writer {
	f := &col.Field
	stored := &of.stored
	fixed := o.Ranges == Fixed
	switch {
	case o.Mode.Boxes() && f.Type.IsNumber():
		return rangeWriter(col, of, o.Mode == Shares, fixed)
	case o.Mode == Shares:
		return shareWriter(col)
	case o.Mode == Generalize && f.Type == table.Ordered:
		return levelWriter(col, fixed)
	case o.Mode == Generalize && f.Hierarchy != nil:
		return ancestorWriter(col, of)
	case o.Mode == Generalize:
		return setWriter(col, fixed)
	case f.Type == table.Decimal:
		return decimalMeanWriter(c, col, of)
	case f.Type.IsNumber():
		return wholeMeanWriter(c, col, of)
	}
	if stored.Kind == table.Text && stored.AppendText == nil {
		c.Stored.Origin = stored.Origin // words of the file, as they are
	}
	c.words = of.words
	if f.Type == table.Ordered {
		return medianWriter(col)
	}
	return modeWriter(col, of.counts)
}
