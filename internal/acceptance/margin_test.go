package acceptance

import (
	"bytes"
	"encoding/csv"
	"fmt"
	"io/fs"
	"maps"
	"math"
	"strconv"
	"sync"
	"testing"

	"github.com/noren-privacy/noren/examples/clinic"
	"github.com/noren-privacy/noren/internal/randtest"
)

// A figure is a question about the clinic with its exact answer, by an own count.
type figure struct {
	ask    question
	within float64
	about  int
	exact  float64
}

// figures reads the clinic's visits, and counts and sums without the product's code.
func figures(t *testing.T) []figure {
	t.Helper()
	text, err := fs.ReadFile(clinic.FS(), clinic.VisitsFile)
	if err != nil {
		t.Fatal(err)
	}
	rows, err := csv.NewReader(bytes.NewReader(text)).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	column := map[string]int{}
	for i, name := range rows[0] {
		column[name] = i
	}
	var older, female, cost, costOlder float64
	for _, row := range rows[1:] {
		age, err := strconv.Atoi(row[column["age"]])
		if err != nil {
			t.Fatal(err)
		}
		yen, err := strconv.ParseFloat(row[column["cost_yen"]], 64)
		if err != nil {
			yen = 0 // a missing cell adds nothing to a sum
		}
		yen = math.Min(yen, 20_000)
		cost += yen
		if age >= 65 {
			older++
			costOlder += yen
		}
		if row[column["sex"]] == "female" {
			female++
		}
	}
	bounds := []string{"0", "20000"}
	return []figure{
		{question{"kind": "count", "where": "age >= 65"}, 60, 2000, older},
		{question{"kind": "count", "where": "sex = 'female'"}, 25, 2500, female},
		{question{"kind": "sum", "column": "cost_yen", "bounds": bounds}, 900_000, 5000, cost},
		{question{"kind": "sum", "column": "cost_yen", "bounds": bounds, "where": "age >= 65"}, 400_000, 2000, costOlder},
	}
}

// testMargin asks about the clinic at margins of 95% and counts the answers within them.
func testMargin(t *testing.T, answers int) {
	s := serve(t)
	u := s.steward(t)
	book := u.addClinic(t, setting{"epsilon": "100000", "unit": "record", "at_most": 10_000})
	analyst := u.analyst(t, "K. Sato", book, setting{"epsilon": "100000"})
	all := figures(t)
	quotes := make([]*quote, len(all))
	for i, f := range all {
		quotes[i] = analyst.quote(t, map[string]any{
			"book": book, "questions": []question{f.ask}, "margin": []any{map[string]any{"within": f.within, "at": "0.95", "about": f.about}},
		})
		if w := quotes[i].Questions[0].Accuracy.Within; w == nil || *w > f.within {
			t.Fatalf("a margin of %g was asked for, %v is quoted", f.within, w)
		}
	}
	off := make([]float64, answers) // the distance to the exact figure over the margin
	replies := make([]*reply, answers)
	var group sync.WaitGroup
	slots := make(chan struct{}, 100)
	for n := range answers {
		slots <- struct{}{}
		group.Go(func() {
			defer func() { <-slots }()
			replies[n] = analyst.pay(t.Context(), quotes[n%len(all)], fmt.Sprint("answer ", n))
		})
	}
	group.Wait()
	for n, r := range replies {
		var a answer
		if r.err != nil || r.status != 200 {
			t.Fatalf("%s", r)
		}
		r.decode(t, &a)
		value, ok := a.Questions[0].Result.Rows[0].Value.(float64)
		if !ok {
			t.Fatalf("the value is no number: %s", r)
		}
		f := all[n%len(all)]
		off[n] = math.Abs(value-f.exact) / f.within
	}
	within := func(factor float64) (hits int) {
		for _, x := range off {
			if factor*x <= 1 {
				hits++
			}
		}
		return hits
	}
	hits, wide := within(1), within(1.3)
	if p := tooFew(hits, answers, 0.95); p < 1e-6 {
		t.Errorf("%d of %d answers are within their margin of 95%%: p = %.2g", hits, answers, p)
	}
	p := tooFew(wide, answers, 0.95)
	if answers >= 2000 && p >= 1e-6 {
		t.Errorf("noise that is 1.3 times as wide passes: %d of %d, p = %.2g", wide, answers, p)
	}
	t.Logf("%d of %d answers within their margin of 95%% (%.2f%%); with noise 1.3 times as wide %d (p = %.2g)", hits, answers,
		100*float64(hits)/float64(answers), wide, p)
}

// addClinic adds the synthetic clinic and opens its book.
func (u *user) addClinic(t *testing.T, more setting) string {
	t.Helper()
	text, err := fs.ReadFile(clinic.FS(), clinic.VisitsFile)
	if err != nil {
		t.Fatal(err)
	}
	var added struct {
		Table struct{ ID string }
		Job   job
	}
	u.must(t, 202, "POST", "/tables", map[string]any{"source": map[string]any{"kind": "upload", "upload": u.upload(t, "clinic.csv", text)}},
		&added)
	u.wait(t, added.Job.ID)
	var proposed struct {
		Columns []struct {
			Name, Type, Role, Format string
			Order                    []string
		} `json:"columns_detail"`
	}
	tag := u.must(t, 200, "GET", "/tables/"+added.Table.ID, nil, &proposed).header.Get("ETag")
	var columns []any
	for _, c := range proposed.Columns {
		one := map[string]any{"name": c.Name, "type": c.Type, "role": c.Role}
		if c.Format != "" {
			one["format"] = c.Format
		}
		if len(c.Order) > 0 {
			one["order"] = c.Order
		}
		columns = append(columns, one)
	}
	u.must(t, 200, "PUT", "/tables/"+added.Table.ID+"/columns", map[string]any{"missing": []string{}, "columns": columns, "confirm": true},
		nil, "If-Match", tag)
	s := setting{"columns": []any{
		map[string]any{"name": "age", "bounds": []string{"0", "110"}},
		map[string]any{"name": "cost_yen", "bounds": []string{"0", "50000"}},
	}}
	maps.Copy(s, more)
	return u.open(t, added.Table.ID, s)
}

// The share of answers within the margin is at least its level: the exact one-sided test
// is wrong with a chance of 1e-6.
func TestMargin(t *testing.T) {
	short(t)
	testMargin(t, 60)
}

func TestLongServedMargin(t *testing.T) {
	randtest.Long(t)
	testMargin(t, 2000)
}
