package service_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/noren-privacy/noren"
	"github.com/noren-privacy/noren/api"
	"github.com/noren-privacy/noren/ldp/survey"
	"github.com/noren-privacy/noren/spec"
)

func grr(t *testing.T, epsilon float64, labels ...string) api.LDPSurvey {
	t.Helper()
	return api.LDPSurvey{Spec: survey.Spec{
		Version: 1, Mechanism: "grr", Epsilon: epsilon,
		Attribute: survey.Attribute{Column: "colour", Labels: labels},
	}}
}

// where checks that an error is of that kind and names that field.
func where(t *testing.T, err error, kind noren.Kind, field string) {
	t.Helper()
	e, ok := err.(*noren.Error)
	if !ok || noren.KindOf(err) != kind || e.Place() != field {
		t.Errorf("error %v, want kind %s about %q", err, kind, field)
	}
}

func TestLDPDesign(t *testing.T) {
	s := bare(t)
	d, err := s.LDPDesign(t.Context(), &api.LDPDesignRequest{
		Spec: survey.Spec{Version: 1, Epsilon: 1, Attribute: survey.Attribute{Size: 5}},
		N:    10_000, Error: 0.01,
	})
	must(t, err)
	if d.Best.Mechanism != "grr" || d.Best.Needed != 36827 || d.Spec.Mechanism != "grr" || d.Privacy.Lifetime != nil {
		t.Errorf("%+v", d)
	}
	valid(t, "noren.ldp.design-1.json", d)
	text, err := json.Marshal(d)
	must(t, err)
	if !strings.HasPrefix(string(text), `{"schema":"noren.ldp.design/1","kind":"shares","domain":5,"epsilon":1`) {
		t.Errorf("JSON: %s", text)
	}
	_, err = s.LDPDesign(t.Context(), &api.LDPDesignRequest{
		Spec: survey.Spec{Version: 1, Epsilon: 1, Attribute: survey.Attribute{Size: 5}},
		N:    -1,
	})
	where(t, err, noren.Usage, "n")
}

func TestLDPWordDesign(t *testing.T) {
	s := bare(t)
	d, err := s.LDPWordDesign(t.Context(), &api.LDPWordDesignRequest{Spec: survey.Spec{Version: 1, Epsilon: 2}, Candidates: 200, N: 100_000})
	must(t, err)
	valid(t, "noren.ldp.design-1-words.json", d)
	if !d.Best.Joint || int64(d.Best.Params.K)*d.Best.Params.M < 800 || d.Best.Spec.Mechanism != "rappor-one-time" || d.Privacy.Report > 2 {
		t.Errorf("%+v", d.Best)
	}
	_, err = s.LDPWordDesign(t.Context(), &api.LDPWordDesignRequest{Spec: survey.Spec{Version: 1, Epsilon: 2}, Candidates: 200})
	where(t, err, noren.Usage, "n")
}

