package ledger

import (
	"context"
	"database/sql"
	"errors"
	"sync"
	"time"

	"github.com/noren-privacy/noren"
)

// maxSealed bounds an encrypted secret, in bytes.
const maxSealed = 256

// maxTries is after how many crashes a charge is not taken up any more.
const maxTries = 100

// active are the charges that this process answers now.
type active struct {
	mu  sync.Mutex
	ids map[string]bool
}

func (a *active) add(id string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.ids == nil {
		a.ids = map[string]bool{}
	}
	a.ids[id] = true
}

func (a *active) remove(id string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	delete(a.ids, id)
}

func (a *active) has(id string) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.ids[id]
}

// free reports whether no process answers a reservation: its lease has run out, or the
// caller says that no other process uses the ledger and this one does not answer it.
func (l *Ledger) free(id string, held lease, now int64, alone bool) bool {
	if l.answering.has(id) {
		return false
	}
	return alone || l.clock.expired(held, now)
}

// sealedSecret is the encrypted secret of a charge that can be resumed; nil where it cannot.
func sealedSecret(ctx context.Context, tx *sql.Tx, id string) (sealed []byte, err error) {
	err = tx.QueryRowContext(ctx, "SELECT sealed FROM noise_secret WHERE charge = ? AND tries < ?", id, maxTries).Scan(&sealed)
	if errors.Is(err, sql.ErrNoRows) {
		return nil, nil
	}
	return sealed, err
}

// keepSecret stores the encrypted secret of a charge, in its transaction.
func keepSecret(ctx context.Context, tx *sql.Tx, id string, sealed []byte) error {
	if len(sealed) == 0 {
		return nil
	}
	_, err := tx.ExecContext(ctx, "INSERT INTO noise_secret (charge, sealed) VALUES (?, ?)", id, sealed)
	return err
}

// resume takes up a reservation that a process left: its owner stays, so that of two
// processes that answer it one alone stores its answer.
func (l *Ledger) resume(ctx context.Context, tx *sql.Tx, id string, sealed []byte, now int64) (*Reservation, error) {
	r := &Reservation{ledger: l, sealed: sealed, resumed: true}
	var err error
	if r.info, err = l.chargeInfo(ctx, tx, id); err != nil {
		return nil, err
	}
	if err := tx.QueryRowContext(ctx, "SELECT owner, created_at FROM charge WHERE id = ?", id).Scan(&r.owner, &r.made); err != nil {
		return nil, err
	}
	for _, account := range r.info.Accounts {
		below, err := accounts(ctx, tx, "id = ?", account)
		if err != nil {
			return nil, err
		}
		for i := range below {
			a := &below[i]
			r.remaining = append(r.remaining, Remaining{a.kind, a.name, a.left(), Accounting(a.accounting)})
		}
	}
	// A try that ended in order ([Reservation.Leave]) left no lease, and is no crash.
	if _, err := tx.ExecContext(ctx,
		"UPDATE noise_secret SET tries = tries + 1 WHERE charge = ?1 AND (SELECT lease_until FROM charge WHERE id = ?1) <> 0", id); err != nil {
		return nil, err
	}
	held := l.clock.lease(now, l.opts.Lease)
	_, err = tx.ExecContext(ctx, "UPDATE charge SET owner_boot = ?, lease_until = ?, lease_boot = ? WHERE id = ? AND state = 'reserved'",
		held.boot, held.until, held.bootTime, id)
	return r, err
}

// Sealed is the encrypted secret that was stored with the charge; nil where there is none.
func (r *Reservation) Sealed() []byte { return r.sealed }

// Resumed reports whether an earlier process made the charge, or an earlier try.
func (r *Reservation) Resumed() bool { return r.resumed }

// Leave ends the work on a reservation without ending the charge: a request with the same
// key takes it up. If the end of the lease cannot be written, that is when it has run out.
// A reservation without a secret, which nothing can take up, is forfeited with the reason.
func (r *Reservation) Leave(reason noren.Term) error {
	if len(r.sealed) == 0 {
		return r.Forfeit(reason)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.done {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(r.ctx), 10*time.Second)
	defer cancel()
	r.finish(nil)
	_, err := r.ledger.grouped(ctx, "the lease was not ended", &job{do: func(ctx context.Context, tx *sql.Tx, _ int64) error {
		_, err := tx.ExecContext(ctx, "UPDATE charge SET lease_until = 0, lease_boot = 0 WHERE id = ? AND owner = ? AND state = 'reserved'",
			r.info.ID, r.owner)
		return err
	}})
	return err
}

// Pending reports whether the request that an analyst made under a key is charged, and its
// answer can be computed again. It charges nothing.
func (l *Ledger) Pending(ctx context.Context, principal, key string) (bool, error) {
	var n int
	err := l.readers.QueryRowContext(ctx, `SELECT count(*) FROM charge JOIN noise_secret ON noise_secret.charge = charge.id
		WHERE principal = ? AND idempotency_key = ? AND state = 'reserved' AND tries < ?`, principal, key, maxTries).Scan(&n)
	if err != nil {
		return false, fail(l.path, "cannot be read", err)
	}
	return n > 0, nil
}

// errSecretLength is the error of a request whose encrypted secret is too long.
func errSecretLength() error {
	return noren.Usagef(noren.Phrase("the request"), "its encrypted secret is longer than %d bytes", maxSealed)
}

// forfeitEarlier ends the charges to a data set that wait since before the grant of another
// version: their answer can never be computed again. A charge that is being answered ends by
// itself. It returns the chain's last entry, which is last where nothing ends.
func (l *Ledger) forfeitEarlier(ctx context.Context, tx *sql.Tx, dataset, grant, last, now int64) (int64, error) {
	rows, err := tx.QueryContext(ctx, `SELECT id, owner_boot, lease_until, lease_boot FROM charge INDEXED BY charge_open
		WHERE state = 'reserved' AND account = ? AND seq < ? ORDER BY seq`, dataset, grant)
	if err != nil {
		return 0, err
	}
	defer rows.Close()
	var ended []string
	for rows.Next() {
		var id string
		var held lease
		if err := rows.Scan(&id, &held.boot, &held.until, &held.bootTime); err != nil {
			return 0, err
		}
		if l.free(id, held, now, false) {
			ended = append(ended, id)
		}
	}
	if err := errors.Join(rows.Err(), rows.Close()); err != nil {
		return 0, err
	}
	for _, id := range ended {
		if err := l.forfeit(ctx, tx, id, "its data set was granted anew", now); err != nil {
			return 0, err
		}
		if last, _, err = lastLink(ctx, tx); err != nil {
			return 0, err
		}
	}
	return last, nil
}

// ForfeitPending gives up the charge of a request that can never be answered any more: its
// data set has another version, or is gone. It does nothing for a request that is being
// answered, and for one without a charge that waits. The cost stays spent.
func (l *Ledger) ForfeitPending(ctx context.Context, principal, key string, reason noren.Term) error {
	_, err := l.grouped(ctx, "the charge was not ended", &job{guarded: true, do: func(ctx context.Context, tx *sql.Tx, now int64) error {
		var id string
		err := tx.QueryRowContext(ctx, "SELECT id FROM charge WHERE principal = ? AND idempotency_key = ? AND state = 'reserved'", principal,
			key).Scan(&id)
		if errors.Is(err, sql.ErrNoRows) || err == nil && l.answering.has(id) {
			return nil
		}
		if err != nil {
			return err
		}
		return l.forfeit(ctx, tx, id, reason, now)
	}})
	return err
}
