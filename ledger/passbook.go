package ledger

import (
	"cmp"
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/noren-privacy/noren"
)

// maxPage is the largest number of entries of a page.
const maxPage = 1000

// kindRecovered is the kind of a charge that a reconciliation brought back.
const kindRecovered = "recovered"

// PassbookOptions select a page of grants and charges. The zero value selects the last
// 50 of all data sets.
type PassbookOptions struct {
	// Dataset selects the entries of the data set of this name.
	Dataset string
	// Analyst selects the charges to, and the grants of, the analyst of this name; where
	// the analyst has no account, the charges of that name.
	Analyst string
	// State selects the charges in this state: "reserved", "released" or "forfeited".
	State string
	// Before selects the entries before this one. 0 begins at the last.
	Before int64
	// Limit is the size of the page, at most 1,000. Defaults to 50.
	Limit int
}

// PassbookEntry is a grant or a charge, with what was left after it.
type PassbookEntry struct {
	Link int64 // its place in the chain
	Hash [32]byte
	Time time.Time
	// Kind is opened, replaced, version, cap, path, account, closed, charge or recovered.
	Kind       string
	Dataset    string
	Accounting Accounting
	Analyst    string // who asked, or whose account it is
	// Of a grant: the version that it made (0 for none) and the cap that it set.
	Version int
	Cap     Cost
	// Of a charge.
	Charge, Key, State, Reason string
	Request                    [32]byte // the hash of the request
	Mechanism                  json.RawMessage
	Ended                      time.Time
	Cost                       Cost
	Loss                       Loss
	// Left is what the data set had left after the entry, Own the analyst's account; nil
	// without one.
	Left Cost
	Own  *Cost
}

// PassbookPage is a page of entries, the newest first. Next is [PassbookOptions.Before]
// of the next page; 0 after the last.
type PassbookPage struct {
	Entries []PassbookEntry
	Next    int64
}

// Passbook returns a page of grants and charges, the newest first. Its cost does not
// grow with the number of entries. Errors are of kind Usage, and Refused ([ErrNoGrant])
// for a data set that the ledger does not have.
func (l *Ledger) Passbook(ctx context.Context, o PassbookOptions) (*PassbookPage, error) {
	switch {
	case o.Limit == 0:
		o.Limit = 50
	case o.Limit < 0 || o.Limit > maxPage:
		return nil, noren.Usagef("limit", "expected 1 to %d entries, got %d", maxPage, o.Limit)
	}
	if o.State != "" && o.State != "reserved" && o.State != "released" && o.State != "forfeited" {
		return nil, noren.Usagef("state", "is none of reserved, released, forfeited")
	}
	if o.Before < 0 {
		return nil, noren.Usagef("before", "expected the number of an entry, got %d", o.Before)
	}
	if o.Before == 0 {
		o.Before = 1<<63 - 1
	}
	var page *PassbookPage
	err := l.snapshot(ctx, func(tx *sql.Tx) error {
		q := &passbookQuery{PassbookOptions: o, tx: tx}
		if err := q.accounts(ctx); err != nil {
			return err
		}
		charges, err := q.charges(ctx)
		if err != nil {
			return err
		}
		all := charges
		if o.State == "" {
			grants, err := q.grants(ctx)
			if err != nil {
				return err
			}
			all = append(all, grants...)
		}
		slices.SortFunc(all, func(a, b PassbookEntry) int { return cmp.Compare(b.Link, a.Link) })
		page = &PassbookPage{Entries: all}
		if len(all) > o.Limit {
			page.Entries = all[:o.Limit]
			page.Next = page.Entries[o.Limit-1].Link
		}
		return nil
	})
	if err != nil {
		return nil, fail(l.path, "cannot be read", err)
	}
	return page, nil
}

// passbookQuery is a page in progress. Each part reads one entry more than the page, to
// know whether there is a next one.
type passbookQuery struct {
	PassbookOptions
	tx      *sql.Tx
	dataset int64 // 0 for all
	analyst int64 // the account; 0 for none
}

