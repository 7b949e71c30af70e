package file

import (
	"context"
	"errors"
	"io/fs"
	"net/url"
	"os"
	"strconv"
	"strings"

	"github.com/noren-privacy/noren"
	"github.com/noren-privacy/noren/internal/meter"
	"github.com/noren-privacy/noren/table"
	"github.com/noren-privacy/noren/table/pg"
	"github.com/noren-privacy/noren/table/sqlite"
	"github.com/noren-privacy/noren/table/xlsx"
)

// splitSheet takes the sheet, the header row and what becomes of hidden cells and totals from the end of a workbook's
// path. A file of the whole name comes first.
func splitSheet(path string, opts *Options) (string, error) {
	file, query, found := strings.Cut(path, "?")
	if !found || !xlsx.IsName(file) {
		return path, nil
	}
	if _, err := os.Stat(path); !errors.Is(err, fs.ErrNotExist) {
		return path, nil
	}
	values, err := parameters(query, "sheet", "header", "hidden", "totals")
	if err != nil {
		return "", &noren.Error{Kind: noren.Usage, Where: noren.File(file), Err: err}
	}
	if v, ok := values["sheet"]; ok {
		opts.Sheet = v
	}
	if v, ok := values["header"]; ok {
		if opts.HeaderRow, err = strconv.Atoi(v); err != nil || opts.HeaderRow < 1 {
			return "", &noren.Error{Kind: noren.Usage, Where: noren.File(file), What: "header: expected the number of a row, from 1"}
		}
	}
	if v, ok := values["hidden"]; ok {
		if opts.Hidden, err = xlsx.ParsePolicy(v); err != nil || v == "" {
			return "", &noren.Error{Kind: noren.Usage, Where: noren.File(file), What: "hidden: expected read or leave"}
		}
	}
	if v, ok := values["totals"]; ok {
		if opts.Totals, err = xlsx.ParseTotals(v); err != nil || v == "" {
			return "", &noren.Error{Kind: noren.Usage, Where: noren.File(file), What: "totals: expected read or leave"}
		}
	}
	if opts.Name == path {
		opts.Name = file
	}
	return file, nil
}

// Told is what a path says of how a workbook is read: its sheet, the row of the names, and what
// becomes of hidden cells and of rows of totals. Of every other path it is the zero value.
func Told(path string) (told Options) {
	if _, err := splitSheet(path, &told); err != nil {
		return Options{}
	}
	return Options{Sheet: told.Sheet, HeaderRow: told.HeaderRow, Hidden: told.Hidden, Totals: told.Totals}
}

// Undecided is the path of a workbook without what it says of hidden cells and of rows of totals,
// so that options decide on them. Every other path stays as it is.
func Undecided(path string) string {
	name := Place(path)
	if name == "" || name == path || !xlsx.IsName(name) {
		return path
	}
	var kept []string
	for one := range strings.SplitSeq(path[len(name)+1:], "&") {
		if of, _, _ := strings.Cut(one, "="); of != "hidden" && of != "totals" {
			kept = append(kept, one)
		}
	}
	if len(kept) == 0 {
		return name
	}
	return name + "?" + strings.Join(kept, "&")
}

// parameters reads name=value pairs that & separates; names that are not known
// and those given twice are refused.
func parameters(query string, known ...string) (map[string]string, error) {
	values, err := url.ParseQuery(query)
	if err != nil {
		return nil, &noren.Error{Kind: noren.Usage, What: "the part behind ? cannot be read", Hint: "write NAME=VALUE, and & between several"}
	}
	out := map[string]string{}
	for name, v := range values {
		ok := len(v) == 1
		for _, k := range known {
			if k == name && ok {
				out[name] = v[0]
			}
		}
		if _, taken := out[name]; !taken {
			return nil, &noren.Error{Kind: noren.Usage, What: "behind ? expected %s, each once", Args: []any{strings.Join(known, ", ")}}
		}
	}
	return out, nil
}

// IsDatabase reports whether a path names a table of a database:
// pg:TABLE for PostgreSQL, or sqlite:FILE?table=TABLE.
func IsDatabase(path string) bool {
	return strings.HasPrefix(path, postgres) || strings.HasPrefix(path, sqliteFile)
}

// CodeUncertain is the code of errors about a table of a database that may have been made or
// not.
const CodeUncertain = pg.CodeUncertain

// CodeMissing is the code of the error about a file that is not there.
const CodeMissing = sqlite.CodeMissing

// TableName is the name of the table of PostgreSQL that a path names, and "" for another path.
func TableName(path string) string {
	rest, ok := strings.CutPrefix(path, postgres)
	if !ok {
		return ""
	}
	name, _, _ := strings.Cut(rest, "?")
	return name
}

const (
	postgres   = "pg:"
	sqliteFile = "sqlite:"
)

// Place is the file that holds the table at path: path itself, the workbook of a sheet
// (visits.xlsx?sheet=2024), the file of an SQLite database, and "" for a table at a server.
func Place(path string) string {
	if strings.HasPrefix(path, postgres) {
		return ""
	}
	rest, database := strings.CutPrefix(path, sqliteFile)
	name, _, found := strings.Cut(rest, "?")
	switch {
	case database:
		return name
	case found && xlsx.IsName(name):
		if _, err := os.Lstat(path); err != nil { // a file of the whole name comes first
			return name
		}
	}
	return path
}

