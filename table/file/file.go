// Package file opens, reads and creates tables in every format, by name and content.
//
//	src, err := file.Open(ctx, "visits.csv.gz", file.Options{})
//	...
//	defer src.Close()
//	t, err := table.Read(ctx, src, fields, table.ReadOptions{Missing: []string{"NA"}})
//
// Packages table/csvio, table/parquetio and table/xlsx say what each format guarantees.
// Errors name files, lines, columns and types, never a value.
package file

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"strings"

	"github.com/noren-privacy/noren"
	"github.com/noren-privacy/noren/internal/atomicfile"
	"github.com/noren-privacy/noren/internal/meter"
	"github.com/noren-privacy/noren/internal/names"
	"github.com/noren-privacy/noren/internal/tempfile"
	"github.com/noren-privacy/noren/table"
	"github.com/noren-privacy/noren/table/csvio"
	"github.com/noren-privacy/noren/table/formula"
	"github.com/noren-privacy/noren/table/parquetio"
	"github.com/noren-privacy/noren/table/parts"
	"github.com/noren-privacy/noren/table/spool"
	"github.com/noren-privacy/noren/table/sqlite"
	"github.com/noren-privacy/noren/table/xlsx"
)

// Options say how a file is to be read where that is not to be detected.
type Options struct {
	// Name stands for the file in errors and tells, by its ending, what a file
	// probably is. Defaults to the path.
	Name string
	// Delimiter and Encoding of a text file. Default to what it looks like.
	Delimiter rune
	Encoding  csvio.Encoding
	// Header says what the first line of a text file is.
	Header csvio.Header
	// Sheet is the worksheet of a workbook, by name or number from 1, and
	// HeaderRow the row, from 1, that names the columns. Default to the first
	// sheet that is not hidden and the first row that is not blank. They may be given in the path
	// too: visits.xlsx?sheet=2024&header=3.
	Sheet     string
	HeaderRow int
	// Hidden says what becomes of rows and columns that a workbook hides. A workbook that
	// hides some is refused unless it is decided. May be given in the path too.
	Hidden xlsx.Policy
	// Totals says what becomes of rows of a workbook or text file that hold totals, likewise;
	// a text file is refused by its reader.
	Totals xlsx.Policy
	// Exact names columns of workbooks whose cells are compared and not shown: see
	// [xlsx.Options].
	Exact []string
	// Query is a query in SQL whose result is the table, for databases, and
	// QueryName stands for it in errors. Defaults to the table that the path
	// names.
	Query, QueryName string
	// Plain and Formulas are as in [csvio.Options].
	Plain    bool
	Formulas formula.Choice
	// Progress receives the progress of opening a workbook or a table of a database,
	// which are read whole. Optional.
	Progress noren.Progress
}

// Source is a table file that is open.
type Source interface {
	table.Source
	io.Closer
}

var (
	_ Source = (*csvio.Source)(nil)
	_ Source = (*parquetio.Source)(nil)
	_ Source = (*xlsx.Source)(nil)
	_ Source = (*spool.Source)(nil)
	_ Source = (*parts.Source)(nil)
)

// Open opens the table at path: a workbook, Parquet or text by what the file
// holds, all files of a folder or pattern as one table (see [IsParts]), or a table of a
// database (see [IsDatabase]). The errors are those of the packages of the formats.
func Open(ctx context.Context, path string, opts Options) (Source, error) {
	if names.Connection(path) {
		return nil, &noren.Error{
			Kind: noren.Usage, What: "expected a file or a table, got a connection string, which is not repeated because it may hold a password",
			Hint: "set PGHOST, PGUSER and PGDATABASE, and PGPASSFILE for the password, or a service of PGSERVICEFILE, and name the table as " +
				"pg:TABLE",
		}
	}
	if opts.Name == "" {
		opts.Name = path
	}
	if IsDatabase(path) {
		return openDatabase(ctx, path, opts)
	}
	if opts.Query != "" {
		return nil, &noren.Error{Kind: noren.Usage, Where: noren.File(opts.Name), What: "is a file, and a query is for databases"}
	}
	if IsParts(path) {
		return openParts(ctx, path, opts)
	}
	path, err := splitSheet(path, &opts)
	if err != nil {
		return nil, err
	}
	f, err := os.Open(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, &noren.Error{Kind: noren.Usage, Where: noren.File(opts.Name), Code: CodeMissing, What: "no such file"}
	case errors.Is(err, fs.ErrPermission):
		return nil, &noren.Error{Kind: noren.Usage, Where: noren.File(opts.Name), What: "may not be read", Hint: "its permissions forbid it"}
	case err != nil:
		return nil, &noren.Error{Where: noren.File(opts.Name), What: "cannot be opened", Err: atomicfile.Reason(err)}
	}
	info, err := f.Stat()
	switch {
	case err != nil:
		err = &noren.Error{Where: noren.File(opts.Name), What: "cannot be read", Err: atomicfile.Reason(err)}
	case !info.Mode().IsRegular():
		err = &noren.Error{
			Kind: noren.Usage, Where: noren.File(opts.Name), Code: "not-regular",
			What: "is no regular file and cannot be read twice", Hint: "copy it to a regular file, or read it as a stream",
		}
	}
	if err == nil && opts.Name == path && sqlite.IsFile(f) {
		err = &noren.Error{
			Kind: noren.BadData, Where: noren.File(path), What: "is an SQLite database, expected text",
			Hint: "name it as sqlite:%s, and a table of several as sqlite:%s?table=TABLE", HintArgs: []any{noren.File(path), noren.File(path)},
		}
	}
	if err != nil {
		_ = f.Close()
		return nil, err
	}
	return OpenFile(ctx, f, opts)
}