// accounts finds the accounts that the options name.
func (q *passbookQuery) accounts(ctx context.Context) error {
	if q.Dataset == "" {
		return nil
	}
	book, err := findAccount(ctx, q.tx, 0, kindDataset, q.Dataset)
	if err != nil {
		return err
	}
	if book == nil {
		return noDataset(q.Dataset)
	}
	q.dataset = book.id
	if q.Analyst == "" {
		return nil
	}
	own, err := findAccount(ctx, q.tx, book.id, kindAnalyst, q.Analyst)
	if own != nil {
		q.analyst = own.id
	}
	return err
}

// charges are those of the page, the newest first.
func (q *passbookQuery) charges(ctx context.Context) ([]PassbookEntry, error) {
	// The condition that leaves fewest rows names the index to go by.
	from, order, where, args := "charge AS c", "c.seq", []string{"c.seq < ?"}, []any{q.Before}
	if q.analyst != 0 && q.State != "forfeited" && q.State != "reserved" {
		from, order = "charge_line AS own INDEXED BY charge_line_seq JOIN charge AS c ON c.id = own.charge", "own.seq"
		where, args = []string{"own.account = ? AND own.seq < ?"}, []any{q.analyst, q.Before}
	} else if q.analyst != 0 {
		where, args = append(where, "EXISTS (SELECT 1 FROM charge_line WHERE charge = c.id AND account = ?)"), append(args, q.analyst)
	} else if q.Analyst != "" {
		where, args = append(where, "c.principal = ?"), append(args, q.Analyst)
	}
	if q.dataset != 0 {
		where, args = append(where, "c.account = ?"), append(args, q.dataset)
	}
	if q.State != "" {
		// Written out, so that the partial indices of states serve.
		where = append(where, "c.state = '"+q.State+"'")
	}
	rows, err := q.tx.QueryContext(ctx, `SELECT c.id, c.seq, chain.hash, c.principal, c.idempotency_key, c.request_hash, c.mechanism_json, c.state, c.reason,
			c.created_at, coalesce(c.ended_at, 0), book.name, book.accounting, chain.kind
		FROM `+from+` JOIN chain ON chain.seq = c.seq JOIN account AS book ON book.id = c.account
		WHERE `+strings.Join(where, " AND ")+" ORDER BY "+order+" DESC LIMIT ?", append(args, q.Limit+1)...)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var all []PassbookEntry
	for rows.Next() {
		e := PassbookEntry{Kind: kindCharge}
		var hash, request []byte
		var mechanism, kind string
		var created, ended int64
		if err := rows.Scan(&e.Charge, &e.Link, &hash, &e.Analyst, &e.Key, &request, &mechanism, &e.State, &e.Reason, &created, &ended,
			&e.Dataset, &e.Accounting, &kind); err != nil {
			return nil, err
		}
		copy(e.Hash[:], hash)
		copy(e.Request[:], request)
		e.Time, e.Mechanism = time.UnixMilli(created).UTC(), json.RawMessage(mechanism)
		if ended != 0 {
			e.Ended = time.UnixMilli(ended).UTC()
		}
		if kind == kindRecover {
			e.Kind, e.Analyst = kindRecovered, ""
		}
		all = append(all, e)
	}
	if err := rows.Err(); err != nil {
		return nil, err
	}
	return all, q.lines(ctx, all)
}

// lines fills in what each charge spent and left.
func (q *passbookQuery) lines(ctx context.Context, charges []PassbookEntry) error {
	read, err := q.tx.PrepareContext(ctx, "SELECT kind, name, "+lineColumns+
		" FROM charge_line JOIN account ON account.id = charge_line.account WHERE charge = ?")
	if err != nil {
		return err
	}
	defer read.Close()
	for i := range charges {
		if err := charges[i].addLines(ctx, read); err != nil {
			return err
		}
	}
	return nil
}

func (e *PassbookEntry) addLines(ctx context.Context, read *sql.Stmt) error {
	rows, err := read.QueryContext(ctx, e.Charge)
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		var kind, name string
		var n lineAfter
		if err := rows.Scan(append([]any{&kind, &name}, n.into()...)...); err != nil {
			return err
		}
		left := n.left.cost(n.Rho > 0)
		switch kind {
		case kindDataset:
			e.Left = left
			e.Cost, e.Loss = n.spentBy()
		case kindAnalyst:
			e.Own = &left
			if e.Analyst == "" {
				e.Analyst = name
			}
		}
	}
	return rows.Err()
}

