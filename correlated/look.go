package correlated

import (
	"context"
	"math"
	"slices"

	"github.com/noren-privacy/noren"
)

// View is what an adversary sees: how he thinks of the target's state before
// the answer and after, and how likely he holds each answer under each state.
type View struct {
	// Prior is P(X_i=a | x_K), by state.
	Prior []float64
	// Density is p(r | X_i=a, x_K), by state and answer; nil for a state that is
	// impossible given x_K. The answer is the whole of it, known records
	// included.
	Density [][]float64
	// Posterior is P(X_i=a | r, x_K), by state and answer.
	Posterior [][]float64
}

// Look computes the view of one adversary (no AnyTarget, no AnyState) of a
// query with one coordinate and Laplace noise of scale b, at the answers given.
func Look(ctx context.Context, m Model, q *Query, b float64, who Adversary, answers []float64) (*View, error) {
	e, err := newEngine(m, q, LeakageOptions{Adversaries: ListedAdversaries(who)})
	if err != nil {
		return nil, err
	}
	if len(e.members) != 1 || e.box != nil {
		return nil, noren.Usagef("model", "a view is of one distribution")
	}
	if len(e.query.dims) != 1 {
		return nil, noren.Usagef("query", "a view is of a query with one coordinate")
	}
	if !(b > 0) || math.IsInf(b, 1) {
		return nil, noren.Usagef("scale", "the noise scale is a positive number")
	}
	known := make([]int, m.Records())
	for i := range known {
		known[i] = -1
	}
	for _, k := range who.Known {
		if k.State == AnyState {
			return nil, noren.Usagef("adversaries", "a view is of one adversary")
		}
		known[k.Record] = k.State
	}
	if who.Target == AnyTarget {
		return nil, noren.Usagef("adversaries", "a view is of one adversary")
	}
	dists, mass, err := e.members[0].view(ctx, who.Target, known)
	if err != nil {
		return nil, err
	}
	total := logSum(mass)
	if total == negInf {
		return nil, noren.Usagef("adversaries", "what this adversary knows is impossible")
	}
	// Steps count from the smallest values of the unknown records.
	base := 0.0
	for i, v := range known {
		row := &e.query.rows[e.query.row[i]]
		if v >= 0 {
			base += row.value[0][v]
		} else {
			base += row.least[0]
		}
	}
	v := &View{}
	unit := e.query.dims[0].unit
	for a, l := range dists {
		v.Prior = append(v.Prior, math.Exp(mass[a]-total))
		if l == nil {
			v.Density = append(v.Density, nil)
			continue
		}
		density := make([]float64, len(answers))
		shift := e.query.rows[e.query.row[who.Target]].key[a]
		for j, r := range answers {
			for i, p := range l.lin {
				density[j] += p * math.Exp(-math.Abs(r-base-float64(l.at(i)+shift)*unit)/b) / (2 * b)
			}
		}
		v.Density = append(v.Density, density)
	}
	v.Posterior = make([][]float64, len(dists))
	for a := range dists {
		v.Posterior[a] = make([]float64, len(answers))
		for j := range answers {
			sum := 0.0
			for c := range dists {
				if v.Density[c] != nil {
					sum += v.Prior[c] * v.Density[c][j]
				}
			}
			if v.Density[a] != nil {
				v.Posterior[a][j] = v.Prior[a] * v.Density[a][j] / sum
			}
		}
	}
	return v, nil
}

// view is the distribution of the unknown sum by the target's state, and the log mass of
// that state together with what is known.
func (m *memberEngine) view(ctx context.Context, target int, known []int) ([]*dist, []float64, error) {
	k := m.model.States(target)
	mass := make([]float64, k)
	if t, ok := m.model.(*JointTable); ok {
		p := newTablePlan(t, m.all.query)
		sums := make([]float64, k)
		state := make([]int, len(t.shape))
		for at, v := range t.p {
			for i, rest := len(state)-1, at; i >= 0; i-- {
				state[i] = rest % t.shape[i]
				rest /= t.shape[i]
			}
			fits := true
			for i, s := range known {
				fits = fits && (s < 0 || s == state[i])
			}
			if fits {
				sums[state[target]] += v
			}
		}
		for a := range mass {
			mass[a] = math.Log(sums[a])
		}
		dists := make([]*dist, k)
		err := p.each(ctx, target, known, false, func(_ []Known, l []*dist) { dists = slices.Clone(l) })
		return dists, mass, err
	}
	t, err := m.asTree("a view")
	if err != nil {
		return nil, nil, err
	}
	g := newGiven(t, m.all.query)
	message, err := g.product(int32(target), -1, known)
	if err != nil {
		return nil, nil, err
	}
	dists, err := g.dists(target, known)
	if err != nil {
		return nil, nil, err
	}
	for a := range mass {
		mass[a] = message.mass[a] + math.Log(g.marginals[target][a])
		if dists[a] == nil {
			mass[a] = negInf
		}
	}
	return dists, mass, nil
}

// Extremes are the smallest and the largest answer without noise, over all
// states of all records, of a query with one coordinate.
func Extremes(m Model, q *Query) ([2]float64, error) {
	b, err := q.bind(m)
	if err != nil {
		return [2]float64{}, err
	}
	if len(b.dims) != 1 {
		return [2]float64{}, noren.Usagef("query", "the query has more than one coordinate")
	}
	low, _ := b.dims[0].base.Float64()
	return [2]float64{low, low + float64(b.dims[0].size-1)*b.dims[0].unit}, nil
}
