package atomicfile

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/noren-privacy/noren"
)

var errDisk = errors.New("input/output error")

// unsyncable is a file whose folder cannot be synced.
func unsyncable(t *testing.T, target string) *File {
	t.Helper()
	f, err := CreatePrivate(target, true)
	if err == nil {
		_, err = io.WriteString(f, "new")
	}
	if err != nil {
		t.Fatal(err)
	}
	f.sync = func(string) error { return &os.PathError{Op: "sync", Path: ".", Err: errDisk} }
	return f
}

// A folder that cannot be synced after a file has its name is named with what to do: the file alone
// is there, and of several files none is.
func TestFolderThatCannotBeSynced(t *testing.T) {
	dir := t.TempDir()
	one, two := filepath.Join(dir, "one"), filepath.Join(dir, "two")
	if err := os.WriteFile(one, []byte("old"), 0o600); err != nil {
		t.Fatal(err)
	}
	holds := func(path, want string) {
		t.Helper()
		if text, _ := os.ReadFile(path); string(text) != want {
			t.Errorf("%s holds %q, want %q", filepath.Base(path), text, want)
		}
	}
	said := func(err error, what string) {
		t.Helper()
		e, ok := errors.AsType[*noren.Error](err)
		if !ok || !strings.Contains(e.Error(), what) || e.Hint == "" || !errors.Is(err, errDisk) || e.Place() == "." {
			t.Errorf("got %#v", err)
		}
	}
	g := Together{unsyncable(t, one), unsyncable(t, two)}
	g[0].sync = func(string) error { return nil }
	said(g.Commit(), "two: its folder cannot be synced")
	for _, f := range g {
		f.Discard()
	}
	holds(one, "old")
	holds(two, "")
	said(unsyncable(t, one).Commit(), "one: is complete, but its folder cannot be synced")
	holds(one, "new")
}

// A folder into which a user may write, and which the user may not read, takes files.
func TestFolderThatCannotBeRead(t *testing.T) {
	if runtime.GOOS == "windows" || os.Getuid() == 0 {
		t.Skip("this user reads every folder")
	}
	dir := filepath.Join(t.TempDir(), "drop")
	if err := os.Mkdir(dir, 0o300); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = os.Chmod(dir, 0o700) }()
	f, err := CreatePrivate(filepath.Join(dir, "one"), false)
	if err == nil {
		err = f.Commit()
	}
	if err != nil {
		t.Error(err)
	}
}
