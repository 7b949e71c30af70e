package learn

import (
	"context"
	"math"

	"github.com/noren-privacy/noren"
)

// Forest says how a random forest is grown: each tree from as many records as
// there are, drawn with replacement, each node split by the best condition, by
// Gini impurity, about a few features drawn afresh (Breiman 2001). The answer is
// the class with the largest mean share over the leaves that a record falls in,
// as in scikit-learn.
type Forest struct {
	// Trees defaults to 100.
	Trees int
	// Depth is the largest number of splits between root and leaf.
	// Defaults to no limit.
	Depth int
	// Features looked at for a split. Defaults to the root of their number.
	Features int
	// MinLeaf is the smallest number of records in a leaf, each counted as often as
	// it was drawn. Defaults to 1.
	MinLeaf int
	// All takes every record once instead of drawing: with Trees 1 and Features
	// all of them, this is a plain CART tree.
	All bool
	// Workers grow trees side by side. Defaults to 1, which is right inside a
	// cross-validation. The forest does not depend on it.
	Workers int
}

func (o Forest) withDefaults(features int) (Forest, error) {
	if o.Trees < 0 || o.Depth < 0 || o.Features < 0 || o.MinLeaf < 0 || o.Workers < 0 || o.Features > features || o.MinLeaf > math.MaxInt32/4 {
		return o, &noren.Error{Kind: noren.Usage, What: "trees, depth, features, records in a leaf and workers of a forest are not negative, " +
			"and there {1|is|are} %d {feature|features}", Args: []any{features}}
	}
	set := func(v *int, standard int) {
		if *v == 0 {
			*v = standard
		}
	}
	set(&o.Trees, 100)
	set(&o.Features, max(1, int(math.Sqrt(float64(features)))))
	set(&o.MinLeaf, 1)
	set(&o.Workers, 1)
	return o, nil
}

// ForestModel is a grown forest.
type ForestModel struct {
	trees    []*tree
	classes  int
	features int
}

// Train implements [Learner].
func (o Forest) Train(ctx context.Context, x *Matrix, y []int, seed uint64) (Classifier, error) {
	m, err := o.Fit(ctx, x, y, seed)
	if err != nil {
		return nil, err
	}
	return m, nil
}

// Fit grows a forest on x, n records x d features, and the classes y.
func (o Forest) Fit(ctx context.Context, x *Matrix, y []int, seed uint64) (*ForestModel, error) {
	classes, err := checkClasses(x, y)
	if err != nil {
		return nil, err
	}
	if x.Rows > math.MaxInt32/2 {
		return nil, &noren.Error{Kind: noren.Usage, What: "a forest takes at most 2^30 records"}
	}
	if o, err = o.withDefaults(x.Cols); err != nil {
		return nil, err
	}
	m := &ForestModel{trees: make([]*tree, o.Trees), classes: classes, features: x.Cols}
	c := code(x, y, classes)
	err = parallel(ctx, o.Workers, o.Trees, func() func(int) error {
		g := newGrower(c, o)
		return func(k int) error {
			m.trees[k] = g.grow(stream(seed, uint64(k)))
			return nil
		}
	})
	if err != nil {
		return nil, err
	}
	return m, nil
}

// Shares writes the mean class shares of x, one number each class, to dst.
func (m *ForestModel) Shares(dst, x []float64) {
	clear(dst)
	for _, t := range m.trees {
		for c, s := range t.leaf(x, m.classes) {
			dst[c] += s
		}
	}
	for c := range dst {
		dst[c] /= float64(len(m.trees))
	}
}

// Predict implements [Classifier]; of equal classes it takes the lowest.
func (m *ForestModel) Predict(x []float64) int {
	if m.classes == 2 { // the common case, without a buffer
		var zero, one float64
		for _, t := range m.trees {
			s := t.leaf(x, 2)
			zero += s[0]
			one += s[1]
		}
		if one > zero {
			return 1
		}
		return 0
	}
	sums := make([]float64, m.classes)
	m.Shares(sums, x)
	best := 0
	for c, s := range sums {
		if s > sums[best] {
			best = c
		}
	}
	return best
}

// Classes is the number of classes.
func (m *ForestModel) Classes() int { return m.classes }

// String names the learner, for tables of results.
func (o Forest) String() string {
	if o.Trees == 0 {
		o.Trees = 100
	}
	if o.Depth == 0 {
		return noren.Textf("random forest (%d {tree|trees})", o.Trees).String()
	}
	return noren.Textf("random forest (%d {tree|trees} of depth %d)", o.Trees, o.Depth).String()
}