// OpenStdin copies the stream in (standard input, in the end) to a temporary
// file that only this process can see, and opens that. Closing the source
// removes it.
func OpenStdin(ctx context.Context, in io.Reader, opts Options) (Source, error) {
	if opts.Name == "" {
		opts.Name = "standard input"
	}
	f, err := tempfile.Spool(ctx, in, "", opts.Name)
	if err != nil {
		return nil, err
	}
	return OpenFile(ctx, f, opts)
}

// OpenFile is [Open] for a file that is open already; opts.Name is its name.
// The source owns the file and closes it, at once when OpenFile fails. The
// format is decided by the first bytes, and by the name where the file is too
// short to have any.
func OpenFile(ctx context.Context, f csvio.File, opts Options) (Source, error) {
	var magic [4]byte
	n, err := f.ReadAt(magic[:], 0)
	if err != nil && err != io.EOF {
		_ = f.Close()
		return nil, &noren.Error{Where: noren.File(opts.Name), What: "cannot be read", Err: atomicfile.Reason(err)}
	}
	if err := xlsx.Refuse(opts.Name, magic[:n]); err != nil {
		_ = f.Close()
		return nil, err
	}
	head := string(magic[:n])
	if head == "PK\x03\x04" || xlsx.IsName(opts.Name) {
		src, err := xlsx.OpenFile(ctx, f, xlsx.Options{
			Name: opts.Name, Sheet: opts.Sheet, HeaderRow: opts.HeaderRow, Hidden: opts.Hidden,
			Totals: opts.Totals, Exact: opts.Exact, Limits: meter.From(ctx), Progress: opts.Progress,
		})
		if err != nil {
			return nil, err
		}
		return src, nil
	}
	if opts.Sheet != "" {
		_ = f.Close()
		return nil, &noren.Error{Kind: noren.Usage, Where: noren.File(opts.Name), What: "is no workbook: only a workbook has sheets"}
	}
	switch {
	case head == "PAR1", head == "PARE", isParquet(opts.Name):
		if opts.HeaderRow > 1 {
			_ = f.Close()
			return nil, &noren.Error{
				Kind: noren.Usage, Where: noren.File(opts.Name),
				What: "expected a text file with names on line %d, got a Parquet file, which names its columns", Args: []any{opts.HeaderRow},
			}
		}
		if opts.Header == csvio.HeaderAbsent {
			_ = f.Close()
			return nil, &noren.Error{
				Kind: noren.Usage, Where: noren.File(opts.Name),
				What: "expected a text file without names, got a Parquet file, which names its columns",
			}
		}
		src, err := parquetio.OpenFile(f, parquetio.Options{Name: opts.Name, Limits: meter.From(ctx)})
		if err != nil {
			return nil, err
		}
		return src, nil
	default:
		src, err := csvio.OpenFile(ctx, f, csvio.Options{
			Name: opts.Name, Delimiter: opts.Delimiter, Encoding: opts.Encoding, Header: opts.Header,
			HeaderRow: opts.HeaderRow, Plain: opts.Plain, Totals: textTotals(&opts), Formulas: opts.Formulas, Limits: meter.From(ctx),
		})
		if err != nil {
			return nil, err
		}
		return src, nil
	}
}

