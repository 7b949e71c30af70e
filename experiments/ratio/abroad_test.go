package ratio

import (
	"math"
	"os"
	"path/filepath"
	"testing"

	"github.com/noren-privacy/noren/account"
	"github.com/noren-privacy/noren/internal/entropy"
	"github.com/noren-privacy/noren/internal/randtest"
	core "github.com/noren-privacy/noren/ratio"
	"github.com/noren-privacy/noren/table"
	"github.com/noren-privacy/noren/table/axis"
	"github.com/noren-privacy/noren/table/file"
)

// adult.csv, private the people born abroad, public those born in the US: the share above
// 50K by age, education, sex and race is covered, or warned of, by kernels and by
// histograms.
func TestAbroad(t *testing.T) {
	randtest.SkipShort(t)
	testAbroad(t, 1)
}

func TestLongAbroad(t *testing.T) {
	randtest.Long(t)
	testAbroad(t, 5)
}

func testAbroad(t *testing.T, seeds uint64) {
	path := filepath.Join(dataDir(t), "adult.csv")
	if _, err := os.Stat(path); err != nil {
		t.Skip("adult.csv is not there")
	}
	src, err := file.Open(t.Context(), path, file.Options{})
	if err != nil {
		t.Fatal(err)
	}
	fields := []table.Field{
		{Name: "age", Type: table.Decimal},
		{Name: "education"},
		{Name: "sex"},
		{Name: "race"},
		{Name: "native-country"},
		{Name: "salary-class"},
	}
	all, err := table.Read(t.Context(), src, fields, table.ReadOptions{Missing: []string{"?"}})
	if err != nil {
		t.Fatal(err)
	}
	axes, err := core.PublicAxes(all, "age", "education", "sex", "race")
	if err != nil {
		t.Fatal(err)
	}
	frame, err := core.NewFrame(axes)
	if err != nil {
		t.Fatal(err)
	}
	points, err := frame.Points(all)
	if err != nil {
		t.Fatal(err)
	}
	var rows [2][]int // public, private
	country, salary := all.Column("native-country"), all.Column("salary-class")
	for i := range all.Rows {
		if country.IsMissing(i) {
			continue
		}
		side := 1
		if country.Dict[country.Codes[i]] == "United-States" {
			side = 0
		}
		rows[side] = append(rows[side], i)
	}
	var sides [2]*core.Points
	var above [2][]float64
	for side, list := range rows {
		p := axis.NewPoints[float64](len(list), points.Dim)
		for k, i := range list {
			copy(p.Row(k), points.Row(i))
			above[side] = append(above[side], share(salary.Dict[salary.Codes[i]] == ">50K"))
		}
		sides[side] = p
	}
	truth := meanOf(above[1])
	if math.Abs(truth-0.193) > 0.001 {
		t.Fatalf("the truth is %g", truth)
	}
	for _, kind := range []core.Feature{core.KernelFeatures, core.MarginalFeatures} {
		o := core.Options{Public: sides[0], Frame: frame, Features: kind, CountShare: 0.1, OutsideShare: 0.1}
		o.Cost.Epsilon = account.EpsilonUnits
		sides[1].Outside = make([]bool, sides[1].Rows)
		m, err := core.New(t.Context(), o)
		if err != nil {
			t.Fatal(err)
		}
		for seed := range seeds {
			r, err := m.Release(t.Context(), sides[1], entropy.Seeded(seed))
			if err != nil {
				t.Fatal(err)
			}
			w, err := m.Weights(t.Context(), r)
			if err != nil {
				t.Fatal(err)
			}
			a, err := w.Mean(above[0])
			if err != nil {
				t.Fatal(err)
			}
			t.Logf("%s: %.3f +- %.3f, %q", kind, a.Value, a.SE, a.Warnings)
			if math.Abs(a.Value-truth) > 1.96*a.SE && len(a.Warnings) == 0 {
				t.Errorf("%s: %.3f +- %.3f, truth %.3f, and no warning", kind, a.Value, a.SE, truth)
			}
		}
	}
}
