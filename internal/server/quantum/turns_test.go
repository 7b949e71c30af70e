package quantum

import (
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

// Work of one class takes turns and leaves at its boundary all the same; that of another
// class waits for none of it.
func TestTurns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := New(10, 1, 2)
		var running, most, other atomic.Int64
		var wait sync.WaitGroup
		start := func(class time.Duration, work func()) {
			begun := time.Now()
			ticket, err := d.Start(t.Context(), class, func(w *Work) bool { w.Turn(); work(); return false })
			if err != nil {
				t.Fatal(err)
			}
			wait.Go(func() {
				<-ticket.Released()
				if at := time.Since(begun); at != class {
					t.Errorf("a reply of the class %s left after %s", class, at)
				}
			})
		}
		for range 6 {
			start(500*time.Millisecond, func() {
				if now := running.Add(1); now > most.Load() {
					most.Store(now)
				}
				time.Sleep(100 * time.Millisecond)
				running.Add(-1)
			})
		}
		start(2*time.Second, func() { other.Store(running.Load()) })
		wait.Wait()
		if most.Load() != 2 || other.Load() == 0 {
			t.Errorf("%d at once; %d while the other class began", most.Load(), other.Load())
		}
	})
}

// Work that misses its class gives its turn back at the end of the class.
func TestTurnOfAMiss(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := New(10, 1, 1)
		begun := time.Now()
		if _, err := d.Start(t.Context(), 500*time.Millisecond, func(w *Work) bool { w.Turn(); time.Sleep(10 * time.Second); return false }); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		time.Sleep(300 * time.Millisecond)
		second, err := d.Start(t.Context(), 500*time.Millisecond, func(w *Work) bool { w.Turn(); return false })
		if err != nil {
			t.Fatal(err)
		}
		<-second.Released()
		if at := time.Since(begun); at != 800*time.Millisecond {
			t.Errorf("the second reply left after %s", at)
		}
		time.Sleep(40 * time.Second)
		synctest.Wait()
		if c := d.Counts(); c.Missed != 1 || c.Released != 2 {
			t.Errorf("%+v", c)
		}
	})
}

// A refusal waits for no turn: it leaves at once whatever other work is under way.
func TestRefusalBesideOtherWork(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := New(10, 1, 1)
		begun := time.Now()
		if _, err := d.Start(t.Context(), 500*time.Millisecond, func(w *Work) bool { w.Turn(); time.Sleep(300 * time.Millisecond); return false }); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		refused, err := d.Start(t.Context(), 500*time.Millisecond, func(*Work) bool { return true })
		if err != nil {
			t.Fatal(err)
		}
		<-refused.Released()
		if at := time.Since(begun); at != 0 {
			t.Errorf("the refusal left after %s", at)
		}
		time.Sleep(time.Second)
	})
}

// What a work stores, it stores before its turn or a little before its boundary: how long
// it and other works take changes neither time.
func TestNothingIsStoredWhenWorkEnds(t *testing.T) {
	const class = 500 * time.Millisecond
	for _, c := range []struct{ other, own, want time.Duration }{
		{0, 0, class},
		{0, 100 * time.Millisecond, class},
		{300 * time.Millisecond, 0, class},
		{200 * time.Millisecond, 200 * time.Millisecond, class},
		{0, 490 * time.Millisecond, 4 * class},
		{300 * time.Millisecond, 300 * time.Millisecond, 4 * class},
	} {
		synctest.Test(t, func(t *testing.T) {
			d := New(10, 1, 1)
			if _, err := d.Start(t.Context(), class, func(w *Work) bool { w.Turn(); time.Sleep(c.other); return false }); err != nil {
				t.Fatal(err)
			}
			synctest.Wait()
			begun := time.Now()
			var before, after time.Duration
			ticket, err := d.Start(t.Context(), class, func(w *Work) bool {
				before = time.Since(begun)
				w.Turn()
				time.Sleep(c.own)
				w.Ready()
				after = time.Since(begun)
				time.Sleep(10 * time.Millisecond) // stores it
				return false
			})
			if err != nil {
				t.Fatal(err)
			}
			<-ticket.Released()
			time.Sleep(2 * class)
			if left := time.Since(begun) - 2*class; before != 0 || after != c.want-settling || left != c.want {
				t.Errorf("other work of %s, own of %s: stored after %s and %s, left after %s", c.other, c.own, before, after, left)
			}
		})
	}
}

// A desk that closes lets work that is ready be stored at once; its reply leaves at its time.
func TestReadyWorkOfAClosedDesk(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := New(1, 1, 1)
		begun := time.Now()
		ticket, err := d.Start(t.Context(), 32*time.Second, func(w *Work) bool { w.Turn(); w.Ready(); return false })
		if err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		if err := d.Close(t.Context()); err != nil || time.Since(begun) != 0 {
			t.Errorf("closed after %s: %v", time.Since(begun), err)
		}
		<-ticket.Released()
		if at := time.Since(begun); at != 32*time.Second {
			t.Errorf("the reply left after %s", at)
		}
	})
}