// Reports of a table go through a file to the estimate, which holds the truth. A key of
// the devices is made once, for its owner alone, and gives the same permanent answers.
func TestLDPRandomiseAndEstimate(t *testing.T) {
	s := bare(t)
	var notes []string
	s.Note = func(n api.Note) { notes = append(notes, n.Code) }
	dir := t.TempDir()
	table := filepath.Join(dir, "t.csv")
	var text strings.Builder
	text.WriteString("id,colour\n")
	for i := range 3000 {
		fmt.Fprintf(&text, "p%d,%s\n", i, []string{"red", "red", "green"}[i%3])
	}
	write(t, table, text.String())
	r := api.LDPRandomiseRequest{
		Table: api.Table{Input: table}, Survey: grr(t, 2, "red", "green", "blue"), Client: "id", Devices: filepath.Join(dir, "key"),
		Output: "reports.txt",
	}
	_, err := s.LDPRandomise(t.Context(), &r)
	where(t, err, noren.Usage, "devices") // grr has no memory
	r.Survey.Spec.Mechanism, r.Survey.Spec.Lifetime = "longitudinal-grr", 30
	first, err := s.LDPRandomise(t.Context(), &r)
	must(t, err)
	valid(t, "noren.ldp.randomize-1.json", first)
	if first.Reports != 3000 || first.Repeated != 0 || first.Privacy.Lifetime == nil || bytes.Count(first.Lines, []byte("\n")) != 3002 {
		t.Errorf("%+v", first.Privacy)
	}
	if info, err := os.Stat(r.Devices); err != nil || info.Mode().Perm() != 0o600 || len(notes) != 1 || notes[0] != "devices-key" {
		t.Errorf("key: %v, notes %v", err, notes)
	}
	if _, err = s.LDPRandomise(t.Context(), &r); err != nil || len(notes) != 1 {
		t.Errorf("second round: %v, notes %v", err, notes)
	}
	e, err := s.LDPEstimate(t.Context(), &api.LDPEstimateRequest{
		Survey:  r.Survey,
		Reports: []api.LDPFile{{Name: "reports", Reader: bytes.NewReader(first.Lines)}}, Level: 0.9999, Project: true,
	})
	must(t, err)
	valid(t, "noren.ldp.estimate-1.json", e)
	for l, truth := range []float64{2. / 3, 1. / 3, 0} {
		if x := e.Shares.Labels[l]; x.Low > truth || truth > x.High || x.Projected == nil {
			t.Errorf("%s: %g to %g, truth %g", x.Label, x.Low, x.High, truth)
		}
	}
	rounds, err := s.LDPEstimate(t.Context(), &api.LDPEstimateRequest{
		Survey: r.Survey, Rounds: true, Reports: []api.LDPFile{
			{Name: "one", Reader: bytes.NewReader(first.Lines)}, {Name: "two", Reader: bytes.NewReader(first.Lines)},
		},
	})
	must(t, err)
	if rounds.Rounds != 2 || rounds.People != 3000 || rounds.Reports != 6000 {
		t.Errorf("%d rounds, %d people, %d reports", rounds.Rounds, rounds.People, rounds.Reports)
	}
	r.Devices = ""
	if again, err := s.LDPRandomise(t.Context(), &r); err != nil || again.Privacy.Lifetime != nil {
		t.Errorf("without a key nothing bounds the lifetime: %v", err)
	}
}

func TestLDPEstimateRefuses(t *testing.T) {
	s := bare(t)
	good := api.LDPEstimateRequest{Survey: grr(t, 1, "red", "green"), Reports: []api.LDPFile{{Name: "r", Reader: strings.NewReader("0\n1\n")}}}
	for _, c := range []struct {
		field  string
		kind   noren.Kind
		change func(r *api.LDPEstimateRequest)
	}{
		{"reports", noren.Usage, func(r *api.LDPEstimateRequest) { r.Reports = nil }},
		{"level", noren.Usage, func(r *api.LDPEstimateRequest) { r.Level = 1 }},
		{"alpha", noren.Usage, func(r *api.LDPEstimateRequest) { r.Alpha = -1 }},
		{"max-malformed", noren.Usage, func(r *api.LDPEstimateRequest) { r.MaxMalformed = 2 }},
		{"correction", noren.Usage, func(r *api.LDPEstimateRequest) { r.Correction = "none" }},
		{"counts", noren.Usage, func(r *api.LDPEstimateRequest) { r.Counts = true }},
		{"candidates", noren.Usage, func(r *api.LDPEstimateRequest) { r.Candidates = []string{"a"} }},
		{"associate", noren.Usage, func(r *api.LDPEstimateRequest) { r.Associate = []string{"a"} }},
		{"allow-repeats", noren.Usage, func(r *api.LDPEstimateRequest) { r.AllowRepeats, r.Associate = true, []string{"a", "b"} }},
		{"rounds", noren.Usage, func(r *api.LDPEstimateRequest) { r.Rounds, r.AllowRepeats = true, true }},
		{"r", noren.BadData, func(r *api.LDPEstimateRequest) { r.Reports = append(r.Reports, r.Reports[0]) }},
		{"absent", noren.Usage, func(r *api.LDPEstimateRequest) { r.Reports = []api.LDPFile{{Name: "absent"}} }},
	} {
		r := good
		c.change(&r)
		_, err := s.LDPEstimate(t.Context(), &r)
		where(t, err, c.kind, c.field)
	}
	good.Survey.File, good.Survey.Spec.Epsilon = "survey.yaml", -1
	_, err := s.LDPEstimate(t.Context(), &good)
	where(t, err, noren.Usage, "survey.yaml")
}

