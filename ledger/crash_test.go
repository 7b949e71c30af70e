//go:build unix

package ledger

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"noren"
)

// The test binary runs itself as another process that uses the ledger: as
// what NOREN_LEDGER_CHILD says, on the ledger at NOREN_LEDGER.
func TestMain(m *testing.M) {
	role, ok := os.LookupEnv("NOREN_LEDGER_CHILD")
	if !ok {
		os.Exit(m.Run())
	}
	os.Exit(child(role, os.Getenv("NOREN_LEDGER"), os.Getenv("NOREN_LEDGER_ARG")))
}

// die is kill -9 of oneself: nothing deferred runs, nothing is flushed.
func die() {
	_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
	select {}
}

func child(role, path, arg string) int {
	ctx := context.Background()
	report := func(err error) int {
		if err != nil {
			fmt.Println("error", noren.KindOf(err), err)
			return noren.KindOf(err).ExitCode()
		}
		return 0
	}
	if role == "create-and-die" {
		c := systemClock()
		c.wall = func() time.Time { die(); return time.Time{} }
		return report(create(ctx, path, c))
	}
	if role == "unprivileged" && os.Getuid() == 0 {
		if err := errors.Join(syscall.Setgid(65534), syscall.Setuid(65534)); err != nil {
			return report(err)
		}
	}
	l, err := Open(ctx, path, Options{Lease: 2 * time.Second})
	if err != nil {
		return report(err)
	}
	defer l.Close()
	switch role {
	case "reconcile-and-die":
		l.step = func(step string) {
			if step == "reconciled" {
				die()
			}
		}
		_, err := l.Reconcile(ctx, ReconcileOptions{WithoutHead: arg != ""})
		return report(err)
	case "die-at":
		l.step = func(step string) {
			if step == arg {
				die()
			}
		}
		got, err := ask(ctx, l, request(1, Cost{milli, 0}), answer(1))
		fmt.Printf("answered %s\n", got)
		return report(err)
	case "unprivileged", "once":
		_, err := ask(ctx, l, request(1, Cost{milli, 0}), answer(1))
		return report(err)
	case "slow": // reserve, say so, wait for a line, settle
		r, _, err := l.Reserve(ctx, request(1, Cost{milli, 0}))
		if err != nil {
			return report(err)
		}
		fmt.Println("reserved")
		_, _ = bufio.NewReader(os.Stdin).ReadString('\n')
		return report(r.Settle(ctx, answer(1), nil, ""))
	case "full":
		signal.Ignore(syscall.SIGXFSZ) // writes beyond the limit then fail
		limit, err := strconv.ParseUint(arg, 10, 64)
		if err != nil {
			return report(err)
		}
		if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &syscall.Rlimit{Cur: limit, Max: limit}); err != nil {
			return report(err)
		}
		fallthrough
	case "loop": // answer until killed or failing, and say so each time
		for n := 1; ; n++ {
			if _, err := ask(ctx, l, request(n, Cost{milli, 0}), answer(n)); err != nil {
				return report(err)
			}
			fmt.Println("answered", n)
		}
	}
	return 99
}

func command(role, path, arg string) *exec.Cmd {
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), "NOREN_LEDGER_CHILD="+role, "NOREN_LEDGER="+path, "NOREN_LEDGER_ARG="+arg)
	cmd.Stderr = os.Stderr
	return cmd
}

func killed(err error) bool {
	var exit *exec.ExitError
	return errors.As(err, &exit) && exit.Sys().(syscall.WaitStatus).Signal() == syscall.SIGKILL
}

// later is the system's clock an hour on: all leases have run out.
func later() clock {
	c := systemClock()
	wall, booted := c.wall, c.booted
	c.wall = func() time.Time { return wall().Add(time.Hour) }
	c.booted = func() time.Duration { return booted() + time.Hour }
	return c
}

