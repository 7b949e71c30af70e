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