// textTotals says what becomes of rows of totals of a text file. The strict form has none.
func textTotals(opts *Options) csvio.Totals {
	switch {
	case opts.Totals == xlsx.Leave:
		return csvio.TotalsLeft
	case opts.Totals == xlsx.Undecided && !opts.Plain:
		return csvio.TotalsRefused
	}
	return csvio.TotalsRead
}

func isParquet(name string) bool {
	name = strings.ToLower(name)
	return strings.HasSuffix(name, ".parquet") || strings.HasSuffix(name, ".pq")
}

// isWorkbook reports whether a workbook of that name can be made: .xlsm holds
// programs, which tables do not.
func isWorkbook(name string) bool { return strings.HasSuffix(strings.ToLower(name), ".xlsx") }

// Endings are the endings of the names of files that can be made.
const Endings noren.Phrase = ".csv, .tsv, .txt (each also with .gz or .zst), .parquet, .xlsx"

// DialectFor is how a text file of that name is written when it is made from
// like, which may be nil: packed as the name says; with tabs for .tsv; else
// with the delimiter, encoding and line ends of like, where that is a text file
// too (but never tabs in a .csv).
func DialectFor(name string, like table.Source) csvio.Dialect {
	named, _ := csvio.DialectFor(name)
	if wrapped, ok := like.(interface{ Unwrap() table.Source }); ok {
		like = wrapped.Unwrap()
	}
	text, ok := like.(*csvio.Source)
	if !ok {
		return named
	}
	d := text.Dialect()
	d.CR = false // releases end lines with LF
	d.Compression = named.Compression
	if named.Delimiter == '\t' || d.Delimiter == '\t' && strings.Contains(strings.ToLower(name), ".csv") {
		d.Delimiter = named.Delimiter
	}
	return d
}

// Check reports whether a file of that name can be made: its ending must be one
// of [Endings]. The names "" and "-" stand for standard output, which gets CSV.
func Check(name string) error {
	if name == "" || name == "-" || isParquet(name) || isWorkbook(name) {
		return nil
	}
	if _, ok := csvio.DialectFor(name); ok {
		return nil
	}
	return &noren.Error{
		Kind: noren.Usage, Where: noren.File(name), What: "its ending tells no format that can be written", Hint: "one of %s",
		HintArgs: []any{Endings},
	}
}

// Unreadable tells which well-known tools cannot read a column of that
// description from a file of that name; empty for none that is known.
func Unreadable(name string, c *table.StoredColumn) noren.Text {
	if !isParquet(name) {
		return noren.Text{}
	}
	return parquetio.Unreadable(c)
}

// NewSink begins a table on w in the format that name tells. A text file is
// written in dialect d (see [DialectFor]). Close ends the table and syncs w
// where it is a file, but does not close it.
func NewSink(w io.Writer, name string, columns []table.StoredColumn, d csvio.Dialect) (table.Sink, error) {
	if err := Check(name); err != nil {
		return nil, err
	}
	if isParquet(name) {
		s, err := parquetio.NewSink(w, name, columns)
		if err != nil {
			return nil, err
		}
		return s, nil
	}
	if isWorkbook(name) {
		s, err := xlsx.NewSink(w, name, columns)
		if err != nil {
			return nil, err
		}
		return s, nil
	}
	s, err := csvio.NewSink(w, name, columns, d)
	if err != nil {
		return nil, err
	}
	return s, nil
}

// Create makes the file at path, which must not exist, in the format that its
// name tells, readable by its owner alone. Abort and a failed Close remove it.
func Create(path string, columns []table.StoredColumn, d csvio.Dialect) (table.Sink, error) {
	if err := Check(path); err != nil {
		return nil, err
	}
	out, err := atomicfile.NewOutput(path)
	if err != nil {
		return nil, err
	}
	s, err := NewSink(out, path, columns, d)
	if err != nil {
		out.Remove()
		return nil, err
	}
	return &created{s, out}, nil
}

// created is a sink with a file of its own.
type created struct {
	table.Sink
	out *atomicfile.Output
}

// Close ends the table and closes the file, or removes it where anything failed.
func (c *created) Close() error { return c.out.Close(c.Sink.Close()) }

// Abort removes the file.
func (c *created) Abort() {
	c.Sink.Abort()
	c.out.Remove()
}
