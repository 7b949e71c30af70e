package apart

import (
	"context"
	"errors"
	"io"
	"os/exec"
	"sync/atomic"
	"time"

	"github.com/noren-privacy/noren"
	"github.com/noren-privacy/noren/api"
	"github.com/noren-privacy/noren/certificate"
	"github.com/noren-privacy/noren/internal/frames"
	"github.com/noren-privacy/noren/internal/meter"
	"github.com/noren-privacy/noren/internal/server/problem"
	"github.com/noren-privacy/noren/service"
)

// Runner runs operations, each in a process of its own. The zero Runner runs them in this process.
type Runner struct {
	// Command is the command that calls [Serve] with its standard input and output. Without it
	// operations run in this process, with its priority: then they may delay others.
	Command func(ctx context.Context) *exec.Cmd
	// Tool is the program, as the page of a release names it. Optional.
	Tool certificate.Tool
	// Place waits for a place for the process of a proposal or check, which no queue of jobs bounds, and
	// returns what gives it back. Jobs need none, and wait for none. Optional.
	Place func(ctx context.Context) (func(), error)
	// Memory bounds what the reading of one file holds, where the context states no limits.
	Memory func() int64

	ending time.Duration // in tests
}

// ending is how long a process has to remove its own files once its standard input ends.
const ending = 10 * time.Second

func (r *Runner) toEnd() time.Duration {
	if r.ending > 0 {
		return r.ending
	}
	return ending
}

// run runs an operation. Points are received while it computes.
func run[Request, Result any](ctx context.Context, o *Operations, op operation[Request, Result], r *Request,
	point func(api.CurvePoint),
) (*Result, error) {
	if o.runner.Memory != nil && meter.From(ctx) == (meter.Limits{}) {
		ctx = service.Limited(ctx, o.runner.Memory())
	}
	if o.runner.Command == nil {
		return op.call(&service.Service{Progress: o.Progress, Note: o.Note, Tool: o.runner.Tool}, ctx, r)
	}
	request, err := encode(r)
	if err != nil {
		return nil, err
	}
	data, err := o.exchange(ctx, op.name, request, point)
	if err != nil {
		return nil, err
	}
	out := new(Result)
	if err := decode(data, out); err != nil {
		return nil, err
	}
	return out, nil
}

// waiting runs an operation that no queue of jobs bounds, once there is a place for it.
func waiting[Request, Result any](ctx context.Context, o *Operations, op operation[Request, Result], r *Request) (*Result, error) {
	if o.runner.Place != nil {
		back, err := o.runner.Place(ctx)
		if err != nil {
			return nil, err
		}
		defer back()
	}
	return run(ctx, o, op, r, nil)
}

// exchange starts the process of an operation, sends it the request and returns its result.
func (o *Operations) exchange(ctx context.Context, name string, request []byte, point func(api.CurvePoint)) ([]byte, error) {
	cmd := o.runner.Command(ctx)
	in, err := cmd.StdinPipe()
	if err != nil {
		return nil, notStarted(ctx, err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, notStarted(ctx, err)
	}
	cmd.Cancel = in.Close // the process ends with its standard input
	cmd.WaitDelay = o.runner.toEnd()
	if err := cmd.Start(); err != nil {
		return nil, notStarted(ctx, err)
	}
	limits := meter.From(ctx)
	sent := make(chan struct{})
	go func() {
		defer close(sent)
		send := newSender(in)
		if head, err := encode(&settings{form(), name, o.runner.Tool, limits}); err == nil {
			send.parts(nil, head)
			send.parts(nil, request)
			_ = send.close() // a process that does not read says why, or has ended
		}
	}()
	result, failed, err := o.receive(out, most(limits), point)
	if err != nil {
		_ = out.Close() // a process that goes on writing ends
	}
	_ = in.Close()
	<-sent
	var late atomic.Bool
	end := time.AfterFunc(o.runner.toEnd(), func() {
		late.Store(true)
		_ = cmd.Process.Kill()
	})
	e := cmd.Wait()
	end.Stop()
	// A process that said all it had to and does not get a processor to end has no more to do.
	if e != nil && err == nil && failed == nil && !late.Load() {
		err = e
	}
	switch {
	case failed != nil:
		return nil, failed
	case err != nil:
		return nil, ended(ctx, err)
	}
	return result, nil
}

// ended is the error of a process that did not end well.
func ended(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if errors.Is(err, errLarge) {
		return large()
	}
	return processDied(err)
}

// notStarted is the error of a process that cannot begin.
func notStarted(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	p := problem.New("unavailable", "The process that computes cannot be started.").
		Hinted("try again; let the server have more processes and open files where it happens again")
	return &died{p, err}
}

// receive reads what the process of an operation says: its result, or the error of the operation.
func (o *Operations) receive(out io.Reader, most int64, point func(api.CurvePoint)) (result []byte, failed, err error) {
	in := frames.NewReader(out)
	for {
		frame, err := in.Next()
		if err == io.EOF {
			if failed == nil && len(result) == 0 {
				err = errNone
			} else {
				err = nil
			}
			return result, failed, err
		}
		if err != nil {
			return nil, nil, err
		}
		is, data := frame[0], frame[1:]
		switch is {
		case isProgress:
			var p progress
			if err = decode(data, &p); err == nil {
				o.Progress.Report(p.Stage, p.Done, p.Total)
			}
		case isNote:
			var n api.Note
			if err = decode(data, &n); err == nil && o.Note != nil {
				o.Note(n)
			}
		case isPoint:
			var p api.CurvePoint
			if err = decode(data, &p); err == nil && point != nil {
				point(p)
			}
		case isPart:
			if int64(len(result)+len(data)) > most {
				err = errLarge
			}
			result = append(result, data...)
		case isError:
			var p passed
			if err = decode(data, &p); err == nil {
				failed = p.error()
			}
		default:
			err = errForm
		}
		if err != nil {
			return nil, nil, err
		}
	}
}

// died is the error of a process that did not end well.
type died struct {
	*problem.Problem
	cause error
}

// Unwrap is the problem that users read, and the cause for the server's log.
func (d *died) Unwrap() []error { return []error{d.Problem, d.cause} }

func processDied(cause error) error {
	p := problem.New("unavailable", "The process that computed ended before it was done.").
		Hinted("try again; give the server more memory where it happens again")
	return &died{p, cause}
}

// large is the error of a request or result that exceeds what an operation may hold.
func large() error {
	return &noren.Error{
		Kind: noren.BadData, Code: meter.Code, What: "this work needs more memory than one operation may hold",
		Hint: "give the server more memory by --memory, or work on a part of the table",
	}
}
