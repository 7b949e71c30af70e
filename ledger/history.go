package ledger

import (
	"context"
	"encoding/json"
	"time"
)

// Entry is one charge in the history, or a use without one: see [Ledger.NoteUncharged].
type Entry struct {
	Charge    string
	Link      int64 // its place in the chain
	Time      time.Time
	Dataset   string
	Principal string
	Key       string
	Mechanism json.RawMessage
	Cost      Cost // charged to each of Accounts; in zCDP rho alone
	Loss      Loss // in zCDP, with the same rho
	Accounts  []int64
	State     string // "reserved", "released", "forfeited" or [NotCharged]
	Reason    string // why it was forfeited
	Ended     time.Time
	// Recovered reports whether the charge was brought back, and Principal says from what.
	Recovered bool
}

// HistoryOptions select charges. The zero value selects all.
type HistoryOptions struct {
	Dataset string // the charges to this data set
	Analyst string // the charges of this analyst
}

// History calls visit with the charges that o selects, the oldest first, until
// visit fails; its error is returned as it is.
func (l *Ledger) History(ctx context.Context, o HistoryOptions, visit func(Entry) error) error {
	// A page at a time, so that visit may take its time, or use the ledger.
	for after := int64(0); ; {
		page, err := l.page(ctx, o, after)
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

func (l *Ledger) page(ctx context.Context, o HistoryOptions, after int64) ([]Entry, error) {
	rows, err := l.readers.QueryContext(ctx, `SELECT charge.id, charge.seq, created_at, account.name, principal, idempotency_key, mechanism_json, state, reason,
		coalesce(ended_at, 0), json_group_array(line.account) FILTER (WHERE line.account IS NOT NULL), chain.kind,
		coalesce(max(line.eps), 0), coalesce(max(line.delta), 0), coalesce(max(line.rho), 0), coalesce(max(line.gaussian), 0)
		FROM charge JOIN chain ON chain.seq = charge.seq JOIN account ON account.id = charge.account LEFT JOIN charge_line AS line ON line.charge = charge.id
		WHERE charge.seq > ?1 AND (?2 = '' OR account.name = ?2) AND (?3 = '' OR principal = ?3) GROUP BY charge.seq ORDER BY charge.seq LIMIT 500`, after, o.Dataset, o.Analyst)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var page []Entry
	for rows.Next() {
		var e Entry
		var created, ended int64
		var mechanism, lines, kind string
		var of line
		if err := rows.Scan(&e.Charge, &e.Link, &created, &e.Dataset, &e.Principal, &e.Key, &mechanism, &e.State, &e.Reason, &ended, &lines,
			&kind, &of.Eps, &of.Delta, &of.Rho, &of.Gaussian); err != nil {
			return nil, err
		}
		e.Cost, e.Loss = of.spentBy()
		e.Time, e.Mechanism = time.UnixMilli(created).UTC(), json.RawMessage(mechanism)
		if ended != 0 {
			e.Ended = time.UnixMilli(ended).UTC()
		}
		if err := json.Unmarshal([]byte(lines), &e.Accounts); err != nil {
			return nil, err
		}
		e.Recovered = kind == kindRecover
		if len(e.Accounts) == 0 {
			e.State = NotCharged
		}
		page = append(page, e)
	}
	return page, rows.Err()
}
