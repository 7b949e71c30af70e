package ledger

import (
	"context"
	"database/sql"
	"errors"
)

// Beside is the last entry of a log that is kept beside the ledger, such as the audit log of
// a server: its number and its hash.
type Beside struct {
	N    int64
	Hash [32]byte
}

// noteBeside stores the last entry of the log beside the ledger, in a transaction that appends
// an entry to the chain.
func (l *Ledger) noteBeside(ctx context.Context, tx *sql.Tx) error {
	if l.opts.Beside == nil {
		return nil
	}
	return setBeside(ctx, tx, l.opts.Beside())
}

func setBeside(ctx context.Context, tx *sql.Tx, b Beside) error {
	_, err := tx.ExecContext(ctx,
		"INSERT INTO beside (one, n, hash) VALUES (1, ?, ?) ON CONFLICT (one) DO UPDATE SET n = excluded.n, hash = excluded.hash", b.N, b.Hash[:])
	return err
}

// LastBeside is the last entry of the log beside the ledger when the ledger was last written
// to; entry 0 where none is noted.
func (l *Ledger) LastBeside(ctx context.Context) (Beside, error) {
	var b Beside
	var hash []byte
	err := l.readers.QueryRowContext(ctx, "SELECT n, hash FROM beside").Scan(&b.N, &hash)
	if errors.Is(err, sql.ErrNoRows) {
		return b, nil
	}
	if err != nil {
		return b, fail(l.path, "cannot be read", err)
	}
	copy(b.Hash[:], hash)
	return b, nil
}

// NoteBeside stores what the log beside the ledger is now, where another copy of it was put
// in its place.
func (l *Ledger) NoteBeside(ctx context.Context, last Beside) error {
	return l.write(ctx, "the log beside it was not noted",
		func(ctx context.Context, tx *sql.Tx, _ int64) error { return setBeside(ctx, tx, last) })
}
