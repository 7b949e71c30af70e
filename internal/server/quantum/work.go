package quantum

import (
	"slices"
	"time"
)

// lane is a part of the schedule, on which one computation runs at a time.
type lane struct {
	running chan struct{} // holds one while a computation has the lane
	// The lock of the desk guards the others: when the last slot ends, and the works that were
	// accepted and whose computation has not ended.
	ends  time.Time
	works []*Work
}

// begin is when the next slot of the lane can begin. It moves where the slots before it are
// behind their times by more than half of an allowance. The lock is held.
func (l *lane) begin(now time.Time, allowance time.Duration) time.Time {
	begin := l.ends
	if begin.Before(now) {
		begin = now
	}
	done := now
	for _, w := range l.works {
		done = done.Add(w.left(now))
	}
	return begin.Add(max(0, done.Sub(begin)-allowance/2))
}

// free is the lane on which the slot of a claim can begin first. The lock is held.
func (d *Desk) free(now time.Time, c *Claim) (first *lane, begin time.Time) {
	for _, l := range d.lanes {
		if b := l.begin(now, c.allowance()); first == nil || b.Before(begin) {
			first, begin = l, b
		}
	}
	return first, begin
}

// Work is the work of a question that was accepted. Its methods are for the goroutine that
// does the work.
type Work struct {
	desk     *Desk
	ticket   *Ticket
	claim    Claim
	late     *time.Timer // gives the notice of a miss
	turned   bool
	meter    Meter
	boundary time.Duration // when the reply leaves, after its acceptance; 0 before Ready

	// The lock of the desk guards what follows.
	due     time.Time     // when the turn was due; zero before it
	began   time.Time     // when the computation got the lane; zero before
	has     bool          // it has the lane
	least   time.Duration // the boundary that the begin of the turn allows
	ended   bool          // the computation has ended
	holds   bool          // its principal and book are held
	surpass bool          // it has passed its bound
}

// left is the time on the lane that a work is expected to take from now on: one that is behind
// its time, as long again. The lock is held.
func (w *Work) left(now time.Time) time.Duration {
	switch {
	case w.began.IsZero():
		return w.claim.Bound
	case w.has:
		return (w.claim.Bound - now.Sub(w.began)).Abs()
	}
	return 0
}

// Turn waits for the time of the slot at which the computation begins, and for the end of the
// computation that has the lane. What comes before it, as the charge and the reading of the
// columns, is not part of the bound. A turn that is due too late for bound and allowance moves
// the reply to a later boundary, however long the computation takes. From Turn to [Work.Ready]
// the goroutine keeps its thread. Turn does not wait when the desk is closed.
func (w *Work) Turn() {
	if w.turned {
		return
	}
	w.turned = true
	d, t := w.desk, w.ticket
	due := time.Now()
	if wait := t.turn.Sub(due); wait > 0 {
		timer := time.NewTimer(wait)
		defer timer.Stop()
		select {
		case <-timer.C:
			due = t.turn
		case <-d.stopping:
			due = time.Now()
		}
	}
	has := false
	select {
	case t.lane.running <- struct{}{}:
		has = true
	case <-d.stopping:
	}
	w.meter = d.meter()
	d.mu.Lock()
	defer d.mu.Unlock()
	w.due, w.began, w.has = due, time.Now(), has
	w.least = Boundary(t.class, due.Sub(t.accepted)+w.claim.Bound+w.claim.allowance()+settling)
	// A computation beyond all bounds keeps the lane from others for one class.
	time.AfterFunc(t.class, func() {
		d.mu.Lock()
		defer d.mu.Unlock()
		w.leave()
	})
}

// leave gives the lane to the next work. The lock is held.
func (w *Work) leave() {
	if w.has {
		w.has = false
		<-w.ticket.lane.running
	}
}

// over gives the notice of a miss at the end of the class. Where the computation goes on, its
// principal's questions in its book are held until it is known whether it passes its bound.
func (w *Work) over() {
	w.desk.mu.Lock()
	if !w.ended {
		w.holds = true
		w.desk.held[w.claim.owner()]++
	}
	w.desk.mu.Unlock()
	close(w.ticket.missed)
}

// end ends the computation, which used a processor time, and gives the lane back.
func (w *Work) end(now time.Time, used time.Duration) {
	d := w.desk
	d.mu.Lock()
	defer d.mu.Unlock()
	w.ended = true
	w.leave()
	w.ticket.lane.works = slices.DeleteFunc(w.ticket.lane.works, func(one *Work) bool { return one == w })
	w.surpass = used > w.claim.Bound && now.Sub(w.due) > w.claim.Bound+w.claim.allowance()
	d.accept()
}

// settle calls Passed where the computation has passed its bound, and lets further questions
// be accepted.
func (w *Work) settle() {
	d := w.desk
	if w.surpass {
		d.passed.Add(1)
		if w.claim.Passed != nil {
			w.claim.Passed()
		}
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if w.holds {
		w.holds = false
		if d.held[w.claim.owner()]--; d.held[w.claim.owner()] == 0 {
			delete(d.held, w.claim.owner())
		}
		d.accept()
	}
}

// Ready ends the computation: it uses the processor for what is left of the bound, and waits
// until a little before the boundary at which the reply leaves. What the work stores after it
// says nothing of when the computation ended. A work that fails before its turn keeps its slot
// too. Ready does not wait when the desk is closed. A second call does nothing.
func (w *Work) Ready() {
	if w.boundary > 0 {
		return
	}
	w.Turn()
	d, t := w.desk, w.ticket
	used := w.meter.Used()
	w.meter.Spend(w.claim.Bound, d.stopping)
	w.meter.Stop()
	now := time.Now()
	w.end(now, used)
	w.boundary = max(w.least, Boundary(t.class, now.Sub(t.accepted)+settling))
	if w.boundary > t.class {
		d.missed.Add(1)
	} else {
		w.late.Stop() // a timer that has fired in this moment made a notice of a miss; the reply can be fetched
	}
	if !w.surpass {
		w.settle()
	}
	timer := time.NewTimer(time.Until(t.accepted.Add(w.boundary - settling)))
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-d.stopping:
	}
	if w.surpass {
		w.settle()
	}
}
