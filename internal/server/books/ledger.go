package books

import (
	"context"

	"github.com/noren-privacy/noren/api"
)

// The operations of the ledger's passbook, by its history until the paged ones are merged.

func (b *Books) raise(ctx context.Context, r *api.LedgerRaiseRequest) error {
	if r.Analyst != "" {
		_, err := b.config.Service().LedgerGrantAnalyst(ctx, &api.LedgerGrantAnalystRequest{Dataset: r.Dataset, Analyst: r.Analyst, Epsilon: r.Epsilon, Delta: r.Delta, Rho: r.Rho})
		return err
	}
	_, err := b.config.Service().LedgerGrant(ctx, &api.LedgerGrantRequest{Dataset: r.Dataset, Epsilon: r.Epsilon, Delta: r.Delta, Rho: r.Rho})
	return err
}

func (b *Books) counts(ctx context.Context, dataset string) (*api.LedgerCounts, error) {
	h, err := b.config.Service().LedgerHistory(ctx, &api.LedgerHistoryRequest{Dataset: dataset})
	if err != nil {
		return nil, err
	}
	out := &api.LedgerCounts{}
	for _, c := range h.Charges {
		out.Charges++
		if c.State == "forfeited" {
			out.Forfeited++
		}
	}
	return out, nil
}

func (b *Books) ledgerEntries(ctx context.Context, r *api.LedgerEntriesRequest) (*api.LedgerEntries, error) {
	h, err := b.config.Service().LedgerHistory(ctx, &api.LedgerHistoryRequest{Dataset: r.Dataset, Analyst: r.Analyst})
	if err != nil {
		return nil, err
	}
	out := &api.LedgerEntries{}
	for i := len(h.Charges) - 1; i >= 0; i-- {
		c := &h.Charges[i]
		if r.Before > 0 && c.Link >= r.Before || r.State != "" && c.State != r.State {
			continue
		}
		if len(out.Entries) == r.Limit {
			out.Next = out.Entries[r.Limit-1].Link
			break
		}
		out.Entries = append(out.Entries, api.LedgerEntry{Link: c.Link, Time: c.Time, Kind: "charge", Dataset: c.Dataset, Analyst: c.Principal, Charge: c.Charge, Key: c.Key, State: c.State, Cost: &c.Cost})
	}
	return out, nil
}

func (b *Books) spend(context.Context, *api.LedgerSpendRequest) (*api.LedgerSpend, error) {
	return &api.LedgerSpend{}, nil
}
