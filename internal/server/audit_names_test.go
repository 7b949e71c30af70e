package server

import (
	"strings"
	"testing"

	"github.com/noren-privacy/noren/internal/server/auth"
	"github.com/noren-privacy/noren/internal/server/tables"
)

// An auditor gets the name of each id of the audit log, also where it is deleted.
func TestAuditNames(t *testing.T) {
	t.Parallel()
	r := start(t, nil)
	s := r.steward(t)
	table := s.people(t, 60, "x")
	recipe := s.recipe(t, table.ID, nil)
	s.release(t, recipe.ID, s.preview(t, recipe.ID))
	dropped := s.upload(t, "dropped.csv", people(20, "y"))
	s.do(t, 204, "DELETE", "/uploads/"+dropped, nil, nil)
	gone := s.add(t, tables.Source{Kind: "upload", Upload: s.upload(t, "gone.csv", people(30, "z"))})
	gone = s.confirm(t, gone, peopleRoles)
	lost := s.recipe(t, gone.ID, nil)
	s.do(t, 204, "DELETE", "/tables/"+gone.ID, nil, match(etag(gone.Version)))
	auditor := &steward{r, r.token(t, "Eve", auth.Auditor, auth.Everything)}
	var page auditPage
	auditor.do(t, 200, "GET", "/audit?limit=200", nil, nil).decode(t, &page)
	kinds, named := map[string]bool{}, map[string]string{}
	for _, n := range page.Named {
		named[n.ID] = n.Name
	}
	for i := range page.Items {
		for _, id := range page.Items[i].IDs() {
			kinds[id[:2]] = true
			if named[id] == "" {
				t.Errorf("entry %d, %s: %s has no name", page.Items[i].N, page.Items[i].Action, id)
			}
		}
	}
	for _, kind := range []string{"pr", "tb", "rc", "rl", "up"} {
		if !kinds[kind] {
			t.Errorf("no entry has an id of %s", kind)
		}
	}
	all, err := r.store.Names(t.Context(), []string{table.ID, recipe.ID, dropped, gone.ID, lost.ID})
	if err != nil {
		t.Fatal(err)
	}
	for id, want := range map[string]string{
		table.ID: "people.csv", recipe.ID: "people.csv", dropped: "dropped.csv", gone.ID: "gone.csv", lost.ID: "gone.csv",
	} {
		if got := all[id]; !strings.HasPrefix(got.Name, strings.TrimSuffix(want, ".csv")) || got.Gone != (want != "people.csv") ||
			(got.Table == table.ID) != (id == recipe.ID) {
			t.Errorf("%s is %+v, want %s", id, got, want)
		}
	}
	export := auditor.do(t, 200, "GET", "/audit/export", nil, nil)
	if text := string(export.body); !strings.Contains(text, `{"id":"`+dropped+`","name":"dropped.csv"}`) {
		t.Errorf("%s", text)
	}
}
