package service_test

import (
	"bytes"
	"crypto/ed25519"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/noren-privacy/noren/api"
	"github.com/noren-privacy/noren/certificate"
	"github.com/noren-privacy/noren/dataset"
	"github.com/noren-privacy/noren/kinds"
	"github.com/noren-privacy/noren/service"
)

var clientVectors = flag.Bool("client-vectors", false, "answer the questions of client/python/tests/data/answered.json anew")

const clientVectorsFile = "../client/python/tests/data/answered.json"

// answered is a question with its quote and its answer, in the forms of the server's
// interface.
type answered struct {
	Name  string       `json:"name"`
	Asked api.Question `json:"asked"`
	Quote struct {
		ID          string         `json:"id"`
		Token       string         `json:"token"`
		Until       string         `json:"until"`
		Book        string         `json:"book"`
		Cost        api.Amount     `json:"cost"`
		Fits        bool           `json:"fits"`
		Questions   []quotedOfBook `json:"questions"`
		RequestHash string         `json:"request_hash"`
		SchemaHash  string         `json:"schema_hash"`
	} `json:"quote"`
	Answer struct {
		ID          string             `json:"id"`
		Book        string             `json:"book"`
		At          string             `json:"at"`
		By          string             `json:"by"`
		Cost        api.Amount         `json:"cost"`
		Questions   []answeredOfBook   `json:"questions"`
		Certificate certificate.Signed `json:"certificate"`
		Payload     string             `json:"payload"`
	} `json:"answer"`
}

type quotedOfBook struct {
	Question api.Question `json:"question"`
	Cost     api.Amount   `json:"cost"`
}

type answeredOfBook struct {
	Kind     string         `json:"kind"`
	Question api.Question   `json:"question"`
	Result   map[string]any `json:"result"`
}

// clientQuestions are questions of every kind, in pairs that differ in one field.
func clientQuestions(pay *api.Amount) map[string]api.Question {
	bits := 3
	out := map[string]api.Question{
		"count":                {Of: kinds.Count{}},
		"count of a condition": {Of: kinds.Count{Where: `age>=60 AND sex="f"`}},
		"another condition":    {Of: kinds.Count{Where: `age>=60 AND sex="m"`}},
		"condition of a date":  {Of: kinds.Count{Where: "seen > '令和6年4月1日' or not day in ('2024-01-02', '2024-03-01')"}},
		"count by sex":         {Of: kinds.Count{By: []string{"sex"}}},
		"count by two columns": {Of: kinds.Count{By: []string{"stage", "sex"}, Keys: [][]string{{"mild", "severe"}}}},
		"other groups":         {Of: kinds.Count{By: []string{"sex", "stage"}}},
		"sum":                  {Of: kinds.Sum{Column: "age"}},
		"other bounds":         {Of: kinds.Sum{Column: "age", Bounds: []string{"0", "99.0"}}},
		"mean":                 {Of: kinds.Mean{Column: "age"}},
		"mean of decimals":     {Of: kinds.Mean{Column: "weight", GridBits: &bits}},
		"mean of dates":        {Of: kinds.Mean{Column: "day"}},
		"mean of era dates":    {Of: kinds.Mean{Column: "seen", Bounds: []string{"平成元年1月8日", "令和6年12月31日"}}},
		"variance":             {Of: kinds.Variance{Column: "age"}},
		"histogram":            {Of: kinds.Histogram{Column: "age", Bins: []string{"0", "50", "110"}}},
		"other bins":           {Of: kinds.Histogram{Column: "age", Bins: []string{"0", "40", "110"}}},
		"histogram of texts":   {Of: kinds.Histogram{Column: "sex"}},
		"listed texts":         {Of: kinds.Histogram{Column: "sex", Values: []string{"m"}}},
		"texts as keys":        {Of: kinds.Histogram{Column: "stage", Keys: [][]string{{"mild"}}}},
		"histogram of dates":   {Of: kinds.Histogram{Column: "day", Bins: []string{"2024-01-01", "2024-02-01", "2024-12-31"}}},
		"median":               {Of: kinds.Quantile{Column: "age"}},
		"another rank":         {Of: kinds.Quantile{Column: "age", Rank: "0.25"}},
		"smooth median":        {Of: kinds.Quantile{Column: "age", Noise: "smooth"}},
		"outliers":             {Of: kinds.Outliers{Columns: []string{"age"}, K: 2, Radius: 5}},
		"more neighbours":      {Of: kinds.Outliers{Columns: []string{"age"}, K: 3, Radius: 5}},
		"a wider radius":       {Of: kinds.Outliers{Columns: []string{"age"}, K: 2, Radius: 6, Step: 0.05}},
		"outliers in a box": {
			Of: kinds.Outliers{
				Columns: []string{"age", "weight"},
				K:       2,
				Radius:  0.1,
				Scale:   "bounds",
				Box:     []float64{0, 120, 0, 150},
			},
		},
		"outliers by laplace":  {Of: kinds.Outliers{Columns: []string{"age"}, K: 2, Radius: 5, Noise: "global-laplace"}},
		"outliers with a size": {Of: kinds.Outliers{Columns: []string{"age"}, K: 2, Radius: 5, Guess: 2, IntervalShare: 0.1}},
	}
	for name, q := range out {
		q.Pay = pay
		out[name] = q
	}
	out["count to a margin"] = api.Question{Of: kinds.Count{}, Margin: &api.Margin{Within: 5, At: "0.90"}}
	out["count to a wider margin"] = api.Question{Of: kinds.Count{}, Margin: &api.Margin{Within: 9, At: "0.90"}}
	out["count at another price"] = api.Question{Of: kinds.Count{}, Pay: &api.Amount{Epsilon: "2"}}
	out["count with a delta"] = api.Question{Of: kinds.Count{Noise: "gaussian"}, Pay: &api.Amount{Epsilon: "1", Delta: "0.000001"}}
	return out
}

