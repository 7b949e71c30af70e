//go:build unix

package server

import (
	"context"
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
	for _, name := range []string{"lock", calibrationFile, "audit.log", filepath.Join("uploads", u.ID, "upload.json")} {
		path := filepath.Join(cfg.Dir, name)
		text, err := os.ReadFile(path)
		if err != nil {
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
		if err := os.WriteFile(path, text, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	// A calibration that no measurement can give is refused: times would follow from it.
	for _, text := range []string{"null", "{}", `{"records":1,"base_s":1e300,"record_s":{"count":1,"outliers":1}}`, `{"records":1,"base_s":1,"load_s":-1,"record_s":{"count":1,"outliers":1}}`, `{"records":1,"base_s":1,"record_s":{}}`} {
		if err := os.WriteFile(filepath.Join(cfg.Dir, calibrationFile), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if opened, err := New(context.Background(), cfg); err == nil {
			t.Errorf("the calibration %s is taken", text)
			_ = opened.Close()
		}
	}
}
