package pg

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/noren-privacy/noren"
	"github.com/noren-privacy/noren/table"
	"github.com/noren-privacy/noren/table/spool"
)

// TargetOptions say which table is made.
type TargetOptions struct {
	// Table is its name, and must not exist unless Replace is set. Required.
	Table Name
	// Replace drops a table of that name, with the rights that were granted on
	// it.
	Replace bool
	// Service is an entry of the service file.
	Service string
	// Dir is the folder of temporary files. Defaults to the system's.
	Dir string
}

// Target is a table in the making, in a transaction that no other session sees.
// Discard gives it up; after Commit it does nothing.
type Target struct {
	o     TargetOptions
	conn  *pgconn.PgConn
	temp  Name
	where string
}

// Check reports what would keep the table from being made, before any work is
// done for it.
func Check(ctx context.Context, o TargetOptions) error {
	where := o.Table.shown()
	conn, err := connect(ctx, where, o.Service, "")
	if err != nil {
		return err
	}
	defer closeConn(conn)
	schema := ""
	if o.Table.Schema != "" {
		schema = quote(o.Table.Schema)
	}
	rows, err := readFew(ctx, conn.ExecParams(ctx, targetQuery, [][]byte{[]byte(o.Table.String()), []byte(schema)}, nil, nil, nil), 1, 5,
		where)
	if err != nil {
		return err
	}
	if len(rows) != 1 {
		return unasked(where)
	}
	kind, owner, known, create, readOnly := string(rows[0][0]), string(rows[0][1]), string(rows[0][2]), string(rows[0][3]), string(rows[0][4])
	switch {
	case readOnly == "on":
		return noren.Usagef(where, "the server only reads: no table can be made").
			Hinted("name the primary server in PGHOST, or look at default_transaction_read_only")
	case known != "t" && o.Table.Schema == "":
		return noren.Usagef(where, "no schema of the search path exists").Hinted("name the schema, as in pg:SCHEMA.TABLE")
	case known != "t":
		return noren.Usagef(where, "the schema does not exist").Hinted("create it in psql, or name another: pg:SCHEMA.TABLE")
	case create != "t":
		return noren.Usagef(where, "the user may not create a table in the schema").
			Hinted("its owner grants it in psql: GRANT CREATE ON SCHEMA; or name another schema: pg:SCHEMA.TABLE")
	case kind == "":
		return nil
	case !o.Replace:
		return &noren.Error{
			Kind: noren.Usage, Code: CodeExists, Where: where, What: "exists already",
			Hint: "choose another name, or allow it to be replaced",
		}
	case kind != "r":
		return &noren.Error{Kind: noren.Usage, Where: where, What: "is not an ordinary table and cannot be replaced", Hint: "choose another name"}
	case owner != "t":
		return noren.Usagef(where, "belongs to another user and cannot be replaced").Hinted("choose another name")
	}
	return nil
}

// targetQuery tells of a table in the making: the kind of a table of that name and whether
// it is the user's, whether the schema exists and the user may create in it, and whether
// the server only reads.
const targetQuery = `SELECT c.relkind, pg_has_role(c.relowner, 'USAGE'), s.oid IS NOT NULL, has_schema_privilege(s.oid, 'CREATE'), current_setting('transaction_read_only')
FROM (SELECT to_regnamespace(CASE WHEN $2::text = '' THEN quote_ident(current_schema()) ELSE $2 END)::oid AS oid) s
LEFT JOIN pg_catalog.pg_class c ON c.oid = to_regclass($1)`

// NewTarget describes a table; nothing is done yet.
func NewTarget(o TargetOptions) *Target {
	return &Target{o: o, where: o.Table.shown()}
}

// Create begins the table and returns where its records go.
func (t *Target) Create(ctx context.Context, columns []table.StoredColumn) (table.Sink, error) {
	conn, err := connect(ctx, t.where, t.o.Service, "")
	if err != nil {
		return nil, err
	}
	t.conn = conn
	t.temp = Name{t.o.Table.Schema, fmt.Sprintf("noren_%d_%d", os.Getpid(), time.Now().UnixNano())}
	var create strings.Builder
	fmt.Fprintf(&create, "CREATE TABLE %s (", t.temp)
	for i := range columns {
		if i > 0 {
			create.WriteString(", ")
		}
		fmt.Fprintf(&create, "%s %s", quote(columns[i].Name), typeOf(&columns[i]))
	}
	create.WriteString(")")
	for _, statement := range []string{"BEGIN" + session, create.String()} {
		if err := conn.Exec(ctx, statement).Close(); err != nil {
			t.Discard()
			return nil, failed(ctx, t.where, err, lost)
		}
	}
	s := &sink{t: t, ctx: ctx, columns: columns, done: make(chan error, 1)}
	for i := range columns {
		s.numeric = append(s.numeric, typeOf(&columns[i]) == "numeric")
		s.moments = append(s.moments, isMoment(&columns[i]))
	}
	out, in := io.Pipe()
	s.in = in
	go func() {
		_, err := conn.CopyFrom(ctx, out, "COPY "+t.temp.String()+" FROM STDIN")
		_ = out.CloseWithError(errStopped) // what is still written fails
		s.done <- err
	}()
	return s, nil
}

// ReadBack is the table as it was written.
func (t *Target) ReadBack(ctx context.Context) (*spool.Source, error) {
	return readAll(ctx, t.conn, "SELECT * FROM "+t.temp.String(), spool.Options{Name: t.where, Place: noren.Place{t.where}, Dir: t.o.Dir})
}

