package paper_test

import (
	"context"
	"encoding/json"
	"math"
	"os"
	"slices"
	"strconv"
	"testing"

	"pgregory.net/rapid"

	"github.com/noren-privacy/noren/outlier"
	"github.com/noren-privacy/noren/outlier/paper"
)

type goldenCase struct {
	Name       string
	D, K       int
	R2         int64
	Points     [][]int64
	Domain     [][]int64
	Query      int
	ReplaceOne *struct {
		Seed     []int              `json:"seed_U_t"`
		Capped   map[string]float64 `json:"S_seed_capN"`
		Uncapped map[string]float64 `json:"S_seed_uncapped_t_le_N"`
	} `json:"replace_one"`
}

// cases are golden figures, by an independent implementation.
func cases(t *testing.T) []goldenCase {
	t.Helper()
	raw, err := os.ReadFile("../testdata/golden.json")
	if err != nil {
		t.Fatal(err)
	}
	var g struct{ Cases []goldenCase }
	if err := json.Unmarshal(raw, &g); err != nil {
		t.Fatal(err)
	}
	return g.Cases
}

func TestThePapersBoundIsAsGolden(t *testing.T) {
	for _, c := range cases(t) {
		d := paper.New(c.Points, c.K, c.R2)
		if d.Outliers() != c.Query {
			t.Errorf("%s: query %d, want %d", c.Name, d.Outliers(), c.Query)
		}
		bound := func(s int) int { return d.Bound(s, d.OverDomain(c.Domain)) }
		var u []int
		for s := range c.ReplaceOne.Seed {
			u = append(u, bound(s))
		}
		if !slices.Equal(u, c.ReplaceOne.Seed) {
			t.Errorf("%s: U %v, want %v", c.Name, u, c.ReplaceOne.Seed)
		}
		n := len(c.Points)
		for name, want := range c.ReplaceOne.Capped {
			beta, err := strconv.ParseFloat(name, 64)
			if err != nil {
				t.Fatal(err)
			}
			if got := paper.SmoothCapped(n, beta, bound); math.Abs(got-want) > 1e-12*want {
				t.Errorf("%s: S at %g is %.17g, want %.17g", c.Name, beta, got, want)
			}
			most := 0.0
			for s := 0; s <= n; s++ {
				most = max(most, math.Exp(-beta*float64(s))*float64(bound(s)))
			}
			if want := c.ReplaceOne.Uncapped[name]; math.Abs(most-want) > 1e-12*want {
				t.Errorf("%s: uncapped S at %g is %.17g, want %.17g", c.Name, beta, most, want)
			}
		}
	}
}

// docs/outliers.md, "What is wrong in the paper", item 1: the printed bound is below the local
// sensitivity, already at t = 0 and in the smallest case.
func TestThePapersBoundIsNoBound(t *testing.T) {
	d := paper.New([][]int64{{0}, {4}, {20}}, 1, 4)
	moved := paper.New([][]int64{{0}, {4}, {2}}, 1, 4)
	sensitivity := d.Outliers() - moved.Outliers()
	if sensitivity != 3 {
		t.Fatalf("moving 20 to 2 changes the query by %d", sensitivity)
	}
	if u := d.Bound(0, d.Anywhere); u != 2 {
		t.Errorf("the printed bound is %d, the note says 2", u)
	}
	if u := d.BoundOverDomain(0, d.Anywhere); u < sensitivity {
		t.Errorf("with the maximum over the domain it is %d", u)
	}
}

// Item 2: with that mended it is still not smooth.
func TestTheMendedBoundIsNotSmooth(t *testing.T) {
	const beta = 0.3
	var s [2]float64
	for _, c := range cases(t) {
		d := paper.New(c.Points, c.K, c.R2)
		bound := func(s int) int { return d.BoundOverDomain(s, d.OverDomain(c.Domain)) }
		switch c.Name {
		case "ce4_smooth_X":
			s[0] = paper.SmoothCapped(len(c.Points), beta, bound)
		case "ce4_smooth_Xp":
			s[1] = paper.SmoothCapped(len(c.Points), beta, bound)
		}
	}
	if ratio := s[1] / s[0]; math.Abs(ratio-1.687) > 0.001 || ratio < math.Exp(beta) {
		t.Errorf("ratio %g, the note says 1.687 and e^0.3 is %g", ratio, math.Exp(beta))
	}
}

// Algorithm 2 stops by a bound that its terms do not respect.
func TestAlgorithm2DependsOnWhereItStops(t *testing.T) {
	d := paper.New([][]int64{{0}, {4}, {20}}, 1, 4)
	bound := func(s int) int { return d.Bound(s, d.Anywhere) }
	if got, all := paper.Smooth(3, 0.1, bound), 4.4449093240903075; got >= all*(1+1e-12) || got < 2 {
		t.Errorf("S = %g, the full maximum is %g", got, all)
	}
	if capped := paper.SmoothCapped(3, 0.1, bound); paper.Smooth(3, 0.1, bound) <= capped {
		t.Errorf("capping by N changed nothing: %g", capped)
	}
}

