package service_test

import (
	"bytes"
	"encoding/json"
	"math"
	"path/filepath"
	"strings"
	"testing"

	"github.com/noren-privacy/noren"
	"github.com/noren-privacy/noren/api"
	"github.com/noren-privacy/noren/correlated"
	"github.com/noren-privacy/noren/dataset"
	"github.com/noren-privacy/noren/service"
)

const meter = `{"type":"chain","states":["off","on"],"source":"made up","init":[0.6,0.4],"P":[[0.9,0.1],[0.2,0.8]],"length":20}`

func countOn() api.Dependence {
	return api.Dependence{Model: json.RawMessage(meter), ModelQuery: api.ModelQuery{Query: json.RawMessage(`{"count":"on"}`)}}
}

// asJSON is a result as a server sends it.
func asJSON(t *testing.T, v any) string {
	t.Helper()
	text, err := json.Marshal(v)
	must(t, err)
	return string(text)
}

func TestCorrelatedLeakage(t *testing.T) {
	s := bare(t)
	all, err := s.CorrelatedLeakage(t.Context(), &api.CorrelatedLeakageRequest{Dependence: countOn(), Scale: 5})
	must(t, err)
	if !all.Exact || all.Bounds != (api.Bounds{Lower: all.Lower, Upper: all.Upper}) || all.Query.String() != "count of states 1" ||
		all.Adversaries.String() != "all" {
		t.Errorf("%+v", all)
	}
	if text := asJSON(t, all); !strings.HasPrefix(text, `{"schema":"noren.correlated.leakage/1","scale":5,"cbp":`) ||
		strings.Contains(text, "Query") {
		t.Errorf("JSON: %s", text)
	}
	valid(t, "noren.correlated.leakage-1.json", all)
	d := countOn()
	d.Adversaries = json.RawMessage(`"full"`)
	full, err := s.CorrelatedLeakage(t.Context(), &api.CorrelatedLeakageRequest{Dependence: d, Scale: 5})
	must(t, err)
	d.Adversaries = json.RawMessage(`[{"record":2,"known":[{"record":1,"state":"on"}]}]`)
	listed, err := s.CorrelatedLeakage(t.Context(), &api.CorrelatedLeakageRequest{Dependence: d, Scale: 5})
	must(t, err)
	if math.Abs(full.Upper-0.2) > 2e-9 || listed.Upper <= full.Upper || listed.Upper > all.Upper || listed.Witness.Target != 2 {
		t.Errorf("full %g, listed %g, all %g", full.Upper, listed.Upper, all.Upper)
	}
}

