package jobs

import (
	"encoding/json"
	"slices"
	"sync"
	"time"
)

// event is one event of a job.
type event struct {
	id   int64
	name string
	data []byte
}

// mostEvents is how many events of a job are kept for readers who come later.
const mostEvents = 1000

// entry is a job in the manager. Its fields are guarded by the manager's lock.
type entry struct {
	job       Job
	task      Task
	cancel    func()
	cancelled bool
	lost      bool

	last    int64         // number of the last event
	events  []event       // all but progress
	latest  *event        // the latest progress
	changed chan struct{} // closed at the next event
	stage   time.Time     // when the stage began
}

func newEntry(job Job) *entry { return &entry{job: job, changed: make(chan struct{})} }

// tell wakes all readers.
func (e *entry) tell() {
	close(e.changed)
	e.changed = make(chan struct{})
}

// add adds an event.
func (e *entry) add(name string, data []byte) {
	e.last++
	e.events = append(e.events, event{e.last, name, data})
	if len(e.events) > mostEvents {
		e.events = e.events[1:]
	}
	e.tell()
}

// Progress is the data of a progress event.
type Progress struct {
	// Stage is the step that the job is at.
	Stage string `json:"stage"`
	// Done is how much of the step is done.
	Done int64 `json:"done"`
	// Total is the size of the step; 0 where it is not known.
	Total int64 `json:"total"`
	// Left is about how many seconds the step takes still; absent where it is not known.
	Left *float64 `json:"left_s,omitempty"`
}

// progress replaces the progress of a job.
func (e *entry) progress(stage string, done, total int64) {
	if e.job.State.Ended() {
		return
	}
	if stage != e.job.Stage || e.stage.IsZero() {
		e.stage = time.Now()
	}
	e.job.Stage, e.job.Done, e.job.Total = stage, done, max(total, 0)
	p := Progress{Stage: stage, Done: done, Total: max(total, 0)}
	if total > 0 && done > 0 && done <= total {
		left := time.Since(e.stage).Seconds() / float64(done) * float64(total-done)
		p.Left = &left
	}
	data, err := json.Marshal(p)
	if err != nil {
		return
	}
	e.last++
	e.latest = &event{e.last, "progress", data}
	e.tell()
}

// end puts a job of a former process into a final state.
func (e *entry) end(state State, ended time.Time) {
	e.job.State, e.job.Ended = state, &ended
	e.finish()
}

// finish adds the final event.
func (e *entry) finish() {
	name, data := "failed", e.job.Problem
	switch e.job.State {
	case Done:
		name, data = "done", e.job.Result
	case Cancelled:
		name, data = "cancelled", nil
	case Lost:
		name, data = "closing", nil
	}
	if len(data) == 0 {
		data = []byte("{}")
	}
	e.latest = nil
	e.add(name, data)
}

// since is the events after one of that number, in order.
func (e *entry) since(seen int64) []event {
	var out []event
	for _, v := range e.events {
		if v.id > seen {
			out = append(out, v)
		}
	}
	if e.latest != nil && e.latest.id > seen {
		out = append(out, *e.latest)
	}
	slices.SortFunc(out, func(a, b event) int { return int(a.id - b.id) })
	return out
}

// snapshot is the job as it is.
func (e *entry) snapshot(mu *sync.Mutex) Job {
	mu.Lock()
	defer mu.Unlock()
	return e.job
}
