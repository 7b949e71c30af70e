package server

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/noren-privacy/noren/internal/randtest"
	"github.com/noren-privacy/noren/internal/server/jobs"
	"github.com/noren-privacy/noren/internal/server/records"
)

// A part of a release leaves only if it is a file, no link, with the bytes that were
// released. Another one is named by the health of the server until it is whole again.
func TestAlteredRelease(t *testing.T) {
	randtest.SkipShort(t)
	t.Parallel()
	s := start(t, nil).steward(t)
	table := s.people(t, 60, "x")
	recipe := s.recipe(t, table.ID, nil)
	rel := s.release(t, recipe.ID, s.preview(t, recipe.ID))
	private, err := filepath.Glob(filepath.Join(s.path("tables", table.ID), "*", "*.csv"))
	if err != nil || len(private) != 1 {
		t.Fatalf("%v %v", private, err)
	}
	dir := s.path("releases", rel.ID)
	for _, part := range []string{records.PartFile, records.PartCertificate, records.PartDossier, records.PartRecipe} {
		whole, err := s.records.Open(t.Context(), rel.ID, part)
		if err != nil {
			t.Fatal(err)
		}
		path := filepath.Join(dir, filepath.Base(whole.File.Name()))
		_ = whole.Close()
		bytes, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		flipped := append([]byte{}, bytes...)
		flipped[len(flipped)/2] ^= 1
		write := func(data []byte) func() error { return func() error { return os.WriteFile(path, data, 0o600) } }
		for name, alter := range map[string]func() error{
			"a link to private rows": func() error { return os.Symlink(private[0], path) },
			"a hard link":            func() error { return os.Link(private[0], path) },
			"a folder":               func() error { return os.Mkdir(path, 0o700) },
			"nothing":                func() error { return nil },
			"one byte":               write(flipped),
			"one byte more":          write(append(append([]byte{}, bytes...), '\n')),
			"one byte less":          write(bytes[1:]),
		} {
			if err := os.Remove(path); err != nil {
				t.Fatal(err)
			}
			if err := alter(); err != nil {
				t.Fatal(err)
			}
			if a := s.do(t, 503, "GET", "/releases/"+rel.ID+"/"+part, nil, nil); a.code() != "unavailable" || strings.Contains(a.body, "Nara") {
				t.Errorf("%s, %s: %s", part, name, a.body)
			}
			if faults := strings.Join(s.faults(), "\n"); !strings.Contains(faults, rel.ID+"/"+part) {
				t.Errorf("%s, %s: health: %q", part, name, faults)
			}
			if err := os.RemoveAll(path); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(path, bytes, 0o600); err != nil {
				t.Fatal(err)
			}
		}
		s.do(t, 200, "GET", "/releases/"+rel.ID+"/"+part, nil, nil)
		if faults := s.faults(); len(faults) > 0 {
			t.Errorf("health: %q", faults)
		}
	}
	// The folder of the release is no link either.
	moved := s.path("elsewhere")
	if err := os.Rename(dir, moved); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(moved, dir); err != nil {
		t.Fatal(err)
	}
	s.do(t, 503, "GET", "/releases/"+rel.ID+"/file", nil, nil)
}

