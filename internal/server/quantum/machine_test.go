package quantum

import (
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// machine is a simulated machine on which a thread has the processor in the first part of each
// period.
type machine struct{ has, period time.Duration }

var quiet = machine{1, 1}

// processor is the processor time of a thread that always asks for it, until a time.
func (m machine) processor(at time.Time) time.Duration {
	t := time.Duration(at.UnixNano())
	return t/m.period*m.has + min(t%m.period, m.has)
}

// compute uses the processor.
func (m machine) compute(most time.Duration, stop <-chan struct{}) {
	begun := m.processor(time.Now())
	for m.processor(time.Now())-begun < most {
		step := most - (m.processor(time.Now()) - begun) // on a quiet machine it takes that long
		if m != quiet {
			step = time.Millisecond
		}
		select {
		case <-time.After(step):
		case <-stop:
			return
		}
	}
}

// virtual measures on a simulated machine.
type virtual struct {
	machine
	begun time.Duration
}

func (m machine) meter() Meter { return &virtual{m, m.processor(time.Now())} }

func (v *virtual) Used() time.Duration                             { return v.processor(time.Now()) - v.begun }
func (v *virtual) Stop()                                           {}
func (v *virtual) Spend(until time.Duration, stop <-chan struct{}) { v.compute(until-v.Used(), stop) }

// idle is a meter whose works leave the processor when they end early, as they did before.
type idle struct{ virtual }

func (*idle) Spend(time.Duration, <-chan struct{}) {}

// On a machine that is overloaded, too, the sequence of acceptances, misses, replies and refusals
// of all principals is a function of public parameters and of the machine: works that use no
// processor time, and works that use nearly all of their bounds, have the same one. Without the use of
// the whole bound they do not.
func TestOverloadedMachine(t *testing.T) {
	overloaded := machine{20 * time.Millisecond, 200 * time.Millisecond}
	run := func(meter func() Meter, share time.Duration) (out []string, missed, passed int64) {
		synctest.Test(t, func(t *testing.T) {
			d := New(2, 2048, meter)
			begun := time.Now()
			out = make([]string, 60)
			var wait sync.WaitGroup
			for i := range out {
				claim := Claim{Class: 500 * time.Millisecond, Bound: 40 * time.Millisecond, Principal: "analyst", Book: "book"}
				if i%3 == 0 {
					claim = Claim{Class: 2 * time.Second, Bound: 150 * time.Millisecond, Principal: "other", Book: "book"}
				}
				wait.Go(func() {
					ticket, err := d.Start(t.Context(), claim, func(w *Work) bool {
						w.Turn()
						overloaded.compute(claim.Bound*share/100, nil)
						w.Ready()
						return false
					})
					if err != nil {
						t.Error(err)
						return
					}
					late := false
					select {
					case <-ticket.Missed():
						late = true
					case <-ticket.Released():
					}
					<-ticket.Released()
					out[i] = time.Since(begun).String() + " accepted " + ticket.accepted.Sub(begun).String()
					if late {
						out[i] += ", missed"
					}
				})
				synctest.Wait()
			}
			wait.Wait()
			missed, passed = d.Counts().Missed, d.Counts().Passed
		})
		return out, missed, passed
	}
	same := func(a, b []string) (n int) {
		for i := range a {
			if a[i] == b[i] {
				n++
			}
		}
		return n
	}
	none, missed, passed := run(overloaded.meter, 0)
	if missed == 0 || missed == int64(len(none)) || passed != 0 {
		t.Errorf("%d of %d missed and %d passed: the machine is not overloaded as it should be", missed, len(none), passed)
	}
	for _, share := range []time.Duration{50, 95} {
		all, _, passed := run(overloaded.meter, share)
		if n := same(none, all); n != len(all) || passed != 0 {
			t.Errorf("works that use %d%% of their bounds have other times: %d of %d are the same, %d passed\n%q\n%q", share, n, len(all), passed,
				none, all)
		}
	}
	early, _, _ := run(func() Meter { return &idle{virtual{overloaded, overloaded.processor(time.Now())}} }, 0)
	long, _, _ := run(func() Meter { return &idle{virtual{overloaded, overloaded.processor(time.Now())}} }, 95)
	if same(early, long) == len(early) {
		t.Error("the test does not see works that leave the processor when they end")
	}
}

// A computation that uses more than its bound passes where it ends after the allowance, and none
// of the same principal and book is accepted between its miss and that.
func TestHeldAfterAMiss(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := New(2, 16, quiet.meter)
		begun := time.Now()
		var passed time.Duration
		claim := Claim{Class: 600 * time.Millisecond, Bound: 100 * time.Millisecond, Principal: "a", Book: "x"}
		first := claim
		first.Passed = func() { passed = time.Since(begun) }
		ticket, err := d.Start(t.Context(), first, func(w *Work) bool { w.Turn(); time.Sleep(5 * time.Second); return false })
		if err != nil {
			t.Fatal(err)
		}
		<-ticket.Missed()
		work := func(w *Work) bool { w.Turn(); return false }
		var wait sync.WaitGroup
		for _, c := range []struct {
			principal, book string
			held            bool
		}{{"a", "x", true}, {"a", "y", false}, {"b", "x", false}} {
			wait.Go(func() {
				other := claim
				other.Principal, other.Book = c.principal, c.book
				got, err := d.Start(t.Context(), other, work)
				if err != nil {
					t.Error(err)
					return
				}
				at := got.accepted.Sub(begun)
				if c.held && at < passed || c.held && passed == 0 || !c.held && at > time.Second {
					t.Errorf("%s in %s is accepted after %s; the long one passed after %s", c.principal, c.book, at, passed)
				}
				<-got.Released()
			})
		}
		wait.Wait()
		<-ticket.Released()
		if d.Counts().Passed != 1 {
			t.Errorf("%+v", d.Counts())
		}
	})
}

// A desk that closes does not fill the slots of works that have ended.
func TestClosedDeskDoesNotFill(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := New(1, 4, quiet.meter)
		ticket, err := d.Start(t.Context(), Claim{Class: time.Hour, Bound: 10 * time.Minute}, func(w *Work) bool { w.Turn(); return false })
		if err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		begun := time.Now()
		if err := d.Close(t.Context()); err != nil || time.Since(begun) != 0 {
			t.Errorf("closed after %s: %v", time.Since(begun), err)
		}
		<-ticket.Released()
	})
}
