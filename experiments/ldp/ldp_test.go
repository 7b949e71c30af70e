package ldp

import (
	"encoding/json"
	"errors"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/noren-privacy/noren"
	"github.com/noren-privacy/noren/internal/randtest"
)

// testdata/oracle.json: the project's golden figures, means over repeats made
// with scikit-learn; its field "protocol" tells how.
type oracleCell struct {
	Mean  float64
	SD    float64 `json:"sd_over_repeats"`
	Curve float64 `json:"sd"` // the same, of the cells of the curves
}

type oracle struct {
	Tables map[string]map[string]oracleCell `json:"tables3to10"`
	Fig2   map[string]map[string]oracleCell
	Fig6   map[string]map[string]oracleCell
	Fig3   map[string]map[string]oracleCell `json:"fig3to5"`
	GRR    map[string]map[string]oracleCell
}

func golden(t *testing.T) *oracle {
	t.Helper()
	b, err := os.ReadFile("testdata/oracle.json")
	if err != nil {
		t.Fatal(err)
	}
	o := new(oracle)
	if err := json.Unmarshal(b, o); err != nil {
		t.Fatal(err)
	}
	return o
}

// find returns the golden cell of a row.
func (o *oracle) find(r Row) (oracleCell, bool) {
	number := func(v float64) string { b, _ := json.Marshal(v); return string(b) }
	switch r.Table {
	case "3", "4", "5", "6", "7", "8", "9", "10":
		name := ""
		for _, s := range settings {
			if p := s.parameters(); p == r.Parameters {
				name = s.name
			}
		}
		side := func(v string) string {
			if v == "ldp" {
				return name
			}
			return v
		}
		c, ok := o.Tables[map[string]string{"svm": "svm", "forest": "rf"}[r.Model]][side(r.Train)+" -> "+side(r.Test)]
		return c, ok
	case "figure 2":
		c, ok := o.Fig2["SVM eps="+number(r.Parameters.Epsilon)][r.Test]
		return c, ok
	case "figure 6":
		c, ok := o.Fig6["RF eps="+number(r.Parameters.Epsilon)][r.Test]
		return c, ok
	case "figure 3", "figure 4", "figure 5":
		name := map[string]string{"all": "all30", "pca5": "pca5", "cov5": "cov5"}[r.Parameters.Attributes]
		c, ok := o.Fig3[name+" eps="+number(r.Parameters.Record)][r.Test]
		return c, ok
	case "improvement":
		e := number(r.Parameters.Epsilon)
		if r.Parameters.Mechanism == "one-time" { // the same channel as in the tables and in Figure 2
			if r.Parameters.Epsilon == 1 {
				return o.Fig2["SVM eps=1"][r.Test], true
			}
			name, ok := map[string]string{"3.6306": "onetime(0.28)", "1.9388": "onetime(0.55)", "1.4618": "onetime(0.65)"}[e]
			test := r.Test
			if test == "ldp" {
				test = name
			}
			return o.Tables["svm"][name+" -> "+test], ok
		}
		if e == "1" {
			e = "1.0"
		}
		c, ok := o.GRR["GRR eps="+e][r.Test]
		return c, ok
	}
	return oracleCell{}, false
}

func dataDir(t *testing.T) string {
	t.Helper()
	dir := os.Getenv("NOREN_DATA")
	if dir == "" {
		dir = filepath.Join("..", "..", "..", "shared", "data")
	}
	if _, err := os.Stat(filepath.Join(dir, "wdbc.csv")); err != nil {
		t.Skipf("the table wdbc.csv is needed: set NOREN_DATA (%v)", err)
	}
	return dir
}

func collect(t *testing.T, o Options) []Row {
	t.Helper()
	o.Dir = dataDir(t)
	var rows []Row
	if err := Reproduce(t.Context(), o, func(r Row) error { rows = append(rows, r); return nil }); err != nil {
		t.Fatal(err)
	}
	return rows
}

// All cells of the tables at few repeats, against the golden means: within what
// the two means may differ by chance, and half a point for what the two ways to
// train differ.
func TestTables(t *testing.T) {
	randtest.SkipShort(t)
	const repeats = 4
	g := golden(t)
	seen := make(map[string]int)
	for _, r := range collect(t, Options{Repeats: repeats, Tables: true}) {
		seen[r.Table]++
		c, ok := g.find(r)
		if r.Table == "1" || r.Table == "2" {
			continue
		}
		if !ok {
			t.Errorf("no golden figure for %+v", r)
			continue
		}
		if within := 0.5 + 5*c.SD*math.Sqrt(1./repeats+1./30); math.Abs(r.Mean-c.Mean) > within {
			t.Errorf("table %s, %s, %s -> %s, %+v: %.2f, golden %.2f, within %.2f", r.Table, r.Model, r.Train, r.Test, r.Parameters, r.Mean, c.Mean,
				within)
		}
		if (r.Train == "ldp" || r.Test == "ldp") != (r.Loss != nil) {
			t.Errorf("table %s: the loss is stated where nothing was randomised, or not where something was", r.Table)
		}
	}
	want := map[string]int{"1": 120, "2": 6, "3": 8, "4": 6, "5": 6, "6": 6, "7": 8, "8": 6, "9": 6, "10": 6}
	if !reflect.DeepEqual(seen, want) {
		t.Errorf("rows by table %v, want %v", seen, want)
	}
}

