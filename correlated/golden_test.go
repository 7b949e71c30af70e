package correlated

import (
	"context"
	"encoding/json"
	"math"
	"os"
	"testing"
)

// goldenFile is testdata/golden.json: see testdata/README.md for its source.
type goldenFile struct {
	Cases []struct {
		Name  string
		Model goldenModel
		G     [][]float64
		CBP   []struct {
			B      float64
			CBP    float64
			Empty  float64 `json:"cbp_K_empty"`
			Full   float64 `json:"cbp_K_full"`
			Tanh   float64 `json:"tanh_bound"`
			Argmax struct {
				Record int
				K, XK  []int
			}
		}
		Calibrated []struct {
			Eps, B, Independent, Group, Range float64
			Tanh                              float64 `json:"b_tanh"`
		}
	}
	Histogram []struct {
		Name   string
		Shape  []int
		P      []float64
		B, CBP float64
	}
	Chain100 []struct {
		Name        string
		N           int
		Eps         float64
		Independent float64
		All         float64 `json:"exact_allK"`
		Empty       float64 `json:"exact_emptyK"`
		Tanh        float64
		MQM         float64 `json:"mqm_exact"`
		Group       float64
	}
}

type goldenModel struct {
	Type   string
	Shape  []int
	P      json.RawMessage
	Init   []float64
	Parent []int
	Prior  []float64
	CPT    [][][]float64
}

func golden(t testing.TB) *goldenFile {
	t.Helper()
	data, err := os.ReadFile("testdata/golden.json")
	if err != nil {
		t.Fatal(err)
	}
	g := &goldenFile{}
	if err := json.Unmarshal(data, g); err != nil {
		t.Fatal(err)
	}
	if len(g.Cases) == 0 || len(g.Histogram) == 0 || len(g.Chain100) == 0 {
		t.Fatal("the golden file has lost its cases")
	}
	return g
}

func (g goldenModel) model(t testing.TB) Model {
	t.Helper()
	var m Model
	var err error
	switch g.Type {
	case "table":
		var p []float64
		if err := json.Unmarshal(g.P, &p); err != nil {
			t.Fatal(err)
		}
		m, err = NewJointTable(g.Shape, p)
	case "chain":
		var p [][][]float64
		if err := json.Unmarshal(g.P, &p); err != nil {
			t.Fatal(err)
		}
		m, err = NewChain(g.Init, p)
	case "tree":
		m, err = NewTree(g.Parent, g.Prior, g.CPT)
	default:
		t.Fatalf("unknown type %q", g.Type)
	}
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// close reports equality to the golden file's twelve digits.
func closeTo(got, want, tolerance float64) bool {
	return math.Abs(got-want) <= tolerance*math.Max(1, math.Abs(want))
}

func TestGoldenLeakage(t *testing.T) {
	ctx := context.Background()
	for _, c := range golden(t).Cases {
		m := c.Model.model(t)
		q := Values(c.G)
		for _, row := range c.CBP {
			known := make([]Known, len(row.Argmax.K))
			for i, k := range row.Argmax.K {
				known[i] = Known{k, row.Argmax.XK[i]}
			}
			for _, v := range []struct {
				name string
				who  Adversaries
				want float64
			}{
				{"all", AllAdversaries(), row.CBP},
				{"empty", EmptyAdversaries(), row.Empty},
				{"full", FullAdversaries(), row.Full},
				{"worst", ListedAdversaries(Adversary{row.Argmax.Record, known}), row.CBP},
			} {
				l, err := ComputeLeakage(ctx, m, q, row.B, LeakageOptions{Adversaries: v.who})
				if err != nil {
					t.Fatal(err)
				}
				if !l.Exact || !closeTo(l.Upper, v.want, 1e-10) {
					t.Errorf("%s, b=%g, %s: %.13g, exact %v; want %.13g", c.Name, row.B, v.name, l.Upper, l.Exact, v.want)
				}
			}
			if row.Tanh > 0 {
				l, err := ComputeLeakage(ctx, m, q, row.B, LeakageOptions{Method: Tanh})
				if err != nil {
					t.Fatal(err)
				}
				if l.Exact || !closeTo(l.Upper, row.Tanh, 1e-10) {
					t.Errorf("%s, b=%g: tanh %.13g, want %.13g", c.Name, row.B, l.Upper, row.Tanh)
				}
			}
		}
	}
}

func TestGoldenCalibration(t *testing.T) {
	ctx := context.Background()
	for _, c := range golden(t).Cases {
		m := c.Model.model(t)
		q := Values(c.G)
		for _, row := range c.Calibrated {
			k, err := Calibrate(ctx, m, q, row.Eps, LeakageOptions{})
			if err != nil {
				t.Fatal(err)
			}
			if !closeTo(k.Scale, row.B, 2e-9) || k.Leakage.Upper > row.Eps {
				t.Errorf("%s, eps=%g: b=%.12g, want %.12g; leakage %.12g", c.Name, row.Eps, k.Scale, row.B, k.Leakage.Upper)
			}
			if row.Tanh > 0 {
				k, err := Calibrate(ctx, m, q, row.Eps, LeakageOptions{Method: Tanh})
				if err != nil {
					t.Fatal(err)
				}
				if !closeTo(k.Scale, row.Tanh, 2e-9) || k.Leakage.Upper > row.Eps {
					t.Errorf("%s, eps=%g: tanh b=%.12g, want %.12g", c.Name, row.Eps, k.Scale, row.Tanh)
				}
			}
			t.Logf("%s eps=%g: %d evaluations", c.Name, row.Eps, k.Evaluations)
		}
	}
}

func TestGoldenHistogram(t *testing.T) {
	for _, c := range golden(t).Histogram {
		m, err := NewJointTable(c.Shape, c.P)
		if err != nil {
			t.Fatal(err)
		}
		l, err := ComputeLeakage(context.Background(), m, Histogram(), c.B, LeakageOptions{})
		if err != nil {
			t.Fatal(err)
		}
		if !l.Exact || !closeTo(l.Upper, c.CBP, 1e-10) {
			t.Errorf("%s, b=%g: %.13g, want %.13g", c.Name, c.B, l.Upper, c.CBP)
		}
	}
}
