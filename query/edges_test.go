package query

import (
	"context"
	"math"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/noren-privacy/noren"
	"github.com/noren-privacy/noren/account"
	"github.com/noren-privacy/noren/internal/randtest"
	"github.com/noren-privacy/noren/table"
)

func edgesOf(t rapid.TB, o Options, bins int) *Edges {
	t.Helper()
	if o.Fields == nil {
		o.Column, o.Bounds, o.Fields = "x", &Bounds{0, 100}, []table.Field{{Name: "x", Type: table.Integer}}
	}
	e, err := NewEdges(context.Background(), o, bins)
	if err != nil {
		t.Fatal(err)
	}
	return e
}

// The shares of all edges sum to the cost exactly, whatever the number of bins, and the
// ranks are i/L in lowest terms.
func TestEdgesSplitTheCostExactly(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		bins := rapid.IntRange(2, 40).Draw(t, "bins")
		cost := account.Cost{Epsilon: rapid.Int64Range(int64(bins-1), 5*one).Draw(t, "epsilon")}
		neighbours := rapid.SampledFrom([]account.Neighbours{account.AddRemove, account.ReplaceOne}).Draw(t, "neighbours")
		e := edgesOf(t, Options{Cost: cost, Neighbours: neighbours}, bins)
		if e.Bins() != bins || len(e.parts) != bins-1 {
			t.Fatalf("%d bins, %d edges", e.Bins(), len(e.parts))
		}
		// weight = share/(2D), D the most that one record changes the loss by.
		sum := ratOf(0)
		for i, p := range e.parts {
			if p.a*int64(bins) != int64(i+1)*p.b {
				t.Fatalf("edge %d has rank %d/%d", i+1, p.a, p.b)
			}
			most := max(p.a, p.b-p.a)
			if neighbours == account.ReplaceOne {
				most = p.b
			}
			sum.Add(sum, ratOf(2*most).Mul(ratOf(2*most), p.weight))
		}
		if sum.Cmp(cost.EpsilonRat()) != 0 {
			t.Fatalf("the shares sum to %s, the cost is %s", sum, cost)
		}
		got, err := e.Cost(neighbours, account.Record)
		if err != nil || got != cost {
			t.Fatalf("%v, %v", got, err)
		}
		g, err := e.Guarantee(neighbours, account.Record)
		if want, _ := cost.Float(); err != nil || g.Epsilon != want {
			t.Fatalf("%+v, %v", g, err)
		}
	})
}

// For each edge, what one record changes of the probability of a value is within its
// share: together within epsilon.
func TestEdgesArePrivate(t *testing.T) {
	e := edgesOf(t, Options{
		Cost: account.Cost{Epsilon: 3*one + 2}, Bounds: &Bounds{0, 7}, Column: "x",
		Fields: []table.Field{{Name: "x", Type: table.Integer}},
	}, 4)
	probability := func(p *quantile, values []int64) []float64 {
		g, _ := p.weight.Float64()
		out, total := make([]float64, 8), 0.0
		for _, s := range p.segments(runsOf(values)) {
			for y := s.from; y < s.from+s.size; y++ {
				out[y] = math.Exp(-g * float64(s.loss))
				total += out[y]
			}
		}
		for y := range out {
			out[y] /= total
		}
		return out
	}
	rapid.Check(t, func(t *rapid.T) {
		values := rapid.SliceOfN(rapid.Int64Range(0, 7), 0, 9).Draw(t, "values")
		more := append(slices.Clone(values), rapid.Int64Range(0, 7).Draw(t, "record"))
		slices.Sort(values)
		slices.Sort(more)
		worst := 0.0
		for _, p := range e.parts {
			a, b := probability(p, values), probability(p, more)
			most := 0.0
			for y := range a {
				most = max(most, math.Abs(math.Log(a[y]/b[y])))
			}
			worst += most
		}
		if epsilon, _ := e.q.o.Cost.Float(); worst > epsilon+1e-9 {
			t.Fatalf("one record changes all edges by e^%g, epsilon is %g", worst, epsilon)
		}
	})
}

