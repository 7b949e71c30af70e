package store

import (
	"context"
	"database/sql"
	"errors"
	"strings"
	"time"

	"github.com/noren-privacy/noren"
)

// Principal is a person or a program that may sign in.
type Principal struct {
	ID, Name string
	// SeenDay is the last day on which the principal was seen, as in 2026-11-22; "" if never.
	SeenDay string
	// Ended says that the principal may not sign in any more.
	Ended  bool
	Grants []Grant
}

// Grant is a role on an object: a table's id, or "*" for all objects.
type Grant struct{ Object, Role string }

// AddPrincipal makes a principal. A name that is taken is an error of kind Usage.
func (tx *Tx) AddPrincipal(ctx context.Context, name string) (string, error) {
	id := NewID("pr")
	added, err := tx.changed(ctx, "INSERT INTO principal (id, name, made) VALUES (?, ?, ?) ON CONFLICT (name) DO NOTHING", id, name, tx.Now)
	if err != nil {
		return "", err
	}
	if !added {
		return "", noren.Usagef("name", "expected a name that is free, got one that a principal has")
	}
	return id, nil
}

// EndPrincipal ends the principal's sessions, links and tokens, and keeps it from
// signing in. What it did stays in the audit log.
func (tx *Tx) EndPrincipal(ctx context.Context, id string) error {
	ended, err := tx.changed(ctx, "UPDATE principal SET ended = ? WHERE id = ? AND ended IS NULL", tx.Now, id)
	if err != nil {
		return err
	}
	if !ended {
		return ErrNotFound
	}
	for _, q := range []string{
		"DELETE FROM session WHERE principal = ?", "DELETE FROM link WHERE principal = ? AND used IS NULL",
		"UPDATE token SET revoked = coalesce(revoked, made) WHERE principal = ?",
	} {
		if err := tx.exec(ctx, q, id); err != nil {
			return err
		}
	}
	return nil
}

// Grant gives a principal a role on an object.
func (tx *Tx) Grant(ctx context.Context, principal, object, role string) error {
	return tx.exec(ctx, "INSERT INTO role_grant VALUES (?, ?, ?, ?) ON CONFLICT DO NOTHING", principal, object, role, tx.Now)
}

// Revoke takes a role on an object away, and reports whether there was one.
func (tx *Tx) Revoke(ctx context.Context, principal, object, role string) (bool, error) {
	return tx.changed(ctx, "DELETE FROM role_grant WHERE principal = ? AND object = ? AND role = ?", principal, object, role)
}

// PrincipalByName finds a principal that may sign in.
func (s *Store) PrincipalByName(ctx context.Context, name string) (*Principal, error) {
	return s.principal(ctx, "name = ? AND ended IS NULL", name)
}

// PrincipalByID finds a principal, an ended one too.
func (s *Store) PrincipalByID(ctx context.Context, id string) (*Principal, error) {
	return s.principal(ctx, "id = ?", id)
}

func (s *Store) principal(ctx context.Context, where string, arg any) (*Principal, error) {
	var p Principal
	var grants grantLines
	err := s.reads.QueryRowContext(ctx, "SELECT "+principalColumns+" FROM principal WHERE "+where, arg).
		Scan(&p.ID, &p.Name, &p.SeenDay, &p.Ended, &grants)
	if err != nil {
		return nil, found(err)
	}
	p.Grants = grants.list()
	return &p, nil
}

// principalColumns are the columns of a principal, the last with its grants: every request
// finds its principal, and one statement is faster than two.
const principalColumns = "principal.id, principal.name, coalesce(principal.seen_day, ''), principal.ended IS NOT NULL, " +
	"coalesce((SELECT group_concat(object || ' ' || role, char(10) ORDER BY object, role) FROM role_grant WHERE role_grant.principal = " +
	"principal.id), '')"

// grantLines are grants as principalColumns has them: a line with object and role for each.
type grantLines string

func (g grantLines) list() (all []Grant) {
	for line := range strings.Lines(string(g)) {
		object, role, _ := strings.Cut(strings.TrimSuffix(line, "\n"), " ")
		all = append(all, Grant{Object: object, Role: role})
	}
	return all
}

func (s *Store) grants(ctx context.Context, principal string) ([]Grant, error) {
	rows, err := s.reads.QueryContext(ctx, "SELECT object, role FROM role_grant WHERE principal = ? ORDER BY object, role", principal)
	if err != nil {
		return nil, found(err)
	}
	return collect(rows, func(g *Grant) []any { return []any{&g.Object, &g.Role} })
}

// Principals lists principals that may sign in, by id, from after on.
func (s *Store) Principals(ctx context.Context, after string, limit int) ([]Principal, error) {
	rows, err := s.reads.QueryContext(ctx,
		"SELECT id, name, coalesce(seen_day, '') FROM principal WHERE id > ? AND ended IS NULL ORDER BY id LIMIT ?", after, limit)
	if err != nil {
		return nil, found(err)
	}
	all, err := collect(rows, func(p *Principal) []any { return []any{&p.ID, &p.Name, &p.SeenDay} })
	for i := range all {
		if err == nil {
			all[i].Grants, err = s.grants(ctx, all[i].ID)
		}
	}
	return all, err
}

// collect reads all rows, each into the fields that to names.
func collect[T any](rows *sql.Rows, to func(*T) []any) ([]T, error) {
	var all []T
	for rows.Next() {
		var v T
		if err := rows.Scan(to(&v)...); err != nil {
			return nil, failed("the server's store cannot be read", errors.Join(err, rows.Close()))
		}
		all = append(all, v)
	}
	if err := errors.Join(rows.Err(), rows.Close()); err != nil {
		return nil, failed("the server's store cannot be read", err)
	}
	return all, nil
}

// at is a stored time.
func at(ms int64) time.Time { return time.UnixMilli(ms).UTC() }
