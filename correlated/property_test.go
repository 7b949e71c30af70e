package correlated

import (
	"context"
	"math"
	"testing"

	"pgregory.net/rapid"
)

// drawDistribution draws a distribution of k states; zeros are frequent.
func drawDistribution(t *rapid.T, k int, label string) []float64 {
	w := make([]float64, k)
	sum := 0
	for i := range w {
		v := rapid.IntRange(0, 12).Draw(t, label)
		v = max(0, v-2) // a zero one time in four
		w[i] = float64(v)
		sum += v
	}
	if sum == 0 {
		w[rapid.IntRange(0, k-1).Draw(t, label)], sum = 1, 1
	}
	for i := range w {
		w[i] /= float64(sum)
	}
	return w
}

func drawMatrix(t *rapid.T, rows, cols int, label string) [][]float64 {
	m := make([][]float64, rows)
	for i := range m {
		m[i] = drawDistribution(t, cols, label)
	}
	return m
}

func drawTree(t *rapid.T, most int) *Tree {
	n := rapid.IntRange(1, most).Draw(t, "records")
	parent := make([]int, n)
	states := make([]int, n)
	cpt := make([][][]float64, n)
	for i := range parent {
		states[i] = rapid.IntRange(1, 3).Draw(t, "states")
		parent[i] = -1
		if i > 0 {
			parent[i] = rapid.IntRange(-1, i-1).Draw(t, "parent")
		}
		rows := 1
		if parent[i] >= 0 {
			rows = states[parent[i]]
		}
		cpt[i] = drawMatrix(t, rows, states[i], "cpt")
	}
	// Any numbering will do: parents may stand after their children.
	perm := rapid.Permutation(rangeInts(n)).Draw(t, "numbering")
	p2, c2 := make([]int, n), make([][][]float64, n)
	for i := range parent {
		p2[perm[i]], c2[perm[i]] = -1, cpt[i]
		if parent[i] >= 0 {
			p2[perm[i]] = perm[parent[i]]
		}
	}
	tree, err := NewTree(p2, nil, c2)
	if err != nil {
		t.Fatal(err)
	}
	return tree
}

func rangeInts(n int) []int {
	v := make([]int, n)
	for i := range v {
		v[i] = i
	}
	return v
}

func drawChain(t *rapid.T, most int) *Chain {
	n := rapid.IntRange(1, most).Draw(t, "records")
	if rapid.Bool().Draw(t, "homogeneous") {
		k := rapid.IntRange(2, 3).Draw(t, "states")
		c, err := NewHomogeneousChain(drawDistribution(t, k, "init"), drawMatrix(t, k, k, "P"), n)
		if err != nil {
			t.Fatal(err)
		}
		return c
	}
	k := rapid.IntRange(1, 3).Draw(t, "states")
	init := drawDistribution(t, k, "init")
	steps := make([][][]float64, n-1)
	for i := range steps {
		next := rapid.IntRange(1, 3).Draw(t, "states")
		steps[i] = drawMatrix(t, k, next, "P")
		k = next
	}
	c, err := NewChain(init, steps)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// tableOf writes a tree's joint distribution entry by entry.
func tableOf(t *rapid.T, tree *Tree) *JointTable {
	n := tree.Records()
	shape := make([]int, n)
	size := 1
	for i := range shape {
		shape[i] = tree.States(i)
		size *= shape[i]
	}
	p := make([]float64, size)
	state := make([]int, n)
	for at := range p {
		for i, rest := n-1, at; i >= 0; i-- {
			state[i] = rest % shape[i]
			rest /= shape[i]
		}
		p[at] = 1
		for i, u := range tree.parent {
			x := 0
			if u >= 0 {
				x = state[u]
			}
			p[at] *= tree.pool[tree.kernel[i]].at(x, state[i])
		}
	}
	table, err := NewJointTable(shape, p)
	if err != nil {
		t.Fatal(err)
	}
	return table
}

func drawQuery(t *rapid.T, m Model) *Query {
	switch rapid.IntRange(0, 3).Draw(t, "query") {
	case 0:
		g := make([][]float64, m.Records())
		for i := range g {
			g[i] = rapid.SliceOfN(rapid.SampledFrom([]float64{0, 1, 1, 2, -1, 3}), m.States(i), m.States(i)).Draw(t, "g")
		}
		return Values(g)
	case 1: // decimals, far apart: sparse distributions
		g := make([][]float64, m.Records())
		for i := range g {
			g[i] = rapid.SliceOfN(rapid.SampledFrom([]float64{0, 0.1, 12.75, 1000.3, -7}), m.States(i), m.States(i)).Draw(t, "g")
		}
		return Values(g)
	case 2:
		return Joint(Count(0), WeightedCount(rapid.SliceOfN(rapid.SampledFrom([]float64{0.5, 1, 2}), m.Records(), m.Records()).Draw(t, "weights"),
			0))
	}
	return Count(0)
}

func drawScale(t *rapid.T) float64 {
	return rapid.SampledFrom([]float64{0.0005, 0.02, 0.3, 1, 2.5, 40}).Draw(t, "b")
}

func drawAdversaries(t *rapid.T, m Model) Adversaries {
	switch rapid.IntRange(0, 3).Draw(t, "adversaries") {
	case 0:
		return EmptyAdversaries()
	case 1:
		return FullAdversaries()
	case 2:
		var known []Known
		for i := range m.Records() {
			if rapid.Bool().Draw(t, "known") {
				known = append(known, Known{i, rapid.IntRange(AnyState, m.States(i)-1).Draw(t, "state")})
			}
		}
		return ListedAdversaries(Adversary{AnyTarget, known})
	}
	return AllAdversaries()
}

func exactly(t *rapid.T, m Model, q *Query, b float64, o LeakageOptions) *Leakage {
	t.Helper()
	l, err := ComputeLeakage(context.Background(), m, q, b, o)
	if err != nil {
		t.Fatal(err)
	}
	if !l.Exact || l.Upper != l.Lower {
		t.Fatalf("%+v is not exact", l)
	}
	return l
}

func agree(a, b float64) bool { return math.Abs(a-b) <= 1e-10*math.Max(1, math.Max(a, b)) }

// A witness is checked by listing him: who knows that much learns that much.
func checkWitness(t *rapid.T, m Model, q *Query, b float64, l *Leakage) {
	t.Helper()
	if l.Witness == nil {
		if l.Lower != 0 {
			t.Fatalf("%+v has no witness", l)
		}
		return
	}
	w := l.Witness
	o := LeakageOptions{Adversaries: ListedAdversaries(Adversary{w.Target, w.Known})}
	got := exactly(t, m, q, b, o)
	switch {
	case !w.OthersKnown && !agree(got.Upper, l.Lower):
		t.Fatalf("the witness %v learns %.15g, not %.15g", w, got.Upper, l.Lower)
	case w.OthersKnown && got.Upper > l.Lower*(1+1e-10)+1e-10:
		t.Fatalf("the witness %v learns %.15g though he knows less, more than %.15g", w, got.Upper, l.Lower)
	}
}

func TestTreeAgreesWithBruteForce(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		tree := drawTree(t, 5)
		q, b, who := drawQuery(t, tree), drawScale(t), drawAdversaries(t, tree)
		table := tableOf(t, tree)
		o := LeakageOptions{Adversaries: who, Method: Exact}
		want, got := exactly(t, table, q, b, o), exactly(t, tree, q, b, o)
		if !agree(want.Upper, got.Upper) {
			t.Fatalf("%s: brute force %.15g, tree %.15g (%v, %v)", who, want.Upper, got.Upper, want.Witness, got.Witness)
		}
		checkWitness(t, tree, q, b, got)
		checkWitness(t, table, q, b, want)
	})
}

