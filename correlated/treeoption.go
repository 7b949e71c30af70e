package correlated

import (
	"math"
	"slices"

	"github.com/noren-privacy/noren"
)

// optionSet merges options that agree up to one factor.
type optionSet struct {
	plan   *treePlan
	list   []*treeOption
	byHash map[uint64][]*treeOption
}

func newOptionSet(p *treePlan) *optionSet {
	return &optionSet{plan: p, byHash: map[uint64][]*treeOption{}}
}

// sameLog is how near logarithms of masses must be to count as equal.
const sameLog = 1e-12

func (s *optionSet) add(o *treeOption) error {
	if s.plan.made++; s.plan.made > s.plan.budget {
		return noren.Reasonf("%s: more than %d options", errBudget, s.plan.budget)
	}
	top := slices.Max(o.mass)
	if top == negInf {
		return nil
	}
	h := uint64(len(o.dists))
	grid := func(v float64) uint64 {
		if v < -700 {
			return 1
		}
		return uint64(int64(math.Round(v / (64 * sameLog))))
	}
	for x, l := range o.dists {
		o.mass[x] -= top
		h = hashWord(h, grid(o.mass[x]))
		if l == nil {
			continue
		}
		for i, v := range l.log {
			if v > -700 {
				h = hashWord(h, uint64(l.at(i)))
				h = hashWord(h, grid(v))
			}
		}
	}
	for _, other := range s.byHash[h] {
		if other.same(o) {
			return nil
		}
	}
	s.byHash[h] = append(s.byHash[h], o)
	s.list = append(s.list, o)
	for _, l := range o.dists {
		if l != nil {
			s.plan.atoms += l.len()
		}
	}
	if s.plan.atoms > maxPlanAtoms {
		return noren.Reasonf("%s: the distributions of the branches have too many atoms", errBudget)
	}
	return nil
}

func (o *treeOption) same(other *treeOption) bool {
	for x, l := range o.dists {
		m := other.dists[x]
		if (l == nil) != (m == nil) {
			return false
		}
		if l == nil {
			continue
		}
		if l.len() != m.len() || l.lo != m.lo || !slices.Equal(l.key, m.key) || !near(o.mass[x], other.mass[x]) {
			return false
		}
		for i := range l.log {
			if !near(l.log[i], m.log[i]) {
				return false
			}
		}
	}
	return true
}

func near(a, b float64) bool { return a == b || math.Abs(a-b) <= sameLog }
