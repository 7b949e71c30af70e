// Package statements keeps the prepared statements of a database, so that a query that is
// made often is parsed once for each connection.
package statements

import (
	"context"
	"database/sql"
	"errors"
	"sync"
)

// Cache prepares statements when they are first needed. Its queries are constants: it keeps
// one statement for each. It may be used by several goroutines. Close it before the
// database.
type Cache struct {
	db *sql.DB
	mu sync.Mutex
	by map[string]*sql.Stmt

	wanted []string // queries in transactions, to prepare
}

// New returns an empty cache for a database.
func New(db *sql.DB) *Cache { return &Cache{db: db, by: map[string]*sql.Stmt{}} }

// get is the statement of a query.
func (c *Cache) get(ctx context.Context, query string) (*sql.Stmt, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if s := c.by[query]; s != nil {
		return s, nil
	}
	s, err := c.db.PrepareContext(ctx, query)
	if err != nil {
		return nil, err
	}
	c.by[query] = s
	return s, nil
}

// Row makes a query and reads its one row into to. The error is [sql.ErrNoRows] where
// there is none.
func (c *Cache) Row(ctx context.Context, query string, args []any, to ...any) error {
	s, err := c.get(ctx, query)
	if err != nil {
		return err
	}
	return s.QueryRowContext(ctx, args...).Scan(to...)
}

// Rows makes a query. The caller closes the rows.
func (c *Cache) Rows(ctx context.Context, query string, args ...any) (*sql.Rows, error) {
	s, err := c.get(ctx, query)
	if err != nil {
		return nil, err
	}
	return s.QueryContext(ctx, args...)
}

// In is the prepared statement of a query in a transaction of the database. It is nil
// where there is none yet: the caller makes the query as it is, and [Cache.Prepare]
// prepares it after the transaction.
func (c *Cache) In(ctx context.Context, tx *sql.Tx, query string) *sql.Stmt {
	c.mu.Lock()
	defer c.mu.Unlock()
	s := c.by[query]
	if s == nil {
		c.wanted = append(c.wanted, query)
		return nil
	}
	return tx.StmtContext(ctx, s)
}

// Prepare prepares what [Cache.In] did not find. It is called outside a transaction, as it
// takes a connection of its own.
func (c *Cache) Prepare(ctx context.Context) {
	c.mu.Lock()
	wanted := c.wanted
	c.wanted = nil
	c.mu.Unlock()
	for _, query := range wanted {
		// The lock is free meanwhile: who holds the connection may need it to go on.
		s, err := c.db.PrepareContext(ctx, query)
		if err != nil {
			continue // a query without a statement is made as it is
		}
		c.mu.Lock()
		if c.by[query] == nil {
			c.by[query], s = s, nil
		}
		c.mu.Unlock()
		if s != nil {
			_ = s.Close()
		}
	}
}

// Close closes all statements.
func (c *Cache) Close() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	var all []error
	for _, s := range c.by {
		all = append(all, s.Close())
	}
	clear(c.by)
	return errors.Join(all...)
}
