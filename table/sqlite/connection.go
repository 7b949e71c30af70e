package sqlite

import (
	"context"
	"errors"
	"strings"
	"sync/atomic"
	"unsafe"

	"modernc.org/libc"
	_ "modernc.org/sqlite" // prepares the library for use from Go
	lib "modernc.org/sqlite/lib"

	"github.com/noren-privacy/noren"
)

// connection reads one database file. It uses the library below database/sql, which can
// neither stop a statement that makes no row nor see how large a value is before it copies it.
type connection struct {
	tls   *libc.TLS
	db    uintptr
	state *state // in memory of the library
	stop  func() // the watch of the context
}

// state is what the library sees of a connection. It is in memory of the library, as Go moves
// its stacks, and has no pointer of Go.
type state struct {
	stopped atomic.Int32 // the context has ended
	listing int32        // the schema is being read
	steps   int64        // calls of progress that are left; unbounded where negative
	out     uintptr      // what a call makes
	tail    uintptr      // the end of what a call has read
}

// stateBytes is the memory of a state.
const stateBytes = 64

var _ [stateBytes - unsafe.Sizeof(state{})]byte

// resultCode is a code of the library that is no success.
type resultCode int32

// Error implements error.
func (c resultCode) Error() string { return c.Text().String() }

// Text is what the error says.
func (c resultCode) Text() noren.Text { return noren.Textf("SQLite failed") }

// errLong is the error about a statement that takes more to be prepared than is allowed.
var errLong = errors.New("takes too much to be prepared")

// at is the address of memory of the library, which Go's collector does not know.
func at(p uintptr) unsafe.Pointer { return *(*unsafe.Pointer)(unsafe.Pointer(&p)) }

func function[F any](f F) uintptr { return *(*uintptr)(unsafe.Pointer(&struct{ f F }{f})) }

const (
	between  = 1000 // operations between two calls of progress
	patience = 5000 // milliseconds for another program's lock
)

// open opens a file for reading alone. No value and no record is longer than length bytes.
func open(ctx context.Context, path string, length int64) (*connection, error) {
	c := &connection{tls: libc.NewTLS()}
	p := libc.Xcalloc(c.tls, 1, stateBytes)
	if p == 0 {
		c.tls.Close()
		return nil, resultCode(lib.SQLITE_NOMEM)
	}
	c.state = (*state)(at(p))
	c.state.steps = -1
	watched := make(chan struct{})
	stop := context.AfterFunc(ctx, func() {
		defer close(watched)
		c.state.stopped.Store(1)
	})
	c.stop = func() {
		if !stop() {
			<-watched
		}
	}
	if err := c.open(path, length); err != nil {
		c.close()
		return nil, err
	}
	return c, nil
}

func (c *connection) open(path string, length int64) error {
	name, err := libc.CString(path)
	if err != nil {
		return resultCode(lib.SQLITE_NOMEM)
	}
	defer libc.Xfree(c.tls, name)
	code := lib.Xsqlite3_open_v2(c.tls, name, uintptr(unsafe.Pointer(&c.state.out)), lib.SQLITE_OPEN_READONLY|lib.SQLITE_OPEN_FULLMUTEX, 0)
	c.db = c.state.out
	if code != lib.SQLITE_OK {
		return resultCode(code)
	}
	db := c.db
	lib.Xsqlite3_busy_timeout(c.tls, db, patience)
	for limit, most := range map[int32]int64{
		lib.SQLITE_LIMIT_LENGTH:         length,
		lib.SQLITE_LIMIT_SQL_LENGTH:     maxStatement,
		lib.SQLITE_LIMIT_PARSER_DEPTH:   200,
		lib.SQLITE_LIMIT_ATTACHED:       0,
		lib.SQLITE_LIMIT_WORKER_THREADS: 0,
	} {
		lib.Xsqlite3_limit(c.tls, db, limit, int32(most))
	}
	list := libc.Xmalloc(c.tls, 2*8)
	if list == 0 {
		return resultCode(lib.SQLITE_NOMEM)
	}
	defer libc.Xfree(c.tls, list)
	for setting, value := range map[int32]int32{lib.SQLITE_DBCONFIG_DEFENSIVE: 1, lib.SQLITE_DBCONFIG_TRUSTED_SCHEMA: 0} {
		if code := lib.Xsqlite3_db_config(c.tls, db, setting, libc.VaList(list, value, uintptr(0))); code != lib.SQLITE_OK {
			return resultCode(code)
		}
	}
	arg := uintptr(unsafe.Pointer(c.state))
	lib.Xsqlite3_progress_handler(c.tls, db, between, function(progress), arg)
	lib.Xsqlite3_set_authorizer(c.tls, db, function(authorize), arg)
	return nil
}

func (c *connection) close() {
	c.stop()
	lib.Xsqlite3_close_v2(c.tls, c.db)
	libc.Xfree(c.tls, uintptr(unsafe.Pointer(c.state)))
	c.tls.Close()
}