func TestChainAgreesWithBruteForceAndTree(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		chain := drawChain(t, 6)
		q, b, who := drawQuery(t, chain), drawScale(t), drawAdversaries(t, chain)
		o := LeakageOptions{Adversaries: who, Method: Exact}
		got := exactly(t, chain, q, b, o)
		tree := exactly(t, chain.tree(), q, b, o)
		want := exactly(t, tableOf(t, chain.tree()), q, b, o)
		if !agree(want.Upper, got.Upper) || !agree(want.Upper, tree.Upper) {
			t.Fatalf("%s: brute force %.15g, chain %.15g, tree %.15g", who, want.Upper, got.Upper, tree.Upper)
		}
		checkWitness(t, chain, q, b, got)
	})
}

func TestBoundsAreNeverBelowTheLeakage(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		chain := drawChain(t, 7)
		q, b := drawQuery(t, chain), drawScale(t)
		exact := exactly(t, chain, q, b, LeakageOptions{Method: Exact}).Upper
		for _, o := range []LeakageOptions{
			{Method: Tanh},
			{Method: Range},
			{Method: Quilt, Arm: 1},
			{Method: Quilt, Arm: 2},
			{Method: Quilt, Arm: 3},
			{Method: Tanh, Adversaries: EmptyAdversaries()},
			{Method: Quilt, Arm: 1, Adversaries: EmptyAdversaries()},
			{Method: Quilt, Arm: 3, Adversaries: EmptyAdversaries()},
		} {
			if o.Adversaries.kind == advEmpty {
				exact = exactly(t, chain, q, b, LeakageOptions{Method: Exact, Adversaries: o.Adversaries}).Upper
			}
			l, err := ComputeLeakage(context.Background(), chain, q, b, o)
			if isBudget(err) && o.Method == Quilt {
				continue // Theorem 6 says nothing for this chain
			}
			if err != nil {
				t.Fatal(err)
			}
			if l.Upper < exact*(1-1e-10)-1e-10 || l.Lower > exact*(1+1e-10)+1e-10 {
				t.Fatalf("%s, arm %d: between %.15g and %.15g, and the leakage is %.15g", o.Method, o.Arm, l.Lower, l.Upper, exact)
			}
		}
	})
}

