package ledger

import (
	"context"
	"encoding/json"
	"path/filepath"
	"time"

	"noren"
)

// Book is a data set's budget as it stands.
type Book struct {
	Account
	Path        string // of the file, as it was granted
	Fingerprint string // keyed: see [FileHash]
	Neighbours  Neighbours
	Unit        string // "record", or a column
	Analysts    []Account
	Blocks      []Account
}

// Account is one cap and what was spent under it.
type Account struct {
	ID        int64
	Name      string
	Cap       Cost
	Spent     Cost
	Remaining Cost
}

func (a *account) public() Account {
	return Account{a.id, a.name, Cost{Epsilon: a.capEps, Delta: a.capDelta}, Cost{Epsilon: a.spentEps, Delta: a.spentDelta}, a.left()}
}

// Sealed returns nil, or the error of kind Refused that every Grant and Reserve
// answers with: the ledger does not contain its known head. Its cause is a
// [*SealedError].
func (l *Ledger) Sealed() error {
	l.sealMu.Lock()
	defer l.sealMu.Unlock()
	return l.sealed
}

func (l *Ledger) setSealed(err error) {
	l.sealMu.Lock()
	defer l.sealMu.Unlock()
	l.sealed = err
}

// Show returns all books, in the order of their grants.
func (l *Ledger) Show(ctx context.Context) ([]*Book, error) {
	all, err := l.books(ctx)
	if err != nil {
		return nil, fail(l.path, "cannot be read", err)
	}
	return all, nil
}

func (l *Ledger) books(ctx context.Context) ([]*Book, error) {
	all, err := accounts(ctx, l.db, "TRUE")
	if err != nil {
		return nil, err
	}
	var books []*Book
	byID := map[int64]*Book{}
	for i := range all {
		a := &all[i]
		if a.kind == kindDataset {
			b := &Book{Account: a.public(), Path: a.path, Fingerprint: a.fingerprint, Neighbours: parseNeighbours(a.neighbours), Unit: a.unit}
			books, byID[a.id] = append(books, b), b
		}
	}
	for i := range all {
		a := &all[i]
		switch b := byID[a.parent]; {
		case b == nil:
		case a.kind == kindAnalyst:
			b.Analysts = append(b.Analysts, a.public())
		case a.kind == kindBlock:
			b.Blocks = append(b.Blocks, a.public())
		}
	}
	return books, nil
}

// Book returns the book of a data set; [ErrNoGrant] where there is none.
func (l *Ledger) Book(ctx context.Context, name string) (*Book, error) {
	all, err := l.Show(ctx)
	if err != nil {
		return nil, err
	}
	for _, b := range all {
		if b.Name == name {
			return b, nil
		}
	}
	return nil, noDataset(name)
}

// FindByFile returns the book of the file at path, wherever the file lies now:
// its bytes decide. A file without a book is [ErrNoGrant]; one that stands where
// a granted file stood, and is another, is [ErrChanged]. Both are of kind
// Refused. The file is read once, for its fingerprint alone.
func (l *Ledger) FindByFile(ctx context.Context, path string) (*Book, error) {
	print, err := l.fingerprint(ctx, path)
	if err != nil {
		return nil, err
	}
	all, err := l.Show(ctx)
	if err != nil {
		return nil, err
	}
	abs, err := filepath.Abs(path)
	if err != nil {
		return nil, fileError(path, "cannot be found", err)
	}
	for _, b := range all {
		if b.Fingerprint == print {
			return b, nil
		}
	}
	for _, b := range all {
		if b.Path == abs {
			return nil, changedError(path, b.Name)
		}
	}
	return nil, &noren.Error{
		Kind: noren.Refused, Where: path, What: "this file has no budget", Err: ErrNoGrant,
		Hint: "the steward grants one with: noren ledger grant NAME --file " + path + " --epsilon E",
	}
}

// Contains reports whether the ledger's chain has the charge that a certificate
// states, at its place. One that it lacks is a sign that an older copy was put
// back: see [Ledger.Reconcile].
func (l *Ledger) Contains(ctx context.Context, c ChargeInfo) (bool, error) {
	var found bool
	err := l.db.QueryRowContext(ctx, `SELECT EXISTS (SELECT 1 FROM charge JOIN chain USING (seq)
		WHERE charge.id = ? AND seq = ? AND hash = ?)`, c.ID, c.Link, c.Head[:]).Scan(&found)
	if err != nil {
		return false, fail(l.path, "cannot be read", err)
	}
	return found && c.Ledger == l.id, nil
}

// Entry is one charge in the history.
type Entry struct {
	Charge    string
	Link      int64 // its place in the chain
	Time      time.Time
	Dataset   string
	Principal string
	Key       string
	Mechanism json.RawMessage
	Cost      Cost // charged to each of Accounts
	Accounts  []int64
	State     string // "reserved", "released" or "forfeited"
	Reason    string // why it was forfeited
	Ended     time.Time
}

// History calls visit with the charges to a data set, or to all for an empty
// name, the oldest first, until visit fails; its error is returned as it is.
func (l *Ledger) History(ctx context.Context, dataset string, visit func(Entry) error) error {
	// A page at a time, so that visit may take its time, or use the ledger.
	for after := int64(0); ; {
		page, err := l.page(ctx, dataset, after)
		if err != nil {
			return fail(l.path, "cannot be read", err)
		}
		for _, e := range page {
			if err := visit(e); err != nil {
				return err
			}
			after = e.Link
		}
		if len(page) == 0 {
			return nil
		}
	}
}

func (l *Ledger) page(ctx context.Context, dataset string, after int64) ([]Entry, error) {
	rows, err := l.db.QueryContext(ctx, `SELECT charge.id, seq, created_at, account.name, principal, idempotency_key, mechanism_json, state, reason,
		coalesce(ended_at, 0), json_group_array(line.account), max(line.eps), max(line.delta)
		FROM charge JOIN account ON account.id = charge.account JOIN charge_line AS line ON line.charge = charge.id
		WHERE seq > ? AND (? = '' OR account.name = ?) GROUP BY seq ORDER BY seq LIMIT 500`, after, dataset, dataset)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var page []Entry
	for rows.Next() {
		var e Entry
		var created, ended int64
		var mechanism, lines string
		if err := rows.Scan(&e.Charge, &e.Link, &created, &e.Dataset, &e.Principal, &e.Key, &mechanism, &e.State, &e.Reason, &ended, &lines, &e.Cost.Epsilon, &e.Cost.Delta); err != nil {
			return nil, err
		}
		e.Time, e.Mechanism = time.UnixMilli(created).UTC(), json.RawMessage(mechanism)
		if ended != 0 {
			e.Ended = time.UnixMilli(ended).UTC()
		}
		if err := json.Unmarshal([]byte(lines), &e.Accounts); err != nil {
			return nil, err
		}
		page = append(page, e)
	}
	return page, rows.Err()
}
