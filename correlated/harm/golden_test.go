package harm

import (
	"context"
	"encoding/json"
	"math"
	"os"
	"strconv"
	"testing"
)

type goldenParams struct {
	SD, SC float64
	S0     float64 `json:"s0"`
	JD, JC float64
	Tau    float64
	Delta  float64
	WI     float64 `json:"wI"`
	Prior  map[string]float64
}

func (p goldenParams) costs() *Costs {
	c := &Costs{
		DamageSlope: p.SD, ConcealmentSlope: p.SC, CreditSlope: p.S0, FalseAlarm: p.JD, Concealment: p.JC,
		Threshold: p.Tau, Sensitivity: p.Delta, Identification: p.WI, Prior: []Share{{0, 1}},
	}
	if p.Prior != nil {
		c.Prior = nil
		for t, v := range p.Prior {
			n, _ := strconv.Atoi(t)
			c.Prior = append(c.Prior, Share{n, v})
		}
	}
	return c
}

type goldenFile struct {
	Laplace []struct {
		B                           float64
		T                           int
		Params                      goldenParams
		Damage, Concealment, Credit float64
		Test                        float64  `json:"ident_test"`
		Posterior                   float64  `json:"ident_posterior"`
		FalseAlarm                  *float64 `json:"p_false_alarm"`
		Conceal                     *float64 `json:"p_conceal"`
	}
	Geometric []struct {
		Eps        float64
		T          int
		FalseAlarm *float64 `json:"p_false_alarm"`
		Conceal    *float64 `json:"p_conceal"`
		Over       float64  `json:"e_over"`
		Under      float64  `json:"e_under"`
	}
	Threshold []struct {
		B, Ratio, Tau float64
		Uninformative bool
	}
	Optimum []struct {
		Params goldenParams
		B      float64 `json:"b_opt"`
		Value  float64
		Minima []float64 `json:"local_minima"`
	}
}

func goldenRows(t *testing.T) *goldenFile {
	t.Helper()
	data, err := os.ReadFile("testdata/golden.json")
	if err != nil {
		t.Fatal(err)
	}
	g := &goldenFile{}
	if err := json.Unmarshal(data, g); err != nil {
		t.Fatal(err)
	}
	return g
}

func near(a, b float64) bool { return math.Abs(a-b) <= 1e-10*math.Max(1, math.Abs(b)) }

func TestGoldenLaplace(t *testing.T) {
	rows := goldenRows(t).Laplace
	if len(rows) == 0 {
		t.Fatal("no rows")
	}
	for _, r := range rows {
		c := r.Params.costs()
		c.Prior = []Share{{r.T, 1}}
		e, err := c.Evaluate(r.B, 0)
		if err != nil {
			t.Fatal(err)
		}
		c.Measure = Test
		other, err := c.Evaluate(r.B, 0)
		if err != nil {
			t.Fatal(err)
		}
		k := e.Cases[0]
		if !near(e.Damage, r.Damage) || !near(e.Concealment, r.Concealment) || !near(e.Credit, r.Credit) ||
			!near(e.Identified, r.Posterior) || !near(other.Identified, r.Test) ||
			r.FalseAlarm != nil && !near(k.Alarm, *r.FalseAlarm) || r.Conceal != nil && !near(k.NoAlarm, *r.Conceal) {
			t.Errorf("b=%g t=%d: %+v, want %+v", r.B, r.T, e, r)
		}
	}
}

func TestGoldenGeometric(t *testing.T) {
	rows := goldenRows(t).Geometric
	if len(rows) == 0 {
		t.Fatal("no rows")
	}
	for _, r := range rows {
		c := &Costs{DamageSlope: 1, ConcealmentSlope: 1, Prior: []Share{{r.T, 1}}}
		e, err := c.EvaluateGeometric(r.Eps, 0)
		if err != nil {
			t.Fatal(err)
		}
		k := e.Cases[0]
		if !near(e.Damage, r.Over) || !near(e.Concealment, r.Under) ||
			r.FalseAlarm != nil && !near(k.Alarm, *r.FalseAlarm) || r.Conceal != nil && !near(k.NoAlarm, *r.Conceal) {
			t.Errorf("eps=%g t=%d: %+v, want %+v", r.Eps, r.T, e, r)
		}
	}
}

func TestGoldenThreshold(t *testing.T) {
	for _, r := range goldenRows(t).Threshold {
		h, err := ChooseThreshold(r.B, r.Ratio, 1)
		if err != nil {
			t.Fatal(err)
		}
		if !near(h.Tau, r.Tau) || h.Uninformative != r.Uninformative {
			t.Errorf("b=%g ratio=%g: %+v, want %g, %v", r.B, r.Ratio, h, r.Tau, r.Uninformative)
		}
	}
}

func TestGoldenOptimum(t *testing.T) {
	for _, r := range goldenRows(t).Optimum {
		o, err := r.Params.costs().Optimise(context.Background(), Search{EpsilonMax: 1000})
		if err != nil {
			t.Fatal(err)
		}
		if math.Abs(o.Scale-r.B) > 1e-3 || math.Abs(o.Total-r.Value) > 1e-6 || len(o.Minima) != len(r.Minima) ||
			o.AtLimit != (len(r.Minima) == 0) {
			t.Errorf("w_I=%g: b=%g, J=%.9g, minima %v, limit %v; want %g, %.9g, %v", r.Params.WI, o.Scale, o.Total, o.Minima, o.AtLimit, r.B,
				r.Value, r.Minima)
		}
	}
}
