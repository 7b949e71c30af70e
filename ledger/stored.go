package ledger

import (
	"context"
	"database/sql"
	"errors"
)

// Charged is what became of a request.
type Charged struct {
	// State is reserved, released or forfeited.
	State string
	// Dataset is the name of the data set that was charged.
	Dataset string
	// Hash is that of the request.
	Hash [32]byte
	// Release is the stored answer of a released request; of others it has the charge alone.
	Release Release
}

// StoredByKey is what became of the request that an analyst made under an idempotency
// key; nil where there was none. It charges nothing. A request is reserved while it is
// answered, and after a crash until its lease has run out: then it is forfeited here.
func (l *Ledger) StoredByKey(ctx context.Context, principal, key string) (*Charged, error) {
	c, err := l.storedByKey(ctx, principal, key)
	if err == nil && c != nil && c.State == "reserved" {
		err = l.write(ctx, "the lease of a reservation was not looked at", func(ctx context.Context, tx *sql.Tx, now int64) error {
			if err := l.unsealed(ctx, tx); err != nil {
				return err
			}
			return l.sweep(ctx, tx, now)
		})
		var sealed *SealedError
		if errors.As(err, &sealed) {
			return c, nil // nothing is written to a sealed ledger
		}
		if err == nil {
			c, err = l.storedByKey(ctx, principal, key)
		}
	}
	if err != nil {
		return nil, fail(l.path, "cannot be read", err)
	}
	return c, nil
}

func (l *Ledger) storedByKey(ctx context.Context, principal, key string) (*Charged, error) {
	tx, err := l.db.BeginTx(ctx, &sql.TxOptions{ReadOnly: true})
	if err != nil {
		return nil, err
	}
	defer tx.Rollback()
	out := &Charged{}
	var id string
	var hash []byte
	err = tx.QueryRowContext(ctx, `SELECT charge.id, charge.state, charge.request_hash, account.name FROM charge JOIN account ON account.id = charge.account
		WHERE principal = ? AND idempotency_key = ?`, principal, key).Scan(&id, &out.State, &hash, &out.Dataset)
	if errors.Is(err, sql.ErrNoRows) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	copy(out.Hash[:], hash)
	if out.State == "released" {
		s, err := l.stored(ctx, tx, id)
		if err != nil {
			return nil, err
		}
		out.Release = *s
		return out, nil
	}
	out.Release.Charge, err = l.chargeInfo(ctx, tx, id)
	return out, err
}
