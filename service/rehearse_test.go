package service_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"reflect"
	"testing"

	"github.com/noren-privacy/noren/api"
	"github.com/noren-privacy/noren/dataset"
	"github.com/noren-privacy/noren/internal/randtest"
	"github.com/noren-privacy/noren/kinds"
	"github.com/noren-privacy/noren/service"
)

// everyKind is a data set that can be asked each kind of question but those about
// dependent records, and the questions.
func everyKind(t *testing.T) (s *service.Service, dir string, questions []api.Question) {
	t.Helper()
	text := "age,sex,seen\n"
	for i := range 40 {
		text += []string{"31,f,2024-03-01\n", "62,m,2025-01-05\n"}[i%2]
	}
	s, dir = granted(t, text, &dataset.Definition{Columns: []dataset.Column{
		{Name: "age", Type: "integer", Bounds: []string{"0", "110"}},
		{Name: "sex", Type: "category", Keys: []string{"f", "m"}},
		{Name: "seen", Type: "date", Bounds: []string{"2020-01-01", "2026-12-31"}},
	}})
	by := []string{"sex"}
	return s, dir, []api.Question{
		{Of: kinds.Count{Where: "age >= 65", By: by}, Margin: &api.Margin{Within: 10, About: 100}},
		{Of: kinds.Sum{Column: "age", By: by}, Margin: &api.Margin{Within: 900, About: 100}},
		{Of: kinds.Mean{Column: "age", By: by, Where: "age >= 20"}, Margin: &api.Margin{Within: 5, At: "0.90", About: 200}},
		{Of: kinds.Mean{Column: "seen"}, Margin: &api.Margin{Within: 60, About: 400}},
		{Of: kinds.Variance{Column: "age"}, Margin: &api.Margin{Within: 300, About: 500}},
		{Of: kinds.Histogram{Column: "age", Bins: []string{"0", "40", "80", "110"}}, Margin: &api.Margin{Within: 12, At: "0.99"}},
		{Of: kinds.Histogram{Column: "sex"}, Margin: &api.Margin{Within: 12}},
		{Of: kinds.Quantile{Column: "age", Rank: "0.9"}, Margin: &api.Margin{Within: 40, About: 300}},
		{Of: kinds.Outliers{Columns: []string{"age"}, K: 3, Radius: 5}, Margin: &api.Margin{Within: 50, About: 200}},
	}
}

// A rehearsal reads no file and gives the same rows for the same request; its values lie
// within the margins about as often as the level says.
func TestRehearse(t *testing.T) {
	randtest.SkipShort(t)
	s, dir, questions := everyKind(t)
	k := kept(t, s)
	must(t, os.Remove(filepath.Join(dir, "people.csv")))
	r := &api.RehearseRequest{AskRequest: api.AskRequest{Dataset: "people", Questions: questions}}
	out, err := s.Rehearse(t.Context(), r)
	must(t, err)
	if k.Reads() != 0 || out.Runs != 100 || len(out.Questions) != len(questions) || out.Rows != 1000 {
		t.Errorf("%d reads, %d runs, %d questions, %d rows", k.Reads(), out.Runs, len(out.Questions), out.Rows)
	}
	for i, q := range out.Questions {
		// 100 runs at a level of at least 0.9: 60 or fewer within have a probability below
		// 1e-14, and values of one run are independent.
		if q.Of < 100 || q.Within*10 < q.Of*6 || q.Within > q.Of || len(q.Rows) == 0 || q.Rows[0].Value == nil || q.Made < 100 {
			text, _ := json.Marshal(q)
			t.Errorf("question %d, %s: %s", i+1, questions[i].Name(), text)
		}
	}
	quote, err := s.AskPrice(t.Context(), &r.AskRequest)
	must(t, err)
	for _, c := range []struct {
		name, seed string
	}{{"the default seed", quote.Request}, {"another seed", "x"}} {
		again := *r
		again.Seed = c.seed
		if _, err := s.Rehearse(t.Context(), &again); err != nil {
			t.Errorf("%s: %v", c.name, err)
		}
	}
}

func TestMadeUpRowsFollowFromTheSeed(t *testing.T) {
	d, err := (&dataset.Definition{Columns: []dataset.Column{
		{Name: "age", Type: "integer", Bounds: []string{"10", "20"}}, {Name: "cost", Type: "decimal"}, {Name: "who", Type: "category"},
	}, Unit: "who"}).Complete()
	must(t, err)
	make := func(seed byte) *dataset.MadeUp {
		return &dataset.MadeUp{Definition: d, Fields: d.Fields(), Rows: 300, Seed: [32]byte{seed}, PerPerson: 3}
	}
	one, err := make(1).Table()
	must(t, err)
	same, err := make(1).Table()
	must(t, err)
	other, err := make(2).Table()
	must(t, err)
	if !reflect.DeepEqual(one, same) || reflect.DeepEqual(one, other) {
		t.Error("the rows do not follow from the seed")
	}
	if len(one.Unit.Dict) != 100 {
		t.Errorf("%d persons, want 100", len(one.Unit.Dict))
	}
	least, most := int64(99), int64(0)
	for _, v := range one.Column("age").Ints {
		least, most = min(least, v), max(most, v)
	}
	if least != 10 || most != 20 {
		t.Errorf("ages from %d to %d, want 10 to 20", least, most)
	}
}
