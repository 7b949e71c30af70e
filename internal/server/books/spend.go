package books

import (
	"context"
	"time"

	"github.com/noren-privacy/noren"
	"github.com/noren-privacy/noren/api"
	"github.com/noren-privacy/noren/internal/server/jobs"
)

// Spend is the course of the expenditure of a book.
type Spend struct {
	Points []Point    `json:"points" nullable:"false" doc:"What each account had spent, in order."`
	Cap    api.Amount `json:"cap" doc:"The cap: of the book for stewards and auditors, of the own account for others."`
}

// Point is what an account had spent at a time.
type Point struct {
	At      string     `json:"at" doc:"When it was charged."`
	Account string     `json:"account" doc:"The id of the principal; empty for the book."`
	Amount  api.Amount `json:"amount" doc:"All that the account had spent."`
}

// Spend is the expenditure of a book by account; for a viewer who does not see all, that
// of the own account.
func (b *Books) Spend(ctx context.Context, id string, v Viewer) (*Spend, error) {
	d, err := b.find(id)
	if err != nil {
		return nil, err
	}
	r := &api.LedgerSpendRequest{Dataset: d.Name, Points: 500}
	if !v.All {
		if _, open, err := b.Left(ctx, id, v.ID); err != nil || !open {
			return &Spend{Points: []Point{}}, err
		}
		r.Analyst = v.ID
	}
	found, err := b.config.Host.Service().LedgerSpend(ctx, r)
	if err != nil {
		return nil, err
	}
	out := &Spend{Points: make([]Point, len(found.Points)), Cap: amountOf(found.Cap)}
	for i, p := range found.Points {
		out.Points[i] = Point{p.Time, p.Analyst, amountOf(p.Spent)}
	}
	if !v.All {
		set, err := b.dataset(ctx, d.Name)
		if err != nil {
			return nil, err
		}
		for i := range set.Analysts {
			if set.Analysts[i].Name == v.ID {
				out.Cap = amountOf(set.Analysts[i].Cap)
			}
		}
	}
	return out, nil
}

// LedgerCheck is a check of the whole ledger.
type LedgerCheck struct {
	State  string        `json:"state" enum:"none,running,done" doc:"Whether the ledger was checked since the server started."`
	At     *time.Time    `json:"at,omitempty" doc:"When the check ended."`
	Checks []CheckedItem `json:"checks" nullable:"false" doc:"What was found."`
}

// CheckedItem is one finding.
type CheckedItem struct {
	Level   string  `json:"level" enum:"ok,attention,stop" doc:"How urgent it is."`
	Message Message `json:"message" doc:"The finding."`
}

// StartCheck begins the job that checks the chain of the ledger from its first entry.
func (b *Books) StartCheck(id, by string) (*jobs.Job, error) {
	d, err := b.find(id)
	if err != nil {
		return nil, err
	}
	job, err := b.config.Jobs.Submit(jobs.Task{
		Kind: "check", Table: d.Table, By: by,
		Run: func(ctx context.Context, _ *jobs.Run) (any, error) {
			c, err := b.check(ctx)
			if err != nil {
				return nil, err
			}
			b.mu.Lock()
			b.checks[id] = c
			b.mu.Unlock()
			return c, nil
		},
		Ended: func(job jobs.Job) {
			b.mu.Lock()
			defer b.mu.Unlock()
			if c := b.checks[id]; c != nil && c.State == "running" {
				delete(b.checks, id)
			}
		},
	})
	if err != nil {
		return nil, err
	}
	b.mu.Lock()
	if b.checks[id] == nil {
		b.checks[id] = &LedgerCheck{State: "running", Checks: []CheckedItem{}}
	}
	b.mu.Unlock()
	return &job, nil
}

// LastCheck is the latest check of the ledger that was asked for by way of a book.
func (b *Books) LastCheck(id string) (*LedgerCheck, error) {
	b.mu.RLock()
	defer b.mu.RUnlock()
	if c := b.checks[id]; c != nil {
		return c, nil
	}
	return &LedgerCheck{State: "none", Checks: []CheckedItem{}}, nil
}

// check verifies the ledger. What it finds is no error.
func (b *Books) check(ctx context.Context) (*LedgerCheck, error) {
	found, err := b.config.Host.Service().LedgerVerify(ctx)
	if code := noren.CodeOf(err); err != nil && code != "unsound" && code != "sealed" {
		return nil, err
	}
	at := b.config.Store.Second()
	out := &LedgerCheck{State: "done", At: &at, Checks: []CheckedItem{}}
	add := func(level, code string, args map[string]any) {
		out.Checks = append(out.Checks, CheckedItem{level, api.Say(code, args)})
	}
	if found.Sound {
		add("ok", "chain-whole", map[string]any{"entries": found.Links, "head": found.Head})
		add("ok", "sums-equal", map[string]any{"charges": found.Charges})
	}
	for _, fault := range found.Faults {
		add("stop", "ledger-fault", map[string]any{"fault": fault})
	}
	if found.Sealed {
		add("stop", "ledger-sealed", nil)
	}
	return out, nil
}
