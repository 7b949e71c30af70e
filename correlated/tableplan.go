package correlated

import (
	"context"
	"slices"

	"github.com/noren-privacy/noren"
)

// tablePlan enumerates the adversaries of a joint table: every target, every
// set of known records and their values. Unknown records are summed out one by
// one; known ones only move the answer and are left out of the sum.
type tablePlan struct {
	table *JointTable
	query *boundQuery
	space *space
	// configs are the distinct ones, found at the first scale.
	configs []tableConfig
	built   bool
}

type tableConfig struct {
	target int
	dists  []*dist
	known  []Known
}

func newTablePlan(t *JointTable, q *boundQuery) *tablePlan {
	// Tables are small: sorted atoms serve.
	return &tablePlan{table: t, query: q, space: &space{most: maxTable}}
}

// partial is the distribution of the sum so far, jointly with the records not yet
// looked at: mass[j*rest+x] is that of key[j] and x.
type partial struct {
	key  []int64
	mass []float64
	rest int
}

// work estimates the operations of the enumeration.
func (p *tablePlan) work() float64 {
	total := 0.0
	for i := range p.table.shape {
		configs := 1.0
		for j, k := range p.table.shape {
			if j != i {
				configs *= float64(k + 1)
			}
		}
		total += configs
	}
	atoms := 1.0
	for _, d := range p.query.dims {
		atoms *= float64(min(d.size, 1<<20))
	}
	return total * min(atoms, float64(len(p.table.p)))
}

func (p *tablePlan) build(ctx context.Context, o *LeakageOptions) error {
	if w := p.work(); w > float64(o.budget(workBudget)) {
		return noren.Reasonf("%s: about %.2g operations", errBudget, w)
	}
	seen := map[uint64][]int{}
	for i := range p.table.shape {
		keep := func(known []Known, dists []*dist) {
			h, live := uint64(i), 0
			for _, l := range dists {
				h = hashWord(h, 1)
				if l != nil {
					live++
					h = hashFloats(h, l.log)
					for _, k := range l.key {
						h = hashWord(h, uint64(k))
					}
				}
			}
			if live < 2 {
				return // nothing is left to learn
			}
			for _, c := range seen[h] {
				if p.configs[c].target == i && slices.EqualFunc(p.configs[c].dists, dists, sameDist) {
					return
				}
			}
			seen[h] = append(seen[h], len(p.configs))
			p.configs = append(p.configs, tableConfig{i, dists, slices.Clone(known)})
		}
		if err := p.each(ctx, i, nil, o.Adversaries.kind == advEmpty, keep); err != nil {
			return err
		}
	}
	p.built = true
	return nil
}

func sameDist(a, b *dist) bool {
	if a == nil || b == nil {
		return a == b
	}
	return slices.Equal(a.key, b.key) && slices.Equal(a.log, b.log)
}

// each calls keep for the adversaries of target i: all of them, those who know
// nothing, or (fixed not nil) the one who knows the given states.
func (p *tablePlan) each(ctx context.Context, i int, fixed []int, empty bool, keep func([]Known, []*dist)) error {
	t := p.table
	// Bring the target to the end, so that the others are consumed in order.
	n := len(t.shape)
	inner := 1
	for _, k := range t.shape[i+1:] {
		inner *= k
	}
	start := partial{key: []int64{0}, mass: make([]float64, len(t.p)), rest: len(t.p)}
	k := t.shape[i]
	for at, v := range t.p {
		outer, a, in := at/(inner*k), at/inner%k, at%inner
		start.mass[(outer*inner+in)*k+a] = v
	}
	known := make([]Known, 0, n)
	count := 0
	var walk func(j int, s partial) error
	walk = func(j int, s partial) error {
		if j == i {
			j++
		}
		if j >= n {
			if count++; count%4096 == 0 {
				if err := ctx.Err(); err != nil {
					return err
				}
			}
			keep(known, p.finish(s, k))
			return nil
		}
		if fixed == nil || fixed[j] < 0 {
			if err := walk(j+1, p.sumOut(s, j)); err != nil {
				return err
			}
		}
		if fixed == nil && empty {
			return nil
		}
		for y := range t.shape[j] {
			if fixed != nil && fixed[j] != y {
				continue
			}
			next := pick(s, y, t.shape[j])
			if next.mass == nil {
				continue
			}
			known = append(known, Known{j, y})
			if err := walk(j+1, next); err != nil {
				return err
			}
			known = known[:len(known)-1]
		}
		return nil
	}
	return walk(0, start)
}

