package jobs

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"sync"
	"time"

	"github.com/noren-privacy/noren"
	"github.com/noren-privacy/noren/service"
)

// Errors of a manager.
var (
	// ErrFull: the queue has no place left.
	ErrFull = errors.New("jobs: the queue is full")
	// ErrShare: the jobs of one principal fill its share of the queue.
	ErrShare = errors.New("jobs: the principal's share of the queue is full")
	// ErrClosed: the manager takes no more jobs.
	ErrClosed = errors.New("jobs: the server is stopping")
	// ErrUnknown: there is no such job.
	ErrUnknown = errors.New("jobs: no such job")
)

// Config holds what a manager needs.
type Config struct {
	// Running is how many jobs run at once, of one principal at most one fewer, but for one:
	// who has long jobs leaves a place to the others. Defaults to 2.
	Running int
	// Queued is how many jobs may wait. Defaults to 100.
	Queued int
	// Share is how many jobs of one principal may wait. Defaults to a quarter of Queued.
	Share int
	// Memory is about how many bytes all running jobs may use together. Required.
	Memory int64
	// NewID makes the id of a job. Required.
	NewID func() (string, error)
	// Save stores a job at each change of its state. Required.
	Save func(Job) error
	// Problem is the document that describes an error of a job, and its texts with their arguments. Required.
	Problem func(error) (problem, texts json.RawMessage)
	// Texts are the texts of a result with their arguments, to be stored beside it. Optional.
	Texts func(result any) json.RawMessage
	// Now is the time of the server. Defaults to that of the machine.
	Now func() time.Time
	// Ended is how many jobs of one principal that have ended are kept in memory. Defaults to 500.
	Ended int
	// Forget removes a job that is no longer kept from where Save put it. Optional.
	Forget func(id string)
}

// Task is work to be done.
type Task struct {
	// Kind, Table, Recipe and By describe the job: see [Job].
	Kind, Table, Recipe, By string
	// Run does the work. Its result becomes the result of the job, as JSON. Required.
	Run func(ctx context.Context, r *Run) (any, error)
	// Finish lets a running task go on while the manager stops, until the time that
	// [Manager.Close] has.
	Finish bool
	// Ended is called once when the job has ended in whatever way, before others can see
	// that it has. It must not call the manager. Optional.
	Ended func(Job)
}

// Run is what a running task is given.
type Run struct {
	// ID is the id of the job.
	ID string
	// Memory is about how many bytes the task may use.
	Memory int64

	manager *Manager
	entry   *entry
}

// Progress receives the progress of the task. It can be used as a noren.Progress.
func (r *Run) Progress(stage string, done, total int64) {
	m := r.manager
	m.mu.Lock()
	defer m.mu.Unlock()
	r.entry.progress(stage, done, total)
}

// Emit adds an event that readers of the job receive, in order.
func (r *Run) Emit(event string, value any) error {
	data, err := json.Marshal(value)
	if err != nil {
		return err
	}
	m := r.manager
	m.mu.Lock()
	defer m.mu.Unlock()
	r.entry.add(event, data)
	return nil
}

// Manager runs jobs. Make one with [New].
type Manager struct {
	config Config

	mu      sync.Mutex
	jobs    map[string]*entry
	order   []string // ids of jobs, the oldest first
	queue   []*entry
	running int
	closed  bool
	closing chan struct{} // closed when the manager stops
	idle    sync.WaitGroup
}

// New makes a manager that knows the jobs of former processes, oldest first. Those that
// had not ended are stored as lost.
func New(config Config, former []Job) (*Manager, error) {
	if config.Running <= 0 {
		config.Running = 2
	}
	if config.Queued <= 0 {
		config.Queued = 100
	}
	if config.Share <= 0 {
		config.Share = max(1, config.Queued/4)
	}
	if config.Ended <= 0 {
		config.Ended = 500
	}
	if config.NewID == nil || config.Save == nil || config.Problem == nil || config.Memory <= 0 {
		return nil, noren.Bug("jobs: expected NewID, Save, Problem and Memory")
	}
	if config.Now == nil {
		config.Now = time.Now
	}
	m := &Manager{config: config, jobs: map[string]*entry{}, closing: make(chan struct{})}
	for _, job := range former {
		e := newEntry(job)
		if !job.State.Ended() {
			e.end(Lost, m.now())
			if err := config.Save(e.job); err != nil {
				return nil, noren.Reasonf("jobs: store job %s as lost: %s", job.ID, err)
			}
		} else {
			e.finish()
		}
		m.jobs[job.ID] = e
		m.order = append(m.order, job.ID)
	}
	m.forget()
	return m, nil
}