// openDatabase opens a table or a query of a database.
func openDatabase(ctx context.Context, path string, opts Options) (Source, error) {
	if opts.Sheet != "" || opts.HeaderRow != 0 {
		return nil, &noren.Error{Kind: noren.Usage, What: "a database has no sheets and no row of names"}
	}
	if rest, ok := strings.CutPrefix(path, sqliteFile); ok {
		return openSQLite(ctx, rest, opts)
	}
	return openPostgres(ctx, strings.TrimPrefix(path, postgres), opts)
}

func openSQLite(ctx context.Context, rest string, opts Options) (Source, error) {
	path, query, _ := strings.Cut(rest, "?")
	values, err := parameters(query, "table")
	if err != nil {
		return nil, &noren.Error{Kind: noren.Usage, Where: noren.File(path), Err: err}
	}
	name, named := values["table"]
	if named && opts.Query != "" {
		return nil, &noren.Error{Kind: noren.Usage, Where: noren.File(path), What: "a table and a query are named", Hint: "name one"}
	}
	src, err := sqlite.Open(ctx, path, sqlite.Options{
		Table: name, Query: opts.Query, QueryName: opts.QueryName, Limits: meter.From(ctx),
		Progress: opts.Progress,
	})
	if err != nil {
		return nil, err
	}
	return src, nil
}

// postgresName reads what stands behind pg: - a table, and the service.
func postgresName(rest string) (table, service string, err error) {
	table, query, _ := strings.Cut(rest, "?")
	values, err := parameters(query, "service")
	if err != nil {
		return "", "", &noren.Error{Kind: noren.Usage, Where: "pg", Err: err}
	}
	return table, values["service"], nil
}

func openPostgres(ctx context.Context, rest string, opts Options) (Source, error) {
	name, service, err := postgresName(rest)
	if err != nil {
		return nil, err
	}
	o := pg.Options{Query: opts.Query, QueryName: opts.QueryName, Service: service, Progress: opts.Progress}
	switch {
	case name != "" && opts.Query != "":
		return nil, &noren.Error{Kind: noren.Usage, Where: "pg", What: "a table and a query are named", Hint: "name one"}
	case name == "" && opts.Query == "":
		return nil, &noren.Error{Kind: noren.Usage, Code: "query", Where: "pg", What: "no table and no query is named"}
	case name != "":
		if o.Table, err = pg.ParseName(name); err != nil {
			return nil, err
		}
	}
	src, err := pg.Open(ctx, o)
	if err != nil {
		return nil, err
	}
	return src, nil
}

// Target is a table of a database in the making. Nothing can be seen of it until
// Commit; Discard gives it up, and does nothing after Commit.
type Target interface {
	// Create begins the table. Called once.
	Create(ctx context.Context, columns []table.StoredColumn) (table.Sink, error)
	// ReadBack is the table as it was written, after the sink was closed.
	ReadBack(ctx context.Context) (Source, error)
	// Commit gives the table its name.
	Commit(ctx context.Context) error
	Discard()
}

// NewTarget is the table of a database that path names. It fails where the table
// could not be made, or exists and is not to be replaced. The folder dir holds
// temporary files.
func NewTarget(ctx context.Context, path string, replace bool, dir string) (Target, error) {
	o, err := checkedTarget(ctx, path, replace)
	if err != nil {
		return nil, err
	}
	o.Dir = dir
	return postgresTarget{pg.NewTarget(o)}, nil
}

// CheckTarget reports what would keep [NewTarget] and what follows from making the table:
// a database that is not written, no connection, a schema or a right that lacks, or a table
// that exists. For use before a table is read.
func CheckTarget(ctx context.Context, path string, replace bool) error {
	_, err := checkedTarget(ctx, path, replace)
	return err
}

func checkedTarget(ctx context.Context, path string, replace bool) (o pg.TargetOptions, err error) {
	rest, ok := strings.CutPrefix(path, postgres)
	if !ok {
		file, _, _ := strings.Cut(strings.TrimPrefix(path, sqliteFile), "?")
		return o, noren.Usagef(noren.File(file), "SQLite databases are read and not written").
			Hinted("write a file, or a table of PostgreSQL as pg:TABLE")
	}
	name, service, err := postgresName(rest)
	if err != nil {
		return o, err
	}
	o = pg.TargetOptions{Replace: replace, Service: service}
	if o.Table, err = pg.ParseName(name); err != nil {
		return o, err
	}
	return o, pg.Check(ctx, o)
}

// postgresTarget is a pg.Target as a [Target].
type postgresTarget struct{ *pg.Target }

// ReadBack implements [Target].
func (t postgresTarget) ReadBack(ctx context.Context) (Source, error) {
	src, err := t.Target.ReadBack(ctx)
	if err != nil {
		return nil, err
	}
	return src, nil
}
