//go:build unix

package cli_test

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/noren-privacy/noren/internal/randtest"
)

// full runs a writer on a system that ends each file after that many KiB, as a full disk does:
// it writes all of its files or none, leaves nothing else, and names what it could not write.
func (k *killable) full(what, line string, limit int) {
	k.t.Helper()
	name := fmt.Sprintf("full%d%s", limit, strings.NewReplacer(" ", "", ",", "").Replace(what))
	if what == "certificate, new key" {
		// The commands after it find the key that was there, and make none of their own.
		key, aside := filepath.Join(k.dir, "key"), filepath.Join(k.t.TempDir(), "key")
		if err := os.Rename(key, aside); err != nil {
			k.t.Fatal(err)
		}
		defer func() {
			if err := errors.Join(os.RemoveAll(key), os.Rename(aside, key)); err != nil {
				k.t.Error(err)
			}
		}()
	}
	before := k.files()
	c := k.command(strings.ReplaceAll(line, "NAME", name))
	sh, err := exec.LookPath("sh")
	if err != nil {
		k.t.Skip("no shell here")
	}
	// The unit of ulimit is 512 bytes or 1 KiB; the writer fails or does not.
	c.Args = append([]string{"sh", "-c", fmt.Sprintf(`ulimit -f %d && exec "$0" "$@"`, limit), c.Path}, c.Args[1:]...)
	c.Path = sh
	out, err := c.CombinedOutput()
	for file := range k.files() {
		if _, was := before[file]; was || strings.HasPrefix(file, "noren.db") {
			continue
		}
		if err != nil || temporary(file) {
			k.t.Errorf("%s, %d: %s is left; %v\n%s", what, limit, file, err, out)
		}
	}
	if strings.Contains(string(out), "(unnamed)") || strings.Contains(string(out), ".noren-") {
		k.t.Errorf("%s, %d: the error names no file of the user:\n%s", what, limit, out)
	}
}

// A disk that is full at some byte leaves no part of a file under its name.
func TestWritersOnAFullDisk(t *testing.T) {
	randtest.SkipShort(t)
	t.Parallel()
	k := newKillable(t)
	for _, what := range []string{"certificate, new key", "anonymize", "anonymize, files", "ldp design", "hierarchy propose"} {
		for _, limit := range []int{0, 4} {
			k.full(what, killedWriters[what], limit)
		}
	}
}

func TestLongWritersOnAFullDisk(t *testing.T) {
	randtest.Long(t)
	k := newKillable(t)
	for what, line := range killedWriters {
		for _, limit := range []int{0, 1, 2, 4, 8, 16, 32, 64, 128} {
			k.full(what, line, limit)
		}
	}
}

// An example that cannot be written whole is not there.
func TestExampleOnAFullDisk(t *testing.T) {
	sh, err := exec.LookPath("sh")
	if err != nil {
		t.Skip("no shell here")
	}
	dir := t.TempDir()
	c := exec.CommandContext(t.Context(), "noren", "demo", "--keep", "example")
	c.Dir = dir
	c.Args = append([]string{"sh", "-c", `ulimit -f 4 && exec "$0" "$@"`, c.Path}, c.Args[1:]...)
	c.Path = sh
	out, err := c.CombinedOutput()
	if err == nil || !strings.Contains(string(out), "cannot be written") || !strings.Contains(string(out), "(") {
		t.Errorf("%v\n%s", err, out)
	}
	if _, err := os.Stat(filepath.Join(dir, "example")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a part of the example is left: %v", err)
	}
}
