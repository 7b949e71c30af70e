package apart

import (
	"context"
	"errors"
	"io/fs"
	"syscall"

	"github.com/noren-privacy/noren"
	"github.com/noren-privacy/noren/internal/plainfile"
	"github.com/noren-privacy/noren/spec"
)

// passed is an error: a [*noren.Error] with its parts, several errors, or what another one says and
// which of [known] it is.
type passed struct {
	Ours   *noren.Error // without its cause
	Text   noren.Text   // of an error of another type
	Known  []int
	Cause  *passed
	Joined []*passed
	Faults bool // Joined are those of a specification
}

// known are the errors that callers ask for.
func known() []error {
	return []error{context.Canceled, context.DeadlineExceeded, fs.ErrNotExist, fs.ErrPermission, fs.ErrExist, plainfile.ErrNot, syscall.ENOSPC, syscall.EDQUOT}
}

// pass is an error as it is passed.
func pass(err error) *passed {
	if err == nil {
		return nil
	}
	if e, ok := err.(*noren.Error); ok {
		one := *e
		one.Err = nil
		return &passed{Ours: &one, Cause: pass(e.Err)}
	}
	out := &passed{Text: noren.TextOf(err)}
	if several, ok := err.(interface{ Unwrap() []error }); ok {
		_, out.Faults = err.(spec.Faults)
		for _, one := range several.Unwrap() {
			out.Joined = append(out.Joined, pass(one))
		}
		return out
	}
	for i, one := range known() {
		if errors.Is(err, one) {
			out.Known = append(out.Known, i)
		}
	}
	out.Cause = pass(errors.Unwrap(err))
	return out
}

// error is the error that was passed.
func (p *passed) error() error {
	switch {
	case p == nil:
		return nil
	case p.Ours != nil:
		e := *p.Ours
		e.Err = p.Cause.error()
		return &e
	}
	out := &told{text: p.Text}
	var faults spec.Faults
	for _, one := range p.Joined {
		err := one.error()
		out.causes = append(out.causes, err)
		if e, ok := err.(*noren.Error); ok {
			faults = append(faults, e)
		}
	}
	if p.Faults {
		return faults
	}
	all := known()
	for _, i := range p.Known {
		if i >= 0 && i < len(all) {
			out.causes = append(out.causes, all[i])
		}
	}
	if p.Cause != nil {
		out.causes = append(out.causes, p.Cause.error())
	}
	return out
}

// told is an error of another process.
type told struct {
	text   noren.Text
	causes []error
}

// Error implements error.
func (t *told) Error() string { return t.text.String() }

// Text is what the error says.
func (t *told) Text() noren.Text { return t.text }

// Unwrap are the errors that it is or wraps.
func (t *told) Unwrap() []error { return t.causes }
