//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd

package tempfile

import (
	"os"
	"path/filepath"
	"testing"

	"golang.org/x/sys/unix"
)

// One run has a lock also on a file system without locks, where the one that made the file has it.
func TestLockWithoutLocks(t *testing.T) {
	for name, flock := range map[string]func(int, int) error{
		"with locks": unix.Flock,
		"without":    func(int, int) error { return unix.ENOLCK },
	} {
		path := filepath.Join(t.TempDir(), "key.lock")
		unlock, ok, err := lock(path, flock)
		if err != nil || !ok {
			t.Fatalf("%s: %v, %v", name, ok, err)
		}
		for range 3 {
			if _, ok, err := lock(path, flock); err != nil || ok {
				t.Errorf("%s: a second run has the lock, %v", name, err)
			}
		}
		unlock()
		if unlock, ok, err = lock(path, flock); err != nil || !ok {
			t.Fatalf("%s, again: %v, %v", name, ok, err)
		}
		unlock()
		// What a killed process leaves.
		if err := os.WriteFile(path, nil, 0o600); err != nil {
			t.Fatal(err)
		}
		unlock, ok, err = lock(path, flock)
		if err != nil || ok != (name == "with locks") {
			t.Errorf("%s: of a killed process: %v, %v", name, ok, err)
		}
		if ok {
			unlock()
		}
	}
}
