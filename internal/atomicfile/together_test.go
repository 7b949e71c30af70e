package atomicfile_test

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/noren-privacy/noren/internal/atomicfile"
)

// Where one file cannot be made, those before it are undone: what they replaced is back, and what
// was not there is gone.
func TestTogether(t *testing.T) {
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	if err := os.WriteFile(at("one"), []byte("old"), 0o600); err != nil {
		t.Fatal(err)
	}
	make := func() atomicfile.Together {
		return atomicfile.Together{write(t, at("one"), "new", true), write(t, at("two"), "new", true), write(t, at("three"), "new", true)}
	}
	check := func(want ...string) {
		t.Helper()
		for i, name := range []string{"one", "two", "three"} {
			if text, _ := os.ReadFile(at(name)); string(text) != want[i] {
				t.Errorf("%s: %q, want %q", name, text, want[i])
			}
		}
	}
	g := make()
	if err := os.Mkdir(at("three"), 0o700); err != nil {
		t.Fatal(err)
	}
	err := g.Commit()
	for _, f := range g {
		f.Discard()
	}
	if err == nil {
		t.Error("a folder was replaced")
	}
	check("old", "", "")
	if err := os.Remove(at("three")); err != nil {
		t.Fatal(err)
	}

	g = make()
	if err := g.Commit(); err != nil {
		t.Fatal(err)
	}
	check("new", "new", "new")
	if err := g.Retract(errors.ErrUnsupported, "release"); !errors.Is(err, errors.ErrUnsupported) {
		t.Error(err)
	}
	check("old", "", "")

	g = make()
	if err := g.Commit(); err != nil {
		t.Fatal(err)
	}
	for _, f := range g {
		f.Discard()
	}
	check("new", "new", "new")
	if names := files(t, dir); len(names) != 3 {
		t.Errorf("left behind: %v", names)
	}
}
