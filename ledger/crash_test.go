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

	"github.com/noren-privacy/noren"
	"github.com/noren-privacy/noren/internal/randtest"
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
	var step func(string)
	if role == "open-and-die" {
		step = func(at string) {
			if at == arg {
				die()
			}
		}
	}
	if role == "open-and-die-later" {
		after, err := time.ParseDuration(arg)
		if err != nil {
			return report(err)
		}
		time.AfterFunc(after, die)
	}
	l, err := openStepping(ctx, path, Options{Lease: 2 * time.Second}, systemClock(), step)
	if err != nil {
		return report(err)
	}
	defer l.Close()
	switch role {
	case "open-and-die", "open-and-die-later":
		return 0
	case "grant-and-die":
		l.step = func(step string) {
			if step == arg {
				die()
			}
		}
		_, err := l.Grant(ctx, killedGrant())
		return report(err)
	case "rebuild-and-die":
		l.step = func(step string) {
			if step == arg {
				die()
			}
		}
		_, err := l.Reconcile(ctx, ReconcileOptions{})
		return report(err)
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
		got, err := ask(ctx, l, request(1, Cost{Epsilon: milli, Delta: 0}), answer(1))
		fmt.Printf("answered %s\n", got)
		return report(err)
	case "die-at-zcdp":
		l.step = func(step string) {
			if step == arg {
				die()
			}
		}
		q := request(1, Cost{})
		q.Loss = Loss{Rho: milliRho + 500_000_000, Pure: milli, Gaussian: milliRho}
		got, err := ask(ctx, l, q, answer(1))
		fmt.Printf("answered %s\n", got)
		return report(err)
	case "unprivileged", "once":
		_, err := ask(ctx, l, request(1, Cost{Epsilon: milli, Delta: 0}), answer(1))
		return report(err)
	case "slow": // reserve, say so, wait for a line, settle
		r, _, err := l.Reserve(ctx, request(1, Cost{Epsilon: milli, Delta: 0}))
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
			if _, err := ask(ctx, l, request(n, Cost{Epsilon: milli, Delta: 0}), answer(n)); err != nil {
				return report(err)
			}
			fmt.Println("answered", n)
		}
	}
	return 99
}

