package questions

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"sync"

	"github.com/noren-privacy/noren"
	"github.com/noren-privacy/noren/api"
	"github.com/noren-privacy/noren/internal/server/books"
	"github.com/noren-privacy/noren/internal/server/problem"
	"github.com/noren-privacy/noren/internal/server/store"
	"github.com/noren-privacy/noren/service"
)

// hold keeps the cost of a request free while it waits for a place, or refuses what the
// budget does not cover beside all that waits.
func (q *Questions) hold(ctx context.Context, c *content, h *books.Held, r *Reader, request *api.AskRequest) (*service.Held, error) {
	held, err := q.config.Kept.Hold(ctx, request, c.Cost)
	if err != nil && q.charged(ctx, r.ID, request.RequestKey) {
		// The store is an older copy, which does not have the question: nothing is charged again.
		return &service.Held{}, nil
	}
	if err != nil {
		return nil, q.refusal(ctx, c, h, r, request, err)
	}
	if !held.Granted {
		held.Release()
		return nil, noAccount()
	}
	return held, nil
}

// charged reports whether the ledger has the charge of a request key, with an answer or one to
// come.
func (q *Questions) charged(ctx context.Context, principal, key string) bool {
	found, err := q.config.Host.Service().Stored(ctx, &api.StoredRequest{Analyst: principal, RequestKey: key})
	return err == nil && (found.State == "reserved" || found.State == "released")
}

// noAccount is the problem of a principal without an account in a book.
func noAccount() error {
	return problem.From(&noren.Error{
		Kind: noren.Refused, Code: "no-grant", What: "there is no account of the principal in the book",
		Hint: "ask a steward for one",
	})
}

// refusal is the problem of an error before the charge.
func (q *Questions) refusal(ctx context.Context, c *content, h *books.Held, r *Reader, request *api.AskRequest, err error) error {
	switch noren.CodeOf(err) {
	case "budget-refused":
		if short := service.RefusalOf(err); short != nil {
			return q.short(ctx, c, h, r, request, short, service.LeftAtRefusal(err))
		}
	case "conflict":
		return conflict()
	case "in-progress":
		p := problem.New("conflict", "The request with this key is being answered.")
		p.RetryAfter = 1
		return p
	case "no-grant":
		return noAccount()
	}
	return q.failed(err)
}

// failed is the problem of an error before a charge.
func (q *Questions) failed(err error) error {
	if service.IsUnwritable(err) {
		return problem.New("unavailable", "The ledger cannot note charges now: its head file or anchor cannot be written. Nothing was charged.")
	}
	switch noren.CodeOf(err) {
	case "sealed":
		q.config.Host.Seal()
		return problem.New("sealed", "The ledger is sealed until it is reconciled.")
	case "changed":
		return problem.New("quote-outdated", "").Hinted("ask for a new quote; it is free")
	}
	return err
}

// short is the problem of a request that an account does not cover. The refusal is kept
// for the list of entries.
func (q *Questions) short(ctx context.Context, c *content, h *books.Held, r *Reader, request *api.AskRequest, refusal *api.Refusal,
	left []api.AccountQuote,
) error {
	worst := refusal.Accounts[0]
	for _, a := range refusal.Accounts[1:] {
		if !a.Short.Within(worst.Short) {
			worst = a
		}
	}
	kept := &books.Refused{Asked: c.Asked, Cost: worst.Asked, Left: worst.Left, Short: worst.Short}
	out := problem.New("budget-refused", "Nothing was read and nothing was spent.")
	out.Asked, out.Left, out.Short, out.Account = &worst.Asked, &worst.Left, &worst.Short, h.TableName
	if worst.Kind == "analyst" {
		kept.Account = r.ID
		out.Account = r.Name
	}
	out.FitsWith = q.fitting(ctx, c, request, left)
	q.config.Books.Refuse(h.ID, r.ID, q.config.Store.Now(), kept)
	return out
}

// fitting are changes by which a request that was refused would fit. Where they cannot be
// found there are none: the refusal stands without them.
func (q *Questions) fitting(ctx context.Context, c *content, request *api.AskRequest, left []api.AccountQuote) []api.Change {
	key := fitKey{written(request), c.Request, leftOf(left)}
	if found, known := q.fits.find(key); known {
		return found
	}
	price, err := q.config.Host.Service().AskPrice(ctx, request)
	if err != nil {
		return nil
	}
	var out []api.Change
	for _, change := range price.FitsWith {
		change.Questions = q.named(change.Questions)
		out = append(out, change)
	}
	q.fits.keep(fitKey{written(request), price.Request, leftOf(price.Accounts)}, out)
	return out
}

// fitKey is what the changes follow from by which a request would fit: what is asked of
// which version of which data set, as it was priced, and what the accounts hold. Changes repeat the questions
// as they were written, so that they are kept for the same words alone: other words for the
// same request are another analyst's.
type fitKey struct{ written, request, left string }

// written is a hash of the questions of a request as they were written.
func written(r *api.AskRequest) string {
	text, err := json.Marshal(r.Questions)
	if err != nil {
		return store.NewID("no") // shared with no other
	}
	sum := sha256.Sum256(text)
	return string(sum[:])
}

// leftOf is what accounts hold.
func leftOf(all []api.AccountQuote) (text string) {
	for i := range all {
		text += all[i].Kind + " " + all[i].Left.String() + "\n"
	}
	return text
}

// mostFits is the number of requests whose changes are kept.
const mostFits = 1000

// fits are changes that were found for requests, so that many refusals of one request
// price them once.
type fits struct {
	mu sync.Mutex
	by map[fitKey][]api.Change
}

func (f *fits) find(key fitKey) (found []api.Change, known bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	found, known = f.by[key]
	return found, known
}

func (f *fits) keep(key fitKey, found []api.Change) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.by == nil || len(f.by) >= mostFits {
		f.by = map[fitKey][]api.Change{}
	}
	f.by[key] = found
}