// progress ends a statement, by a result other than 0, where the context has ended or its
// steps are used up.
func progress(_ *libc.TLS, arg uintptr) int32 {
	s := (*state)(at(arg))
	if s.steps == 0 {
		return 1
	}
	if s.steps > 0 {
		s.steps--
	}
	return s.stopped.Load()
}

// authorize allows what reads tables: no other database, no setting and, once the tables
// are listed, none of the tables that SQLite keeps for itself. Their samples of indexes are
// not loaded, which can be larger than all else.
func authorize(_ *libc.TLS, arg uintptr, action int32, name, _, _, _ uintptr) int32 {
	s := (*state)(at(arg))
	switch action {
	case lib.SQLITE_SELECT, lib.SQLITE_FUNCTION, lib.SQLITE_RECURSIVE:
		return lib.SQLITE_OK
	case lib.SQLITE_TRANSACTION:
		if s.listing != 0 {
			return lib.SQLITE_OK
		}
	case lib.SQLITE_READ:
		switch table := strings.ToLower(libc.GoString(name)); {
		case s.listing != 0 && (table == "sqlite_master" || table == "sqlite_stat1"):
			return lib.SQLITE_OK
		case !own(table) && table != "dbstat":
			return lib.SQLITE_OK
		}
	}
	return lib.SQLITE_DENY
}

// statement is one query.
type statement struct {
	c *connection
	p uintptr
}

// prepare makes a statement of the first query of text, and reports whether text ends
// with it. Making it takes steps calls of progress at most; unbounded where negative.
func (c *connection) prepare(text string, steps int64) (s *statement, whole bool, err error) {
	sql, err := libc.CString(text)
	if err != nil {
		return nil, false, resultCode(lib.SQLITE_NOMEM)
	}
	defer libc.Xfree(c.tls, sql)
	c.state.steps = steps
	code := lib.Xsqlite3_prepare_v2(c.tls, c.db, sql, -1, uintptr(unsafe.Pointer(&c.state.out)), uintptr(unsafe.Pointer(&c.state.tail)))
	spent := c.state.steps == 0
	c.state.steps = -1
	switch {
	case code == lib.SQLITE_INTERRUPT && spent, code == lib.SQLITE_ERROR && c.limited():
		return nil, false, errLong
	case code != lib.SQLITE_OK:
		return nil, false, resultCode(code)
	}
	return &statement{c, c.state.out}, int(c.state.tail-sql) == len(text), nil
}

// limited reports whether the last error is about a limit of the library itself, on what a
// statement holds and how deep it nests. Only its text says so.
func (c *connection) limited() bool {
	text := libc.GoString(lib.Xsqlite3_errmsg(c.tls, c.db))
	for _, start := range []string{
		"too many ", "VIEWs and/or subqueries nested too deep", "Recursion limit", "Expression tree is too large",
		"parser stack overflow",
	} {
		if strings.HasPrefix(text, start) {
			return true
		}
	}
	return false
}

func (s *statement) close() { lib.Xsqlite3_finalize(s.c.tls, s.p) }

// step reports whether there is a further row.
func (s *statement) step() (bool, error) {
	switch code := lib.Xsqlite3_step(s.c.tls, s.p); code {
	case lib.SQLITE_ROW:
		return true, nil
	case lib.SQLITE_DONE:
		return false, nil
	default:
		return false, resultCode(code)
	}
}

func (s *statement) columns() int { return int(lib.Xsqlite3_column_count(s.c.tls, s.p)) }

func (s *statement) name(i int) string {
	return libc.GoString(lib.Xsqlite3_column_name(s.c.tls, s.p, int32(i)))
}

// declared is the declared type of a column, empty for an expression.
func (s *statement) declared(i int) string {
	return libc.GoString(lib.Xsqlite3_column_decltype(s.c.tls, s.p, int32(i)))
}

func (s *statement) kind(i int) int32 { return lib.Xsqlite3_column_type(s.c.tls, s.p, int32(i)) }

func (s *statement) integer(i int) int64 { return lib.Xsqlite3_column_int64(s.c.tls, s.p, int32(i)) }

func (s *statement) float(i int) float64 { return lib.Xsqlite3_column_double(s.c.tls, s.p, int32(i)) }

// size is the number of bytes of a text or of bytes.
func (s *statement) size(i int) int64 {
	return int64(lib.Xsqlite3_column_bytes(s.c.tls, s.p, int32(i)))
}

// bytes are those of a text, or bytes, until the next step. They are not to be changed.
func (s *statement) bytes(i int) []byte {
	var p uintptr
	if s.kind(i) == lib.SQLITE_BLOB {
		p = lib.Xsqlite3_column_blob(s.c.tls, s.p, int32(i))
	} else {
		p = lib.Xsqlite3_column_text(s.c.tls, s.p, int32(i))
	}
	n := s.size(i)
	if p == 0 || n == 0 {
		return nil
	}
	return unsafe.Slice((*byte)(at(p)), n)
}
