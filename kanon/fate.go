package kanon

import (
	"context"

	"github.com/noren-privacy/noren"
	"github.com/noren-privacy/noren/kanon/publish"
	"github.com/noren-privacy/noren/table"
)

// transformed says how each quasi-identifier was published.
func (r *run) transformed() {
	if r.result.Columns == nil {
		return // the gate was passed by
	}
	rounded := make([]Rounded, len(r.quasi))
	for j := range rounded {
		rounded[j].Places = r.held.Columns[j].Places
		switch {
		case j < len(r.published):
			rounded[j].Grid = r.published[j].Grid
		case r.shows != nil:
			rounded[j].Grid = r.shows.Grid(j)
		}
	}
	r.job.Transformed(r.result.Columns, &r.job.Schema, rounded, r.groups.Groups)
}

// looked looks at all records for the grids of their means, where no groups are published.
func (r *run) looked(ctx context.Context) error {
	plan, err := publish.NewPlan(r.held.Columns[:len(r.quasi)], r.storedQuasi(), r.publishing())
	if err != nil {
		return err
	}
	r.shows = plan
	return r.held.Runs(ctx, func(_ int, columns []*table.Column) error {
		plan.Look(columns[:len(r.quasi)])
		return nil
	})
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
