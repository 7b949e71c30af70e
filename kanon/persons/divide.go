package persons

import (
	"cmp"
	"context"
	"slices"

	"github.com/noren-privacy/noren"
	"github.com/noren-privacy/noren/kanon/partition"
	"github.com/noren-privacy/noren/kanon/privacy"
	"github.com/noren-privacy/noren/kanon/space"
)

// Count is the number of distinct persons.
func Count(of []uint32) int {
	seen := map[uint32]struct{}{}
	for _, p := range of {
		if p != privacy.NoPerson {
			seen[p] = struct{}{}
		}
	}
	return len(seen)
}

// Enough is nil when there are k persons, and otherwise an error of kind BadData.
func Enough(of []uint32, k int) error {
	if n := Count(of); n < k {
		return &noren.Error{
			Kind: noren.BadData, What: "the table has records of %d {person|persons}, fewer than k = %d: no group of k persons can be made",
			Args: []any{n, k},
			Hint: "ask for a smaller k, or gather records of more persons",
		}
	}
	return nil
}

// Divide divides the records of s into groups that hold records of o.K distinct
// persons each; of is the person of each record, or nil where records are counted. With
// persons, o.Measure and o.Judge, which are of records, are not followed: refinement goes
// by them. Records of one person at one
// place enter the method of o as one; groups that then lack persons are made
// again: around the record farthest from the middle the nearest records of k
// persons. What is left joins the nearest group. Errors are those of
// [partition.Partition] and [Enough].
func Divide(ctx context.Context, s *space.Space, of []uint32, o partition.Options) (space.Partition, error) {
	if of == nil {
		p, _, err := partition.Partition(ctx, s, o)
		return p, err
	}
	o.Measure, o.Judge = nil, nil
	if _, err := o.Choose(max(s.Len(), o.K)); err != nil {
		return space.Partition{}, err
	}
	if err := Enough(of, o.K); err != nil {
		return space.Partition{}, err
	}
	places, at := collapse(s, of)
	sub := s
	if len(places) < s.Len() {
		sub = s.Subset(places)
	}
	p, _, err := partition.Partition(ctx, sub, o)
	if err != nil {
		return space.Partition{}, err
	}
	m := &mending{s: sub, k: o.K, person: make([]uint32, len(places))}
	for j, i := range places {
		m.person[j] = of[i]
	}
	if p, err = m.mend(ctx, p); err != nil {
		return space.Partition{}, err
	}
	out := space.Partition{Group: make([]uint32, s.Len()), Groups: p.Groups}
	for i := range out.Group {
		out.Group[i] = p.Group[at[i]]
	}
	return out.Canonical(), nil
}

// collapse lists one record for each person and place, and tells for every record
// which of them it is at. Records without a person stay apart.
func collapse(s *space.Space, of []uint32) (places []int32, at []int32) {
	at = make([]int32, s.Len())
	order := make([]int32, s.Len())
	for i := range order {
		order[i] = int32(i)
	}
	slices.SortStableFunc(order, func(a, b int32) int { return cmp.Compare(of[a], of[b]) })
	first := make([]int32, s.Len()) // of each record: the first of its person at its place
	for i := range first {
		first[i] = int32(i)
	}
	for i := 0; i < len(order); {
		from, person := i, of[order[i]]
		for ; i < len(order) && of[order[i]] == person; i++ {
		}
		if person == privacy.NoPerson || i-from < 2 {
			continue
		}
		own := slices.Clone(order[from:i])
		slices.SortStableFunc(own, func(a, b int32) int { return s.Compare(a, b) })
		for j := 1; j < len(own); j++ {
			if s.Compare(own[j-1], own[j]) == 0 {
				first[own[j]] = first[own[j-1]]
			}
		}
	}
	number := make([]int32, s.Len())
	for i := range first {
		if first[i] == int32(i) {
			number[i] = int32(len(places))
			places = append(places, int32(i))
		}
		at[i] = number[first[i]]
	}
	return places, at
}
