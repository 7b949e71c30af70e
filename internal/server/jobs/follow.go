package jobs

import (
	"bytes"
	"fmt"
	"net/http"
	"strconv"
	"time"
)

// Times of a stream of events.
const (
	heartbeat = 15 * time.Second
	// look is the longest time after which a reader who may no longer see the job is let go.
	look = 500 * time.Millisecond
	// pause is the least time between two writes: readers get the latest progress, not all.
	pause = 100 * time.Millisecond
	// writeTimeout is how long one write may take, so that a reader who does not read
	// holds nothing.
	writeTimeout = 10 * time.Second
)

// Follow writes the events of a job as server-sent events until the final event, or until
// the client goes. Events up to the number in the header Last-Event-ID are left out.
// may reports whether the client may still see the job: it is asked before each event, and
// now and then; the stream ends where it does not hold. said is what an event of that name holds for the client; the
// job is as it was then.
// It returns [ErrUnknown], with nothing written, where there is no such job.
func (m *Manager) Follow(w http.ResponseWriter, r *http.Request, id string, may func() bool,
	said func(event string, data []byte, job *Job) []byte,
) error {
	m.mu.Lock()
	e := m.jobs[id]
	m.mu.Unlock()
	if e == nil {
		return ErrUnknown
	}
	seen, err := strconv.ParseInt(r.Header.Get("Last-Event-ID"), 10, 64)
	if err != nil || seen < 0 {
		seen = 0
	}
	h := w.Header()
	h.Set("Content-Type", "text/event-stream")
	h.Set("Cache-Control", "no-store")
	h.Set("X-Accel-Buffering", "no")
	w.WriteHeader(http.StatusOK)
	out := http.NewResponseController(w)
	write := func(text []byte) bool {
		// A server without deadlines, as in tests, is no error.
		_ = out.SetWriteDeadline(time.Now().Add(writeTimeout))
		if _, err := w.Write(text); err != nil {
			return false
		}
		return out.Flush() == nil
	}
	if !write([]byte(": events of a job\n\n")) {
		return nil
	}
	beat, watch := time.NewTicker(heartbeat), time.NewTicker(look)
	defer beat.Stop()
	defer watch.Stop()
	for {
		m.mu.Lock()
		if e.last < seen { // numbers of a former process
			seen = 0
		}
		events, changed, job := e.since(seen), e.changed, e.job
		m.mu.Unlock()
		if len(events) > 0 {
			if !may() {
				return nil
			}
			var text bytes.Buffer
			for _, v := range events {
				fmt.Fprintf(&text, "id: %d\nevent: %s\ndata: %s\n\n", v.id, v.name, said(v.name, v.data, &job))
				seen = v.id
			}
			if !write(text.Bytes()) {
				return nil
			}
		}
		if job.State.Ended() {
			return nil
		}
		select {
		case <-changed:
			select { // collects what comes soon after
			case <-time.After(pause):
			case <-r.Context().Done():
				return nil
			}
		case <-watch.C:
			if !may() {
				return nil
			}
		case <-beat.C:
			if !write([]byte(": still here\n\n")) {
				return nil
			}
		case <-m.closing:
			m.mu.Lock()
			ended := e.job.State.Ended()
			m.mu.Unlock()
			if !ended {
				write([]byte("event: closing\ndata: {}\n\n"))
				return nil
			}
		case <-r.Context().Done():
			return nil
		}
	}
}
