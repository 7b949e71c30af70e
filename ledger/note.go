package ledger

import (
	"context"
	"database/sql"

	"github.com/noren-privacy/noren"
)

// What stands beside the chain for reading alone: of each charge what its accounts had
// spent and had left after it, and of each grant a row of the passbook. All of it is a
// function of the chain.

// The kinds of grants, as the passbook names them.
const (
	noteOpened   = "opened"   // a new data set
	noteReplaced = "replaced" // the grant before no longer counts
	noteVersion  = "version"  // a new version of a data set
	noteCap      = "cap"      // a higher cap of a data set
	notePath     = "path"     // the data set's file is elsewhere
	noteAccount  = "account"  // the cap of an analyst
	noteClosed   = "closed"   // the end of an analyst's grant
)

// grantNote is a row of the passbook.
type grantNote struct {
	seq, dataset, account int64
	kind                  string
	version               int64 // 0 where the grant made none
	accounting            string
	cap, left, book       Cost
}

// noteOf is the row of the grant b, entry seq, given its account before (nil for a new
// one) and after it, and the account of the data set after it.
func noteOf(seq int64, b *grantBody, before, after, book *account) *grantNote {
	n := &grantNote{
		seq: seq, dataset: book.id, account: after.id, kind: notePath, version: b.Version, accounting: after.accounting,
		cap: after.limit(), left: after.left(), book: book.left(),
	}
	switch {
	case b.Closed:
		n.kind = noteClosed
	case b.Kind != kindDataset:
		n.kind = noteAccount
	case before == nil:
		n.kind = noteOpened
	case b.Replaces:
		n.kind = noteReplaced
	case b.Version != 0:
		n.kind = noteVersion
	case before.limit() != after.limit():
		n.kind = noteCap
	}
	return n
}

const noteColumns = `seq, dataset, account, kind, version, accounting, cap_eps, cap_delta, cap_rho,
	left_eps, left_delta, left_rho, book_eps, book_delta, book_rho`

// values are the columns of n, in the order of noteColumns; into are places for them.
func (n *grantNote) values() []any {
	return []any{
		n.seq, n.dataset, n.account, n.kind, n.version, n.accounting, n.cap.Epsilon, n.cap.Delta, int64(n.cap.Rho),
		n.left.Epsilon, n.left.Delta, int64(n.left.Rho), n.book.Epsilon, n.book.Delta, int64(n.book.Rho),
	}
}

func (n *grantNote) into() []any {
	return []any{
		&n.seq, &n.dataset, &n.account, &n.kind, &n.version, &n.accounting, &n.cap.Epsilon, &n.cap.Delta, &n.cap.Rho,
		&n.left.Epsilon, &n.left.Delta, &n.left.Rho, &n.book.Epsilon, &n.book.Delta, &n.book.Rho,
	}
}

func (n *grantNote) insert(ctx context.Context, tx *sql.Tx) error {
	_, err := tx.ExecContext(ctx, "INSERT OR IGNORE INTO passbook ("+noteColumns+") VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
		n.values()...)
	return err
}

// noteGrant writes the row of a grant that was just applied.
func noteGrant(ctx context.Context, tx *sql.Tx, seq int64, b *grantBody, before *account) error {
	after, err := accountByID(ctx, tx, b.Account)
	if err != nil {
		return err
	}
	book := after
	if b.Parent != 0 {
		if book, err = accountByID(ctx, tx, b.Parent); err != nil {
			return err
		}
	}
	if after == nil || book == nil {
		return noren.Bug("the account of a grant is missing")
	}
	return noteOf(seq, b, before, after, book).insert(ctx, tx)
}

// lineAfter is a line of a charge, with what its account had spent and had left after it.
type lineAfter struct {
	line
	seq, n      int64
	spent, left amounts // but for their Gaussian parts
}

const lineColumns = `charge_line.account, eps, delta, rho, gaussian, coalesce(charge_line.seq, 0), coalesce(n, 0), coalesce(spent_eps, 0),
	coalesce(charge_line.spent_delta, 0), coalesce(charge_line.spent_rho, 0), coalesce(left_eps, 0), coalesce(left_delta, 0), coalesce(left_rho, 0)`

// into are places for lineColumns.
func (n *lineAfter) into() []any {
	return []any{
		&n.Account, &n.Eps, &n.Delta, &n.Rho, &n.Gaussian, &n.seq, &n.n, &n.spent.eps, &n.spent.delta, &n.spent.rho,
		&n.left.eps, &n.left.delta, &n.left.rho,
	}
}

func (n *lineAfter) insert(ctx context.Context, tx *sql.Tx, charge string) error {
	_, err := tx.ExecContext(ctx, `INSERT INTO charge_line (charge, account, eps, delta, rho, gaussian, seq, n, spent_eps, spent_delta, spent_rho, left_eps, left_delta, left_rho)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
		charge, n.Account, n.Eps, n.Delta, n.Rho, n.Gaussian, n.seq, n.n, n.spent.eps, n.spent.delta, n.spent.rho,
		n.left.eps, n.left.delta, n.left.rho)
	return err
}

// fillPassbook writes what a ledger of an older schema lacks beside its chain: once, for
// the entries that it held when it was brought to this schema.
func fillPassbook(ctx context.Context, tx *sql.Tx) error {
	var grants, notes int64
	if err := tx.QueryRowContext(ctx, "SELECT (SELECT count(*) FROM chain INDEXED BY chain_grant WHERE kind = 'grant'), (SELECT count(*) "+
		"FROM passbook)").Scan(&grants, &notes); err != nil {
		return err
	}
	if notes >= grants {
		return nil
	}
	fill, err := tx.PrepareContext(ctx, `UPDATE charge_line SET seq = ?, n = ?, spent_eps = ?, spent_delta = ?, spent_rho = ?, left_eps = ?, left_delta = ?, left_rho = ?
		WHERE charge = ? AND account = ? AND n IS NULL`)
	if err != nil {
		return err
	}
	defer fill.Close()
	p := newBooks()
	return eachLink(ctx, tx, 0, func(k *link) error {
		body, err := p.apply(k)
		if err != nil {
			return &SealedError{noren.Textf("the chain is damaged: %s", err)}
		}
		if p.note != nil {
			return p.note.insert(ctx, tx)
		}
		for _, n := range p.lines {
			if _, err := fill.ExecContext(ctx, n.seq, n.n, n.spent.eps, n.spent.delta, n.spent.rho, n.left.eps, n.left.delta, n.left.rho,
				body.(*chargeBody).Charge, n.Account); err != nil {
				return err
			}
		}
		return nil
	})
}

// comparePassbook compares the rows of the passbook with the chain.
func comparePassbook(ctx context.Context, tx *sql.Tx, p *replay, r *Report) error {
	rows, err := tx.QueryContext(ctx, "SELECT "+noteColumns+" FROM passbook")
	if err != nil {
		return err
	}
	defer rows.Close()
	have := 0
	for rows.Next() {
		var n grantNote
		if err := rows.Scan(n.into()...); err != nil {
			return err
		}
		have++
		if want, ok := p.notes[n.seq]; !ok || want != n {
			r.fault("the row of entry %d in the passbook is not as the chain says", n.seq)
		}
	}
	if have < len(p.notes) {
		r.fault("%d {row|rows} of the passbook {1|is|are} missing", len(p.notes)-have)
	}
	return rows.Err()
}
