package kanon

import "github.com/noren-privacy/noren/kanon/refine"

// large counts the groups of more than ten times k records, and says which of them
// the data force.
func (r *run) large(g *grouping, sizes []int) {
	most := refine.LargeGroup * r.job.K
	equal := make(map[uint32]bool)
	for at, n := range sizes {
		if n > most {
			equal[uint32(at)] = true
		}
	}
	r.result.Large = len(equal)
	if r.result.Large == 0 {
		return
	}
	first := make(map[uint32]int, len(equal))
	for i, at := range g.Group {
		if !equal[at] {
			continue
		}
		one, met := first[at]
		if !met {
			first[at] = i
			continue
		}
		equal[at] = g.space.Distance2(one, i) == 0
	}
	for _, is := range equal {
		if is {
			r.result.LargeEqual++
		}
	}
	if r.job.Diversity == nil || r.job.Unit != "" {
		return
	}
	for _, a := range g.attributes {
		groups := a.MostDiverse(r.job.Diversity)
		if groups*most < len(g.Group) && (r.result.MostGroups == 0 || groups < r.result.MostGroups) {
			r.result.MostGroups = groups
		}
	}
}
