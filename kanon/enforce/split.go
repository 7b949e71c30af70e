package enforce

import (
	"cmp"
	"context"
	"slices"

	"github.com/noren-privacy/noren/kanon/space"
)

// splitAll divides merged groups where both parts keep the requirement on
// their own: a group that was merged in several steps is often larger than it
// need be.
func (m *merging) splitAll(ctx context.Context) error {
	results := make([][]*group, len(m.groups))
	err := space.Parallel(ctx, len(m.groups), "enforce", space.ParallelOptions{Workers: m.o.Workers}, func() func(int) {
		return func(g int) { results[g] = m.split(m.groups[g]) }
	})
	if err != nil {
		return err
	}
	m.groups = m.groups[:0]
	for _, r := range results {
		m.groups = append(m.groups, r...)
	}
	return nil
}

// cuts is how many places of a cut are tried in a group.
const cuts = 48

// split orders the members of a group between two that are far apart and cuts
// where both sides keep the requirement and the sum of squares falls most;
// then the same on both sides.
func (m *merging) split(g *group) []*group {
	n, k := len(g.members), m.req.K
	if !g.merged || n < 2*k {
		return []*group{g}
	}
	order := m.between(g)
	whole := m.sse(g.members)
	var best []*group
	least := whole
	step := max(1, (n-2*k+1)/cuts)
	for at := k; at <= n-k; at += step {
		// The counts decide first, as they are cheaper than the sums.
		if !m.keepsAll(order[:at]) || !m.keepsAll(order[at:]) {
			continue
		}
		if sse := m.sse(order[:at]) + m.sse(order[at:]); sse < least {
			least = sse
			best = []*group{m.newGroup(slices.Clone(order[:at])), m.newGroup(slices.Clone(order[at:]))}
		}
	}
	if best == nil {
		return []*group{g}
	}
	var parts []*group
	for _, part := range best {
		part.merged = true
		parts = append(parts, m.split(part)...)
	}
	return parts
}

// between orders the members by how much nearer they are to one than to the
// other of two that are far apart: the one farthest from the centre, and the one
// farthest from that.
func (m *merging) between(g *group) []int32 {
	far := func(distance func(int32) float64) int32 {
		best, d := g.members[0], -1.0
		for _, i := range g.members {
			if v := distance(i); v > d || v == d && i < best {
				best, d = i, v
			}
		}
		return best
	}
	a := far(g.centre.Distance2)
	b := far(func(i int32) float64 { return m.s.Distance2(int(a), int(i)) })
	order := slices.Clone(g.members)
	key := make(map[int32]float64, len(order))
	for _, i := range order {
		key[i] = m.s.Distance2(int(a), int(i)) - m.s.Distance2(int(b), int(i))
	}
	slices.SortFunc(order, func(i, j int32) int { return cmp.Or(cmp.Compare(key[i], key[j]), cmp.Compare(i, j)) })
	return order
}

// sse is the sum of squared distances of records to their centre.
func (m *merging) sse(members []int32) float64 {
	c := m.s.NewCentroid()
	for _, i := range members {
		c.Add(i)
	}
	var t float64
	for _, i := range members {
		t += c.Distance2(i)
	}
	return t
}
