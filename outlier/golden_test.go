package outlier

import (
	"context"
	"encoding/json"
	"math"
	"os"
	"slices"
	"strconv"
	"testing"

	"github.com/noren-privacy/noren/account"
	"github.com/noren-privacy/noren/table/axis"
)

// goldenCase is a small data set with everything that is known about it.
type goldenCase struct {
	Name       string
	D, K       int
	R2         int64
	Points     [][]int32
	Domain     [][]int32
	Query      int
	Degrees    []int32
	ReplaceOne *struct {
		G      int64
		LS     []int64            `json:"LS_t_exact_over_domain"`
		Seed   []int64            `json:"seed_U_t"`
		Core   []int64            `json:"U_t_core"`
		S      map[string]float64 `json:"S_core"`
		SeedS  map[string]float64 `json:"S_seed_capN"`
		SeedSS map[string]float64 `json:"S_seed_uncapped_t_le_N"`
	} `json:"replace_one"`
	AddRemove *struct {
		G    int64
		LS   []int64            `json:"LS_t_exact_over_domain"`
		Core []int64            `json:"U_t_core"`
		S    map[string]float64 `json:"S_core"`
	} `json:"add_remove"`
}

// golden is testdata/golden.json, made by an independent implementation.
type golden struct {
	Cases   []goldenCase
	Lattice []struct {
		Name   string
		D, K   int
		R2     int64
		Points [][]int32
		Query  int
		RR     []int64 `json:"replace_one_U_t_core_capN"`
		AR     []int64 `json:"add_remove_U_t_core_uncapped"`
	}
	Failure struct {
		D, K, N           int
		Eps, Delta, Alpha float64
		Beta              float64
		SeedX             float64 `json:"seed_S_X"`
		SeedXp            float64 `json:"seed_S_Xp"`
		OursX             float64 `json:"corrected_S_X"`
		OursXp            float64 `json:"corrected_S_Xp"`
	} `json:"privacy_failure"`
	Lomax []struct {
		Eps, Beta, P, A float64
		SD              float64 `json:"std_per_S"`
	}
	Kissing []struct {
		D        int
		Lev, Cap int64
		MV       *int64
	}
	Curves map[string]struct {
		N, D, K, Query int
		R              float64
		U              []int64            `json:"replace_one_U_t_core"`
		S              map[string]float64 `json:"S_core"`
	}
}

func readGolden(t testing.TB) *golden {
	t.Helper()
	raw, err := os.ReadFile("testdata/golden.json")
	if err != nil {
		t.Fatal(err)
	}
	var g golden
	if err := json.Unmarshal(raw, &g); err != nil {
		t.Fatal(err)
	}
	return &g
}