func points(t *rapid.T, d, most int) [][]int64 {
	width := rapid.Int64Range(1, 12).Draw(t, "width")
	return rapid.SliceOfN(rapid.SliceOfN(rapid.Int64Range(0, width), d, d), 1, most).Draw(t, "points")
}

func cover(t *rapid.T, rows [][]int64, r2 int64, c outlier.Coverage) int {
	var coords []int32
	for _, row := range rows {
		for _, x := range row {
			coords = append(coords, int32(x))
		}
	}
	p, err := outlier.NewPoints(len(rows[0]), coords, 0)
	if err != nil {
		t.Fatal(err)
	}
	n, err := outlier.Cover(context.Background(), p, r2, c)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// The enumeration of smallest enclosing balls, in rationals, is the oracle.
func TestExactCoverageIsTheLargestBall(t *testing.T) {
	for d := 1; d <= 2; d++ {
		rapid.Check(t, func(t *rapid.T) {
			rows := points(t, d, 8)
			r2 := rapid.Int64Range(0, 30).Draw(t, "r2")
			want := 0
			for _, b := range paper.Enumerate(rows, r2) {
				want = max(want, len(b.Members))
			}
			exact := cover(t, rows, r2, outlier.CoverExact)
			core := cover(t, rows, r2, outlier.CoverCore)
			if exact != want {
				t.Fatalf("exact coverage %d, the largest ball holds %d", exact, want)
			}
			if core < want || d == 1 && core != want {
				t.Fatalf("core %d, the largest ball holds %d", core, want)
			}
		})
	}
}

func TestCoreIsAdmissible(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		d := rapid.IntRange(1, 3).Draw(t, "d")
		rows := points(t, d, 30)
		r2 := rapid.Int64Range(0, 40).Draw(t, "r2")
		all, less := cover(t, rows, r2, outlier.CoverCore), 0
		if len(rows) > 1 {
			less = cover(t, rows[1:], r2, outlier.CoverCore)
		}
		if less > all || all > less+1 {
			t.Fatalf("%d points have %d, one fewer have %d", len(rows), all, less)
		}
		if d == 2 {
			if exact := cover(t, rows, r2, outlier.CoverExact); all < exact {
				t.Fatalf("core %d, exact %d", all, exact)
			}
		}
	})
}

func TestEnclosingBalls(t *testing.T) {
	// An equilateral triangle does not exist on a grid; the right one's ball has
	// the hypotenuse as its diameter, and an acute one's passes through all.
	for _, c := range []struct {
		points [][]int64
		r2     string
	}{
		{[][]int64{{0, 0}}, "0/1"},
		{[][]int64{{0, 0}, {3, 0}}, "9/4"},
		{[][]int64{{0, 0}, {4, 0}, {0, 2}}, "5/1"},
		{[][]int64{{0, 0}, {4, 0}, {2, 3}, {2, 1}}, "169/36"},
		{[][]int64{{0, 0, 0}, {2, 0, 0}, {0, 2, 0}, {0, 0, 2}}, "8/3"},
		{[][]int64{{1, 1}, {1, 1}, {1, 1}}, "0/1"},
	} {
		largest := paper.Ball{}
		for _, b := range paper.Enumerate(c.points, 1000) {
			if len(b.Members) > len(largest.Members) {
				largest = b
			}
		}
		if len(largest.Members) != len(c.points) || largest.Radius2.String() != c.r2 {
			t.Errorf("%v: radius^2 %v about %d points, want %s", c.points, largest.Radius2, len(largest.Members), c.r2)
		}
	}
	if all := paper.Enumerate([][]int64{{0}, {5}}, 4); len(all) != 2 {
		t.Errorf("two points too far apart make %d balls, want one each", len(all))
	}
}

func TestTheoremsOfThePaper(t *testing.T) {
	if a := paper.Alpha(0.5, 1e-3); math.Abs(a-0.025647936069394733) > 1e-15 {
		t.Errorf("alpha %.17g", a)
	}
	if b := paper.Beta(0.5, 1e-3); math.Abs(b-0.014533358631607488) > 1e-15 {
		t.Errorf("beta %.17g", b)
	}
	if g := paper.GlobalLower(235, 34, 5); g != 235 {
		t.Errorf("global %d", g)
	}
	// The golden table's GS_gauss_paper of ionosphere at epsilon 0.5, delta 1e-3.
	if s := paper.GlobalSD(235, 0.5, 1e-3); math.Abs(s-1832.5061273091808) > 1e-9 {
		t.Errorf("sd %.17g", s)
	}
}