func TestKilledAtEveryStep(t *testing.T) {
	steps := []struct {
		name     string
		spent    int64
		answered bool // the answer is stored
	}{
		{"begin", 0, false},
		{"before-commit", 0, false},
		{"charged", milli, false},
		{"head-open", milli, false},
		{"head-torn", milli, false},
		{"head-written", milli, false},
		{"reserved", milli, false},
		{"settle-begin", milli, false},
		{"settle-before-commit", milli, false},
		{"settled", milli, true},
	}
	for _, step := range steps {
		t.Run(step.name, func(t *testing.T) {
			t.Parallel()
			f := newFixture(t, Cost{one, 0})
			out, err := command("die-at", f.path, step.name).Output()
			if !killed(err) || strings.Contains(string(out), "answered") {
				t.Fatalf("%s, %v", out, err)
			}
			l := f.open(t)
			if err := l.Sealed(); err != nil {
				t.Fatal(err)
			}
			if got := spent(t, l); got.Epsilon != step.spent {
				t.Errorf("spent %v", got)
			}
			verifyClean(t, l)
			l.Close()

			// When the lease has run out, and only then, it is forfeited.
			l, err = open(t.Context(), f.path, Options{}, later())
			if err != nil {
				t.Fatal(err)
			}
			defer l.Close()
			r, stored, err := l.Reserve(t.Context(), request(1, Cost{milli, 0}))
			switch {
			case step.answered:
				if err != nil || stored == nil || string(stored.Payload) != "answer 1" {
					t.Errorf("%+v, %v", stored, err)
				}
			case step.spent > 0:
				if !errors.Is(err, ErrForfeited) {
					t.Error(err)
				}
			default:
				if err != nil {
					t.Fatal(err)
				}
				if err := r.Settle(t.Context(), answer(1), nil, ""); err != nil {
					t.Error(err)
				}
			}
			if _, err := ask(t.Context(), l, request(2, Cost{milli, 0}), answer(2)); err != nil {
				t.Error(err)
			}
			if got := spent(t, l); got.Epsilon != 2*milli {
				t.Errorf("spent %v at the end", got)
			}
			verifyClean(t, l)
			if head, err := l.knownHead(); err != nil || head.Seq < 4 {
				t.Errorf("the head file was not caught up: %+v, %v", head, err)
			}
		})
	}
}

func TestKilledAtRandom(t *testing.T) {
	f := newFixture(t, Cost{1 << 40, 0})
	answered := 0
	for round := range 6 {
		cmd := command("loop", f.path, "")
		out, err := cmd.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		r := bufio.NewReader(out)
		for n := 0; ; n++ {
			text, err := r.ReadString('\n')
			if errors.Is(err, io.EOF) {
				break
			}
			if strings.HasPrefix(text, "error") {
				t.Fatal(text)
			}
			answered = max(answered, atoi(t, strings.TrimPrefix(text, "answered ")))
			if n == 5+round {
				if err := cmd.Process.Kill(); err != nil {
					t.Fatal(err)
				}
			}
		}
		if err := cmd.Wait(); !killed(err) {
			t.Fatal(err)
		}
		// The next child goes through the answers again, which is free, and
		// stumbles over the charge in flight: give it the chance to.
		l, err := open(t.Context(), f.path, Options{}, later())
		if err != nil {
			t.Fatal(err)
		}
		charges := int64(0)
		if err := l.History(t.Context(), "", func(e Entry) error {
			if charges++; e.State == "reserved" {
				t.Errorf("%+v is still reserved", e)
			}
			return nil
		}); err != nil {
			t.Fatal(err)
		}
		if got := spent(t, l).Epsilon; got != charges*milli || got < int64(answered)*milli || got > int64(answered+1)*milli+int64(round)*milli {
			t.Errorf("%d answered, %d charged, spent %d", answered, charges, got)
		}
		verifyClean(t, l)
		l.Close()
		if charges > int64(answered) {
			break // the charge in flight is forfeited: its key answers no more
		}
	}
}

