package tempfile

import (
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/noren-privacy/noren"
)

func names(t *testing.T, dir string) []os.DirEntry {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	return entries
}

func TestCreate(t *testing.T) {
	ways := map[string]func(string) (*File, error){"create": Create, "named": createNamed}
	for way, make := range ways {
		t.Run(way, func(t *testing.T) {
			dir := t.TempDir()
			f, err := make(dir)
			if err != nil {
				t.Fatal(err)
			}
			info, err := f.Stat()
			if err != nil {
				t.Fatal(err)
			}
			if mode := info.Mode().Perm(); mode != 0o600 {
				t.Errorf("mode %o, want 600", mode)
			}
			if _, err := f.WriteString("secret"); err != nil {
				t.Fatal(err)
			}
			got, err := io.ReadAll(io.NewSectionReader(f, 0, 100))
			if err != nil || string(got) != "secret" {
				t.Fatalf("read back %q, %v", got, err)
			}
			if err := f.Close(); err != nil {
				t.Fatal(err)
			}
			if left := names(t, dir); len(left) != 0 {
				t.Errorf("left behind: %v", left)
			}
		})
	}
}

func TestNamelessWhileOpen(t *testing.T) {
	if os.PathSeparator == '\\' {
		t.Skip("an open file keeps its name here")
	}
	dir := t.TempDir()
	f, err := Create(dir)
	if err != nil {
		t.Fatal(err)
	}
	if left := names(t, dir); len(left) != 0 {
		t.Errorf("the open file has a name: %v", left)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
}

func TestNoFolder(t *testing.T) {
	_, err := Create(filepath.Join(t.TempDir(), "absent"))
	if noren.KindOf(err) != noren.Internal || err == nil {
		t.Fatalf("got %v", err)
	}
}
