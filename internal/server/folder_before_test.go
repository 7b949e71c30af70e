package server

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/noren-privacy/noren/api"
	"github.com/noren-privacy/noren/internal/randtest"
	"github.com/noren-privacy/noren/internal/server/books"
	"github.com/noren-privacy/noren/internal/server/store"
)

// before is what testdata/before/known.json says of the folder.
type before struct {
	Steward, Analyst, Book, Table, Account, Release string

	Answers map[string]struct {
		Body   map[string]any
		SHA256 string
	}
}

// unpackBefore unpacks the folder of an older server, which is in from, to dir. What is known
// of it goes to out.
func unpackBefore(t *testing.T, from, dir string, out any) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(from, "known.json"))
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(text, out); err != nil {
		t.Fatal(err)
	}
	packed, err := os.ReadFile(filepath.Join(from, "folder.tar.gz"))
	if err != nil {
		t.Fatal(err)
	}
	plain, err := gzip.NewReader(bytes.NewReader(packed))
	if err != nil {
		t.Fatal(err)
	}
	for files := tar.NewReader(plain); ; {
		h, err := files.Next()
		if errors.Is(err, io.EOF) {
			return
		}
		if err != nil {
			t.Fatal(err)
		}
		path := filepath.Join(dir, filepath.FromSlash(h.Name))
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		switch h.Typeflag {
		case tar.TypeDir:
			if err := os.MkdirAll(path, 0o700); err != nil {
				t.Fatal(err)
			}
			continue
		case tar.TypeLink: // the copy of a book and that of its table are one file
			if err := os.Link(filepath.Join(dir, filepath.FromSlash(h.Linkname)), path); err != nil {
				t.Fatal(err)
			}
			continue
		}
		text, err := io.ReadAll(files)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, text, 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

// The folder of an older server is opened at another place and goes on: its answers are the
// same, its release is served, new answers are paid from what is left. A copy of it reads its
// own tables, and none of the folder that it was copied from.
func TestFolderOfBefore(t *testing.T) {
	randtest.SkipShort(t)
	t.Parallel()
	cfg := config(t)
	known := &before{}
	unpackBefore(t, "testdata/before", cfg.Dir, known)
	made, begun := time.Date(2026, 11, 28, 0, 0, 0, 0, time.UTC), time.Now()
	cfg.Clock = store.Clock{
		Wall:    func() time.Time { return made.Add(time.Since(begun)) },
		Elapsed: func() time.Duration { return time.Since(begun) },
	}
	run := func(do func(s *steward, a *asker)) {
		t.Helper()
		r := start(t, func(c *Config) { *c = cfg })
		if reason := r.Sealed(); reason != "" {
			t.Fatal(reason)
		}
		do(&steward{r, known.Steward}, &asker{&steward{r, known.Analyst}, known.Account, &books.Book{ID: known.Book}})
		if err := r.stop(); err != nil {
			t.Fatal(err)
		}
	}
	file := func(s *steward) string {
		t.Helper()
		shown, err := s.service().LedgerShow(t.Context(), &api.LedgerShowRequest{})
		if err != nil || len(shown.Datasets) != 1 {
			t.Fatalf("%+v, %v", shown, err)
		}
		return shown.Datasets[0].File
	}
	run(func(s *steward, a *asker) {
		for key, x := range known.Answers {
			b := a.ask(t, "POST", "/api/v1/answers", a.secret, x.Body, idempotency(key))
			if sum := sha256.Sum256([]byte(b.body)); b.status != 200 || hex.EncodeToString(sum[:]) != x.SHA256 {
				t.Errorf("answer %s: %d, or other bytes", key, b.status)
			}
		}
		s.do(t, 200, "GET", "/releases/"+known.Release+"/file", nil, nil)
		if spent := a.shown(t).Spent.Epsilon; spent != "0.2" {
			t.Errorf("spent %s", spent)
		}
		a.pay(t, 200, a.quote(t, "0.1", "age >= 65"), "three")
		if spent := a.shown(t).Spent.Epsilon; spent != "0.3" {
			t.Errorf("spent %s", spent)
		}
	})
	entries := func() (n int64) {
		run(func(s *steward, _ *asker) {
			now, err := s.kept.Known(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			n = now.Seq
		})
		return n
	}
	if one, two := entries(), entries(); one != two {
		t.Errorf("each start changes the ledger: %d entries, then %d", one, two)
	}

	original := cfg.Dir
	cfg.Dir = filepath.Join(t.TempDir(), "copy")
	if err := os.CopyFS(cfg.Dir, os.DirFS(original)); err != nil {
		t.Fatal(err)
	}
	if err := filepath.WalkDir(cfg.Dir, func(path string, d os.DirEntry, err error) error {
		if err != nil || !d.IsDir() {
			return errors.Join(err, os.Chmod(path, 0o600))
		}
		return os.Chmod(path, 0o700)
	}); err != nil {
		t.Fatal(err)
	}
	own := ""
	run(func(s *steward, a *asker) {
		own = file(s)
		if !strings.HasPrefix(own, cfg.Dir) {
			real, err := filepath.EvalSymlinks(cfg.Dir)
			if err != nil || !strings.HasPrefix(own, real) {
				t.Errorf("the copy reads %s", own)
			}
		}
		a.pay(t, 200, a.quote(t, "0.1", "age >= 65"), "four")
	})
	// Without its own file the copy answers nothing, although the other folder has one.
	if err := os.Remove(own); err != nil {
		t.Fatal(err)
	}
	run(func(s *steward, a *asker) {
		if s := file(s); s != own {
			t.Errorf("the copy reads %s", s)
		}
		q := a.quote(t, "0.1", "age >= 65")
		b := a.ask(t, "POST", "/api/v1/answers", a.secret, map[string]any{"quote": q.Token, "most": q.Cost}, idempotency("five"))
		if b.status == 200 || b.status == 202 || a.shown(t).Spent.Epsilon != "0.4" {
			t.Errorf("%d %s, spent %s", b.status, b.body, a.shown(t).Spent.Epsilon)
		}
	})
	// A moved folder pays.
	moved := filepath.Join(t.TempDir(), "moved")
	if err := os.Rename(original, moved); err != nil {
		t.Fatal(err)
	}
	cfg.Dir = moved
	run(func(_ *steward, a *asker) { a.pay(t, 200, a.quote(t, "0.1", "age >= 65"), "five") })
}
