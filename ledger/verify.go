package ledger

import (
	"bytes"
	"context"
	"database/sql"
	"encoding/hex"
	"errors"
	"io/fs"
	"maps"
	"slices"

	"github.com/noren-privacy/noren"
)

// Report is what [Ledger.Verify] looked at and found.
type Report struct {
	Links   int64       // in the chain
	Charges int         // in all states
	Head    [32]byte    // of the chain
	Faults  noren.Texts // none if all is as it should be
}

// Err returns nil for a report without faults, else an error of kind NotMet
// that lists them.
func (r *Report) Err() error {
	if len(r.Faults) == 0 {
		return nil
	}
	return &noren.Error{
		Kind: noren.NotMet, Code: "unsound", Where: "ledger", What: "it has been changed from outside, or is damaged: %s",
		Args: []any{r.Faults}, Hint: "restore it from a copy and reconcile, or keep it as evidence",
	}
}

func (r *Report) fault(format noren.Format, args ...any) {
	const enough = 100
	if len(r.Faults) < enough {
		r.Faults = append(r.Faults, noren.Textf(format, args...))
	}
}

// Verify checks the whole ledger: that SQLite finds it sound; that tables,
// triggers and indices are those of this schema; that each entry of the chain
// follows the one before; that the tables hold exactly what the chain, replayed
// from its first entry, says, with what is spent summed up anew; that stored
// answers have the hashes on the chain; and that every line of the head file is
// an entry of the chain. An error means that it could not look; what it found is
// in the report. It looks at one moment; others may write meanwhile.
func (l *Ledger) Verify(ctx context.Context) (*Report, error) {
	r := &Report{}
	// The head file first: the database, read afterwards, contains all of it.
	heads, missing, err := l.readHead(ctx, r)
	if err != nil {
		return nil, err
	}
	tx, err := l.readers.BeginTx(ctx, &sql.TxOptions{ReadOnly: true})
	if err != nil {
		return nil, fail(l.path, "cannot be verified", err)
	}
	defer tx.Rollback()
	for _, check := range []func(context.Context, *sql.Tx, *Report) error{checkSound, checkSchemaText} {
		if err := check(ctx, tx, r); err != nil {
			return nil, fail(l.path, "cannot be verified", err)
		}
	}
	p := newReplay()
	broken := false
	if err := eachLink(ctx, tx, 0, func(k *link) error {
		if broken {
			return nil
		}
		if err := p.apply(k); err != nil {
			broken = true
			r.fault("%v", err)
		}
		return nil
	}); err != nil {
		return nil, fail(l.path, "cannot be verified", err)
	}
	r.Links, r.Charges, r.Head = p.seq, len(p.charges), [32]byte(p.hash)
	if missing && r.Links != 1 { // else it was made, and the process ended before the head file was
		r.fault("the head file is missing")
	}
	var id string
	var secret []byte
	if err := tx.QueryRowContext(ctx, "SELECT id, secret FROM ledger").Scan(&id, &secret); err != nil {
		return nil, fail(l.path, "cannot be verified", err)
	}
	if p.ledger != id || l.id != id {
		r.fault("the chain is of another ledger")
	}
	if !bytes.Equal(l.secret, secret) {
		r.fault("the secret was exchanged")
	}
	for _, k := range heads {
		if k.Seq > int64(len(p.hashes)) || k.Seq < 1 {
			r.fault("the head file knows entry %d and the database does not", k.Seq)
			break
		}
		if !bytes.Equal(p.hashes[k.Seq-1], k.Hash) {
			r.fault("entry %d is not the one in the head file", k.Seq)
			break
		}
	}
	if _, err := l.lastCheckpoint(ctx, tx); err != nil {
		var sealed *SealedError
		if !errors.As(err, &sealed) {
			return nil, fail(l.path, "cannot be verified", err)
		}
		r.fault("%s", sealed.Reason)
	}
	if broken {
		return r, nil // what follows would only say so again
	}
	if err := l.compareBooks(ctx, tx, p.books, r.fault); err != nil {
		return nil, fail(l.path, "cannot be verified", err)
	}
	for _, compare := range []func(context.Context, *sql.Tx, *replay, *Report) error{
		compareCharges, compareLines, comparePassbook, compareReleases,
	} {
		if err := compare(ctx, tx, p, r); err != nil {
			return nil, fail(l.path, "cannot be verified", err)
		}
	}
	return r, nil
}

// readHead reads the whole head file and notes what is wrong with it, but for one that is missing.
func (l *Ledger) readHead(ctx context.Context, r *Report) (heads []*link, missing bool, err error) {
	seq := int64(0)
	err = l.eachHeadLine(ctx, func(text []byte) error {
		seq++
		k, err := l.parseHeadLine(text)
		switch {
		case err != nil:
			r.fault("head file, line %d: %v", seq, err)
		case k.Seq != seq:
			r.fault("head file, line %d: it is entry %d", seq, k.Seq)
		default:
			heads = append(heads, &link{Seq: k.Seq, Hash: k.Hash})
		}
		return nil
	})
	switch {
	case ctx.Err() != nil:
		return nil, false, fail(l.path, "cannot be verified", ctx.Err())
	case errors.Is(err, fs.ErrNotExist):
		return nil, true, nil
	case err != nil:
		r.fault("the head file cannot be read: %v", fileError(headPath(l.path), "reading failed", err))
	case seq == 0:
		r.fault("the head file is empty")
	}
	return heads, false, nil
}

