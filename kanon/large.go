package kanon

import "github.com/noren-privacy/noren/kanon/refine"

// large counts the groups of more than ten times k records, and says which of them
// the data force.
func (r *run) large(sizes []int) {
	most := refine.LargeGroup * r.job.K
	r.result.Large, r.result.LargeEqual, r.result.MostGroups = 0, 0, 0
	equal := make(map[uint32]bool)
	for g, n := range sizes {
		if n > most {
			equal[uint32(g)] = true
		}
	}
	r.result.Large = len(equal)
	if r.result.Large == 0 {
		return
	}
	first := make(map[uint32]int, len(equal))
	for i, g := range r.groups.Group {
		if !equal[g] {
			continue
		}
		at, met := first[g]
		if !met {
			first[g] = i
			continue
		}
		equal[g] = r.space.Distance2(at, i) == 0
	}
	for _, is := range equal {
		if is {
			r.result.LargeEqual++
		}
	}
	if r.job.Diversity == nil || r.job.Unit != "" {
		return
	}
	for _, a := range r.attributes {
		groups := a.MostDiverse(r.job.Diversity)
		if groups*most < len(r.groups.Group) && (r.result.MostGroups == 0 || groups < r.result.MostGroups) {
			r.result.MostGroups = groups
		}
	}
}
