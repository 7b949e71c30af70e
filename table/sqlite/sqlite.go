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
// A file that somebody else has made takes no more memory and makes no longer table than
// Options.Limits allow. A query reads the tables and views of the file, and none of those that SQLite
// keeps for itself.
//
// Errors name tables, columns and records, never values or the text of a query.
package sqlite

import (
	"context"
	"encoding/hex"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	lib "modernc.org/sqlite/lib"

	"github.com/noren-privacy/noren"
	"github.com/noren-privacy/noren/internal/atomicfile"
	"github.com/noren-privacy/noren/internal/meter"
	"github.com/noren-privacy/noren/table"
	"github.com/noren-privacy/noren/table/spool"
)

// CodeMissing is the code of the error about a file that is not there.
const CodeMissing = "no-file"

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
	// Limits bound what reading takes. Default to those of package meter.
	Limits meter.Limits
	// Progress receives the progress of reading. Optional.
	Progress noren.Progress
}

const magic = "SQLite format 3\x00"

// lengths is how many values and records of the greatest length are allowed for.
const lengths = 8

// Open reads a table of the database file at path. Errors are of kind Usage (no
// such file or table, a query that cannot be run), BadData (no database, a
// damaged one, one that exceeds a limit), or Internal.
func Open(ctx context.Context, path string, o Options) (*spool.Source, error) {
	if o.Name == "" {
		o.Name = path
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	f, err := opened(path, o.Name)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }()
	info, err := f.Stat()
	if err != nil {
		return nil, &noren.Error{Where: noren.File(o.Name), What: "cannot be opened", Err: atomicfile.Reason(err)}
	}
	r := &reading{o: o, meter: meter.New(o.Limits, info.Size())}
	if err := described(f, o.Name, r.meter); err != nil {
		return nil, err
	}
	r.length = min(max(r.meter.Held()/lengths, 1), 1<<30)
	r.c, err = open(ctx, f.Name(), r.length)
	if err != nil {
		return nil, r.failed(ctx, o.Name, err)
	}
	defer r.c.close()
	return r.read(ctx)
}

// opened is the file, by its own name rather than that of a link: beside it is its log. The
// library's errors say less.
func opened(path, name string) (*os.File, error) {
	place, err := filepath.Abs(path)
	if err == nil {
		place, err = filepath.EvalSymlinks(place)
	}
	var f *os.File
	if err == nil {
		f, err = os.Open(place)
	}
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, &noren.Error{Kind: noren.Usage, Where: noren.File(name), Code: CodeMissing, What: "no such file"}
	case isFile(filepath.Dir(path)): // FILE/TABLE
		return nil, &noren.Error{
			Kind: noren.Usage, Where: noren.File(name), Code: CodeMissing, What: "no such file",
			Hint: "a table of a database is named as sqlite:%s?table=%s", HintArgs: []any{noren.File(filepath.Dir(path)), filepath.Base(path)},
		}
	case errors.Is(err, fs.ErrPermission):
		return nil, &noren.Error{Kind: noren.Usage, Where: noren.File(name), What: "may not be read", Hint: "its permissions forbid it"}
	case err != nil:
		return nil, &noren.Error{Where: noren.File(name), What: "cannot be opened", Err: atomicfile.Reason(err)}
	}
	if err := check(f, name); err != nil {
		_ = f.Close()
		return nil, err
	}
	return f, nil
}

// isFile reports whether a path is a file and no folder.
func isFile(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode().IsRegular()
}

func check(f *os.File, name string) error {
	if info, err := f.Stat(); err == nil && info.IsDir() {
		return &noren.Error{Kind: noren.Usage, Where: noren.File(name), What: "is a folder", Hint: "name a file"}
	}
	head := make([]byte, len(magic))
	if _, err := io.ReadFull(f, head); err != nil || string(head) != magic {
		return &noren.Error{Kind: noren.BadData, Where: noren.File(name), What: "is no SQLite database, or an encrypted one"}
	}
	return nil
}

// IsFile reports whether a file begins as an SQLite database does.
func IsFile(f io.ReaderAt) bool {
	head := make([]byte, len(magic))
	n, _ := f.ReadAt(head, 0)
	return n == len(magic) && string(head) == magic
}