// A comparison reads what was released and nothing else: the gate believes what it finds.
func TestComparisonOfAnAlteredRelease(t *testing.T) {
	randtest.SkipShort(t)
	t.Parallel()
	s := start(t, nil).steward(t)
	table := s.people(t, 60, "x")
	recipe := s.recipe(t, table.ID, nil)
	rel := s.release(t, recipe.ID, s.preview(t, recipe.ID))
	other := s.recipe(t, table.ID, func(p *records.Parameters) { p.K = 6 })
	s.preview(t, other.ID)
	compare := func() jobs.State {
		t.Helper()
		var job jobs.Job
		s.do(t, 202, "POST", "/recipes/"+other.ID+"/compare", map[string]any{"with": rel.ID}, nil).decode(t, &job)
		return s.wait(t, job.ID).State
	}
	for name, part := range map[string]string{rel.FileName: "file", "noren.yaml": "recipe", "classes": "classes"} {
		path := s.path("releases", rel.ID, name)
		whole, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		flipped := append([]byte{}, whole...)
		flipped[len(flipped)/2] ^= 1
		if err := os.WriteFile(path, flipped, 0o600); err != nil {
			t.Fatal(err)
		}
		if got := compare(); got != jobs.Failed {
			t.Errorf("%s: the comparison is %s", name, got)
		}
		var p records.Preview
		s.do(t, 200, "GET", "/recipes/"+other.ID+"/preview", nil, nil).decode(t, &p)
		if p.Gate.Open {
			t.Errorf("%s: the gate is open", name)
		}
		if faults := strings.Join(s.faults(), "\n"); !strings.Contains(faults, rel.ID+"/"+part) {
			t.Errorf("%s: health: %q", name, faults)
		}
		if err := os.WriteFile(path, whole, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if got := compare(); got != jobs.Done {
		t.Errorf("of what was released: %s", got)
	}
	if faults := s.faults(); len(faults) > 0 {
		t.Errorf("health: %q", faults)
	}
}

// The preview of a table that is deleted goes with it, whether it was made before or after.
func TestPreviewOfDeletedTable(t *testing.T) {
	randtest.SkipShort(t)
	t.Parallel()
	s := start(t, nil).steward(t)
	for _, wait := range []bool{true, false} {
		table := s.people(t, 60, "x")
		recipe := s.recipe(t, table.ID, nil)
		if wait {
			s.preview(t, recipe.ID)
		} else {
			s.do(t, 202, "POST", "/recipes/"+recipe.ID+"/preview", nil, nil)
		}
		table = s.table(t, table.ID)
		s.do(t, 204, "DELETE", "/tables/"+table.ID, nil, match(etag(table.Version)))
		s.idle(t)
		if left, err := os.ReadDir(s.path("work")); err != nil || len(left) > 0 {
			t.Errorf("waited: %v, %d folders of previews are left, %v", wait, len(left), err)
		}
	}
}

// A preview that a job uses when its table is deleted goes with the end of that job; what a
// killed process leaves of it, with its seed and page, goes at the next start.
func TestUsedPreviewOfDeletedTable(t *testing.T) {
	randtest.SkipShort(t)
	t.Parallel()
	cfg := config(t)
	r := start(t, func(to *Config) { *to = cfg })
	s := r.steward(t)
	table := s.people(t, 60, "x")
	first := s.recipe(t, table.ID, nil)
	released := s.release(t, first.ID, s.preview(t, first.ID))
	second := s.recipe(t, table.ID, nil)
	s.preview(t, second.ID)
	// Two jobs that wait fill what runs: the comparison has the preview, and waits.
	until := make(chan struct{})
	s.waitingJob(t, until)
	s.do(t, 202, "POST", "/recipes/"+second.ID+"/compare", map[string]any{"with": released.ID}, nil)
	table = s.table(t, table.ID)
	s.do(t, 204, "DELETE", "/tables/"+table.ID, nil, match(etag(table.Version)))
	close(until)
	s.idle(t)
	if left, err := os.ReadDir(s.path("work")); err != nil || len(left) > 0 {
		t.Errorf("%d folders of previews are left, %v", len(left), err)
	}
	if err := r.stop(); err != nil {
		t.Fatal(err)
	}
	// As a process leaves it that is killed between the end of a preview and its removal.
	killed := filepath.Join(cfg.Dir, "work", "jb_aaaaaaaaaaaaaaaa")
	if err := os.MkdirAll(filepath.Join(killed, "hierarchies"), 0o700); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"seed", "dossier.html", "people-k5.csv", ".people-k5.csv.tmp"} {
		if err := os.WriteFile(filepath.Join(killed, name), []byte("private"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	start(t, func(to *Config) { *to = cfg })
	if left, err := os.ReadDir(filepath.Join(cfg.Dir, "work")); err != nil || len(left) > 0 {
		t.Errorf("after a restart %d folders of previews are left, %v", len(left), err)
	}
}
