package pg

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"strings"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/noren-privacy/noren"
	"github.com/noren-privacy/noren/internal/names"
	"github.com/noren-privacy/noren/table"
)

// Listed is a table or view of a database.
type Listed struct {
	Name Name
	// View says that it is a view and no table.
	View bool
}

// listQuery finds the tables and views that the user may read, but those of the system.
const listQuery = `SELECT n.nspname, c.relname, c.relkind IN ('v', 'm')
FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
WHERE c.relkind IN ('r', 'p', 'v', 'm', 'f') AND NOT c.relispartition
AND n.nspname NOT IN ('pg_catalog', 'information_schema') AND n.nspname !~ '^pg_(toast|temp)'
AND has_schema_privilege(n.oid, 'USAGE') AND has_table_privilege(c.oid, 'SELECT')
ORDER BY 1, 2 LIMIT 10000`

// mostListed is the limit of listQuery.
const mostListed = 10_000

// List finds the tables and views that the user may read, without those of the system, by
// schema and name: 10,000 at most. Of o only the connection counts. Errors are those of
// [Open].
func List(ctx context.Context, o Options) ([]Listed, error) {
	const where = "pg"
	conn, err := connect(ctx, where, o.Service, o.Connection)
	if err != nil {
		return nil, err
	}
	defer closeConn(conn)
	return list(ctx, conn, where)
}

func list(ctx context.Context, conn *pgconn.PgConn, where any) ([]Listed, error) {
	rows, err := readFew(ctx, conn.ExecParams(ctx, listQuery, nil, nil, nil, nil), mostListed, 3, where)
	if err != nil {
		return nil, err
	}
	out := make([]Listed, 0, len(rows))
	for _, row := range rows {
		out = append(out, Listed{Name: Name{Schema: string(row[0]), Table: string(row[1])}, View: string(row[2]) == "t"})
	}
	return out, nil
}

// plainPart is a part of a name that needs no quotes in [ParseName].
var plainPart = regexp.MustCompile(`^[\pL_][\pL\d_$]*$`)

// Text is the name as [ParseName] reads it.
func (n Name) Text() string {
	part := func(s string) string {
		if plainPart.MatchString(s) {
			return s
		}
		return quote(s)
	}
	if n.Schema == "" {
		return part(n.Table)
	}
	return part(n.Schema) + "." + part(n.Table)
}

// missing adds to the error about a table or schema that does not exist what tables there
// are. A list that cannot be had changes nothing.
func (o *Options) missing(ctx context.Context, conn *pgconn.PgConn, err error) error {
	var e *noren.Error
	if !errors.As(err, &e) || e.Err == nil || e.Err.Error() != "SQLSTATE 42P01" && e.Err.Error() != "SQLSTATE 3F000" {
		return err
	}
	if conn.Exec(ctx, "ROLLBACK").Close() != nil {
		return err
	}
	found, failed := list(ctx, conn, e.Where)
	if failed != nil {
		return err
	}
	out := *e
	var all []string
	for i := range found {
		if name := found[i].Name.Text(); names.Seen(name) {
			all = append(all, name)
		}
	}
	switch best := o.Table.nearest(found); {
	case len(all) == 0:
		out.Hinted("this database has no table that the user may read: look at PGDATABASE, PGUSER and the rights")
	case best != "" && names.Seen(best):
		out.Hinted("did you mean pg:%s? There are %s", best, shownNames(all))
	default:
		out.Hinted("there are %s", shownNames(all))
	}
	return &out
}

// nearest is the table that the name probably means: of the same name in another schema or
// in other letters, or one that differs by a few characters.
func (n Name) nearest(found []Listed) string {
	var tables []string
	for i := range found {
		if strings.EqualFold(found[i].Name.Table, n.Table) {
			return found[i].Name.Text()
		}
		tables = append(tables, found[i].Name.Table)
	}
	best := table.Nearest(n.Table, tables)
	for i := range found {
		if best != "" && found[i].Name.Table == best {
			return found[i].Name.Text()
		}
	}
	return ""
}

// shownNames is a list of names for an error, which may be many and long.
func shownNames(all []string) string {
	const most, longest = 20, 60
	var out []string
	for _, name := range all[:min(most, len(all))] {
		if text := []rune(name); len(text) > longest {
			name = string(text[:longest]) + "..."
		}
		out = append(out, name)
	}
	if n := len(all) - most; n > 0 {
		out = append(out, fmt.Sprintf("... (%d)", len(all)))
	}
	return strings.Join(out, ", ")
}
