// Package quantum lets replies to paid questions leave at fixed times after their
// acceptance, so that the time of a reply does not depend on the private data.
//
// A question has a time class and a bound: a duration after which its reply leaves, and the
// processor time that its computation takes at most. Both follow from public parameters. The
// works of all classes share one schedule of as many lanes as there are processors. An accepted
// work has a slot of its bound on one lane, which it keeps when it ends early or fails: the
// schedule is a function of the requests and their public bounds. A request is accepted only
// if its slot, and an allowance of a third of the class for stalls of disk and machine, end
// before its boundary. Until then it waits in a queue that serves the principals in turn, and
// the books of a principal in turn.
//
// A computation keeps its thread and goes on using the processor until the thread has used
// the whole bound (package cputime). So each computation needs as much of the processors as any
// other of its bound, and a machine that is overloaded delays all of them alike: the end of a
// computation within its bound is a function of public parameters and of the machine. One
// computation at a time runs on a lane, and the next slots move where they are behind by more
// than half of the allowance.
//
// The reply leaves at the end of the class. If the work was not done by then (a miss), the
// client gets a notice at that time, and the reply can be fetched from four times the class
// on, or sixteen times, and so on. Until it is done, no further question of its principal in
// its book is accepted. A work has passed if its computation used more processor time than its
// bound and ended later than bound and allowance: its end says something of the data then, and
// [Claim.Passed] is called, so that its principal can be refused further questions. A work
// within its bound never passes, however slow the machine is.
//
// Refusals, which read no private data and come before the turn, leave at once; their slots
// stay taken.
//
// What remains: the operating system may delay a reply (docs/threat-model.md).
package quantum

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"time"

	"github.com/noren-privacy/noren/internal/cputime"
)

// Errors of a desk.
var (
	// ErrFull: too many questions wait, in all, of the principal or in the book.
	ErrFull = errors.New("quantum: too many questions wait")
	// ErrClosed: the desk takes no more questions.
	ErrClosed = errors.New("quantum: the server is stopping")
)

// Classes are the usual time classes, the shortest first.
func Classes() []time.Duration {
	return []time.Duration{500 * time.Millisecond, 2 * time.Second, 8 * time.Second, 32 * time.Second}
}

// Boundary is when a reply leaves whose work took a time, after its acceptance: at the
// class, or at the first of 4, 16, 64, ... times the class that is not before.
func Boundary(class, took time.Duration) time.Duration {
	b := class
	for took > b {
		b *= 4
	}
	return b
}

// Desk runs the work of paid questions. Make one with [New].
type Desk struct {
	running, missed, passed, early atomic.Int64

	mu     sync.Mutex
	queue  *queue
	lanes  []*lane
	held   map[owner]int           // computations that missed their class and go on
	wake   *time.Timer             // looks at the queue again; nil while nothing waits
	done   map[time.Duration]int64 // replies at a boundary, by class
	closed bool
	work   sync.WaitGroup

	stopping chan struct{} // closed with closed
	meter    func() Meter
}

// Meter measures the processor time of the goroutine that began it, which keeps its thread until
// Stop. [cputime.Meter] is one.
type Meter interface {
	// Used is the processor time so far.
	Used() time.Duration
	// Spend uses the processor until that much was used, or stop is closed.
	Spend(until time.Duration, stop <-chan struct{})
	// Stop ends it.
	Stop()
}

// Processor measures by the clock of the thread.
func Processor() Meter { return cputime.Start() }

// New makes a desk with that many lanes, one for each processor, whose computations are measured
// by meter: [Processor], but for tests. Up to waiting questions wait to be accepted, a quarter of
// them of one principal, and half of them in one book.
func New(lanes, waiting int, meter func() Meter) *Desk {
	d := &Desk{queue: newQueue(waiting), held: map[owner]int{}, done: map[time.Duration]int64{}, stopping: make(chan struct{}), meter: meter}
	for range lanes {
		d.lanes = append(d.lanes, &lane{running: make(chan struct{}, 1)})
	}
	return d
}

// Claim is what the schedule knows of a question. Class, Before and Bound follow from public
// parameters.
type Claim struct {
	// Class is when the reply leaves, after the acceptance. Required.
	Class time.Duration
	// Before is the time that the work takes on its lane before its turn, to read a file.
	Before time.Duration
	// Bound is the processor time that its computation takes at most. Before and Bound together
	// are at most a third of the class; a longer time is cut to that. Defaults to a third.
	Bound time.Duration
	// Principal and Book have shares of the queue.
	Principal, Book string
	// Passed is called once if the computation used more processor time than its bound and took
	// longer than bound and allowance: before its reply leaves. Optional.
	Passed func()
}

// allowance is the time for stalls of disk and machine that is kept beside the slots.
func (c *Claim) allowance() time.Duration { return c.Class / 3 }

// bounded is the claim with times that fit its class.
func (c Claim) bounded() Claim {
	third := c.Class / 3
	c.Before = min(max(0, c.Before), third)
	if c.Bound <= 0 {
		c.Bound = third
	}
	c.Bound = min(c.Bound, third-c.Before)
	return c
}

// Ticket is a question whose work has begun.
type Ticket struct {
	accepted time.Time
	class    time.Duration
	turn     time.Time // when the slot's computation begins
	lane     *lane
	work     *Work
	missed   chan struct{}
	released chan struct{}
}