// failed makes an error of the library's by its code: its text can hold parts of
// a query.
func (r *reading) failed(ctx context.Context, where any, err error) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	var code resultCode
	if errors.Is(err, errLong) {
		return &noren.Error{
			Kind: noren.BadData, Code: meter.Code, Where: where,
			What: "its views and query are too many, too deep or too long: more than a limit of SQLite or %d {step|steps}", Args: []any{
				mostSteps * between,
			}, Hint: "name fewer views, or write the table as CSV",
		}
	}
	e := &noren.Error{Where: where, What: "cannot be read"}
	if !errors.As(err, &code) {
		return e
	}
	switch code & 0xff {
	case lib.SQLITE_NOTADB, lib.SQLITE_CORRUPT, lib.SQLITE_FORMAT:
		e.Kind = noren.BadData
		e.Saying("the database is damaged or was cut short").Hinted("copy the file again, or restore it")
	case lib.SQLITE_BUSY, lib.SQLITE_LOCKED:
		e.Saying("is locked by another program").Hinted("start again when nothing writes to it")
	case lib.SQLITE_CANTOPEN, lib.SQLITE_PERM:
		e.Kind = noren.Usage
		e.Saying("cannot be opened").Hinted("a database with a write-ahead log needs a folder that may be written")
	case lib.SQLITE_AUTH:
		e.Kind = noren.Usage
		e.Saying("expected a query that only reads tables and views of the file").Hinted("leave out the tables that SQLite keeps for itself")
	case lib.SQLITE_READONLY:
		e.Kind = noren.Usage
		e.Saying("expected a query that only reads")
	case lib.SQLITE_FULL, lib.SQLITE_IOERR:
		e.Saying("cannot be read to its end").Hinted("look at the disk")
	case lib.SQLITE_ERROR:
		e.Kind = noren.Usage
		e.Saying("the query cannot be run").Hinted("try it in the sqlite3 program")
	case lib.SQLITE_TOOBIG:
		return r.tooLong(where)
	}
	return e
}

// tooLong is the error about a value, record or statement beyond the length.
func (r *reading) tooLong(where any) error {
	return &noren.Error{
		Kind: noren.BadData, Code: meter.Code, Where: where, What: "holds a record, value or statement of more than %s", Args: []any{
			meter.Size(r.length),
		},
		Hint: "name fewer columns in a query, shorten the texts, or write the table as CSV",
	}
}

type reading struct {
	o      Options
	meter  *meter.Meter
	c      *connection
	length int64 // of a record or value, at most
	texts  texts
}

func quote(name string) string { return `"` + strings.ReplaceAll(name, `"`, `""`) + `"` }

// own reports whether SQLite keeps a table of that name for itself.
func own(name string) bool {
	const prefix = "sqlite_"
	return len(name) >= len(prefix) && strings.EqualFold(name[:len(prefix)], prefix)
}

// list reads the names of tables and views, and what they are defined as.
func (r *reading) list(ctx context.Context) ([]string, error) {
	var names []string
	r.texts = texts{}
	r.c.state.listing = 1
	defer func() { r.c.state.listing = 0 }()
	for _, text := range []string{"BEGIN", `SELECT name, type, sql FROM sqlite_master WHERE type IN ('table', 'view') ORDER BY name`} {
		s, _, err := r.c.prepare(text, -1)
		if err != nil {
			return nil, r.failed(ctx, r.o.Name, err)
		}
		defer s.close()
		for {
			some, err := s.step()
			if err != nil {
				return nil, r.failed(ctx, r.o.Name, err)
			}
			if !some {
				break
			}
			name := string(s.bytes(0))
			if !own(name) {
				names = append(names, name)
			}
			r.texts.add(name, string(s.bytes(2)), string(s.bytes(1)) == "view")
		}
	}
	return names, nil
}

// shown is a list of names for an error, which may be many and long.
func shown(names []string) any {
	const most, longest = 20, 60
	var out []string
	for _, name := range names[:min(most, len(names))] {
		if text := []rune(name); len(text) > longest {
			name = string(text[:longest]) + "..."
		}
		out = append(out, name)
	}
	if n := len(names) - most; n > 0 {
		return noren.Textf("%s and %d more", strings.Join(out, ", "), n)
	}
	return strings.Join(out, ", ")
}