// killedGrant is a second version of the fixture's data set.
func killedGrant() Grant {
	definition := definitionOf("age", "sex", "ward")
	contents := &Contents{Values: map[string]Values{}}
	for _, column := range []string{"age", "sex", "ward"} {
		contents.Values[column] = Values{Prints: []string{hexHash([]byte(column))}}
	}
	return Grant{
		Name: "adult", Path: "/data/killed.csv", Cap: Cost{Epsilon: 2 * one, Delta: 1000}, Definition: definition,
		DefinitionHash: hashOf(definition),
		Print:          "killed", Prints: map[string]string{"age": "1", "sex": "2", "ward": "3"}, Size: 9, Mtime: 9, Changed: true,
		Contents: contents,
	}
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
			f := newFixture(t, Cost{Epsilon: one, Delta: 0})
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
			r, stored, err := l.Reserve(t.Context(), request(1, Cost{Epsilon: milli, Delta: 0}))
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
			if _, err := ask(t.Context(), l, request(2, Cost{Epsilon: milli, Delta: 0}), answer(2)); err != nil {
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
	t.Parallel()
	f := newFixture(t, Cost{Epsilon: 1 << 40, Delta: 0})
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
		if err := l.History(t.Context(), HistoryOptions{}, func(e Entry) error {
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
	t.Parallel()
	for _, withoutHead := range []string{"", "yes"} {
		f := newFixture(t, Cost{Epsilon: one, Delta: 1000})
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
		if got := spent(t, l); got != (Cost{Epsilon: 3 * milli, Delta: 3}) {
			t.Errorf("spent %v", got)
		}
		if _, err := ask(t.Context(), l, request(4, Cost{Epsilon: milli, Delta: 0}), answer(4)); err != nil {
			t.Error(err)
		}
		verifyClean(t, l)
	}
}

func TestKilledWhileCreating(t *testing.T) {
	t.Parallel()
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

// Killed at any step of a grant, the ledger holds all of it or nothing of it,
// and the same grant goes through afterwards.
func TestKilledWhileGranting(t *testing.T) {
	randtest.SkipShort(t)
	for _, step := range []struct {
		name string
		done bool
	}{
		{"grant-begin", false},
		{"grant-linked", false},
		{"checkpoint", false},
		{"grant-before-commit", false},
		{"granted", true},
		{"head-open", true},
		{"head-torn", true},
		{"head-written", true},
	} {
		t.Run(step.name, func(t *testing.T) {
			t.Parallel()
			f := newFixture(t, Cost{Epsilon: one, Delta: 1000})
			f.run(t, 1)
			if step.name == "checkpoint" {
				f.fillTo(t, checkpointEvery-1)
			}
			if out, err := command("grant-and-die", f.path, step.name).Output(); !killed(err) {
				t.Fatalf("%s, %v", out, err)
			}
			l := f.open(t)
			if err := l.Sealed(); err != nil {
				t.Fatal(err)
			}
			verifyClean(t, l)
			want := 1
			if step.done {
				want = 2
			}
			b, err := l.Book(t.Context(), "adult")
			if err != nil || b.Version != want || len(b.Versions) != want || (b.Path == "/data/killed.csv") != step.done ||
				(b.Cap.Epsilon == 2*one) != step.done || b.Spent.Epsilon != milli {
				t.Errorf("%+v, %v", b, err)
			}
			if name, err := l.KnowsPrint(t.Context(), "killed"); err != nil || (name == "adult") != step.done {
				t.Error(name, err)
			}
			if b, err = l.Grant(t.Context(), killedGrant()); err != nil || b.Version != 2 {
				t.Errorf("%+v, %v", b, err)
			}
			if size, _, err := l.Seen(t.Context(), "adult"); size != 9 || err != nil {
				t.Error(size, err)
			}
			q := request(2, Cost{Epsilon: milli, Delta: 0})
			q.Version, q.Definition = b.Version, b.DefinitionHash
			if _, err := ask(t.Context(), l, q, answer(2)); err != nil {
				t.Error(err)
			}
			verifyClean(t, l)
		})
	}
}

// Killed at any step of the migration, or at any time in it, a ledger of the
// older schema is migrated by the process that opens it next.
func TestKilledWhileMigrating(t *testing.T) {
	t.Parallel()
	randtest.SkipShort(t)
	check := func(t *testing.T, f *fixture, wantMigrated, isMigrated bool) {
		t.Helper()
		l := f.open(t)
		defer l.Close()
		if err := l.Sealed(); err != nil {
			t.Fatal(err)
		}
		if wantMigrated != isMigrated {
			t.Errorf("migrated: %v", isMigrated)
		}
		verifyClean(t, l)
		b, err := l.Book(t.Context(), "adult")
		if err != nil || b.Spent.Epsilon != 200*milli || b.BeforeSchema != 4 {
			t.Errorf("%+v, %v", b, err)
		}
	}
	// migrated reads the schema version without opening the ledger.
	migrated := func(t *testing.T, f *fixture) bool {
		t.Helper()
		db, err := openDB(f.path)
		if err != nil {
			t.Fatal(err)
		}
		defer db.Close()
		names, err := schemaText(t.Context(), db)
		if err != nil {
			t.Fatal(err)
		}
		some, all := false, true
		for _, name := range []string{
			"table dataset_version", "table checkpoint", "table dataset_path", "index chain_grant",
			"trigger dataset_path_fixed",
		} {
			_, ok := names[name]
			some, all = some || ok, all && ok
		}
		if some != all {
			t.Errorf("half of a migration: %v", names)
		}
		return all
	}
	for step, want := range map[string]bool{"migrate": false, "migrated": true, "audited": true} {
		t.Run(step, func(t *testing.T) {
			f := schema1(t, "spent")
			if out, err := command("open-and-die", f.path, step).Output(); !killed(err) {
				t.Fatalf("%s, %v", out, err)
			}
			check(t, f, want, migrated(t, f))
		})
	}
	t.Run("at random", func(t *testing.T) {
		for n := range 12 {
			f := schema1(t, "spent")
			_, _ = command("open-and-die-later", f.path, (time.Duration(n) * time.Millisecond).String()).Output()
			done := migrated(t, f)
			check(t, f, done, done)
		}
	})
}

// Killed between the rebuilt rows and the end, a reconciliation can be repeated.
func TestKilledWhileRebuilding(t *testing.T) {
	randtest.SkipShort(t)
	t.Parallel()
	for _, step := range []string{"rebuilt", "checkpoint", "reconciled"} {
		f := newFixture(t, Cost{Epsilon: one, Delta: 1000})
		f.run(t, 1)
		f.byHand(t, "UPDATE account SET spent_eps_nano = spent_eps_nano + 5000000, cap_delta = 5000")
		if out, err := command("rebuild-and-die", f.path, step).Output(); !killed(err) {
			t.Fatalf("%s, %v", out, err)
		}
		l := f.open(t)
		if (l.Sealed() != nil) != (step != "reconciled") {
			t.Errorf("%s: %v", step, l.Sealed())
		}
		if _, err := l.Reconcile(t.Context(), ReconcileOptions{}); err != nil {
			t.Fatal(err)
		}
		if b, err := l.Book(t.Context(), "adult"); err != nil || b.Spent.Epsilon != 6*milli || b.Cap.Delta != 1000 {
			t.Errorf("%+v, %v", b, err)
		}
		verifyClean(t, l)
	}
}
