package server

import (
	"bytes"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/noren-privacy/noren/internal/randtest"
)

// swapped are ways in which somebody who can write to the folder changes a file in it.
func swapped(path string, private []byte) map[string]func() error {
	whole, _ := os.ReadFile(path)
	elsewhere := filepath.Join(filepath.Dir(filepath.Dir(filepath.Dir(filepath.Dir(path)))), "..", "elsewhere.csv")
	return map[string]func() error{
		"rows appended":  func() error { return os.WriteFile(path, append(bytes.Clone(whole), private...), 0o600) },
		"nothing":        func() error { return nil },
		"another folder": func() error { return os.Mkdir(path, 0o700) },
		"a link to itself elsewhere": func() error {
			if err := os.WriteFile(elsewhere, whole, 0o600); err != nil {
				return err
			}
			return os.Symlink(elsewhere, path)
		},
	}
}

// A book whose file is not the one that was granted, or is a link, is named by the health of
// the server and pays nothing; another book goes on.
func TestChangedFileOfABook(t *testing.T) {
	randtest.SkipShort(t)
	t.Parallel()
	cfg := config(t)
	cfg.RequestsPerSecond, cfg.AnswersPerMinute = -1, -1
	here := func(c *Config) { *c = cfg }
	r := start(t, here)
	s := r.steward(t)
	a := s.opened(t, smallBook(s.people(t, 60, "one").ID))
	if err := r.stop(); err != nil {
		t.Fatal(err)
	}
	files, err := filepath.Glob(filepath.Join(cfg.Dir, "books", a.book.ID, "*", "*.csv"))
	if err != nil || len(files) != 1 {
		t.Fatalf("%v, %v", files, err)
	}
	path := files[0]
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for name, change := range swapped(path, whole[bytes.IndexByte(whole, '\n')+1:]) {
		if err := os.Remove(path); err != nil { // the table's own copy has the same file
			t.Fatal(err)
		}
		if err := change(); err != nil {
			t.Fatal(err)
		}
		r := start(t, here)
		now := &asker{&steward{r, a.secret}, a.id, a.book}
		if faults := strings.Join(r.faults(), "\n"); !strings.Contains(faults, a.book.ID) {
			t.Errorf("%s: health: %q", name, faults)
		}
		q := now.quote(t, "0.1", "age >= 65")
		b := now.ask(t, "POST", "/api/v1/answers", now.secret, map[string]any{"quote": q.Token, "most": q.Cost}, idempotency(name))
		if b.status == 200 || b.status == 202 || now.shown(t).Spent.Epsilon != "0" {
			t.Errorf("%s: %d %s", name, b.status, b.body)
		}
		if err := r.stop(); err != nil {
			t.Fatal(err)
		}
		if err := os.RemoveAll(path); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, whole, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	r = start(t, here)
	if faults := r.faults(); len(faults) > 0 {
		t.Errorf("health: %q", faults)
	}
	now := &asker{&steward{r, a.secret}, a.id, a.book}
	now.pay(t, 200, now.quote(t, "0.1", "age >= 65"), "whole")
}

// No preview is made of a table's copy or a hierarchy that is not the one that was stored, and
// no part of an upload is written to what a link leads to.
func TestChangedFilesOfATable(t *testing.T) {
	randtest.SkipShort(t)
	t.Parallel()
	r := start(t, nil)
	s := r.steward(t)
	table := s.clinic(t)
	recipe := s.recipe(t, table.ID, nil)
	var paths []string
	for _, pattern := range []string{"d_*/*.csv", "hierarchies/*.csv"} {
		found, err := filepath.Glob(filepath.Join(r.path("tables", table.ID), filepath.FromSlash(pattern)))
		if err != nil || len(found) == 0 {
			t.Fatalf("%v, %v", found, err)
		}
		paths = append(paths, found[0])
	}
	for _, path := range paths {
		whole, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		last := whole[bytes.LastIndexByte(bytes.TrimRight(whole, "\n"), '\n')+1:]
		for name, change := range swapped(path, last) {
			if err := os.Remove(path); err != nil {
				t.Fatal(err)
			}
			if err := change(); err != nil {
				t.Fatal(err)
			}
			b := s.ask(t, "POST", "/api/v1/recipes/"+recipe.ID+"/preview", s.secret, nil, nil)
			if b.status == 202 {
				var job struct{ ID string }
				b.decode(t, &job)
				if done := s.wait(t, job.ID); done.State == "done" {
					t.Errorf("%s, %s: a preview is made", filepath.Base(path), name)
				}
			}
			if err := os.RemoveAll(path); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(path, whole, 0o600); err != nil {
				t.Fatal(err)
			}
		}
	}
	s.preview(t, recipe.ID)

	victim := filepath.Join(t.TempDir(), "victim")
	if err := os.WriteFile(victim, []byte("untouched"), 0o600); err != nil {
		t.Fatal(err)
	}
	var u uploadBody
	s.do(t, 201, "POST", "/uploads", map[string]any{"name": "x.csv", "size": 6}, nil).decode(t, &u)
	data := r.path("uploads", u.ID, "data")
	if err := os.Remove(data); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(victim, data); err != nil {
		t.Skip("the system makes no links")
	}
	if a := s.part(t, u.ID, 0, 6, []byte("abcdef"), nil); a.status == http.StatusOK {
		t.Error("a part is written to a link")
	}
	f, err := os.Open(victim)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = f.Close() }()
	if text, err := io.ReadAll(f); err != nil || string(text) != "untouched" {
		t.Errorf("%q, %v", text, err)
	}
}
