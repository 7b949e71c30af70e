package service_test

import (
	"math"
	"path/filepath"
	"reflect"
	"testing"

	"github.com/noren-privacy/noren/api"
)

// TestQueryErrorIsOneFigure: a release, an assessment of it and a curve ask the same counts, and two runs say the same.
func TestQueryErrorIsOneFigure(t *testing.T) {
	dir := t.TempDir()
	in, out := filepath.Join(dir, "in.csv"), filepath.Join(dir, "out.csv")
	anyone(t, in, 2000)
	s := bare(t)
	spec := quasiOf(5, "age", "sex", "city", "income")
	spec.Anonymize.Refine = "off"
	release, err := s.Anonymize(t.Context(), &api.AnonymizeRequest{Table: api.Table{Input: in, Spec: spec}, Output: out, Assess: true})
	must(t, err)
	want := release.Assessment.Queries
	for range 2 {
		a, err := s.Assess(t.Context(), &api.AssessRequest{Table: api.Table{Input: in, Spec: spec}, Against: out})
		must(t, err)
		if !reflect.DeepEqual(a.Queries, want) {
			t.Errorf("assess says %+v, and the release %+v", a.Queries, want)
		}
		c, err := s.Curve(t.Context(), &api.CurveRequest{
			Table: api.Table{Input: in, Spec: spec}, K: []int{5}, Methods: []string{"auto"},
			Refine: "off",
		})
		must(t, err)
		if got := *c.Points[0].CountError; math.Abs(got-want.Mean) > 0.01*want.Mean {
			t.Errorf("a curve says %.4f, and the release %.4f", got, want.Mean)
		}
	}
}
