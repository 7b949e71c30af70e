package quantum

import (
	"fmt"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// schedule lets requests of several principals, books and classes be worked on, and returns
// when each was accepted, had its turn, was ready and left. took is how long each work takes.
func schedule(t *testing.T, took func(i int) time.Duration) []string {
	var out []string
	synctest.Test(t, func(t *testing.T) {
		d := New(2, 2048, quiet.meter)
		begun := time.Now()
		out = make([]string, 120)
		var wait sync.WaitGroup
		for i := range out {
			class := []time.Duration{500 * time.Millisecond, 2 * time.Second, 8 * time.Second}[i%3]
			claim := Claim{
				Class: class, Before: class / 40 * time.Duration(i%2), Bound: class / time.Duration(4+i%5), Principal: fmt.Sprint(i % 4),
				Book: fmt.Sprint(i % 7),
			}
			wait.Go(func() {
				var turn, ready time.Duration
				ticket, err := d.Start(t.Context(), claim, func(w *Work) bool {
					w.Turn()
					turn = time.Since(begun)
					time.Sleep(min(took(i), w.claim.Bound))
					w.Ready()
					ready = time.Since(begun)
					return false
				})
				if err != nil {
					t.Error(err)
					return
				}
				missed := false
				select {
				case <-ticket.Missed():
					missed = true
				case <-ticket.Released():
				}
				<-ticket.Released()
				out[i] = fmt.Sprint(ticket.accepted.Sub(begun), turn, ready, time.Since(begun), missed)
			})
			synctest.Wait()
		}
		wait.Wait()
		if c := d.Counts(); c.Missed != 0 || c.Passed != 0 || c.Waiting != 0 || c.Running != 0 || c.Released != int64(len(out)) {
			t.Errorf("%+v", c)
		}
	})
	return out
}

// The times of all requests together are a function of public parameters: works that end at
// once, and works that take all of their bound, give the same ones, and none misses its class.
func TestScheduleIsPublic(t *testing.T) {
	fast := schedule(t, func(int) time.Duration { return 0 })
	for name, took := range map[string]func(i int) time.Duration{
		"slow":  func(int) time.Duration { return time.Hour },
		"mixed": func(i int) time.Duration { return time.Duration(i*i%13) * 100 * time.Millisecond },
	} {
		if got := schedule(t, took); !slices.Equal(got, fast) {
			t.Errorf("%s works have other times:\n%q\n%q", name, got, fast)
		}
	}
}

// One principal with 400 questions delays the answer of another by at most the class.
func TestOneOfManyQuestions(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const class = 2 * time.Second
		d := New(2, 2048, quiet.meter)
		work := func(w *Work) bool { w.Turn(); return false }
		var wait sync.WaitGroup
		for range 400 {
			wait.Go(func() {
				ticket, err := d.Start(t.Context(), Claim{Class: class, Bound: 300 * time.Millisecond, Principal: "many", Book: "x"}, work)
				if err != nil {
					t.Error(err)
					return
				}
				<-ticket.Released()
			})
		}
		synctest.Wait()
		for range 5 {
			begun := time.Now()
			ticket, err := d.Start(t.Context(), Claim{Class: class, Bound: 300 * time.Millisecond, Principal: "other", Book: "x"}, work)
			if err != nil {
				t.Fatal(err)
			}
			<-ticket.Released()
			if delay := time.Since(begun) - class; delay > class {
				t.Errorf("delayed by %s", delay)
			}
		}
		wait.Wait()
	})
}

// A turn that begins too late for bound and allowance misses its class, however short the
// computation is, and has not passed its bound.
func TestLateTurn(t *testing.T) {
	for _, took := range []time.Duration{0, 300 * time.Millisecond} {
		synctest.Test(t, func(t *testing.T) {
			d := New(1, 4, quiet.meter)
			begun := time.Now()
			claim := Claim{Class: 600 * time.Millisecond, Bound: 100 * time.Millisecond, Passed: func() { t.Error("passed") }}
			ticket, err := d.Start(t.Context(), claim, func(w *Work) bool {
				time.Sleep(300 * time.Millisecond) // its charge waits for the disk
				w.Turn()
				time.Sleep(took)
				return false
			})
			if err != nil {
				t.Fatal(err)
			}
			<-ticket.Missed()
			<-ticket.Released()
			if at := time.Since(begun); at != 2400*time.Millisecond {
				t.Errorf("left after %s", at)
			}
		})
	}
}

// A desk that closes lets work that waits for its turn, or is ready, go on at once; its reply
// leaves at its time.
func TestWorkOfAClosedDesk(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := New(1, 4, quiet.meter)
		begun := time.Now()
		var tickets []*Ticket
		for range 2 { // the second one waits for its turn
			ticket, err := d.Start(t.Context(), Claim{Class: 32 * time.Second, Bound: 5 * time.Second},
				func(w *Work) bool { w.Turn(); w.Ready(); return false })
			if err != nil {
				t.Fatal(err)
			}
			tickets = append(tickets, ticket)
		}
		synctest.Wait()
		if err := d.Close(t.Context()); err != nil || time.Since(begun) != 0 {
			t.Errorf("closed after %s: %v", time.Since(begun), err)
		}
		for _, ticket := range tickets {
			<-ticket.Released()
		}
		if at := time.Since(begun); at != 32*time.Second {
			t.Errorf("the replies left after %s", at)
		}
	})
}

// One principal with 400 questions of a long class delays the short answers of another by at
// most one of its own slots, and by at most the longer class in all.
func TestOneOfManyLongQuestions(t *testing.T) {
	for _, c := range []struct{ many, other time.Duration }{
		{32 * time.Second, 500 * time.Millisecond},
		{32 * time.Second, 8 * time.Second},
		{500 * time.Millisecond, 32 * time.Second},
	} {
		synctest.Test(t, func(t *testing.T) {
			d := New(2, 2048, quiet.meter)
			work := func(w *Work) bool { w.Turn(); return false }
			var wait sync.WaitGroup
			for range 400 {
				wait.Go(func() {
					ticket, err := d.Start(t.Context(), Claim{Class: c.many, Bound: c.many / 3, Principal: "many", Book: "x"}, work)
					if err != nil {
						t.Error(err)
						return
					}
					<-ticket.Released()
				})
			}
			synctest.Wait()
			worst := time.Duration(0)
			for range 20 {
				begun := time.Now()
				ticket, err := d.Start(t.Context(), Claim{Class: c.other, Bound: c.other / 10, Principal: "other", Book: "x"}, work)
				if err != nil {
					t.Fatal(err)
				}
				<-ticket.Released()
				worst = max(worst, time.Since(begun)-c.other)
			}
			t.Logf("400 questions of %s delay one of %s by at most %s", c.many, c.other, worst)
			if worst > max(c.many, c.other) {
				t.Errorf("400 questions of %s delay one of %s by %s", c.many, c.other, worst)
			}
			wait.Wait()
		})
	}
}
