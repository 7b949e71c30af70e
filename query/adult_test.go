package query

import (
	"math"
	"os"
	"path/filepath"
	"testing"

	"github.com/noren-privacy/noren/account"
	"github.com/noren-privacy/noren/internal/randtest"
	"github.com/noren-privacy/noren/table"
	"github.com/noren-privacy/noren/table/tabletest"
)

// adult reads three columns of the census extract (30,162 records).
func adult(t *testing.T) (*table.Table, []table.Field) {
	t.Helper()
	dir := os.Getenv("NOREN_DATA")
	if dir == "" {
		dir = filepath.Join("..", "..", "shared", "data")
	}
	path := filepath.Join(dir, "adult.csv")
	if _, err := os.Stat(path); err != nil {
		t.Skip("the reference data sets are not here: set NOREN_DATA to their folder")
	}
	src := tabletest.CSV(t, path)
	defer func() { _ = src.Close() }()
	fields := []table.Field{{Name: "age", Type: table.Integer}, {Name: "sex"}, {Name: "education"}}
	tab, err := table.Read(t.Context(), src, fields, table.ReadOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return tab, fields
}

// The questions of the issue, on a real table: each answer lies within what was guaranteed
// before asking, at a confidence that a test does not miss.
func TestAdult(t *testing.T) {
	tab, fields := adult(t)
	age, sex := tab.Column("age"), tab.Column("sex")
	exact := map[string][3]float64{} // n, sum, sum of squares by sex
	for i := range tab.Rows {
		word, v := sex.Dict[sex.Codes[i]], age.Number(i)
		e := exact[word]
		exact[word] = [3]float64{e[0] + 1, e[1] + v, e[2] + v*v}
	}
	cost := account.Cost{Epsilon: one / 10}
	for _, kind := range []Kind{Count, Sum, Mean, Variance} {
		o := Options{
			Kind: kind, Fields: fields, By: []string{"sex"}, Keys: [][]string{{"Female"}, {"Male"}, {"None"}}, Cost: cost,
			Level: 1 - 1e-9,
		}
		if kind != Count {
			o.Column, o.Bounds = "age", &Bounds{0, 120}
		}
		q := mustNew(t, o)
		r, err := q.answer(t.Context(), tab, randtest.Source(1))
		if err != nil {
			t.Fatal(err)
		}
		for g, word := range []string{"Female", "Male"} {
			e := exact[word]
			want := map[Kind]float64{Count: e[0], Sum: e[1], Mean: e[1] / e[0], Variance: e[2]/e[0] - e[1]/e[0]*e[1]/e[0]}[kind]
			a, err := q.Accuracy(1-1e-9, int64(e[0]))
			if err != nil || a.HalfWidth == nil {
				t.Fatalf("%s: %+v, %v", kind, a, err)
			}
			got := float64(*r.Groups[g].Value)
			if math.Abs(got-want) > *a.HalfWidth || float64(r.Groups[g].Interval[0]) > want || float64(r.Groups[g].Interval[1]) < want {
				t.Errorf("%s of %s: %g, want %g within %g", kind, word, got, want, *a.HalfWidth)
			}
		}
		// A group without records is answered like any other.
		if none := r.Groups[2]; kind == Count && (none.Value == nil || none.Interval[0] != 0) {
			t.Errorf("%s of an empty group: %s", kind, asJSON(t, none))
		}
	}
	for _, m := range []Noise{Exponential, Smooth} {
		q := mustNew(t, Options{Kind: Quantile, Column: "age", Bounds: &Bounds{0, 120}, Fields: fields, Cost: cost, Noise: m})
		r, err := q.answer(t.Context(), tab, randtest.Source(1))
		if err != nil || math.Abs(float64(*r.Value)-37) > 2 {
			t.Errorf("%s: the median age is %s, %v", m, asJSON(t, r), err)
		}
	}
}

// The yardstick is what it says: for values spread evenly, the error of a median is within
// it with the confidence asked for.
func TestEvenSpread(t *testing.T) {
	randtest.SkipShort(t)
	fields := []table.Field{{Name: "x", Type: table.Decimal}}
	values := make([]float64, 999)
	for i := range values {
		values[i] = float64(i+1) / 10
	}
	tab := numbers(t, values...)
	for _, o := range []Options{{Noise: Exponential}, {Noise: Smooth}} {
		o.Kind, o.Column, o.Bounds, o.Fields, o.Cost.Epsilon = Quantile, "x", &Bounds{0, 100}, fields, one/2
		q := mustNew(t, o)
		a, err := q.Accuracy(0.9, 999)
		if err != nil || a.EvenSpread == nil {
			t.Fatal(err)
		}
		kept, src := 0, randtest.Source(6)
		for range 400 {
			r, err := q.answer(t.Context(), tab, src)
			if err != nil {
				t.Fatal(err)
			}
			if math.Abs(float64(*r.Value)-50) <= *a.EvenSpread {
				kept++
			}
		}
		if kept < 330 || *a.EvenSpread > 25 {
			t.Errorf("%s: %d of 400 within %g", o.Noise, kept, *a.EvenSpread)
		}
	}
}
