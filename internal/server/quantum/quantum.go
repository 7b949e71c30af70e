// Package quantum lets replies to paid questions leave at fixed times after their
// acceptance, so that the time of a reply does not depend on the private data.
//
// A question has a time class: a duration that follows from public parameters. Its reply
// leaves at the end of the class. If the work took longer (a miss), the client gets a
// notice at that time, and the reply can be fetched from four times the class on, or
// sixteen times, and so on: the first of these times at which the work is done. A miss
// tells that the work took longer than the class, which the class is chosen to prevent;
// misses are counted.
//
// Work holds its place until its reply leaves, so that the wait of other questions for a
// place does not depend on private data either, except after a miss. The work of a class
// takes turns to read and compute; what it stores before its turn and after [Work.Ready]
// is stored at times that do not depend on private data. Refusals, which read no private
// data and come before the turn, leave at once.
//
// What remains: the operating system may delay a reply, and work competes with other
// requests for the processor (docs/threat-model.md).
package quantum

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"time"
)

// Errors of a desk.
var (
	// ErrFull: too many questions wait for a place.
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
	places chan struct{}
	most   int64
	atOnce int

	waiting, running, missed, early atomic.Int64

	mu     sync.Mutex
	done   map[time.Duration]int64         // replies at a boundary, by class
	turns  map[time.Duration]chan struct{} // of work that runs, by class
	closed bool
	work   sync.WaitGroup

	stopping chan struct{} // closed with closed
}

// New makes a desk with places for that many questions at once; up to waiting others wait
// for a place. Of the questions of one class with a place, atOnce have a turn at once, and
// the others follow: so requests that are no work find a processor soon.
func New(places, waiting, atOnce int) *Desk {
	return &Desk{places: make(chan struct{}, places), most: int64(waiting), atOnce: atOnce, done: map[time.Duration]int64{}, turns: map[time.Duration]chan struct{}{}, stopping: make(chan struct{})}
}

// Ticket is a question whose work has begun.
type Ticket struct {
	accepted time.Time
	class    time.Duration
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

// Start waits for a place, accepts a question and runs its work in a goroutine, which goes
// on when ctx ends. The work returns true for a refusal, which has no turn: its reply leaves
// at once. Errors are [ErrFull], [ErrClosed] and that of ctx; the work has not begun then.
func (d *Desk) Start(ctx context.Context, class time.Duration, work func(*Work) (refused bool)) (*Ticket, error) {
	if d.waiting.Add(1) > d.most {
		d.waiting.Add(-1)
		return nil, ErrFull
	}
	select {
	case d.places <- struct{}{}:
		d.waiting.Add(-1)
	case <-ctx.Done():
		d.waiting.Add(-1)
		return nil, ctx.Err()
	}
	d.mu.Lock()
	if d.closed {
		d.mu.Unlock()
		<-d.places
		return nil, ErrClosed
	}
	d.work.Add(1)
	d.mu.Unlock()
	t := &Ticket{accepted: time.Now(), class: class, missed: make(chan struct{}), released: make(chan struct{})}
	d.running.Add(1)
	late := time.AfterFunc(class, func() { close(t.missed) })
	go d.run(&Work{desk: d, ticket: t, late: late}, work)
	return t, nil
}

// run does a work and lets its reply leave.
func (d *Desk) run(w *Work, work func(*Work) bool) {
	defer func() { <-d.places }()
	refused := work(w)
	if refused && !w.turned {
		w.late.Stop()
		d.early.Add(1)
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

// Work is the work of a question that has a place. Its methods are for the goroutine that
// does the work.
type Work struct {
	desk     *Desk
	ticket   *Ticket
	late     *time.Timer
	turned   bool
	free     func()        // gives the turn back
	boundary time.Duration // when the reply leaves, after its acceptance; 0 before Ready
}

// Turn waits for a turn to read and compute, or until the end of the class. The turn ends
// with [Work.Ready], or with the class if that comes first: work that misses its class keeps
// no other from its own. How long the wait is depends on private data: nothing that others
// see may follow from when it ends.
func (w *Work) Turn() {
	w.turned = true
	turns := w.desk.turnsOf(w.ticket.class)
	select {
	case turns <- struct{}{}:
	case <-w.ticket.missed:
		return
	}
	free := sync.OnceFunc(func() { <-turns })
	over := time.AfterFunc(time.Until(w.ticket.accepted.Add(w.ticket.class)), free)
	w.free = func() {
		over.Stop()
		free()
	}
}

// Ready ends the turn and waits until a little before the boundary at which the reply
// leaves: what the work stores after it says nothing of when the computation ended. It does
// not wait when the desk is closed. A second call does nothing.
func (w *Work) Ready() {
	if w.boundary > 0 {
		return
	}
	if w.free != nil {
		w.free()
	}
	t := w.ticket
	took := time.Since(t.accepted) + settling
	w.boundary = Boundary(t.class, took)
	if took > t.class {
		w.desk.missed.Add(1)
	} else {
		w.late.Stop() // a timer that has fired in this moment made a notice of a miss; the reply can be fetched
	}
	timer := time.NewTimer(time.Until(t.accepted.Add(w.boundary - settling)))
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-w.desk.stopping:
	}
}

// turnsOf are the turns of the work of a class. Classes have turns of their own, so that long
// work does not keep short work from its class.
func (d *Desk) turnsOf(class time.Duration) chan struct{} {
	d.mu.Lock()
	defer d.mu.Unlock()
	turns := d.turns[class]
	if turns == nil {
		turns = make(chan struct{}, d.atOnce)
		d.turns[class] = turns
	}
	return turns
}

func (d *Desk) count(class time.Duration) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.done[class]++
}

// Counts are numbers of questions.
type Counts struct {
	// Waiting wait for a place, and Running have work that is not done.
	Waiting, Running int64
	// Released have replied at a boundary, Missed of them after their class; Refused have
	// replied at once.
	Released, Missed, Refused int64
}

// Counts are the numbers of all questions so far.
func (d *Desk) Counts() Counts {
	c := Counts{Waiting: d.waiting.Load(), Running: d.running.Load(), Missed: d.missed.Load(), Refused: d.early.Load()}
	d.mu.Lock()
	defer d.mu.Unlock()
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

// Close takes no more questions and waits until all work is done, or ctx ends. Work that is
// ready is stored at once; replies leave at their boundaries still.
func (d *Desk) Close(ctx context.Context) error {
	d.mu.Lock()
	if !d.closed {
		d.closed = true
		close(d.stopping)
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
