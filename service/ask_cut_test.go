package service_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/noren-privacy/noren/api"
	"github.com/noren-privacy/noren/dataset"
	"github.com/noren-privacy/noren/kinds"
	"github.com/noren-privacy/noren/service"
)

// visitsOf is a data set of several records of a person, all of which the bounds and numbers of
// records of the questions below contain if few is true.
func visitsOf(t *testing.T, few bool) *service.Service {
	t.Helper()
	text := "person,cost,ward\n" + strings.Repeat("a,5,x\nb,70000,y\n", 20)
	if few {
		text = "person,cost,ward\na,5,x\nb,7,y\n"
	}
	s, _ := granted(t, text, &dataset.Definition{Unit: "person", Columns: []dataset.Column{
		{Name: "person", Type: "category"},
		{Name: "cost", Type: "integer", Bounds: []string{"0", "1000"}},
		{Name: "ward", Type: "category", Keys: []string{"x", "y"}},
	}})
	return s
}

func codes(all []api.Message) (out []string) {
	for _, m := range all {
		out = append(out, m.Code)
	}
	return out
}

// TestCut: an answer says beside its figures that at most max-rows records of a person count, and
// that values were moved to the bounds; the same whether any was.
func TestCut(t *testing.T) {
	for _, few := range []bool{true, false} {
		s := visitsOf(t, few)
		for _, c := range []struct {
			kind kinds.Kind
			want []string
		}{
			{kinds.Count{}, []string{"care.rows_low"}},
			{kinds.Histogram{Column: "ward"}, []string{"care.rows_low"}},
			{kinds.Sum{Column: "cost"}, []string{"care.rows_low", "care.moved"}},
			{kinds.Mean{Column: "cost"}, []string{"care.rows", "care.moved"}},
			{kinds.Variance{Column: "cost"}, []string{"care.rows", "care.moved"}},
			{kinds.Quantile{Column: "cost"}, []string{"care.rows_rank", "care.rank"}},
		} {
			q := api.Question{Of: c.kind, Pay: &api.Amount{Epsilon: "10"}}.WithMaxRows(2)
			a, err := s.Ask(t.Context(), &api.AskRequest{Dataset: "people", Questions: []api.Question{q}})
			must(t, err)
			got := slices.DeleteFunc(codes(a.Answers[0].ReadWithCare), func(c string) bool {
				return !slices.Contains([]string{"care.rows", "care.rows_low", "care.rows_rank", "care.moved", "care.rank"}, c)
			})
			if !slices.Equal(got, c.want) {
				t.Errorf("%s, few records %v: %v, want %v", q.Name(), few, got, c.want)
			}
		}
	}
	// A table whose unit is the record, and a sum that can be negative.
	s, _ := people(t)
	a, err := s.Ask(t.Context(), &api.AskRequest{Dataset: "people", Questions: []api.Question{
		{Of: kinds.Count{}, Pay: &api.Amount{Epsilon: "1"}},
		{Of: kinds.Sum{Column: "age", Bounds: []string{"20", "50"}}, Pay: &api.Amount{Epsilon: "1"}},
	}})
	must(t, err)
	if got := codes(a.Answers[0].ReadWithCare); len(got) > 0 && slices.Contains(got, "care.rows_low") {
		t.Errorf("a count of records: %v", got)
	}
	if got := a.Answers[1].ReadWithCare; len(got) != 1 || got[0].Code != "care.moved" || got[0].Args["lo"] != "20" ||
		got[0].Args["hi"] != "50" {
		t.Errorf("a sum: %v", got)
	}
}

