package outlier

import (
	"context"
	"errors"
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/noren-privacy/noren/account"
	"github.com/noren-privacy/noren/table/axis"
)

// anySet draws a small set and a setting.
func anySet(t *rapid.T) (*axis.Points[int32], Setting) {
	d := rapid.IntRange(1, 3).Draw(t, "d")
	n := rapid.IntRange(0, 40).Draw(t, "n")
	width := rapid.Int32Range(0, 20).Draw(t, "width")
	coords := rapid.SliceOfN(rapid.Int32Range(0, width), n*d, n*d).Draw(t, "coords")
	p, err := NewPoints(d, coords, rapid.IntRange(0, 3).Draw(t, "alone"))
	if err != nil {
		t.Fatal(err)
	}
	return p, Setting{
		K:          rapid.IntRange(1, 6).Draw(t, "k"),
		Radius2:    rapid.Int64Range(0, 60).Draw(t, "r2"),
		Neighbours: account.Neighbours(rapid.IntRange(0, 1).Draw(t, "neighbours")),
		Coverage:   rapid.SampledFrom([]Coverage{CoverAuto, CoverCore}).Draw(t, "coverage"),
	}
}

// literal computes U_t as theorems 2 and 3 write it, from nothing but distances.
func literal(t *rapid.T, p *axis.Points[int32], set Setting, s int) int64 {
	ctx, d, n := context.Background(), p.Dim, p.Records()
	placed := len(p.Data) / d
	near := func(i, j int) bool {
		if i == j {
			return true
		}
		if i >= placed || j >= placed {
			return false
		}
		var sum int64
		for k := range d {
			e := int64(p.Data[i*d+k]) - int64(p.Data[j*d+k])
			sum += e * e
		}
		return sum <= set.Radius2
	}
	degree := make([]int, n)
	for i := range n {
		for j := range n {
			if i != j && near(i, j) {
				degree[i]++
			}
		}
	}
	oc := func(low, high int) int64 {
		best := int64(0)
		for a := range n {
			c := int64(0)
			for i := range n {
				if i != a && near(i, a) && low <= degree[i] && degree[i] <= high {
					c++
				}
			}
			best = max(best, c)
		}
		return best
	}
	ic := func(low, high int) int64 {
		var coords []int32
		alone := 0
		for i := range n {
			if low <= degree[i] && degree[i] <= high {
				if i >= placed {
					alone++
					continue
				}
				coords = append(coords, p.Data[i*d:(i+1)*d]...)
			}
		}
		w, err := NewPoints(d, coords, alone)
		if err != nil {
			t.Fatal(err)
		}
		c, err := Cover(ctx, w, set.Radius2, set.Coverage)
		if err != nil {
			t.Fatal(err)
		}
		return int64(c)
	}
	g := GlobalSensitivity(set.Neighbours, n, d, set.K)
	if set.Neighbours == account.ReplaceOne {
		return min(g, max(oc(set.K-s, set.K+s), ic(set.K-1-s, set.K-1+s))+int64(s)+1)
	}
	best := int64(1)
	for q := 0; q <= s; q++ {
		best = max(best, int64(q)+oc(set.K-q, set.K+s-q), int64(q)+ic(set.K-1-q, set.K-1+s-q))
	}
	return min(g, best)
}

func TestBoundsAreTheTheorems(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p, set := anySet(t)
		// In any order, as the search asks for them.
		profile, err := newProfile(context.Background(), p, set, math.MaxInt32)
		if err != nil {
			t.Fatal(err)
		}
		for _, s := range rapid.SliceOfN(rapid.IntRange(0, 12), 1, 5).Draw(t, "t") {
			got, err := profile.bound(context.Background(), s)
			if err != nil {
				t.Fatal(err)
			}
			if want := literal(t, p, set, s); got != want {
				t.Fatalf("U_%d is %d, want %d", s, got, want)
			}
		}
	})
}

