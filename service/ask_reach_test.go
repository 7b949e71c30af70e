package service_test

import (
	"strings"
	"testing"

	"github.com/noren-privacy/noren"
	"github.com/noren-privacy/noren/api"
	"github.com/noren-privacy/noren/dataset"
	"github.com/noren-privacy/noren/kinds"
)

// meanBySex asks a mean by the two public values of sex of the data set people.
func meanBySex(records int64, margin *api.Margin) *api.AskRequest {
	return &api.AskRequest{
		Dataset: "people", Records: records,
		Questions: []api.Question{{Of: kinds.Mean{Column: "age", By: []string{"sex"}}, Margin: margin}},
	}
}

// TestReach: the guess of the records of a group starts from what is public, the quote says
// for which groups its margin holds, and warns of one that most will miss.
func TestReach(t *testing.T) {
	s, _ := people(t)
	k := kept(t, s)
	price := func(r *api.AskRequest) *api.QuestionQuote {
		t.Helper()
		q, err := s.AskPrice(t.Context(), r)
		must(t, err)
		return &q.Questions[0]
	}

	// Nothing is public but an upper bound: the asker has to guess.
	if _, err := s.AskPrice(t.Context(), meanBySex(0, &api.Margin{Within: 20})); noren.KindOf(err) != noren.Usage ||
		!strings.Contains(err.Error(), "margin.about") {
		t.Errorf("without a guess: %v", err)
	}
	if q := price(meanBySex(0, &api.Margin{Within: 20, About: 30})); q.Reach == nil || q.Reach.Code != "reach.groups_most" ||
		q.Reach.Args["about"] != "30" || len(q.Warnings) != 0 {
		t.Errorf("an upper bound alone says %v %v", q.Reach, q.Warnings)
	}

	// The statement of the steward, divided by the groups, is the default.
	q := price(meanBySex(200, &api.Margin{Within: 20}))
	if q.Accuracy.About != 100 || q.Question.Margin.About != 100 || len(q.Warnings) != 0 || q.Reach == nil || q.Reach.Code != "reach.groups" {
		t.Errorf("%+v, reach %v, warnings %v", q.Accuracy, q.Reach, q.Warnings)
	}
	if same := price(meanBySex(200, &api.Margin{Within: 20, About: 100})); same.Cost != q.Cost {
		t.Errorf("the default costs %v, the same guess %v", q.Cost, same.Cost)
	}

	// A guess above the average: most groups will miss it.
	for about, warned := range map[int64]bool{100: false, 101: true, 150: true} {
		q := price(meanBySex(200, &api.Margin{Within: 20, About: about}))
		if got := len(q.Warnings) == 1 && q.Warnings[0].Code == "miss.groups"; got != warned {
			t.Errorf("about %d of 200 in 2 groups: warnings %v", about, q.Warnings)
		}
	}
	// A condition leaves fewer records, and how many is not public: no average is stated, and
	// none is taken.
	where := meanBySex(200, &api.Margin{Within: 20, About: 30})
	where.Questions[0].Of = kinds.Mean{Column: "age", By: []string{"sex"}, Where: "age >= 65"}
	if q := price(where); q.Reach == nil || q.Reach.Code != "reach.where" || q.Reach.Args["mean"] != nil || q.Reach.Args["records"] != nil {
		t.Errorf("of a condition: %v", q.Reach)
	}
	where.Questions[0].Margin = &api.Margin{Within: 20}
	if _, err := s.AskPrice(t.Context(), where); noren.KindOf(err) != noren.Usage || !strings.Contains(err.Error(), "margin.about") {
		t.Errorf("of a condition, without a guess: %v", err)
	}

	// One group less can have them than there are: most can keep the margin, and no more is said.
	if q := price(meanBySex(200, &api.Margin{Within: 20, About: 101})); strings.Contains(q.Warnings[0].Text, "most will") {
		t.Errorf("1 of 2 groups can keep it: %v", q.Warnings)
	}
	// More than the table can have at all, by its upper bound alone.
	if q := price(meanBySex(0, &api.Margin{Within: 20, About: 1 << 30})); len(q.Warnings) != 1 || q.Warnings[0].Code != "miss.groups_most" {
		t.Errorf("beyond the upper bound: %v", q.Warnings)
	}

	// A payment whose noise is as wide as the bounds says nothing, and says so.
	tiny := meanBySex(200, nil)
	tiny.Questions[0].Pay = &api.Amount{Epsilon: "0.001"}
	if q := price(tiny); len(q.Warnings) != 1 || q.Warnings[0].Code != "miss.nothing" {
		t.Errorf("a payment of 0.001: %v", q.Warnings)
	}
	if k.Reads() != 0 {
		t.Errorf("prices read the file %d times", k.Reads())
	}
}

