package learn

import (
	"fmt"
	"math"
	"testing"

	"github.com/noren-privacy/noren/internal/randtest"

	"github.com/google/go-cmp/cmp"
)

func TestTreesAreScikitLearns(t *testing.T) {
	var f struct {
		X      [][]float64
		Y2, Y3 []int
		Trees  []struct {
			Classes, Depth, Leaf int
			Grid, Shares         [][]float64
		}
	}
	figures(t, "sklearn.json", &f)
	if len(f.Trees) < 4 {
		t.Fatal("the figures hold too few determined trees")
	}
	x := fromRows(f.X)
	for _, want := range f.Trees {
		t.Run(fmt.Sprintf("%d classes, depth %d", want.Classes, want.Depth), func(t *testing.T) {
			y := f.Y2
			if want.Classes == 3 {
				y = f.Y3
			}
			m, err := Forest{Trees: 1, Features: x.Cols, Depth: want.Depth, MinLeaf: want.Leaf, All: true}.Fit(t.Context(), x, y, 1)
			if err != nil {
				t.Fatal(err)
			}
			got := make([]float64, want.Classes)
			for i, g := range want.Grid {
				m.Shares(got, g)
				for c := range got {
					near(t, fmt.Sprintf("share of class %d at point %d", c, i), got[c], want.Shares[i][c], 1e-12)
				}
			}
		})
	}
}

func TestForestsAreAsGoodAsScikitLearns(t *testing.T) {
	randtest.SkipShort(t)
	var f struct {
		X      [][]float64
		Y2, Y3 []int
		Forest map[string]cvFigure
	}
	figures(t, "sklearn.json", &f)
	x := fromRows(f.X)
	for _, c := range []struct {
		name string
		l    Forest
		y    []int
	}{
		{"binary depth 5", Forest{Trees: 20, Depth: 5}, f.Y2},
		{"binary", Forest{Trees: 20}, f.Y2},
	} {
		want := f.Forest[c.name]
		mean, sd := repeated(t, c.l, x, c.y, want.Repeats)
		near(t, c.name+": accuracy in %", mean, want.Mean, 4*math.Hypot(sd, want.SD)/math.Sqrt(float64(want.Repeats)))
	}
}

func TestForestOnBreastCancer(t *testing.T) {
	randtest.SkipShort(t)
	testForest(t, 5)
}

func TestLongForestOnBreastCancer(t *testing.T) {
	randtest.Long(t)
	testForest(t, 1)
}

// testForest repeats the validation one time in share of what the figures are of.
func testForest(t *testing.T, share int) {
	x, y := wdbc(t)
	var f struct{ CV map[string]cvFigure }
	figures(t, "wdbc.json", &f)
	z := zscored(t, x)
	for name, l := range map[string]Forest{"forest(20, depth 5)": {Trees: 20, Depth: 5}, "forest(100)": {}} {
		want := f.CV[name]
		n := max(2, want.Repeats/share)
		mean, sd := repeated(t, l, z, y, n)
		within := 4 * math.Hypot(sd/math.Sqrt(float64(n)), want.SD/math.Sqrt(float64(want.Repeats)))
		near(t, name+": accuracy in %", mean, want.Mean, within)
	}
}

// Counting ranks and sorting them are two ways to the same split.
func TestSplitsByTableAndBySorting(t *testing.T) {
	rng := stream(4, 4)
	for range 200 {
		n, classes := 2+rng.IntN(40), 2+rng.IntN(2)
		x, y := NewMatrix(n, 2), make([]int, n)
		for i := range n {
			x.Set(i, 0, float64(rng.IntN(8)))
			x.Set(i, 1, rng.Float64())
			y[i] = rng.IntN(classes)
		}
		o, err := Forest{MinLeaf: 1 + rng.IntN(3)}.withDefaults(2)
		if err != nil {
			t.Fatal(err)
		}
		g := newGrower(code(x, y, classes), o)
		g.grow(stream(1, 1)) // fills weights and records
		clear(g.counts)
		total := int32(0)
		for _, i := range g.records {
			g.counts[g.y[i]] += g.weight[i]
			total += g.weight[i]
		}
		for f := range int32(2) {
			a, okA, constA := g.byTable(0, len(g.records), total, f)
			b, okB, constB := g.bySorting(0, len(g.records), total, f)
			if okA != okB || constA != constB || a != b {
				t.Fatalf("%+v %v %v by table, %+v %v %v by sorting", a, okA, constA, b, okB, constB)
			}
		}
	}
}

func TestWorkersChangeNothing(t *testing.T) {
	rng := stream(5, 5)
	x, y := NewMatrix(120, 7), make([]int, 120)
	for i := range x.Data {
		x.Data[i] = rng.NormFloat64()
	}
	for i := range y {
		y[i] = rng.IntN(3)
	}
	folds, err := StratifiedKFold(y, 5, 9)
	if err != nil {
		t.Fatal(err)
	}
	for _, l := range []Learner{SVM{}, Forest{Trees: 9}} {
		var first [][]float64
		for _, workers := range []int{1, 2, 7} {
			if f, ok := l.(Forest); ok {
				f.Workers = workers
				l = f
			}
			rates, err := CrossValidate(t.Context(), l, x, y, CV{Folds: folds, Seed: 11, Workers: workers})
			if err != nil {
				t.Fatal(err)
			}
			if first == nil {
				first = rates
			} else if d := cmp.Diff(first, rates); d != "" {
				t.Errorf("%v with %d workers: %s", l, workers, d)
			}
		}
	}
}
