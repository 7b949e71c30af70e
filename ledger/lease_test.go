package ledger

import (
	"context"
	"errors"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/noren-privacy/noren"
	"github.com/noren-privacy/noren/internal/randtest"
)

// testClock can be set.
type testClock struct {
	now    time.Time
	uptime time.Duration
}

func (c *testClock) clock(boot string) clock {
	return clock{wall: func() time.Time { return c.now }, boot: boot, booted: func() time.Duration { return c.uptime }}
}

func TestClockGoesBack(t *testing.T) {
	start := time.Date(2026, 11, 21, 7, 0, 0, 0, time.UTC)
	reserve := func(t *testing.T, f *fixture, c clock) (*Ledger, *Reservation) {
		t.Helper()
		l, err := open(t.Context(), f.path, Options{Lease: time.Minute}, c)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { l.Close() })
		r, _, err := l.Reserve(t.Context(), request(1, Cost{Epsilon: milli, Delta: 0}))
		if err != nil {
			t.Fatal(err)
		}
		return l, r
	}
	for name, test := range map[string]struct {
		boot1, boot2 string
		wall, up     time.Duration // how far the clocks go between the two
		held         bool
	}{
		"same boot, nothing":               {"a", "a", 0, 0, true},
		"same boot, time passes":           {"a", "a", 2 * time.Minute, 2 * time.Minute, false},
		"same boot, set back, lease holds": {"a", "a", -48 * time.Hour, 30 * time.Second, true},
		"same boot, set back, lease ran":   {"a", "a", -48 * time.Hour, 2 * time.Minute, false},
		"same boot, set forward":           {"a", "a", 48 * time.Hour, 30 * time.Second, true},
		"other boot, time passes":          {"a", "b", 2 * time.Minute, 0, false},
		"other boot, set back":             {"a", "b", -48 * time.Hour, 0, true},
		"no boot clock, set back":          {"", "", -48 * time.Hour, 0, true},
		"no boot clock, time passes":       {"", "", 2 * time.Minute, 0, false},
		"no boot clock, in time":           {"", "", 59 * time.Second, 0, true},
	} {
		t.Run(name, func(t *testing.T) {
			f := fixtureAt(t, start)
			c := &testClock{start, time.Hour}
			l1, r := reserve(t, f, c.clock(test.boot1))
			l1.end() // no renewals: the process is silent
			c2 := &testClock{start.Add(test.wall), time.Hour + test.up}
			l2, err := open(t.Context(), f.path, Options{}, c2.clock(test.boot2))
			if err != nil {
				t.Fatal(err)
			}
			defer l2.Close()
			err = r.Settle(t.Context(), answer(1), nil, "")
			if test.held && err != nil || !test.held && !errors.Is(err, ErrForfeited) {
				t.Error(err)
			}
			verifyClean(t, l2)
		})
	}
	t.Run("what ran out stays so", func(t *testing.T) {
		f := fixtureAt(t, start)
		c := &testClock{start, 0}
		l1, _ := reserve(t, f, c.clock("a"))
		l1.end()
		// Somebody sees a late time, without sweeping; then the clock is set back.
		c2 := &testClock{start.Add(time.Hour), 0}
		l2, err := open(t.Context(), f.path, Options{}, (&testClock{start, 0}).clock("b"))
		if err != nil {
			t.Fatal(err)
		}
		defer l2.Close()
		l2.clock = c2.clock("b")
		if _, err := ask(t.Context(), l2, request(2, Cost{Epsilon: milli, Delta: 0}), answer(2)); err != nil {
			t.Fatal(err)
		}
		c3 := &testClock{start.Add(-time.Hour), 0}
		l3, err := open(t.Context(), f.path, Options{}, c3.clock("c"))
		if err != nil {
			t.Fatal(err)
		}
		defer l3.Close()
		if _, _, err := l3.Reserve(t.Context(), request(1, Cost{Epsilon: milli, Delta: 0})); !errors.Is(err, ErrForfeited) {
			t.Error(err)
		}
		var last time.Time
		if err := l3.History(t.Context(), HistoryOptions{}, func(e Entry) error {
			if e.Time.Before(last) {
				t.Errorf("the history runs back: %v after %v", e.Time, last)
			}
			last = e.Time
			return nil
		}); err != nil {
			t.Error(err)
		}
	})
}