// The Python client compares certificates with questions. Its tests put each answer of this
// file in the place of each other one; here every certificate is checked, and every kind
// of question has one.
func TestClientVectors(t *testing.T) {
	if *clientVectors {
		writeClientVectors(t)
	}
	text, err := os.ReadFile(clientVectorsFile)
	must(t, err)
	var all []answered
	must(t, json.Unmarshal(text, &all))
	var names []string
	for i := range all {
		a := &all[i]
		if _, err := certificate.Check(t.Context(), &a.Answer.Certificate, strings.NewReader(a.Answer.Payload)); err != nil {
			t.Errorf("%s: %v", a.Name, err)
		}
		names = append(names, a.Asked.Name())
	}
	for _, kind := range kinds.Names() {
		if !slices.Contains(names, kind) {
			t.Errorf("no answer to a question of kind %s: run with -client-vectors", kind)
		}
	}
}

func writeClientVectors(t *testing.T) {
	key := ed25519.NewKeyFromSeed(bytes.Repeat([]byte{7}, ed25519.SeedSize))
	signed := func(s *service.Service) *service.Service {
		s.Signer = func() (ed25519.PrivateKey, error) { return key, nil }
		return s
	}
	var all []answered
	ask := func(group string, s *service.Service, questions map[string]api.Question) {
		names := make([]string, 0, len(questions))
		for name := range questions {
			names = append(names, name)
		}
		slices.Sort(names)
		for _, name := range names {
			all = append(all, ask1(t, signed(s), group+": "+name, questions[name]))
		}
	}
	var rows strings.Builder
	rows.WriteString("age,sex,stage,weight,day,seen\n")
	for i := range 120 {
		fmt.Fprintf(&rows, "%d,%s,%s,%d.5,2024-%02d-03,令和6年%d月3日\n", 20+i%70, []string{"f", "m"}[i%2], []string{"mild", "severe"}[i/2%2], 40+i%60,
			1+i%12, 1+i%12)
	}
	definition := func() *dataset.Definition {
		return &dataset.Definition{AtMost: 1000, Columns: []dataset.Column{
			{Name: "age", Type: "integer", Bounds: []string{"0", "110"}},
			{Name: "sex", Type: "category", Keys: []string{"f", "m"}},
			{Name: "stage", Type: "ordered", Levels: []string{"mild", "severe"}},
			{Name: "weight", Type: "decimal", Bounds: []string{"0", "150"}},
			{Name: "day", Type: "date", Bounds: []string{"2024-01-01", "2024-12-31"}},
			{Name: "seen", Type: "date", Layout: "GE年M月D日", Bounds: []string{"令和元年5月1日", "令和6年12月31日"}},
		}}
	}
	s, _ := granted(t, rows.String(), definition())
	ask("people", s, clientQuestions(&api.Amount{Epsilon: "1"}))
	ask("people, asked again", s, map[string]api.Question{"count": {Of: kinds.Count{}, Pay: &api.Amount{Epsilon: "1"}}})
	dir := t.TempDir()
	write(t, filepath.Join(dir, "public.csv"), strings.ReplaceAll(rows.String(), ",mild,", ",severe,"))
	ask("people", s, map[string]api.Question{
		"share by weights": {
			Of: kinds.Ratio{
				Public:  filepath.Join(dir, "public.csv"),
				Columns: []string{"age"},
				Of:      "share",
				Where:   "weight > 60",
			},
			Pay: &api.Amount{Epsilon: "20"},
		},
		"another share": {
			Of: kinds.Ratio{
				Public:  filepath.Join(dir, "public.csv"),
				Columns: []string{"age"},
				Of:      "share",
				Where:   "weight > 70",
			},
			Pay: &api.Amount{Epsilon: "20"},
		},
		"mean by weights": {
			Of: kinds.Ratio{
				Public:  filepath.Join(dir, "public.csv"),
				Columns: []string{"age"},
				Of:      "mean",
				Column:  "weight",
			},
			Pay: &api.Amount{Epsilon: "20"},
		},
		"mean by other axes": {
			Of: kinds.Ratio{
				Public:  filepath.Join(dir, "public.csv"),
				Columns: []string{"weight"},
				Of:      "mean",
				Column:  "age",
			},
			Pay: &api.Amount{Epsilon: "20"},
		},
		"quantile by weights": {
			Of: kinds.Ratio{
				Public:  filepath.Join(dir, "public.csv"),
				Columns: []string{"age"},
				Of:      "quantile",
				Column:  "weight",
				Rank:    "0.9",
			},
			Pay: &api.Amount{Epsilon: "20"},
		},
		"mean by other noise": {
			Of: kinds.Ratio{
				Public:  filepath.Join(dir, "public.csv"),
				Columns: []string{"age"},
				Of:      "mean",
				Column:  "weight",
				Noise:   "laplace",
			},
			Pay: &api.Amount{Epsilon: "20"},
		},
		"mean at another cost": {
			Of: kinds.Ratio{
				Public:  filepath.Join(dir, "public.csv"),
				Columns: []string{"age"},
				Of:      "mean",
				Column:  "weight",
			},
			Pay: &api.Amount{Epsilon: "21"},
		},
	})
	other := definition()
	other.AtMost = 900
	s, _ = granted(t, rows.String(), other)
	ask("another ledger", s, map[string]api.Question{"count": {Of: kinds.Count{}, Pay: &api.Amount{Epsilon: "1"}}})
	s, _ = granted(t, "id,age\na,31\nb,62\n", &dataset.Definition{
		Unit:    "id",
		Columns: []dataset.Column{{Name: "id"}, {Name: "age", Type: "integer", Bounds: []string{"0", "110"}}},
	})
	ask("persons", s, map[string]api.Question{
		"count of 1": {Of: kinds.Count{MaxRows: 1}, Pay: &api.Amount{Epsilon: "1"}}, "count of 2": {
			Of:  kinds.Count{MaxRows: 2},
			Pay: &api.Amount{Epsilon: "1"},
		},
	})
	ask("zcdp", grantedZCDP(t), map[string]api.Question{
		"count for a rho":       {Of: kinds.Count{}, Pay: &api.Amount{Rho: "0.05"}},
		"gaussian for a rho":    {Of: kinds.Count{Noise: "gaussian"}, Pay: &api.Amount{Rho: "0.05"}},
		"laplace for a rho":     {Of: kinds.Count{Noise: "laplace"}, Pay: &api.Amount{Rho: "0.04"}},
		"count for an epsilon":  {Of: kinds.Count{}, Pay: &api.Amount{Epsilon: "0.5"}},
		"histogram to a margin": {Of: kinds.Histogram{Column: "sex"}, Margin: &api.Margin{Within: 20}},
	})
	s, _ = metered(t)
	ask("meters", s, map[string]api.Question{
		"on":        {Of: kinds.Correlated{Query: json.RawMessage(`{"count":"on"}`)}, Pay: &api.Amount{Epsilon: "3"}},
		"off":       {Of: kinds.Correlated{Query: json.RawMessage(`{"count":["off"]}`)}, Pay: &api.Amount{Epsilon: "3"}},
		"histogram": {Of: kinds.Correlated{Query: json.RawMessage(`{"histogram":true}`)}, Pay: &api.Amount{Epsilon: "3"}},
		"weighted":  {Of: kinds.Correlated{Query: json.RawMessage(`{"g":[0,2.5]}`)}, Pay: &api.Amount{Epsilon: "3"}},
		"joint": {
			Of:  kinds.Correlated{Query: json.RawMessage(`{"joint":[{"count":"on"},{"g":[1,0]}]}`)},
			Pay: &api.Amount{Epsilon: "3"},
		},
		"of full": {
			Of: kinds.Correlated{
				Query:       json.RawMessage(`{"count":"on"}`),
				Adversaries: json.RawMessage(`"full"`),
			},
			Pay: &api.Amount{Epsilon: "3"},
		},
		"of one": {
			Of: kinds.Correlated{
				Query:       json.RawMessage(`{"count":"on"}`),
				Adversaries: json.RawMessage(`[{"record":2,"known":[{"record":1,"state":"on"}]}]`),
			},
			Pay: &api.Amount{Epsilon: "3"},
		},
		"ordinary":      {Of: kinds.Count{Where: "state = 'on'"}, Pay: &api.Amount{Epsilon: "3"}},
		"at other cost": {Of: kinds.Correlated{Query: json.RawMessage(`{"count":"on"}`)}, Pay: &api.Amount{Epsilon: "4"}},
	})
	text, err := json.MarshalIndent(all, "", " ")
	must(t, err)
	must(t, os.MkdirAll(filepath.Dir(clientVectorsFile), 0o755))
	must(t, os.WriteFile(clientVectorsFile, append(text, '\n'), 0o644))
}

