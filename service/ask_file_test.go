package service_test

import (
	"reflect"
	"strings"
	"testing"

	"github.com/noren-privacy/noren"
	"github.com/noren-privacy/noren/api"
	"github.com/noren-privacy/noren/internal/meter/metertest"
	"github.com/noren-privacy/noren/kinds"
	"github.com/noren-privacy/noren/service"
)

const questionsText = `# what the ward round asks
version: 1
dataset: people
questions:
  - kind: count
    where: age >= 60 and sex = 'm'
    pay: {epsilon: 0.10}
  - kind: mean
    column: age
    by: [sex]
    keys: [[f, 01, "null"]]
    bounds: [20, 90]
    margin:
      within: 5
      at: 0.90
      about: 150
  - kind: outliers
    columns: [age]
    k: 3
    radius: 2.5
    box: [0, 110]
    pay: {epsilon: "1"}
`

func TestReadQuestions(t *testing.T) {
	q, err := service.ParseQuestions("q.yaml", []byte(questionsText))
	must(t, err)
	want := &api.AskRequest{Dataset: "people", Questions: []api.Question{
		{Of: kinds.Count{Where: "age >= 60 and sex = 'm'"}, Pay: &api.Amount{Epsilon: "0.10"}},
		{
			Of: kinds.Mean{
				Column: "age",
				By:     []string{"sex"},
				Keys:   [][]string{{"f", "01", "null"}},
				Bounds: []string{"20", "90"},
			},
			Margin: &api.Margin{Within: 5, At: "0.90", About: 150},
		},
		{Of: kinds.Outliers{Columns: []string{"age"}, K: 3, Radius: 2.5, Box: []float64{0, 110}}, Pay: &api.Amount{Epsilon: "1"}},
	}}
	if !reflect.DeepEqual(q.Request, want) {
		t.Errorf("read\n%s\nwant\n%s", asJSON(t, q.Request), asJSON(t, want))
	}
}

// The specification of a quote asks the same at the same cost.
func TestSpecificationOfAQuote(t *testing.T) {
	s, _ := people(t)
	q, err := service.ParseQuestions("q.yaml", []byte(questionsText))
	must(t, err)
	quote, err := s.AskPrice(t.Context(), q.Request)
	must(t, err)
	text, err := service.QuotedFile(quote)
	must(t, err)
	again, err := service.ParseQuestions("again.yaml", []byte(text))
	must(t, err)
	second, err := s.AskPrice(t.Context(), again.Request)
	must(t, err)
	if second.Request != quote.Request || second.Cost != quote.Cost {
		t.Errorf("another request:\n%s", text)
	}
}

func TestReadQuestionsRefuses(t *testing.T) {
	for _, c := range []struct{ name, from, to, where string }{
		{"unknown key", "    by: [sex]", "    bye: [sex]", "q.yaml:10:5"},
		{"unknown entry", "dataset: people", "dataset: people\nledger: x", "q.yaml:4:1"},
		{"a text for a number", "k: 3", "k: many", "q.yaml:19:8"},
		{"field of another kind", "    radius: 2.5", "    radius: 2.5\n    rank: 0.5", "q.yaml:21:11: questions.2.rank"},
		{"unknown kind", "kind: mean", "kind: average", "q.yaml:8:11: questions.1.kind"},
		{"another version", "version: 1", "version: 2", "q.yaml:2:10: version"},
		{"no data set", "dataset: people", "dataset: ''", "q.yaml:3:10: dataset"},
		{"not YAML", "questions:", "questions: [", ""},
		{"two documents", "version: 1", "version: 1\n---\nversion: 1", ""},
		{"empty", questionsText, "", ""},
	} {
		_, err := service.ParseQuestions("q.yaml", []byte(strings.Replace(questionsText, c.from, c.to, 1)))
		e, ok := err.(*noren.Error)
		if !ok || e.Kind != noren.Usage || !strings.HasPrefix(e.Place(), "q.yaml") || c.where != "" && e.Place() != c.where {
			t.Errorf("%s: %v", c.name, err)
		}
	}
}

// A fault that only the data set shows is said with its line.
func TestLocated(t *testing.T) {
	s, _ := people(t)
	q, err := service.ParseQuestions("q.yaml", []byte(strings.Replace(questionsText, "about: 150", "about: 0", 1)))
	must(t, err)
	_, err = s.AskPrice(t.Context(), q.Request)
	if e, ok := q.Located(err).(*noren.Error); !ok || e.Place() != "q.yaml:16:14: questions.1.margin.about" {
		t.Errorf("%v", q.Located(err))
	}
}

func FuzzParseQuestions(f *testing.F) {
	f.Add([]byte(questionsText))
	f.Add([]byte("version: 1\ndataset: a\nquestions: [{kind: correlated, query: {count: on}, pay: {rho: 1e-3}}]"))
	f.Fuzz(func(t *testing.T, data []byte) {
		metertest.Hold(t, len(data))
		q, err := service.ParseQuestions("q.yaml", data)
		if err == nil && (q.Request.Dataset == "" || q.Located(noren.Usagef("question 1: kind", "wrong")) == nil) {
			t.Error("read a file without a data set")
		}
	})
}
