package quantum

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

func TestBoundary(t *testing.T) {
	for _, c := range []struct{ class, took, want time.Duration }{
		{500, 0, 500}, {500, 500, 500}, {500, 501, 2000}, {500, 2000, 2000}, {500, 2001, 8000}, {2, 33, 128},
	} {
		if got := Boundary(c.class, c.took); got != c.want {
			t.Errorf("class %d, work %d: %d, want %d", c.class, c.took, got, c.want)
		}
	}
}

// A reply leaves at the class exactly, whatever the work took; a slower one gives a notice
// there and leaves at four, or sixteen, times the class. One that computes for longer than bound
// and allowance has passed when its reply leaves.
func TestRepliesLeaveAtBoundaries(t *testing.T) {
	for _, c := range []struct {
		took, left     time.Duration
		missed, passed bool
	}{
		{0, 600 * time.Millisecond, false, false},
		{200 * time.Millisecond, 600 * time.Millisecond, false, false},
		{399 * time.Millisecond, 600 * time.Millisecond, false, false},
		{401 * time.Millisecond, 600 * time.Millisecond, false, true},
		{574 * time.Millisecond, 600 * time.Millisecond, false, true},
		{576 * time.Millisecond, 2400 * time.Millisecond, true, true},
		{2500 * time.Millisecond, 9600 * time.Millisecond, true, true},
	} {
		synctest.Test(t, func(t *testing.T) {
			d := New(1, 4, quiet.meter)
			begun := time.Now()
			var passed atomic.Int64
			claim := Claim{Class: 600 * time.Millisecond, Passed: func() { passed.Add(1) }}
			ticket, err := d.Start(t.Context(), claim, func(w *Work) bool { w.Turn(); time.Sleep(c.took); return false })
			if err != nil {
				t.Fatal(err)
			}
			missed := false
			select {
			case <-ticket.Missed():
				missed = true
				if at := time.Since(begun); at != 600*time.Millisecond {
					t.Errorf("work of %s: notice after %s", c.took, at)
				}
				if next := ticket.Next(time.Now()); next != 1800*time.Millisecond {
					t.Errorf("next in %s after a miss", next)
				}
				if !ticket.Open() {
					t.Error("the reply of a miss may leave with the notice")
				}
			case <-ticket.Released():
			}
			<-ticket.Released()
			if at := time.Since(begun); at != c.left || missed != c.missed || ticket.Open() || (passed.Load() == 1) != c.passed {
				t.Errorf("work of %s: left after %s, missed %v, passed %d", c.took, at, missed, passed.Load())
			}
			synctest.Wait()
			counts := d.Counts()
			if counts.Released != 1 || (counts.Missed == 1) != c.missed || (counts.Passed == 1) != c.passed || counts.Running != 0 ||
				d.Released(600*time.Millisecond) != 1 {
				t.Errorf("%+v", counts)
			}
		})
	}
}

func TestRefusalsLeaveAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := New(1, 4, quiet.meter)
		begun := time.Now()
		ticket, err := d.Start(t.Context(), Claim{Class: 32 * time.Second}, func(*Work) bool { return true })
		if err != nil {
			t.Fatal(err)
		}
		<-ticket.Released()
		if time.Since(begun) != 0 || d.Counts().Refused != 1 {
			t.Errorf("after %s: %+v", time.Since(begun), d.Counts())
		}
	})
}

func TestFullAndClosed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := New(1, 8, quiet.meter)
		never := func(*Work) bool { t.Error("the work began"); return false }
		one := Claim{Class: time.Second, Principal: "a", Book: "x"}
		if _, err := d.Start(t.Context(), one, func(w *Work) bool { w.Turn(); return false }); err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		gone := make(chan error, 8)
		wait := func(principal, book string) {
			go func() {
				_, err := d.Start(ctx, Claim{Class: time.Second, Principal: principal, Book: book}, never)
				gone <- err
			}()
			synctest.Wait()
		}
		full := func(principal, book string) {
			t.Helper()
			if _, err := d.Start(t.Context(), Claim{Class: time.Second, Principal: principal, Book: book}, never); !errors.Is(err, ErrFull) {
				t.Errorf("%s in %s: got %v", principal, book, err)
			}
		}
		wait("a", "x")
		wait("a", "y")
		full("a", "z") // a quarter of the queue
		wait("b", "x")
		wait("c", "x")
		wait("d", "x")
		full("e", "x") // half of the queue
		wait("b", "y")
		wait("c", "y")
		wait("d", "y")
		full("e", "z") // all of it
		if c := d.Counts(); c.Waiting != 8 {
			t.Errorf("%+v", c)
		}
		cancel()
		for range 8 {
			if err := <-gone; !errors.Is(err, context.Canceled) {
				t.Errorf("got %v", err)
			}
		}
		slow, err := d.Start(t.Context(), one, func(w *Work) bool { w.Turn(); time.Sleep(10 * time.Minute); return false })
		if err != nil {
			t.Fatal(err)
		}
		ctx = t.Context()
		wait("b", "x")
		stop, end := context.WithTimeout(t.Context(), time.Second)
		defer end()
		if err := d.Close(stop); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("got %v", err)
		}
		if err := <-gone; !errors.Is(err, ErrClosed) {
			t.Errorf("got %v for one that waited", err)
		}
		<-slow.Released()
		if err := d.Close(t.Context()); err != nil {
			t.Error(err)
		}
		synctest.Wait()
		if _, err := d.Start(t.Context(), one, never); !errors.Is(err, ErrClosed) {
			t.Errorf("got %v", err)
		}
	})
}
