package store

import (
	"context"
	"database/sql"
	"errors"
	"time"
)

// ErrChanged is the cause of errors about a resource that has another version than the
// one that was to be changed.
var ErrChanged = errors.New("the entry has changed since it was read")

// The kinds of resources.
const (
	KindTable   = "table"
	KindRecipe  = "recipe"
	KindRelease = "release"
	KindJob     = "job"
)

// Resource is a document: a table, recipe, release or job.
type Resource struct {
	// N numbers resources in the order in which they were made.
	N        int64
	ID, Kind string
	// Parent is the id of the table that it belongs to; "" for a table.
	Parent string
	// Version grows by one with each change.
	Version int64
	// Doc is JSON.
	Doc []byte
}

// AddResource stores a new resource, with version 1.
func (tx *Tx) AddResource(ctx context.Context, r *Resource) error {
	r.Version = 1
	return tx.exec(ctx, "INSERT INTO resource (id, kind, parent, version, doc) VALUES (?, ?, ?, 1, ?)", r.ID, r.Kind, r.Parent, string(r.Doc))
}

// ChangeResource stores a new document in place of that of r.Version, and moves the
// version on. It returns [ErrChanged] where the version is another, and [ErrNotFound]
// where there is no such resource.
func (tx *Tx) ChangeResource(ctx context.Context, r *Resource) error {
	ok, err := tx.changed(ctx, "UPDATE resource SET doc = ?, version = version + 1 WHERE id = ? AND kind = ? AND version = ?", string(r.Doc), r.ID, r.Kind, r.Version)
	if err != nil {
		return err
	}
	if !ok {
		var n int
		if err := tx.QueryRowContext(ctx, "SELECT 1 FROM resource WHERE id = ? AND kind = ?", r.ID, r.Kind).Scan(&n); err != nil {
			return found(err)
		}
		return ErrChanged
	}
	r.Version++
	return nil
}

// DropResource removes a resource; one that does not exist is [ErrNotFound].
func (tx *Tx) DropResource(ctx context.Context, kind, id string) error {
	ok, err := tx.changed(ctx, "DELETE FROM resource WHERE id = ? AND kind = ?", id, kind)
	if err == nil && !ok {
		return ErrNotFound
	}
	return err
}

// DropChildren removes the resources of a kind that belong to a table.
func (tx *Tx) DropChildren(ctx context.Context, kind, parent string) error {
	return tx.exec(ctx, "DELETE FROM resource WHERE kind = ? AND parent = ?", kind, parent)
}

// TrimResources keeps the newest resources of a kind.
func (tx *Tx) TrimResources(ctx context.Context, kind string, keep int) error {
	return tx.exec(ctx, "DELETE FROM resource WHERE kind = ? AND n <= (SELECT n FROM resource WHERE kind = ? ORDER BY n DESC LIMIT 1 OFFSET ?)", kind, kind, keep)
}

// FindResource finds a resource by its id.
func (s *Store) FindResource(ctx context.Context, kind, id string) (*Resource, error) {
	r := &Resource{}
	var doc string
	err := s.db.QueryRowContext(ctx, "SELECT n, id, kind, parent, version, doc FROM resource WHERE id = ? AND kind = ?", id, kind).
		Scan(&r.N, &r.ID, &r.Kind, &r.Parent, &r.Version, &doc)
	if err != nil {
		return nil, found(err)
	}
	r.Doc = []byte(doc)
	return r, nil
}

// Resources lists resources of a kind, the newest first: those of a table where parent is
// not "", and those made before the one of number before where that is not 0.
func (s *Store) Resources(ctx context.Context, kind, parent string, before int64, limit int) (all []Resource, err error) {
	rows, err := s.db.QueryContext(ctx, `SELECT n, id, kind, parent, version, doc FROM resource
		WHERE kind = ? AND (? = '' OR parent = ?) AND (? = 0 OR n < ?) ORDER BY n DESC LIMIT ?`, kind, parent, parent, before, before, limit)
	if err != nil {
		return nil, found(err)
	}
	defer func() { _ = rows.Close() }()
	for rows.Next() {
		var r Resource
		var doc string
		if err := rows.Scan(&r.N, &r.ID, &r.Kind, &r.Parent, &r.Version, &doc); err != nil {
			return nil, found(err)
		}
		r.Doc = []byte(doc)
		all = append(all, r)
	}
	return all, found(rows.Err())
}

// Answer is the answer to a request that names an idempotency key.
type Answer struct {
	// Request is the SHA-256 of the request.
	Request []byte
	// Status is the HTTP status, 0 while the request is worked on.
	Status int
	Body   []byte
}

// answerLives is how long answers are kept.
const answerLives = 30 * 24 * time.Hour

// ReserveAnswer notes that a request is worked on. If the key was used before, it returns
// what was noted then.
func (tx *Tx) ReserveAnswer(ctx context.Context, principal, key string, request []byte) (*Answer, error) {
	if err := tx.exec(ctx, "DELETE FROM answer WHERE made < ?", tx.Now-answerLives.Milliseconds()); err != nil {
		return nil, err
	}
	a := &Answer{}
	err := tx.QueryRowContext(ctx, "SELECT request, status, body FROM answer WHERE principal = ? AND key = ?", principal, key).Scan(&a.Request, &a.Status, &a.Body)
	switch {
	case err == nil:
		return a, nil
	case !errors.Is(err, sql.ErrNoRows):
		return nil, err
	}
	return nil, tx.exec(ctx, "INSERT INTO answer VALUES (?, ?, ?, 0, x'', ?)", principal, key, request, tx.Now)
}

// KeepAnswer stores the answer to a request that was reserved.
func (tx *Tx) KeepAnswer(ctx context.Context, principal, key string, status int, body []byte) error {
	return tx.exec(ctx, "UPDATE answer SET status = ?, body = ? WHERE principal = ? AND key = ?", status, body, principal, key)
}

// DropAnswer forgets a request that was reserved and refused.
func (tx *Tx) DropAnswer(ctx context.Context, principal, key string) error {
	return tx.exec(ctx, "DELETE FROM answer WHERE principal = ? AND key = ? AND status = 0", principal, key)
}

// DropUnanswered forgets the requests that a former process did not answer.
func (tx *Tx) DropUnanswered(ctx context.Context) error {
	return tx.exec(ctx, "DELETE FROM answer WHERE status = 0")
}
