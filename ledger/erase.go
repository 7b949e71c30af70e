package ledger

import (
	"context"
	"time"
)

// eraseAfter is about how long the log of the database keeps a secret of noise that was
// deleted.
const eraseAfter = 2 * time.Second

// eraseLater empties the log of the database after secrets of noise were deleted: the
// database overwrites what it deletes, and its log keeps the pages of earlier transactions
// until it is emptied. It ends with the ledger, whose last process empties the log too.
func (l *Ledger) eraseLater() {
	again := time.NewTicker(eraseAfter)
	defer again.Stop()
	for {
		select {
		case <-l.life.Done():
			return
		case <-l.deleted:
		}
		again.Reset(eraseAfter)
		for erased := false; !erased; {
			select {
			case <-l.life.Done():
				return
			case <-again.C:
			}
			select {
			case <-l.deleted: // by this erasure; what comes later has another
			default:
			}
			erased = l.erase(l.life)
		}
	}
}

// eraseSoon has the log emptied after a while. It is called within the transaction that
// deletes: while that is open, no erasure succeeds.
func (l *Ledger) eraseSoon() {
	select {
	case l.deleted <- struct{}{}:
	default: // it will be
	}
}

// erase empties the log, and reports whether it is empty now. It does not wait: where
// another connection reads or writes, it fails.
func (l *Ledger) erase(ctx context.Context) bool {
	db, err := connect(l.path, true, 1)
	if err != nil {
		return false
	}
	defer func() { _ = db.Close() }()
	if _, err := db.ExecContext(ctx, "PRAGMA busy_timeout = 0"); err != nil {
		return false
	}
	busy, frames, folded := 0, 0, 0
	err = db.QueryRowContext(ctx, "PRAGMA wal_checkpoint(TRUNCATE)").Scan(&busy, &frames, &folded)
	return err == nil && busy == 0
}
