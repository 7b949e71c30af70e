package space

import (
	"math"

	"github.com/noren-privacy/noren"
)

// Partition puts every record into exactly one group.
type Partition struct {
	// Group is the group of each record, 0..Groups-1.
	Group []uint32
	// Groups is the number of groups.
	Groups int
}

// Sizes counts the records of each group.
func (p Partition) Sizes() []int {
	sizes := make([]int, p.Groups)
	for _, g := range p.Group {
		sizes[g]++
	}
	return sizes
}

// Members lists the records of each group in ascending order: those of group g
// are list[start[g]:start[g+1]].
func (p Partition) Members() (list []int32, start []int32) {
	start = make([]int32, p.Groups+1)
	for _, g := range p.Group {
		start[g+1]++
	}
	for g := range p.Groups {
		start[g+1] += start[g]
	}
	list = make([]int32, len(p.Group))
	at := append([]int32(nil), start[:p.Groups]...)
	for i, g := range p.Group {
		list[at[g]] = int32(i)
		at[g]++
	}
	return list, start
}

// Validate reports whether p is a k-partition: every group number is used and
// holds k records at least.
func (p Partition) Validate(k int) error {
	for _, g := range p.Group {
		if int(g) >= p.Groups {
			return noren.Reasonf("a record is in group %d of %d", g, p.Groups)
		}
	}
	for g, size := range p.Sizes() {
		if size < max(k, 1) {
			return noren.Reasonf("group %d has %d {record|records}, fewer than %d", g, size, k)
		}
	}
	return nil
}

// Canonical renumbers the groups by their lowest record and leaves out empty
// ones, so that equal partitions are equal in memory.
func (p Partition) Canonical() Partition {
	number := make([]uint32, p.Groups)
	for g := range number {
		number[g] = math.MaxUint32
	}
	out := Partition{Group: make([]uint32, len(p.Group))}
	for i, g := range p.Group {
		if number[g] == math.MaxUint32 {
			number[g] = uint32(out.Groups)
			out.Groups++
		}
		out.Group[i] = number[g]
	}
	return out
}

// SSE is the sum of squared distances of all records to their group's centre.
func (s *Space) SSE(p Partition) float64 {
	list, start := p.Members()
	var total float64
	c := s.NewCentroid()
	for g := range p.Groups {
		total += s.groupSSE(c, list[start[g]:start[g+1]])
	}
	return total
}

// GroupSSE is the sum of squared distances to its centre of each group.
func (s *Space) GroupSSE(p Partition) []float64 {
	list, start := p.Members()
	c := s.NewCentroid()
	out := make([]float64, p.Groups)
	for g := range out {
		out[g] = s.groupSSE(c, list[start[g]:start[g+1]])
	}
	return out
}

// SST is the sum of squared distances of all records to the centre of all.
func (s *Space) SST() float64 {
	all := make([]int32, s.n)
	for i := range all {
		all[i] = int32(i)
	}
	return s.groupSSE(s.NewCentroid(), all)
}

// Loss is SSE/SST, 0 where SST is 0.
func (s *Space) Loss(p Partition) float64 {
	sst := s.SST()
	if sst == 0 {
		return 0
	}
	return s.SSE(p) / sst
}

// groupSSE sums in two passes, which is exact enough for means far from zero.
func (s *Space) groupSSE(c *Centroid, members []int32) float64 {
	if len(members) == 0 {
		return 0
	}
	c.Reset()
	for _, i := range members {
		c.Add(i)
	}
	var total float64
	m := float64(len(members))
	for a, x := range s.numbers {
		mean := c.Sum[a] / m
		for _, i := range members {
			t := x[i] - mean
			total += t * t
		}
	}
	for a := range s.words {
		total += s.words[a].Weight / 2 * (m - c.squares(a)/m)
	}
	return total
}
