package ratio

import (
	"context"
	"encoding/json"
	"math"
	"strings"
	"testing"

	"github.com/noren-privacy/noren"
	"github.com/noren-privacy/noren/account"
	"github.com/noren-privacy/noren/internal/entropy"
	"github.com/noren-privacy/noren/table"
	"github.com/noren-privacy/noren/table/axis"
)

// The noise of a release is as large as forecast: its standard deviation within 15 %, and
// beyond the half-width no more often than the confidence allows.
func TestAccuracy(t *testing.T) {
	ctx := context.Background()
	e := gaussian(1, 50, 1, 0, 1)
	for _, noise := range []Noise{RKHSPure, Laplace} {
		m, err := New(ctx, Options{Public: e, Cost: milli(1000), Centres: 5, Noise: noise})
		if err != nil {
			t.Fatal(err)
		}
		const n, level, repeats = 100, 0.9, 400
		a, err := m.Accuracy(level, n)
		if err != nil {
			t.Fatal(err)
		}
		if len(a.Kernels) != 1 || a.Kernels[0].B != 5 || a.Kernels[0].Sigma != m.Kernels()[0].Sigma {
			t.Fatalf("%s: %+v", noise, a)
		}
		// Without records the sums are the noise.
		square, beyond := 0.0, 0
		src := entropy.Seeded(7)
		for range repeats {
			r, err := m.Release(ctx, axis.NewPoints[float64](0, 1), src)
			if err != nil {
				t.Fatal(err)
			}
			for _, z := range r.Sums[0] {
				square += z * z / (5 * repeats)
				if math.Abs(z)/n > a.HalfWidth {
					beyond++
				}
			}
		}
		if sd := math.Sqrt(square); math.Abs(sd/a.Kernels[0].NoiseSD-1) > 0.15 {
			t.Errorf("%s: standard deviation %g, forecast %g", noise, sd, a.Kernels[0].NoiseSD)
		}
		if share := float64(beyond) / (5 * repeats); share > 1-level {
			t.Errorf("%s: %g of the errors are beyond the half-width", noise, share)
		}
	}
	m, err := New(ctx, Options{Public: e, Cost: milli(1000), Features: MarginalFeatures})
	if err != nil {
		t.Fatal(err)
	}
	if a, err := m.Accuracy(0.5, 1); err != nil || len(a.Kernels) != 0 {
		t.Errorf("marginals: %+v, %v", a, err)
	}
	for _, bad := range []struct {
		level float64
		n     int64
	}{{0, 1}, {1, 1}, {math.NaN(), 1}, {0.5, 0}} {
		if _, err := m.Accuracy(bad.level, bad.n); noren.KindOf(err) != noren.Usage {
			t.Errorf("%+v: %v", bad, err)
		}
	}
}

// Histograms alone name their own noise, and have no other.
func TestMarginalsNameTheirNoise(t *testing.T) {
	ctx := context.Background()
	e := gaussian(1, 50, 1, 0, 1)
	o := Options{Public: e, Cost: milli(1000), Features: MarginalFeatures}
	m, err := New(ctx, o)
	if err != nil {
		t.Fatal(err)
	}
	text, err := json.Marshal(m.Parameters())
	if err != nil || !strings.Contains(string(text), `"mechanism":"discrete-laplace"`) {
		t.Errorf("parameters %s, %v", text, err)
	}
	g, err := m.Guarantee(account.AddRemove, account.Record)
	if err != nil || strings.Contains(g.Assumptions.Join(" "), "continuous") {
		t.Errorf("assumptions %q, %v", g.Assumptions, err)
	}
	for _, c := range []struct {
		features Feature
		noise    Noise
	}{{MarginalFeatures, RKHSPure}, {MarginalFeatures, Laplace}, {KernelFeatures, DiscreteLaplace}, {BothFeatures, DiscreteLaplace}} {
		o.Features, o.Noise = c.features, c.noise
		if _, err := New(ctx, o); noren.KindOf(err) != noren.Usage {
			t.Errorf("%s with %s: %v", c.features, c.noise, err)
		}
	}
}