func pointsOf(t testing.TB, d int, rows [][]int32) *axis.Points[int32] {
	t.Helper()
	p, err := NewPoints(d, slices.Concat(rows...), 0)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func betasOf(t testing.TB, s map[string]float64) (betas, want []float64) {
	t.Helper()
	for name, v := range s {
		b, err := strconv.ParseFloat(name, 64)
		if err != nil {
			t.Fatal(err)
		}
		betas, want = append(betas, b), append(want, v)
	}
	return betas, want
}

func checkSmooth(t *testing.T, d *Diagnosis, want []float64) {
	t.Helper()
	for i, s := range d.S {
		if s.S < want[i]*(1-1e-15) || s.S > want[i]*(1+1e-13) {
			t.Errorf("S at beta %g is %.17g, want %.17g", s.Beta, s.S, want[i])
		}
	}
}

func TestGoldenCases(t *testing.T) {
	ctx := context.Background()
	g := readGolden(t)
	if len(g.Cases) < 13 {
		t.Fatalf("%d cases", len(g.Cases))
	}
	for _, c := range g.Cases {
		t.Run(c.Name, func(t *testing.T) {
			points := pointsOf(t, c.D, c.Points)
			for _, coverage := range []Coverage{CoverAuto, CoverCore} {
				betas, want := betasOf(t, c.ReplaceOne.S)
				set := Setting{K: c.K, Radius2: c.R2, Neighbours: account.ReplaceOne, Coverage: coverage}
				d, err := Diagnose(ctx, points, set, len(c.ReplaceOne.Core)-1, betas)
				if err != nil {
					t.Fatal(err)
				}
				if d.Query != c.Query || !slices.Equal(d.Degrees, c.Degrees) {
					t.Errorf("query %d of %v, want %d of %v", d.Query, d.Degrees, c.Query, c.Degrees)
				}
				if d.G != c.ReplaceOne.G || !slices.Equal(d.U, c.ReplaceOne.Core) {
					t.Errorf("replace-one: G %d, U %v, want %d, %v", d.G, d.U, c.ReplaceOne.G, c.ReplaceOne.Core)
				}
				for s, ls := range c.ReplaceOne.LS {
					if d.U[s] < ls {
						t.Errorf("replace-one: U_%d is %d, and a data set that near has local sensitivity %d", s, d.U[s], ls)
					}
				}
				checkSmooth(t, d, want)

				betas, want = betasOf(t, c.AddRemove.S)
				set.Neighbours = account.AddRemove
				if d, err = Diagnose(ctx, points, set, len(c.AddRemove.Core)-1, betas); err != nil {
					t.Fatal(err)
				}
				if d.G != c.AddRemove.G || !slices.Equal(d.U, c.AddRemove.Core) {
					t.Errorf("add-remove: G %d, U %v, want %d, %v", d.G, d.U, c.AddRemove.G, c.AddRemove.Core)
				}
				for s, ls := range c.AddRemove.LS {
					if d.U[s] < ls {
						t.Errorf("add-remove: U_%d is %d, and a data set that near has local sensitivity %d", s, d.U[s], ls)
					}
				}
				checkSmooth(t, d, want)
			}
		})
	}
}

func TestGoldenLattices(t *testing.T) {
	for _, c := range readGolden(t).Lattice {
		points := pointsOf(t, c.D, c.Points)
		for _, coverage := range []Coverage{CoverAuto, CoverCore} {
			set := Setting{K: c.K, Radius2: c.R2, Neighbours: account.ReplaceOne, Coverage: coverage}
			d, err := Diagnose(context.Background(), points, set, len(c.RR)-1, nil)
			if err != nil {
				t.Fatal(err)
			}
			want := slices.Clone(c.RR) // the golden figures are capped by N alone
			for i := range want {
				want[i] = min(want[i], d.G)
			}
			if d.Query != c.Query || !slices.Equal(d.U, want) {
				t.Errorf("%s: query %d, U %v, want %d, %v", c.Name, d.Query, d.U, c.Query, want)
			}
			set.Neighbours = account.AddRemove
			if d, err = Diagnose(context.Background(), points, set, len(c.AR)-1, nil); err != nil {
				t.Fatal(err)
			}
			want = slices.Clone(c.AR)
			for i := range want {
				want[i] = min(want[i], d.G)
			}
			if !slices.Equal(d.U, want) {
				t.Errorf("%s: add-remove U %v, want %v", c.Name, d.U, want)
			}
		}
	}
}

// failure is docs/outliers.md, "What is wrong in the paper", item 3: 39 groups of six at the ends
// of the axes, and one record far away or at the origin.
func failure(t testing.TB, d int, at []int32) *axis.Points[int32] {
	var rows [][]int32
	for g := range 39 {
		row := make([]int32, d)
		if g < d {
			row[g] = 1
		} else {
			row[g-d] = -1
		}
		for range 6 {
			rows = append(rows, row)
		}
	}
	return pointsOf(t, d, append(rows, at))
}

func TestThePapersFailureIsMended(t *testing.T) {
	f := readGolden(t).Failure
	far, origin := make([]int32, f.D), make([]int32, f.D)
	far[0] = 100
	set := Setting{K: f.K, Radius2: 1, Neighbours: account.ReplaceOne}
	var s [2]float64
	for i, at := range [][]int32{far, origin} {
		d, err := Diagnose(context.Background(), failure(t, f.D, at), set, -1, []float64{f.Beta})
		if err != nil {
			t.Fatal(err)
		}
		s[i] = d.S[0].S
		if d.Query != 1-i {
			t.Errorf("query %d, want %d", d.Query, 1-i)
		}
	}
	if math.Abs(s[0]/f.OursX-1) > 1e-13 || math.Abs(s[1]/f.OursXp-1) > 1e-13 {
		t.Errorf("S = %v, want %g and %g", s, f.OursX, f.OursXp)
	}
	if ratio := math.Abs(math.Log(s[0] / s[1])); ratio > f.Beta {
		t.Errorf("the bounds of neighbours differ by e^%g, more than e^%g", ratio, f.Beta)
	}
}

func TestKissing(t *testing.T) {
	for _, k := range readGolden(t).Kissing {
		got := StrictKissing(k.D)
		want := min(k.Lev, k.Cap)
		if k.MV != nil && k.D <= 12 {
			want = *k.MV
		}
		if k.D == 2 {
			want = 5
		}
		if got != want {
			t.Errorf("d = %d: %d, want %d", k.D, got, want)
		}
	}
	// Beyond the table the safe formula takes over, and is not below it.
	last := StrictKissing(40)
	for d := 41; d < 200; d++ {
		next := StrictKissing(d)
		if next < last || next <= 0 {
			t.Fatalf("d = %d: %d after %d", d, next, last)
		}
		last = next
	}
	for _, k := range readGolden(t).Kissing {
		if got := capBound(k.D); got < float64(k.Cap) || got > float64(k.Cap)*(1+2e-9)+1 {
			t.Errorf("d = %d: caps allow %g, want %d", k.D, got, k.Cap)
		}
	}
}

func TestGlobalSensitivity(t *testing.T) {
	for _, c := range []struct {
		neighbours account.Neighbours
		n, d, k    int
		want       int64
	}{
		{account.ReplaceOne, 5, 1, 5, 0},
		{account.ReplaceOne, 6, 1, 5, 6},
		{account.ReplaceOne, 1000, 1, 5, 11},
		{account.ReplaceOne, 1000, 2, 5, 26},
		{account.ReplaceOne, 235, 34, 5, 235},
		{account.AddRemove, 0, 2, 5, 25},
		{account.AddRemove, 1000, 3, 4, 48},
	} {
		if got := GlobalSensitivity(c.neighbours, c.n, c.d, c.k); got != c.want {
			t.Errorf("%v n=%d d=%d k=%d: %d, want %d", c.neighbours, c.n, c.d, c.k, got, c.want)
		}
	}
	if g := GlobalSensitivity(account.AddRemove, 0, 5000, maxK); g != 1<<62 {
		t.Errorf("G = %d must stop at 2^62", g)
	}
}