// checkSound asks SQLite itself.
func checkSound(ctx context.Context, tx *sql.Tx, r *Report) error {
	for _, pragma := range []string{"integrity_check(20)", "foreign_key_check"} {
		rows, err := tx.QueryContext(ctx, "PRAGMA "+pragma)
		if err != nil {
			return err
		}
		defer rows.Close()
		columns, err := rows.Columns()
		if err != nil {
			return err
		}
		for rows.Next() {
			into := make([]any, len(columns))
			for i := range into {
				into[i] = new(sql.NullString)
			}
			if err := rows.Scan(into...); err != nil {
				return err
			}
			if said := into[0].(*sql.NullString).String; said != "ok" {
				r.fault("SQLite finds (%s): %s", pragma, said)
			}
		}
		if err := rows.Err(); err != nil {
			return err
		}
	}
	return nil
}

// schemaText returns the definitions of all tables, indices and triggers.
func schemaText(ctx context.Context, q querier) (map[string]string, error) {
	rows, err := q.QueryContext(ctx, "SELECT type || ' ' || name, coalesce(sql, '') FROM sqlite_schema")
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	all := map[string]string{}
	for rows.Next() {
		var name, text string
		if err := rows.Scan(&name, &text); err != nil {
			return nil, err
		}
		all[name] = text
	}
	return all, rows.Err()
}

// checkSchemaText compares the schema with that of a new ledger.
func checkSchemaText(ctx context.Context, tx *sql.Tx, r *Report) error {
	fresh, err := empty()
	if err != nil {
		return err
	}
	want := fresh.schema
	have, err := schemaText(ctx, tx)
	if err != nil {
		return err
	}
	for _, name := range slices.Sorted(maps.Keys(want)) {
		switch text, ok := have[name]; {
		case !ok:
			r.fault("%s is missing in the database", name)
		case text != want[name]:
			r.fault("%s is not as it was made", name)
		}
		delete(have, name)
	}
	for _, name := range slices.Sorted(maps.Keys(have)) {
		if name != "table sqlite_stat1" { // what ANALYZE leaves
			r.fault("%s does not belong here", name)
		}
	}
	return nil
}

func compareCharges(ctx context.Context, tx *sql.Tx, p *replay, r *Report) error {
	rows, err := tx.QueryContext(ctx,
		`SELECT id, seq, account, principal, idempotency_key, request_hash, mechanism_json, owner, created_at, state, reason FROM charge`)
	if err != nil {
		return err
	}
	defer rows.Close()
	n := 0
	for rows.Next() {
		var b chargeBody
		var seq int64
		var hash []byte
		var state, reason string
		if err := rows.Scan(&b.Charge, &seq, &b.Account, &b.Principal, &b.Key, &hash, &b.Mechanism, &b.Owner, &b.Time, &state,
			&reason); err != nil {
			return err
		}
		n++
		c := p.charges[b.Charge]
		if c == nil {
			r.fault("charge %s is not on the chain", b.Charge)
			continue
		}
		w := &c.body
		if seq != c.seq || b.Account != w.Account || b.Principal != w.Principal || b.Key != w.Key || hex.EncodeToString(hash) != w.RequestHash ||
			b.Mechanism != w.Mechanism || b.Owner != w.Owner || b.Time != w.Time {
			r.fault("charge %s is not as it was made", b.Charge)
		}
		if state != c.state || reason != c.reason {
			r.fault("charge %s is %s and the chain says %s", b.Charge, state, c.state)
		}
	}
	if n < len(p.charges) {
		r.fault("%d {charge is|charges are} missing", len(p.charges)-n)
	}
	return rows.Err()
}

func compareLines(ctx context.Context, tx *sql.Tx, p *replay, r *Report) error {
	rows, err := tx.QueryContext(ctx, "SELECT charge, "+lineColumns+" FROM charge_line")
	if err != nil {
		return err
	}
	defer rows.Close()
	have, want := 0, 0
	for rows.Next() {
		var id string
		var n lineAfter
		if err := rows.Scan(append([]any{&id}, n.into()...)...); err != nil {
			return err
		}
		have++
		switch c := p.charges[id]; {
		case c == nil || !slices.Contains(c.body.Lines, n.line):
			r.fault("a cost of charge %s on account %d is not on the chain", id, n.Account)
		case !slices.Contains(c.lines, n):
			r.fault("what is noted as spent after charge %s on account %d is not as the chain says", id, n.Account)
		}
	}
	for _, c := range p.charges {
		want += len(c.body.Lines)
	}
	if have != want {
		r.fault("there {1|is|are} %d {line|lines} of costs and the chain has %d", have, want)
	}
	return rows.Err()
}

func compareReleases(ctx context.Context, tx *sql.Tx, p *replay, r *Report) error {
	rows, err := tx.QueryContext(ctx, "SELECT charge, payload, signature, key_id FROM release")
	if err != nil {
		return err
	}
	defer rows.Close()
	have, want := 0, 0
	for rows.Next() {
		var id, keyID string
		var payload, signature []byte
		if err := rows.Scan(&id, &payload, &signature, &keyID); err != nil {
			return err
		}
		have++
		c := p.charges[id]
		if c == nil || c.state != "released" {
			r.fault("an answer is stored for charge %s, which was not released", id)
		} else if b := c.release; b.Payload != hexHash(payload) || b.Signature != hexHash(signature) || b.KeyID != keyID {
			r.fault("the answer stored for charge %s is not the one that was released", id)
		}
	}
	for _, c := range p.charges {
		if c.state == "released" {
			want++
		}
	}
	if have < want {
		r.fault("%d stored {answer is|answers are} missing", want-have)
	}
	return rows.Err()
}
