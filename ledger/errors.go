package ledger

import (
	"context"
	"database/sql"
	"errors"
	"io/fs"
	"os"
	"syscall"

	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"

	"github.com/noren-privacy/noren"
)

// Causes that a caller may want to tell apart with [errors.Is].
var (
	// ErrConflict: the idempotency key was used with another request.
	ErrConflict = errors.New("the idempotency key belongs to another request")
	// ErrInProgress: the same request is being answered by another process.
	ErrInProgress = errors.New("the same request is being answered")
	// ErrForfeited: the same request was charged and never answered, or the
	// lease of the reservation at hand was lost.
	ErrForfeited = errors.New("the charge was forfeited")
	// ErrCharged: the request was charged, and the charge was given up at once, since it
	// could not be noted outside of the database.
	ErrCharged = errors.New("the charge stays")
	// ErrUnwritable: the head file or the anchor cannot be written, and nothing was charged.
	ErrUnwritable = errors.New("the head file or the anchor cannot be written")
	// ErrNoGrant: no budget was granted for the data set.
	ErrNoGrant = errors.New("no budget was granted")
	// ErrChanged: the table or the definition is not that of the current version.
	ErrChanged = errors.New("the data set has changed")
)

// Shortfall is one account that does not cover a request.
type Shortfall struct {
	Kind      string // "dataset", "analyst", or "block" of an older ledger
	Name      string
	Requested Cost
	Remaining Cost
}

// Refusal is the cause of an error of kind Refused when a budget does not cover
// a request.
type Refusal struct {
	// Short are the accounts that do not cover it.
	Short []Shortfall
	// Left is what each account of the request holds, less what holds keep.
	Left []Remaining
}

// Error says requested, remaining and the difference for each account.
func (r *Refusal) Error() string { return r.Text().String() }

// Text is what [Refusal.Error] says, as a text.
func (r *Refusal) Text() noren.Text {
	parts := make(noren.Texts, len(r.Short))
	for i, s := range r.Short {
		parts[i] = noren.Textf("%s: %s", accountName(s.Kind, s.Name), shortText(s.Requested, s.Remaining))
	}
	return noren.Textf("%s", parts)
}

// accountName says which account it is.
func accountName(kind, name string) noren.Text {
	switch kind {
	case kindDataset:
		return noren.Textf("data set %s", name)
	case kindAnalyst:
		return noren.Textf("analyst %s", name)
	}
	return noren.Textf("%s %s", kind, name)
}

func shortText(asked, left Cost) noren.Commas {
	var parts noren.Commas
	if e, d := asked.Epsilon, left.Epsilon; e > d {
		parts = append(parts, noren.Textf("epsilon %s requested, %s remaining, %s too much", decimal(e, 9), decimal(d, 9), decimal(e-d, 9)))
	}
	if e, d := asked.Delta, left.Delta; e > d {
		parts = append(parts, noren.Textf("delta %s requested, %s remaining, %s too much", decimal(e, 18), decimal(d, 18), decimal(e-d, 18)))
	}
	if e, d := asked.Rho, left.Rho; e > d {
		parts = append(parts, noren.Textf("rho %s requested, %s remaining, %s too much", e, d, e-d))
	}
	return parts
}

// SealedError is the cause of an error of kind Refused from a sealed ledger.
type SealedError struct{ Reason noren.Text }

// Error says why the ledger is sealed.
func (e *SealedError) Error() string { return e.Reason.String() }

// Text is what [SealedError.Error] says, as a text.
func (e *SealedError) Text() noren.Text { return e.Reason }

func sealedError(path string, reason noren.Text) error {
	return &noren.Error{
		Kind: noren.Refused, Code: "sealed", Where: noren.File(path), What: "the ledger is sealed", Err: &SealedError{reason},
		Hint: "the steward reconciles it with the certificates of what was released",
	}
}

// marked is an error that is also another one, without its text.
type marked struct {
	error
	as error
}

func (m marked) Unwrap() error        { return m.error }
func (m marked) Is(target error) bool { return target == m.as }

// fileError is about a file of the ledger, or one that the caller named.
func fileError(where any, what noren.Format, err error, args ...any) error {
	e := &noren.Error{Where: where, What: what, Args: args, Err: err}
	var p *fs.PathError
	var l *os.LinkError
	if errors.As(err, &p) {
		e.Err = p.Err
	} else if errors.As(err, &l) {
		e.Err = l.Err
	}
	switch {
	case errors.Is(err, fs.ErrNotExist):
		e.Kind = noren.Usage
	case errors.Is(err, fs.ErrPermission), errors.Is(err, syscall.EROFS):
		e.Kind = noren.Usage
		e.Hinted("the file and its folder must be writable by this user")
	case errors.Is(err, syscall.ENOSPC), errors.Is(err, syscall.EFBIG), errors.Is(err, syscall.EDQUOT):
		e.Hinted("the disk is full: free some space; nothing was answered, and what was charged stays charged")
	}
	return e
}

// fail turns whatever went wrong in or under SQLite into an error that says
// what to do. An error that is one already stays as it is.
func fail(where any, what noren.Format, err error, args ...any) error {
	var known *noren.Error
	if errors.As(err, &known) {
		return err
	}
	if errors.Is(err, sql.ErrTxDone) {
		err = context.Canceled // package database/sql ends a transaction with its context, and then says only that it is done
	}
	if errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return &noren.Error{Kind: noren.Interrupted, Where: where, What: what, Args: args, Err: err}
	}
	var p *fs.PathError
	if errors.As(err, &p) {
		return fileError(where, what, err, args...)
	}
	e := &noren.Error{Where: where, What: what, Args: args, Err: err}
	var s *sqlite.Error
	if !errors.As(err, &s) {
		return e
	}
	switch s.Code() & 0xff {
	case sqlite3.SQLITE_INTERRUPT:
		e.Kind, e.Err = noren.Interrupted, context.Canceled
	case sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED:
		e.Hinted("another process keeps the ledger locked: try again when it is done")
	case sqlite3.SQLITE_FULL:
		e.Hinted("the disk is full: free some space; nothing was answered")
	case sqlite3.SQLITE_READONLY, sqlite3.SQLITE_PERM, sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_AUTH:
		e.Kind = noren.Usage
		e.Hinted("the ledger's file and its folder must be writable by this user")
	case sqlite3.SQLITE_NOTADB:
		e.Kind = noren.BadData
		e.Hinted("this file is not a ledger; if it was one, restore it from a copy and reconcile")
	case sqlite3.SQLITE_CORRUPT:
		e.Kind = noren.BadData
		e.Hinted("the file is damaged: restore it from a copy and reconcile it")
	case sqlite3.SQLITE_IOERR:
		e.Hinted("reading or writing failed: is the disk full or failing? nothing was answered")
	case sqlite3.SQLITE_CONSTRAINT:
		e.Hinted("the ledger refuses what would break its rules: verify it")
	case sqlite3.SQLITE_ERROR, sqlite3.SQLITE_SCHEMA:
		e.Kind = noren.BadData
		e.Hinted("its tables are not those of a ledger: verify it, or restore it from a copy")
	}
	return e
}
