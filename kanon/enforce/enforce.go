// Package enforce makes a k-partition keep l-diversity and t-closeness: groups
// that do not are merged with near ones until all do. Merging never breaks what
// held (package privacy has the proofs), so that one pass over the failing
// groups after another comes to an end, at the latest with the whole table as
// one group.
package enforce

import (
	"cmp"
	"context"
	"slices"

	"github.com/noren-privacy/noren"
	"github.com/noren-privacy/noren/kanon/privacy"
	"github.com/noren-privacy/noren/kanon/space"
)

// Options are the parameters of [Enforce].
type Options struct {
	// Workers is the number of parallel workers; the result does not depend on
	// it. Defaults to one a processor.
	Workers int
	// Persons, where it is not nil, judges groups by persons; the requirement and
	// the attributes given beside it are then its own.
	Persons *Persons
	// Whole leaves groups that were merged as they are, where otherwise they are
	// divided again if both parts keep the requirement.
	Whole bool
	// Progress receives progress. Optional.
	Progress noren.Progress
}

// Stats tells what was done.
type Stats struct {
	// Failing is how many groups did not keep the requirement at first.
	Failing int
	// Merged is by how many the number of groups fell.
	Merged int
}

// nearGroups is how many near groups a failing one may be merged with in one
// pass.
const nearGroups = 16

// Enforce returns a partition each of whose groups keeps req in every
// attribute. The groups of p must have req.K records at least. Where even the
// whole table does not keep it the error is of kind NotMet; it does not say what
// the table reaches, as that would tell of it.
func Enforce(ctx context.Context, s *space.Space, p space.Partition, req privacy.Requirement, attributes []*privacy.Attribute,
	o Options,
) (space.Partition, Stats, error) {
	m := &merging{s: s, req: req, attributes: attributes, o: o}
	if o.Persons != nil {
		m.attributes = nil
	}
	if err := m.feasible(); err != nil {
		return space.Partition{}, Stats{}, err
	}
	m.load(p)
	stats := Stats{Failing: m.failing()}
	left := stats.Failing
	for pass := 0; left > 0; pass++ {
		o.Progress.Report("enforce", int64(stats.Failing-left), int64(stats.Failing))
		if err := m.pass(ctx); err != nil {
			return space.Partition{}, Stats{}, err
		}
		left = m.failing()
	}
	if stats.Failing > 0 && !o.Whole {
		if err := m.splitAll(ctx); err != nil {
			return space.Partition{}, Stats{}, err
		}
	}
	out := m.partition()
	stats.Merged = max(0, p.Groups-out.Groups)
	return out, stats, nil
}

// merging is a partition under change.
type merging struct {
	s          *space.Space
	req        privacy.Requirement
	attributes []*privacy.Attribute
	o          Options
	groups     []*group
}

type group struct {
	members []int32
	centre  *space.Centroid
	counts  []privacy.Histogram // one an attribute
	holds   bool
	merged  bool   // made of several
	into    *group // what it became a part of
}

// now is the group that g is a part of.
func (g *group) now() *group {
	for g.into != nil {
		if g.into.into != nil {
			g.into = g.into.into
		}
		g = g.into
	}
	return g
}

// feasible asks whether the whole table as one group would do.
func (m *merging) feasible() error {
	all := make([]int32, m.s.Len())
	for i := range all {
		all[i] = int32(i)
	}
	if m.o.Persons != nil {
		return m.o.Persons.Feasible(all)
	}
	counts := m.count(all)
	for a, attribute := range m.attributes {
		if !attribute.Holds(&counts[a], m.req) {
			return infeasible(attribute.Name, m.req, false)
		}
	}
	return nil
}

func infeasible(column string, req privacy.Requirement, byPerson bool) error {
	e := &noren.Error{
		Kind: noren.NotMet, Where: noren.Textf("column %s", column),
		What: "even the whole table as one group does not keep %s", Args: []any{req},
		Hint: "ask for less (a smaller l), or do not name the column as sensitive",
	}
	if byPerson && req.Diversity != nil {
		e.Saying("even the whole table as one group does not keep %s, as a person counts for each value that he or she has", req)
		if !req.Diversity.CountMissing {
			e.Saying("even the whole table as one group does not keep %s, as a person counts for each value that he or she has and, with a "+
				"missing one, for any", req)
		}
	}
	return e
}

func (m *merging) count(members []int32) []privacy.Histogram {
	counts := make([]privacy.Histogram, len(m.attributes))
	for a, attribute := range m.attributes {
		for _, i := range members {
			counts[a].Add(attribute.Codes[i])
		}
	}
	return counts
}

// keepsAll asks about some records.
func (m *merging) keepsAll(members []int32) bool {
	if m.o.Persons != nil {
		return m.o.Persons.Holds(members)
	}
	return m.keeps(m.count(members))
}