func TestShares(t *testing.T) {
	share := func(v float64) *float64 { return &v }
	for _, c := range []struct {
		count, outside         *float64
		n                      account.Neighbours
		wantCount, wantOutside float64
		bad                    bool
	}{
		{n: account.AddRemove, wantCount: 0.1, wantOutside: 0.1},
		{n: account.ReplaceOne, wantOutside: 0.1},
		{count: share(0.2), n: account.AddRemove, wantCount: 0.2},
		{count: share(0), n: account.AddRemove, wantOutside: 0.1},
		{outside: share(0), n: account.AddRemove, wantCount: 0.1},
		{count: share(0.1), outside: share(0.11), n: account.AddRemove, bad: true},
		{count: share(-0.1), n: account.AddRemove, bad: true},
		{outside: share(math.NaN()), n: account.AddRemove, bad: true},
	} {
		count, outside, err := Shares(c.count, c.outside, c.n)
		if c.bad {
			if noren.KindOf(err) != noren.Usage {
				t.Errorf("%+v: %v", c, err)
			}
			continue
		}
		if err != nil || count != c.wantCount || outside != c.wantOutside {
			t.Errorf("%+v: %g, %g, %v", c, count, outside, err)
		}
	}
}

// Remarks name categories that kernels do not tell apart and records without a value.
func TestRemarks(t *testing.T) {
	names := []string{"a", "b", "c", "d"}
	frame, err := NewFrame([]axis.Axis{{Field: table.Field{Name: "ward", Type: table.Category}, Categories: names}})
	if err != nil {
		t.Fatal(err)
	}
	if PreferredFeatures(frame) != MarginalFeatures {
		t.Error("four categories do not prefer marginals")
	}
	e := axis.NewPoints[float64](40, 4)
	for i := range e.Rows {
		e.Row(i)[i%4] = 1 / math.Sqrt2
	}
	e.Row(3)[0] = math.NaN()
	m, err := New(context.Background(), Options{Public: e, Frame: frame, Cost: milli(1000), Centres: 3})
	if err != nil {
		t.Fatal(err)
	}
	got := m.Remarks(3)
	if len(got) != 2 || !strings.Contains(got[0].String(), "3 kernels for columns of 4 categories") ||
		!strings.HasPrefix(got[1].String(), "1 public record ") {
		t.Errorf("remarks %q", got)
	}
	if got := m.Remarks(4); len(got) != 1 {
		t.Errorf("remarks on as many kernels as categories: %q", got)
	}
}

func TestColumnsOfQuestions(t *testing.T) {
	ward := wordColumn(t, table.Field{Name: "ward"}, "a", "c", "b", "c")
	if got := CategoryBins(ward, []string{"c", "a"}); got[0] != 1 || got[1] != 0 || got[2] != -1 || got[3] != 0 {
		t.Errorf("bins of categories %v", got)
	}
	if got := Indicator(ward, 2); got[0] != 0 || got[1] != 1 || got[2] != 0 || got[3] != 1 {
		t.Errorf("indicator %v", got)
	}
	age := wordColumn(t, table.Field{Name: "age", Type: table.Decimal}, "5", "10", "20", "")
	if got := NumberBins(age, []float64{0, 10, 20}); got[0] != 0 || got[1] != 1 || got[2] != -1 || got[3] != -1 {
		t.Errorf("bins of numbers %v", got)
	}
	x, terms, err := Design([]*table.Column{age, ward})
	if err != nil || strings.Join(terms, "; ") != "age; ward = b; ward = c" || x.Rows != 4 || x.Dim != 3 {
		t.Fatalf("design %+v, %q, %v", x, terms, err)
	}
	if row := x.Row(1); row[0] != 10 || row[1] != 0 || row[2] != 1 {
		t.Errorf("row %v", row)
	}
	if q := Typical(ward); q.Name.String() != "share of ward = c" || q.SD != 0.5 {
		t.Errorf("typical question %+v", q)
	}
	if q := Typical(age); q.Name.String() != "mean of age" || math.Abs(q.SD-math.Sqrt(350.0/9)) > 1e-12 {
		t.Errorf("typical question %+v", q)
	}
}
