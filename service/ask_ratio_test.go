package service_test

import (
	"fmt"
	"math"
	"path/filepath"
	"strings"
	"testing"

	"github.com/noren-privacy/noren"
	"github.com/noren-privacy/noren/api"
	"github.com/noren-privacy/noren/dataset"
	"github.com/noren-privacy/noren/internal/randtest"
	"github.com/noren-privacy/noren/kinds"
)

// A ratio question estimates a figure of the private table from a public one that lacks
// nothing but the right ages: its own mean is another.
func TestAskRatio(t *testing.T) {
	randtest.SkipShort(t)
	// Ages are 20 to 79 in both tables: the private ones are older by a half as often.
	table := func(rows int, old int) string {
		var b strings.Builder
		b.WriteString("age,sex,income\n")
		for i := range rows {
			age := 20 + i*7%30
			if i%10 < old {
				age += 30
			}
			fmt.Fprintf(&b, "%d,%s,%d\n", age, []string{"female", "male"}[i/3%2], 100*age)
		}
		return b.String()
	}
	dir := t.TempDir()
	text := table(3000, 8)
	write(t, filepath.Join(dir, "public.csv"), table(1000, 3))
	s, own := granted(t, text, &dataset.Definition{Columns: []dataset.Column{
		{Name: "age", Type: "integer", Bounds: []string{"20", "90"}},
		{Name: "sex", Type: "category", Keys: []string{"female", "male"}},
		{Name: "income", Type: "integer"},
	}})
	kept(t, s)
	public := filepath.Join(dir, "public.csv")
	ask := func(change func(q *kinds.Ratio)) *api.AskRequest {
		of := kinds.Ratio{Public: public, Columns: []string{"age"}, Of: "mean", Column: "income"}
		if change != nil {
			change(&of)
		}
		return &api.AskRequest{Dataset: "people", Questions: []api.Question{{Of: of, Pay: &api.Amount{Epsilon: "50"}}}}
	}
	quote, err := s.AskPrice(t.Context(), ask(nil))
	must(t, err)
	if q := quote.Questions[0]; q.Cost.Epsilon != "50" || q.Accuracy.Within != nil || len(q.Columns) != 1 ||
		q.Asked[0].Code != "asked.ratio_mean" {
		t.Errorf("%+v", q)
	}
	a, err := s.Ask(t.Context(), ask(nil))
	must(t, err)
	// 80% of the private ages are 50 to 79 and the others 20 to 49: incomes are about 5850 on
	// average, and 4350 in the public table.
	row := a.Answers[0].Rows[0]
	if row.Value == nil || row.Noise == nil || math.Abs(float64(*row.Value)-5850) > 500 {
		t.Errorf("mean income %v", asJSON(t, row))
	}
	if a.Certificate.Certificate.RequestSHA256 != quote.Request {
		t.Error("another request than the quote's")
	}
	if care := a.Answers[0].ReadWithCare; len(care) == 0 || care[0].Code != "care.hidden_bias" {
		t.Errorf("read with care: %+v", care)
	}
	share, err := s.Ask(t.Context(), ask(func(q *kinds.Ratio) { q.Of, q.Column, q.Where = "share", "", "age >= 60" }))
	must(t, err)
	if v := share.Answers[0].Rows[0].Value; v == nil || math.Abs(float64(*v)-0.53) > 0.2 {
		t.Errorf("share of 60 and over: %v", asJSON(t, share.Answers[0].Rows))
	}
	out, err := s.Rehearse(t.Context(), &api.RehearseRequest{AskRequest: *ask(nil)})
	must(t, err)
	if out.Of != 0 || len(out.Questions[0].Rows) != 1 {
		t.Errorf("%+v", out)
	}
	for name, change := range map[string]func(q *kinds.Ratio){
		"no public table":             func(q *kinds.Ratio) { q.Public = "" },
		"no columns":                  func(q *kinds.Ratio) { q.Columns = nil },
		"unknown figure":              func(q *kinds.Ratio) { q.Of = "sum" },
		"share of a column":           func(q *kinds.Ratio) { q.Of = "share" },
		"no column":                   func(q *kinds.Ratio) { q.Column = "" },
		"categories":                  func(q *kinds.Ratio) { q.Column = "sex" },
		"a rank of a mean":            func(q *kinds.Ratio) { q.Rank = "0.5" },
		"no rank":                     func(q *kinds.Ratio) { q.Of, q.Rank = "quantile", "1.5" },
		"a column that is not public": func(q *kinds.Ratio) { q.Column = "height" },
	} {
		if _, err := s.AskPrice(t.Context(), ask(change)); noren.KindOf(err) != noren.Usage {
			t.Errorf("%s: %v", name, err)
		}
	}
	margin := ask(nil)
	margin.Questions[0].Pay, margin.Questions[0].Margin = nil, &api.Margin{Within: 1}
	if _, err := s.AskPrice(t.Context(), margin); noren.KindOf(err) != noren.Usage {
		t.Errorf("a margin: %v", err)
	}
	// The private table is no public one.
	if _, err := s.AskPrice(t.Context(), ask(func(q *kinds.Ratio) { q.Public = filepath.Join(own, "people.csv") })); noren.CodeOf(
		err) != "private" {
		t.Errorf("the private table as the public one: %v", err)
	}
}
