package ledger

import (
	"context"
	"crypto/rand"
	"database/sql"
	"encoding/hex"
	"errors"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"

	"github.com/noren-privacy/noren"
	"github.com/noren-privacy/noren/internal/statements"
	"github.com/noren-privacy/noren/internal/tempfile"
)

// Options are what a ledger is opened with; the zero value serves.
type Options struct {
	// Lease is how long a reservation outlives the last sign of life of its
	// process. Defaults to 30 s.
	Lease time.Duration
	// Wait is how long to wait for other processes that write. Defaults to 30 s.
	Wait time.Duration
	// Anchor is the path of a file outside the ledger's folder that holds the number and
	// the hash of the last entry. Once there is one, the ledger notes its path, and every
	// process compares it and keeps it up. Defaults to the path that was noted.
	Anchor string
	// Relative keeps the paths of files within the folder of the ledger relative to it: the
	// folder can be moved or copied with its tables. Paths that are kept so are read by any
	// process.
	Relative bool
	// Beside is the last entry of a log that is kept beside the ledger. It is noted with each
	// entry of the ledger: see [Ledger.LastBeside]. It must not wait. Optional.
	Beside func() Beside
}

// Ledger is an open budget ledger. Its methods may be called by several
// goroutines at once. Close it.
type Ledger struct {
	path    string
	db      *sql.DB // the one connection that writes
	readers *sql.DB // see the state of one moment, beside the writer
	// balances has connections of its own: the wait for one is short,
	// whatever long reads are under way.
	balances *sql.DB
	id       string
	secret   []byte
	opts     Options
	clock    clock

	anchor string // the path of the anchor; "" without one

	sealMu sync.Mutex
	sealed error

	groupMu sync.Mutex
	queue   []*job // that wait for a transaction
	leading bool   // one of them has the lead

	held      holds
	answering active

	life context.Context // ends with Close; heartbeats live in it
	end  context.CancelFunc
	work sync.WaitGroup

	deleted chan struct{} // secrets of noise were, and the log still has them

	headMu  sync.Mutex
	headSeq int64 // the last entry that this process has synced to the head file

	step func(string) // told each step of the protocol; tests die there
}

// dsn is the data source of the database file at path, which must exist.
func dsn(path string, writes bool) (string, error) {
	abs, err := filepath.Abs(path)
	if err != nil {
		return "", err
	}
	abs = filepath.ToSlash(abs)
	if !strings.HasPrefix(abs, "/") {
		abs = "/" + abs // C:/...
	}
	q := url.Values{"mode": {"rw"}, "_pragma": {
		// Busy waits are short, so that a context is heard in between: see begin.
		"busy_timeout(500)", "synchronous(FULL)", "foreign_keys(1)",
		// REPLACE would delete rows behind the triggers' back without this.
		"recursive_triggers(1)",
		// A secret that is deleted leaves no copy in free pages.
		"secure_delete(1)",
		"trusted_schema(0)", "cell_size_check(1)",
	}}
	if writes {
		q.Set("_txlock", "immediate")
	} else {
		q.Add("_pragma", "query_only(1)")
	}
	return (&url.URL{Scheme: "file", Path: abs, RawQuery: q.Encode()}).String(), nil
}

func openDB(path string) (*sql.DB, error) {
	// SQLite has one writer; within the process goroutines queue fairly here
	// and do not poll one another's locks.
	return connect(path, true, 1)
}

// maxReaders is the number of connections that read beside the writer.
const maxReaders = 4

func connect(path string, writes bool, connections int) (*sql.DB, error) {
	name, err := dsn(path, writes)
	if err != nil {
		return nil, err
	}
	connector, err := sqlite.NewConnector(name)
	if err != nil {
		return nil, err
	}
	db := sql.OpenDB(statements.Keeping(connector))
	db.SetMaxOpenConns(connections)
	db.SetMaxIdleConns(connections)
	return db, nil
}

// Open opens the ledger at path. It compares the accounts and data sets with the
// chain, from the last checkpoint on, and forfeits reservations whose lease has
// run out. A ledger that does not contain its known head, or whose accounts are
// not as the chain says, opens all the same and is sealed: see [Ledger.Sealed].
// A ledger of an older schema is brought up to this one; the first time its
// whole chain is replayed. Faults of the file are of kind Usage (not
// there, not to be written, of another schema) or BadData (no ledger, or
// damaged), each with a hint.
func Open(ctx context.Context, path string, opts Options) (*Ledger, error) {
	return open(ctx, path, opts, systemClock())
}

