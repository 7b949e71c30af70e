package ledger

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"unicode"
	"unicode/utf8"

	"noren"
)

const (
	kindDataset = "dataset"
	kindAnalyst = "analyst"
	kindBlock   = "block"
)

// maxName is the longest name of a data set, an analyst, a block or a key.
const maxName = 200

// Grant is the steward's decision on a data set: this file may lose so much.
type Grant struct {
	// Name of the data set. Required. It stands in certificates.
	Name string
	// File is the path of the data set's file. Required. The ledger keeps the
	// path and a keyed fingerprint of all its bytes.
	File string
	// Cap is all that may ever be spent. Required, with an epsilon above 0.
	// Granting a name again sets its cap anew, not below what is spent.
	Cap Cost
	// Neighbours is the relation the budget is for. Defaults to add-remove. It
	// is fixed by the first grant.
	Neighbours Neighbours
	// Unit is "record", or the column whose equal values mark the records of
	// one person. Defaults to "record". It is fixed by the first grant.
	Unit string
	// Changed says that the file is the same data set in a new state: its book
	// goes on with what is spent, under the new fingerprint.
	Changed bool
}

// checkName refuses names that could not be read or typed.
func checkName(what, name string) error {
	switch {
	case name == "" || strings.TrimSpace(name) != name:
		return usage(what, "is empty or has spaces around it", "give it a name")
	case len(name) > maxName:
		return usage(what, fmt.Sprintf("is longer than %d bytes", maxName), "give it a shorter name")
	case !utf8.ValidString(name) || strings.ContainsFunc(name, func(r rune) bool { return !unicode.IsPrint(r) }):
		return usage(what, "holds what cannot be printed", "use letters, digits and signs")
	}
	return nil
}

func checkCap(c Cost) error {
	if c.Epsilon <= 0 || c.Delta < 0 || c.Delta > 1e18 {
		return usage("the budget", "is not an epsilon above 0 and a delta from 0 to 1", "say --epsilon, and --delta if it is needed")
	}
	return nil
}

// Grant opens a data set's book, or changes the cap, and with Changed the file,
// of one that exists. Faults are of kind Usage; a file that is not the one
// granted under this name before is [ErrChanged].
func (l *Ledger) Grant(ctx context.Context, g Grant) (*Book, error) {
	if g.Unit == "" {
		g.Unit = "record"
	}
	if err := errors.Join(checkName("the data set's name", g.Name), checkName("the unit", g.Unit), checkCap(g.Cap)); err != nil {
		return nil, firstFault(err)
	}
	path, err := filepath.Abs(g.File)
	if err != nil {
		return nil, fileError(g.File, "cannot be found", err)
	}
	print, err := l.fingerprint(ctx, g.File)
	if err != nil {
		return nil, err
	}
	err = l.grant(ctx, func(tx *sql.Tx) (*grantBody, error) {
		b := &grantBody{Kind: kindDataset, Name: g.Name, Unit: g.Unit, Neighbours: g.Neighbours.String(), Fingerprint: print, Path: path, CapEps: g.Cap.Epsilon, CapDelta: g.Cap.Delta}
		var other string
		switch err := tx.QueryRowContext(ctx, "SELECT name FROM account WHERE fingerprint = ? AND name <> ?", print, g.Name).Scan(&other); {
		case err == nil:
			return nil, usage(g.File, "has its budget already, as "+other, "two books would promise the same people twice: grant "+other+" another cap instead")
		case !errors.Is(err, sql.ErrNoRows):
			return nil, err
		}
		old, err := findAccount(ctx, tx, 0, kindDataset, g.Name)
		if err != nil || old == nil {
			return b, err
		}
		b.Account = old.id
		switch {
		case old.unit != b.Unit || old.neighbours != b.Neighbours:
			return nil, usage("data set "+g.Name, fmt.Sprintf("its book is for %s neighbours of one %s, not %s of one %s", old.neighbours, old.unit, b.Neighbours, b.Unit), "the relation and the unit are fixed by the first grant, because epsilons of different relations do not add up")
		case old.fingerprint != print && !g.Changed:
			return nil, changedError(g.File, g.Name)
		}
		return b, old.checkLowered(g.Cap)
	})
	if err != nil {
		return nil, err
	}
	return l.Book(ctx, g.Name)
}

// GrantAnalyst gives one analyst a cap of his own under the data set's. From
// the first such grant on, only analysts with a grant may ask.
func (l *Ledger) GrantAnalyst(ctx context.Context, dataset, analyst string, limit Cost) (*Book, error) {
	return l.grantBelow(ctx, dataset, kindAnalyst, analyst, limit)
}

// GrantBlock gives a block of the data set's records a cap of its own under
// the data set's. From the first such grant on, a request is charged to each
// block it names, and to all of them when it names none.
func (l *Ledger) GrantBlock(ctx context.Context, dataset, block string, limit Cost) (*Book, error) {
	return l.grantBelow(ctx, dataset, kindBlock, block, limit)
}