// Share is about how many bytes each running job may use.
func (m *Manager) Share() int64 { return m.config.Memory / int64(m.config.Running) }

// Submit queues a task. Errors are [ErrFull], [ErrShare], [ErrClosed], or those
// of Config.
func (m *Manager) Submit(t Task) (Job, error) {
	id, err := m.config.NewID()
	if err != nil {
		return Job{}, err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	switch {
	case m.closed:
		return Job{}, ErrClosed
	case m.begins(t.By):
	case len(m.queue) >= m.config.Queued:
		return Job{}, ErrFull
	case m.waiting(t.By) >= m.config.Share:
		return Job{}, ErrShare
	}
	e := newEntry(Job{ID: id, Kind: t.Kind, Table: t.Table, Recipe: t.Recipe, State: Queued, Made: m.now(), By: t.By})
	e.task = t
	if err := m.config.Save(e.job); err != nil {
		return Job{}, err
	}
	m.jobs[id] = e
	m.order = append(m.order, id)
	m.queue = append(m.queue, e)
	m.start()
	m.forget()
	return e.job, nil
}

// waiting is how many jobs of a principal wait. m.mu is held.
func (m *Manager) waiting(by string) (n int) {
	for _, e := range m.queue {
		if e.job.By == by {
			n++
		}
	}
	return n
}

// runningOf is how many jobs of each principal run. m.mu is held.
func (m *Manager) runningOf() map[string]int {
	running := map[string]int{}
	for _, e := range m.jobs {
		if e.job.State == Running {
			running[e.job.By]++
		}
	}
	return running
}

// ownPlaces is how many jobs of one principal may run at once.
func (m *Manager) ownPlaces() int { return max(1, m.config.Running-1) }

// begins reports whether a job of a principal begins at once. m.mu is held.
func (m *Manager) begins(by string) bool {
	return m.running < m.config.Running && m.runningOf()[by] < m.ownPlaces()
}

// next is the place in the queue of the job that begins next: the first one of a principal
// of whom fewest jobs run; -1 where only principals wait who have as many as they may. m.mu is held.
func (m *Manager) next() int {
	running := m.runningOf()
	at, fewest := -1, m.ownPlaces()
	for i, e := range m.queue {
		if running[e.job.By] < fewest {
			at, fewest = i, running[e.job.By]
		}
	}
	return at
}

// start runs waiting jobs while there are places. m.mu is held.
func (m *Manager) start() {
	for m.running < m.config.Running && len(m.queue) > 0 && !m.closed {
		at := m.next()
		if at < 0 {
			return
		}
		e := m.queue[at]
		m.queue = slices.Delete(m.queue, at, at+1)
		began := m.now()
		e.job.State, e.job.Started = Running, &began
		ctx, cancel := context.WithCancel(context.Background())
		e.cancel = cancel
		m.running++
		m.idle.Add(1)
		e.tell()
		go m.run(ctx, e)
	}
}

// run does the work of one job.
func (m *Manager) run(ctx context.Context, e *entry) {
	defer m.idle.Done()
	defer e.cancel()
	err := m.config.Save(e.snapshot(&m.mu))
	var result, texts json.RawMessage
	if err == nil {
		result, texts, err = m.work(ctx, e)
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	state := Done
	switch {
	case err == nil:
		e.job.Result, e.job.ResultTexts = result, texts
	case e.lost:
		state = Lost
	case e.cancelled && errors.Is(err, context.Canceled):
		state = Cancelled
	default:
		state = Failed
		e.job.Problem, e.job.ProblemTexts = m.config.Problem(err)
	}
	m.end(e, state)
	m.running--
	m.start()
}

// work runs the task of a job and encodes its result. A task that panics has failed.
func (m *Manager) work(ctx context.Context, e *entry) (result, texts json.RawMessage, err error) {
	defer func() {
		if recover() != nil {
			err = noren.Bug("jobs: a task ended by a fault of the program")
		}
	}()
	// The tables that the task reads are files of others.
	ctx = service.Limited(ctx, m.Share())
	value, err := e.task.Run(ctx, &Run{ID: e.job.ID, Memory: m.Share(), manager: m, entry: e})
	if err != nil || value == nil {
		return nil, nil, err
	}
	if m.config.Texts != nil {
		texts = m.config.Texts(value)
	}
	result, err = json.Marshal(value)
	return result, texts, err
}

// end ends a job and stores it. A job whose end cannot be stored is lost at the next
// start. m.mu is held.
func (m *Manager) end(e *entry, state State) {
	ended := m.now()
	e.job.State, e.job.Ended = state, &ended
	_ = m.config.Save(e.job)
	if e.task.Ended != nil {
		e.task.Ended(e.job)
	}
	e.task = Task{}
	e.finish()
}

// Cancel cancels a job. A job that has ended stays as it is.
func (m *Manager) Cancel(id string) (Job, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	e := m.jobs[id]
	if e == nil {
		return Job{}, ErrUnknown
	}
	m.cancel(e)
	return e.job, nil
}

// cancel cancels a job that has not ended. m.mu is held.
func (m *Manager) cancel(e *entry) {
	switch e.job.State {
	case Queued:
		m.queue = slices.DeleteFunc(m.queue, func(x *entry) bool { return x == e })
		m.end(e, Cancelled)
	case Running:
		e.cancelled = true
		e.cancel()
	}
}

// CancelOf cancels the jobs of a table but for those that a stop of the server waits for too.
func (m *Manager) CancelOf(table string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, id := range slices.Clone(m.order) {
		if e := m.jobs[id]; e.job.Table == table && !e.job.State.Ended() && !e.task.Finish {
			m.cancel(e)
		}
	}
}

// Get is a job by its id.
func (m *Manager) Get(id string) (Job, bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	e := m.jobs[id]
	if e == nil {
		return Job{}, false
	}
	return e.job, true
}

// List is the jobs that keep says yes to, the newest first, from the one behind the job
// named after on, at most limit of them. An empty after begins with the newest.
func (m *Manager) List(after string, limit int, keep func(*Job) bool) []Job {
	m.mu.Lock()
	defer m.mu.Unlock()
	at := len(m.order) - 1
	if after != "" {
		at = slices.Index(m.order, after) - 1
	}
	var out []Job
	for ; at >= 0 && len(out) < limit; at-- {
		if e := m.jobs[m.order[at]]; keep == nil || keep(&e.job) {
			out = append(out, e.job)
		}
	}
	return out
}

// Counts is how many jobs run and wait.
func (m *Manager) Counts() (running, queued int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.running, len(m.queue)
}

// forget drops the oldest jobs that have ended, of each principal by itself: the jobs of one
// leave those of others where they are. m.mu is held.
func (m *Manager) forget() {
	ended := map[string]int{}
	for _, e := range m.jobs {
		if e.job.State.Ended() {
			ended[e.job.By]++
		}
	}
	m.order = slices.DeleteFunc(m.order, func(id string) bool {
		e := m.jobs[id]
		if !e.job.State.Ended() || ended[e.job.By] <= m.config.Ended {
			return false
		}
		ended[e.job.By]--
		delete(m.jobs, id)
		if m.config.Forget != nil {
			m.config.Forget(id)
		}
		return true
	})
}

// Close stops the manager: jobs that wait, and those that run and are not to finish, are
// cancelled and stored as lost, and readers of events are let go. It waits for the others
// until ctx ends, and cancels them then.
func (m *Manager) Close(ctx context.Context) error {
	m.mu.Lock()
	if !m.closed {
		m.closed = true
		for _, e := range m.queue {
			m.end(e, Lost)
		}
		m.queue = nil
		for _, e := range m.jobs {
			if e.job.State == Running && !e.task.Finish {
				e.lost = true
				e.cancel()
			}
		}
		close(m.closing)
	}
	m.mu.Unlock()
	ended := make(chan struct{})
	go func() {
		m.idle.Wait()
		close(ended)
	}()
	select {
	case <-ended:
		return nil
	case <-ctx.Done():
	}
	m.mu.Lock()
	for _, e := range m.jobs {
		if e.job.State == Running {
			e.lost = true
			e.cancel()
		}
	}
	m.mu.Unlock()
	select {
	case <-ended:
		return nil
	case <-time.After(last):
		return ctx.Err()
	}
}

// last is how long [Manager.Close] waits for tasks that it has cancelled at its end.
const last = 2 * time.Second

// now is the time in UTC, in whole milliseconds, as it is stored.
func (m *Manager) now() time.Time { return m.config.Now().UTC().Truncate(time.Millisecond) }
