package jobs

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"
)

// stored is a store of jobs in memory.
type stored struct {
	mu   sync.Mutex
	jobs map[string]Job
	err  error
}

func (s *stored) save(j Job) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.err != nil {
		return s.err
	}
	if s.jobs == nil {
		s.jobs = map[string]Job{}
	}
	s.jobs[j.ID] = j
	return nil
}

func (s *stored) get(id string) Job {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.jobs[id]
}

func config(s *stored) Config {
	n := 0
	var mu sync.Mutex
	return Config{
		Memory: 1 << 30, Save: s.save,
		NewID: func() (string, error) {
			mu.Lock()
			defer mu.Unlock()
			n++
			return fmt.Sprintf("jb_%016d", n), nil
		},
		Problem: func(err error) (document, texts json.RawMessage) {
			return json.RawMessage(`{"detail":"` + err.Error() + `"}`), nil
		},
	}
}

func manager(t *testing.T, c Config, former ...Job) *Manager {
	t.Helper()
	m, err := New(c, former)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
		defer cancel()
		if err := m.Close(ctx); err != nil {
			t.Error(err)
		}
	})
	return m
}

// ended waits until a job has ended.
func ended(t *testing.T, m *Manager, id string) Job {
	t.Helper()
	for deadline := time.Now().Add(10 * time.Second); ; time.Sleep(time.Millisecond) {
		j, ok := m.Get(id)
		if !ok || time.Now().After(deadline) {
			t.Fatalf("job %s: %+v", id, j)
		}
		if j.State.Ended() {
			return j
		}
	}
}

func submit(t *testing.T, m *Manager, run func(ctx context.Context, r *Run) (any, error)) Job {
	t.Helper()
	j, err := m.Submit(Task{Kind: "preview", By: "pr_anna", Run: run})
	if err != nil {
		t.Fatal(err)
	}
	return j
}

// waiting runs until its context or the channel ends.
func waiting(until <-chan struct{}) func(ctx context.Context, r *Run) (any, error) {
	return func(ctx context.Context, _ *Run) (any, error) {
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-until:
			return map[string]int{"n": 1}, nil
		}
	}
}

func TestStates(t *testing.T) {
	s := &stored{}
	m := manager(t, config(s))
	done := submit(t, m, func(_ context.Context, r *Run) (any, error) {
		if r.Memory != 1<<29 {
			t.Errorf("a share of %d bytes", r.Memory)
		}
		return map[string]int{"n": 7}, nil
	})
	failed := submit(t, m, func(context.Context, *Run) (any, error) { return nil, errors.New("no such column") })
	panics := submit(t, m, func(context.Context, *Run) (any, error) { panic("cell value 42") })
	stopped := submit(t, m, waiting(nil))
	for m.jobState(stopped.ID) != Running {
		time.Sleep(time.Millisecond)
	}
	if _, err := m.Cancel(stopped.ID); err != nil {
		t.Error(err)
	}
	for _, c := range []struct {
		id    string
		state State
		text  string
	}{
		{done.ID, Done, `{"n":7}`},
		{failed.ID, Failed, "no such column"},
		{panics.ID, Failed, "a fault of the program"},
		{stopped.ID, Cancelled, ""},
	} {
		j := ended(t, m, c.id)
		if j.State != c.state || !strings.Contains(string(j.Result)+string(j.Problem), c.text) || strings.Contains(string(j.Problem), "42") {
			t.Errorf("%+v, want %s %s", j, c.state, c.text)
		}
		if got := s.get(c.id); got.State != c.state || got.Ended == nil || got.Started == nil {
			t.Errorf("stored: %+v", got)
		}
	}
	if _, err := m.Cancel("jb_nothing"); !errors.Is(err, ErrUnknown) {
		t.Error(err)
	}
}

func (m *Manager) jobState(id string) State {
	j, _ := m.Get(id)
	return j.State
}

// One job of each of two principals runs, a hundred wait, and the next is refused; cancelling one that waits makes a
// place.
func TestQueue(t *testing.T) {
	c := config(&stored{})
	c.Share = 100
	m := manager(t, c)
	until := make(chan struct{})
	var all []Job
	for i := range 102 {
		j, err := m.Submit(Task{By: []string{"pr_anna", "pr_mori"}[i%2], Run: waiting(until)})
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, j)
	}
	if running, queued := m.Counts(); running != 2 || queued != 100 {
		t.Fatalf("%d run and %d wait", running, queued)
	}
	if _, err := m.Submit(Task{Run: waiting(until)}); !errors.Is(err, ErrFull) {
		t.Errorf("one more: %v", err)
	}
	if j, err := m.Cancel(all[50].ID); err != nil || j.State != Cancelled {
		t.Errorf("%+v, %v", j, err)
	}
	all = append(all, submit(t, m, waiting(until)))
	close(until)
	for i, j := range all {
		if got := ended(t, m, j.ID).State; (i == 50) != (got == Cancelled) || i != 50 && got != Done {
			t.Errorf("job %d is %s", i, got)
		}
	}
}