func (l *Ledger) grantBelow(ctx context.Context, dataset, kind, name string, limit Cost) (*Book, error) {
	if err := errors.Join(checkName("the "+kind+"'s name", name), checkCap(limit)); err != nil {
		return nil, firstFault(err)
	}
	err := l.grant(ctx, func(tx *sql.Tx) (*grantBody, error) {
		parent, err := findAccount(ctx, tx, 0, kindDataset, dataset)
		if err != nil {
			return nil, err
		}
		if parent == nil {
			return nil, noDataset(dataset)
		}
		b := &grantBody{Parent: parent.id, Kind: kind, Name: name, Unit: parent.unit, Neighbours: parent.neighbours, CapEps: limit.Epsilon, CapDelta: limit.Delta}
		old, err := findAccount(ctx, tx, parent.id, kind, name)
		if err != nil || old == nil {
			return b, err
		}
		b.Account = old.id
		return b, old.checkLowered(limit)
	})
	if err != nil {
		return nil, err
	}
	return l.Book(ctx, dataset)
}

// grant carries out what decide says, in one transaction and on the chain.
func (l *Ledger) grant(ctx context.Context, decide func(*sql.Tx) (*grantBody, error)) error {
	var seq int64
	err := l.write(ctx, "the grant failed", func(ctx context.Context, tx *sql.Tx, now int64) error {
		if err := l.unsealed(ctx, tx); err != nil {
			return err
		}
		b, err := decide(tx)
		if err != nil {
			return err
		}
		b.Time = now
		if b.Account == 0 {
			if err := tx.QueryRowContext(ctx, "SELECT coalesce(max(id), 0) + 1 FROM account").Scan(&b.Account); err != nil {
				return err
			}
		}
		k, err := appendLink(ctx, tx, kindGrant, b)
		if err != nil {
			return err
		}
		seq = k.Seq
		return applyGrant(ctx, tx, b)
	})
	if err != nil {
		return err
	}
	return l.syncHead(ctx, seq)
}

// applyGrant makes or changes the account that b speaks of.
func applyGrant(ctx context.Context, tx *sql.Tx, b *grantBody) error {
	null := func(s string) any {
		if b.Kind != kindDataset {
			return nil
		}
		return s
	}
	var parent any
	if b.Parent != 0 {
		parent = b.Parent
	}
	_, err := tx.ExecContext(ctx, `INSERT INTO account (id, parent, kind, name, unit, neighbours, fingerprint, path, cap_eps_nano, cap_delta)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
		ON CONFLICT (id) DO UPDATE SET fingerprint = excluded.fingerprint, path = excluded.path,
			cap_eps_nano = excluded.cap_eps_nano, cap_delta = excluded.cap_delta`,
		b.Account, parent, b.Kind, b.Name, b.Unit, b.Neighbours, null(b.Fingerprint), null(b.Path), b.CapEps, b.CapDelta)
	return err
}

// account is a row of the table of that name.
type account struct {
	id, parent           int64
	kind, name, unit     string
	neighbours           string
	fingerprint, path    string
	capEps, spentEps     int64
	capDelta, spentDelta int64
}

const accountColumns = `id, coalesce(parent, 0), kind, name, unit, neighbours, coalesce(fingerprint, ''), coalesce(path, ''),
	cap_eps_nano, spent_eps_nano, cap_delta, spent_delta`

func (a *account) scan(row interface{ Scan(...any) error }) error {
	return row.Scan(&a.id, &a.parent, &a.kind, &a.name, &a.unit, &a.neighbours, &a.fingerprint, &a.path, &a.capEps, &a.spentEps, &a.capDelta, &a.spentDelta)
}

func (a *account) left() Cost {
	return Cost{Epsilon: a.capEps - a.spentEps, Delta: a.capDelta - a.spentDelta}
}

func (a *account) checkLowered(limit Cost) error {
	if limit.Epsilon < a.spentEps || limit.Delta < a.spentDelta {
		return usage(kindWord(a.kind)+" "+a.name, fmt.Sprintf("epsilon %s and delta %s are spent already", decimal(a.spentEps, 9), decimal(a.spentDelta, 18)), "a cap cannot lie below what is spent")
	}
	return nil
}

// findAccount returns nil where there is none.
func findAccount(ctx context.Context, q querier, parent int64, kind, name string) (*account, error) {
	var a account
	err := a.scan(q.QueryRowContext(ctx, "SELECT "+accountColumns+" FROM account WHERE coalesce(parent, 0) = ? AND kind = ? AND name = ?", parent, kind, name))
	if errors.Is(err, sql.ErrNoRows) {
		return nil, nil
	}
	return &a, err
}

// accounts returns the accounts that where selects, in id order.
func accounts(ctx context.Context, q querier, where string, args ...any) ([]account, error) {
	rows, err := q.QueryContext(ctx, "SELECT "+accountColumns+" FROM account WHERE "+where+" ORDER BY id", args...)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var all []account
	for rows.Next() {
		var a account
		if err := a.scan(rows); err != nil {
			return nil, err
		}
		all = append(all, a)
	}
	return all, rows.Err()
}

func noDataset(name string) error {
	return &noren.Error{
		Kind: noren.Refused, Where: "data set " + name, What: "it has no budget", Err: ErrNoGrant,
		Hint: "the steward grants one with: noren ledger grant " + name + " --file FILE --epsilon E",
	}
}

func changedError(path, name string) error {
	return &noren.Error{
		Kind: noren.Refused, Where: path, What: "the file at this path is not the one that was granted as " + name, Err: ErrChanged,
		Hint: "if it is the same data set in a new state, the steward says so by granting " + name + " again with --changed: what is spent stays spent",
	}
}

// firstFault unpacks the first of joined errors, so that its kind and hint show.
func firstFault(err error) error {
	var e *noren.Error
	if errors.As(err, &e) {
		return e
	}
	return err
}
