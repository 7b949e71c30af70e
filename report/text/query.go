package text

import (
	"fmt"

	"github.com/noren-privacy/noren/query"
)

// Accuracy says how far a query's answer is expected to be off.
func Accuracy(_ Lang, a *query.Accuracy) string {
	words := fmt.Sprintf("no bound for %d records", a.Records)
	if a.HalfWidth != nil {
		words = fmt.Sprintf("off by at most %s, with confidence %g", Figure(*a.HalfWidth), a.Level)
		if a.Rank {
			words = fmt.Sprintf("its rank is off by at most %s records, with confidence %g", Figure(*a.HalfWidth), a.Level)
		}
		if a.Records > 0 {
			words += fmt.Sprintf(", for %d records", a.Records)
		}
	}
	if a.EvenSpread != nil {
		words += fmt.Sprintf("; off by %s if the values were spread evenly", Figure(*a.EvenSpread))
	}
	return words
}

// Group says the value of a group and its interval.
func Group(_ Lang, g *query.Group) (value, spread string) {
	switch {
	case g.Text != "":
		value = g.Text
	case g.Value == nil:
		value = "none: too few records"
	default:
		value = Figure(*g.Value)
	}
	switch {
	case g.Interval != nil:
		spread = Figure(g.Interval[0]) + " to " + Figure(g.Interval[1])
	case g.RankWithin != nil:
		spread = "its rank is off by at most " + Figure(*g.RankWithin) + " records"
	default:
		spread = "none"
	}
	return value, spread
}
