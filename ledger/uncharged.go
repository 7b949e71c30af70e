package ledger

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"encoding/hex"
	"encoding/json"

	"github.com/noren-privacy/noren"
)

// Uncharged is a use of a data set's table outside of the ledger's budget, which the
// steward decided on.
type Uncharged struct {
	// Dataset is the name of a granted data set. Required.
	Dataset string
	// Principal is the name of the person who decided. Required.
	Principal string
	// Mechanism is what was done, with its public parameters: a JSON object of at most
	// 64 KiB. Required. It is kept for the history.
	Mechanism json.RawMessage
}

// NotCharged is the state of the entries of [Ledger.NoteUncharged] in a history.
const NotCharged = "not-charged"

// byTheSteward is the reason of entries without a charge.
const byTheSteward noren.Term = "the steward decided that it is not charged"

// NoteUncharged notes u in the chain and returns the number of its entry. It charges no
// account and changes no budget. The entry is a charge without accounts that ends at once,
// so that programs of before can replay the chain. It is durable when NoteUncharged returns
// nil, and the caller may read the data only then.
//
// Errors are of kind Refused for a missing grant ([ErrNoGrant]) and a sealed ledger
// ([SealedError]), of kind Usage for u, and of kind Internal for a disk that fails.
func (l *Ledger) NoteUncharged(ctx context.Context, u Uncharged) (entry int64, err error) {
	q := Request{
		Dataset: u.Dataset, Principal: u.Principal, Key: "uncharged-" + randomID(), Mechanism: u.Mechanism, Cost: Cost{Epsilon: 1},
		Hash: sha256.Sum256(u.Mechanism),
	}
	if err := checkRequest(&q); err != nil {
		return 0, err
	}
	_, err = l.grouped(ctx, "nothing was noted", &job{guarded: true, synced: true, do: func(ctx context.Context, tx *sql.Tx, now int64) error {
		book, err := findAccount(ctx, tx, 0, kindDataset, q.Dataset)
		if err != nil {
			return err
		}
		if book == nil {
			return noDataset(q.Dataset)
		}
		if err := checkNewName("the analyst's name", q.Principal); err != nil {
			return err
		}
		body := chargeBody{
			Charge: randomID(), Account: book.id, Principal: q.Principal, Key: q.Key, RequestHash: hex.EncodeToString(q.Hash[:]),
			Mechanism: string(q.Mechanism), Owner: l.clock.newOwner(), Lines: []line{}, Time: now,
		}
		k, err := l.appendLink(ctx, tx, kindCharge, body)
		if err != nil {
			return err
		}
		if err := insertCharge(ctx, tx, k.Seq, &body, l.clock.lease(now, l.opts.Lease)); err != nil {
			return err
		}
		entry = k.Seq
		return l.forfeit(ctx, tx, body.Charge, byTheSteward, now)
	}})
	if err != nil {
		return 0, err
	}
	return entry, nil
}
