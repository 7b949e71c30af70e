package space_test

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/noren-privacy/noren/internal/randtest"
	"github.com/noren-privacy/noren/kanon/space"
	"github.com/noren-privacy/noren/table"
)

// randomSpace draws a small mixed space with many ties.
func randomSpace(t *rapid.T, n int) *space.Space {
	numbers := make([][]float64, rapid.IntRange(0, 5).Draw(t, "numeric axes"))
	for a := range numbers {
		numbers[a] = rapid.SliceOfN(rapid.Map(rapid.IntRange(0, 4), func(v int) float64 { return float64(v) / 4 }), n, n).Draw(t, "numbers")
	}
	words := make([]space.Categorical, rapid.IntRange(0, 10).Draw(t, "categorical axes"))
	for a := range words {
		cardinality := rapid.SampledFrom([]int{2, 3, 300, 70_000}).Draw(t, "cardinality")
		words[a] = space.Categorical{
			Codes:       rapid.SliceOfN(rapid.Uint32Range(0, uint32(cardinality-1)), n, n).Draw(t, "codes"),
			Cardinality: cardinality,
			Weight:      rapid.SampledFrom([]float64{1, 0.5, 0.25}).Draw(t, "weight"),
		}
	}
	s, err := space.New(n, numbers, words)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// embedded is the space written out: one coordinate a numeric axis and one a
// code.
func embedded(s *space.Space) [][]float64 {
	points := make([][]float64, s.Len())
	for i := range points {
		for _, x := range s.Numbers() {
			points[i] = append(points[i], x[i])
		}
		for _, w := range s.Words() {
			seen := slices.Clone(w.Codes)
			slices.Sort(seen)
			for _, c := range slices.Compact(seen) {
				v := 0.0
				if w.Codes[i] == c {
					v = math.Sqrt(w.Weight / 2)
				}
				points[i] = append(points[i], v)
			}
		}
	}
	return points
}

func squared(a, b []float64) float64 {
	var d float64
	for i := range a {
		d += (a[i] - b[i]) * (a[i] - b[i])
	}
	return d
}

func centre(points [][]float64, members []int32) []float64 {
	c := make([]float64, len(points[0]))
	for _, i := range members {
		for a := range c {
			c[a] += points[i][a] / float64(len(members))
		}
	}
	return c
}

func randomPartition(t *rapid.T, n int) space.Partition {
	groups := rapid.IntRange(1, n).Draw(t, "groups")
	p := space.Partition{Group: rapid.SliceOfN(rapid.Uint32Range(0, uint32(groups-1)), n, n).Draw(t, "group"), Groups: groups}
	return p.Canonical()
}

// What the package says of its space is true of the space written out.
func TestMixedSpaceIsItsEmbedding(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 12).Draw(t, "n")
		s := randomSpace(t, n)
		points := embedded(s)
		near := func(what string, got, want float64) {
			if math.Abs(got-want) > 1e-9 {
				t.Fatalf("%s: %v, want %v", what, got, want)
			}
		}
		layout := s.NewPoints(nil)
		var target space.Target
		out := make([]float64, n)
		for i := range n {
			layout.Target(&target, i)
			layout.Distances2(&target, 0, out)
			for j := range n {
				near("distance", s.Distance2(i, j), squared(points[i], points[j]))
				near("scanned distance", out[j], squared(points[i], points[j]))
			}
		}
		p := randomPartition(t, n)
		list, start := p.Members()
		var sse float64
		centroids := make([]*space.Centroid, p.Groups)
		for g := range p.Groups {
			members := list[start[g]:start[g+1]]
			c := centre(points, members)
			centroids[g] = s.NewCentroid()
			for _, i := range members {
				centroids[g].Add(i)
			}
			layout.CentreDistances2(centroids[g], 0, out)
			for i := range n {
				near("distance to a centre", centroids[g].Distance2(int32(i)), squared(points[i], c))
				near("scanned distance to a centre", out[i], squared(points[i], c))
			}
			for _, i := range members {
				sse += squared(points[i], c)
			}
		}
		near("SSE", s.SSE(p), sse)
		all := make([]int32, n)
		for i := range all {
			all[i] = int32(i)
		}
		var sst float64
		for i := range n {
			sst += squared(points[i], centre(points, all))
		}
		near("SST", s.SST(), sst)
		if p.Groups >= 2 {
			merged := space.Partition{Group: slices.Clone(p.Group), Groups: p.Groups}
			for i, g := range merged.Group {
				if g == 1 {
					merged.Group[i] = 0
				}
			}
			near("rise by merging", centroids[0].Merging(centroids[1]), s.SSE(merged.Canonical())-sse)
			near("distance of centres", centroids[0].Between(centroids[1]),
				squared(centre(points, list[start[0]:start[1]]), centre(points, list[start[1]:start[2]])))
		}
		if n >= 2 {
			c := s.NewCentroid()
			c.Add(0)
			c.Add(1)
			c.Remove(0)
			near("after removal", c.Distance2(0), squared(points[0], points[1]))
		}
	})
}

