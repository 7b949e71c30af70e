package atomicfile_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/noren-privacy/noren"
	"github.com/noren-privacy/noren/internal/atomicfile"
)

func files(t *testing.T, dir string) []string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return names
}

func write(t *testing.T, target, text string, force bool) *atomicfile.File {
	t.Helper()
	f, err := atomicfile.Create(target, force)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.WriteString(text); err != nil {
		t.Fatal(err)
	}
	return f
}

func TestNothingIsSeenBeforeCommit(t *testing.T) {
	dir := t.TempDir()
	target := filepath.Join(dir, "out.csv")
	f := write(t, target, "hello", false)
	if _, err := os.Stat(target); err == nil {
		t.Fatal("the target exists before Commit")
	}
	back := make([]byte, 5)
	if _, err := f.ReadAt(back, 0); err != nil || string(back) != "hello" {
		t.Fatalf("read back %q, %v", back, err)
	}
	if err := f.Commit(); err != nil {
		t.Fatal(err)
	}
	f.Discard() // does nothing any more
	got, err := os.ReadFile(target)
	if err != nil || string(got) != "hello" {
		t.Fatalf("committed %q, %v", got, err)
	}
	if names := files(t, dir); len(names) != 1 {
		t.Fatalf("left behind: %v", names)
	}
}

func TestDiscardLeavesNothing(t *testing.T) {
	dir := t.TempDir()
	write(t, filepath.Join(dir, "out.csv"), "hello", false).Discard()
	if names := files(t, dir); len(names) != 0 {
		t.Fatalf("left behind: %v", names)
	}
}

func TestNoOverwriteWithoutForce(t *testing.T) {
	dir := t.TempDir()
	target := filepath.Join(dir, "out.csv")
	if err := os.WriteFile(target, []byte("old"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := atomicfile.Create(target, false); noren.KindOf(err) != noren.Usage {
		t.Fatalf("got %v, want a usage error", err)
	}
	f := write(t, target, "new", true)
	if err := f.Commit(); err != nil {
		t.Fatal(err)
	}
	if got, _ := os.ReadFile(target); string(got) != "new" {
		t.Fatalf("got %q", got)
	}
	if names := files(t, dir); len(names) != 1 {
		t.Fatalf("left behind: %v", names)
	}
}

func TestTakenMeanwhile(t *testing.T) {
	dir := t.TempDir()
	target := filepath.Join(dir, "out.csv")
	f := write(t, target, "mine", false)
	if err := os.WriteFile(target, []byte("theirs"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := f.Commit(); noren.KindOf(err) != noren.Usage {
		t.Fatalf("got %v, want a usage error", err)
	}
	if got, _ := os.ReadFile(target); string(got) != "theirs" {
		t.Fatalf("another's file was replaced: %q", got)
	}
	if names := files(t, dir); len(names) != 1 {
		t.Fatalf("left behind: %v", names)
	}
}

func TestMissingFolder(t *testing.T) {
	_, err := atomicfile.Create(filepath.Join(t.TempDir(), "no", "out.csv"), false)
	if noren.KindOf(err) != noren.Usage {
		t.Fatalf("got %v, want a usage error", err)
	}
}

func TestOutput(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "out")
	o, err := atomicfile.NewOutput(path)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := o.Write([]byte("text")); err != nil {
		t.Fatal(err)
	}
	if _, err := atomicfile.NewOutput(path); noren.KindOf(err) != noren.Usage || strings.Count(err.Error(), path) != 1 {
		t.Errorf("the same path again: %v, expected an error of kind usage that names it once", err)
	}
	if err := o.Close(nil); err != nil {
		t.Fatal(err)
	}
	if text, err := os.ReadFile(path); err != nil || string(text) != "text" {
		t.Errorf("%q, %v", text, err)
	}

	failed := errors.New("full")
	if o, err = atomicfile.NewOutput(filepath.Join(dir, "failed")); err != nil {
		t.Fatal(err)
	}
	if err := o.Close(failed); !errors.Is(err, failed) {
		t.Errorf("%v, expected what had failed", err)
	}
	if got := files(t, dir); len(got) != 1 {
		t.Errorf("%q are left, expected one file", got)
	}

	theirs, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	lent := atomicfile.Output{Writer: theirs}
	lent.Remove()
	if err := lent.Close(failed); !errors.Is(err, failed) {
		t.Errorf("%v, expected what had failed", err)
	}
	if err := theirs.Close(); err != nil {
		t.Errorf("a file of somebody else's was closed: %v", err)
	}
	if got := files(t, dir); len(got) != 1 {
		t.Errorf("%q are left, expected one file", got)
	}
}

// A public file has the mode of any file that the process makes in the folder; a
// private one is its owner's alone.
func TestModes(t *testing.T) {
	dir := t.TempDir()
	plain := filepath.Join(dir, "plain")
	if err := os.WriteFile(plain, nil, 0o666); err != nil {
		t.Fatal(err)
	}
	want, err := os.Stat(plain)
	if err != nil {
		t.Fatal(err)
	}
	for _, force := range []bool{false, true} {
		for name, make := range map[string]func(string, bool) (*atomicfile.File, error){
			"public": atomicfile.Create, "private": atomicfile.CreatePrivate,
		} {
			f, err := make(filepath.Join(dir, name), force)
			if err == nil {
				err = f.Commit()
			}
			if err != nil {
				t.Fatal(err)
			}
			info, err := os.Stat(filepath.Join(dir, name))
			if err != nil {
				t.Fatal(err)
			}
			mode := want.Mode()
			if name == "private" {
				mode = 0o600
			}
			if info.Mode() != mode {
				t.Errorf("%s: mode %v, want %v", name, info.Mode(), mode)
			}
		}
	}
	if names := files(t, dir); len(names) != 3 {
		t.Errorf("left behind: %v", names)
	}
}

// No result replaces a private key, whether it is asked before or when the file is made.
func TestPrivateKeysStay(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{
		"key.pem":       "-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n",
		"encrypted.pem": "-----BEGIN ENCRYPTED PRIVATE KEY-----\r\nAAAA\r\n",
		"openssh":       "-----BEGIN OPENSSH PRIVATE KEY-----\nAAAA\n",
		"after.pem":     "Bag Attributes\n    friendlyName: a\n-----BEGIN EC PRIVATE KEY-----\nAAAA\n",
	} {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := atomicfile.Check(path, true); noren.KindOf(err) != noren.Usage || !strings.Contains(err.Error(), "is a private key") {
			t.Errorf("%s: %v", name, err)
		}
		if _, err := atomicfile.Create(path, true); err == nil {
			t.Errorf("%s: a file may replace it", name)
		}
		if got, err := os.ReadFile(path); err != nil || string(got) != text {
			t.Errorf("%s: %q, %v", name, got, err)
		}
	}
	public := filepath.Join(dir, "public.pem")
	if err := os.WriteFile(public, []byte("-----BEGIN PUBLIC KEY-----\nAAAA\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := atomicfile.Check(public, true); err != nil {
		t.Errorf("a public key: %v", err)
	}
}