// pick fixes the next record's state; without mass the result is empty.
func pick(s partial, y, states int) partial {
	rest := s.rest / states
	out := partial{key: s.key, mass: make([]float64, len(s.key)*rest), rest: rest}
	any := false
	for j := range s.key {
		from := s.mass[j*s.rest+y*rest:]
		for x := range rest {
			out.mass[j*rest+x] = from[x]
			any = any || from[x] > 0
		}
	}
	if !any {
		return partial{}
	}
	return out
}

// sumOut adds record j's value to the sum and forgets the record.
func (p *tablePlan) sumOut(s partial, j int) partial {
	key := p.query.rows[p.query.row[j]].key
	rest := s.rest / len(key)
	out := partial{rest: rest}
	for _, k := range s.key {
		for _, v := range key {
			out.key = append(out.key, k+v)
		}
	}
	slices.Sort(out.key)
	out.key = slices.Compact(out.key)
	out.mass = make([]float64, len(out.key)*rest)
	for m, k := range s.key {
		for y, v := range key {
			at, _ := slices.BinarySearch(out.key, k+v)
			from := s.mass[m*s.rest+y*rest:]
			to := out.mass[at*rest:]
			for x := range rest {
				to[x] += from[x]
			}
		}
	}
	return out
}

// finish splits the distribution of the sum and the target by the target's state.
func (p *tablePlan) finish(s partial, k int) []*dist {
	dists := make([]*dist, k)
	for a := range k {
		l := &dist{}
		for j, key := range s.key {
			if v := s.mass[j*k+a]; v > 0 {
				l.key = append(l.key, key)
				l.log = append(l.log, v)
			}
		}
		if len(l.key) == 0 {
			continue
		}
		l.log = logs(l.log)
		dists[a], _ = normalise(l)
	}
	return dists
}

func (p *tablePlan) leakage(ctx context.Context, rates []float64, o *LeakageOptions) (*Leakage, error) {
	if !p.built {
		if err := p.build(ctx, o); err != nil {
			return nil, err
		}
	}
	s := newSearch(p.space, p.query, rates)
	for i, c := range p.configs {
		if i%1024 == 0 {
			if err := ctx.Err(); err != nil {
				return nil, err
			}
		}
		if err := s.spent(); err != nil {
			return nil, err
		}
		s.see(c.target, c.dists, func() ([]Known, bool) { return c.known, false }, func(yield func(int) bool) {
			for j := range p.table.shape {
				if !slices.ContainsFunc(c.known, func(k Known) bool { return k.Record == j }) && !yield(j) {
					return
				}
			}
		})
	}
	return s.result(), s.spent()
}

// search keeps the worst of the configurations it sees.
type search struct {
	query *boundQuery
	eval  *evaluator
	out   []extreme
	best  *Witness
	limit int
}

func newSearch(s *space, q *boundQuery, rates []float64) *search {
	return &search{query: q, eval: newEvaluator(s, q, rates), limit: 10 * workBudget}
}

// spent fails when a grid is too large, or all of them together.
func (s *search) spent() error {
	if s.eval.failed == nil && s.eval.work > s.limit {
		s.eval.failed = noren.Reasonf("%s: the grids have too many points", errBudget)
	}
	return s.eval.failed
}

// see evaluates one adversary: the distributions of the sum of the unknown records but
// the target, by the target's state. The others tell what to write into a
// witness.
func (s *search) see(target int, dists []*dist, known func() ([]Known, bool), records func(yield func(int) bool)) {
	k := len(dists)
	s.out = slices.Grow(s.out[:0], k*k)[:k*k]
	for j := range s.out {
		s.out[j].log = negInf
	}
	s.eval.ratios(dists, s.query.rows[s.query.row[target]].key, s.out)
	for j, e := range s.out {
		if j/k != j%k && e.log > 0 && (s.best == nil || e.log > s.best.Log) {
			w := &Witness{Target: target, State: j / k, Other: j % k, Log: e.log}
			w.Known, w.OthersKnown = known()
			w.Answer = s.query.answer(e.at, records)
			s.best = w
		}
	}
}

func (s *search) result() *Leakage {
	l := &Leakage{Exact: true, Method: Exact, Witness: s.best}
	if s.best != nil {
		l.Upper, l.Lower = s.best.Log, s.best.Log
	}
	return l
}