// Near lists are those of the definition, ties included, for any number of
// workers.
func TestNearListsAreExact(t *testing.T) {
	randtest.SkipShort(t)
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.OneOf(rapid.IntRange(2, 150), rapid.IntRange(150, 700)).Draw(t, "n")
		s := randomSpace(t, n)
		q := rapid.IntRange(1, 30).Draw(t, "q")
		ties := rapid.SampledFrom([]space.Ties{space.Cyclic, space.ByIndex}).Draw(t, "ties")
		workers := rapid.IntRange(1, 4).Draw(t, "workers")
		if rapid.Bool().Draw(t, "kept") {
			// Longer lists of any ties, found before, change nothing.
			kept := rapid.SampledFrom([]space.Ties{space.Cyclic, space.ByIndex}).Draw(t, "ties of the kept")
			if err := s.KeepNear(context.Background(), max(1, q+rapid.IntRange(-2, 5).Draw(t, "more")), kept, 1); err != nil {
				t.Fatal(err)
			}
		}
		near, err := s.NearLists(context.Background(), q, space.NearOptions{Ties: ties, Workers: workers})
		if err != nil {
			t.Fatal(err)
		}
		for u := range int32(n) {
			var others []int32
			for v := range int32(n) {
				if v != u {
					others = append(others, v)
				}
			}
			slices.SortFunc(others, func(a, b int32) int {
				return cmp.Or(
					cmp.Compare(s.Distance2(int(u), int(a)), s.Distance2(int(u), int(b))),
					cmp.Compare(ties.Rank(u, a, int32(n)), ties.Rank(u, b, int32(n))),
				)
			})
			records, distances := near.Of(u)
			if want := others[:min(q, n-1)]; !slices.Equal(records, want) {
				t.Fatalf("near %d: %v, want %v", u, records, want)
			}
			for i, v := range records {
				if distances[i] != s.Distance2(int(u), int(v)) {
					t.Fatalf("distance %d-%d: %v, want %v", u, v, distances[i], s.Distance2(int(u), int(v)))
				}
			}
		}
	})
}