func open(ctx context.Context, path string, opts Options, c clock) (*Ledger, error) {
	return openStepping(ctx, path, opts, c, nil)
}

// openStepping tells step where opening stands.
func openStepping(ctx context.Context, path string, opts Options, c clock, step func(string)) (*Ledger, error) {
	if opts.Lease <= 0 {
		opts.Lease = 30 * time.Second
	}
	if opts.Wait <= 0 {
		opts.Wait = 30 * time.Second
	}
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, &noren.Error{
			Kind: noren.Usage, Where: noren.File(path), What: "there is no ledger", Code: "ledger-missing",
			Hint: "create one first, or choose another file", Err: fs.ErrNotExist,
		}
	case err != nil:
		return nil, fileError(path, "cannot be opened", err)
	case info.IsDir():
		return nil, noren.Usagef(noren.File(path), "is a folder").Hinted("name the ledger's file")
	case info.Size() == 0:
		return nil, &noren.Error{
			Kind: noren.BadData, Where: noren.File(path), What: "is empty and not a ledger",
			Hint: "restore the ledger from a copy",
		}
	}
	// The head file lies beside the file itself, by whatever name it is opened
	// and wherever the process goes afterwards.
	if path, err = filepath.EvalSymlinks(path); err == nil {
		path, err = filepath.Abs(path)
	}
	if err != nil {
		return nil, fileError(path, "cannot be opened", err)
	}
	for _, name := range []string{path + "-wal", path + "-shm"} {
		// SQLite follows a link to its journal, and takes what it leads to for charges.
		if info, err := os.Lstat(name); err == nil && !info.Mode().IsRegular() {
			return nil, noren.Usagef(noren.File(name), "expected a file, got a link or another kind of entry").
				Hinted("put the file itself in its place")
		}
	}
	for _, name := range []string{path, headPath(path)} {
		// SQLite keeps a journal for each name of a file: with two journals charges are lost.
		if tempfile.SecondName(name) {
			return nil, noren.Usagef(noren.File(name), "the file has a second name, a hard link: what is written to it changes both").
				Hinted("put a copy of the file in its place, and copy folders without links")
		}
	}
	db, err := openDB(path)
	if err != nil {
		return nil, fail(path, "cannot be opened", err)
	}
	readers, err := connect(path, false, maxReaders)
	if err != nil {
		return nil, errors.Join(fail(path, "cannot be opened", err), db.Close())
	}
	balances, err := connect(path, false, maxReaders)
	if err != nil {
		return nil, errors.Join(err, readers.Close(), db.Close())
	}
	l := &Ledger{path: path, db: db, readers: readers, balances: balances, opts: opts, clock: c, step: step, deleted: make(chan struct{}, 1)}
	l.life, l.end = context.WithCancel(context.Background())
	if err := l.start(ctx); err != nil {
		l.end()
		readers.Close()
		balances.Close()
		db.Close()
		return nil, err
	}
	l.eraseSoon() // a process that was killed may have left its log
	l.work.Go(l.eraseLater)
	return l, nil
}

func (l *Ledger) start(ctx context.Context) error {
	if err := l.checkSchema(ctx); err != nil {
		return err
	}
	err := l.db.QueryRowContext(ctx, "SELECT id, secret FROM ledger").Scan(&l.id, &l.secret)
	if errors.Is(err, sql.ErrNoRows) {
		return &noren.Error{
			Kind: noren.BadData, Where: noren.File(l.path), What: "is a ledger that was never completed, or has been emptied",
			Hint: "restore it from a copy and reconcile it",
		}
	}
	if err != nil {
		return fail(l.path, "cannot be read", err)
	}
	known, err := l.findAnchor(ctx)
	if err != nil {
		return err
	}
	err = l.checkSeal(ctx, known)
	var sealed *SealedError
	if errors.As(err, &sealed) {
		l.setSealed(err)
		return nil
	}
	if err != nil {
		return err
	}
	err = l.write(ctx, "the accounts were not compared with the chain", func(ctx context.Context, tx *sql.Tx, now int64) error {
		if err := l.audit(ctx, tx); err != nil {
			return err
		}
		l.at("audited")
		if err := l.keepAnchor(ctx, tx, known); err != nil {
			return err
		}
		return l.sweep(ctx, tx, now)
	})
	if errors.As(err, &sealed) {
		l.setSealed(err)
		return nil
	}
	return err
}

