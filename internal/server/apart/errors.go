package apart

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"slices"
	"syscall"

	"github.com/noren-privacy/noren"
	"github.com/noren-privacy/noren/internal/plainfile"
	"github.com/noren-privacy/noren/spec"
)

// passed is an error. Those whose type readers ask for keep it: [*noren.Error], those of the file system and
// of the operating system, and the faults of a specification. Of another one pass what it says, what it wraps
// and which of [known] it is.
type passed struct {
	Ours   *noren.Error // without its cause
	Path   *fs.PathError
	Link   *os.LinkError
	Number *uint64 // of the operating system
	Known  int     // it is that one of [known], counted from 1; 0 for none
	Words  string
	Text   *noren.Text // where it has one
	Is     []int       // which of [known] it is or wraps, counted from 1
	Cause  *passed
	Joined []*passed
	Joins  bool // several errors, or none of them
	Faults bool // Joined are those of a specification
}

// known are the errors that callers ask for.
func known() []error {
	return []error{
		context.Canceled, context.DeadlineExceeded, fs.ErrNotExist, fs.ErrPermission, fs.ErrExist, plainfile.ErrNot, syscall.ENOSPC,
		syscall.EDQUOT,
		io.EOF, io.ErrUnexpectedEOF,
	}
}

// pass is an error as it is passed.
func pass(err error) *passed {
	if err == nil {
		return nil
	}
	switch e := err.(type) { //nolint:errorlint // the causes follow
	case *noren.Error:
		one := *e
		one.Err = nil
		return &passed{Ours: &one, Cause: pass(e.Err)}
	case *fs.PathError:
		return &passed{Path: &fs.PathError{Op: e.Op, Path: e.Path}, Cause: pass(e.Err)}
	case *os.LinkError:
		return &passed{Link: &os.LinkError{Op: e.Op, Old: e.Old, New: e.New}, Cause: pass(e.Err)}
	case syscall.Errno:
		n := uint64(e)
		return &passed{Number: &n}
	case spec.Faults:
		out := &passed{Faults: true}
		for _, one := range e {
			out.Joined = append(out.Joined, pass(one))
		}
		return out
	}
	all := known()
	if at := slices.Index(all, err); at >= 0 {
		return &passed{Known: at + 1}
	}
	out := &passed{Words: err.Error()}
	if speaks, ok := err.(interface{ Text() noren.Text }); ok { //nolint:errorlint // the causes follow
		text := speaks.Text()
		out.Text = &text
	}
	for i, one := range all {
		if errors.Is(err, one) {
			out.Is = append(out.Is, i+1)
		}
	}
	if several, ok := err.(interface{ Unwrap() []error }); ok { //nolint:errorlint // of this error itself
		out.Joins = true
		for _, one := range several.Unwrap() {
			out.Joined = append(out.Joined, pass(one))
		}
		return out
	}
	out.Cause = pass(errors.Unwrap(err))
	return out
}

// error is the error that was passed.
func (p *passed) error() error {
	all := known()
	switch {
	case p == nil:
		return nil
	case p.Ours != nil:
		e := *p.Ours
		e.Err = p.Cause.error()
		return &e
	case p.Path != nil:
		return &fs.PathError{Op: p.Path.Op, Path: p.Path.Path, Err: p.reason()}
	case p.Link != nil:
		return &os.LinkError{Op: p.Link.Op, Old: p.Link.Old, New: p.Link.New, Err: p.reason()}
	case p.Number != nil:
		return syscall.Errno(*p.Number)
	case p.Faults:
		return p.faults()
	case p.Known > 0 && p.Known <= len(all):
		return all[p.Known-1]
	}
	one := told{words: p.Words}
	for _, i := range p.Is {
		if i > 0 && i <= len(all) {
			one.is = append(one.is, all[i-1])
		}
	}
	switch {
	case p.Joins && p.Text != nil:
		return &toldTextOfSeveral{toldSeveral{one, p.joined()}, *p.Text}
	case p.Joins:
		return &toldSeveral{one, p.joined()}
	case p.Text != nil:
		return &toldText{toldCause{one, p.Cause.error()}, *p.Text}
	}
	return &toldCause{one, p.Cause.error()}
}

// reason is the cause of an error of the file system, which has one.
func (p *passed) reason() error {
	if p.Cause == nil {
		return fs.ErrInvalid
	}
	return p.Cause.error()
}

func (p *passed) joined() (out []error) {
	for _, one := range p.Joined {
		if one != nil {
			out = append(out, one.error())
		}
	}
	return out
}

func (p *passed) faults() spec.Faults {
	out := spec.Faults{}
	for _, one := range p.joined() {
		if e, ok := one.(*noren.Error); ok { //nolint:errorlint // the type that was passed
			out = append(out, e)
		}
	}
	return out
}

// told is an error of another process, of a type that no reader asks for.
type told struct {
	words string
	is    []error
}

// Error implements error.
func (t *told) Error() string { return t.words }

// Is reports whether the error was or wrapped that one of [known].
func (t *told) Is(target error) bool { return slices.Contains(t.is, target) }

type toldCause struct {
	told
	cause error
}

// Unwrap is what the error wraps.
func (t *toldCause) Unwrap() error { return t.cause }

type toldText struct {
	toldCause
	text noren.Text
}

// Text is what the error says.
func (t *toldText) Text() noren.Text { return t.text }

type toldSeveral struct {
	told
	causes []error
}

// Unwrap is what the error wraps.
func (t *toldSeveral) Unwrap() []error { return t.causes }

type toldTextOfSeveral struct {
	toldSeveral
	text noren.Text
}

// Text is what the error says.
func (t *toldTextOfSeveral) Text() noren.Text { return t.text }
