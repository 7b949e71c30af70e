package kanon

import (
	"fmt"

	"github.com/noren-privacy/noren/kanon/publish"
	"github.com/noren-privacy/noren/table"
)

// transformed says how each quasi-identifier was published.
func (r *run) transformed() {
	if r.result.Columns == nil {
		return // the gate was passed by
	}
	places := make([]int, len(r.quasi))
	for j := range places {
		places[j] = r.held.Columns[j].Places
	}
	r.job.Transformed(r.result.Columns, &r.job.Schema, places, r.groups.Groups)
}

// shown says what a class shows of a column; places are the source's, groups their
// number.
func shown(f *table.Field, places int, o *Options, groups int) string {
	number := f.Type == table.Integer || f.Type == table.Decimal
	fixed := ""
	if o.Ranges == publish.Fixed {
		fixed = ", with ends of a fixed grid"
	}
	ranked := o.Publish == publish.Matched && groups >= publish.RankedGroups
	switch mode := o.Publish; {
	case mode == publish.Shares && f.Type.IsNumber():
		return "published as the range of its class, with the mean where that leaves each value open"
	case mode == publish.Shares:
		return "published as the values of its class with their shares"
	case mode == publish.Generalize && f.Type.IsNumber():
		return "published as the range of its class" + fixed
	case mode == publish.Generalize && f.Type == table.Ordered:
		return "published as the levels of its class, from the lowest to the highest" + fixed
	case mode == publish.Generalize && f.Hierarchy != nil:
		return "published as the lowest common ancestor of its class"
	case mode == publish.Generalize && fixed != "":
		return "published as the value of its class, or * where there are several"
	case mode == publish.Generalize:
		return "published as the set of the values of its class"
	case ranked && number:
		if f.Type == table.Integer {
			places = 0
		}
		return "published as one number within the range of its class, matched to the whole column, " + matchedTo(f.Round, places)
	case ranked && f.Type == table.Date:
		return "published as one date within the range of its class, matched to the whole column"
	case mode == publish.Matched && !f.Type.IsNumber():
		return "published as one of the values of its class, matched to the whole table"
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

// matchedTo says to how many places a matched number is published.
func matchedTo(asked *int, source int) string {
	if asked != nil && *asked != source {
		return "to " + decimals(*asked)
	}
	return "to " + decimals(source) + " as in the source"
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
