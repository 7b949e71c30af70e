package correlated

import (
	"context"
	"slices"

	"github.com/noren-privacy/noren"
)

// Box is an interval model (a credal set): every chain or tree of the same shape whose
// transition probabilities lie between bounds, each record's on their own, with any distribution
// of the first record (or of the roots). It is what an estimate with
// confidence bounds supports. Leakage in a box is bounded by the tanh rule,
// which is monotone in the bounds: no member exceeds it.
type Box struct {
	centre Model
	tree   *Tree // the centre's, with one kernel for each distinct pair of bounds
	bounds []kernelBounds
}

// NewBox returns the box around centre, a chain or a tree: low[i][x][y] <=
// P(y|x) <= high[i][x][y] for the step from record i to i+1 of a chain, or from
// the parent to record i of a tree (a root's entry is not looked at). One
// matrix alone stands for all steps.
func NewBox(centre Model, low, high [][][]float64) (*Box, error) {
	var t *Tree
	steps := 0
	at := func(v int32) int { return int(v) }
	switch m := centre.(type) {
	case *Chain:
		t, steps = m.tree(), m.Records()-1
		at = func(v int32) int { return int(v) - 1 }
	case *Tree:
		t, steps = m, m.Records()
	default:
		return nil, noren.Usagef("centre", "the centre of a box is a chain or a tree")
	}
	if len(low) != len(high) {
		return nil, noren.Usagef("high", "there {1|is|are} %d {matrix|matrices} of lower bounds and %d of upper ones", len(low), len(high))
	}
	if len(low) != steps && len(low) != 1 {
		return nil, noren.Usagef("low", "there is one matrix for all steps, or %d; here are %d", steps, len(low))
	}
	b := &Box{centre: centre, tree: &Tree{parent: t.parent, kernel: make([]int32, len(t.parent)), order: t.order}}
	type key struct {
		kernel  int32
		low, up *[]float64
	}
	known := map[key]int32{}
	for _, v := range t.order {
		k := key{kernel: t.kernel[v]}
		var lo, hi [][]float64
		where := ""
		if t.parent[v] >= 0 {
			j := 0
			if len(low) > 1 {
				j = at(v)
			}
			lo, hi, where = low[j], high[j], index("", j)
			if len(lo) > 0 && len(hi) > 0 {
				k.low, k.up = &lo[0], &hi[0]
			}
		}
		id, ok := known[k]
		if !ok {
			id = int32(len(b.bounds))
			centre := t.pool[k.kernel]
			bounds := kernelBounds{centre, centre}
			if t.parent[v] >= 0 {
				var err error
				if bounds, err = newBounds(centre, lo, hi, where); err != nil {
					return nil, err
				}
			}
			b.bounds, b.tree.pool = append(b.bounds, bounds), append(b.tree.pool, centre)
			known[k] = id
		}
		b.tree.kernel[v] = id
	}
	return b, nil
}

func newBounds(centre *kernel, low, high [][]float64, where string) (kernelBounds, error) {
	var b kernelBounds
	for j, m := range [...][][]float64{low, high} {
		name := [...]string{"low", "high"}[j] + where
		if len(m) != centre.rows {
			return b, noren.Usagef(noren.File(name), "the centre's matrix has %d {row|rows}, and here {2|is|are} %d", centre.rows, len(m))
		}
		k := &kernel{rows: centre.rows, cols: centre.cols}
		for x, row := range m {
			if len(row) != centre.cols {
				return b, noren.Usagef(index(name, x), "the centre's rows have %d {entry|entries}, and this one has %d", centre.cols, len(row))
			}
			for y, v := range row {
				if !(v >= 0 && v <= 1) {
					return b, noren.Usagef(index(index(name, x), y), "a bound of a probability lies between 0 and 1")
				}
				if c := centre.at(x, y); j == 0 && v > c+sumTolerance || j == 1 && v < c-sumTolerance {
					return b, noren.Usagef(index(index(name, x), y), "the centre is outside of this bound")
				}
			}
			k.p = append(k.p, row...)
		}
		if j == 0 {
			b.low = k
		} else {
			b.high = k
		}
	}
	return b, nil
}

// Records is the number of records.
func (b *Box) Records() int { return b.centre.Records() }

// States is the number of states of record i.
func (b *Box) States(i int) int { return b.centre.States(i) }

// Kind is "box".
func (b *Box) Kind() string { return "box" }

// Centre is the distribution that the box is around.
func (b *Box) Centre() Model { return b.centre }

func (b *Box) members() []Model { return []Model{b.centre} }

// Contains reports whether the distribution m, of the same kind as the centre, is in the
// box.
func (b *Box) Contains(m Model) bool {
	if m.Kind() != b.centre.Kind() || sameRecords(b.centre, m) != nil {
		return false
	}
	var t *Tree
	switch m := m.(type) {
	case *Chain:
		t = m.tree()
	case *Tree:
		t = m
	}
	if !slices.Equal(t.parent, b.tree.parent) {
		return false
	}
	for v, p := range t.parent {
		if p < 0 {
			continue
		}
		k, box := t.pool[t.kernel[v]], b.bounds[b.tree.kernel[v]]
		for j, x := range k.p {
			if x < box.low.p[j] || x > box.high.p[j] {
				return false
			}
		}
	}
	return true
}

// boxLeakage bounds the leakage of all members; centre is what is known of the
// centre, nil to leave that out.
func (e *engine) boxLeakage(ctx context.Context, rates []float64, centre *Leakage) (*Leakage, error) {
	if e.options.Method == Exact || e.options.Method == Quilt {
		return nil, &noren.Error{
			Kind: noren.NotMet, Where: "method", What: "the leakage in a box is bounded and not exact",
			Hint: "let the method be auto or tanh",
		}
	}
	l := &Leakage{Method: Tanh}
	if centre != nil {
		l.Lower, l.Witness = centre.Lower, centre.Witness
	}
	switch {
	case e.options.Adversaries.kind == advFull:
		l.Upper, l.Method = e.query.osc(rates), Range
		return l, nil
	case e.options.Method == Range:
		l.Upper, l.Method = e.query.rangeLoss(rates), Range
		return l, nil
	}
	upper, err := e.boxBound(ctx, rates, 0)
	if err != nil {
		return nil, err
	}
	l.Upper = min(upper, e.query.rangeLoss(rates))
	return l, nil
}

// boxBound is Lambda of the box, for Laplace noise of the given rates and
// mechanisms of which each record's change costs extra.
func (e *engine) boxBound(ctx context.Context, rates []float64, extra float64) (float64, error) {
	if e.boxPlan == nil {
		var err error
		if e.boxPlan, err = newTanhPlan(ctx, e.box.tree, e.query, e.box.bounds, true); err != nil {
			return 0, err
		}
	}
	upper, _, err := e.boxPlan.bound(ctx, rates, extra)
	return upper, err
}
