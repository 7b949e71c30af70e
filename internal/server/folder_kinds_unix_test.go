//go:build unix

package server

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/noren-privacy/noren/internal/randtest"
)

// No file of a folder is opened where a link, a pipe or a folder has its name: the start
// neither waits for a pipe nor believes, or changes, what a link leads to.
func TestFolderOfOtherKinds(t *testing.T) {
	randtest.SkipShort(t)
	t.Parallel()
	cfg := config(t)
	r := start(t, func(c *Config) { *c = cfg })
	s := r.steward(t)
	var u uploadBody
	s.do(t, 201, "POST", "/uploads", map[string]any{"name": "x.csv", "size": 100}, nil).decode(t, &u)
	anna := r.principal(t, "Anna")
	if err := r.stop(); err != nil {
		t.Fatal(err)
	}
	if _, err := calibrate(t.Context(), cfg.Dir, 1000); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{
		"lock", calibrationFile, "audit.log", "server.db", "server.db-wal", "server.db-shm", "ledger.db", "ledger.db-wal", "ledger.db-shm",
		"ledger.db.head",
		filepath.Join("uploads", u.ID, "upload.json"),
	} {
		path := filepath.Join(cfg.Dir, name)
		text, err := os.ReadFile(path)
		journal := strings.Contains(name, "-") && errors.Is(err, os.ErrNotExist) // a server that stopped has none
		if err != nil && !journal {
			t.Fatal(err)
		}
		whole := filepath.Join(t.TempDir(), "file")
		if err := os.WriteFile(whole, text, 0o600); err != nil {
			t.Fatal(err)
		}
		for kind, put := range map[string]func() error{
			"pipe":            func() error { return syscall.Mkfifo(path, 0o600) },
			"link":            func() error { return os.Symlink(whole, path) },
			"link to nothing": func() error { return os.Symlink(whole+"-none", path) },
			"folder":          func() error { return os.Mkdir(path, 0o700) },
		} {
			if strings.Contains(name, ".db") && kind != "pipe" && kind != "link" {
				continue // one check for all of them
			}
			if err := os.RemoveAll(path); err != nil {
				t.Fatal(err)
			}
			if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
				t.Fatal(err)
			}
			if err := put(); err != nil {
				t.Fatal(err)
			}
			opened, err := New(context.Background(), cfg)
			switch {
			case err == nil && strings.HasPrefix(name, "uploads"):
				if _, err := opened.uploads.Get(anna, u.ID); err == nil {
					t.Errorf("%s: a %s is taken for an upload", name, kind)
				}
			case err == nil:
				t.Errorf("%s: a %s is taken", name, kind)
			case strings.Contains(err.Error(), cfg.Dir) && !strings.Contains(err.Error(), name):
				t.Errorf("%s: %v", name, err)
			}
			if err == nil {
				if err := opened.Close(); err != nil {
					t.Error(err)
				}
			}
			if after, err := os.ReadFile(whole); err != nil || string(after) != string(text) {
				t.Errorf("%s: what a %s leads to was changed: %v", name, kind, err)
			}
			if _, err := os.Lstat(whole + "-none"); err == nil {
				t.Errorf("%s: what a %s leads to was made", name, kind)
			}
		}
		if err := os.RemoveAll(path); err != nil {
			t.Fatal(err)
		}
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if journal {
			continue
		}
		if err := os.WriteFile(path, text, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	// A second name of a file, as in a folder that was copied by links, is refused; a temporary
	// one is what a killed process left, and is removed.
	for _, name := range []string{"server.db", "ledger.db", "ledger.db.head", "audit.log", filepath.Join("key", "key.pem")} {
		path := filepath.Join(cfg.Dir, name)
		second, left := filepath.Join(t.TempDir(), "second"), filepath.Join(filepath.Dir(path), ".noren-left.tmp")
		if err := os.Link(path, second); err != nil {
			t.Fatal(err)
		}
		opened, err := New(context.Background(), cfg)
		if err == nil && opened.Sealed() == "" {
			t.Errorf("%s with a second name is taken", name)
		}
		if err == nil {
			err = opened.Close()
		} else if !strings.Contains(err.Error(), "second name") {
			t.Errorf("%s with a second name: %v", name, err)
		} else {
			err = nil
		}
		if err = errors.Join(err, os.Rename(second, left)); err != nil {
			t.Fatal(err)
		}
		if opened, err = New(context.Background(), cfg); err != nil {
			t.Errorf("%s with a temporary name: %v", name, err)
			_ = os.Remove(left)
			continue
		}
		if reason := opened.Sealed(); reason != "" {
			t.Errorf("%s with a temporary name: %s", name, reason)
		}
		if _, err := os.Lstat(left); err == nil {
			t.Errorf("the temporary name of %s is left", name)
		}
		if err := opened.Close(); err != nil {
			t.Error(err)
		}
	}
	// A calibration that no measurement can give is refused: times would follow from it.
	for _, text := range []string{
		"null", "{}", `{"records":1,"base_s":1e300,"record_s":{"count":1,"outliers":1}}`,
		`{"records":1,"base_s":1,"load_s":-1,"record_s":{"count":1,"outliers":1}}`, `{"records":1,"base_s":1,"record_s":{}}`,
	} {
		if err := os.WriteFile(filepath.Join(cfg.Dir, calibrationFile), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if opened, err := New(context.Background(), cfg); err == nil {
			t.Errorf("the calibration %s is taken", text)
			_ = opened.Close()
		}
	}
}