func (m *merging) keeps(counts []privacy.Histogram) bool {
	for a, attribute := range m.attributes {
		if !attribute.Holds(&counts[a], m.req) {
			return false
		}
	}
	return true
}

func (m *merging) newGroup(members []int32) *group {
	g := &group{members: members, centre: m.s.NewCentroid(), counts: m.count(members)}
	for _, i := range members {
		g.centre.Add(i)
	}
	if m.o.Persons != nil {
		g.holds = m.o.Persons.Holds(members)
	} else {
		g.holds = m.keeps(g.counts)
	}
	return g
}

func (m *merging) load(p space.Partition) {
	list, start := p.Members()
	m.groups = make([]*group, p.Groups)
	for g := range m.groups {
		m.groups[g] = m.newGroup(slices.Clone(list[start[g]:start[g+1]]))
	}
}

func (m *merging) failing() int {
	n := 0
	for _, g := range m.groups {
		if !g.holds {
			n++
		}
	}
	return n
}

// pass merges every failing group with near ones, one after the other, until it
// keeps the requirement or all of its near ones are in it. As the nearest of a
// group is another group, the number of failing groups at least halves, up to
// those that were merged into others.
func (m *merging) pass(ctx context.Context) error {
	// A group is near where a member in its middle is.
	middle := make([]int32, len(m.groups))
	for g := range m.groups {
		middle[g] = m.middle(m.groups[g])
	}
	near, err := m.s.Subset(middle).NearLists(ctx, nearGroups, space.NearOptions{Ties: space.Cyclic, Workers: m.o.Workers})
	if err != nil {
		return err
	}
	order := make([]int, 0, len(m.groups))
	for g := range m.groups {
		if !m.groups[g].holds {
			order = append(order, g)
		}
	}
	// The small ones first: they are the cheapest to merge.
	slices.SortStableFunc(order, func(a, b int) int {
		return cmp.Compare(len(m.groups[a].members), len(m.groups[b].members))
	})
	for n, at := range order {
		if n%1024 == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		records, _ := near.Of(int32(at))
		for g := m.groups[at].now(); !g.holds; g = g.now() {
			other := m.best(g, records)
			if other == nil {
				break
			}
			m.merge(g, other)
		}
	}
	kept := m.groups[:0]
	for _, g := range m.groups {
		if g.into == nil {
			kept = append(kept, g)
		}
	}
	m.groups = kept
	return nil
}

// middle is the member nearest to the centre, the first of several. In a large
// group a hundred members stand for all.
func (m *merging) middle(g *group) int32 {
	step := max(1, len(g.members)/100)
	best, near := g.members[0], g.centre.Distance2(g.members[0])
	for at := step; at < len(g.members); at += step {
		if d := g.centre.Distance2(g.members[at]); d < near {
			best, near = g.members[at], d
		}
	}
	return best
}

// best is, of the groups at the given places, the one whose merging with g
// raises the sum of squares least; one with which the requirement is kept goes
// before all others.
func (m *merging) best(g *group, places []int32) *group {
	var best *group
	var rise float64
	keeps := false
	for _, at := range places {
		other := m.groups[at].now()
		if other == g {
			continue
		}
		r := g.centre.Merging(other.centre)
		if best != nil && keeps && r >= rise {
			continue
		}
		k := m.keepsTogether(g, other)
		if best == nil || k && !keeps || k == keeps && r < rise {
			best, rise, keeps = other, r, k
		}
	}
	return best
}

// keepsTogether asks about the union of two groups. Where it is large, its
// counts are not made for a question: it is taken to be no.
func (m *merging) keepsTogether(g, other *group) bool {
	const large = 4096
	if len(g.members)+len(other.members) > large {
		return false
	}
	if m.o.Persons != nil {
		return m.o.Persons.Holds(slices.Concat(g.members, other.members))
	}
	counts := make([]privacy.Histogram, len(m.attributes))
	for a := range counts {
		counts[a].Merge(&g.counts[a])
		counts[a].Merge(&other.counts[a])
	}
	return m.keeps(counts)
}

// merge makes one group of two: the smaller goes into the larger.
func (m *merging) merge(a, b *group) {
	if len(a.members) < len(b.members) {
		a, b = b, a
	}
	for _, i := range b.members {
		a.centre.Add(i)
	}
	a.members = append(a.members, b.members...)
	for j := range a.counts {
		a.counts[j].Merge(&b.counts[j])
	}
	if m.o.Persons != nil {
		a.holds = m.o.Persons.Holds(a.members)
	} else {
		a.holds = m.keeps(a.counts)
	}
	a.merged = true
	b.into = a
	b.members, b.centre, b.counts = nil, nil, nil
}

func (m *merging) partition() space.Partition {
	p := space.Partition{Group: make([]uint32, m.s.Len()), Groups: len(m.groups)}
	for g := range m.groups {
		for _, i := range m.groups[g].members {
			p.Group[i] = uint32(g)
		}
	}
	return p.Canonical()
}