func atoi(t *testing.T, s string) int {
	t.Helper()
	n, err := strconv.Atoi(strings.TrimSpace(s))
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// Killed between the reconciled database and its head file, a ledger can be
// reconciled again, and no cost is counted twice.
func TestKilledWhileReconciling(t *testing.T) {
	for _, withoutHead := range []string{"", "yes"} {
		f := newFixture(t, Cost{one, 1000})
		f.run(t, 1)
		restore := f.backup(t, f.path)
		f.run(t, 2, 3)
		restore()
		if withoutHead != "" { // spoil its second line: the rest still counts
			text, err := os.ReadFile(headPath(f.path))
			if err != nil {
				t.Fatal(err)
			}
			text[strings.IndexByte(string(text), '\n')+20] ^= 1
			if err := os.WriteFile(headPath(f.path), text, 0o600); err != nil {
				t.Fatal(err)
			}
		}
		if out, err := command("reconcile-and-die", f.path, withoutHead).Output(); !killed(err) {
			t.Fatalf("%s, %v", out, err)
		}
		l := f.open(t)
		if (l.Sealed() != nil) != (withoutHead != "") {
			t.Errorf("sealed: %v", l.Sealed())
		}
		if l.Sealed() != nil {
			if _, err := l.Reconcile(t.Context(), ReconcileOptions{WithoutHead: true}); err != nil {
				t.Fatal(err)
			}
		}
		if got := spent(t, l); got != (Cost{3 * milli, 3}) {
			t.Errorf("spent %v", got)
		}
		if _, err := ask(t.Context(), l, request(4, Cost{milli, 0}), answer(4)); err != nil {
			t.Error(err)
		}
		verifyClean(t, l)
	}
}

func TestKilledWhileCreating(t *testing.T) {
	path := filepath.Join(t.TempDir(), "noren.db")
	if _, err := command("create-and-die", path, "").Output(); !killed(err) {
		t.Fatal(err)
	}
	if _, err := os.Stat(path); !errors.Is(err, os.ErrNotExist) {
		t.Fatalf("half a ledger: %v", err)
	}
	if err := Create(t.Context(), path); err != nil {
		t.Fatal(err)
	}
	// And when the machine stops between the database and its head file.
	if err := os.Remove(headPath(path)); err != nil {
		t.Fatal(err)
	}
	l, err := Open(t.Context(), path, Options{})
	if err != nil || l.Sealed() != nil {
		t.Fatal(err, l.Sealed())
	}
	l.Close()
}

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
	t.Parallel()
	f := newFixture(t, Cost{one, 0})
	l, err := Open(t.Context(), f.path, Options{Lease: 2 * time.Second})
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	r, _, err := l.Reserve(t.Context(), request(2, Cost{milli, 0}))
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

// A process that was stopped for longer than its lease loses it to whoever
// opens the ledger, and learns so before it answers.
func TestStoppedProcessLosesItsLease(t *testing.T) {
	t.Parallel()
	f := newFixture(t, Cost{one, 0})
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
	if err := cmd.Wait(); !errors.As(err, &exit) || exit.ExitCode() != noren.Refused.ExitCode() || !strings.Contains(string(text), ErrForfeited.Error()) {
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
	f := newFixture(t, Cost{20 * milli, 0})
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
	if err := l.History(t.Context(), "adult", func(e Entry) error { charges++; return nil }); err != nil {
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
	for _, limit := range []string{"4096", "150000", "400000"} {
		f := newFixture(t, Cost{one, 0})
		out, err := command("full", f.path, limit).Output()
		var exit *exec.ExitError
		if !errors.As(err, &exit) || exit.ExitCode() != 1 || !strings.Contains(string(out), "is the disk full") && !strings.Contains(string(out), "the disk is full") {
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
		if _, err := ask(t.Context(), l, request(999, Cost{milli, 0}), answer(9)); err != nil {
			t.Errorf("with room again: %v", err)
		}
	}
}

// Files that may be read and not written, by a user who is not root.
func TestReadOnly(t *testing.T) {
	for _, c := range []struct {
		target string
		mode   os.FileMode
	}{{"", 0}, {"noren.db", 0o444}, {"noren.db.head", 0o444}, {".", 0o555}} {
		f := newFixture(t, Cost{one, 0})
		// The other user may use all of it, but for the target.
		if err := errors.Join(os.Chmod(filepath.Dir(f.dir), 0o755), os.Chmod(f.dir, 0o777), os.Chmod(f.path, 0o666), os.Chmod(headPath(f.path), 0o666)); err != nil {
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
		if err := l.History(t.Context(), "", func(e Entry) error {
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
