package store

import (
	"context"
	"errors"
)

// LedgerSeen is the last entry of the ledger that the store has seen.
type LedgerSeen struct {
	Ledger string
	Seq    int64
	Hash   []byte
	// Spent is what each data set had spent then, in JSON.
	Spent []byte
}

// LedgerSeen reads what the store has seen of the ledger; [ErrNotFound] where it has seen
// none.
func (s *Store) LedgerSeen(ctx context.Context) (*LedgerSeen, error) {
	l := &LedgerSeen{}
	var spent string
	err := s.reads.QueryRowContext(ctx, "SELECT ledger, seq, hash, spent FROM ledger_seen").Scan(&l.Ledger, &l.Seq, &l.Hash, &spent)
	l.Spent = []byte(spent)
	return l, found(err)
}

// SetLedgerSeen stores what was seen of the ledger, unless the store has seen a later entry.
func (tx *Tx) SetLedgerSeen(ctx context.Context, l *LedgerSeen) error {
	return tx.exec(ctx, `INSERT INTO ledger_seen (one, ledger, seq, hash, spent) VALUES (1, ?, ?, ?, ?)
		ON CONFLICT (one) DO UPDATE SET seq = excluded.seq, hash = excluded.hash, spent = excluded.spent WHERE excluded.ledger = ledger AND excluded.seq > seq`,
		l.Ledger, l.Seq, l.Hash, string(l.Spent))
}

// SettleLedger stores what a reconciliation made of the ledger: all answers that the store
// has are accounted for there.
func (tx *Tx) SettleLedger(ctx context.Context, l *LedgerSeen) error {
	if err := tx.exec(ctx, "DELETE FROM ledger_seen"); err != nil {
		return err
	}
	return tx.exec(ctx, "INSERT INTO ledger_seen (one, ledger, seq, hash, spent, settled) VALUES (1, ?, ?, ?, ?, (SELECT coalesce(max(n), "+
		"0) FROM answer))", l.Ledger, l.Seq, l.Hash, string(l.Spent))
}

// LastCharge is the greatest entry of the ledger that an answer names, with the request key
// of its charge; [ErrNotFound] where none does. Answers that a reconciliation accounted for
// do not count.
func (s *Store) LastCharge(ctx context.Context) (link int64, key string, err error) {
	err = s.reads.QueryRowContext(ctx, `SELECT link, request_key FROM answer WHERE link > 0 AND n > coalesce((SELECT settled FROM ledger_seen), 0)
		ORDER BY link DESC LIMIT 1`).Scan(&link, &key)
	return link, key, found(err)
}

// Charged reports whether the store has the question of a request key.
func (s *Store) Charged(ctx context.Context, key string) (bool, error) {
	var has bool
	err := s.reads.QueryRowContext(ctx, "SELECT EXISTS (SELECT 1 FROM answer WHERE request_key = ?)", key).Scan(&has)
	return has, found(err)
}

// UsesLedger reports whether the store has seen a ledger, or has books or answers, which a
// ledger has too.
func (s *Store) UsesLedger(ctx context.Context) (bool, error) {
	var uses bool
	err := s.reads.QueryRowContext(ctx,
		`SELECT EXISTS (SELECT 1 FROM ledger_seen) OR EXISTS (SELECT 1 FROM answer) OR EXISTS (SELECT 1 FROM resource WHERE kind = 'book')`).
		Scan(&uses)
	return uses, found(err)
}

// EachAnswer calls do with the bodies of all answers, the oldest first, until it fails.
func (s *Store) EachAnswer(ctx context.Context, do func(body []byte) error) error {
	rows, err := s.reads.QueryContext(ctx, "SELECT body FROM answer WHERE state = 'answered' ORDER BY n")
	if err != nil {
		return found(err)
	}
	defer func() { _ = rows.Close() }()
	for rows.Next() {
		var body []byte
		if err := rows.Scan(&body); err != nil {
			return found(err)
		}
		if err := do(body); err != nil {
			return err
		}
	}
	return found(rows.Err())
}

// KeyInUse is the id of the key that signs; "" where none was in use yet.
func (s *Store) KeyInUse(ctx context.Context) (id string, err error) {
	err = s.reads.QueryRowContext(ctx, "SELECT id FROM signing_key WHERE until IS NULL").Scan(&id)
	if err = found(err); errors.Is(err, ErrNotFound) {
		return "", nil
	}
	return id, err
}

// EndCredentials ends all sessions, sign-in links and tokens.
func (tx *Tx) EndCredentials(ctx context.Context) error {
	for _, end := range []string{
		"DELETE FROM session", "UPDATE link SET used = ?1 WHERE used IS NULL",
		"UPDATE token SET revoked = ?1 WHERE revoked IS NULL",
	} {
		var err error
		if end == "DELETE FROM session" {
			err = tx.exec(ctx, end)
		} else {
			err = tx.exec(ctx, end, tx.Now)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// RetireKeys ends the use of the key that signs: the next one that is there signs.
func (tx *Tx) RetireKeys(ctx context.Context) error {
	return tx.exec(ctx, "UPDATE signing_key SET until = ? WHERE until IS NULL", tx.Now)
}
