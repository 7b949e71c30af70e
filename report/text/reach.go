package text

import "github.com/noren-privacy/noren/api"

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
	args := map[string]any{"records": Figure(float64(records)), "mean": Figure(float64(mean)), "about": Figure(float64(about)), "groups": groups}
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
	args := map[string]any{"records": Figure(float64(records)), "mean": Figure(float64(mean)), "about": Figure(float64(about)), "most": most, "groups": groups}
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

// CareBounds says that the intervals of values are the whole of the bounds.
func CareBounds(n, of int, lo, hi float64) api.Message {
	return api.Say("care.bounds", map[string]any{"count": n, "of": of, "lo": Figure(lo), "hi": Figure(hi)})
}
