// Package sqlite reads tables and results of queries from SQLite database files.
//
//	src, err := sqlite.Open(ctx, "clinic.db", sqlite.Options{Table: "visits"})
//	...
//	defer src.Close()
//
// The file is opened for reading alone and read once, in one transaction, into a
// private temporary file (package table/spool), which the source reads. SQLite
// has a type in each value: integers, floating point, text, and bytes, which are
// shown in hexadecimal. Of a column that is declared BOOLEAN, 0 and 1 are false
// and true. Dates are what the database stores: text or numbers.
//
// Errors name tables, columns and records, never values or the text of a query.
package sqlite

import (
	"context"
	"database/sql"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"strings"

	sqlite3 "modernc.org/sqlite"
	codes "modernc.org/sqlite/lib"

	"github.com/noren-privacy/noren"
	"github.com/noren-privacy/noren/internal/atomicfile"
	"github.com/noren-privacy/noren/table/spool"
)

// Options say what is read. Either Table or Query; neither is the only table of
// the file.
type Options struct {
	// Name stands for the file in errors. Defaults to the path.
	Name string
	// Table is a table or view.
	Table string
	// Query is one query in SQL, and QueryName stands for it in errors.
	Query, QueryName string
	// Dir is the folder of the temporary file. Defaults to the system's.
	Dir string
	// Progress receives the progress of reading. Optional.
	Progress noren.Progress
}

const magic = "SQLite format 3\x00"

// Open reads a table of the database file at path. Errors are of kind Usage (no
// such file or table, a query that cannot be run), BadData (no database, a
// damaged one), or Internal.
func Open(ctx context.Context, path string, o Options) (*spool.Source, error) {
	if o.Name == "" {
		o.Name = path
	}
	if err := check(path, o.Name); err != nil {
		return nil, err
	}
	abs, err := filepath.Abs(path)
	if err != nil {
		return nil, &noren.Error{Where: o.Name, What: "cannot be opened", Err: err}
	}
	// Queries of a steward can read, and change nothing: mode and query_only.
	u := url.URL{Scheme: "file", Path: filepath.ToSlash(abs), RawQuery: url.Values{"mode": {"ro"}, "_pragma": {"query_only(1)", "busy_timeout(5000)"}}.Encode()}
	db, err := sql.Open("sqlite", u.String())
	if err != nil {
		return nil, &noren.Error{Where: o.Name, What: "cannot be opened"}
	}
	defer func() { _ = db.Close() }()
	db.SetMaxOpenConns(1)
	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		return nil, failed(ctx, o.Name, err)
	}
	defer func() { _ = tx.Rollback() }()
	r := &reading{o: o, tx: tx}
	return r.read(ctx)
}

// check looks at the file before the library does, whose errors say less.
func check(path, name string) error {
	f, err := os.Open(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return &noren.Error{Kind: noren.Usage, Where: name, What: "no such file"}
	case errors.Is(err, fs.ErrPermission):
		return &noren.Error{Kind: noren.Usage, Where: name, What: "may not be read", Hint: "its permissions forbid it"}
	case err != nil:
		return &noren.Error{Where: name, What: "cannot be opened", Err: atomicfile.Reason(err)}
	}
	defer func() { _ = f.Close() }()
	if info, err := f.Stat(); err == nil && info.IsDir() {
		return &noren.Error{Kind: noren.Usage, Where: name, What: "is a folder", Hint: "name a file"}
	}
	head := make([]byte, len(magic))
	if _, err := io.ReadFull(f, head); err != nil || string(head) != magic {
		return &noren.Error{Kind: noren.BadData, Where: name, What: "is no SQLite database, or an encrypted one"}
	}
	return nil
}

// failed makes an error of the library's by its code: its text can hold parts of
// a query.
func failed(ctx context.Context, name string, err error) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	e := &noren.Error{Where: name, What: "cannot be read"}
	var s *sqlite3.Error
	if !errors.As(err, &s) {
		return e
	}
	switch s.Code() & 0xff {
	case codes.SQLITE_NOTADB, codes.SQLITE_CORRUPT, codes.SQLITE_FORMAT:
		e.Kind, e.What, e.Hint = noren.BadData, "the database is damaged or was cut short", "copy the file again, or restore it"
	case codes.SQLITE_BUSY, codes.SQLITE_LOCKED:
		e.What, e.Hint = "is locked by another program", "start again when nothing writes to it"
	case codes.SQLITE_CANTOPEN, codes.SQLITE_PERM, codes.SQLITE_AUTH:
		e.Kind, e.What, e.Hint = noren.Usage, "cannot be opened", "a database with a write-ahead log needs a folder that may be written"
	case codes.SQLITE_READONLY:
		e.Kind, e.What = noren.Usage, "expected a query that only reads"
	case codes.SQLITE_FULL, codes.SQLITE_IOERR:
		e.What, e.Hint = "cannot be read to its end", "look at the disk"
	case codes.SQLITE_ERROR:
		e.Kind, e.What, e.Hint = noren.Usage, "the query cannot be run", "try it in the sqlite3 program"
	}
	return e
}

type reading struct {
	o  Options
	tx *sql.Tx
}

func quote(name string) string { return `"` + strings.ReplaceAll(name, `"`, `""`) + `"` }

