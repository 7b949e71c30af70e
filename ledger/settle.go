package ledger

import (
	"context"
	"database/sql"
	"errors"
	"time"

	"github.com/noren-privacy/noren"
)

// Settle is T2: it stores the answer under the charge, in one durable
// transaction that first makes sure that the reservation is still the owner's.
// Only after it has returned nil may payload be released. signature and keyID
// are kept as they are, for the next who asks the same.
//
// A lost lease is an error of kind Refused with [ErrForfeited]. After another
// error Settle may be tried again; payload may have been stored and then is the
// answer to the same request.
func (r *Reservation) Settle(ctx context.Context, payload, signature []byte, keyID string) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	l := r.ledger
	if r.done {
		return &noren.Error{Where: noren.File(l.path), What: "the reservation has ended already"}
	}
	l.at("settle-begin")
	_, err := l.grouped(ctx, "the answer was not stored", &job{do: func(ctx context.Context, tx *sql.Tx, now int64) error {
		switch state, err := r.state(ctx, tx); {
		case err != nil:
			return err
		case state == "released":
			// An earlier try was stored, though its end was not heard.
			return r.sameRelease(ctx, tx, payload, signature, keyID)
		case state != "reserved":
			return r.lost()
		}
		if _, err := l.appendLink(ctx, tx, kindRelease, releaseBody{r.info.ID, hexHash(payload), hexHash(signature), keyID, now}); err != nil {
			return err
		}
		if _, err := tx.ExecContext(ctx, "INSERT INTO release (charge, payload, signature, key_id) VALUES (?, ?, ?, ?)", r.info.ID,
			notNil(payload), notNil(signature), keyID); err != nil {
			return err
		}
		if err := l.endCharge(ctx, tx, r.info.ID, "released", "", now); err != nil {
			return err
		}
		l.at("settle-before-commit")
		return nil
	}})
	if errors.Is(err, ErrForfeited) {
		r.finish(ErrForfeited)
	}
	if err != nil {
		return err
	}
	l.at("settled")
	r.finish(nil)
	return nil
}

// state is the charge's, if it is still this reservation's.
func (r *Reservation) state(ctx context.Context, tx *sql.Tx) (state string, err error) {
	err = tx.QueryRowContext(ctx, "SELECT state FROM charge WHERE id = ? AND owner = ?", r.info.ID, r.owner).Scan(&state)
	return state, err
}

func (r *Reservation) sameRelease(ctx context.Context, tx *sql.Tx, payload, signature []byte, keyID string) error {
	var same bool
	if err := tx.QueryRowContext(ctx, "SELECT payload = ? AND signature = ? AND key_id = ? FROM release WHERE charge = ?",
		notNil(payload), notNil(signature), keyID, r.info.ID).Scan(&same); err != nil {
		return err
	}
	if !same {
		return &noren.Error{
			Kind: noren.Usage, Code: "conflict", Where: noren.File(r.ledger.path),
			What: "another answer was stored for this charge", Err: ErrConflict, Hint: "ask under the same key for the stored one",
		}
	}
	return nil
}

// Forfeit gives the reservation up, with a reason for the history that says
// nothing of the data. The cost stays spent. After Settle, or a second time, it
// does nothing, so that it can be deferred. It works after the request's
// context has ended; if it fails, the lease runs out instead.
func (r *Reservation) Forfeit(reason noren.Term) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.done {
		return nil
	}
	r.finish(nil)
	ctx, cancel := context.WithTimeout(context.WithoutCancel(r.ctx), 10*time.Second)
	defer cancel()
	_, err := r.ledger.grouped(ctx, "the charge was not ended", &job{do: func(ctx context.Context, tx *sql.Tx, now int64) error {
		state, err := r.state(ctx, tx)
		if err != nil || state != "reserved" {
			return err
		}
		return r.ledger.forfeit(ctx, tx, r.info.ID, reason, now)
	}})
	return err
}

// finish stops the renewal of the lease.
func (r *Reservation) finish(cause error) {
	r.done = true
	r.ledger.answering.remove(r.info.ID)
	r.cancel(cause)
}

func notNil(b []byte) []byte {
	if b == nil {
		return []byte{}
	}
	return b
}