// A model, a query and adversaries may be in files.
func TestDependenceFiles(t *testing.T) {
	s, dir := bare(t), t.TempDir()
	file := func(name, text string) string {
		path := filepath.Join(dir, name)
		write(t, path, text)
		return path
	}
	r := &api.CorrelatedLeakageRequest{Scale: 5}
	r.ModelFile, r.QueryFile = file("model.json", meter), file("query.json", `{"count":"on"}`)
	r.AdversariesFile = file("adversaries.json", `[{"record":2,"known":[{"record":1,"state":"on"}]}]`)
	l, err := s.CorrelatedLeakage(t.Context(), r)
	must(t, err)
	if l.Witness == nil || l.Witness.Target != 2 {
		t.Errorf("%+v", l.Leakage)
	}
	for name, c := range map[string]struct {
		change func(d *api.Dependence)
		where  string
	}{
		"no model":    {func(d *api.Dependence) { d.Model = nil }, "model"},
		"no query":    {func(d *api.Dependence) { d.Query = nil }, "query"},
		"two models":  {func(d *api.Dependence) { d.ModelFile = r.ModelFile }, "model"},
		"two queries": {func(d *api.Dependence) { d.QueryFile = r.QueryFile }, "query"},
		"absent model": {
			func(d *api.Dependence) { d.Model, d.ModelFile = nil, filepath.Join(dir, "absent") },
			filepath.Join(dir, "absent"),
		},
		"absent adversaries":   {func(d *api.Dependence) { d.AdversariesFile = filepath.Join(dir, "absent") }, "adversaries"},
		"unknown state":        {func(d *api.Dependence) { d.Query = json.RawMessage(`{"count":"broken"}`) }, "query: count"},
		"unknown adversaries":  {func(d *api.Dependence) { d.Adversaries = json.RawMessage(`"some"`) }, "adversaries"},
		"no such record":       {func(d *api.Dependence) { d.Adversaries = json.RawMessage(`[{"record":20,"known":[]}]`) }, ""},
		"rows that do not sum": {func(d *api.Dependence) { d.Model = json.RawMessage(strings.Replace(meter, "0.8", "0.9", 1)) }, "model: P[1]"},
	} {
		d := countOn()
		c.change(&d)
		_, err := s.CorrelatedLeakage(t.Context(), &api.CorrelatedLeakageRequest{Dependence: d, Scale: 5})
		e, _ := err.(*noren.Error)
		if noren.KindOf(err) != noren.Usage || c.where != "" && (e == nil || e.Place() != c.where) || strings.Contains(err.Error(), "--") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestCorrelatedCalibrate(t *testing.T) {
	calls := 0
	s := bare(t)
	s.Progress = func(string, int64, int64) { calls++ }
	c, err := s.CorrelatedCalibrate(t.Context(), &api.CorrelatedCalibrateRequest{Dependence: countOn(), Epsilon: 0.5})
	must(t, err)
	if c.Upper > 0.5 || c.Scale <= c.Plain || c.Scale > c.Group || c.Evaluations == 0 || calls < c.Evaluations {
		t.Errorf("%+v, %+v, %+v, %d reports", c, c.Leakage, c.Baselines, calls)
	}
	valid(t, "noren.correlated.calibrate-1.json", c)
	if text := asJSON(t, c); !strings.HasPrefix(text, `{"schema":"noren.correlated.calibrate/1","epsilon":0.5,"scale":`) ||
		!strings.Contains(text, `"group":40`) {
		t.Errorf("JSON: %s", text)
	}
}

func TestCorrelatedExplain(t *testing.T) {
	page, err := bare(t).CorrelatedExplain(t.Context(), &api.CorrelatedExplainRequest{Dependence: countOn(), Epsilon: 1})
	must(t, err)
	var b bytes.Buffer
	must(t, page.Write(&b))
	if !strings.Contains(b.String(), "<svg") || !strings.Contains(b.String(), "made up") {
		t.Error("the page has no picture or does not state the source of the model")
	}
}

// metered is a service with a data set "people" of 20 records under the model.
func metered(t *testing.T) (s *service.Service, dir string) {
	t.Helper()
	return granted(t, "state\n"+strings.Repeat("on\noff\n", 10), &dataset.Definition{
		Columns: []dataset.Column{{Name: "state"}}, Neighbours: "replace-one", Records: 20,
		Model: &dataset.Model{Column: "state", States: []string{"off", "on"}, Distribution: json.RawMessage(meter)},
	})
}

func answerRequest(epsilon string) *api.CorrelatedAnswerRequest {
	return &api.CorrelatedAnswerRequest{Ask: api.Ask{Dataset: "people", Epsilon: epsilon}, ModelQuery: countOn().ModelQuery}
}

func TestCorrelatedAnswer(t *testing.T) {
	s, dir := metered(t)
	quote, err := s.CorrelatedAnswerPrice(t.Context(), answerRequest("5"))
	must(t, err)
	if !quote.Fits || quote.Before.Epsilon != "1000" || quote.Accuracy.Leakage.Upper > 5 {
		t.Errorf("%+v", quote)
	}
	valid(t, "noren.correlated.answer-1-dry-run.json", quote)
	a, err := s.CorrelatedAnswer(t.Context(), answerRequest("5"))
	must(t, err)
	valid(t, "noren.correlated.answer-1.json", a)
	if len(a.Values) != 1 || a.CBP > 5 || a.Charge.Epsilon != quote.Epsilon || a.Remaining.Epsilon != quote.Remaining.Epsilon {
		t.Errorf("%+v, quote %+v", a, quote)
	}
	if text := asJSON(t, a); !strings.HasPrefix(text, `{"schema":"noren.correlated.answer/1","values":[`) ||
		!strings.Contains(text, `"cbp":`) || !strings.Contains(text, `"guarantee":`) {
		t.Errorf("JSON: %s", text)
	}
	// A private file is no query, and a delta is refused; nothing is charged for it.
	private := answerRequest("1")
	private.Query, private.QueryFile = nil, filepath.Join(dir, "people.csv")
	if _, err := s.CorrelatedAnswer(t.Context(), private); noren.CodeOf(err) != "private" {
		t.Errorf("a private file as a query: %v", err)
	}
	delta := answerRequest("1")
	delta.Delta = "0.000001"
	if _, err := s.CorrelatedAnswer(t.Context(), delta); noren.KindOf(err) != noren.Usage {
		t.Errorf("a delta: %v", err)
	}
	again, err := s.CorrelatedAnswerPrice(t.Context(), answerRequest("5"))
	must(t, err)
	if again.Before.Epsilon != a.Remaining.Epsilon {
		t.Errorf("a refused request was charged: %+v", again.Before)
	}
}

func TestCorrelatedAnswerNeedsAModel(t *testing.T) {
	s, _ := people(t)
	_, err := s.CorrelatedAnswer(t.Context(), answerRequest("1"))
	if noren.CodeOf(err) != "model" || !strings.Contains(err.Error(), "data set people") || strings.Contains(err.Error(), "--") {
		t.Error(err)
	}
}

func TestCorrelatedFit(t *testing.T) {
	s := bare(t)
	s.Stdin = strings.NewReader("day,state\n" + strings.Repeat("a,off\na,off\na,on\na,on\n", 40) + strings.Repeat("b,on\nb,off\n", 40))
	chain, err := s.CorrelatedFit(t.Context(), &api.CorrelatedFitRequest{
		Table: api.Table{Input: "-"}, Column: "state", Sequence: "day",
		Length: 20, Source: "made up",
	})
	must(t, err)
	if chain.Observations != 40*4-1+40*2-1 || chain.Model.Model.Kind() != "box" || chain.Centre.Model.Kind() != "chain" ||
		!strings.Contains(chain.Model.Source, "made up") {
		t.Errorf("%d observations, %s, %s", chain.Observations, chain.Model.Model.Kind(), chain.Centre.Model.Kind())
	}
	path := filepath.Join(t.TempDir(), "survey.csv")
	write(t, path, "a,b\n"+strings.Repeat("yes,yes\nno,no\nyes,no\n", 20))
	tree, err := s.CorrelatedFit(t.Context(), &api.CorrelatedFitRequest{
		Table: api.Table{Input: path}, Columns: []string{"a", "b"},
		States: []string{"no", "yes"}, Source: "made up",
	})
	must(t, err)
	if tree.Observations != 60 || tree.Centre.Model.Kind() != "tree" || tree.Centre.Model.Records() != 2 {
		t.Errorf("%+v", tree)
	}
	// What was fitted is a model that other operations read.
	d := api.Dependence{Model: json.RawMessage(asJSON(t, tree.Model)), ModelQuery: api.ModelQuery{
		Query:  json.RawMessage(`{"count":"yes"}`),
		Method: correlated.Tanh,
	}}
	if _, err := s.CorrelatedLeakage(t.Context(), &api.CorrelatedLeakageRequest{Dependence: d, Scale: 5}); err != nil {
		t.Error(err)
	}
	for name, c := range map[string]struct {
		r     api.CorrelatedFitRequest
		where string
	}{
		"neither": {api.CorrelatedFitRequest{Table: api.Table{Input: path}, Source: "x"}, "column"},
		"both":    {api.CorrelatedFitRequest{Table: api.Table{Input: path}, Source: "x", Column: "a", Columns: []string{"b"}}, "column"},
		"tree sequence": {
			api.CorrelatedFitRequest{Table: api.Table{Input: path}, Source: "x", Columns: []string{"a"}, Sequence: "b"},
			"sequence",
		},
		"no file":   {api.CorrelatedFitRequest{Source: "x", Column: "a", Length: 3}, "input"},
		"no source": {api.CorrelatedFitRequest{Table: api.Table{Input: path}, Column: "a", Length: 3}, "source"},
	} {
		_, err := s.CorrelatedFit(t.Context(), &c.r)
		if e, _ := err.(*noren.Error); e == nil || e.Kind != noren.Usage || e.Place() != c.where {
			t.Errorf("%s: %v", name, err)
		}
	}
}
