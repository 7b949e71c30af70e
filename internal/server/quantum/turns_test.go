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
			ticket, err := d.Start(t.Context(), class, func() bool { work(); return false })
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
		if _, err := d.Start(t.Context(), 500*time.Millisecond, func() bool { time.Sleep(10 * time.Second); return false }); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		time.Sleep(300 * time.Millisecond)
		second, err := d.Start(t.Context(), 500*time.Millisecond, func() bool { return false })
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

// A refusal whose work waited for other work leaves at the boundary: its time would tell how
// long the other work took.
func TestRefusalAfterOtherWork(t *testing.T) {
	for _, took := range []time.Duration{100 * time.Millisecond, 300 * time.Millisecond} {
		synctest.Test(t, func(t *testing.T) {
			d := New(10, 1, 1)
			begun := time.Now()
			if _, err := d.Start(t.Context(), 500*time.Millisecond, func() bool { time.Sleep(took); return false }); err != nil {
				t.Fatal(err)
			}
			synctest.Wait()
			refused, err := d.Start(t.Context(), 500*time.Millisecond, func() bool { return true })
			if err != nil {
				t.Fatal(err)
			}
			<-refused.Released()
			if at := time.Since(begun); at != 500*time.Millisecond {
				t.Errorf("other work of %s: the refusal left after %s", took, at)
			}
		})
	}
}
