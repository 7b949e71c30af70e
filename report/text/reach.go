package text

import "github.com/noren-privacy/noren/api"

// Reach says for which groups a margin holds that depends on the number of records. basis is
// exact or stated: where the number of records of the table is from.
func Reach(_ Lang, basis string, records, mean, about, groups int64) api.Message {
	args := map[string]any{"records": Figure(float64(records)), "mean": Figure(float64(mean)), "about": Figure(float64(about)), "groups": groups}
	switch {
	case groups == 1 && basis == "exact":
		return say("reach.one_exact", "The table has {records} records. The margin holds where at least {about} of them count.", args)
	case groups == 1:
		return say("reach.one", "About {records} records of the table count, as its steward states. The margin holds where at least {about} of them count.", args)
	case basis == "exact":
		return say("reach.groups_exact", "The table has {records} records, on average {mean} in each of {groups} groups. The margin holds for groups of at least {about}; smaller groups have wider ones.", args)
	}
	return say("reach.groups", "About {records} records of the table count, as its steward states, on average {mean} in each of {groups} groups. The margin holds for groups of at least {about}; smaller groups have wider ones.", args)
}

// ReachWhere says it of a question with a condition: how many records meet it is not public.
func ReachWhere(_ Lang, about int64) api.Message {
	return say("reach.where", "The margin holds for at least {about} records that meet the condition in a group; smaller groups have wider ones. How many meet it is not public.", map[string]any{"about": Figure(float64(about))})
}

// MostMiss warns of a margin that a group of the average size will miss. basis is exact, stated, or most for an
// upper bound of the records; most is how many of the groups can have about records.
func MostMiss(_ Lang, basis string, records, mean, about, most int64, groups int) api.Message {
	args := map[string]any{"records": Figure(float64(records)), "mean": Figure(float64(mean)), "about": Figure(float64(about)), "most": most, "groups": groups}
	switch {
	case groups == 1 && basis == "most":
		return say("miss.one_most", "The table has at most {records} records, fewer than the {about} for which the margin holds: the answer will miss it.", args)
	case groups == 1:
		return say("miss.one", "A group of the average size has about {mean} records, fewer than the {about} for which the margin holds: the answer will probably miss it.", args)
	case basis == "most":
		return say("miss.groups_most", "The table has at most {records} records: at most {most} of the {groups} groups can have the {about} for which the margin holds, and the others miss it.", args)
	}
	return say("miss.groups", "A group of the average size has {mean} records, fewer than the {about} for which the margin holds: at most about {most} of the {groups} groups can keep it, and the others will miss it.", args)
}

// SaysNothing warns of a cost at which the noise is wider than the bounds.
func SaysNothing(_ Lang, about int64) api.Message {
	return say("miss.nothing", "At this cost the noise is as wide as the bounds for a group of {about} records: the answer will say nothing about it.", map[string]any{"about": Figure(float64(about))})
}

// CareBounds says that the intervals of values are the whole of the bounds.
func CareBounds(_ Lang, n, of int, lo, hi float64) api.Message {
	return say("care.bounds", "{count} of {of} values say nothing: their intervals are the whole of the bounds, {lo} to {hi}.", map[string]any{"count": n, "of": of, "lo": Figure(lo), "hi": Figure(hi)})
}