func TestListPages(t *testing.T) {
	m := manager(t, config(&stored{}))
	for range 5 {
		ended(t, m, submit(t, m, func(context.Context, *Run) (any, error) { return nil, nil }).ID)
	}
	first := m.List("", 2, nil)
	rest := m.List(first[1].ID, 10, nil)
	if len(first) != 2 || len(rest) != 3 || first[0].ID <= first[1].ID || first[1].ID <= rest[0].ID {
		t.Errorf("%v, %v", first, rest)
	}
	if got := m.List("", 10, func(j *Job) bool { return j.By == "pr_ben" }); len(got) > 0 {
		t.Errorf("jobs of another: %v", got)
	}
	if got := m.List("jb_nothing", 10, nil); len(got) > 0 {
		t.Errorf("behind a job that is not there: %v", got)
	}
}

func TestLostAfterRestart(t *testing.T) {
	s := &stored{}
	m := manager(t, config(s),
		Job{ID: "jb_a", State: Running, Made: time.Now()}, Job{ID: "jb_b", State: Queued, Made: time.Now()},
		Job{ID: "jb_c", State: Done, Result: json.RawMessage(`{"n":3}`)})
	for id, want := range map[string]State{"jb_a": Lost, "jb_b": Lost, "jb_c": Done} {
		if got := m.jobState(id); got != want {
			t.Errorf("%s is %s, want %s", id, got, want)
		}
	}
	if s.get("jb_a").State != Lost || s.get("jb_b").State != Lost {
		t.Error("the store does not say that they are lost")
	}
}

func TestCloseLosesWhatRuns(t *testing.T) {
	s := &stored{}
	m := manager(t, config(s))
	running, queued := submit(t, m, waiting(nil)), Job{}
	submit(t, m, waiting(nil))
	queued = submit(t, m, waiting(nil))
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	if err := m.Close(ctx); err != nil {
		t.Fatal(err)
	}
	if s.get(running.ID).State != Lost || s.get(queued.ID).State != Lost {
		t.Errorf("%s, %s", s.get(running.ID).State, s.get(queued.ID).State)
	}
	if _, err := m.Submit(Task{Run: waiting(nil)}); !errors.Is(err, ErrClosed) {
		t.Error(err)
	}
}

func TestSaveFails(t *testing.T) {
	s := &stored{err: errors.New("disk full")}
	m := manager(t, config(s))
	if _, err := m.Submit(Task{Run: waiting(nil)}); err == nil {
		t.Error("a job that is not stored was accepted")
	}
}

// stream reads events from a server.
func stream(t *testing.T, m *Manager, id, last string) *bufio.Scanner {
	t.Helper()
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if err := m.Follow(w, r, id, func() bool { return true }, func(_ string, data []byte, _ *Job) []byte { return data }); err != nil {
			http.Error(w, "unknown", http.StatusNotFound)
		}
	}))
	t.Cleanup(srv.Close)
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, srv.URL, nil)
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("Last-Event-ID", last)
	response, err := srv.Client().Do(request)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = response.Body.Close() })
	return bufio.NewScanner(response.Body)
}

// next is the next event: its id, its name and its data.
func next(lines *bufio.Scanner) (id, name, data string) {
	for lines.Scan() {
		switch key, value, _ := strings.Cut(lines.Text(), ": "); {
		case lines.Text() == "" && name != "":
			return id, name, data
		case key == "id":
			id = value
		case key == "event":
			name = value
		case key == "data":
			data = value
		}
	}
	return "", "", ""
}

func TestEvents(t *testing.T) {
	m := manager(t, config(&stored{}))
	more := make(chan struct{})
	j := submit(t, m, func(_ context.Context, r *Run) (any, error) {
		for i := range 3 {
			r.Progress("dividing", int64(i+1), 3)
			if err := r.Emit("point", map[string]int{"k": i}); err != nil {
				return nil, err
			}
		}
		<-more
		return map[string]int{"points": 3}, nil
	})
	lines := stream(t, m, j.ID, "")
	seen := map[string]int{}
	lastPoint := ""
	for seen["point"] < 3 || seen["progress"] < 1 {
		id, name, data := next(lines)
		if name == "" {
			t.Fatal("the stream ended early")
		}
		if name == "point" {
			if want := fmt.Sprintf(`{"k":%d}`, seen["point"]); data != want {
				t.Errorf("got %s, want %s", data, want)
			}
			lastPoint = id
		}
		seen[name]++
	}
	close(more)
	if _, name, data := next(lines); name != "done" || data != `{"points":3}` {
		t.Errorf("at the end: %s %s", name, data)
	}
	if _, name, _ := next(lines); name != "" {
		t.Errorf("after the end: %s", name)
	}
	// A reader that comes back gets what it has not seen, and a late one all but progress.
	if _, name, _ := next(stream(t, m, j.ID, lastPoint)); name != "done" {
		t.Errorf("after a reconnection: %s", name)
	}
	if _, name, data := next(stream(t, m, j.ID, "0")); name != "point" || data != `{"k":0}` {
		t.Errorf("a late reader: %s %s", name, data)
	}
	if _, name, _ := next(stream(t, m, j.ID, "999999")); name == "" {
		t.Error("a number of a former process leaves the reader without an end")
	}
}

