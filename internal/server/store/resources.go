package store

import (
	"context"
	"encoding/json"
	"errors"

	"github.com/noren-privacy/noren"
)

// ErrChanged is the cause of errors about a resource that has another version than the
// one that was to be changed.
var ErrChanged = errors.New("the entry has changed since it was read")

// ErrUnreadable is the cause of errors about a resource whose document cannot be decoded.
var ErrUnreadable = errors.New("the document cannot be read")

// The kinds of resources.
const (
	KindTable   = "table"
	KindRecipe  = "recipe"
	KindRelease = "release"
	KindJob     = "job"
	KindBook    = "book"
)

// Resource is a document: a table, recipe, release, job or book.
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
	ok, err := tx.changed(ctx, "UPDATE resource SET doc = ?, version = version + 1 WHERE id = ? AND kind = ? AND version = ?", string(r.Doc),
		r.ID, r.Kind, r.Version)
	if err != nil {
		return err
	}
	if !ok {
		var n int
		if err := tx.row(ctx, "SELECT 1 FROM resource WHERE id = ? AND kind = ?", []any{r.ID, r.Kind}, &n); err != nil {
			return found(err)
		}
		return ErrChanged
	}
	r.Version++
	return nil
}

// PutResource stores a resource, whether it exists or not.
func (tx *Tx) PutResource(ctx context.Context, r *Resource) error {
	return tx.exec(ctx, `INSERT INTO resource (id, kind, parent, version, doc) VALUES (?, ?, ?, 1, ?)
		ON CONFLICT (id) DO UPDATE SET doc = excluded.doc, version = version + 1`, r.ID, r.Kind, r.Parent, string(r.Doc))
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

// TrimResources keeps the newest resources of a kind, so many of each principal that the
// member by of their documents names: those of one leave those of others.
func (tx *Tx) TrimResources(ctx context.Context, kind string, keep int) error {
	return tx.exec(ctx, `DELETE FROM resource WHERE n IN (SELECT n FROM (
		SELECT n, row_number() OVER (PARTITION BY CASE WHEN json_valid(doc) THEN json_extract(doc, '$.by') END ORDER BY n DESC) AS place
		FROM resource WHERE kind = ?) WHERE place > ?)`, kind, keep)
}

// FindResource finds a resource by its id.
func (s *Store) FindResource(ctx context.Context, kind, id string) (*Resource, error) {
	r := &Resource{}
	var doc string
	err := s.reads.QueryRowContext(ctx, "SELECT n, id, kind, parent, version, doc FROM resource WHERE id = ? AND kind = ?", id, kind).
		Scan(&r.N, &r.ID, &r.Kind, &r.Parent, &r.Version, &doc)
	if err != nil {
		return nil, found(err)
	}
	r.Doc = []byte(doc)
	return r, nil
}

// FindDocument finds a resource by its id, which begins with prefix, and decodes its
// document. An id of another form is not found.
func (s *Store) FindDocument(ctx context.Context, kind, prefix, id string, doc any) (*Resource, error) {
	if !ValidID(prefix, id) {
		return nil, ErrNotFound
	}
	r, err := s.FindResource(ctx, kind, id)
	if err != nil {
		return nil, err
	}
	return r, r.Decode(doc)
}

// Decode decodes the document of a resource.
func (r *Resource) Decode(doc any) error {
	if err := json.Unmarshal(r.Doc, doc); err != nil {
		return noren.Reasonf("store: a %s: %s", r.Kind, ErrUnreadable)
	}
	return nil
}

// Resources lists resources of a kind, the newest first: those of a table where parent is
// not "", and those made before the one of number before where that is not 0.
func (s *Store) Resources(ctx context.Context, kind, parent string, before int64, limit int) (all []Resource, err error) {
	rows, err := s.reads.QueryContext(ctx, `SELECT n, id, kind, parent, version, doc FROM resource
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