// TestNothingSaid: a price warns of noise as large as all that is public of the table, and of
// labels that are not public.
func TestNothingSaid(t *testing.T) {
	s, _ := people(t)
	one := func(records int64, q api.Question, epsilon string) []string {
		t.Helper()
		q.Pay = &api.Amount{Epsilon: epsilon}
		out, err := s.AskPrice(t.Context(), &api.AskRequest{Dataset: "people", Records: records, Questions: []api.Question{q}})
		must(t, err)
		return codes(out.Questions[0].Warnings)
	}
	count, sum := api.Question{Of: kinds.Count{}}, api.Question{Of: kinds.Sum{Column: "age"}}
	groups := api.Question{Of: kinds.Count{By: []string{"sex"}}}
	for name, c := range map[string]struct {
		records int64
		q       api.Question
		epsilon string
		want    []string
	}{
		"a count":                      {60, count, "1", nil},
		"a count at nearly nothing":    {60, count, "0.01", []string{"miss.count"}},
		"a count, nothing known":       {0, count, "0.01", nil},
		"a count, beyond the bound":    {0, count, "0.0000001", []string{"miss.count"}},
		"groups":                       {60, groups, "1", nil},
		"groups at little":             {60, groups, "0.09", []string{"miss.count_groups"}},
		"a sum":                        {60, sum, "1", nil},
		"a sum at nearly nothing":      {60, sum, "0.01", []string{"miss.sum"}},
		"a median":                     {60, api.Question{Of: kinds.Quantile{Column: "age"}}, "10", nil},
		"a median at nearly nothing":   {60, api.Question{Of: kinds.Quantile{Column: "age"}}, "0.01", []string{"miss.rank"}},
		"a variance at nearly nothing": {60, api.Question{Of: kinds.Variance{Column: "age"}}, "0.01", []string{"miss.nothing"}},
		"keys that are public":         {60, api.Question{Of: kinds.Count{By: []string{"sex"}, Keys: [][]string{{"f"}}}}, "1", nil},
		"keys that are not": {
			60,
			api.Question{Of: kinds.Count{By: []string{"sex"}, Keys: [][]string{{"f", "F"}}}},
			"1",
			[]string{"miss.unlisted"},
		},
		"a condition that is public": {60, api.Question{Of: kinds.Count{Where: "sex in ('f', 'm') and age > 3"}}, "1", nil},
		"a condition that is not": {
			60,
			api.Question{Of: kinds.Count{Where: "not (age > 3 or sex = 'Male')"}},
			"1",
			[]string{"miss.unlisted"},
		},
		"bins that are not": {
			60,
			api.Question{Of: kinds.Histogram{Column: "sex", Values: []string{"f", "other"}}},
			"1",
			[]string{"miss.unlisted"},
		},
		"missing values": {60, api.Question{Of: kinds.Count{By: []string{"sex"}, Keys: [][]string{{"f", ""}}}}, "1", nil},
		"a key beside a count of nothing": {
			60,
			api.Question{Of: kinds.Count{Where: "sex = 'F'"}},
			"0.01",
			[]string{"miss.unlisted", "miss.count"},
		},
	} {
		if got := one(c.records, c.q, c.epsilon); !slices.Equal(got, c.want) {
			t.Errorf("%s: %v, want %v", name, got, c.want)
		}
	}
	// The same of a query by itself.
	r := countRequest("people")
	r.Epsilon, r.Where = "0.0000001", "sex = 'Male'"
	q, err := s.QueryPrice(t.Context(), r)
	must(t, err)
	if got := codes(q.Warnings); !slices.Equal(got, []string{"miss.unlisted", "miss.count"}) {
		t.Errorf("a query: %v", got)
	}
	if len(q.Columns) != 1 || q.Columns[0].Name != "sex" {
		t.Errorf("columns of a query: %v", q.Columns)
	}
}

// TestQuotesNameBounds: a quote names the bounds that it took, and says of a quantile that its
// margin is one of ranks.
func TestQuotesNameBounds(t *testing.T) {
	s, _ := people(t)
	r := countRequest("people")
	r.Kind, r.Column, r.Where, r.Epsilon, r.Records = "quantile", "age", "", "1", 100
	q, err := s.QueryPrice(t.Context(), r)
	must(t, err)
	if len(q.Columns) != 1 || q.Columns[0].Outside.Args["lo"] != "0" || q.Columns[0].Outside.Args["hi"] != "110" {
		t.Errorf("columns: %+v", q.Columns)
	}
	if q.Reach == nil || q.Reach.Code != "reach.rank" || q.Reach.Args["about"] != "100" {
		t.Errorf("reach: %+v", q.Reach)
	}
	visited := visitsOf(t, true)
	r = &api.QueryRequest{Ask: api.Ask{Dataset: "people", Epsilon: "1"}, Kind: "count", MaxRows: 3}
	q, err = visited.QueryPrice(t.Context(), r)
	must(t, err)
	if len(q.Columns) != 1 || q.Columns[0].Name != "person" || q.Columns[0].Outside.Args["rows"] != 3 {
		t.Errorf("columns of persons: %+v", q.Columns)
	}
}
