package tempfile

import (
	"os"
	"path/filepath"
	"runtime"
	"testing"
	"time"
)

// The next file or folder removes what no process holds, and nothing else.
func TestSweep(t *testing.T) {
	dir := t.TempDir()
	stale := []string{".noren-1.tmp", ".noren-2.tmp"}
	keep := []string{".noren-.tmp", ".noren", "noren-1.tmp", ".noren-1.tmp.csv", "out.csv", ".noren-link.tmp"}
	for _, name := range append(keep[:5:5], stale[0]) {
		if err := os.WriteFile(filepath.Join(dir, name), []byte("x"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.MkdirAll(filepath.Join(dir, stale[1], "sub"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("out.csv", filepath.Join(dir, keep[5])); err != nil {
		t.Skip("no links here")
	}
	long := time.Now().Add(-48 * time.Hour)
	for _, name := range stale {
		if err := os.Chtimes(filepath.Join(dir, name), long, long); err != nil {
			t.Fatal(err)
		}
	}
	f, err := CreateNamed(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = f.Close() }()
	d, err := CreateFolder(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	Sweep(dir)
	for _, name := range stale {
		if _, err := os.Lstat(filepath.Join(dir, name)); err == nil {
			t.Errorf("%s is left", name)
		}
	}
	for _, name := range append(keep, filepath.Base(f.Name()), filepath.Base(d.Path)) {
		info, err := os.Lstat(filepath.Join(dir, name))
		if err != nil {
			t.Errorf("%s was removed", name)
			continue
		}
		if runtime.GOOS != "windows" && IsName(name) && info.Mode().IsRegular() && info.Mode().Perm() != 0o600 {
			t.Errorf("%s has mode %v", name, info.Mode())
		}
	}
	if runtime.GOOS == "windows" {
		return // there what is young stays
	}
	_ = f.Close()
	d.Close()
	Sweep(dir)
	for _, name := range []string{f.Name(), d.Path} {
		if _, err := os.Lstat(name); err == nil {
			t.Errorf("%s is left", name)
		}
	}
}

// A lock is held once, and one that a killed process has left is taken.
func TestLock(t *testing.T) {
	path := filepath.Join(t.TempDir(), "lock")
	if runtime.GOOS != "windows" {
		if err := os.WriteFile(path, nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	unlock, ok, err := Lock(path)
	if err != nil || !ok {
		t.Fatal(ok, err)
	}
	if _, ok, err := Lock(path); ok || err != nil {
		t.Errorf("held twice: %v", err)
	}
	unlock()
	if _, err := os.Lstat(path); err == nil {
		t.Error("the lock is left")
	}
	if unlock, ok, err = Lock(path); err != nil || !ok {
		t.Fatal(ok, err)
	}
	unlock()
}
