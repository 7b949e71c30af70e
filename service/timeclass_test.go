package service_test

import (
	"maps"
	"os"
	"slices"
	"testing"

	"github.com/noren-privacy/noren/api"
	"github.com/noren-privacy/noren/internal/randtest"
	"github.com/noren-privacy/noren/service"
)

func TestTimeClass(t *testing.T) {
	c := &api.Calibration{Base: 0.02, Load: 1e-6, Persons: 1e-7, Cell: 1e-6, Record: map[string]float64{"count": 1e-8, "mean": 2e-8, "outliers": 1e-4}}
	one := func(kind string, atMost int64) api.Work {
		return api.Work{AtMost: atMost, Columns: 1, Questions: []api.QuestionWork{{Kind: kind, Columns: 1, Cells: 1}}}
	}
	many := one("count", 1000)
	many.Questions[0].Cells = 1_000_000
	persons := one("count", 10_000_000)
	persons.Persons = true
	for _, x := range []struct {
		name   string
		work   api.Work
		c      *api.Calibration
		memory int64
		want   float64
	}{
		{"a small table", one("count", 100_000), c, 1 << 30, 0.5},          // 3 * 0.021
		{"the largest count", one("count", 20_000_000), c, 1 << 30, 2},     // 3 * 0.22
		{"not in memory", one("count", 20_000_000), c, 1 << 20, 128},       // 3 * 40.2
		{"persons", persons, c, 1 << 30, 8},                                // 3 * 1.12
		{"cells", many, c, 1 << 30, 8},                                     // 3 * 1.02
		{"outliers", one("outliers", 100_000), c, 1 << 30, 32},             // 3 * 10.02
		{"an unknown kind is slow", one("other", 100_000), c, 1 << 30, 32}, // as outliers
		{"no calibration", one("count", 10), nil, 1 << 30, 2},
		{"no calibration, many", one("mean", 20_000_000), nil, 1 << 30, 8}, // 3 * 2.1
	} {
		if got := service.TimeClass(&x.work, x.c, x.memory); got != x.want {
			t.Errorf("%s: class %g, want %g", x.name, got, x.want)
		}
	}
}

func TestCalibrate(t *testing.T) {
	randtest.SkipShort(t)
	dir := t.TempDir()
	c, err := bare(t).Calibrate(t.Context(), &api.CalibrateRequest{Dir: dir, Records: 2000})
	must(t, err)
	// On a busy machine the time of a turn may hide that of 2,000 records.
	if c.Base <= 0 || c.Turn <= 0 || c.Load <= 0 || len(c.Record) != 8 || slices.Min(slices.Collect(maps.Values(c.Record))) < 0 {
		t.Errorf("%+v", c)
	}
	left, err := os.ReadDir(dir)
	must(t, err)
	if len(left) != 0 {
		t.Errorf("left behind: %v", left)
	}
}
