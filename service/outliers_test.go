package service_test

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/noren-privacy/noren"
	"github.com/noren-privacy/noren/api"
	"github.com/noren-privacy/noren/dataset"
	"github.com/noren-privacy/noren/internal/randtest"
	"github.com/noren-privacy/noren/outlier"
)

// sensors is a service with a data set "people" of 40 points on a line and 3 far away.
func sensors(t *testing.T) (*api.OutliersCountRequest, func() (*api.Outliers, *api.Quote[api.OutliersAccuracy], error)) {
	t.Helper()
	s, dir := granted(t, "x\n"+strings.Repeat("10\n", 40)+"50\n70\n90\n",
		&dataset.Definition{AtMost: 1000, Columns: []dataset.Column{{Name: "x", Type: "integer"}}})
	scales := filepath.Join(dir, "scales.csv")
	write(t, scales, "column,low,high,scale\nx,0,100,1\n")
	r := &api.OutliersCountRequest{
		Ask: api.Ask{Dataset: "people", Epsilon: "90"}, Columns: []string{"x"}, K: 2, Radius: 5, Step: 1,
		ScaleFile: scales,
	}
	return r, func() (*api.Outliers, *api.Quote[api.OutliersAccuracy], error) {
		q, err := s.OutliersCountPrice(t.Context(), r)
		if err != nil {
			return nil, nil, err
		}
		a, err := s.OutliersCount(t.Context(), r)
		return a, q, err
	}
}

func TestOutliersCount(t *testing.T) {
	_, ask := sensors(t)
	a, q, err := ask()
	must(t, err)
	if a.Count > 10 || a.Charge == nil || a.Remaining.Epsilon != "910" {
		t.Errorf("%+v", a)
	}
	valid(t, "noren.outliers-1.json", a)
	valid(t, "noren.outliers-1-dry-run.json", q)
	if !q.Fits || q.Remaining.Epsilon != "910" || !(q.Accuracy.MostSD > 0) || q.Accuracy.SD != 0 {
		t.Errorf("price: %+v %+v", q.Price, q.Accuracy)
	}
}

func TestOutliersPriceRefused(t *testing.T) {
	randtest.SkipShort(t)
	for name, c := range map[string]struct {
		change func(r *api.OutliersCountRequest)
		where  string
	}{
		"z-scores":       {func(r *api.OutliersCountRequest) { r.Scale = "zscore" }, "scale"},
		"no columns":     {func(r *api.OutliersCountRequest) { r.Columns = nil }, "columns"},
		"unknown column": {func(r *api.OutliersCountRequest) { r.Columns = []string{"y"} }, "columns"},
		"no bounds":      {func(r *api.OutliersCountRequest) { r.ScaleFile = "" }, "box"},
		"three bounds":   {func(r *api.OutliersCountRequest) { r.Box = []float64{0, 1, 2} }, "box"},
		"records":        {func(r *api.OutliersCountRequest) { r.Records = 43 }, "records"},
	} {
		r, ask := sensors(t)
		c.change(r)
		_, _, err := ask()
		e, _ := err.(*noren.Error)
		if e == nil || e.Place() != c.where || noren.KindOf(err) != noren.Usage {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestOutliersPlan(t *testing.T) {
	randtest.SkipShort(t)
	r := &api.OutliersPlanRequest{Facts: outlier.Facts{Dimensions: 2, K: 5, Epsilon: 1}, Share: 0.01}
	p, err := bare(t).OutliersPlan(t.Context(), r)
	must(t, err)
	valid(t, "noren.outliers.plan-1.json", p)
	if p.Relation != "add-remove" || len(p.Table) != 16 || p.Noise.Family != outlier.Lomax {
		t.Errorf("%+v", p)
	}
	r.Share = 0
	if _, err = bare(t).OutliersPlan(t.Context(), r); noren.KindOf(err) != noren.Usage {
		t.Errorf("a share of 0: %v", err)
	}
}

func TestOutliersSensitivity(t *testing.T) {
	s := bare(t)
	s.Stdin = strings.NewReader("x,y\n0,0\n1,0\n9,9\n")
	d, err := s.OutliersSensitivity(t.Context(), &api.OutliersSensitivityRequest{Input: "-", K: 1, Radius2: 1, UpTo: 2, Beta: []string{"0.1"}})
	must(t, err)
	valid(t, "noren.outliers.sensitivity-1.json", d)
	if d.Query != 1 || len(d.U) != 3 || d.Private != "do not release" {
		t.Errorf("%+v", d)
	}
	if _, single := d.S.(float64); !single {
		t.Errorf("S is %T for one beta", d.S)
	}
}
