package store

import (
	"context"
	"time"
)

// Answer is the answer to a request with an Idempotency-Key.
type Answer struct {
	BodyHash []byte // SHA-256 of the request's body
	Status   int
	Body     []byte
}

// keysLive is how long the answer to a key is kept.
const keysLive = 30 * 24 * time.Hour

// FindAnswer finds the answer that a principal got on a route for a key.
func (s *Store) FindAnswer(ctx context.Context, principal, route, key string) (*Answer, error) {
	var a Answer
	err := s.reads.QueryRowContext(ctx,
		"SELECT body_hash, status, body FROM idempotency WHERE principal = ? AND route = ? AND key = ? AND made >= ?",
		principal, route, key, s.now()-keysLive.Milliseconds()).Scan(&a.BodyHash, &a.Status, &a.Body)
	return &a, found(err)
}

// KeepAnswer keeps an answer for 30 days, and drops older ones.
func (tx *Tx) KeepAnswer(ctx context.Context, principal, route, key string, a *Answer) error {
	if err := tx.exec(ctx, "DELETE FROM idempotency WHERE made < ?", tx.Now-keysLive.Milliseconds()); err != nil {
		return err
	}
	return tx.exec(ctx, "INSERT INTO idempotency VALUES (?, ?, ?, ?, ?, ?, ?)", principal, route, key, a.BodyHash, a.Status, a.Body, tx.Now)
}
