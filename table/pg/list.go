package pg

import (
	"context"
	"regexp"
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
