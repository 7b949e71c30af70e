package service_test

import (
	"database/sql"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/noren-privacy/noren"
	"github.com/noren-privacy/noren/api"
	"github.com/noren-privacy/noren/service"
	"github.com/noren-privacy/noren/spec"
)

// Rows of a table of a database that look like totals or notes are read with a warning, and not left out
// in silence where that was asked for. A table without such rows has no warning.
func TestTotalsOfADatabase(t *testing.T) {
	path := filepath.Join(t.TempDir(), "clinic.db")
	db, err := sql.Open("sqlite", path)
	must(t, err)
	defer func() { _ = db.Close() }()
	exec := func(query string, args ...any) {
		t.Helper()
		_, err := db.Exec(query, args...)
		must(t, err)
	}
	for _, name := range []string{"plain", "noted"} {
		exec("CREATE TABLE " + name + " (age, city TEXT, illness TEXT)")
		for i := range 40 {
			exec("INSERT INTO "+name+" VALUES (?, ?, ?)", 20+i, []string{"Nara", "Kobe"}[i%2], fmt.Sprint("illness ", i%3))
		}
	}
	exec("INSERT INTO noted VALUES ('合計', NULL, NULL), (NULL, '', NULL), ('※単位は歳', '', NULL)")
	for _, c := range []struct {
		table, totals string
		want          string // of the note
		level         api.Level
	}{
		{"plain", "", "", ""},
		{"plain", "leave", "", ""},
		{"noted", "", "3 rows of totals or notes are read as records", api.Warning},
		{"noted", "read", "3 rows of totals or notes are read as records", api.Info},
	} {
		var notes []api.Note
		s := &service.Service{Note: func(n api.Note) { notes = append(notes, n) }}
		of := api.Table{
			Input: "sqlite:" + path + "?table=" + c.table,
			Spec:  &spec.Spec{Version: spec.Version, Input: spec.Input{Totals: c.totals}},
		}
		_, err := s.Inspect(t.Context(), &api.InspectRequest{Table: of})
		must(t, err)
		found := false
		for _, n := range notes {
			if strings.Contains(n.Text, "totals") {
				found = c.want != "" && strings.Contains(n.Text, c.want) && n.Level == c.level
			}
		}
		if found != (c.want != "") {
			t.Errorf("%+v: %+v", c, notes)
		}
	}
	s := &service.Service{Note: func(api.Note) {}}
	_, err = s.Inspect(t.Context(), &api.InspectRequest{Table: api.Table{
		Input: "sqlite:" + path + "?table=noted",
		Spec:  &spec.Spec{Version: spec.Version, Input: spec.Input{Totals: "leave"}},
	}})
	if noren.CodeOf(err) != "totals-database" {
		t.Error(err)
	}
}
