//go:build unix

package ledger

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/noren-privacy/noren/internal/randtest"

	"github.com/noren-privacy/noren"
)

// slow starts a child that has reserved and waits.
func slow(t *testing.T, path string) (*exec.Cmd, io.Writer, *bufio.Reader) {
	t.Helper()
	cmd := command("slow", path, "")
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	r := bufio.NewReader(out)
	if text, err := r.ReadString('\n'); text != "reserved\n" {
		t.Fatal(text, err)
	}
	return cmd, in, r
}

// Two processes, each with a reservation that outlives its first lease: neither
// forfeits the other's, though both open the ledger again and again.
func TestTwoProcessesWithSlowReservations(t *testing.T) {
	randtest.SkipShort(t)
	t.Parallel()
	f := newFixture(t, Cost{Epsilon: one, Delta: 0})
	l, err := Open(t.Context(), f.path, Options{Lease: 2 * time.Second})
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	r, _, err := l.Reserve(t.Context(), request(2, Cost{Epsilon: milli, Delta: 0}))
	if err != nil {
		t.Fatal(err)
	}
	cmd, in, _ := slow(t, f.path)
	for start := time.Now(); time.Since(start) < 3500*time.Millisecond; time.Sleep(50 * time.Millisecond) {
		other := f.open(t)
		other.Close()
	}
	if err := r.Settle(t.Context(), answer(2), nil, ""); err != nil {
		t.Errorf("ours: %v", err)
	}
	fmt.Fprintln(in)
	if err := cmd.Wait(); err != nil {
		t.Errorf("theirs: %v", err)
	}
	l2 := f.open(t)
	if got := spent(t, l2).Epsilon; got != 2*milli {
		t.Errorf("spent %d", got)
	}
	verifyClean(t, l2)
}

// A process that was stopped for longer than its lease loses it to the process that
// opens the ledger, and learns so before it answers.
func TestStoppedProcessLosesItsLease(t *testing.T) {
	randtest.SkipShort(t)
	t.Parallel()
	f := newFixture(t, Cost{Epsilon: one, Delta: 0})
	cmd, in, out := slow(t, f.path)
	if err := cmd.Process.Signal(syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	time.Sleep(2500 * time.Millisecond)
	f.open(t)
	if err := cmd.Process.Signal(syscall.SIGCONT); err != nil {
		t.Fatal(err)
	}
	fmt.Fprintln(in)
	text, err := io.ReadAll(out)
	if err != nil {
		t.Fatal(err)
	}
	var exit *exec.ExitError
	if err := cmd.Wait(); !errors.As(err, &exit) || exit.ExitCode() != noren.Refused.ExitCode() ||
		!strings.Contains(string(text), ErrForfeited.Error()) {
		t.Errorf("%s, %v", text, err)
	}
	l := f.open(t)
	if got := spent(t, l).Epsilon; got != milli {
		t.Errorf("spent %d", got)
	}
	verifyClean(t, l)
}

// Several processes at once on one cap.
func TestProcessesAgainstOneCap(t *testing.T) {
	t.Parallel()
	f := newFixture(t, Cost{Epsilon: 20 * milli, Delta: 0})
	var cmds []*exec.Cmd
	for range 3 {
		cmd := command("loop", f.path, "")
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		cmds = append(cmds, cmd)
	}
	for _, cmd := range cmds {
		// Each ends at the cap, or on a key that another is answering just now.
		var exit *exec.ExitError
		if err := cmd.Wait(); !errors.As(err, &exit) || exit.ExitCode() != noren.Refused.ExitCode() && exit.ExitCode() != 1 {
			t.Error(err)
		}
	}
	l := f.open(t)
	charges := int64(0)
	if err := l.History(t.Context(), HistoryOptions{Dataset: "adult"}, func(e Entry) error { charges++; return nil }); err != nil {
		t.Fatal(err)
	}
	if got := spent(t, l).Epsilon; got != charges*milli || got > 20*milli || charges == 0 {
		t.Errorf("%d charges, spent %d", charges, got)
	}
	verifyClean(t, l)
}

// A disk that is full, for all the ledger's files, by the limit on a file's
// size: whatever was answered was charged, and the ledger is sound.
func TestDiskFull(t *testing.T) {
	t.Parallel()
	for _, limit := range []string{"4096", "150000", "400000"} {
		f := newFixture(t, Cost{Epsilon: one, Delta: 0})
		out, err := command("full", f.path, limit).Output()
		var exit *exec.ExitError
		if !errors.As(err, &exit) || exit.ExitCode() != 1 || !strings.Contains(string(out), "is the disk full") &&
			!strings.Contains(string(out), "the disk is full") {
			t.Fatalf("%s, %v", out, err)
		}
		answered := int64(strings.Count("\n"+string(out), "\nanswered "))
		l := f.open(t)
		if err := l.Sealed(); err != nil {
			t.Error(err)
		}
		if got := spent(t, l).Epsilon; got < answered*milli || got > (answered+1)*milli {
			t.Errorf("limit %s: %d answered, spent %d", limit, answered, got)
		}
		verifyClean(t, l)
		if _, err := ask(t.Context(), l, request(999, Cost{Epsilon: milli, Delta: 0}), answer(9)); err != nil {
			t.Errorf("with space again: %v", err)
		}
	}
}

// Files that may be read and not written, by a user who is not root.
func TestReadOnly(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		target string
		mode   os.FileMode
	}{{"", 0}, {"noren.db", 0o444}, {"noren.db.head", 0o444}, {".", 0o555}} {
		f := newFixture(t, Cost{Epsilon: one, Delta: 0})
		// The other user may use all of it, but for the target.
		if err := errors.Join(os.Chmod(filepath.Dir(f.dir), 0o755), os.Chmod(f.dir, 0o777), os.Chmod(f.path, 0o666),
			os.Chmod(headPath(f.path), 0o666)); err != nil {
			t.Fatal(err)
		}
		if c.target == "" {
			if out, err := command("unprivileged", f.path, "").Output(); err != nil {
				t.Fatalf("with nothing in the way: %s, %v", out, err)
			}
			continue
		}
		if err := os.Chmod(filepath.Join(f.dir, c.target), c.mode); err != nil {
			t.Fatal(err)
		}
		out, err := command("unprivileged", f.path, "").Output()
		var exit *exec.ExitError
		if !errors.As(err, &exit) || exit.ExitCode() != noren.Usage.ExitCode() || !strings.Contains(string(out), "writable") {
			t.Errorf("%s: %s, %v", c.target, out, err)
		}
		if err := os.Chmod(f.dir, 0o700); err != nil {
			t.Fatal(err)
		}
		l := f.open(t)
		if err := l.History(t.Context(), HistoryOptions{}, func(e Entry) error {
			if e.State != "forfeited" {
				t.Errorf("%s: %+v", c.target, e)
			}
			return nil
		}); err != nil {
			t.Error(err)
		}
		verifyClean(t, l)
	}
}
