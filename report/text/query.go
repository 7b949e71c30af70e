package text

import (
	"github.com/noren-privacy/noren/query"
)

// Accuracy says how far a query's answer is expected to be off.
func Accuracy(l Lang, a *query.Accuracy) string {
	words := l.Text("no bound for %d {record|records}", a.Records)
	if a.HalfWidth != nil {
		words = l.Text("off by at most %s, with confidence %g", Figure(*a.HalfWidth), a.Level)
		if a.Rank {
			words = l.Text("its rank is off by at most %s records, with confidence %g", Figure(*a.HalfWidth), a.Level)
		}
		if a.Records > 0 {
			words += l.Text(", for %d {record|records}", a.Records)
		}
	}
	if a.EvenSpread != nil {
		words += l.Text("; off by %s if the values were spread evenly", Figure(*a.EvenSpread))
	}
	return words
}

// Group says the value of a group and its interval.
func Group(l Lang, g *query.Group) (value, spread string) {
	switch {
	case g.Text != "":
		value = g.Text
	case g.Value == nil:
		value = l.Text("none: too few records")
	default:
		value = Figure(*g.Value)
	}
	switch {
	case g.Interval != nil:
		spread = l.Text("%s to %s", Figure(g.Interval[0]), Figure(g.Interval[1]))
	case g.RankWithin != nil:
		spread = l.Text("its rank is off by at most %s records", Figure(*g.RankWithin))
	default:
		spread = l.Text("none")
	}
	return value, spread
}