// ask1 asks a question as a server does: first for its price, then at that price.
func ask1(t *testing.T, s *service.Service, name string, q api.Question) answered {
	t.Helper()
	price, err := s.AskPrice(t.Context(), &api.AskRequest{Dataset: "people", Questions: []api.Question{q}})
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	priced := price.Questions[0].Question
	a, err := s.Ask(t.Context(), &api.AskRequest{
		Dataset: "people", Questions: []api.Question{priced}, Most: &price.Cost,
		Definition: price.Definition,
	})
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	var out answered
	out.Name = name
	out.Asked, out.Quote.Questions = q, []quotedOfBook{{Question: priced, Cost: price.Questions[0].Cost}}
	out.Quote.ID, out.Quote.Token, out.Quote.Book, out.Quote.Cost, out.Quote.Fits = "qt_abcdefgh23456777", "-", "bk_abcdefgh23456777",
		price.Cost, true
	out.Quote.RequestHash, out.Quote.SchemaHash = price.Request, price.Definition
	out.Answer.ID, out.Answer.Book, out.Answer.By, out.Answer.At = "an_abcdefgh23456777", out.Quote.Book, "mori", time.Now().UTC().
		Format(time.RFC3339)
	out.Answer.Cost, out.Answer.Payload, out.Answer.Certificate = a.Cost, string(a.Payload), *a.Certificate
	one := &a.Answers[0]
	rows := []map[string]any{}
	for i := range one.Rows {
		row := map[string]any{}
		must(t, json.Unmarshal([]byte(asJSON(t, one.Rows[i])), &row))
		if text, ok := row["text"]; ok {
			row["value"] = text
			delete(row, "text")
		}
		rows = append(rows, row)
	}
	out.Answer.Questions = []answeredOfBook{{Kind: one.Question.Name(), Question: one.Question, Result: map[string]any{"rows": rows}}}
	for _, question := range []*api.Question{&out.Asked, &out.Quote.Questions[0].Question, &out.Answer.Questions[0].Question} {
		if question.Public() != "" {
			*question = question.WithPublic("public.csv")
		}
	}
	return out
}