// from is what is read: a table by its name, or a query.
func (r *reading) from(ctx context.Context) (from string, err error) {
	names, err := r.list(ctx)
	if err != nil {
		return "", err
	}
	if r.o.Query != "" {
		q := strings.TrimRight(strings.TrimSpace(r.o.Query), "; \t\r\n")
		return "(" + q + "\n)", nil
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
	e := &noren.Error{
		Kind: noren.Usage, Code: "table", Where: noren.File(r.o.Name), What: "expected one of its tables (%s)",
		Args: []any{shown(names)},
	}
	if wanted != "" {
		e.Saying("has no table %s, only %s", wanted, shown(names))
		if best := table.Nearest(wanted, names); best != "" {
			e.Code = ""
			e.Hinted("did you mean sqlite:%s?table=%s?", noren.File(r.o.Name), best)
		}
	}
	return "", e
}

// columns are the names of the result, and which of them are declared boolean.
func (r *reading) columns(s *statement, where noren.Place) (columns []spool.Column, boolean []bool, err error) {
	seen := map[string]bool{}
	for i := range s.columns() {
		name := s.name(i)
		if name == "" || seen[name] {
			return nil, nil, &noren.Error{
				Kind: noren.Usage, Where: noren.Position{File: where, Field: i + 1}, What: "expected a name of its own",
				Hint: "name it in the query: SELECT ... AS name",
			}
		}
		seen[name] = true
		columns = append(columns, spool.Column{Name: name})
		boolean = append(boolean, strings.HasPrefix(strings.ToUpper(s.declared(i)), "BOOL"))
	}
	return columns, boolean, nil
}

func (r *reading) read(ctx context.Context) (*spool.Source, error) {
	from, err := r.from(ctx)
	if err != nil {
		return nil, err
	}
	where := noren.Place{noren.File(r.o.Name), noren.Textf("table %s", r.o.Table)}
	if r.o.Query != "" {
		where[1] = noren.Textf("query %s", noren.File(r.o.QueryName))
	}
	query := "SELECT * FROM " + from
	if err := r.expand(query, where); err != nil {
		return nil, err
	}
	if err := r.plan(ctx, query, where); err != nil {
		return nil, err
	}
	s, whole, err := r.c.prepare(query, mostSteps)
	if err != nil {
		return nil, r.failed(ctx, where, err)
	}
	defer s.close()
	if !whole {
		return nil, &noren.Error{Kind: noren.Usage, Where: where, What: "expected one query"}
	}
	columns, boolean, err := r.columns(s, where)
	if err != nil {
		return nil, err
	}
	w, err := spool.NewWriter(spool.Options{Name: r.o.Name, Place: where, Dir: r.o.Dir, Progress: r.o.Progress, Columns: columns})
	if err != nil {
		return nil, err
	}
	if err := r.copy(ctx, s, where, boolean, w); err != nil {
		w.Close()
		return nil, err
	}
	return w.Finish()
}

func (r *reading) copy(ctx context.Context, s *statement, where noren.Place, boolean []bool, w *spool.Writer) error {
	var buf []byte
	for n := int64(1); ; n++ {
		some, err := s.step()
		switch {
		case err != nil:
			return r.failed(ctx, where, err)
		case !some:
			return nil
		}
		if err := r.row(s, len(boolean)); err != nil {
			return meter.At(err, noren.Position{File: where, Record: n})
		}
		for i := range boolean {
			ok := true
			switch s.kind(i) {
			case lib.SQLITE_NULL:
				w.Null()
			case lib.SQLITE_INTEGER:
				if v := s.integer(i); boolean[i] && (v == 0 || v == 1) {
					w.Int(spool.Boolean, v)
				} else {
					w.Int(spool.Integer, v)
				}
			case lib.SQLITE_FLOAT:
				w.Float(s.float(i))
			case lib.SQLITE_TEXT:
				ok = w.Bytes(spool.Text, s.bytes(i))
			case lib.SQLITE_BLOB:
				buf = hex.AppendEncode(buf[:0], s.bytes(i))
				ok = w.Bytes(spool.Text, buf)
			default:
				return &noren.Error{Where: where, What: "holds a value of a type that is not known"}
			}
			if !ok {
				return &noren.Error{
					Kind: noren.BadData, Where: noren.Position{File: where, Record: n, Field: i + 1},
					What: "its text is not valid UTF-8",
				}
			}
		}
		if err := w.EndRow(n); err != nil {
			return err
		}
	}
}

// A number takes a tag and 64 bits. A row is kept four times: as it is made, as it is
// written, and twice as it is read again.
const (
	cellWeight = 9
	rowWeight  = 4
)

// row draws a row on the meter before it is copied.
func (r *reading) row(s *statement, columns int) error {
	size := int64(0)
	for i := range columns {
		size += cellWeight
		switch s.kind(i) {
		case lib.SQLITE_TEXT:
			size += s.size(i)
		case lib.SQLITE_BLOB:
			size += 2 * s.size(i)
		}
	}
	if err := r.meter.Hold(rowWeight * size); err != nil {
		return err
	}
	r.meter.Release(rowWeight * size)
	return r.meter.Unpack(size)
}
