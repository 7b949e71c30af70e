package query

import (
	"slices"

	"github.com/noren-privacy/noren/account"
	"github.com/noren-privacy/noren/table"
)

// Payment is a privacy cost with the noise that it pays for.
type Payment struct {
	// Noise, Cost and Rho are as in [Options].
	Noise Noise
	Cost  account.Cost
	Rho   account.Rho
}

// At is the same query at another cost. It makes the noise anew and nothing else, so that
// a price may be searched for. Errors are those of [New].
func (q *Query) At(p Payment) (*Query, error) {
	out := *q
	out.o.Noise, out.o.Cost, out.o.Rho = p.Noise, p.Cost, p.Rho
	out.o.setDefaults()
	if faults := out.o.validatePrivacy(); len(faults) > 0 {
		return nil, faults[0]
	}
	var err error
	if out.o.Kind == Quantile {
		out.kernel, err = newQuantile(&out)
	} else {
		out.kernel, err = newSums(&out)
	}
	if err != nil {
		return nil, err
	}
	return &out, nil
}

// Payment is what the query is paid with.
func (q *Query) Payment() Payment { return Payment{q.o.Noise, q.o.Cost, q.o.Rho} }

// Groups is the number of groups, 1 without By.
func (q *Query) Groups() int { return len(q.groups.texts) }

// Cells is the number of values of an answer: groups, or bins of all groups.
func (q *Query) Cells() int { return len(q.groups.texts) * q.bins() }

// Lists are the number of columns whose values are looked up in a list, how many of them are numbers or
// dates, and the largest number of values of such a list, or of bins.
func (q *Query) Lists() (columns, hashed, most int) {
	fields := q.groups.fields
	if q.o.Values != nil {
		fields = append(slices.Clone(fields), *q.field)
	}
	for _, f := range fields {
		if f.Type != table.Category && f.Type != table.Ordered {
			hashed++
		}
	}
	for _, values := range q.groups.local {
		most = max(most, len(values))
	}
	return len(fields), hashed, max(most, q.bins())
}

// Grid is the smallest and the largest value that counts, after rounding to the grid, and
// its step; false where the query has no bounds.
func (q *Query) Grid() (lo, hi, step float64, ok bool) {
	var g grid
	switch k := q.kernel.(type) {
	case *sums:
		g = k.grid
	case *quantile:
		g = k.grid
	case *smooth:
		g = k.grid
	}
	if q.o.Bounds == nil {
		return 0, 0, 0, false
	}
	return g.Value(g.Lo()), g.Value(g.Hi()), g.Value(1), true
}
