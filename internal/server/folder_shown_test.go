package server

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/noren-privacy/noren/internal/randtest"
	"github.com/noren-privacy/noren/internal/server/jobs"
	"github.com/noren-privacy/noren/internal/server/records"
	"github.com/noren-privacy/noren/internal/server/tables"
)

// Where the files of the server are gone, cut or are folders, no reply, event or entry of the audit log shows a
// folder of the host: [running.ask] looks at each reply.
func TestFaultsShowNoFolder(t *testing.T) {
	randtest.SkipShort(t)
	t.Parallel()
	for name, damage := range map[string]func(path string) error{
		"gone": os.Remove,
		"cut":  func(path string) error { return os.Truncate(path, 7) },
		"folder": func(path string) error {
			if err := os.Remove(path); err != nil {
				return err
			}
			return os.Mkdir(path, 0o700)
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			faultsShowNoFolder(t, damage)
		})
	}
}

func faultsShowNoFolder(t *testing.T, damage func(path string) error) {
	t.Helper()
	root := patientFiles(t)
	if err := os.Mkdir(filepath.Join(root, "clinic.xlsx"), 0o700); err != nil {
		t.Fatal(err)
	}
	for file, text := range map[string]string{
		"whole.csv": string(people(60, "x")), "ragged.csv": "a,b\n1\n", "a.parquet": "PAR1 no PAR1", "b.xlsx": "PK\x03\x04no",
		"c.sqlite": "SQLite format 3\x00no", "d.csv.gz": "no", "empty.csv": "",
	} {
		if err := os.WriteFile(filepath.Join(root, file), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	s := start(t, func(c *Config) {
		c.RequestsPerSecond, c.AnswersPerMinute = -1, -1
		c.Roots = map[string]string{"data": root}
	}).steward(t)
	failed := 0
	send := func(method, path string, body any) {
		t.Helper()
		for _, l := range []string{"en", "ja"} {
			a := s.ask(t, method, "/api/v1"+path, s.secret, body, speaking(l))
			switch {
			case a.status == 202 && path == "/tables":
				var added struct{ Job jobs.Job }
				a.decode(t, &added)
				a = s.ask(t, "GET", "/api/v1/jobs/"+s.wait(t, added.Job.ID).ID, s.secret, nil, speaking(l))
			case a.status == 202:
				var job jobs.Job
				a.decode(t, &job)
				a = s.ask(t, "GET", "/api/v1/jobs/"+s.wait(t, job.ID).ID, s.secret, nil, speaking(l))
			}
			if a.status >= 400 || strings.Contains(a.body, `"failed"`) {
				failed++
			}
		}
	}
	for _, file := range []string{
		"ragged.csv", "a.parquet", "b.xlsx", "c.sqlite", "clinic.xlsx", "d.csv.gz", "empty.csv", "absent.csv", "../server/noren.db",
	} {
		send("POST", "/tables", map[string]any{"source": tables.Source{Kind: "root", Root: "data", Path: file}})
	}
	table := s.confirm(t, s.add(t, tables.Source{Kind: "root", Root: "data", Path: "whole.csv"}), peopleRoles)
	recipe := s.recipe(t, table.ID, func(p *records.Parameters) { p.K = 5 })
	other := s.recipe(t, table.ID, func(p *records.Parameters) { p.K = 6 })
	rel := s.release(t, recipe.ID, s.preview(t, recipe.ID))
	p := s.preview(t, other.ID)
	upload := s.upload(t, "later.csv", people(40, "y"))
	a := s.opened(t, smallBook(table.ID))
	quote := a.quote(t, "0.1", "height >= 160")
	before := failed
	for _, folder := range []string{s.cfg.Dir, root} {
		err := filepath.WalkDir(folder, func(path string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() || strings.Contains(d.Name(), ".db") || strings.Contains(d.Name(), "lock") {
				return err
			}
			return damage(path)
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	send("POST", "/tables", map[string]any{"source": tables.Source{Kind: "upload", Upload: upload}})
	send("POST", "/tables", map[string]any{"source": tables.Source{Kind: "root", Root: "data", Path: "whole.csv"}})
	for _, path := range []string{"/recipes/" + recipe.ID + "/preview", "/recipes/" + other.ID + "/curve", "/recipes/" + other.ID + "/trial"} {
		send("POST", path, map[string]any{"k": []int{3, 5}, "parameters": other.Parameters})
	}
	releasing := map[string]any{"recipe": other.ID, "preview_sha256": p.Leaving.SHA256, "previous_studied": []string{rel.ID}}
	send("POST", "/releases", releasing)
	s.ask(t, "POST", "/api/v1/releases", s.secret, releasing, withKey("a"))
	send("POST", "/tables/"+table.ID+"/read", map[string]any{"form": map[string]any{"delimiter": ";"}})
	send("POST", "/tables/"+table.ID+"/hierarchies/age/proposal", map[string]any{})
	send("POST", "/books", smallBook(table.ID))
	send("POST", "/books/"+a.book.ID+"/check", nil)
	send("POST", "/books/"+a.book.ID+"/version", map[string]any{"confirm": true})
	s.ask(t, "POST", "/api/v1/answers", a.secret, map[string]any{"quote": quote.Token, "most": quote.Cost}, idempotency("b"))
	of := "/releases/" + rel.ID
	for _, path := range []string{
		"/tables/" + table.ID + "/rows", "/tables/" + table.ID, "/recipes/" + other.ID + "/preview",
		of + "/file", of + "/bundle", of + "/dossier", of + "/certificate", of + "/recipe",
		"/sources/roots/data", "/books/" + a.book.ID + "/export", "/books/" + a.book.ID + "/entries", "/uploads", "/audit?limit=500",
		"/audit/export", "/audit/check",
	} {
		send("GET", path, nil)
	}
	if failed-before < 10 {
		t.Errorf("%d replies tell of the damage", failed-before)
	}
	var listed page[jobs.Job]
	s.do(t, 200, "GET", "/jobs?limit=500", nil, nil).decode(t, &listed)
	for i := range listed.Items {
		send("GET", "/jobs/"+listed.Items[i].ID, nil)
		send("GET", "/jobs/"+listed.Items[i].ID+"/events", nil)
	}
}
