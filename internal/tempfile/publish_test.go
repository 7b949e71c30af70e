package tempfile

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
)

// A temporary file is renamed into place by each way that a file system may offer, and replaces nothing.
func TestPublish(t *testing.T) {
	no := func(string, string) error { return errors.ErrUnsupported }
	for name, way := range map[string]struct {
		renameNew, link func(from, to string) error
	}{"as the system can": {renameNew, os.Link}, "by links": {no, os.Link}, "by a claim": {no, no}} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			temp, target := filepath.Join(dir, "temp"), filepath.Join(dir, "target")
			if err := os.WriteFile(temp, []byte("new"), 0o600); err != nil {
				t.Fatal(err)
			}
			if err := publish(temp, target, way.renameNew, way.link); err != nil {
				t.Fatal(err)
			}
			if text, err := os.ReadFile(target); err != nil || string(text) != "new" {
				t.Errorf("%q, %v", text, err)
			}
			if _, err := os.Lstat(temp); !errors.Is(err, fs.ErrNotExist) {
				t.Errorf("the temporary file: %v", err)
			}
			if err := os.WriteFile(temp, []byte("second"), 0o600); err != nil {
				t.Fatal(err)
			}
			if err := publish(temp, target, way.renameNew, way.link); !errors.Is(err, fs.ErrExist) {
				t.Errorf("a second file: %v", err)
			}
			if text, err := os.ReadFile(target); err != nil || string(text) != "new" {
				t.Errorf("after a second file: %q, %v", text, err)
			}
			// A rename that fails leaves no empty file under the name.
			other := filepath.Join(dir, "other")
			if err := publish(filepath.Join(dir, "absent"), other, way.renameNew, way.link); err == nil {
				t.Error("a file that is not there was given a name")
			}
			if _, err := os.Lstat(other); !errors.Is(err, fs.ErrNotExist) {
				t.Errorf("after a failure: %v", err)
			}
		})
	}
}

// Where no hard links are, this system gives a file its name in one step: no moment shows an
// empty file under it.
func TestPublishWithoutLinks(t *testing.T) {
	dir := t.TempDir()
	temp, target := filepath.Join(dir, "temp"), filepath.Join(dir, "target")
	if err := os.WriteFile(temp, []byte("new"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := renameNew(temp, target); errors.Is(err, errors.ErrUnsupported) {
		t.Skip("this system cannot rename without replacing")
	} else if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(temp, []byte("second"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := renameNew(temp, target); !errors.Is(err, fs.ErrExist) {
		t.Errorf("a second file: %v", err)
	}
}