// TestReadWithCareOfBounds: an interval that is the whole of the bounds says nothing, and the
// answer says so.
func TestReadWithCareOfBounds(t *testing.T) {
	s, _ := people(t)
	r := meanBySex(0, nil)
	r.Questions[0].Pay = &api.Amount{Epsilon: "0.001"}
	a, err := s.Ask(t.Context(), r)
	must(t, err)
	vacuous, said := 0, false
	for _, row := range a.Answers[0].Rows {
		if row.Value != nil && *row.Low <= 0 && *row.High >= 110 {
			vacuous++
		}
	}
	for _, m := range a.Answers[0].ReadWithCare {
		said = said || m.Code == "care.bounds"
	}
	if said != (vacuous > 0) {
		t.Errorf("%d values say nothing: %v", vacuous, a.Answers[0].ReadWithCare)
	}
}

// TestQueryReach: a query by itself says the same before it is paid.
func TestQueryReach(t *testing.T) {
	s, _ := people(t)
	r := &api.QueryRequest{Ask: api.Ask{Dataset: "people", Epsilon: "0.001"}, Kind: "mean", Column: "age", By: []string{"sex"}}
	q, err := s.QueryPrice(t.Context(), r)
	must(t, err)
	if q.Cells != 2 || len(q.Warnings) != 1 || q.Warnings[0].Code != "miss.nothing" {
		t.Errorf("%+v", q)
	}
	// A half width above the width of the bounds says as little as none.
	warned, wide := 0, 0
	for _, epsilon := range []string{"0.002", "0.003", "0.004", "0.005", "0.006", "0.008", "0.01", "0.02", "0.05", "0.1"} {
		r.Epsilon = epsilon
		q, err := s.QueryPrice(t.Context(), r)
		must(t, err)
		if w := q.Accuracy.HalfWidth; w != nil && *w >= 110 {
			wide++
			warned += len(q.Warnings)
		}
	}
	if wide == 0 || warned != wide {
		t.Errorf("%d prices are wider than the bounds, %d are warned of", wide, warned)
	}
}

// TestGuessWithinAnUpperBound: where no more than an upper bound of the records is public, no
// question is priced for groups that are larger than the bound allows, and the quote says for which
// groups its margin holds.
func TestGuessWithinAnUpperBound(t *testing.T) {
	text := "age,sex\n" + strings.Repeat("31,f\n62,m\n", 30)
	columns := []dataset.Column{
		{Name: "age", Type: "integer", Bounds: []string{"0", "110"}},
		{Name: "sex", Type: "category", Keys: []string{"f", "m"}},
	}
	for _, c := range []struct {
		definition dataset.Definition
		by         []string
		where      string
		about      int64
		reach      string
	}{
		{dataset.Definition{AtMost: 500}, []string{"sex"}, "", 250, "reach.groups_most"},
		{dataset.Definition{AtMost: 500}, nil, "", 500, "reach.one_most"},
		{dataset.Definition{AtMost: 500}, nil, "age >= 65", 500, "reach.where"},
		{dataset.Definition{}, []string{"sex"}, "", 1000, "reach.groups_most"},
		{dataset.Definition{AtMost: 2400}, []string{"sex"}, "", 1000, "reach.groups_most"},
		{dataset.Definition{Neighbours: "replace-one", Records: 60}, []string{"sex"}, "", 30, "reach.groups_exact"},
		{dataset.Definition{Neighbours: "replace-one", Records: 60}, []string{"sex"}, "age >= 65", 30, "reach.where"},
	} {
		c.definition.Columns = columns
		s, _ := granted(t, text, &c.definition)
		k := kept(t, s)
		ask := api.Ask{Dataset: "people", Epsilon: "1"}
		r := &api.QueryRequest{Ask: ask, Kind: "mean", Column: "age", By: c.by, Where: c.where}
		q, err := s.QueryPrice(t.Context(), r)
		must(t, err)
		if q.Accuracy.Records != c.about || q.Reach == nil || q.Reach.Code != c.reach || len(q.Warnings) != 0 {
			t.Errorf("%+v by %v where %q: for %d records, reach %v, warnings %v", c.definition, c.by, c.where, q.Accuracy.Records, q.Reach,
				q.Warnings)
		}
		compared, err := s.QueryAccuracy(t.Context(), r)
		must(t, err)
		if got := compared.Accuracy[0].Accuracy.Records; got != c.about {
			t.Errorf("%+v by %v where %q: compared for %d records", c.definition, c.by, c.where, got)
		}
		asked, err := s.AskPrice(t.Context(), &api.AskRequest{Dataset: "people", Questions: []api.Question{
			{Of: kinds.Mean{Column: "age", By: c.by, Where: c.where}, Pay: &api.Amount{Epsilon: "1"}},
		}})
		must(t, err)
		if q := asked.Questions[0]; q.Accuracy.About != c.about || q.Reach == nil || q.Reach.Code != c.reach || len(q.Warnings) != 0 {
			t.Errorf("%+v by %v where %q: asked for %d records, reach %v, warnings %v", c.definition, c.by, c.where, q.Accuracy.About, q.Reach,
				q.Warnings)
		}
		if k.Reads() != 0 {
			t.Errorf("prices read the file %d times", k.Reads())
		}
	}
}
