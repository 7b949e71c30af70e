// Package statements keeps the prepared statements of the connections of a database, so that
// a query that is made again is not parsed again, within and without a transaction.
package statements

import (
	"context"
	"database/sql/driver"
	"errors"
)

// most is the number of statements that a connection keeps. The queries of Noren are
// constants; what is made once, as a change of the schema, is never kept.
const most = 512

// Keeping returns a connector whose connections are those of c, and keep the statement of a
// query from the second time on that it is made. The connections of c and their statements
// have the methods with a context, as those of modernc.org/sqlite have.
func Keeping(c driver.Connector) driver.Connector { return &connector{c} }

type connector struct{ driver.Connector }

func (c *connector) Connect(ctx context.Context) (driver.Conn, error) {
	in, err := c.Connector.Connect(ctx)
	if err != nil {
		return nil, err
	}
	able, ok := in.(connection)
	if !ok {
		return nil, errors.Join(errors.ErrUnsupported, in.Close())
	}
	return &conn{connection: able, known: map[string]*kept{}}, nil
}

// connection is what a connection of the driver must be able to do.
type connection interface {
	driver.Conn
	driver.ConnBeginTx
	driver.ConnPrepareContext
	driver.ExecerContext
	driver.QueryerContext
	driver.Pinger
	driver.SessionResetter
	driver.Validator
	Serialize() ([]byte, error)
}

// statement is what a statement of the driver must be able to do.
type statement interface {
	driver.Stmt
	driver.StmtExecContext
	driver.StmtQueryContext
}

// conn is one connection. [database/sql] gives it to one goroutine at a time, and the rows
// of a query with it: it needs no lock.
type conn struct {
	connection
	known map[string]*kept
}

// kept is a query that was made before.
type kept struct {
	stmt statement // nil until the second time
	busy bool      // its rows are being read
}

// statement returns the kept statement of a query. It is nil where the query is new, where
// its statement is in use, and where the connection keeps enough.
func (c *conn) statement(ctx context.Context, query string) (*kept, error) {
	k := c.known[query]
	switch {
	case k == nil:
		if len(c.known) < most {
			c.known[query] = &kept{}
		}
		return nil, nil
	case k.busy:
		return nil, nil
	case k.stmt == nil:
		made, err := c.PrepareContext(ctx, query)
		if err != nil {
			return nil, err
		}
		able, ok := made.(statement)
		if !ok {
			return nil, errors.Join(errors.ErrUnsupported, made.Close())
		}
		k.stmt = able
	}
	return k, nil
}

func (c *conn) ExecContext(ctx context.Context, query string, args []driver.NamedValue) (driver.Result, error) {
	k, err := c.statement(ctx, query)
	if err != nil {
		return nil, err
	}
	if k == nil {
		return c.connection.ExecContext(ctx, query, args)
	}
	return k.stmt.ExecContext(ctx, args)
}

func (c *conn) QueryContext(ctx context.Context, query string, args []driver.NamedValue) (driver.Rows, error) {
	k, err := c.statement(ctx, query)
	if err != nil {
		return nil, err
	}
	if k == nil {
		return c.connection.QueryContext(ctx, query, args)
	}
	in, err := k.stmt.QueryContext(ctx, args)
	if err != nil {
		return nil, err
	}
	k.busy = true
	return &rows{Rows: in, of: k}, nil
}

// Close closes the statements and the connection.
func (c *conn) Close() error {
	var all []error
	for _, k := range c.known {
		if k.stmt != nil {
			all = append(all, k.stmt.Close())
		}
	}
	c.known = nil
	return errors.Join(append(all, c.connection.Close())...)
}

// rows are those of a kept statement, which is free again when they are closed.
type rows struct {
	driver.Rows
	of *kept
}

func (r *rows) Close() error {
	r.of.busy = false
	return r.Rows.Close()
}
