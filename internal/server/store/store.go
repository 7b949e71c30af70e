// Package store keeps the state of a server in one SQLite file: principals, grants,
// tokens, sessions, links, and the head of the audit log. It alone knows the server's SQL.
//
// Time: [Store.Now] never runs back, not even when the clock of the machine is set back
// or the server starts again. A session, link or token that has ended stays ended, and what
// passed while no process was looking is taken from their lives where Now does not know it.
package store

import (
	"context"
	"crypto/rand"
	"database/sql"
	"embed"
	"encoding/base32"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/pressly/goose/v3"
	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"

	"github.com/noren-privacy/noren"
	"github.com/noren-privacy/noren/internal/bootclock"
	"github.com/noren-privacy/noren/internal/statements"
)

//go:embed migrations/*.sql
var migrations embed.FS

// applicationID marks a SQLite file as a server's store ("NORS").
const applicationID = 0x4e4f5253

// ErrNotFound is the cause of errors about a row that does not exist.
var ErrNotFound = errors.New("there is no such entry")

// Store is an open store. Its methods may be called by several goroutines, and several
// processes may open one file. Close it.
type Store struct {
	path  string
	db    *sql.DB // the one connection that writes
	reads *sql.DB // connections that read beside it
	clock Clock

	mu   sync.Mutex
	base int64         // the greatest time that was seen, milliseconds since 1970
	from time.Duration // the elapsed time when it was seen

	jump   int64         // the greatest recent move forward beyond the elapsed time, milliseconds
	jumped time.Duration // the elapsed time when it was seen
}

// Clock is what a store measures time by.
type Clock struct {
	// Wall is the time of the machine, which may be set back.
	Wall func() time.Time
	// Elapsed is a time that only moves forward, from any start.
	Elapsed func() time.Duration
	// Boot names the start from which Elapsed counts, where processes have it in common;
	// "" where each has its own.
	Boot string
}

// SystemClock is the clock of the machine.
func SystemClock() Clock {
	if boot, since := bootclock.New(); boot != "" {
		return Clock{Wall: func() time.Time { return time.Now().Round(0) }, Elapsed: since, Boot: boot}
	}
	start := time.Now()
	return Clock{
		Wall:    func() time.Time { return time.Now().Round(0) },
		Elapsed: func() time.Duration { return time.Since(start) },
	}
}

// Open opens the store at path, and makes it with mode 0600 where there is none.
func Open(ctx context.Context, path string, clock Clock) (*Store, error) {
	if f, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600); err == nil {
		if err := f.Close(); err != nil {
			return nil, failed("the server's store cannot be made", err)
		}
	} else if !errors.Is(err, fs.ErrExist) {
		return nil, failed("the server's store cannot be made", err)
	}
	// SQLite has one writer; goroutines queue for its connection.
	db, err := openDB(path, true, 1)
	if err != nil {
		return nil, failed("the server's store cannot be opened", err)
	}
	reads, err := openDB(path, false, readers)
	if err != nil {
		return nil, failed("the server's store cannot be opened", errors.Join(err, db.Close()))
	}
	s := &Store{path: path, db: db, reads: reads, clock: clock}
	if err := s.start(ctx); err != nil {
		_ = s.Close()
		return nil, damaged(err)
	}
	return s, nil
}

// damaged names a file that is no sound database; other errors stay as they are.
func damaged(err error) error {
	var e *sqlite.Error
	if !errors.As(err, &e) {
		return err
	}
	if code := e.Code() & 0xff; code != sqlite3.SQLITE_CORRUPT && code != sqlite3.SQLITE_NOTADB {
		return err
	}
	return &noren.Error{Kind: noren.BadData, Where: "server.db", What: "is damaged", Err: err, Hint: "put its newest copy back"}
}

// readers is the number of connections that read beside the writer.
const readers = 4

