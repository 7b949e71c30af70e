package ledger

import (
	"context"
	"slices"
	"sync"

	"github.com/noren-privacy/noren"
)

// Hold keeps a cost free in the accounts of a data set and of an analyst, until it is
// reserved ([Request.Hold]) or released: no other request of this process is charged, or
// gets a hold, for what it keeps. So a process that lets requests wait can refuse at once
// what the budget will not cover.
//
// A hold is in the memory of this process alone. It spends nothing, and it is gone with the
// process. Other processes do not know of it: what they spend meanwhile may leave too
// little, and then Reserve refuses. The guarantee rests on what is charged, never on holds.
type Hold struct {
	held *holds
	cost Cost
	ids  []int64 // the accounts; nil once it has ended
	// Granted says that the analyst has an account of its own.
	Granted bool
}

// Wanted is what a hold is for.
type Wanted struct {
	// Dataset is the name of a granted data set. Required.
	Dataset string
	// Principal is the name of the analyst. Required.
	Principal string
	// Version is the version of the data set that the request is made for. Required.
	Version int
	// Cost is what the request will be charged, in the accounting of the budget. Required.
	Cost Cost
}

// Hold keeps the cost of a request free. Nothing is written. The caller ends the hold by
// [Hold.Release], also after it was reserved.
//
// Errors are of kind Refused, as those of [Ledger.Reserve]: a budget that does not cover the
// cost and what other holds keep (with a [*Refusal]), a missing grant ([ErrNoGrant]), a data
// set without a schema, another version ([ErrChanged]), a closed analyst and a sealed ledger.
func (l *Ledger) Hold(ctx context.Context, w Wanted) (*Hold, error) {
	if w.Cost.Epsilon < 0 || w.Cost.Delta < 0 || w.Cost.Rho < 0 || w.Cost == (Cost{}) {
		return nil, noren.Usagef(noren.Phrase("the request"), "its cost is not above 0")
	}
	if err := l.Sealed(); err != nil {
		return nil, err
	}
	var out *Hold
	j := &job{check: func(ctx context.Context, known *moment) (err error) {
		out, err = l.hold(ctx, known, &w)
		return err
	}}
	if _, err := l.grouped(ctx, "the budget cannot be read", j); err != nil {
		return nil, err
	}
	return out, nil
}

// hold decides on one hold. It runs while no charge of this process is under way.
func (l *Ledger) hold(ctx context.Context, known *moment, w *Wanted) (*Hold, error) {
	b, err := known.balance(ctx, w.Dataset, w.Principal)
	if err != nil {
		return nil, err
	}
	switch {
	case b.Version == 0:
		return nil, noSchema(w.Dataset)
	case b.Closed:
		return nil, closedAnalyst(w.Dataset, w.Principal)
	case !b.Admits():
		return nil, noAnalyst(w.Dataset, w.Principal)
	case b.Version != w.Version:
		return nil, changedVersion(w.Dataset, noren.Textf("its version is %d, the request is for version %d", b.Version, w.Version))
	}
	l.held.mu.Lock()
	defer l.held.mu.Unlock()
	refusal := &Refusal{}
	for i, r := range b.Remaining {
		r.Left = l.held.free(b.ids[i], r.Left)
		refusal.Left = append(refusal.Left, r)
		if !w.Cost.Within(r.Left) {
			refusal.Short = append(refusal.Short, Shortfall{r.Kind, r.Name, w.Cost, r.Left})
		}
	}
	if len(refusal.Short) > 0 {
		return nil, refusedBudget(refusal)
	}
	for _, id := range b.ids {
		l.held.add(id, w.Cost, 1)
	}
	return &Hold{held: &l.held, cost: w.Cost, ids: b.ids, Granted: b.Granted}, nil
}

// Release ends the hold. It does nothing to a nil hold and to one that has ended.
func (h *Hold) Release() {
	if h == nil {
		return
	}
	h.held.mu.Lock()
	defer h.held.mu.Unlock()
	for _, id := range h.ids {
		h.held.add(id, h.cost, -1)
	}
	h.ids = nil
}

// holds are what all holds of a process keep, by account.
type holds struct {
	mu sync.Mutex
	of map[int64]Cost
}

// add adds a cost to what is kept of an account, or with sign -1 takes it away. The lock is
// held.
func (h *holds) add(id int64, c Cost, sign int64) {
	if h.of == nil {
		h.of = map[int64]Cost{}
	}
	now := h.of[id]
	now = Cost{Epsilon: now.Epsilon + sign*c.Epsilon, Delta: now.Delta + sign*c.Delta, Rho: now.Rho + rho(sign)*c.Rho}
	h.of[id] = now
	if now == (Cost{}) {
		delete(h.of, id)
	}
}

// free is what is left of an account less what holds keep of it. The lock is held.
func (h *holds) free(id int64, left Cost) Cost {
	return left.Minus(h.of[id])
}

// freeFor is what is left of an account less what other holds than own keep of it.
func (h *holds) freeFor(own *Hold, id int64, left Cost) Cost {
	h.mu.Lock()
	defer h.mu.Unlock()
	if own != nil && slices.Contains(own.ids, id) {
		left = Cost{Epsilon: left.Epsilon + own.cost.Epsilon, Delta: left.Delta + own.cost.Delta, Rho: left.Rho + own.cost.Rho}
	}
	return h.free(id, left)
}

// moment is what accounts hold while no charge of this process is under way.
type moment struct {
	ledger *Ledger
	known  map[[2]string]*Balance
}

// balance reads what is left to a data set and an analyst, once.
func (m *moment) balance(ctx context.Context, dataset, analyst string) (*Balance, error) {
	key := [2]string{dataset, analyst}
	if b := m.known[key]; b != nil {
		return b, nil
	}
	b, err := m.ledger.balance(ctx, dataset, analyst)
	if err == nil {
		m.known[key] = b
	}
	return b, err
}

// runChecks does the work of all that wait for a moment without a charge under way. own
// leads.
func (l *Ledger) runChecks(ctx context.Context, own *job) {
	l.groupMu.Lock()
	var checks []*job
	l.queue = slices.DeleteFunc(l.queue, func(j *job) bool {
		if j.check != nil {
			checks = append(checks, j)
		}
		return j.check != nil
	})
	l.groupMu.Unlock()
	if !slices.Contains(checks, own) {
		checks = append(checks, own)
	}
	whole := context.WithoutCancel(ctx)
	known := &moment{l, map[[2]string]*Balance{}}
	for _, j := range checks {
		j.end(j.check(whole, known))
	}
}