// from is what is read: a table by its name, or a query.
func (r *reading) from(ctx context.Context) (from string, err error) {
	if r.o.Query != "" {
		q := strings.TrimRight(strings.TrimSpace(r.o.Query), "; \t\r\n")
		return "(" + q + "\n)", nil
	}
	rows, err := r.tx.QueryContext(ctx, `SELECT name FROM sqlite_master WHERE type IN ('table', 'view') AND name NOT LIKE 'sqlite_%' ORDER BY name`)
	if err != nil {
		return "", failed(ctx, r.o.Name, err)
	}
	defer func() { _ = rows.Close() }()
	var names []string
	for rows.Next() {
		var name string
		if err := rows.Scan(&name); err != nil {
			return "", failed(ctx, r.o.Name, err)
		}
		names = append(names, name)
	}
	if err := rows.Err(); err != nil {
		return "", failed(ctx, r.o.Name, err)
	}
	wanted := r.o.Table
	if wanted == "" && len(names) == 1 {
		wanted = names[0]
	}
	for _, name := range names {
		if strings.EqualFold(name, wanted) {
			r.o.Table = name
			return quote(name), nil
		}
	}
	e := &noren.Error{Kind: noren.Usage, Code: "table", Where: r.o.Name, What: "expected one of its tables (" + strings.Join(names, ", ") + ")"}
	if wanted != "" {
		e.What = "has no table " + wanted + ", only " + strings.Join(names, ", ")
	}
	return "", e
}

// columns are the names of the result, and which of them are declared boolean.
func (r *reading) columns(ctx context.Context, from, where string) (names []string, boolean []bool, err error) {
	rows, err := r.tx.QueryContext(ctx, "SELECT * FROM "+from+" LIMIT 0")
	if err != nil {
		return nil, nil, failed(ctx, where, err)
	}
	defer func() { _ = rows.Close() }()
	types, err := rows.ColumnTypes()
	if err != nil {
		return nil, nil, failed(ctx, where, err)
	}
	seen := map[string]bool{}
	for i, t := range types {
		name := t.Name()
		if name == "" || seen[name] {
			return nil, nil, &noren.Error{Kind: noren.Usage, Where: fmt.Sprintf("%s: column %d", where, i+1), What: "expected a name of its own", Hint: "name it in the query: SELECT ... AS name"}
		}
		seen[name] = true
		names = append(names, name)
		boolean = append(boolean, strings.HasPrefix(strings.ToUpper(t.DatabaseTypeName()), "BOOL"))
	}
	return names, boolean, nil
}

func (r *reading) read(ctx context.Context) (*spool.Source, error) {
	from, err := r.from(ctx)
	if err != nil {
		return nil, err
	}
	where := r.o.Name + ": table " + r.o.Table
	if r.o.Query != "" {
		where = r.o.Name + ": query " + r.o.QueryName
	}
	names, boolean, err := r.columns(ctx, from, where)
	if err != nil {
		return nil, err
	}
	columns, list := make([]spool.Column, len(names)), make([]string, len(names))
	for i, name := range names {
		// An expression has no declared type, by which the library would change
		// the values: a plus leaves them as they are.
		columns[i].Name, list[i] = name, "+"+quote(name)
	}
	w, err := spool.NewWriter(spool.Options{Name: where, Dir: r.o.Dir, Progress: r.o.Progress, Columns: columns})
	if err != nil {
		return nil, err
	}
	if err := r.copy(ctx, "SELECT "+strings.Join(list, ", ")+" FROM "+from, where, boolean, w); err != nil {
		w.Close()
		return nil, err
	}
	return w.Finish()
}

func (r *reading) copy(ctx context.Context, query, where string, boolean []bool, w *spool.Writer) error {
	rows, err := r.tx.QueryContext(ctx, query)
	if err != nil {
		return failed(ctx, where, err)
	}
	defer func() { _ = rows.Close() }()
	cells, into := make([]any, len(boolean)), make([]any, len(boolean))
	for i := range cells {
		into[i] = &cells[i]
	}
	var buf []byte
	for n := int64(1); rows.Next(); n++ {
		if err := rows.Scan(into...); err != nil {
			return failed(ctx, where, err)
		}
		for i, cell := range cells {
			ok := true
			switch v := cell.(type) {
			case nil:
				w.Null()
			case int64:
				if boolean[i] && (v == 0 || v == 1) {
					w.Int(spool.Boolean, v)
				} else {
					w.Int(spool.Integer, v)
				}
			case float64:
				w.Float(v)
			case string:
				buf = append(buf[:0], v...)
				ok = w.Bytes(spool.Text, buf)
			case []byte:
				buf = hex.AppendEncode(buf[:0], v)
				ok = w.Bytes(spool.Text, buf)
			default:
				return &noren.Error{Where: where, What: "holds a value of a type that is not known"}
			}
			if !ok {
				return &noren.Error{Kind: noren.BadData, Where: fmt.Sprintf("%s: record %d, column %d", where, n, i+1), What: "its text is not valid UTF-8"}
			}
		}
		if err := w.EndRow(n); err != nil {
			return err
		}
	}
	if err := rows.Err(); err != nil {
		return failed(ctx, where, err)
	}
	return nil
}