// With a large epsilon the edges are the quantiles, in order; without any record they
// lie between the bounds.
func TestEdgesAnswer(t *testing.T) {
	values := make([]string, 99)
	for i := range values {
		values[i] = itoa(i + 1)
	}
	e := edgesOf(t, Options{Cost: account.Cost{Epsilon: 900 * one}}, 4)
	a, err := e.Answer(t.Context(), tableOf(t, map[string][]string{"x": values}), randtest.Source(1))
	if err != nil {
		t.Fatal(err)
	}
	got := a.(*EdgesResult)
	for i, want := range []float64{25, 50, 75} {
		if math.Abs(float64(got.Edges[i])-want) > 1 {
			t.Errorf("edges %v", got.Edges)
		}
	}
	if got.Format != EdgesFormat || got.Column != "x" || !(got.RankWithin > 0 && got.RankWithin < 1) {
		t.Errorf("%+v", got)
	}
	forecast, err := e.Accuracy(0.95, 99)
	if err != nil || *forecast.HalfWidth != got.RankWithin || !forecast.Rank || forecast.EvenSpread == nil {
		t.Errorf("%+v, %v", forecast, err)
	}
	a, err = edgesOf(t, Options{Cost: account.Cost{Epsilon: one}}, 5).
		Answer(t.Context(), tableOf(t, map[string][]string{"x": nil}), randtest.Source(1))
	if err != nil || len(a.(*EdgesResult).Edges) != 4 || !slices.IsSorted(a.(*EdgesResult).Edges) {
		t.Errorf("%+v, %v", a, err)
	}
}

// The forecast holds for all edges at once at least as often as it says.
func TestEdgesRankWithin(t *testing.T) {
	const runs, records = 400, 200
	var values []string
	for i := range records {
		values = append(values, itoa(i*i%101))
	}
	e := edgesOf(t, Options{Cost: account.Cost{Epsilon: one}, Level: 0.8}, 5)
	data := tableOf(t, map[string][]string{"x": values})
	src, missed := randtest.Source(5), 0
	for range runs {
		a, err := e.Answer(t.Context(), data, src)
		if err != nil {
			t.Fatal(err)
		}
		r := a.(*EdgesResult)
		for i, y := range r.Edges {
			below, upTo, rank := 0, 0, records*float64(i+1)/5
			for j := range records {
				v := float64(j * j % 101)
				if v < float64(y) {
					below++
				}
				if v <= float64(y) {
					upTo++
				}
			}
			if float64(upTo) < rank-r.RankWithin || float64(below) > rank+r.RankWithin {
				missed++
				break
			}
		}
	}
	// 0.2 are allowed; 5 standard deviations of 400 runs are 0.1.
	if missed > runs*3/10 {
		t.Errorf("%d of %d answers miss", missed, runs)
	}
}

func TestEdgesRefuses(t *testing.T) {
	x := []table.Field{{Name: "x", Type: table.Integer}, {Name: "c", Type: table.Category}}
	good := Options{Column: "x", Bounds: &Bounds{0, 10}, Fields: x, Cost: account.Cost{Epsilon: one}}
	for name, c := range map[string]struct {
		change func(*Options)
		bins   int
	}{
		"one bin":       {func(*Options) {}, 1},
		"too many bins": {func(*Options) {}, 1001},
		"groups":        {func(o *Options) { o.By, o.Keys = []string{"c"}, [][]string{{"a"}} }, 3},
		"a rank":        {func(o *Options) { o.Rank = "0.5" }, 3},
		"smooth":        {func(o *Options) { o.Noise = Smooth }, 3},
		"a category":    {func(o *Options) { o.Column = "c" }, 3},
		"no bounds":     {func(o *Options) { o.Bounds = nil }, 3},
		"little":        {func(o *Options) { o.Cost.Epsilon = 1 }, 3},
		"delta":         {func(o *Options) { o.Cost.Delta = 1 }, 3},
	} {
		o := good
		c.change(&o)
		if _, err := NewEdges(context.Background(), o, c.bins); noren.KindOf(err) != noren.Usage || strings.Contains(err.Error(), "--") {
			t.Errorf("%s: %v", name, err)
		}
	}
}
