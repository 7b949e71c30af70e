package server

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/noren-privacy/noren/internal/server/records"
	"github.com/noren-privacy/noren/internal/server/tables"
)

// trial tries parameters of a recipe.
func (s *steward) trial(t *testing.T, recipe string, p *records.Parameters) *records.Trial {
	t.Helper()
	done := s.finish(t, s.do(t, 202, "POST", "/recipes/"+recipe+"/trial", map[string]any{"parameters": p}, nil))
	var out records.Trial
	if err := json.Unmarshal(done.Result, &out); err != nil {
		t.Fatalf("%v: %s", err, done.Result)
	}
	return &out
}

// With one quasi-identifier no counts are asked: preview, trial and curve state no error of them, not 0.
func TestNoQueryErrorOfOneColumn(t *testing.T) {
	t.Parallel()
	s := start(t, nil).steward(t)
	var b bytes.Buffer
	b.WriteString("age\n")
	for i := range 60 {
		fmt.Fprintf(&b, "%d\n", 20+i*7%60)
	}
	table := s.confirm(t, s.add(t, tables.Source{Kind: "upload", Upload: s.upload(t, "people.csv", b.Bytes())}), func(b *tables.Stated) {
		b.Columns[0].Role = "quasi-identifier"
	})
	recipe := s.recipe(t, table.ID, nil)
	if p := s.preview(t, recipe.ID); p.After.QueryError != nil || p.After.Loss <= 0 {
		t.Errorf("the preview states an error of %v: %+v", p.After.QueryError, p.After)
	}
	if tried := s.trial(t, recipe.ID, &recipe.Parameters); tried.Now.QueryError != nil || tried.Then.QueryError != nil {
		t.Errorf("the trial states an error: %+v", tried)
	}
	s.finish(t, s.do(t, 202, "POST", "/recipes/"+recipe.ID+"/curve", map[string]any{"k": []int{2, 5}}, nil))
	if a := s.do(t, 200, "GET", "/recipes/"+recipe.ID+"/curve", nil, nil); strings.Contains(a.body, "query_error") ||
		!strings.Contains(a.body, `"k":5`) {
		t.Errorf("the curve states an error: %s", a.body)
	}
}

// Each warning of a preview has a remedy, whose effect is known before the recipe changes.
func TestTrialOfRemedies(t *testing.T) {
	t.Parallel()
	r := start(t, nil)
	s := r.steward(t)
	var b bytes.Buffer
	b.WriteString("age,height,note,illness\n")
	for i := range 60 {
		fmt.Fprintf(&b, "%d,%d,n%02d,%s\n", 20+i*7%60, 150+i*11%40, i, []string{"flu", "cold", "flu", "flu"}[i/15])
	}
	table := s.confirm(t, s.add(t, tables.Source{Kind: "upload", Upload: s.upload(t, "people.csv", b.Bytes())}), func(b *tables.Stated) {
		for i, role := range []string{"quasi-identifier", "quasi-identifier", "other", "sensitive"} {
			b.Columns[i].Role = role
		}
	})
	recipe := s.recipe(t, table.ID, nil)
	s.do(t, 422, "POST", "/recipes/"+recipe.ID+"/trial", map[string]any{"parameters": recipe.Parameters}, nil) // no preview
	p := s.preview(t, recipe.ID)
	acts := map[string]*records.Remedy{}
	for i := range p.Warnings {
		w := &p.Warnings[i]
		if w.Message.Text == "" || len(w.Remedies) == 0 {
			t.Errorf("a warning without text or remedy: %+v", w)
		}
		for j := range w.Remedies {
			acts[w.Message.Code+" "+w.Remedies[j].Act+" "+w.Remedies[j].Column] = &w.Remedies[j]
		}
	}
	drop := acts["unique drop note"]
	if drop == nil {
		t.Fatalf("no remedy of the unique values: %+v", p.Warnings)
	}
	tried := s.trial(t, recipe.ID, &drop.Parameters)
	now, then := tried.Now, tried.Then
	if now.Loss != p.After.Loss || now.HighestRisk != p.After.HighestRisk || now.Rows != p.Leaving.Rows ||
		now.Columns != len(p.Leaving.Columns) {
		t.Errorf("the trial compares with %+v, the preview has %+v", now, p.After)
	}
	if now.Unique == nil || *now.Unique == 0 || then.Unique != nil && *then.Unique >= *now.Unique || then.Columns != now.Columns-1 {
		t.Errorf("dropping the column changes %+v to %+v", now, then)
	}
	// Nothing has changed by it, and nothing is left of it.
	var after records.Recipe
	s.do(t, 200, "GET", "/recipes/"+recipe.ID, nil, nil).decode(t, &after)
	if !reflect.DeepEqual(after.Parameters, recipe.Parameters) || after.Version != recipe.Version {
		t.Errorf("a trial changed the recipe: %+v", after)
	}
	var kept records.Preview
	s.do(t, 200, "GET", "/recipes/"+recipe.ID+"/preview", nil, nil).decode(t, &kept)
	if kept.Job != p.Job || kept.Leaving.SHA256 != p.Leaving.SHA256 || kept.Stale {
		t.Errorf("a trial changed the preview: %+v", kept.Leaving)
	}
	if entries, err := os.ReadDir(filepath.Join(r.cfg.Dir, "work")); err != nil || len(entries) != 1 {
		t.Errorf("expected the folder of the preview alone: %v %v", entries, err)
	}
	// Diversity: the figure of the trial is at least what was asked for.
	diverse := acts["sensitive diversity "]
	if diverse == nil {
		diverse = acts["sensitive-open diversity "]
	}
	if diverse == nil {
		t.Fatalf("no remedy of classes of one illness: %+v", p.Warnings)
	}
	if tried := s.trial(t, recipe.ID, &diverse.Parameters); tried.Then.L == nil || *tried.Then.L < 2 {
		t.Errorf("%+v", tried)
	}
	// What cannot be used is refused before a job.
	bad := drop.Parameters
	bad.K = 1
	s.do(t, 422, "POST", "/recipes/"+recipe.ID+"/trial", map[string]any{"parameters": bad}, nil)
	bad = drop.Parameters
	bad.Columns = map[string]records.Role{"unknown": {Role: "drop"}}
	s.do(t, 422, "POST", "/recipes/"+recipe.ID+"/trial", map[string]any{"parameters": bad}, nil)
	// The preview of a recipe that changed since is no base of a comparison.
	changed := s.do(t, 200, "GET", "/recipes/"+recipe.ID, nil, nil)
	s.do(t, 200, "PUT", "/recipes/"+recipe.ID, map[string]any{"parameters": drop.Parameters}, match(changed.header.Get("ETag"))).
		decode(t, &after)
	s.do(t, 422, "POST", "/recipes/"+recipe.ID+"/trial", map[string]any{"parameters": drop.Parameters}, nil)
	for _, w := range s.preview(t, recipe.ID).Warnings {
		if slices.ContainsFunc(w.Remedies, func(x records.Remedy) bool { return x.Column == "note" }) {
			t.Errorf("a column that is dropped is warned of: %+v", w)
		}
	}
}