func TestClosingEndsStreams(t *testing.T) {
	m := manager(t, config(&stored{}))
	j := submit(t, m, func(ctx context.Context, r *Run) (any, error) {
		r.Progress("reading", 1, 0)
		<-ctx.Done()
		return nil, ctx.Err()
	})
	lines := stream(t, m, j.ID, "")
	if _, name, _ := next(lines); name != "progress" {
		t.Errorf("first: %s", name)
	}
	if err := m.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	if _, name, _ := next(lines); name != "closing" {
		t.Errorf("at the end: %s", name)
	}
}

// The jobs of one principal fill its share of the queue and of what runs, and no more: the
// first one of another begins at once.
func TestShareOfPrincipals(t *testing.T) {
	c := config(&stored{})
	c.Running, c.Queued, c.Share = 2, 8, 3
	m := manager(t, c)
	began := make(chan string, 16)
	task := func(by string, until chan struct{}) Task {
		return Task{By: by, Run: func(ctx context.Context, _ *Run) (any, error) {
			began <- by
			select {
			case <-until:
			case <-ctx.Done():
			}
			return nil, nil
		}}
	}
	first, rest := make(chan struct{}), make(chan struct{})
	for range 4 { // one runs
		if _, err := m.Submit(task("anna", first)); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := m.Submit(task("anna", first)); !errors.Is(err, ErrShare) {
		t.Errorf("beyond the share: %v", err)
	}
	if _, err := m.Submit(task("mori", rest)); err != nil {
		t.Fatal(err)
	}
	if one, other := <-began, <-began; one == other {
		t.Errorf("two jobs of %s run", one)
	}
	if _, err := m.Submit(task("mori", rest)); err != nil {
		t.Fatal(err)
	}
	first <- struct{}{}
	if by := <-began; by != "anna" {
		t.Errorf("%s begins next, where mori has a job that runs", by)
	}
	close(first)
	close(rest)
}

// The ended jobs of one principal are forgotten, the oldest first, and leave those of others.
func TestEndedJobsOfPrincipals(t *testing.T) {
	c := config(&stored{})
	c.Running, c.Queued, c.Ended = 1, 1, 3
	m := manager(t, c)
	run := func(by string) Job {
		t.Helper()
		job, err := m.Submit(Task{By: by, Run: func(context.Context, *Run) (any, error) { return by, nil }})
		if err != nil {
			t.Fatal(err)
		}
		return ended(t, m, job.ID)
	}
	kept := run("mori")
	var own []Job
	for range 20 {
		own = append(own, run("anna"))
	}
	if _, ok := m.Get(kept.ID); !ok {
		t.Error("the jobs of one principal push those of another out")
	}
	if _, ok := m.Get(own[0].ID); ok {
		t.Error("ended jobs are kept without a limit")
	}
	if _, ok := m.Get(own[len(own)-1].ID); !ok {
		t.Error("the newest job is forgotten")
	}
	if n := len(m.List("", 100, nil)); n > 1+c.Ended+c.Running+c.Queued {
		t.Errorf("%d jobs are kept", n)
	}
}

// The jobs of a table that is deleted are cancelled, whether they run or wait; those that a stop waits
// for go on, and those of other tables too.
func TestCancelOf(t *testing.T) {
	s := &stored{}
	c := config(s)
	c.Running = 4
	m := manager(t, c)
	until := make(chan struct{})
	task := func(table, by string, finish bool) string {
		job, err := m.Submit(Task{Table: table, By: by, Finish: finish, Run: func(ctx context.Context, _ *Run) (any, error) {
			select {
			case <-until:
				return nil, nil
			case <-ctx.Done():
				return nil, ctx.Err()
			}
		}})
		if err != nil {
			t.Fatal(err)
		}
		return job.ID
	}
	runs, finishes, other := task("a", "x", false), task("a", "x", true), task("b", "x", false)
	waits, waitsToFinish := task("a", "x", false), task("a", "x", true)
	m.CancelOf("a")
	for deadline := time.Now().Add(10 * time.Second); !s.get(runs).State.Ended() && time.Now().Before(deadline); {
		time.Sleep(time.Millisecond)
	}
	close(until)
	for _, id := range []string{runs, waits} {
		if state := s.get(id).State; state != Cancelled {
			t.Errorf("job %s of the table: %s", id, state)
		}
	}
	for _, id := range []string{finishes, other, waitsToFinish} {
		for deadline := time.Now().Add(10 * time.Second); !s.get(id).State.Ended() && time.Now().Before(deadline); {
			time.Sleep(time.Millisecond)
		}
		if state := s.get(id).State; state != Done {
			t.Errorf("job %s: %s", id, state)
		}
	}
}
