package server

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/noren-privacy/noren/internal/randtest"
)

// pageDamages are what becomes of a page of a database on a damaged disk, or in a copy whose parts are of
// different moments.
var pageDamages = map[string]func(all []byte, at, size int){
	"zeros":      func(all []byte, at, size int) { clear(all[at : at+size]) },
	"other text": func(all []byte, at, size int) { copy(all[at:at+size], bytes.Repeat([]byte{0x41}, size)) },
}

// testDamagedPages pageDamages each page of the databases of a folder, every step of them: the server starts
// sealed, or as it was.
func testDamagedPages(t *testing.T, step int) {
	s, a := opened(t, nil)
	for i := range 12 {
		a.pay(t, 200, a.quote(t, "0.01", "age > 40"), strings.Repeat("k", i+1))
	}
	cfg := s.cfg
	if err := s.stop(); err != nil {
		t.Fatal(err)
	}
	const size = 4096
	tried, sealed := 0, 0
	for _, name := range []string{"ledger.db", "server.db"} {
		whole, err := os.ReadFile(filepath.Join(cfg.Dir, name))
		if err != nil {
			t.Fatal(err)
		}
		for how, damage := range pageDamages {
			for at := 0; at+size <= len(whole); at += size * step {
				dir := filepath.Join(t.TempDir(), "server")
				if err := os.CopyFS(dir, os.DirFS(cfg.Dir)); err != nil {
					t.Fatal(err)
				}
				ownersAlone(t, dir)
				text := bytes.Clone(whole)
				damage(text, at, size)
				if err := os.WriteFile(filepath.Join(dir, name), text, 0o600); err != nil {
					t.Fatal(err)
				}
				c := cfg
				c.Dir, c.Listen, c.Admin = dir, "", ""
				one, err := New(t.Context(), c)
				if err != nil {
					t.Errorf("%s, page %d, %s: the server does not start: %v", name, at/size+1, how, err)
					continue
				}
				tried++
				if one.Sealed() != "" {
					sealed++
				}
				if err := one.Close(); err != nil {
					t.Errorf("%s, page %d, %s: %v", name, at/size+1, how, err)
				}
			}
		}
	}
	t.Logf("%d damaged pages, %d sealed", tried, sealed)
}

// ownersAlone sets the modes that a copy by an operator keeps.
func ownersAlone(t *testing.T, dir string) {
	t.Helper()
	err := filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir():
			return os.Chmod(path, 0o700)
		}
		return os.Chmod(path, 0o600)
	})
	if err != nil {
		t.Fatal(err)
	}
}

func TestDamagedPages(t *testing.T) {
	randtest.SkipShort(t)
	t.Parallel()
	testDamagedPages(t, 7)
}

func TestLongDamagedPages(t *testing.T) {
	randtest.Long(t)
	testDamagedPages(t, 1)
}