// grants are those of the page, the newest first.
func (q *passbookQuery) grants(ctx context.Context) ([]PassbookEntry, error) {
	where, args := "seq < ?", []any{q.Before}
	switch {
	case q.analyst != 0:
		where, args = where+" AND passbook.account = ?", append(args, q.analyst)
	case q.Analyst != "" && q.dataset != 0:
		return nil, nil // without an account there was no grant
	case q.Analyst != "":
		where, args = where+" AND account.kind = 'analyst' AND account.name = ?", append(args, q.Analyst)
	case q.dataset != 0:
		where, args = where+" AND passbook.dataset = ?", append(args, q.dataset)
	}
	rows, err := q.tx.QueryContext(ctx, `SELECT book.name, account.kind, account.name, chain.hash, json_extract(chain.body, '$.time'), `+noteColumnsOf("passbook")+`
		FROM passbook JOIN chain USING (seq) JOIN account ON account.id = passbook.account JOIN account AS book ON book.id = passbook.dataset
		WHERE `+where+" ORDER BY seq DESC LIMIT ?", append(args, q.Limit+1)...)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var all []PassbookEntry
	for rows.Next() {
		var e PassbookEntry
		var n grantNote
		var kind, name string
		var hash []byte
		var made int64
		if err := rows.Scan(append([]any{&e.Dataset, &kind, &name, &hash, &made}, n.into()...)...); err != nil {
			return nil, err
		}
		copy(e.Hash[:], hash)
		e.Link, e.Kind, e.Time, e.Version, e.Accounting = n.seq, n.kind, time.UnixMilli(made).UTC(), int(n.version), Accounting(n.accounting)
		e.Cap, e.Left = n.cap, n.book
		if kind != kindDataset {
			e.Analyst, e.Own = name, &n.left
		}
		all = append(all, e)
	}
	return all, rows.Err()
}

// noteColumnsOf is noteColumns with the name of the table.
func noteColumnsOf(table string) string {
	columns := strings.Split(strings.Join(strings.Fields(noteColumns), " "), ", ")
	for i := range columns {
		columns[i] = table + "." + columns[i]
	}
	return strings.Join(columns, ", ")
}

// Counts is the number of charges by state.
type Counts struct{ Charges, Reserved, Released, Forfeited int64 }

// Counts counts the charges of a data set, or to the account of an analyst. Its cost
// grows with the forfeited charges alone.
func (l *Ledger) Counts(ctx context.Context, dataset, analyst string) (*Counts, error) {
	out := &Counts{}
	err := l.snapshot(ctx, func(tx *sql.Tx) error {
		book, own, err := bookAndOwn(ctx, tx, dataset, analyst)
		if err != nil {
			return err
		}
		*out = Counts{Charges: own.charges}
		const count = `SELECT count(*) FROM charge INDEXED BY %s WHERE account = ?1 AND state = '%s'
			AND EXISTS (SELECT 1 FROM charge_line WHERE charge = charge.id AND account = ?2)`
		if err := tx.QueryRowContext(ctx, fmt.Sprintf(count, "charge_open", "reserved"), book.id, own.id).Scan(&out.Reserved); err != nil {
			return err
		}
		if err := tx.QueryRowContext(ctx, fmt.Sprintf(count, "charge_forfeited", "forfeited"), book.id, own.id).Scan(&out.Forfeited); err != nil {
			return err
		}
		out.Released = out.Charges - out.Reserved - out.Forfeited
		return nil
	})
	if err != nil {
		return nil, fail(l.path, "cannot be read", err)
	}
	return out, nil
}

// bookAndOwn finds the account of a data set and that of an analyst, by default the
// data set's.
func bookAndOwn(ctx context.Context, q querier, dataset, analyst string) (book, own *account, err error) {
	if book, err = findAccount(ctx, q, 0, kindDataset, dataset); err != nil {
		return nil, nil, err
	}
	if book == nil {
		return nil, nil, noDataset(dataset)
	}
	if analyst == "" {
		return book, book, nil
	}
	if own, err = findAccount(ctx, q, book.id, kindAnalyst, analyst); err == nil && own == nil {
		err = noAnalyst(dataset, analyst)
	}
	return book, own, err
}

