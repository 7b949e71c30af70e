package service

import (
	"context"
	"encoding/hex"
	"time"

	"github.com/noren-privacy/noren"
	"github.com/noren-privacy/noren/account"
	"github.com/noren-privacy/noren/api"
	"github.com/noren-privacy/noren/ledger"
)

// LedgerEntries returns a page of the grants and charges of the ledger, the newest first,
// each with what was left after it. Its cost does not grow with the number of entries.
func (s *Service) LedgerEntries(ctx context.Context, r *api.LedgerEntriesRequest) (*api.LedgerEntries, error) {
	var out *api.LedgerEntries
	err := s.withLedger(ctx, func(l *ledger.Ledger) error {
		page, err := l.Passbook(ctx, ledger.PassbookOptions{
			Dataset: r.Dataset, Analyst: r.Analyst, State: r.State, Before: r.Before,
			Limit: r.Limit,
		})
		if err != nil {
			return err
		}
		out = &api.LedgerEntries{Schema: api.LedgerSchema, Ledger: l.ID(), Entries: []api.LedgerEntry{}, Next: page.Next}
		for i := range page.Entries {
			out.Entries = append(out.Entries, entryOf(&page.Entries[i]))
		}
		return nil
	})
	return out, err
}

// entryOf is the document of an entry.
func entryOf(e *ledger.PassbookEntry) api.LedgerEntry {
	out := api.LedgerEntry{
		Link: e.Link, Hash: hex.EncodeToString(e.Hash[:]), Time: e.Time.Format(time.RFC3339), Kind: e.Kind, Dataset: e.Dataset,
		Accounting: string(e.Accounting), Analyst: e.Analyst, Charge: e.Charge, Key: e.Key, Mechanism: e.Mechanism,
		State: e.State, Reason: e.Reason, Version: e.Version, Left: api.AmountOf(e.Accounting, e.Left),
	}
	if !e.Ended.IsZero() {
		out.Ended = e.Ended.Format(time.RFC3339)
	}
	amount := func(c account.Cost) *api.Cost {
		a := api.AmountOf(e.Accounting, c)
		return &a
	}
	if e.Charge != "" {
		out.RequestSHA256, out.Cost = hex.EncodeToString(e.Request[:]), amount(e.Cost)
	} else {
		out.Cap = amount(e.Cap)
	}
	if e.Own != nil {
		out.Own = amount(*e.Own)
	}
	return out
}

// LedgerCounts counts the charges of a data set, or of one analyst, by state.
func (s *Service) LedgerCounts(ctx context.Context, r *api.LedgerCountsRequest) (*api.LedgerCounts, error) {
	var out *api.LedgerCounts
	err := s.withLedger(ctx, func(l *ledger.Ledger) error {
		n, err := l.Counts(ctx, r.Dataset, r.Analyst)
		if err == nil {
			out = &api.LedgerCounts{Schema: api.LedgerSchema, Charges: n.Charges, Reserved: n.Reserved, Released: n.Released, Forfeited: n.Forfeited}
		}
		return err
	})
	return out, err
}

// LedgerSpend returns the course of the expenditure of a data set and of its analysts.
func (s *Service) LedgerSpend(ctx context.Context, r *api.LedgerSpendRequest) (*api.LedgerSpend, error) {
	points := r.Points
	if points == 0 {
		points = 500
	}
	var out *api.LedgerSpend
	err := s.withLedger(ctx, func(l *ledger.Ledger) error {
		book, err := l.Book(ctx, r.Dataset)
		if err != nil {
			return err
		}
		all, err := l.Spend(ctx, r.Dataset, r.Analyst, points)
		if err != nil {
			return err
		}
		out = &api.LedgerSpend{
			Schema: api.LedgerSchema, Dataset: book.Name, Accounting: string(book.Accounting),
			Cap: api.AmountOf(book.Accounting, book.Cap), Points: []api.SpendPoint{},
		}
		for _, p := range all {
			out.Points = append(out.Points, api.SpendPoint{
				Link: p.Link, Time: p.Time.Format(time.RFC3339), Analyst: p.Analyst,
				Spent: api.AmountOf(book.Accounting, p.Spent),
			})
		}
		return nil
	})
	return out, err
}

// LedgerRaise raises the cap of a data set or of an analyst with an account. Parts that
// the request does not state stay as they are. No file is read.
func (s *Service) LedgerRaise(ctx context.Context, r *api.LedgerRaiseRequest) (*api.Granted, error) {
	if r.Epsilon == "" && r.Delta == "" && r.Rho == "" {
		return nil, noren.Usagef("epsilon", "say what the cap rises to")
	}
	var out *api.Granted
	err := s.withLedger(ctx, func(l *ledger.Ledger) error {
		book, err := l.Book(ctx, r.Dataset)
		if err != nil {
			return err
		}
		now, found := book.Cap, r.Analyst == ""
		for _, a := range book.Analysts {
			if a.Name != r.Analyst {
				continue
			}
			if a.Closed {
				return &noren.Error{
					Kind: noren.Refused, Code: "closed", Where: noren.Textf("analyst %s", r.Analyst), What: "is closed in data set %s",
					Args: []any{r.Dataset}, Hint: "a new grant of the steward opens it",
				}
			}
			now, found = a.Cap, true
		}
		if !found {
			return &noren.Error{
				Kind: noren.Refused, Code: "no-grant", Where: noren.Textf("analyst %s", r.Analyst),
				What: "has no budget in data set %s", Args: []any{r.Dataset}, Err: ledger.ErrNoGrant, Hint: "the steward grants one first",
			}
		}
		if book.Accounting == account.ZCDP && r.Delta != "" {
			return noren.Usagef("delta", "the cap of a budget in zCDP is a rho").Hinted("leave it out")
		}
		most, err := raised(book.Accounting, r, now)
		if err != nil {
			return err
		}
		if r.Analyst == "" {
			book, err = l.Grant(ctx, ledger.Grant{Name: r.Dataset, Cap: most})
		} else {
			book, err = l.GrantAnalyst(ctx, r.Dataset, r.Analyst, most)
		}
		if err == nil {
			out = &api.Granted{Schema: api.LedgerSchema, Dataset: api.DatasetOf(book)}
		}
		return err
	})
	return out, err
}

// raised is the cap now with the parts that the request states.
func raised(in account.Accounting, r *api.LedgerRaiseRequest, now account.Cost) (account.Cost, error) {
	epsilon, delta := r.Epsilon, r.Delta
	if in != account.ZCDP && epsilon == "" {
		epsilon = account.Decimal(now.Epsilon, 9)
	}
	if in != account.ZCDP && delta == "" {
		delta = account.Decimal(now.Delta, 18)
	}
	return api.CapOf(in, epsilon, delta, r.Rho)
}
