package service_test

import (
	"bytes"
	"encoding/csv"
	"io/fs"
	"math"
	"strconv"
	"strings"
	"testing"

	"github.com/noren-privacy/noren/api"
	"github.com/noren-privacy/noren/dataset"
	"github.com/noren-privacy/noren/examples/clinic"
	"github.com/noren-privacy/noren/internal/randtest"
	"github.com/noren-privacy/noren/kinds"
	"github.com/noren-privacy/noren/service"
)

// clinicService has the ages and sexes of the clinic's visits as the data set "people",
// one record a visit, and returns them.
func clinicService(t *testing.T) (s *service.Service, ages []float64, sexes []string) {
	t.Helper()
	text, err := fs.ReadFile(clinic.FS(), clinic.VisitsFile)
	must(t, err)
	rows, err := csv.NewReader(bytes.NewReader(text)).ReadAll()
	must(t, err)
	var b strings.Builder
	b.WriteString("age,sex\n")
	age, sex := -1, -1
	for j, name := range rows[0] {
		switch name {
		case "age":
			age = j
		case "sex":
			sex = j
		}
	}
	for _, row := range rows[1:] {
		v, err := strconv.ParseFloat(row[age], 64)
		if err != nil {
			v = math.NaN()
		}
		ages, sexes = append(ages, v), append(sexes, row[sex])
		b.WriteString(row[age] + "," + row[sex] + "\n")
	}
	s, _ = granted(t, b.String(), &dataset.Definition{Columns: []dataset.Column{
		{Name: "age", Type: "integer", Bounds: []string{"0", "110"}},
		{Name: "sex", Type: "category", Keys: []string{"female", "male"}},
	}})
	kept(t, s)
	return s, ages, sexes
}

// hits counts values within margins.
type hits struct {
	level      float64
	within, of int64
}

// holds reports whether the share within is not below the level, by an exact one-sided test
// that rejects a share of exactly the level with probability 1e-6.
func (h *hits) holds() bool {
	_, high := randtest.ClopperPearson(h.within, h.of, 1-2e-6)
	return high >= h.level
}

// askedMany asks about the clinic n times, with margins in which the least price is paid,
// or a price less by the factor less, and counts the values within these margins.
func askedMany(t *testing.T, n int, less float64) map[string]*hits {
	t.Helper()
	s, ages, sexes := clinicService(t)
	edges := []string{}
	for e := 0; e <= 110; e += 2 {
		edges = append(edges, strconv.Itoa(e))
	}
	inBins, counts, sums, sizes := make([]float64, len(edges)-1), map[string]float64{}, map[string]float64{}, map[string]float64{}
	for i, age := range ages {
		if math.IsNaN(age) {
			continue
		}
		if age < 110 {
			inBins[int(age/2)]++
		}
		if age >= 65 {
			counts[sexes[i]]++
		}
		sums[sexes[i]] += min(age, 110)
		sizes[sexes[i]]++
	}
	r := &api.AskRequest{Dataset: "people", Questions: []api.Question{
		{Of: kinds.Histogram{Column: "age", Bins: edges}, Margin: &api.Margin{Within: 30, At: "0.90"}},
		{Of: kinds.Count{Where: "age >= 65", By: []string{"sex"}}, Margin: &api.Margin{Within: 30, At: "0.95"}},
		{Of: kinds.Sum{Column: "age", By: []string{"sex"}}, Margin: &api.Margin{Within: 3000, At: "0.99"}},
		{Of: kinds.Mean{Column: "age", By: []string{"sex"}}, Margin: &api.Margin{Within: 2, At: "0.90", About: 2000}},
	}}
	quote, err := s.AskPrice(t.Context(), r)
	must(t, err)
	paid := &api.AskRequest{Dataset: "people"}
	for _, q := range quote.Questions {
		epsilon, err := strconv.ParseFloat(q.Question.Pay.Epsilon, 64)
		must(t, err)
		q.Question.Pay = &api.Amount{Epsilon: strconv.FormatFloat(epsilon/less, 'f', 6, 64)}
		paid.Questions = append(paid.Questions, q.Question)
	}
	out := map[string]*hits{"histogram": {level: 0.90}, "count": {level: 0.95}, "sum": {level: 0.99}, "mean": {level: 0.90}}
	for range n {
		a, err := s.Ask(t.Context(), paid)
		must(t, err)
		for i, one := range a.Answers {
			h := out[one.Question.Name()]
			for j, row := range one.Rows {
				sex := row.Keys[0]
				exact := map[string]float64{"count": counts[sex], "sum": sums[sex], "mean": sums[sex] / sizes[sex]}[one.Question.Name()]
				if i == 0 {
					exact = inBins[j]
				}
				h.of++
				if row.Value != nil && math.Abs(float64(*row.Value)-exact) <= r.Questions[i].Margin.Within {
					h.within++
				}
			}
		}
	}
	return out
}

// promised fails unless margins hold with their price, and do not with noise that is 1.3
// times as large. A right program fails it with probability below 1e-5: 1e-6 for each
// kind, and less for the planted fault.
func promised(t *testing.T, n int) {
	for kind, h := range askedMany(t, n, 1) {
		if !h.holds() {
			t.Errorf("%s: %d of %d values within the margin, promised %g", kind, h.within, h.of, h.level)
		}
	}
	// The histogram has most values: at 0.90 with noise x1.3, 0.83 lie within.
	if h := askedMany(t, n, 1.3)["histogram"]; h.holds() {
		t.Errorf("noise x1.3 passes: %d of %d values within the margin", h.within, h.of)
	}
}

func TestPromisedMarginHolds(t *testing.T) {
	randtest.SkipShort(t)
	promised(t, 100)
}

func TestLongPromisedMarginHolds(t *testing.T) {
	randtest.Long(t)
	promised(t, 2000)
}