// SpendPoint is what an account had spent after a charge.
type SpendPoint struct {
	Link    int64
	Time    time.Time
	Analyst string // "" for the data set's account
	Spent   Cost
}

// Spend returns the course of what the data set and each of its analysts had spent, in
// the order of the chain: at most that many points in all, but at least two for each
// account with a charge, its first and its last. With an analyst it returns that of the
// analyst alone.
func (l *Ledger) Spend(ctx context.Context, dataset, analyst string, points int) ([]SpendPoint, error) {
	if points < 2 || points > 10_000 {
		return nil, noren.Usagef("points", "expected 2 to 10000 points, got %d", points)
	}
	var all []SpendPoint
	err := l.snapshot(ctx, func(tx *sql.Tx) error {
		all = nil
		_, own, err := bookAndOwn(ctx, tx, dataset, analyst)
		if err != nil {
			return err
		}
		of := []account{*own}
		if analyst == "" {
			below, err := accounts(ctx, tx, "parent = ? AND kind = 'analyst' AND charges > 0", own.id)
			if err != nil {
				return err
			}
			of = append(of, below...)
		}
		read, err := tx.PrepareContext(ctx, `SELECT created_at, `+lineColumns+` FROM charge_line INDEXED BY charge_line_seq JOIN charge ON charge.id = charge
			WHERE charge_line.account = ? AND charge_line.seq <= ? ORDER BY charge_line.seq DESC LIMIT 1`)
		if err != nil {
			return err
		}
		defer read.Close()
		for i := range of {
			if all, err = of[i].course(ctx, tx, read, max(2, points/len(of)), all); err != nil {
				return err
			}
		}
		slices.SortStableFunc(all, func(a, b SpendPoint) int { return cmp.Compare(a.Link, b.Link) })
		return nil
	})
	if err != nil {
		return nil, fail(l.path, "cannot be read", err)
	}
	return all, nil
}

// course appends that many points of a: the last charge before each of as many evenly
// spread places of the chain.
func (a *account) course(ctx context.Context, tx *sql.Tx, read *sql.Stmt, points int, all []SpendPoint) ([]SpendPoint, error) {
	var first, last sql.NullInt64
	if err := tx.QueryRowContext(ctx, `SELECT (SELECT seq FROM charge_line INDEXED BY charge_line_seq WHERE account = ?1 AND seq IS NOT NULL ORDER BY seq LIMIT 1),
		(SELECT seq FROM charge_line INDEXED BY charge_line_seq WHERE account = ?1 ORDER BY seq DESC LIMIT 1)`, a.id).Scan(&first, &last); err != nil || !last.Valid {
		return all, err
	}
	name := ""
	if a.kind == kindAnalyst {
		name = a.name
	}
	before := int64(0)
	for i := range int64(points) {
		to := first.Int64 + (last.Int64-first.Int64)/int64(points-1)*i + (last.Int64-first.Int64)%int64(points-1)*i/int64(points-1)
		var n lineAfter
		var made int64
		if err := read.QueryRowContext(ctx, a.id, to).Scan(append([]any{&made}, n.into()...)...); err != nil {
			return nil, err
		}
		if n.seq != before {
			all = append(all, SpendPoint{Link: n.seq, Time: time.UnixMilli(made).UTC(), Analyst: name, Spent: n.spent.cost(n.Rho > 0)})
		}
		before = n.seq
	}
	return all, nil
}

// snapshot runs do in a transaction that reads the state of one moment, beside writers.
func (l *Ledger) snapshot(ctx context.Context, do func(tx *sql.Tx) error) error {
	return l.retry(ctx, func() error {
		tx, err := l.readers.BeginTx(ctx, &sql.TxOptions{ReadOnly: true})
		if err != nil {
			return err
		}
		defer tx.Rollback()
		return do(tx)
	})
}