// fixtureAt is a fixture that was made at a given time.
func fixtureAt(t *testing.T, at time.Time) *fixture {
	t.Helper()
	dir := t.TempDir()
	f := &fixture{dir: dir, path: filepath.Join(dir, "noren.db"), file: filepath.Join(dir, "data.csv")}
	write(t, f.file, firstTable)
	c := (&testClock{at, 0}).clock("z")
	if err := create(t.Context(), f.path, c); err != nil {
		t.Fatal(err)
	}
	l, err := open(t.Context(), f.path, Options{}, c)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	if _, err := l.Grant(t.Context(), pinned(t, "adult", f.file, Cost{Epsilon: one, Delta: 0})); err != nil {
		t.Fatal(err)
	}
	return f
}

// The heartbeat keeps a lease alive, notices that it was lost, and ends the
// computation.
func TestHeartbeat(t *testing.T) {
	randtest.SkipShort(t)
	t.Parallel()
	f := newFixture(t, Cost{Epsilon: one, Delta: 0})
	l, err := Open(t.Context(), f.path, Options{Lease: 900 * time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	r, _, err := l.Reserve(t.Context(), request(1, Cost{Epsilon: milli, Delta: 0}))
	if err != nil {
		t.Fatal(err)
	}
	until := func() (until int64) {
		if err := l.db.QueryRow("SELECT lease_until FROM charge").Scan(&until); err != nil {
			t.Fatal(err)
		}
		return until
	}
	first := until()
	for start := time.Now(); until() == first; time.Sleep(5 * time.Millisecond) {
		if time.Since(start) > 10*time.Second {
			t.Fatal("the lease is not renewed")
		}
	}
	c := systemClock()
	c.boot, c.wall = "", func() time.Time { return time.Now().Add(time.Hour) }
	other, err := open(t.Context(), f.path, Options{}, c)
	if err != nil {
		t.Fatal(err)
	}
	defer other.Close()
	select {
	case <-r.Context().Done():
	case <-time.After(10 * time.Second):
		t.Fatal("the computation goes on without its lease")
	}
	if cause := context.Cause(r.Context()); !errors.Is(cause, ErrForfeited) {
		t.Error(cause)
	}
	if err := r.Settle(t.Context(), answer(1), nil, ""); !errors.Is(err, ErrForfeited) || noren.KindOf(err) != noren.Refused {
		t.Error(err)
	}
	verifyClean(t, l)
}

// Another process that keeps the ledger locked is waited for, and not for ever.
func TestLocked(t *testing.T) {
	randtest.SkipShort(t)
	t.Parallel()
	f := newFixture(t, Cost{Epsilon: one, Delta: 0})
	other := f.open(t)
	l, err := Open(t.Context(), f.path, Options{Wait: 50 * time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	tx, err := other.db.Begin()
	if err != nil {
		t.Fatal(err)
	}
	if _, _, err := l.Reserve(t.Context(), request(1, Cost{Epsilon: milli, Delta: 0})); noren.KindOf(err) != noren.Internal ||
		!strings.Contains(err.Error(), "another process keeps the ledger locked") {
		t.Error(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	l.opts.Wait = time.Hour
	if _, _, err := l.Reserve(ctx, request(1, Cost{Epsilon: milli, Delta: 0})); noren.KindOf(err) != noren.Interrupted {
		t.Error(err)
	}
	time.AfterFunc(600*time.Millisecond, func() { _ = tx.Rollback() })
	if _, err := ask(t.Context(), l, request(1, Cost{Epsilon: milli, Delta: 0}), answer(1)); err != nil {
		t.Error(err)
	}
}
