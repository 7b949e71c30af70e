package pg

import (
	"context"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgtype"

	"github.com/noren-privacy/noren"
	"github.com/noren-privacy/noren/internal/meter"
	"github.com/noren-privacy/noren/table/spool"
)

// Options say what is read: a table, or the result of a query.
type Options struct {
	// Table is the table or view. Required without a query.
	Table Name
	// Query is one query in SQL, and QueryName stands for it in errors.
	Query, QueryName string
	// Service is an entry of the service file. Defaults to PGSERVICE, or none.
	Service string
	// Connection is a connection string, as libpq has it. It is a secret and in no error.
	// Defaults to the environment; not with Service.
	Connection string
	// Dir is the folder of the temporary file. Defaults to the system's.
	Dir string
	// Progress receives the progress of reading. Optional.
	Progress noren.Progress
}

// where stands for what is read in errors.
func (o *Options) where() noren.Place {
	if o.Query != "" {
		return noren.Place{"pg", noren.Textf("query %s", noren.File(o.QueryName))}
	}
	return noren.Place{o.Table.shown()}
}

// session is what every transaction begins with, so that values are written in
// one way.
const session = "; SET LOCAL client_encoding = 'UTF8'; SET LOCAL DateStyle = 'ISO, YMD'; SET LOCAL TimeZone = 'UTC'; SET LOCAL " +
	"IntervalStyle = 'postgres'; SET LOCAL extra_float_digits = 3; SET LOCAL bytea_output = 'hex'"

// Open reads a table as it is at one moment. Errors are of kind Usage (settings,
// rights, a table or query that does not exist), BadData, or Internal (no
// server, a lost connection).
func Open(ctx context.Context, o Options) (*spool.Source, error) {
	where := o.where()
	conn, err := connect(ctx, where, o.Service, o.Connection)
	if err != nil {
		return nil, err
	}
	defer closeConn(conn)
	if err := conn.Exec(ctx, "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY"+session).Close(); err != nil {
		return nil, failed(ctx, where, err, lost)
	}
	query := "SELECT * FROM " + o.Table.String()
	if o.Query != "" {
		query = strings.TrimRight(strings.TrimSpace(o.Query), "; \t\r\n")
	}
	src, err := readAll(ctx, conn, query, spool.Options{Name: where.String(), Place: where, Dir: o.Dir, Progress: o.Progress})
	if o.Query == "" && err != nil {
		err = o.missing(ctx, conn, err)
	}
	return src, err
}

const lost = "the connection was lost while it was read"

// closeConn ends a connection, and with it a transaction that was not committed.
func closeConn(conn *pgconn.PgConn) {
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	_ = conn.Close(ctx)
}

// fetched is how many records are asked for at a time.
const fetched = 4096

// readAll reads the result of a query by a cursor, in the transaction that is
// open. The extended protocol takes one statement and no more.
func readAll(ctx context.Context, conn *pgconn.PgConn, query string, o spool.Options) (*spool.Source, error) {
	where := o.Place
	fail := func(err error) error { return failed(ctx, where, err, lost) }
	if _, err := conn.ExecParams(ctx, "DECLARE noren NO SCROLL CURSOR FOR "+query, nil, nil, nil, nil).Close(); err != nil {
		return nil, fail(err)
	}
	fetch, err := conn.Prepare(ctx, "noren_fetch", "FETCH FORWARD "+strconv.Itoa(fetched)+" FROM noren", nil)
	if err != nil {
		return nil, fail(err)
	}
	columns, formats, err := describe(ctx, conn, fetch.Fields, where)
	if err != nil {
		return nil, err
	}
	o.Columns = columns
	w, err := spool.NewWriter(o)
	if err != nil {
		return nil, err
	}
	defer w.Close()
	limits := meter.From(ctx)
	total := meter.New(limits, 0)
	for more := true; more; {
		before := w.Rows()
		r := conn.ExecPrepared(ctx, "noren_fetch", nil, nil, formats)
		for r.NextRow() {
			if len(r.Values()) != len(columns) {
				return nil, unasked(where)
			}
			for i, value := range r.Values() {
				if err := total.Unpack(int64(len(value)) + 1); err != nil && limits.Unpacked > 0 {
					return nil, meter.At(err, where)
				}
				if value == nil {
					w.Null()
				} else if !put(w, fetch.Fields[i].DataTypeOID, value) {
					at := noren.Position{File: where, Record: w.Rows() + 1, Field: i + 1, Column: columns[i].Name}
					return nil, &noren.Error{Kind: noren.BadData, Where: at, What: "holds a value that is not what its type says"}
				}
			}
			if err := w.EndRow(w.Rows() + 1); err != nil {
				return nil, err
			}
		}
		if _, err := r.Close(); err != nil {
			return nil, fail(err)
		}
		more = w.Rows() > before
	}
	if err := conn.Exec(ctx, "CLOSE noren; DEALLOCATE noren_fetch").Close(); err != nil {
		return nil, fail(err)
	}
	return w.Finish()
}

// describe names the columns and how they are sent.
func describe(ctx context.Context, conn *pgconn.PgConn, fields []pgconn.FieldDescription, where any) ([]spool.Column, []int16, error) {
	if len(fields) == 0 {
		return nil, nil, &noren.Error{Kind: noren.Usage, Where: where, What: "has no columns"}
	}
	columns, formats := make([]spool.Column, len(fields)), make([]int16, len(fields))
	var names, oids, mods []string
	for i, f := range fields {
		if f.Name == "" || f.Name == "?column?" || slices.Contains(names, f.Name) {
			return nil, nil, &noren.Error{
				Kind: noren.Usage, Where: noren.Position{File: where, Field: i + 1}, What: "expected a name of its own",
				Hint: "name it in the query: SELECT ... AS name",
			}
		}
		names = append(names, f.Name)
		oids = append(oids, strconv.FormatUint(uint64(f.DataTypeOID), 10))
		mods = append(mods, strconv.Itoa(int(f.TypeModifier)))
		columns[i] = spool.Column{Name: f.Name, Single: f.DataTypeOID == pgtype.Float4OID}
		formats[i], columns[i].Expected = formOf(f.DataTypeOID)
	}
	list := func(s []string) []byte { return []byte("{" + strings.Join(s, ",") + "}") }
	rows, err := readFew(ctx, conn.ExecParams(ctx,
		"SELECT format_type(t.o, t.m) FROM unnest($1::oid[], $2::int4[]) WITH ORDINALITY AS t(o, m, n) ORDER BY t.n",
		[][]byte{list(oids), list(mods)}, nil, nil, nil), len(fields), 1, where)
	if err != nil {
		return nil, nil, err
	}
	if len(rows) != len(fields) {
		return nil, nil, unasked(where)
	}
	for i, row := range rows {
		columns[i].Origin = &origin{string(row[0])}
	}
	return columns, formats, nil
}
