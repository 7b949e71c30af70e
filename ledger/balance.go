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
	// analyst, in this order, less what holds of this process keep.
	Remaining []Remaining
	ids       []int64 // of the accounts
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
	for i, id := range b.ids {
		b.Remaining[i].Left = l.held.freeFor(nil, id, b.Remaining[i].Left)
	}
	return b, nil
}

// balances finds the account of a data set and, where there is one, that of an analyst
// below it: the data set's first. It is one statement, and so sees one moment.
const balances = "WITH book AS (SELECT id FROM account WHERE coalesce(parent, 0) = 0 AND kind = 'dataset' AND name = ?1)" +
	" SELECT " + accountColumns +
	", EXISTS (SELECT 1 FROM account AS below WHERE coalesce(below.parent, 0) = account.id AND below.kind = 'analyst')" +
	" FROM account WHERE id = (SELECT id FROM book)" +
	" UNION ALL SELECT " + accountColumns +
	", 0 FROM account WHERE coalesce(parent, 0) = (SELECT id FROM book) AND kind = 'analyst' AND name = ?2"

func (l *Ledger) balance(ctx context.Context, dataset, analyst string) (*Balance, error) {
	rows, err := l.balances.QueryContext(ctx, balances, dataset, analyst)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var out *Balance
	for rows.Next() {
		var a account
		var restricted bool
		if err := a.scan(withLast{rows, &restricted}); err != nil {
			return nil, err
		}
		left := Remaining{Kind: a.kind, Name: a.name, Left: a.left(), Accounting: Accounting(a.accounting)}
		if out == nil {
			out = &Balance{Version: int(a.version), Remaining: []Remaining{left}, ids: []int64{a.id}, Restricted: restricted}
			continue
		}
		out.Granted, out.Closed = true, a.closed
		out.Remaining, out.ids = append(out.Remaining, left), append(out.ids, a.id)
	}
	if err := rows.Err(); err != nil {
		return nil, err
	}
	if out == nil {
		return nil, noDataset(dataset)
	}
	return out, nil
}

// withLast scans one more column than an account has.
type withLast struct {
	rows *sql.Rows
	last *bool
}

// Scan implements the scanner of an account.
func (w withLast) Scan(to ...any) error { return w.rows.Scan(append(to, w.last)...) }
