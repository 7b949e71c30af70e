package ledger

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"database/sql"
	"encoding/binary"
	"errors"

	"github.com/noren-privacy/noren"
)

// A checkpoint is the state of the accounts and data sets at one entry of the
// chain, under the ledger's secret. It lets [Open] compare every account with the
// chain at the cost of at most checkpointEvery - 1 entries, however long the chain
// is. It is made from the last checkpoint and the entries after it, never from the
// accounts' rows, so that a row changed by hand does not enter it.
const checkpointEvery = 1024

func (l *Ledger) checkpointMAC(seq int64, state []byte) []byte {
	m := hmac.New(sha256.New, l.secret)
	m.Write([]byte("noren.ledger.checkpoint/1\x00"))
	m.Write(binary.BigEndian.AppendUint64(nil, uint64(seq)))
	m.Write(state)
	return m.Sum(nil)
}

// lastCheckpoint reads the checkpoint, nil where there is none. One that this
// ledger did not write for this chain is a [*SealedError].
func (l *Ledger) lastCheckpoint(ctx context.Context, q querier) (*books, error) {
	var seq int64
	var state string
	var mac []byte
	err := q.QueryRowContext(ctx, "SELECT seq, state, mac FROM checkpoint ORDER BY seq DESC LIMIT 1").Scan(&seq, &state, &mac)
	if errors.Is(err, sql.ErrNoRows) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	if !hmac.Equal(mac, l.checkpointMAC(seq, []byte(state))) {
		return nil, &SealedError{noren.Textf("its checkpoint was not written by this ledger")}
	}
	p, err := decodeBooks(seq, []byte(state))
	if err != nil {
		return nil, &SealedError{noren.Textf("its checkpoint cannot be read")}
	}
	var hash []byte
	err = q.QueryRowContext(ctx, "SELECT hash FROM chain WHERE seq = ?", seq).Scan(&hash)
	if err != nil && !errors.Is(err, sql.ErrNoRows) {
		return nil, err
	}
	if !p.sameHead(hash) {
		return nil, &SealedError{noren.Textf("its checkpoint is of another chain")}
	}
	return p, nil
}

// writeCheckpoint stores p in place of the last checkpoint.
func (l *Ledger) writeCheckpoint(ctx context.Context, tx *sql.Tx, p *books) error {
	state, err := p.encode()
	if err != nil {
		return err
	}
	if _, err := tx.ExecContext(ctx, "DELETE FROM checkpoint"); err != nil {
		return err
	}
	_, err = tx.ExecContext(ctx, "INSERT INTO checkpoint (seq, state, mac) VALUES (?, ?, ?)", p.seq, string(state),
		l.checkpointMAC(p.seq, state))
	l.at("checkpoint")
	return err
}

// nextCheckpoint writes the checkpoint at entry seq, which was just appended.
// Where there is none to start from, the next [Open] writes one instead: the
// chain may then be long.
func (l *Ledger) nextCheckpoint(ctx context.Context, tx *sql.Tx, seq int64) error {
	p, err := l.lastCheckpoint(ctx, tx)
	if err == nil && p == nil {
		if seq > checkpointEvery {
			return nil
		}
		p = newBooks()
	}
	if err == nil {
		err = p.catchUp(ctx, tx)
	}
	if err != nil {
		return l.sealing(err)
	}
	return l.writeCheckpoint(ctx, tx, p)
}

// audit compares all accounts and data sets with the chain, from the last
// checkpoint on. A difference is an error with a [*SealedError]. Without a
// checkpoint the whole chain is replayed, once: a checkpoint is then written.
func (l *Ledger) audit(ctx context.Context, tx *sql.Tx) error {
	p, err := l.lastCheckpoint(ctx, tx)
	if err != nil {
		return l.sealing(err)
	}
	whole := p == nil
	if whole {
		p = newBooks()
	}
	if err := p.catchUp(ctx, tx); err != nil {
		return l.sealing(err)
	}
	if err := fillPassbook(ctx, tx); err != nil {
		return l.sealing(err)
	}
	r := &Report{}
	if p.ledger != l.id {
		r.fault("the chain is of another ledger")
	}
	if err := l.compareBooks(ctx, tx, p, r.fault); err != nil {
		return err
	}
	if len(r.Faults) > 0 {
		return sealedError(l.path, noren.Textf("it was changed from outside: %s", r.Faults[:min(3, len(r.Faults))]))
	}
	if whole && p.seq >= checkpointEvery {
		return l.writeCheckpoint(ctx, tx, p)
	}
	return nil
}

// sealing gives a bare [*SealedError] its place and hint.
func (l *Ledger) sealing(err error) error {
	var sealed *SealedError
	if errors.As(err, &sealed) {
		return sealedError(l.path, sealed.Reason)
	}
	return err
}
