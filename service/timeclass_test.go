package service_test

import (
	"maps"
	"math"
	"os"
	"slices"
	"strconv"
	"testing"

	"github.com/noren-privacy/noren/api"
	"github.com/noren-privacy/noren/dataset"
	"github.com/noren-privacy/noren/internal/randtest"
	"github.com/noren-privacy/noren/kinds"
	"github.com/noren-privacy/noren/service"
)

func TestTimeClass(t *testing.T) {
	c := &api.Calibration{
		Base: 0.02, Load: 1e-6, Persons: 1e-7, Cell: 1e-6,
		Record: map[string]float64{"count": 1e-8, "mean": 2e-8, "outliers": 1e-4},
	}
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
		if got := service.TimesOf(&x.work, x.c, x.memory).Class; got != x.want {
			t.Errorf("%s: class %g, want %g", x.name, got, x.want)
		}
	}
}

// Questions of numbers alone have times of their own, where a calibration has them.
func TestBoundsOfNumbers(t *testing.T) {
	of := func(kind string, texts bool, terms int, numbers, single map[string]float64) float64 {
		c := &api.Calibration{
			Records: 1000, Base: 0.02, Turn: 0.5, Record: map[string]float64{"count": 4, "mean": 8, "outliers": 16},
			Numbers: numbers, Single: single,
		}
		w := &api.Work{AtMost: 1, Questions: []api.QuestionWork{{Kind: kind, Texts: texts, Terms: terms}}}
		return service.TimesOf(w, c, 1<<30).Bound
	}
	numbers := map[string]float64{"count": 1, "mean": 2}
	single := map[string]float64{"count": 0.25}
	for _, x := range []struct {
		kind            string
		texts           bool
		terms           int
		numbers, single map[string]float64
		want            float64
	}{
		{"count", false, 2, numbers, single, 1.5},
		{"count", true, 2, numbers, single, 4.5},
		{"count", false, 2, nil, nil, 4.5},
		{"count", false, 1, numbers, single, 0.75},
		{"count", false, 0, numbers, single, 0.75},
		{"count", true, 1, numbers, single, 4.5},
		{"count", false, 1, numbers, nil, 1.5},
		{"mean", false, 1, numbers, single, 2.5},
		{"mean", false, 5, numbers, single, 5.5},
		{"mean", true, 5, numbers, single, 20.5},
		{"outliers", false, 0, numbers, single, 16.5},
		{"other", false, 0, numbers, single, 16.5},
	} {
		if got := of(x.kind, x.texts, x.terms, x.numbers, x.single); math.Abs(got-x.want) > 1e-9 {
			t.Errorf("%s, texts %t, %d terms, %d numbers: %g, want %g", x.kind, x.texts, x.terms, len(x.numbers), got, x.want)
		}
	}
}

// A look-up of a value in the list of a group, and the search of one of many bins, count for each record.
func TestBoundsOfGroups(t *testing.T) {
	s, _ := granted(t, "a,b,w\n1,2,x\n", &dataset.Definition{AtMost: 10_000_000, Columns: []dataset.Column{
		{Name: "a", Type: "integer"}, {Name: "b", Type: "decimal"}, {Name: "w", Keys: []string{"x", "y", "z"}},
	}})
	edges := make([]string, 1025)
	for i := range edges {
		edges[i] = strconv.Itoa(i)
	}
	c := &api.Calibration{
		Records: 200_000, Record: map[string]float64{"count": 3e-8, "histogram": 5e-8},
		Numbers: map[string]float64{"count": 7e-9, "histogram": 2e-8}, Single: map[string]float64{"count": 4e-9, "histogram": 1e-8},
	}
	for name, x := range map[string]struct {
		q               api.Question
		grouped, listed int
		seconds         float64 // for a record
	}{
		"all":               {api.Question{Of: kinds.Count{}}, 0, 1, 4e-9},
		"groups of numbers": {api.Question{Of: kinds.Count{By: []string{"a", "b"}, Keys: [][]string{{"1", "2"}, {"3"}}}}, 2, 2, 4e-9 + 6*3e-8},
		"groups of texts":   {api.Question{Of: kinds.Count{By: []string{"w"}}}, 1, 3, 3e-8 + 2*3e-8},
		"many groups":       {api.Question{Of: kinds.Count{By: []string{"a"}, Keys: [][]string{edges[:1024]}}}, 1, 1024, 4e-9 + 3*3e-8*3},
		"listed values":     {api.Question{Of: kinds.Histogram{Column: "w"}}, 1, 3, 5e-8 + 2*3e-8},
		"few bins":          {api.Question{Of: kinds.Histogram{Column: "b", Bins: edges[:65]}}, 0, 64, 1e-8},
		"many bins":         {api.Question{Of: kinds.Histogram{Column: "b", Bins: edges}}, 0, 1024, 1e-8 + 4*5e-8},
	} {
		x.q.Pay = &api.Amount{Epsilon: "0.1"}
		price, err := s.AskPrice(t.Context(), &api.AskRequest{Dataset: "people", Questions: []api.Question{x.q}})
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		q := price.Work.Questions[0]
		if got := service.TimesOf(&price.Work, c, 1<<40).Bound / 1e7; q.Grouped != x.grouped || q.Listed != x.listed ||
			math.Abs(got-x.seconds) > 1e-12 {
			t.Errorf("%s: %+v, %g s for a record, want %d columns, %d values, %g s", name, q, got, x.grouped, x.listed, x.seconds)
		}
	}
}

// Which columns a question reads decides, not what they hold.
func TestTextsOfQuestions(t *testing.T) {
	s, _ := granted(t, "age,x,sex,day\n1,0.5,f,2026-01-01\n", &dataset.Definition{AtMost: 10, Columns: []dataset.Column{
		{Name: "age", Type: "integer", Bounds: []string{"0", "110"}},
		{Name: "x", Type: "decimal", Bounds: []string{"0", "1"}},
		{Name: "sex", Keys: []string{"f", "m"}},
		{Name: "day", Type: "date", Bounds: []string{"2020-01-01", "2030-01-01"}},
	}})
	for where, want := range map[string]bool{
		"": false, "age >= 3 and x < 0.5": false, "age >= 3 and sex = 'f'": true,
		"day > '2026-01-01'": true,
	} {
		p, err := s.AskPrice(t.Context(), &api.AskRequest{
			Dataset:   "people",
			Questions: []api.Question{{Of: kinds.Mean{Column: "age", Where: where}, Pay: &api.Amount{Epsilon: "0.1"}}},
		})
		must(t, err)
		if got := p.Work.Questions[0].Texts; got != want {
			t.Errorf("%q: texts %t", where, got)
		}
	}
}

func TestCalibrate(t *testing.T) {
	randtest.SkipShort(t)
	dir := t.TempDir()
	c, err := bare(t).Calibrate(t.Context(), &api.CalibrateRequest{Dir: dir, Records: 2000})
	must(t, err)
	// On a busy machine the time of a turn may hide that of 2,000 records.
	if c.Base <= 0 || c.Turn <= 0 || c.Load <= 0 || len(c.Record) != 8 || len(c.Numbers) != 5 || len(c.Single) != 5 ||
		slices.Min(slices.Collect(maps.Values(c.Record))) < 0 {
		t.Errorf("%+v", c)
	}
	left, err := os.ReadDir(dir)
	must(t, err)
	if len(left) != 0 {
		t.Errorf("left behind: %v", left)
	}
}
