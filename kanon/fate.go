package kanon

import (
	"time"

	"github.com/noren-privacy/noren"
	"github.com/noren-privacy/noren/kanon/publish"
	"github.com/noren-privacy/noren/kanon/records"
	"github.com/noren-privacy/noren/table"
)

// describe says what a release shows of each column, and of each record where that is asked
// for.
func (r *run) describe(in *records.Table, m *made) {
	defer timed(&r.result.Seconds.Publish, time.Now())
	for j := range m.published {
		f := &r.job.Schema.Fields[r.quasi[j]]
		if n := m.published[j].Showing(r.job.Missing, f.Type == table.Integer || f.Type == table.Decimal); n > 0 {
			r.result.LooksMissing = append(r.result.LooksMissing, LooksMissing{Column: f.Name, Groups: n})
		}
	}
	if r.job.Output.Classes {
		r.result.ClassOf = m.classOf()
	}
	// A record that is left out counts as one whose every value could be any.
	kept, left := float64(r.result.Rows), float64(r.result.Suppressed)
	r.result.NCP = (publish.NCP(m.published, r.result.Rows)*kept + left) / max(1, kept+left)
	r.transformed(in, m.groups.Groups, func(j int) *publish.Grid { return m.published[j].Grid })
}

// classOf is the class of each record: groups that publish the same are one.
func (m *made) classOf() []uint32 {
	class := make([]uint32, m.groups.Groups)
	for g := range class {
		class[g] = uint32(g)
	}
	for _, same := range publish.Same(m.published, m.groups.Groups) {
		for _, g := range same {
			class[g] = same[0]
		}
	}
	out := make([]uint32, max(len(m.left), len(m.groups.Group)))
	kept := m.groups.Group
	for i := range out {
		if m.left != nil && m.left[i] {
			out[i] = LeftOut
			continue
		}
		out[i] = class[kept[0]]
		kept = kept[1:]
	}
	return out
}

// transformed says how each quasi-identifier is published by this number of groups, with the
// grid of its values.
func (r *run) transformed(in *records.Table, groups int, grid func(j int) *publish.Grid) {
	if r.result.Columns == nil {
		return // the gate was passed by
	}
	rounded := make([]Rounded, len(r.quasi))
	for j := range rounded {
		rounded[j] = Rounded{Places: in.Columns[j].Places, Grid: grid(j)}
	}
	r.job.Transformed(r.result.Columns, &r.job.Schema, rounded, groups)
}

// publishing is how groups are published.
func (r *run) publishing() publish.Options {
	o := r.job.Publishing()
	o.Progress = r.job.Progress
	return o
}

// storedQuasi tells how the source stores the quasi-identifiers.
func (r *run) storedQuasi() []table.StoredColumn {
	stored := make([]table.StoredColumn, len(r.quasi))
	for j, i := range r.quasi {
		stored[j] = r.job.Source.Columns()[i]
	}
	return stored
}

// Rounded is what the values of a quasi-identifier are multiples of.
type Rounded struct {
	// Places are the decimal places of the source.
	Places int
	// Grid is the grid of the values, nil where it is not known.
	Grid *publish.Grid
}

// shown says what a class shows of a column; groups is their number.
func shown(f *table.Field, r Rounded, o *Options, groups int) noren.Text {
	number := f.Type == table.Integer || f.Type == table.Decimal
	fixed := o.Ranges == publish.Fixed
	ranked := o.Publish == publish.Matched && groups >= publish.RankedGroups
	switch mode := o.Publish; {
	case mode == publish.Shares && f.Type.IsNumber():
		return noren.Textf("published as the range of its class, with the mean where that leaves each value open, %s", r.beside(f, o.K))
	case mode == publish.Shares:
		return noren.Textf("published as the values of its class with their shares")
	case mode == publish.Generalize && f.Type.IsNumber() && fixed:
		return noren.Textf("published as the range of its class, with ends of a fixed grid")
	case mode == publish.Generalize && f.Type.IsNumber():
		return noren.Textf("published as the range of its class")
	case mode == publish.Generalize && f.Type == table.Ordered && fixed:
		return noren.Textf("published as the levels of its class, from the lowest to the highest, with ends of a fixed grid")
	case mode == publish.Generalize && f.Type == table.Ordered:
		return noren.Textf("published as the levels of its class, from the lowest to the highest")
	case mode == publish.Generalize && f.Hierarchy != nil:
		return noren.Textf("published as the lowest common ancestor of its class")
	case mode == publish.Generalize && fixed:
		return noren.Textf("published as the value of its class, or * where there are several")
	case mode == publish.Generalize:
		return noren.Textf("published as the set of the values of its class")
	case ranked && number:
		return noren.Textf("published as one number within the range of its class, matched to the whole column, %s", r.to(f))
	case ranked && f.Type == table.Date:
		return noren.Textf("published as one date within the range of its class, matched to the whole column")
	case mode == publish.Matched && !f.Type.IsNumber():
		return noren.Textf("published as one of the values of its class, matched to the whole table")
	case number, f.Type == table.Date:
		return noren.Textf("published as the mean of its class, %s", r.leaving(f, o.K))
	case f.Type == table.Ordered:
		return noren.Textf("published as the median of its class")
	}
	return noren.Textf("published as the commonest value of its class")
}
