package store

import (
	"context"
	"database/sql"
	"time"
)

// Key is a public key that has signed here.
type Key struct {
	ID, PEM string
	Since   time.Time
	// Until is when another key replaced it; zero while it is in use.
	Until        time.Time
	Certificates int64
}

// UseKey notes the key that signs from now on. A key that was in use before it is
// retired.
func (tx *Tx) UseKey(ctx context.Context, id, pem string) error {
	if err := tx.exec(ctx, "UPDATE signing_key SET until = ? WHERE id <> ? AND until IS NULL", tx.Now, id); err != nil {
		return err
	}
	return tx.exec(ctx, "INSERT INTO signing_key (id, pem, since) VALUES (?, ?, ?) ON CONFLICT (id) DO UPDATE SET until = NULL", id, pem,
		tx.Now)
}

// Keys lists all keys, the one in use first.
func (s *Store) Keys(ctx context.Context) (all []Key, err error) {
	rows, err := s.reads.QueryContext(ctx, `SELECT id, pem, since, until, (SELECT count(*) FROM certificate WHERE key_id = signing_key.id)
		FROM signing_key ORDER BY until IS NOT NULL, since DESC, id`)
	if err != nil {
		return nil, found(err)
	}
	defer func() { _ = rows.Close() }()
	for rows.Next() {
		var k Key
		var since int64
		var until sql.NullInt64
		if err := rows.Scan(&k.ID, &k.PEM, &since, &until, &k.Certificates); err != nil {
			return nil, found(err)
		}
		k.Since = at(since)
		if until.Valid {
			k.Until = at(until.Int64)
		}
		all = append(all, k)
	}
	return all, found(rows.Err())
}

// Certificate is a certificate of a release.
type Certificate struct {
	// ID is the certificate's id; Release that of the release; Object that of the table
	// on which grants are made.
	ID, Release, Object string
	KeyID, FileName     string
	SHA256              string // of the released file
	Guarantee           string // JSON
	Made                time.Time
}

// AddCertificate stores a certificate.
func (tx *Tx) AddCertificate(ctx context.Context, c *Certificate) error {
	c.Made = at(tx.Now)
	return tx.exec(ctx, "INSERT INTO certificate VALUES (?, ?, ?, ?, ?, ?, ?, ?)", c.ID, c.Release, c.Object, c.KeyID, c.FileName, c.SHA256,
		c.Guarantee, tx.Now)
}

// Certificates lists certificates, the newest first, after the one named by id.
func (s *Store) Certificates(ctx context.Context, after string, limit int) (all []Certificate, err error) {
	rows, err := s.reads.QueryContext(ctx, `SELECT id, release, object, key_id, file_name, sha256, guarantee, made FROM certificate
		WHERE ? = '' OR rowid < (SELECT rowid FROM certificate WHERE id = ?) ORDER BY rowid DESC LIMIT ?`, after, after, limit)
	if err != nil {
		return nil, found(err)
	}
	defer func() { _ = rows.Close() }()
	for rows.Next() {
		var c Certificate
		var made int64
		if err := rows.Scan(&c.ID, &c.Release, &c.Object, &c.KeyID, &c.FileName, &c.SHA256, &c.Guarantee, &made); err != nil {
			return nil, found(err)
		}
		c.Made = at(made)
		all = append(all, c)
	}
	return all, found(rows.Err())
}
