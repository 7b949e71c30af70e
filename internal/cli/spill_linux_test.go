package cli_test

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/noren-privacy/noren/examples/bigtable"
	"github.com/noren-privacy/noren/internal/randtest"
)

// A release whose records do not fit the memory allowed is killed while it holds
// them in temporary files: no output is there, and nothing else either.
func TestKilledRelease(t *testing.T) {
	randtest.SkipShort(t)
	dir := t.TempDir()
	in := filepath.Join(dir, "in.csv")
	f, err := os.Create(in)
	if err != nil {
		t.Fatal(err)
	}
	// More than a third of 64 MiB, at 49 bytes a record.
	if err := bigtable.Write(context.Background(), f, bigtable.Options{Rows: 500_000, Seed: 1}); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	temp := t.TempDir()
	for _, signal := range []syscall.Signal{syscall.SIGKILL, syscall.SIGINT} {
		c := exec.CommandContext(t.Context(), "noren", "anonymize", "in.csv", "-o", "out.csv", "--k", "5", "--memory", "64MiB",
			"--quasi", "age,sex,education,occupation,region,income,height_cm,day")
		c.Dir = dir
		c.Env = append(os.Environ(), "TMPDIR="+temp)
		var out bytes.Buffer
		c.Stdout, c.Stderr = &out, &out
		if err := c.Start(); err != nil {
			t.Fatal(err)
		}
		for deadline := time.Now().Add(time.Minute); spilled(c.Process.Pid, dir) < 1<<20; time.Sleep(time.Millisecond) {
			if time.Now().After(deadline) {
				_ = c.Process.Kill()
				t.Fatalf("nothing was written to temporary files: %s", &out)
			}
		}
		if err := c.Process.Signal(signal); err != nil {
			t.Fatal(err)
		}
		err := c.Wait()
		if code := c.ProcessState.ExitCode(); err == nil || signal == syscall.SIGINT && code != 130 {
			t.Errorf("after %v it ended with %d, %v: %s", signal, code, err, &out)
		}
		for _, folder := range []string{dir, temp} {
			left, err := os.ReadDir(folder)
			if err != nil {
				t.Fatal(err)
			}
			for _, e := range left {
				if e.Name() != "in.csv" {
					t.Errorf("after %v %s is left", signal, e.Name())
				}
			}
		}
	}
}

// spilled is how many bytes a process holds in files without a name in a folder,
// as far as the system tells (Linux).
func spilled(pid int, dir string) int64 {
	var sum int64
	open, _ := filepath.Glob(fmt.Sprintf("/proc/%d/fd/*", pid))
	for _, fd := range open {
		name, err := os.Readlink(fd)
		if err != nil || !strings.HasPrefix(name, dir) || !strings.Contains(name, "(deleted)") {
			continue
		}
		if info, err := os.Stat(fd); err == nil {
			sum += info.Size()
		}
	}
	return sum
}
