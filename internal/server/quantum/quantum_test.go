package quantum

import (
	"context"
	"errors"
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
// there and leaves at four, or sixteen, times the class.
func TestRepliesLeaveAtBoundaries(t *testing.T) {
	for _, c := range []struct {
		took, left time.Duration
		missed     bool
	}{
		{0, 500 * time.Millisecond, false},
		{time.Millisecond, 500 * time.Millisecond, false},
		{474 * time.Millisecond, 500 * time.Millisecond, false},
		{476 * time.Millisecond, 2 * time.Second, true},
		{1900 * time.Millisecond, 2 * time.Second, true},
		{2100 * time.Millisecond, 8 * time.Second, true},
	} {
		synctest.Test(t, func(t *testing.T) {
			d := New(1, 1, 1)
			begun := time.Now()
			ticket, err := d.Start(t.Context(), 500*time.Millisecond, func(w *Work) bool { w.Turn(); time.Sleep(c.took); return false })
			if err != nil {
				t.Fatal(err)
			}
			if next := ticket.Next(begun); next != 500*time.Millisecond {
				t.Errorf("next in %s", next)
			}
			missed := false
			select {
			case <-ticket.Missed():
				missed = true
				if at := time.Since(begun); at != 500*time.Millisecond {
					t.Errorf("work of %s: notice after %s", c.took, at)
				}
				if next := ticket.Next(time.Now()); next != 1500*time.Millisecond {
					t.Errorf("next in %s after a miss", next)
				}
				if !ticket.Open() {
					t.Error("the reply of a miss may leave with the notice")
				}
			case <-ticket.Released():
			}
			<-ticket.Released()
			if at := time.Since(begun); at != c.left || missed != c.missed || ticket.Open() {
				t.Errorf("work of %s: left after %s, missed %v", c.took, at, missed)
			}
			synctest.Wait()
			counts := d.Counts()
			if counts.Released != 1 || (counts.Missed == 1) != c.missed || counts.Running != 0 || d.Released(500*time.Millisecond) != 1 {
				t.Errorf("%+v", counts)
			}
		})
	}
}

func TestRefusalsLeaveAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := New(1, 1, 1)
		begun := time.Now()
		ticket, err := d.Start(t.Context(), 32*time.Second, func(*Work) bool { return true })
		if err != nil {
			t.Fatal(err)
		}
		<-ticket.Released()
		if time.Since(begun) != 0 || d.Counts().Refused != 1 {
			t.Errorf("after %s: %+v", time.Since(begun), d.Counts())
		}
	})
}

// A place is free again at the boundary, not when the work is done: the wait of the next
// question says nothing of the time that the work before took.
func TestPlacesAreFreeAtBoundaries(t *testing.T) {
	for _, took := range []time.Duration{0, 100 * time.Millisecond, 450 * time.Millisecond} {
		synctest.Test(t, func(t *testing.T) {
			d := New(1, 1, 1)
			begun := time.Now()
			if _, err := d.Start(t.Context(), 500*time.Millisecond, func(w *Work) bool { w.Turn(); time.Sleep(took); return false }); err != nil {
				t.Fatal(err)
			}
			second, err := d.Start(t.Context(), 500*time.Millisecond, func(w *Work) bool { w.Turn(); return false })
			if err != nil {
				t.Fatal(err)
			}
			if at := time.Since(begun); at != 500*time.Millisecond {
				t.Errorf("accepted after %s", at)
			}
			<-second.Released()
			if at := time.Since(begun); at != time.Second {
				t.Errorf("left after %s", at)
			}
		})
	}
}

func TestFullAndClosed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := New(1, 1, 1)
		never := func(*Work) bool { t.Error("the work began"); return false }
		first, err := d.Start(t.Context(), time.Second, func(w *Work) bool { w.Turn(); return false })
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		gone := make(chan error)
		go func() { _, err := d.Start(ctx, time.Second, never); gone <- err }()
		synctest.Wait()
		if _, err := d.Start(t.Context(), time.Second, never); !errors.Is(err, ErrFull) {
			t.Errorf("got %v", err)
		}
		cancel()
		if err := <-gone; !errors.Is(err, context.Canceled) {
			t.Errorf("got %v", err)
		}
		slow, err := d.Start(t.Context(), time.Second, func(w *Work) bool { w.Turn(); time.Sleep(10 * time.Minute); return false })
		if err != nil {
			t.Fatal(err)
		}
		if first.Open() {
			t.Error("two questions had one place")
		}
		stop, end := context.WithTimeout(t.Context(), time.Second)
		defer end()
		if err := d.Close(stop); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("got %v", err)
		}
		<-slow.Released()
		if err := d.Close(t.Context()); err != nil {
			t.Error(err)
		}
		synctest.Wait()
		if _, err := d.Start(t.Context(), time.Second, never); !errors.Is(err, ErrClosed) {
			t.Errorf("got %v", err)
		}
	})
}