func TestTreeBoundIsNeverBelowTheLeakage(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		tree := drawTree(t, 6)
		q, b := drawQuery(t, tree), drawScale(t)
		exact := exactly(t, tree, q, b, LeakageOptions{Method: Exact}).Upper
		l, err := ComputeLeakage(context.Background(), tree, q, b, LeakageOptions{Method: Tanh})
		if err != nil {
			t.Fatal(err)
		}
		if l.Upper < exact*(1-1e-10)-1e-10 {
			t.Fatalf("tanh %.15g, exact %.15g", l.Upper, exact)
		}
	})
}

// Theorem 2.
func TestLeakageFallsAsTheScaleRises(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		tree := drawTree(t, 5)
		q, who := drawQuery(t, tree), drawAdversaries(t, tree)
		last := math.Inf(1)
		for _, b := range []float64{0.01, 0.1, 0.3, 0.7, 1.1, 1.9, 4, 11, 100} {
			l := exactly(t, tree, q, b, LeakageOptions{Adversaries: who})
			if l.Upper > last*(1+1e-10)+1e-12 {
				t.Fatalf("%.15g at %g, more than %.15g before", l.Upper, b, last)
			}
			last = l.Upper
		}
	})
}

// The calibrated scale is safe, and a millionth less is not.
func TestCalibrationIsTight(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		chain := drawChain(t, 5)
		q, who := drawQuery(t, chain), drawAdversaries(t, chain)
		epsilon := rapid.SampledFrom([]float64{0.05, 0.4, 1, 3}).Draw(t, "epsilon")
		o := LeakageOptions{Adversaries: who}
		c, err := Calibrate(context.Background(), chain, q, epsilon, o)
		if err != nil {
			t.Fatal(err)
		}
		if c.Scale == 0 {
			if c.Leakage.Upper != 0 {
				t.Fatalf("%+v", c.Leakage)
			}
			return
		}
		if l := exactly(t, chain, q, c.Scale, o); l.Upper > epsilon || l.Upper != c.Leakage.Upper && !agree(l.Upper, c.Leakage.Upper) {
			t.Fatalf("at b=%.15g the leakage is %.15g, said to be %.15g", c.Scale, l.Upper, c.Leakage.Upper)
		}
		bound, _ := q.bind(chain)
		if c.Scale < 1e-8*bound.rangeLoss([]float64{bound.dims[0].unit, 1}[:len(bound.dims)])/epsilon {
			return // the leakage is below epsilon at every scale
		}
		if l := exactly(t, chain, q, c.Scale*(1-1e-6), o); l.Upper <= epsilon*(1-1e-9) && c.Leakage.Upper < epsilon*(1-1e-9) {
			t.Fatalf("b=%.15g is too large: a millionth less still gives %.15g", c.Scale, l.Upper)
		}
	})
}

// The order of the records makes no difference, nor does adding a constant.
func TestLeakageIgnoresOrder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		tree := drawTree(t, 5)
		n := tree.Records()
		b := drawScale(t)
		g := make([][]float64, n)
		for i := range g {
			g[i] = rapid.SliceOfN(rapid.SampledFrom([]float64{0, 1, 2.5}), tree.States(i), tree.States(i)).Draw(t, "g")
		}
		perm := rapid.Permutation(rangeInts(n)).Draw(t, "order")
		parent, cpt, moved := make([]int, n), make([][][]float64, n), make([][]float64, n)
		for i := range parent {
			parent[perm[i]] = -1
			if u := tree.parent[i]; u >= 0 {
				parent[perm[i]] = perm[u]
			}
			cpt[perm[i]] = tree.pool[tree.kernel[i]].matrix()
			row := make([]float64, len(g[i]))
			for v := range row {
				row[v] = g[i][v] + 3
			}
			moved[perm[i]] = row
		}
		other, err := NewTree(parent, nil, cpt)
		if err != nil {
			t.Fatal(err)
		}
		x, y := exactly(t, tree, Values(g), b, LeakageOptions{}), exactly(t, other, Values(moved), b, LeakageOptions{})
		if !agree(x.Upper, y.Upper) {
			t.Fatalf("%.15g became %.15g", x.Upper, y.Upper)
		}
	})
}

// Options are one where they agree up to a factor and rounding, and not where
// they differ by more.
func TestOptionsThatAreOne(t *testing.T) {
	p := &treePlan{space: &space{dense: true, most: 10}, budget: 100}
	option := func(factor, difference float64) *treeOption {
		o := &treeOption{known: -1}
		for x := range 2 {
			l, mass := normalise(&dist{log: []float64{math.Log(0.3 + difference*float64(x)), math.Log(0.5)}})
			o.dists, o.mass = append(o.dists, l), append(o.mass, mass+math.Log(factor))
		}
		return o
	}
	set := newOptionSet(p)
	for _, o := range []*treeOption{option(1, 0), option(0.2, 0), option(1, 1e-9), option(7, 1e-9), option(1, -1e-3)} {
		if err := set.add(o); err != nil {
			t.Fatal(err)
		}
	}
	if len(set.list) != 3 {
		t.Errorf("%d options, want 3", len(set.list))
	}
}