func openDB(path string, writes bool, connections int) (*sql.DB, error) {
	abs, err := filepath.Abs(path)
	if err != nil {
		return nil, err
	}
	abs = filepath.ToSlash(abs)
	if !strings.HasPrefix(abs, "/") {
		abs = "/" + abs // C:/...
	}
	q := url.Values{"mode": {"rw"}, "_pragma": {
		"busy_timeout(500)", "synchronous(FULL)", "foreign_keys(1)",
		"recursive_triggers(1)", "trusted_schema(0)", "cell_size_check(1)",
	}}
	if writes {
		q.Set("_txlock", "immediate")
	} else {
		q.Add("_pragma", "query_only(1)")
	}
	connector, err := sqlite.NewConnector((&url.URL{Scheme: "file", Path: abs, RawQuery: q.Encode()}).String())
	if err != nil {
		return nil, err
	}
	db := sql.OpenDB(statements.Keeping(connector))
	db.SetMaxOpenConns(connections)
	db.SetMaxIdleConns(connections)
	return db, nil
}

func (s *Store) start(ctx context.Context) error {
	var app, tables int64
	err := s.retry(ctx, func() error {
		if err := s.db.QueryRowContext(ctx, "PRAGMA application_id").Scan(&app); err != nil {
			return err
		}
		return s.db.QueryRowContext(ctx, "SELECT count(*) FROM sqlite_schema").Scan(&tables)
	})
	if err != nil {
		return failed("the server's store cannot be read", err)
	}
	switch {
	case app == 0 && tables == 0:
		for _, pragma := range []string{fmt.Sprintf("PRAGMA application_id = %d", applicationID), "PRAGMA journal_mode = WAL"} {
			if err := s.retry(ctx, func() error { _, err := s.db.ExecContext(ctx, pragma); return err }); err != nil {
				return failed("the server's store cannot be made", err)
			}
		}
	case app != applicationID:
		return &noren.Error{
			Kind: noren.BadData, Where: noren.File(filepath.Base(s.path)), What: "is a database and not the store of a server",
			Hint: "choose another folder",
		}
	}
	if err := s.sound(ctx); err != nil {
		return err
	}
	dir, err := fs.Sub(migrations, "migrations")
	if err != nil {
		return failed("the server's store cannot be read", err)
	}
	m, err := goose.NewProvider(goose.DialectSQLite3, s.db, dir, goose.WithDisableGlobalRegistry(true),
		goose.WithSlog(slog.New(slog.DiscardHandler)))
	if err != nil {
		return failed("the server's store cannot be read", err)
	}
	if tables > 0 {
		if err := s.versioned(ctx, m.ListSources()); err != nil {
			return err
		}
	}
	have, want, err := m.GetVersions(ctx)
	if err != nil {
		return failed("the version of the server's store cannot be read", err)
	}
	if have > want {
		return noren.Usagef(noren.File(filepath.Base(s.path)), "expected schema version %d or lower, got %d", want, have).
			Hinted("a newer noren made it: use that one")
	}
	if err := s.retry(ctx, func() error { _, err := m.Up(ctx); return err }); err != nil {
		return failed("the server's store cannot be brought to this version", err)
	}
	s.base, s.from = s.clock.Wall().UnixMilli(), s.clock.Elapsed()
	if err := s.goOn(ctx); err != nil {
		return err
	}
	s.jump = 0 // the time of an earlier process is no jump
	return nil
}

// sound fails where pages of the file do not fit together, as after it was cut, or where an index does not have
// the rows of its table.
func (s *Store) sound(ctx context.Context) error {
	var found string
	err := s.retry(ctx, func() error { return s.db.QueryRowContext(ctx, "PRAGMA integrity_check(1)").Scan(&found) })
	if err != nil {
		return failed("the server's store cannot be read", err)
	}
	if found != "ok" {
		return s.unsound()
	}
	return nil
}

func (s *Store) unsound() error {
	return &noren.Error{Kind: noren.BadData, Where: noren.File(filepath.Base(s.path)), What: "is damaged", Hint: "put its newest copy back"}
}

