package report_test

import (
	"context"
	"encoding/csv"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"testing"

	"github.com/noren-privacy/noren"
	"github.com/noren-privacy/noren/assess"
	"github.com/noren-privacy/noren/report"
	"github.com/noren-privacy/noren/table"
)

// build makes a column from texts.
func build(t testing.TB, f table.Field, values []string) *table.Column {
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

func transpose(rows [][]string, column int) []string {
	values := make([]string, len(rows))
	for i, r := range rows {
		values[i] = r[column]
	}
	return values
}

// release groups records that lie near in the order of all columns by k and
// publishes means and modes, rounded to whole numbers, in a shuffled order.
func release(t testing.TB, original *table.Table, k int) *table.Table {
	t.Helper()
	order := make([]int, original.Rows)
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int {
		for j := len(original.Columns) - 1; j >= 0; j-- {
			c := original.Columns[j]
			if d := c.Number(a) - c.Number(b); d != 0 {
				if d < 0 {
					return -1
				}
				return 1
			}
		}
		return a - b
	})
	place := rand.New(rand.NewPCG(5, 6)).Perm(original.Rows)
	out := &table.Table{Rows: original.Rows}
	for _, c := range original.Columns {
		values := make([]string, original.Rows)
		for from := 0; from < len(order); from += k {
			to := from + k
			if len(order)-to < k {
				to = len(order)
			}
			group := order[from:to]
			var word string
			if c.Field.Type.IsNumber() {
				sum, n := 0.0, 0.0
				for _, i := range group {
					if !c.IsMissing(i) {
						sum += c.Number(i)
						n++
					}
				}
				if n > 0 {
					word = strconv.FormatFloat(math.Round(sum/n), 'f', -1, 64)
					if c.Field.Type == table.Date {
						word = c.Field.Layout.Format(int64(math.Round(sum / n)))
					}
				}
			} else {
				count := map[uint32]int{}
				best := c.Codes[group[0]]
				for _, i := range group {
					count[c.Codes[i]]++
					if count[c.Codes[i]] > count[best] {
						best = c.Codes[i]
					}
				}
				word = c.Dict[best]
			}
			for j := from; j < to; j++ {
				values[place[j]] = word
			}
			if to == len(order) {
				break
			}
		}
		out.Columns = append(out.Columns, build(t, c.Field, values))
	}
	return out
}

// assessment measures a table and its release.
func assessment(t testing.TB, original, released *table.Table, k int, fraction float64) *assess.Assessment {
	t.Helper()
	a := &assess.Assessment{Schema: assess.Schema, K: k}
	for _, c := range original.Columns {
		a.Quasi = append(a.Quasi, c.Field.Name)
	}
	for _, x := range []struct {
		table  *table.Table
		risk   **assess.Risk
		unique **assess.Uniqueness
	}{{original, &a.Original, &a.OriginalUniqueness}, {released, &a.Release, &a.ReleaseUniqueness}} {
		if x.table == nil {
			continue
		}
		classes, err := assess.Classify(x.table)
		if err != nil {
			t.Fatal(err)
		}
		if *x.risk, err = assess.NewRisk(classes[0].Size, 0); err != nil {
			t.Fatal(err)
		}
		if fraction > 0 {
			if *x.unique, err = assess.EstimateUniqueness(classes[0].Size, fraction); err != nil {
				t.Fatal(err)
			}
		}
	}
	if released == nil {
		return a
	}
	ratio := a.Release.AverageClassRatio(k)
	a.AverageClassRatio = &ratio
	u, err := assess.Compare(context.Background(), original, released, assess.CompareOptions{Means: true})
	if err != nil {
		t.Fatal(err)
	}
	a.Utility = u
	return a
}

func facts(a *assess.Assessment) report.Facts {
	return report.Facts{
		Original: noren.Place{noren.File("visits.csv")}, Release: "visits.k5.csv",
		Guarantee: &noren.Guarantee{
			Model: "k-anonymity", K: a.K, Quasi: a.Quasi,
			Diversity:   []noren.Diversity{{Column: "diagnosis", Model: "distinct", L: 2}},
			Assumptions: noren.Sentences("An adversary knows at most the quasi-identifiers of a person.", "Each person has one record."),
		},
		Made: []report.Fact{
			{Name: noren.Textf("Method"), Value: report.Verbatim("tomobiki, refined for 20 s")},
			{Name: noren.Textf("k"), Value: report.Verbatim(fmt.Sprint(a.K))},
		},
		Footer: "Made by noren.",
	}
}

// clinic is a small synthetic table with every type of column.
func clinic(t testing.TB, n int) *table.Table {
	rng := rand.New(rand.NewPCG(7, 8))
	departments := []string{"Internal medicine", "Surgery", "Orthopaedics", "Paediatrics", "整形外科", "Dermatology <skin>", "A & E"}
	var rows [][]string
	for range n {
		age := max(0, min(99, int(52+20*rng.NormFloat64())))
		weight := strconv.FormatFloat(max(3, 45+0.4*float64(age)+12*rng.NormFloat64()), 'f', 1, 64)
		if rng.Float64() < 0.03 {
			weight = ""
		}
		day := table.ISODate.Format(int64(19000 + rng.IntN(900)))
		severity := []string{"mild", "moderate", "severe"}[min(2, int(rng.ExpFloat64()))]
		d := departments[min(len(departments)-1, int(rng.ExpFloat64()*1.6))]
		rows = append(rows, []string{strconv.Itoa(age), weight, day, severity, d})
	}
	fields := []table.Field{
		{Name: "age", Type: table.Integer},
		{Name: "weight_kg", Type: table.Decimal},
		{Name: "visit_date", Type: table.Date},
		{Name: "severity", Type: table.Ordered, Levels: []string{"mild", "moderate", "severe"}},
		{Name: "department", Type: table.Category},
	}
	out := &table.Table{Rows: n}
	for j, f := range fields {
		out.Columns = append(out.Columns, build(t, f, transpose(rows, j)))
	}
	return out
}

// dataFile reads a file of the shared data, or skips.
func dataFile(t testing.TB, name string) (header []string, rows [][]string) {
	t.Helper()
	dir := os.Getenv("NOREN_DATA")
	if dir == "" {
		dir = filepath.Join("..", "..", "shared", "data")
	}
	f, err := os.Open(filepath.Join(dir, name))
	if err != nil {
		t.Skipf("needs %s: set NOREN_DATA to the folder that holds it", name)
	}
	defer f.Close()
	all, err := csv.NewReader(f).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	return all[0], all[1:]
}

// keep writes a page for looking at when NOREN_PAGES names a folder.
func keep(t testing.TB, name string, page []byte) {
	if dir := os.Getenv("NOREN_PAGES"); dir != "" {
		if err := os.WriteFile(filepath.Join(dir, name), page, 0o600); err != nil {
			t.Fatal(err)
		}
	}
}
