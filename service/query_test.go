package service_test

import (
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"

	"github.com/noren-privacy/noren"
	"github.com/noren-privacy/noren/api"
	"github.com/noren-privacy/noren/query"
	"github.com/noren-privacy/noren/spec"
)

func countRequest(name string) *api.QueryRequest {
	return &api.QueryRequest{Ask: api.Ask{Dataset: name, Epsilon: "100"}, Kind: query.Count, Where: "age >= 60"}
}

func TestQuery(t *testing.T) {
	s, _ := people(t)
	a, err := s.Query(t.Context(), countRequest("people"))
	must(t, err)
	if v := float64(*a.Value); v < 25 || v > 35 {
		t.Errorf("count %g, want about 30", v)
	}
	if a.Charge == nil || a.Charge.Dataset != "people" || a.Remaining.Epsilon != "900" || a.Certificate == nil || len(a.Payload) == 0 {
		t.Errorf("receipt: %+v", a.Receipt)
	}
	valid(t, "noren.query-1.json", a)
	text, err := json.Marshal(a)
	must(t, err)
	if !strings.HasPrefix(string(text), `{"schema":"noren.query/1","format":"noren.query/1","query":"count"`) ||
		strings.Contains(string(text), "Payload") {
		t.Errorf("JSON: %s", text)
	}
}

func TestQueryPrice(t *testing.T) {
	s, _ := people(t)
	q, err := s.QueryPrice(t.Context(), countRequest("people"))
	must(t, err)
	if !q.Fits || q.Before.Epsilon != "1000" || q.Remaining.Epsilon != "900" || q.Accuracy == nil {
		t.Errorf("%+v", q)
	}
	valid(t, "noren.query-1-dry-run.json", q)
	again, err := s.QueryPrice(t.Context(), countRequest("people"))
	must(t, err)
	if again.Before.Epsilon != "1000" {
		t.Errorf("a price was charged: %+v", again)
	}
}

func TestQueryAccuracy(t *testing.T) {
	r := &api.QueryRequest{Ask: api.Ask{Dataset: "nothing", Epsilon: "1"}, Kind: query.Quantile, Column: "age", Bounds: []string{"0", "110"}}
	s := bare(t)
	s.Ledger = filepath.Join(t.TempDir(), "absent.db")
	out, err := s.QueryAccuracy(t.Context(), r)
	must(t, err)
	valid(t, "noren.query.accuracy-1.json", out)
	if len(out.Accuracy) != 2 || out.Accuracy[0].Mechanism != query.Exponential || out.Accuracy[1].Mechanism != query.Smooth {
		t.Errorf("%+v", out)
	}
}

func TestQueryUnaccounted(t *testing.T) {
	s, dir := people(t)
	public := filepath.Join(dir, "public.csv")
	write(t, public, "age\n61\n62\n")
	var codes []string
	s.Note = func(n api.Note) { codes = append(codes, n.Code) }
	r := countRequest(public)
	r.Unaccounted = true
	r.Spec = &spec.Spec{Columns: map[string]spec.Column{"age": {Type: "integer"}}}
	a, err := s.Query(t.Context(), r)
	must(t, err)
	valid(t, "noren.query-1.json", a)
	if a.Charge != nil || a.Remaining != nil || len(codes) != 1 || codes[0] != "unaccounted" {
		t.Errorf("%+v, notes %v", a.Receipt, codes)
	}
	private := countRequest(filepath.Join(dir, "people.csv"))
	private.Unaccounted, private.Spec = true, r.Spec
	if _, err := s.Query(t.Context(), private); noren.CodeOf(err) != "known" {
		t.Errorf("the file of a data set: %v", err)
	}
}

// What is refused before anything is charged.
func TestQueryRefused(t *testing.T) {
	s, dir := people(t)
	private, book := filepath.Join(dir, "people.csv"), s.Ledger
	for name, c := range map[string]struct {
		change func(r *api.QueryRequest)
		code   string
		where  string
	}{
		"no data set":       {func(r *api.QueryRequest) { r.Dataset = "" }, "", "dataset"},
		"no epsilon":        {func(r *api.QueryRequest) { r.Epsilon = "" }, "", "epsilon"},
		"unknown data set":  {func(r *api.QueryRequest) { r.Dataset = "others" }, "no-dataset", ""},
		"private keys":      {func(r *api.QueryRequest) { r.By, r.KeysFile = []string{"sex"}, private }, "private", ""},
		"keys without by":   {func(r *api.QueryRequest) { r.Keys = [][]string{{"f"}} }, "", "by"},
		"output is private": {func(r *api.QueryRequest) { r.Outputs = []string{private} }, "output-is-input", ""},
		"output is ledger":  {func(r *api.QueryRequest) { r.Outputs = []string{book} }, "output-is-input", ""},
		"pinned type": {func(r *api.QueryRequest) {
			r.Spec = &spec.Spec{Columns: map[string]spec.Column{"age": {Type: "category"}}}
		}, "schema-pinned", "type"},
		"pinned neighbours": {func(r *api.QueryRequest) { r.Neighbours = "replace-one" }, "schema-pinned", "neighbours"},
		"another unit":      {func(r *api.QueryRequest) { r.Unit = "sex" }, "schema-pinned", "unit"},
		"over the budget":   {func(r *api.QueryRequest) { r.Epsilon, r.Noise, r.Delta = "1", query.Gaussian, "0.5" }, "budget-refused", ""},
		"reuse without ledger": {func(r *api.QueryRequest) {
			r.Unaccounted, r.Reuse = true, true
		}, "", "reuse"},
	} {
		r := countRequest("people")
		c.change(r)
		_, err := s.Query(t.Context(), r)
		e, _ := err.(*noren.Error)
		if err == nil || noren.CodeOf(err) != c.code || c.where != "" && (e == nil || e.Place() != c.where) {
			t.Errorf("%s: %v (code %q)", name, err, noren.CodeOf(err))
		}
		if err != nil && (strings.Contains(err.Error(), "--") || strings.Contains(err.Error(), "noren ")) {
			t.Errorf("%s: a service error names a flag or a command: %v", name, err)
		}
	}
	q, err := s.QueryPrice(t.Context(), countRequest("people"))
	must(t, err)
	if q.Before.Epsilon != "1000" {
		t.Errorf("a refused request was charged: %+v", q.Before)
	}
}