// versioned fails where the table of versions does not hold the first of those that this program knows, or all of
// them and later ones, in their order: the page of another table is in its place.
func (s *Store) versioned(ctx context.Context, sources []*goose.Source) error {
	known := []int64{0}
	for _, x := range sources {
		known = append(known, x.Version)
	}
	var has []int64
	err := s.retry(ctx, func() error {
		has = nil
		rows, err := s.db.QueryContext(ctx,
			`SELECT iif(is_applied = 1 AND typeof(version_id) = 'integer', version_id, -1) FROM goose_db_version ORDER BY id`)
		if err != nil {
			return err
		}
		defer func() { _ = rows.Close() }()
		for rows.Next() {
			var v int64
			if err := rows.Scan(&v); err != nil {
				return err
			}
			has = append(has, v)
		}
		return rows.Err()
	})
	if err != nil {
		return failed("the version of the server's store cannot be read", err)
	}
	n := min(len(has), len(known))
	if n == 0 || !slices.Equal(has[:n], known[:n]) || !slices.IsSorted(has) {
		return s.unsound()
	}
	return nil
}

// Close closes the file.
func (s *Store) Close() error {
	if err := errors.Join(s.reads.Close(), s.db.Close()); err != nil {
		return failed("the server's store cannot be closed", err)
	}
	return nil
}

// Now is the greatest time that any process of this store has seen, moved on by the
// time that has passed since: it never runs back and never stands still.
func (s *Store) Now() time.Time { return time.UnixMilli(s.now()).UTC() }

func (s *Store) now() int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.seen(s.clock.Wall().UnixMilli())
}

// seen moves the time on to at least the one given. The lock is held.
func (s *Store) seen(at int64) int64 {
	passed := (s.clock.Elapsed() - s.from).Milliseconds()
	s.from += time.Duration(passed) * time.Millisecond // the rest of a millisecond counts later
	s.base += passed
	if at > s.base {
		if at-s.base > s.jump || s.from-s.jumped > jumpShown {
			s.jump, s.jumped = at-s.base, s.from
		}
		s.base = at
	}
	return s.base
}

// Second is [Store.Now] in whole seconds, as documents hold it.
func (s *Store) Second() time.Time { return s.Now().Truncate(time.Second) }

// Ahead is how far the store's time is ahead of the machine's clock: more than a moment
// where the clock was set back.
func (s *Store) Ahead() time.Duration {
	wall := s.clock.Wall().UnixMilli()
	return time.Duration(s.now()-wall) * time.Millisecond
}

// jumpShown is how long a move forward of the clock is recent.
const jumpShown = time.Hour

// Jump is the greatest move forward of the machine's clock in the last hour, beyond the
// time that passed, and since the store was opened.
func (s *Store) Jump() time.Duration {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.clock.Elapsed()-s.jumped > jumpShown {
		return 0
	}
	return time.Duration(s.jump) * time.Millisecond
}

// Tx is a transaction that writes. Now is its time, in milliseconds since 1970.
type Tx struct {
	Now int64

	tx *sql.Tx
}

// run runs one statement. Queries are constants.
func (tx *Tx) run(ctx context.Context, query string, args ...any) (sql.Result, error) {
	return tx.tx.ExecContext(ctx, query, args...)
}

// row makes a query and reads its one row.
func (tx *Tx) row(ctx context.Context, query string, args []any, to ...any) error {
	return tx.tx.QueryRowContext(ctx, query, args...).Scan(to...)
}

// exec runs one statement.
func (tx *Tx) exec(ctx context.Context, query string, args ...any) error {
	_, err := tx.run(ctx, query, args...)
	return err
}

// changed runs one statement and reports whether it changed a row.
func (tx *Tx) changed(ctx context.Context, query string, args ...any) (bool, error) {
	r, err := tx.run(ctx, query, args...)
	if err != nil {
		return false, err
	}
	n, err := r.RowsAffected()
	return n > 0, err
}