// Commit gives the table its name and ends the transaction: everything or
// nothing is done.
func (t *Target) Commit(ctx context.Context) error {
	var statements []string
	if t.o.Replace {
		statements = append(statements, "DROP TABLE IF EXISTS "+t.o.Table.String())
	}
	statements = append(statements, "ALTER TABLE "+t.temp.String()+" RENAME TO "+quote(t.o.Table.Table), "COMMIT")
	for _, statement := range statements {
		if err := t.conn.Exec(ctx, statement).Close(); err != nil {
			t.Discard()
			if statement == "COMMIT" && !answered(err) {
				return &noren.Error{
					Code: CodeUncertain, Where: t.where,
					What: "the connection was lost while the table was made: it may be there or not", Hint: "look whether it is there",
				}
			}
			return failed(ctx, t.where, err, "the connection was lost before the table was complete")
		}
	}
	t.Discard()
	return nil
}

// answered reports whether err is what the server said.
func answered(err error) bool {
	_, ok := errors.AsType[*pgconn.PgError](err)
	return ok
}

// Discard gives the table up: the server drops what was not committed.
func (t *Target) Discard() {
	if t.conn != nil {
		closeConn(t.conn)
		t.conn = nil
	}
}

var errStopped = io.ErrClosedPipe

// sink sends records in the text format of COPY.
type sink struct {
	t       *Target
	ctx     context.Context
	columns []table.StoredColumn
	numeric []bool
	moments []bool
	in      *io.PipeWriter
	done    chan error
	line    []byte
	cell    []byte
	records int64
	err     error
	closed  bool
}

// Write implements [table.Sink].
func (s *sink) Write(c *table.Chunk) error {
	if s.err == nil {
		s.err = s.write(c)
	}
	return s.err
}

func (s *sink) write(c *table.Chunk) error {
	if len(c.Cols) != len(s.columns) {
		return &noren.Error{
			Where: s.t.where, What: "got a chunk of %d {column|columns} for a table of %d",
			Args: []any{len(c.Cols), len(s.columns)},
		}
	}
	for row := range c.Rows {
		s.records++
		for i := range c.Cols {
			if i > 0 {
				s.line = append(s.line, '\t')
			}
			if c.Cols[i].IsNull(row) {
				s.line = append(s.line, '\\', 'N')
				continue
			}
			if s.moments[i] {
				var what noren.Format
				s.cell, what = appendMoment(s.cell[:0], s.columns[i].Logical, c.Cols[i].Ints[row])
				if what != "" {
					return s.bad(i, noren.Textf(what))
				}
			} else {
				s.cell = table.AppendText(s.cell[:0], &s.columns[i], &c.Cols[i], row)
			}
			if len(s.cell) == 0 && s.numeric[i] {
				// A text table shows a missing number by the empty text.
				s.line = append(s.line, '\\', 'N')
				continue
			}
			if bytes.IndexByte(s.cell, 0) >= 0 {
				return s.bad(i, noren.Textf("a text holds a NUL byte, which PostgreSQL cannot hold"))
			}
			s.line = appendEscaped(s.line, s.cell)
		}
		s.line = append(s.line, '\n')
		if len(s.line) >= 64<<10 {
			if err := s.flush(); err != nil {
				return err
			}
		}
	}
	return nil
}

// bad is an error about column i of the record that is being written.
func (s *sink) bad(i int, what noren.Text) error {
	at := noren.Position{File: s.t.where, Record: s.records, Field: i + 1, Column: s.columns[i].Name}
	return &noren.Error{Kind: noren.BadData, Where: at, What: what.Format, Args: what.Args}
}

// failed is [failed] for an error of COPY, with the record and column that the server names.
// Nothing else of what it says is shown: it repeats the value.
func (s *sink) failed(err error) error {
	var where any = s.t.where
	var p *pgconn.PgError
	if errors.As(err, &p) {
		if found := copyLine.FindStringSubmatch(p.Where); found != nil {
			record, _ := strconv.ParseInt(found[1], 10, 64)
			at := noren.Position{File: where, Record: record}
			for i := range s.columns {
				if name := s.columns[i].Name; strings.HasPrefix(found[2], name+":") && len(name) > len(at.Column) {
					at.Field, at.Column = i+1, name
				}
			}
			where = at
		}
	}
	return failed(s.ctx, where, err, "the connection was lost while it was written")
}

// copyLine finds the place in the server's context of an error of COPY.
var copyLine = regexp.MustCompile(`^COPY noren_[0-9_]+, line ([0-9]+)(?:, column )?(.*)`)

// appendEscaped appends a value as COPY reads it.
func appendEscaped(dst, text []byte) []byte {
	for _, c := range text {
		switch c {
		case '\\':
			dst = append(dst, '\\', '\\')
		case '\t':
			dst = append(dst, '\\', 't')
		case '\n':
			dst = append(dst, '\\', 'n')
		case '\r':
			dst = append(dst, '\\', 'r')
		default:
			dst = append(dst, c)
		}
	}
	return dst
}

func (s *sink) flush() error {
	if _, err := s.in.Write(s.line); err != nil {
		// The server ended the COPY: its reason is at the other end.
		s.closed = true
		return s.failed(<-s.done)
	}
	s.line = s.line[:0]
	return nil
}

// Close implements [table.Sink].
func (s *sink) Close() error {
	if s.closed {
		return s.err
	}
	if s.err == nil {
		s.err = s.flush()
	}
	if s.err != nil {
		s.Abort()
		return s.err
	}
	s.closed = true
	_ = s.in.Close()
	if err := <-s.done; err != nil {
		s.err = s.failed(err)
	}
	return s.err
}

// Abort implements [table.Sink].
func (s *sink) Abort() {
	if !s.closed {
		s.closed = true
		_ = s.in.CloseWithError(io.ErrUnexpectedEOF)
		<-s.done
	}
	s.t.Discard()
}