// The same seed gives the same result; people of a table make it private.
func TestLDPSimulate(t *testing.T) {
	s := bare(t)
	seed := uint64(7)
	r := api.LDPSimulateRequest{Survey: grr(t, 1, "red", "green"), N: 200, Trials: 2, Seed: &seed, Ns: []int{50, 100}}
	one, err := s.LDPSimulate(t.Context(), &r)
	must(t, err)
	valid(t, "noren.ldp.simulate-1.json", one)
	two, err := s.LDPSimulate(t.Context(), &r)
	must(t, err)
	a, _ := json.Marshal(one)
	b, _ := json.Marshal(two)
	if !bytes.Equal(a, b) || one.Private != "" || len(one.Curves) != 2 {
		t.Errorf("%s\n%s", a, b)
	}
	path := filepath.Join(t.TempDir(), "t.csv")
	write(t, path, "colour\n"+strings.Repeat("red\n", 30)+strings.Repeat("green\n", 10))
	r.Table, r.N = &api.Table{Input: path}, 0
	private, err := s.LDPSimulate(t.Context(), &r)
	must(t, err)
	if private.Private == "" || private.N != 40 || math.Abs(private.Attributes[0].Labels[0].True-0.75) > 1e-12 {
		t.Errorf("%+v", private)
	}
	r.Compare = []string{"magic"}
	_, err = s.LDPSimulate(t.Context(), &r)
	where(t, err, noren.Usage, "compare")
}

func TestLDPEvaluate(t *testing.T) {
	s := bare(t)
	path := filepath.Join(t.TempDir(), "t.csv")
	var text strings.Builder
	text.WriteString("age,colour,ill\n")
	for i := range 20 {
		fmt.Fprintf(&text, "%d,red,no\n%d,blue,yes\n", 20+i, 60+i)
	}
	write(t, path, text.String())
	r := api.LDPEvaluateRequest{
		Table: api.Table{Input: path, Spec: &spec.Spec{Version: 1, Input: spec.Input{Missing: []string{"NA"}}}},
		Label: "ill", Bounds: map[string][2]string{"age": {"0", "110"}}, Mechanisms: []string{"grr"}, Epsilons: []float64{8}, Folds: 2,
		Repeats: 1, Models: []string{"svm"},
	}
	e, err := s.LDPEvaluate(t.Context(), &r)
	must(t, err)
	valid(t, "noren.ldp.evaluate-1.json", e)
	if e.Private == "" || e.Input != path || e.Label != "ill" || len(e.Attributes) != 2 ||
		e.Find("svm", "raw", "raw", "", 0).Accuracy.Mean != 1 {
		t.Errorf("%+v", e.Result)
	}
	r.Bounds["ill"] = [2]string{"0", "1"}
	_, err = s.LDPEvaluate(t.Context(), &r)
	where(t, err, noren.Usage, "bounds")
	r.Label = ""
	_, err = s.LDPEvaluate(t.Context(), &r)
	where(t, err, noren.Usage, "label")
}

// Edges are charged once, lie between the public bounds and state their cost.
func TestLDPEdges(t *testing.T) {
	s, _ := people(t)
	r := api.LDPEdgesRequest{Ask: api.Ask{Dataset: "people", Epsilon: "500"}, Column: "age", Count: 2}
	e, err := s.LDPEdges(t.Context(), &r)
	must(t, err)
	valid(t, "noren.ldp.edges-1.json", e)
	if len(e.Edges) != 3 || e.Edges[0] != 0 || e.Edges[2] != 110 || e.Edges[1] < 30 || e.Edges[1] > 63 {
		t.Errorf("edges %v", e.Edges)
	}
	if e.EdgesEpsilon != "500" || e.Charge == nil || e.Charge.Epsilon != "500" || e.Remaining.Epsilon != "500" {
		t.Errorf("receipt %+v", e.Receipt)
	}
	r.Column = ""
	_, err = s.LDPEdges(t.Context(), &r)
	where(t, err, noren.Usage, "column")
}

func TestLDPEdgesPrice(t *testing.T) {
	s, _ := people(t)
	r := api.LDPEdgesRequest{Ask: api.Ask{Dataset: "people", Epsilon: "1000"}, Column: "age"}
	for range 2 { // nothing is charged
		q, err := s.LDPEdgesPrice(t.Context(), &r)
		must(t, err)
		valid(t, "noren.ldp.edges-1-dry-run.json", q)
		if !q.Fits || q.Before.Epsilon != "1000" || q.Remaining.Epsilon != "0" || q.Accuracy == nil || q.Schema != api.LDPEdgesSchema {
			t.Errorf("%+v", q)
		}
	}
}
