package ledger

import (
	"context"
	"database/sql"
	"sync"
	"time"

	"github.com/noren-privacy/noren"
)

// Remaining is what one account holds after a charge.
type Remaining struct {
	Kind       string // "dataset", "analyst", or "block" of an older ledger
	Name       string
	Left       Cost
	Accounting Accounting // of the budget
}

// Reservation is a charge that was made and not yet answered. It belongs to the
// process that made it. End it with Settle, or with Forfeit.
type Reservation struct {
	ledger    *Ledger
	owner     string
	info      ChargeInfo
	remaining []Remaining
	sealed    []byte
	resumed   bool
	made      int64 // when it was charged, in milliseconds

	ctx    context.Context
	cancel context.CancelCauseFunc

	mu   sync.Mutex // held by Settle, Forfeit
	done bool
}

// Charge returns the charge, for the certificate.
func (r *Reservation) Charge() ChargeInfo { return r.info }

// Made is when the request was charged, by the ledger's clock.
func (r *Reservation) Made() time.Time { return time.UnixMilli(r.made) }

// Remaining returns what was left on each account charged, after the charge.
func (r *Reservation) Remaining() []Remaining { return r.remaining }

// Context returns the context to compute under. It ends with Reserve's context,
// and with cause [ErrForfeited] when the lease is lost: the answer could not be
// given any more.
func (r *Reservation) Context() context.Context { return r.ctx }

// watch renews the lease until the reservation ends.
func (r *Reservation) watch(ctx context.Context) {
	l := r.ledger
	l.answering.add(r.info.ID)
	r.ctx, r.cancel = context.WithCancelCause(ctx)
	l.work.Go(func() {
		beat := time.NewTicker(max(l.opts.Lease/3, time.Millisecond))
		defer beat.Stop()
		for {
			select {
			case <-r.ctx.Done():
				return
			case <-l.life.Done():
				return
			case <-beat.C:
			}
			// A renewal that fails is tried again at the next beat: a lease that
			// runs out meanwhile holds until somebody takes it.
			if held, err := r.renew(); err == nil && !held {
				r.cancel(ErrForfeited)
				return
			}
		}
	})
}

// renew moves the lease on, if it is still the owner's.
func (r *Reservation) renew() (held bool, err error) {
	l := r.ledger
	_, err = l.grouped(r.ctx, "the lease was not renewed", &job{do: func(ctx context.Context, tx *sql.Tx, now int64) error {
		next := l.clock.lease(now, l.opts.Lease)
		done, err := tx.ExecContext(ctx, `UPDATE charge SET owner_boot = ?, lease_until = max(lease_until, ?), lease_boot = max(lease_boot, ?)
			WHERE id = ? AND owner = ? AND state = 'reserved'`, next.boot, next.until, next.bootTime, r.info.ID, r.owner)
		if err != nil {
			return err
		}
		rows, err := done.RowsAffected()
		held = rows == 1
		return err
	}})
	return held, err
}

// sweep forfeits all reservations whose lease has run out and that cannot be resumed.
func (l *Ledger) sweep(ctx context.Context, tx *sql.Tx, now int64) error {
	// Without its name SQLite takes the index of seq and reads all charges.
	rows, err := tx.QueryContext(ctx, `SELECT id, owner_boot, lease_until, lease_boot FROM charge INDEXED BY charge_open
		WHERE state = 'reserved' AND NOT EXISTS (SELECT 1 FROM noise_secret WHERE noise_secret.charge = charge.id AND tries < ?) ORDER BY seq`, maxTries)
	if err != nil {
		return err
	}
	defer rows.Close()
	var out []string
	for rows.Next() {
		var id string
		var held lease
		if err := rows.Scan(&id, &held.boot, &held.until, &held.bootTime); err != nil {
			return err
		}
		if l.clock.expired(held, now) {
			out = append(out, id)
		}
	}
	if err := rows.Err(); err != nil {
		return err
	}
	for _, id := range out {
		if err := l.forfeit(ctx, tx, id, "its lease ran out", now); err != nil {
			return err
		}
	}
	return nil
}

// forfeit ends a charge without an answer. What it spent stays spent.
func (l *Ledger) forfeit(ctx context.Context, tx *sql.Tx, id string, reason noren.Term, now int64) error {
	if _, err := l.appendLink(ctx, tx, kindForfeit, forfeitBody{id, string(reason), now}); err != nil {
		return err
	}
	return l.endCharge(ctx, tx, id, "forfeited", string(reason), now)
}

// endCharge ends a charge, and forgets the secret of its noise, also in the log of the database.
func (l *Ledger) endCharge(ctx context.Context, tx *sql.Tx, id, state, reason string, now int64) error {
	found, err := tx.ExecContext(ctx, "DELETE FROM noise_secret WHERE charge = ?", id)
	if err != nil {
		return err
	}
	if n, err := found.RowsAffected(); err != nil || n > 0 {
		l.eraseSoon()
	}
	return setEnded(ctx, tx, id, state, reason, now)
}

func setEnded(ctx context.Context, tx *sql.Tx, id, state, reason string, now int64) error {
	_, err := tx.ExecContext(ctx, "UPDATE charge SET state = ?, reason = ?, ended_at = ? WHERE id = ? AND state = 'reserved'", state, reason,
		now, id)
	return err
}

// lost is the error of an owner who is one no more.
func (r *Reservation) lost() error {
	return &noren.Error{
		Kind: noren.Refused, Code: "forfeited", Where: noren.File(r.ledger.path), What: "the answer is not given", Err: ErrForfeited,
		Hint: "the process was silent for longer than its lease; the cost stays spent, ask again under another key",
	}
}
