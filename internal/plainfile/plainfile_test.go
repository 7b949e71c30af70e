package plainfile

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"testing"
)

// A file is read; a link, a folder, and a file behind a linked folder are not.
func TestOpen(t *testing.T) {
	dir, other := t.TempDir(), t.TempDir()
	for _, path := range []string{filepath.Join(dir, "a", "file"), filepath.Join(other, "file")} {
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte("text"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	f, err := Open(dir, filepath.Join("a", "file"))
	if err != nil {
		t.Fatal(err)
	}
	text, err := io.ReadAll(f)
	if err != nil || string(text) != "text" || f.Close() != nil {
		t.Fatalf("%q, %v", text, err)
	}
	if _, err := Open(dir, "a"); !errors.Is(err, ErrNot) {
		t.Errorf("a folder: %v", err)
	}
	if _, err := Open(dir, "b"); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("nothing: %v", err)
	}
	if _, err := Open(dir, filepath.Join("..", filepath.Base(other), "file")); err == nil {
		t.Error("a file outside of the folder")
	}
	for name, to := range map[string]string{"link": filepath.Join(other, "file"), "within": filepath.Join(dir, "a", "file"), "folder": other} {
		if err := os.Symlink(to, filepath.Join(dir, name)); err != nil {
			t.Skip("the system makes no links")
		}
	}
	for _, name := range []string{"link", "within", filepath.Join("folder", "file")} {
		if _, err := Open(dir, name); err == nil {
			t.Errorf("%s is followed", name)
		}
	}
	if _, err := OpenPath(filepath.Join(dir, "link")); !errors.Is(err, ErrNot) {
		t.Errorf("%v", err)
	}
}