// checkSchema makes sure that the file is a ledger of this program's schema
// version, and brings an older one up to it.
func (l *Ledger) checkSchema(ctx context.Context) error {
	var app int64
	if err := l.retry(ctx, func() error {
		return l.db.QueryRowContext(ctx, "PRAGMA application_id").Scan(&app)
	}); err != nil {
		return fail(l.path, "cannot be read", err)
	}
	if app != applicationID {
		return &noren.Error{
			Kind: noren.BadData, Where: noren.File(l.path), What: "is a database and not a ledger",
			Hint: "choose the ledger's file",
		}
	}
	m, err := migrator(l.db)
	if err != nil {
		return fail(l.path, "cannot be read", err)
	}
	have, want, err := m.GetVersions(ctx)
	if err != nil {
		return fail(l.path, "its schema version cannot be read", err)
	}
	if have > want {
		return noren.Usagef(noren.File(l.path), "has schema version %d and this program knows up to %d", have, want).
			Hinted("a newer noren made it: use that one")
	}
	for have < want {
		l.at("migrate")
		err := l.retry(ctx, func() error {
			_, err := m.Up(ctx)
			return err
		})
		l.at("migrated")
		if err == nil {
			return nil
		}
		// Another process may have done a part of it at the same time, or all.
		now, _, again := m.GetVersions(ctx)
		if again != nil || now <= have {
			return fail(l.path, "cannot be brought from schema version %d to %d", err, have, want)
		}
		have = now
	}
	return nil
}

// Close ends the renewal of all leases and closes the file. Reservations that
// are still open will be forfeited by the first process that opens the ledger after their
// lease.
func (l *Ledger) Close() error {
	l.end()
	l.work.Wait()
	// The writer last: it puts what is in the log into the file.
	if err := errors.Join(l.balances.Close(), l.readers.Close(), l.db.Close()); err != nil {
		return fail(l.path, "cannot be closed", err)
	}
	return nil
}

// ID returns the ledger's own random id.
func (l *Ledger) ID() string { return l.id }

// at tells the tests where the protocol stands.
func (l *Ledger) at(step string) {
	if l.step != nil {
		l.step(step)
	}
}

// retry repeats do while the database is locked by others, at most for the
// time of Options.Wait.
func (l *Ledger) retry(ctx context.Context, do func() error) error {
	return l.retrySince(ctx, time.Now(), do)
}

// retrySince is retry for work that has waited since start.
func (l *Ledger) retrySince(ctx context.Context, start time.Time, do func() error) error {
	for {
		err := do()
		var e *sqlite.Error
		if err == nil || !errors.As(err, &e) || e.Code()&0xff != sqlite3.SQLITE_BUSY || time.Since(start) > l.opts.Wait {
			return err
		}
		if ctx.Err() != nil {
			return ctx.Err()
		}
	}
}

// write runs do in one immediate transaction and commits, or leaves nothing
// changed. now is the ledger's time in milliseconds.
func (l *Ledger) write(ctx context.Context, what noren.Format, do func(ctx context.Context, tx *sql.Tx, now int64) error) error {
	var tx *sql.Tx
	err := l.retry(ctx, func() (err error) {
		tx, err = l.db.BeginTx(ctx, nil)
		return err
	})
	if err != nil {
		return fail(l.path, what, err)
	}
	defer tx.Rollback()
	now, err := l.tick(ctx, tx)
	if err != nil {
		return fail(l.path, what, err)
	}
	if err := do(ctx, tx, now); err != nil {
		return fail(l.path, what, err)
	}
	if err := tx.Commit(); err != nil {
		return fail(l.path, what, err)
	}
	return nil
}

func randomID() string {
	var b [16]byte
	rand.Read(b[:]) // never fails: package crypto/rand stops the program instead
	return hex.EncodeToString(b[:])
}