// Released is closed when the reply may leave.
func (t *Ticket) Released() <-chan struct{} { return t.released }

// Missed is closed at the end of the class if the work is not done by then.
func (t *Ticket) Missed() <-chan struct{} { return t.missed }

// Open reports whether the reply may not leave yet.
func (t *Ticket) Open() bool {
	select {
	case <-t.released:
		return false
	default:
		return true
	}
}

// Next is how long after now the reply may leave at the earliest.
func (t *Ticket) Next(now time.Time) time.Duration {
	passed := now.Sub(t.accepted)
	return Boundary(t.class, passed+1) - passed
}

// settling is how long before its boundary the end of a work is stored, so that it is there
// when the reply leaves. The work must be done by then.
const settling = 25 * time.Millisecond

// Start waits for a slot, accepts a question and runs its work in a goroutine, which goes
// on when ctx ends. The work returns true for a refusal, which has no turn: its reply leaves
// at once. Errors are [ErrFull], [ErrClosed] and that of ctx; the work has not begun then.
func (d *Desk) Start(ctx context.Context, claim Claim, work func(*Work) (refused bool)) (*Ticket, error) {
	w := &waiter{claim: claim.bounded(), accepted: make(chan *Ticket, 1)}
	d.mu.Lock()
	switch {
	case d.closed:
		d.mu.Unlock()
		return nil, ErrClosed
	case !d.queue.add(w):
		d.mu.Unlock()
		return nil, ErrFull
	}
	d.accept()
	d.mu.Unlock()
	var t *Ticket
	select {
	case t = <-w.accepted:
	case <-ctx.Done():
		d.mu.Lock()
		left := d.queue.remove(w, false)
		if left {
			d.accept() // the next one may have another class
		}
		d.mu.Unlock()
		if left {
			return nil, ctx.Err()
		}
		t = <-w.accepted // at this moment
	}
	if t == nil {
		return nil, ErrClosed
	}
	d.running.Add(1)
	go d.run(t.work, work)
	return t, nil
}

// accept gives slots to the requests that wait, in their order, as long as the slot of the
// next one ends in time. None is passed over, but for those whose principal and book are held: a
// short question would wait forever beside long ones. The lock is held.
func (d *Desk) accept() {
	if d.wake != nil {
		d.wake.Stop()
		d.wake = nil
	}
	for {
		w := d.queue.next(d.held)
		if w == nil {
			return
		}
		now, c := time.Now(), &w.claim
		lane, begin := d.free(now, c)
		turn := begin.Add(c.Before)
		latest := now.Add(c.Class - settling - c.allowance() - c.Bound)
		if turn.After(latest) {
			d.wake = time.AfterFunc(turn.Sub(latest), func() {
				d.mu.Lock()
				defer d.mu.Unlock()
				d.accept()
			})
			return
		}
		d.queue.remove(w, true)
		lane.ends = turn.Add(c.Bound)
		d.work.Add(1)
		t := &Ticket{accepted: now, class: c.Class, turn: turn, lane: lane, missed: make(chan struct{}), released: make(chan struct{})}
		t.work = &Work{desk: d, ticket: t, claim: *c}
		t.work.late = time.AfterFunc(c.Class, t.work.over)
		lane.works = append(lane.works, t.work)
		w.accepted <- t
	}
}

// run does a work and lets its reply leave.
func (d *Desk) run(w *Work, work func(*Work) bool) {
	refused := work(w)
	if refused && !w.turned {
		w.late.Stop()
		d.early.Add(1)
		w.end(time.Now(), 0)
		w.settle()
	} else {
		w.Ready()
	}
	d.running.Add(-1)
	d.work.Done()
	if w.boundary > 0 {
		time.Sleep(time.Until(w.ticket.accepted.Add(w.boundary)))
		d.count(w.ticket.class)
	}
	close(w.ticket.released)
}

func (d *Desk) count(class time.Duration) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.done[class]++
}

// Counts are numbers of questions.
type Counts struct {
	// Waiting wait to be accepted, and Running have work that is not done.
	Waiting, Running int64
	// Released have replied at a boundary, Missed of them after their class; Passed have passed
	// their bound; Refused have replied at once.
	Released, Missed, Passed, Refused int64
}

// Counts are the numbers of all questions so far.
func (d *Desk) Counts() Counts {
	c := Counts{Running: d.running.Load(), Missed: d.missed.Load(), Passed: d.passed.Load(), Refused: d.early.Load()}
	d.mu.Lock()
	defer d.mu.Unlock()
	c.Waiting = int64(d.queue.size)
	for _, n := range d.done {
		c.Released += n
	}
	return c
}

// Released is how many questions of a class have replied at a boundary.
func (d *Desk) Released(class time.Duration) int64 {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.done[class]
}

// Close takes no more questions and waits until all work is done, or ctx ends. Work that waits
// for its turn begins, none goes on using the processor to fill its slot, and work that is ready
// is stored at once; replies leave at their boundaries still.
func (d *Desk) Close(ctx context.Context) error {
	d.mu.Lock()
	if !d.closed {
		d.closed = true
		close(d.stopping)
		for w := d.queue.next(nil); w != nil; w = d.queue.next(nil) {
			d.queue.remove(w, false)
			w.accepted <- nil
		}
	}
	d.mu.Unlock()
	done := make(chan struct{})
	go func() {
		d.work.Wait()
		close(done)
	}()
	select {
	case <-done:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
