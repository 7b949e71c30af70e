package kanon

import (
	"fmt"

	"github.com/noren-privacy/noren/kanon/gate"

	"github.com/noren-privacy/noren/kanon/publish"
	"github.com/noren-privacy/noren/table"
)

// transformed says how each quasi-identifier was published.
func (r *run) transformed() {
	if r.result.Columns == nil {
		return // the gate was passed by
	}
	for i := range r.result.Columns {
		switch c := &r.result.Columns[i]; {
		case r.job.Unit == "" || c.Column != r.job.Unit:
		case r.job.Pseudonym:
			c.Fate, c.Why = gate.Transformed, "it tells persons apart: replaced by a pseudonym drawn for this release"
		default:
			c.Why = "it tells persons apart: persons were counted by it"
		}
	}
	for j, i := range r.quasi {
		f := &r.job.Schema.Fields[i]
		r.result.Columns[i].Why = "others may know it: " + shown(f, r.held.Columns[j].Places, r.job.Publish)
	}
}

// shown says what a class shows of a column; places are the source's.
func shown(f *table.Field, places int, mode publish.Mode) string {
	number := f.Type == table.Integer || f.Type == table.Decimal
	switch {
	case mode == publish.Generalize && f.Type.IsNumber():
		return "published as the range of its class"
	case mode == publish.Generalize && f.Type == table.Ordered:
		return "published as the levels of its class, from the lowest to the highest"
	case mode == publish.Generalize && f.Hierarchy != nil:
		return "published as the lowest common ancestor of its class"
	case mode == publish.Generalize:
		return "published as the set of the values of its class"
	case f.Type == table.Date:
		return "published as the mean of its class"
	case number:
		if f.Type == table.Integer {
			places = 0
		}
		return "published as the mean of its class, " + rounded(f.Round, places)
	case f.Type == table.Ordered:
		return "published as the median of its class"
	}
	return "published as the commonest value of its class"
}

// rounded says to how many places a mean is published, and what that tells of
// the sum of the class.
func rounded(asked *int, source int) string {
	if asked != nil && *asked > source {
		return fmt.Sprintf("to %s where the source has %s: the sum of a small class can be computed from it", decimals(*asked), decimals(source))
	}
	if asked != nil && *asked < source {
		return "to " + decimals(*asked)
	}
	return fmt.Sprintf("to %s as in the source: about as many sums are possible as the class has records", decimals(source))
}

func decimals(n int) string {
	switch {
	case n == 1 || n == -1:
		return fmt.Sprintf("%d decimal place", n)
	case n == 0:
		return "whole numbers"
	}
	return fmt.Sprintf("%d decimal places", n)
}