// At the paper's 30 repeats: every cell of the tables and of the improvement
// within 1.5 points of the golden means (SVM) or 2 (forest). Points of the curves
// at small epsilon spread by up to 10 points from repeat to repeat, on either
// side; they are given four standard errors of the difference, the golden ones
// from at least 10 repeats. (What is left is chance: neither an intercept
// that is not held back nor training to 1e-3 moves those points.) It takes half a
// minute of two processors: set NOREN_REPRODUCE to run it.
func TestReproductionAtThirtyRepeats(t *testing.T) {
	if os.Getenv("NOREN_REPRODUCE") == "" {
		t.Skip("set NOREN_REPRODUCE to run 30 repeats")
	}
	g := golden(t)
	began := time.Now()
	rows := collect(t, Options{})
	t.Logf("%d rows in %v", len(rows), time.Since(began))
	worst := map[string]float64{}
	for _, r := range rows {
		c, ok := g.find(r)
		if !ok {
			if r.Table != "1" && r.Table != "2" && r.Parameters.Epsilon != 2.0761 {
				t.Errorf("no golden figure for %+v", r)
			}
			continue
		}
		off := math.Abs(r.Mean - c.Mean)
		key := r.Model + " " + r.Table
		worst[key] = max(worst[key], off)
		limit := 1.5
		if r.Model == "forest" {
			limit = 2
		}
		if strings.HasPrefix(r.Table, "figure") {
			limit = max(limit, 4*math.Sqrt(r.SD*r.SD/30+c.Curve*c.Curve/10))
		}
		if off > limit {
			t.Errorf("%s, table %s, %s -> %s, %+v: %.2f (sd %.2f), golden %.2f", r.Model, r.Table, r.Train, r.Test, r.Parameters, r.Mean, r.SD,
				c.Mean)
		}
	}
	t.Logf("largest differences in points: %v", worst)
}

// Table 1 agrees with the paper to its three digits but for the two places that
// are named; Table 2 but for the slip.
func TestSlipsAreNamed(t *testing.T) {
	p := newPlan(must(t)(load(dataDir(t))), Options{Repeats: 2})
	notes := make(map[string][]int)
	for _, row := range p.rows[:126] {
		r, err := row()
		if err != nil {
			t.Fatal(err)
		}
		if r.Table == "1" && r.Note != "" {
			notes[r.Note] = append(notes[r.Note], r.Parameters.Attribute)
		}
		if r.Table == "2" {
			notes[r.Note] = append(notes[r.Note], int(math.Round(1000*r.Mean)))
		}
	}
	want := map[string][]int{slipExponent: {4}, roundedData: {6}, slipEpsilon: {1939, 1939}, sameChannel: {3631, 1462, 3631, 1462}}
	if !reflect.DeepEqual(notes, want) {
		t.Errorf("notes %v, want %v", notes, want)
	}
	if got := p.t.chosen; !slices.Equal(got, []int{2, 7, 20, 22, 27}) {
		t.Errorf("covariance chose %v", got)
	}
}

func must(t *testing.T) func(*data, error) *data {
	return func(d *data, err error) *data {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return d
	}
}

func TestLongWorkersChangeNothing(t *testing.T) {
	randtest.Long(t)
	one := collect(t, Options{Repeats: 2, Tables: true, Workers: 1, Seed: 3})
	three := collect(t, Options{Repeats: 2, Tables: true, Workers: 3, Seed: 3})
	if !reflect.DeepEqual(one, three) {
		t.Error("rows depend on the number of workers")
	}
}

func TestRefusals(t *testing.T) {
	nothing := func(Row) error { return nil }
	dir := t.TempDir()
	if err := Reproduce(t.Context(), Options{Dir: dir}, nothing); noren.KindOf(err) != noren.Usage {
		t.Errorf("no table: %v", err)
	}
	for _, text := range []string{"a,b\n1,2\n", "x\n"} {
		if err := os.WriteFile(filepath.Join(dir, "wdbc.csv"), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := Reproduce(t.Context(), Options{Dir: dir}, nothing); noren.KindOf(err) != noren.BadData {
			t.Errorf("%q: %v", text, err)
		}
	}
	if err := Reproduce(t.Context(), Options{Dir: dir, Repeats: 1}, nothing); noren.KindOf(err) != noren.Usage {
		t.Errorf("one repeat: %v", err)
	}
	randtest.SkipShort(t)
	stop := errors.New("stop")
	err := Reproduce(t.Context(), Options{Dir: dataDir(t), Repeats: 2, Tables: true}, func(Row) error { return stop })
	if !errors.Is(err, stop) {
		t.Errorf("emit's error is lost: %v", err)
	}
}
