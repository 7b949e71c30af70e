package text

import (
	"strconv"
	"strings"

	"github.com/noren-privacy/noren/api"
	"github.com/noren-privacy/noren/table"
)

// Reach says for which groups a margin holds that depends on the number of records. basis is
// exact or stated: where the number of records of the table is from; or most for an upper bound.
func Reach(basis string, records, mean, about, groups int64) api.Message {
	if basis == "most" {
		args := map[string]any{"records": Figure(float64(records)), "about": Figure(float64(about))}
		if groups == 1 {
			return api.Say("reach.one_most", args)
		}
		return api.Say("reach.groups_most", args)
	}
	args := map[string]any{
		"records": Figure(float64(records)), "mean": Figure(float64(mean)), "about": Figure(float64(about)),
		"groups": groups,
	}
	switch {
	case groups == 1 && basis == "exact":
		return api.Say("reach.one_exact", args)
	case groups == 1:
		return api.Say("reach.one", args)
	case basis == "exact":
		return api.Say("reach.groups_exact", args)
	}
	return api.Say("reach.groups", args)
}

// ReachWhere says it of a question with a condition: how many records meet it is not public.
func ReachWhere(about int64) api.Message {
	return api.Say("reach.where", map[string]any{"about": Figure(float64(about))})
}

// MostMiss warns of a margin that a group of the average size will miss. basis is exact, stated, or most for an
// upper bound of the records; most is how many of the groups can have about records.
func MostMiss(basis string, records, mean, about, most int64, groups int) api.Message {
	args := map[string]any{
		"records": Figure(float64(records)), "mean": Figure(float64(mean)), "about": Figure(float64(about)), "most": most,
		"groups": groups,
	}
	switch {
	case groups == 1 && basis == "most":
		return api.Say("miss.one_most", args)
	case groups == 1:
		return api.Say("miss.one", args)
	case basis == "most":
		return api.Say("miss.groups_most", args)
	}
	return api.Say("miss.groups", args)
}

// SaysNothing warns of a cost at which the noise is wider than the bounds.
func SaysNothing(about int64) api.Message {
	return api.Say("miss.nothing", map[string]any{"about": Figure(float64(about))})
}

// AnyRank warns of a cost at which the rank of a quantile may be any.
func AnyRank(about int64) api.Message {
	return api.Say("miss.rank", map[string]any{"about": Figure(float64(about))})
}

// Drowned warns of noise as large as all that a count or a sum can be, by what is public.
func Drowned(within float64, records int64, sum bool) api.Message {
	args := map[string]any{"within": Figure(within), "records": Figure(float64(records))}
	if sum {
		return api.Say("miss.sum", args)
	}
	return api.Say("miss.count", args)
}

// DrownedGuess warns of noise as large as a table of that many records, where how many it has is not public.
func DrownedGuess(within float64, records int64, sum bool) api.Message {
	args := map[string]any{"within": Figure(within), "records": Figure(float64(records))}
	if sum {
		return api.Say("miss.sum_guess", args)
	}
	return api.Say("miss.count_guess", args)
}

// DrownedGroup warns of noise as large as a group of the average size.
func DrownedGroup(within float64, mean, groups int64) api.Message {
	return api.Say("miss.count_groups", map[string]any{"within": Figure(within), "mean": Figure(float64(mean)), "groups": groups})
}

// shownLabels is how many labels a sentence lists.
const shownLabels = 8

// Unlisted warns of labels that are not among the public values of a column.
func Unlisted(column string, other, public []string) api.Message {
	args := map[string]any{"column": column, "other": labels(other), "public": labels(public), "n": len(other)}
	if near := table.Nearest(other[0], public); near != "" {
		args["near"] = strconv.Quote(near)
	}
	return api.Say("miss.unlisted", args)
}

// labels lists the first labels, in quotation marks.
func labels(all []string) string {
	var out []string
	for i, s := range all {
		if i == shownLabels {
			out = append(out, "…")
			break
		}
		out = append(out, strconv.Quote(s))
	}
	return strings.Join(out, ", ")
}

// CareBox says what the boxes of a count of outliers do to values outside of them.
func CareBox() api.Message { return api.Say("care.box", nil) }

// CareBounds says that the intervals of values are the whole of the bounds.
func CareBounds(n, of int, lo, hi string) api.Message {
	return api.Say("care.bounds", map[string]any{"count": n, "of": of, "lo": lo, "hi": hi})
}
