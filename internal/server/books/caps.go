package books

import (
	"context"

	"github.com/noren-privacy/noren"
	"github.com/noren-privacy/noren/api"
	"github.com/noren-privacy/noren/internal/server/auth"
	"github.com/noren-privacy/noren/internal/server/problem"
	"github.com/noren-privacy/noren/internal/server/store"
)

// Raise raises the cap of a book. Parts that are not stated stay; none falls.
func (b *Books) Raise(ctx context.Context, id string, to api.Amount, v Viewer) (*Book, error) {
	d, err := b.find(id)
	if err != nil {
		return nil, err
	}
	if to == (api.Amount{}) {
		return nil, noren.Usagef("epsilon", "expected a new cap, got none")
	}
	if _, err := b.config.Host.Service().LedgerRaise(ctx, &api.LedgerRaiseRequest{
		Dataset: d.Name, Epsilon: to.Epsilon, Delta: to.Delta,
		Rho: to.Rho,
	}); err != nil {
		return nil, err
	}
	return b.Get(ctx, id, v)
}

// SetAccount makes the account of a principal, or raises its cap, and gives the principal
// the role analyst on the table where it has no role that may ask.
func (b *Books) SetAccount(ctx context.Context, id, principal string, to api.Amount, v Viewer) (*Book, error) {
	d, err := b.find(id)
	if err != nil {
		return nil, err
	}
	p, err := b.config.Store.PrincipalByID(ctx, principal)
	if err != nil || p.Ended {
		return nil, problem.NotFound()
	}
	set, err := b.dataset(ctx, d.Name)
	if err != nil {
		return nil, err
	}
	operations := b.config.Host.Service()
	has := false
	for i := range set.Analysts {
		has = has || set.Analysts[i].Name == principal && !set.Analysts[i].Closed
	}
	if has {
		_, err = operations.LedgerRaise(ctx, &api.LedgerRaiseRequest{
			Dataset: d.Name, Analyst: principal, Epsilon: to.Epsilon, Delta: to.Delta,
			Rho: to.Rho,
		})
	} else {
		_, err = operations.LedgerGrantAnalyst(ctx, &api.LedgerGrantAnalystRequest{
			Dataset: d.Name, Analyst: principal, Epsilon: to.Epsilon,
			Delta: to.Delta, Rho: to.Rho,
		})
	}
	if err != nil {
		return nil, err
	}
	if !(&auth.Actor{Grants: p.Grants}).Has(d.Table, auth.Steward, auth.Analyst) {
		err := b.config.Store.Write(ctx, func(ctx context.Context, tx *store.Tx) error {
			return tx.Grant(ctx, principal, d.Table, string(auth.Analyst))
		})
		if err != nil {
			return nil, err
		}
	}
	return b.Get(ctx, id, v)
}

// CloseAccount closes the account of a principal. What was spent stays spent.
func (b *Books) CloseAccount(ctx context.Context, id, principal string, v Viewer) (*Book, error) {
	d, err := b.find(id)
	if err != nil {
		return nil, err
	}
	_, err = b.config.Host.Service().LedgerCloseAnalyst(ctx, &api.LedgerCloseAnalystRequest{Dataset: d.Name, Analyst: principal})
	if noren.CodeOf(err) == "no-grant" {
		return nil, problem.NotFound()
	}
	if err != nil {
		return nil, err
	}
	return b.Get(ctx, id, v)
}
