package ledger

import (
	"context"
	"database/sql"
)

// Balance is what the accounts of a data set hold for one analyst.
type Balance struct {
	// Version is the current version of the data set.
	Version int
	// Remaining is what is left to the data set and, where the analyst has a grant, to the
	// analyst, in this order.
	Remaining []Remaining
	// Restricted says that analysts have grants: only those may ask.
	Restricted bool
	// Granted says that this analyst has one, and Closed that it is closed.
	Granted, Closed bool
}

// Admits reports whether the analyst may ask at all: where analysts have grants, only
// those with an open one may.
func (b *Balance) Admits() bool { return !b.Closed && (b.Granted || !b.Restricted) }

// Balance reads what is left to a data set and to an analyst of it, and nothing else: a
// quote needs no more. Error: [ErrNoGrant] where there is no data set of that name.
func (l *Ledger) Balance(ctx context.Context, dataset, analyst string) (*Balance, error) {
	b, err := l.balance(ctx, dataset, analyst)
	if err != nil {
		return nil, fail(l.path, "cannot be read", err)
	}
	return b, nil
}

func (l *Ledger) balance(ctx context.Context, dataset, analyst string) (*Balance, error) {
	tx, err := l.db.BeginTx(ctx, &sql.TxOptions{ReadOnly: true})
	if err != nil {
		return nil, err
	}
	defer tx.Rollback()
	book, err := findAccount(ctx, tx, 0, kindDataset, dataset)
	if err != nil {
		return nil, err
	}
	if book == nil {
		return nil, noDataset(dataset)
	}
	out := &Balance{Version: int(book.version), Remaining: []Remaining{{Kind: kindDataset, Name: book.name, Left: book.left(), Accounting: Accounting(book.accounting)}}}
	own, err := findAccount(ctx, tx, book.id, kindAnalyst, analyst)
	if err != nil {
		return nil, err
	}
	if own != nil {
		out.Restricted, out.Granted, out.Closed = true, true, own.closed
		out.Remaining = append(out.Remaining, Remaining{Kind: kindAnalyst, Name: own.name, Left: own.left(), Accounting: Accounting(own.accounting)})
		return out, nil
	}
	err = tx.QueryRowContext(ctx, "SELECT EXISTS (SELECT 1 FROM account WHERE coalesce(parent, 0) = ? AND kind = ?)", book.id, kindAnalyst).Scan(&out.Restricted)
	return out, err
}
