package service_test

import (
	"encoding/json"
	"math"
	"path/filepath"
	"strings"
	"testing"

	"github.com/noren-privacy/noren"
	"github.com/noren-privacy/noren/api"
)

const lots = `{"damage_slope":1,"concealment_slope":2,"credit_slope":0.1,"false_alarm":2,"concealment":3,"identification":20,"prior":[{"count":0,"p":0.7},{"count":1,"p":0.2},{"count":3,"p":0.1}]}`

func costsOfLots() api.HarmCosts { return api.HarmCosts{Costs: json.RawMessage(lots)} }

func TestHarmEvaluate(t *testing.T) {
	s := bare(t)
	e, err := s.HarmEvaluate(t.Context(), &api.HarmEvaluateRequest{HarmCosts: costsOfLots(), Scale: 2})
	must(t, err)
	if want := math.Exp(-0.5/2) / 2; math.Abs(e.FalseAlarm-want) > 1e-12 || e.Scale != 2 || len(e.Costs.Prior) != 3 {
		t.Errorf("%+v, want a false alarm of %g", e.Evaluation, want)
	}
	if text := asJSON(t, e); !strings.HasPrefix(text, `{"schema":"noren.harm.evaluate/1","scale":2,`) || strings.Contains(text, "Costs") {
		t.Errorf("JSON: %s", text)
	}
	valid(t, "noren.harm.evaluate-1.json", e)
	geometric, err := s.HarmEvaluate(t.Context(), &api.HarmEvaluateRequest{HarmCosts: costsOfLots(), Geometric: 0.5})
	must(t, err)
	if want := math.Exp(-0.5) / (1 + math.Exp(-0.5)); math.Abs(geometric.FalseAlarm-want) > 1e-12 {
		t.Errorf("geometric: %+v", geometric.Evaluation)
	}
	// Dependent records are identified more surely.
	d := countOn()
	dependent, err := s.HarmEvaluate(t.Context(), &api.HarmEvaluateRequest{HarmCosts: costsOfLots(), Scale: 2, Dependence: &d})
	must(t, err)
	if dependent.Identified <= e.Identified || dependent.Damage != e.Damage {
		t.Errorf("dependent %+v, independent %+v", dependent.Evaluation, e.Evaluation)
	}
	for name, r := range map[string]*api.HarmEvaluateRequest{
		"no noise":   {HarmCosts: costsOfLots()},
		"two noises": {HarmCosts: costsOfLots(), Scale: 1, Geometric: 1},
		"no costs":   {Scale: 1},
		"no file":    {HarmCosts: api.HarmCosts{CostsFile: filepath.Join(t.TempDir(), "absent")}, Scale: 1},
		"no query":   {HarmCosts: costsOfLots(), Scale: 1, Dependence: &api.Dependence{Model: json.RawMessage(meter)}},
	} {
		if _, err := s.HarmEvaluate(t.Context(), r); noren.KindOf(err) != noren.Usage || strings.Contains(err.Error(), "--") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestHarmOptimise(t *testing.T) {
	s := bare(t)
	free, err := s.HarmOptimise(t.Context(), &api.HarmOptimiseRequest{HarmCosts: costsOfLots()})
	must(t, err)
	if math.Abs(free.Scale-2.961) > 1e-3 || free.AtLimit {
		t.Errorf("scale %g, want the worked optimum 2.961", free.Scale)
	}
	valid(t, "noren.harm.optimise-1.json", free)
	limit := 0.1
	limited, err := s.HarmOptimise(t.Context(), &api.HarmOptimiseRequest{HarmCosts: costsOfLots(), EpsilonMax: &limit})
	must(t, err)
	if !limited.AtLimit || math.Abs(limited.Scale-10) > 1e-9 {
		t.Errorf("scale %g with a loss of at most 0.1, want 10", limited.Scale)
	}
	one, d := 1.0, countOn()
	dependent, err := s.HarmOptimise(t.Context(), &api.HarmOptimiseRequest{
		HarmCosts: costsOfLots(), EpsilonMax: &one, Points: 10,
		Dependence: &d,
	})
	must(t, err)
	if dependent.Epsilon > 1 || dependent.Scale < 1 {
		t.Errorf("%+v", dependent.Evaluation)
	}
	none := 0.0
	if _, err := s.HarmOptimise(t.Context(), &api.HarmOptimiseRequest{HarmCosts: costsOfLots(), EpsilonMax: &none}); noren.KindOf(
		err) != noren.Usage {
		t.Errorf("a limit of 0: %v", err)
	}
}

func TestHarmThreshold(t *testing.T) {
	r := &api.HarmThresholdRequest{HarmCosts: costsOfLots(), Scale: 0.1}
	best, err := bare(t).HarmThreshold(t.Context(), r)
	must(t, err)
	if best.Tau <= 0.5 || best.Tau >= 0.6 || best.Uninformative ||
		!strings.HasPrefix(asJSON(t, best), `{"schema":"noren.harm.threshold/1","tau":`) {
		t.Errorf("%+v", best)
	}
	valid(t, "noren.harm.threshold-1.json", best)
	r.Scale = 0
	if _, err := bare(t).HarmThreshold(t.Context(), r); noren.KindOf(err) != noren.Usage {
		t.Errorf("no scale: %v", err)
	}
}