// Stopping, strides and skipped intervals change nothing: S is the maximum over
// all t, and so is the level.
func TestSmoothIsTheFullMaximum(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p, set := anySet(t)
		beta := rapid.SampledFrom([]float64{0.02, 0.1, 0.3, 1, 3}).Draw(t, "beta")
		most := int(math.Log(1000)/beta) + 2
		d, err := Diagnose(context.Background(), p, set, most, []float64{beta})
		if err != nil {
			t.Fatal(err)
		}
		want, level := 0.0, math.Inf(-1)
		for s, u := range d.U {
			want = max(want, math.Exp(-beta*float64(s))*float64(u))
			if u > 0 {
				level = max(level, math.Ceil(up(math.Log(float64(u))/beta))-float64(s))
			}
			if s > 0 && u < d.U[s-1] {
				t.Fatalf("U falls: %v", d.U)
			}
		}
		if s := d.S[0].S; s < want || s > want*(1+1e-14) {
			t.Fatalf("S = %.17g, want %.17g", s, want)
		}
		q, s, err := count(context.Background(), p, set, beta) // with cut degrees
		if err != nil || q != d.Query || s != d.S[0].S {
			t.Fatalf("with cut degrees: %d, %.17g, %v; want %d, %.17g", q, s, err, d.Query, d.S[0].S)
		}
		if d.G == 0 {
			return
		}
		profile, err := newProfile(context.Background(), p, set, reach(set, p.Records(), p.Dim, beta))
		if err != nil {
			t.Fatal(err)
		}
		l, err := profile.level(context.Background(), beta)
		if err != nil || float64(l) != level {
			t.Fatalf("level %d, want %g (%v)", l, level, err)
		}
		if e := math.Exp(beta * float64(l)); e < want*(1-1e-12) || e > want*math.Exp(beta)*(1+1e-12) {
			t.Fatalf("e^{beta L} = %g, S = %g", e, want)
		}
	})
}

// Neighbours' S differ by at most e^beta, and their levels by at most 1.
func TestNeighboursAreSmooth(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p, set := anySet(t)
		d := p.Dim
		if len(p.Data) == 0 {
			return
		}
		beta := rapid.SampledFrom([]float64{0.02, 0.1, 0.3, 1}).Draw(t, "beta")
		other := slices.Clone(p.Data)
		alone := p.Unplaced
		i := rapid.IntRange(0, len(other)/d-1).Draw(t, "record")
		if set.Neighbours == account.ReplaceOne {
			if rapid.Bool().Draw(t, "loses its place") {
				other, alone = slices.Delete(other, i*d, i*d+d), alone+1
			} else {
				copy(other[i*d:], rapid.SliceOfN(rapid.Int32Range(0, 20), d, d).Draw(t, "to"))
			}
		} else {
			other = slices.Delete(other, i*d, i*d+d)
		}
		q, err := NewPoints(d, other, alone)
		if err != nil {
			t.Fatal(err)
		}
		var s [2]float64
		var l, query [2]int64
		for k, points := range []*axis.Points[int32]{p, q} {
			profile, err := newProfile(context.Background(), points, set, reach(set, points.Records(), d, beta))
			if err != nil {
				t.Fatal(err)
			}
			query[k] = int64(profile.query())
			if s[k], err = profile.smooth(context.Background(), beta); err != nil {
				t.Fatal(err)
			}
			if l[k], err = profile.level(context.Background(), beta); err != nil {
				t.Fatal(err)
			}
		}
		if s[0] > s[1]*math.Exp(beta)*(1+1e-14) || s[1] > s[0]*math.Exp(beta)*(1+1e-14) {
			t.Fatalf("S %v, e^beta %g", s, math.Exp(beta))
		}
		if l[0]-l[1] > 1 || l[1]-l[0] > 1 {
			t.Fatalf("levels %v", l)
		}
		if diff := math.Abs(float64(query[0] - query[1])); diff > min(s[0], s[1]) {
			t.Fatalf("the query changes by %g, S is %v", diff, s)
		}
	})
}