// Write runs do in one immediate transaction, which no other process can be in at the
// same time, and commits or leaves nothing changed. An error of do is returned as it is.
func (s *Store) Write(ctx context.Context, do func(ctx context.Context, tx *Tx) error) error {
	var tx *sql.Tx
	err := s.retry(ctx, func() (err error) {
		tx, err = s.db.BeginTx(ctx, nil)
		return err
	})
	if err != nil {
		return failed("the server's store cannot be written", err)
	}
	defer func() { _ = tx.Rollback() }()
	in := &Tx{tx: tx}
	var stored int64
	if err := in.row(ctx, "SELECT coalesce(max(last_seen), 0) FROM server", nil, &stored); err != nil {
		return failed("the server's store cannot be read", err)
	}
	s.mu.Lock()
	in.Now = s.seen(max(stored, s.clock.Wall().UnixMilli()))
	s.mu.Unlock()
	if err := in.setTime(ctx, s.clock); err != nil {
		return failed("the server's store cannot be written", err)
	}
	if err := do(ctx, in); err != nil {
		var e *noren.Error
		if errors.As(err, &e) || errors.Is(err, ErrNotFound) || errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
			return err
		}
		return failed("the server's store cannot be written", err)
	}
	if err := tx.Commit(); err != nil {
		return failed("the server's store cannot be written", err)
	}
	return nil
}

// retry repeats do while other processes hold the file, at most for 10 s.
func (s *Store) retry(ctx context.Context, do func() error) error {
	for start := time.Now(); ; {
		err := do()
		var e *sqlite.Error
		if err == nil || !errors.As(err, &e) || e.Code()&0xff != sqlite3.SQLITE_BUSY || time.Since(start) > 10*time.Second {
			return err
		}
		if ctx.Err() != nil {
			return ctx.Err()
		}
	}
}

// interrupted reports whether err is the end of a request, or what the database makes of it: package database/sql
// ends a transaction with its context and then says only that it is done, and SQLite stops a statement.
func interrupted(err error) bool {
	if errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) || errors.Is(err, sql.ErrTxDone) {
		return true
	}
	var s *sqlite.Error
	return errors.As(err, &s) && s.Code()&0xff == sqlite3.SQLITE_INTERRUPT
}

// failed is an error of the store. Its text names no path.
func failed(what noren.Format, err error) error {
	if interrupted(err) {
		if !errors.Is(err, context.DeadlineExceeded) {
			err = context.Canceled
		}
		return &noren.Error{Kind: noren.Interrupted, What: what, Err: err}
	}
	var p *fs.PathError
	if errors.As(err, &p) {
		err = p.Err
	}
	var s *sqlite.Error
	if errors.As(err, &s) && s.Code()&0xff == sqlite3.SQLITE_FULL {
		err = fmt.Errorf("%w: %w", syscall.ENOSPC, err)
	}
	return &noren.Error{Where: "store", What: what, Err: err}
}

// found turns the absence of a row into [ErrNotFound].
func found(err error) error {
	if errors.Is(err, sql.ErrNoRows) {
		return ErrNotFound
	}
	if err != nil {
		return failed("the server's store cannot be read", err)
	}
	return nil
}

// idEncoding is lower-case base32 without padding.
var idEncoding = base32.NewEncoding("abcdefghijklmnopqrstuvwxyz234567").WithPadding(base32.NoPadding)

// NewID is a new random id: the prefix, "_" and 16 lower-case base32 characters, which
// hold 80 random bits.
func NewID(prefix string) string { return prefix + "_" + idEncoding.EncodeToString(random(10)) }

// NewSecret is a new random secret of 256 bits: 52 lower-case base32 characters.
func NewSecret() string { return idEncoding.EncodeToString(random(32)) }

// NewSeed is a new random seed of a release: 128 bits as 32 hexadecimal digits.
func NewSeed() string { return hex.EncodeToString(random(16)) }

func random(n int) []byte {
	b := make([]byte, n)
	_, _ = rand.Read(b) // never fails: package crypto/rand stops the program instead
	return b
}

// ValidID reports whether a text has the form of an id with the prefix.
func ValidID(prefix, id string) bool {
	rest, ok := strings.CutPrefix(id, prefix+"_")
	if !ok || len(rest) != 16 {
		return false
	}
	for i := range len(rest) {
		if c := rest[i]; (c < 'a' || c > 'z') && (c < '2' || c > '7') {
			return false
		}
	}
	return true
}

// day is the date of a time in milliseconds.
func day(ms int64) string { return time.UnixMilli(ms).UTC().Format(time.DateOnly) }