func column(t testing.TB, f table.Field, values ...string) *table.Column {
	t.Helper()
	b, err := table.NewBuilder(f, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, v := range values {
		if err := b.Append([]byte(v)); err != nil {
			t.Fatal(err)
		}
	}
	return b.Column()
}

func TestFromTable(t *testing.T) {
	h, err := table.NewHierarchy("h", [][]string{{"tea", "drink", "*"}, {"milk", "drink", "*"}, {"rice", "food", "*"}}, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name   string
		column *table.Column
		want   [3]float64 // squared distances 0-1, 0-2, 1-2
	}{
		{"integer", column(t, table.Field{Type: table.Integer}, "10", "20", "15"), [3]float64{1, .25, .25}},
		{"constant", column(t, table.Field{Type: table.Integer}, "10", "10", "10"), [3]float64{}},
		{"date", column(t, table.Field{Type: table.Date}, "2024-01-01", "2024-01-11", "2024-01-06"), [3]float64{1, .25, .25}},
		{"ordered", column(t, table.Field{Type: table.Ordered, Levels: []string{"lo", "mid", "hi"}}, "lo", "hi", "mid"), [3]float64{1, .25, .25}},
		{"category", column(t, table.Field{Type: table.Category}, "b", "a", "b"), [3]float64{1, 0, 1}},
		{"hierarchy", column(t, table.Field{Type: table.Category, Hierarchy: h}, "tea", "milk", "rice"), [3]float64{.5, 1, 1}},
		{"missing word", column(t, table.Field{Type: table.Category}, "b", "", ""), [3]float64{1, 1, 0}},
		{"missing leaf", column(t, table.Field{Type: table.Category, Hierarchy: h}, "tea", "", "milk"), [3]float64{1, .5, 1}},
		// The missing one sits at the mean, 1/2, and at distance 1 beside it.
		{"missing number", column(t, table.Field{Type: table.Integer}, "10", "20", ""), [3]float64{1, 1.25, 1.25}},
		{"all missing", column(t, table.Field{Type: table.Integer}, "", "", ""), [3]float64{}},
	} {
		t.Run(c.name, func(t *testing.T) {
			s, err := space.FromTable([]*table.Column{c.column}, space.MinMax)
			if err != nil {
				t.Fatal(err)
			}
			got := [3]float64{s.Distance2(0, 1), s.Distance2(0, 2), s.Distance2(1, 2)}
			for i := range got {
				if math.Abs(got[i]-c.want[i]) > 1e-12 {
					t.Fatalf("got %v, want %v", got, c.want)
				}
			}
		})
	}
}

// Under z-scores every column that is not constant has sample variance 1, so
// that SST is n-1 times their number.
func TestZScoreWeighsColumnsAlike(t *testing.T) {
	columns := []*table.Column{
		column(t, table.Field{Type: table.Integer}, "10", "20", "15", "7"),
		column(t, table.Field{Type: table.Category}, "a", "a", "b", "c"),
		column(t, table.Field{Type: table.Category}, "a", "a", "a", "a"),
	}
	s, err := space.FromTable(columns, space.ZScore)
	if err != nil {
		t.Fatal(err)
	}
	if got, want := s.SST(), 2.0*3; math.Abs(got-want) > 1e-12 {
		t.Errorf("SST %v, want %v", got, want)
	}
}

func TestNotALeaf(t *testing.T) {
	h, err := table.NewHierarchy("h", [][]string{{"tea", "*"}}, nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := space.FromTable([]*table.Column{column(t, table.Field{Type: table.Category, Hierarchy: h}, "coffee")},
		space.MinMax); err == nil {
		t.Error("a value that is no leaf was taken")
	}
}

func TestValidate(t *testing.T) {
	p := space.Partition{Group: []uint32{0, 0, 1, 1, 1}, Groups: 2}
	if err := p.Validate(2); err != nil {
		t.Error(err)
	}
	if p.Validate(3) == nil {
		t.Error("a group of 2 passed for 3")
	}
	if (space.Partition{Group: []uint32{0, 0}, Groups: 2}).Validate(1) == nil {
		t.Error("an empty group passed")
	}
	if (space.Partition{Group: []uint32{0, 2}, Groups: 2}).Validate(1) == nil {
		t.Error("a group beyond the last passed")
	}
}

func ExampleSpace_Loss() {
	s, _ := space.FromMatrix([][]float64{{1, 2, 9, 10}}, space.MinMax)
	p := space.Partition{Group: []uint32{0, 0, 1, 1}, Groups: 2}
	fmt.Printf("%.4f\n", s.Loss(p))
	// Output: 0.0154
}

func BenchmarkNearLists(b *testing.B) {
	for _, n := range []int{3000, 30_000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			columns := make([][]float64, 8)
			state := uint64(1)
			for a := range columns {
				columns[a] = make([]float64, n)
				for i := range columns[a] {
					state = state*6364136223846793005 + 1442695040888963407
					columns[a][i] = float64(state>>40) / (1 << 24)
					if a > 3 {
						columns[a][i] = columns[a-4][i] + columns[a][i]/4
					}
				}
			}
			s, err := space.FromMatrix(columns, space.MinMax)
			if err != nil {
				b.Fatal(err)
			}
			b.ReportAllocs()
			for b.Loop() {
				if _, err := s.NearLists(context.Background(), 24, space.NearOptions{Ties: space.Cyclic}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
