package service

import (
	"context"
	"errors"

	"github.com/noren-privacy/noren/account"
	"github.com/noren-privacy/noren/api"
	"github.com/noren-privacy/noren/ledger"
)

// Held keeps the cost of a request free until the request is charged ([Held.Ask]), so
// that it can wait ([ledger.Hold]).
type Held struct {
	hold *ledger.Hold
	// Granted says that the analyst has an account of its own.
	Granted bool
	// Charged is called once the charge is durable and before private data is read, Read once
	// the columns are in memory and before the answer is computed, and Computed once the answer
	// was computed or has failed and before the ledger notes it (package release). Optional.
	Charged, Read, Computed func()
}

// Release ends the hold. It does nothing to a nil hold and to one that has ended.
func (h *Held) Release() {
	if h != nil {
		h.hold.Release()
	}
}

// Ask is [Service.Ask] with the hold, which ends with the charge. Without a hold it is the
// same.
func (h *Held) Ask(ctx context.Context, s *Service, r *api.AskRequest) (*api.Answers, error) {
	return s.ask(ctx, r, h)
}

// Hold keeps a cost free for a request. It reads no data, writes nothing, and prices
// nothing: the cost is that of an earlier price for the request's schema, as a quote states
// it. The caller releases the result.
//
// Errors are those of [ledger.Ledger.Hold], and of code changed for another schema.
func (k *Kept) Hold(ctx context.Context, r *api.AskRequest, cost api.Amount) (*Held, error) {
	want, err := cost.Parse()
	if err != nil {
		return nil, err
	}
	return current(k, r.Dataset, func() (*Held, error) {
		d, err := k.find(ctx, r.Dataset)
		if err != nil {
			return nil, err
		}
		if err := forSchema(d, r); err != nil {
			return nil, err
		}
		h, err := k.ledger.Hold(ctx, ledger.Wanted{Dataset: d.Name, Principal: r.Analyst, Version: d.Version, Cost: want})
		if err != nil {
			return nil, err
		}
		return &Held{hold: h, Granted: h.Granted}, nil
	})
}

// IsCharged reports whether an error of an answer is of a request that was charged although
// its charge was not announced ([Held.Charged]).
func IsCharged(err error) bool { return errors.Is(err, ledger.ErrCharged) }

// IsUnwritable reports whether a request was not charged because the ledger cannot note
// charges outside of its database now.
func IsUnwritable(err error) bool { return errors.Is(err, ledger.ErrUnwritable) }

// LeftAtRefusal is what each account held when the budget did not cover a request, where
// that is the cause of err; nil for all other errors.
func LeftAtRefusal(err error) []api.AccountQuote {
	var refused *ledger.Refusal
	if !errors.As(err, &refused) {
		return nil
	}
	var out []api.AccountQuote
	for _, r := range refused.Left {
		out = append(out, api.AccountQuote{Kind: r.Kind, Name: r.Name, Left: account.AmountIn(r.Accounting, r.Left)})
	}
	return out
}