func TestSpecialSets(t *testing.T) {
	ctx := context.Background()
	same := make([]int32, 2*50)
	for _, c := range []struct {
		name   string
		coords []int32
		alone  int
		set    Setting
		query  int
		u0     int64
	}{
		{"no record, add-remove", nil, 0, Setting{K: 3, Radius2: 4}, 0, 1},
		{"no record, replace-one", nil, 0, Setting{K: 3, Radius2: 4, Neighbours: account.ReplaceOne}, 0, 0},
		{"all at one place", same, 0, Setting{K: 3, Radius2: 0, Neighbours: account.ReplaceOne}, 0, 1},
		{"all at one place, k just reached", same, 0, Setting{K: 49, Radius2: 0, Neighbours: account.ReplaceOne}, 0, 50},
		{"all at one place, k just missed", same, 0, Setting{K: 50, Radius2: 0}, 50, 50},
		{"k = 1, one record", []int32{7, 7}, 0, Setting{K: 1, Radius2: 4}, 1, 1},
		{"k = 1, two apart", []int32{0, 0, 9, 9}, 0, Setting{K: 1, Radius2: 4, Neighbours: account.ReplaceOne}, 2, 2},
		{"only records without a place", nil, 10, Setting{K: 2, Radius2: 4, Neighbours: account.ReplaceOne}, 10, 1},
	} {
		p, err := NewPoints(2, c.coords, c.alone)
		if err != nil {
			t.Fatal(err)
		}
		d, err := Diagnose(ctx, p, c.set, 2, []float64{0.1})
		if err != nil {
			t.Fatalf("%s: %v", c.name, err)
		}
		if d.Query != c.query || d.U[0] != c.u0 {
			t.Errorf("%s: query %d, U %v, want %d, U_0 = %d", c.name, d.Query, d.U, c.query, c.u0)
		}
	}
}

func TestRefusals(t *testing.T) {
	ctx := context.Background()
	p, err := NewPoints(3, make([]int32, 9), 0)
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range []Setting{
		{K: 0, Radius2: 1},
		{K: 1, Radius2: -1},
		{K: 1, Radius2: 1<<60 + 1},
		{K: 1, Radius2: 1, Neighbours: 9},
		{K: 1, Radius2: 1, Coverage: CoverExact},
		{K: 1, Radius2: 1, Coverage: 9},
	} {
		if _, err := Diagnose(ctx, p, s, 0, nil); err == nil {
			t.Errorf("%+v was taken", s)
		}
	}
	for _, beta := range []float64{0, -1, math.NaN(), math.Inf(1)} {
		if _, err := Diagnose(ctx, p, Setting{K: 1}, 0, []float64{beta}); err == nil {
			t.Errorf("beta %g was taken", beta)
		}
	}
	if _, err := NewPoints(2, make([]int32, 3), 0); err == nil {
		t.Error("three coordinates in the plane were taken")
	}
	if _, err := NewPoints(2, nil, -1); err == nil {
		t.Error("fewer than no records were taken")
	}
	ended, stop := context.WithCancel(ctx)
	stop()
	if _, err := Diagnose(ended, p, Setting{K: 1}, 0, nil); !errors.Is(err, context.Canceled) {
		t.Errorf("after the end: %v", err)
	}
}

// count returns the number of outliers and the smooth bound for beta, counting
// no further than that needs.
func count(ctx context.Context, points *axis.Points[int32], set Setting, beta float64) (query int, s float64, err error) {
	p, err := newProfile(ctx, points, set, reach(set, points.Records(), points.Dim, beta))
	if err != nil {
		return 0, 0, err
	}
	s, err = p.smooth(ctx, beta)
	return p.query(), s, err
}
