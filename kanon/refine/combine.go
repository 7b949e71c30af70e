package refine

import "github.com/noren-privacy/noren/kanon/space"

// combine takes the better of two partitions, place by place. Groups of p and of
// q that share a record hang together; what hangs together, directly or through
// others, covers the same records in both, and there the cheaper groups are
// taken. The result costs no more than either.
func combine(s *space.Space, p, q space.Partition) space.Partition {
	parent := make([]int32, p.Groups+q.Groups)
	for i := range parent {
		parent[i] = int32(i)
	}
	find := func(i int32) int32 {
		for parent[i] != i {
			parent[i] = parent[parent[i]]
			i = parent[i]
		}
		return i
	}
	for i := range p.Group {
		a, b := find(int32(p.Group[i])), find(int32(p.Groups)+int32(q.Group[i]))
		parent[max(a, b)] = min(a, b)
	}
	gain := make([]float64, len(parent)) // of q's groups, by the root
	costs := func(of space.Partition, first int32, sign float64) {
		for g, cost := range s.GroupSSE(of) {
			gain[find(first+int32(g))] += sign * cost
		}
	}
	costs(p, 0, 1)
	costs(q, int32(p.Groups), -1)
	guard := 1e-11 * s.SST() / float64(s.Len())
	out := space.Partition{Group: make([]uint32, len(p.Group)), Groups: len(parent)}
	for i := range p.Group {
		out.Group[i] = p.Group[i]
		if gain[find(int32(p.Group[i]))] > guard {
			out.Group[i] = uint32(p.Groups) + q.Group[i]
		}
	}
	return out.Canonical()
}
