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
	stale := []string{filepath.Base(Name(dir)), filepath.Base(Name(dir))}
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

// A file of another host may be in use there, since a lock need not be known here: it stays
// until nothing has changed it for a week. So does a folder in which something is changed.
func TestSweepOfAnotherHost(t *testing.T) {
	dir := t.TempDir()
	other := ".noren-aaaaaabbbbbb-1"
	long := time.Now().Add(-foreign - time.Hour)
	make := func(name string, at time.Time, parts ...string) {
		t.Helper()
		path := filepath.Join(dir, name)
		for _, part := range parts {
			if err := os.MkdirAll(filepath.Dir(filepath.Join(path, part)), 0o700); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(filepath.Join(path, part), []byte("x"), 0o600); err != nil {
				t.Fatal(err)
			}
			if err := os.Chtimes(filepath.Join(path, part), at, at); err != nil {
				t.Fatal(err)
			}
		}
		if len(parts) == 0 {
			if err := os.WriteFile(path, nil, 0o600); err != nil {
				t.Fatal(err)
			}
		}
		if err := os.Chtimes(path, long, long); err != nil {
			t.Fatal(err)
		}
		if len(parts) == 0 {
			if err := os.Chtimes(path, at, at); err != nil {
				t.Fatal(err)
			}
		}
	}
	hour := time.Now().Add(-48 * time.Hour)
	make(other+"a.tmp", hour)
	make(other+"b.tmp", long)
	make(other+"c.tmp", hour, "part")
	make(other+"d.tmp", long, "part")
	make(".noren-1abc.tmp", hour) // of a name without marks
	m := marks()
	make(".noren-"+m[0]+"bbbbbb-1.tmp", hour) // of this machine, before it was started anew
	make(".noren-aaaaaa"+m[1]+"-1.tmp", hour) // of another container
	Sweep(dir)
	for name, stays := range map[string]bool{
		other + "a.tmp": true, other + "b.tmp": false, other + "c.tmp": true, other + "d.tmp": false, ".noren-1abc.tmp": true,
		".noren-" + m[0] + "bbbbbb-1.tmp": m[0] == unknown, ".noren-aaaaaa" + m[1] + "-1.tmp": m[1] == unknown,
	} {
		if _, err := os.Lstat(filepath.Join(dir, name)); (err == nil) != stays {
			t.Errorf("%s: %v, want it to stay: %v", name, err, stays)
		}
	}
}
