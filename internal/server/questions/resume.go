package questions

import (
	"context"
	"time"

	"github.com/noren-privacy/noren"
	"github.com/noren-privacy/noren/api"
	"github.com/noren-privacy/noren/internal/server/problem"
	"github.com/noren-privacy/noren/internal/server/quantum"
	"github.com/noren-privacy/noren/internal/server/store"
	"github.com/noren-privacy/noren/service"
)

// takeUp computes the answer of a question again that was charged and left: at the end of a
// class that begins now. It returns at once. A question whose key is in use is left to the
// request that has it.
func (q *Questions) takeUp(kept *store.Question, c *content) {
	p := &paying{key: kept.Key, begun: make(chan struct{})}
	copy(p.bodyHash[:], kept.BodyHash)
	if q.claim(p) != p {
		return
	}
	q.mu.Lock()
	p.move(resume)
	p.id, p.book, p.by = kept.ID, kept.Book, kept.Principal
	q.byID[p.id] = p
	closed := q.life.Err() != nil
	if !closed {
		q.background.Add(1)
	}
	q.mu.Unlock()
	if closed {
		q.unresumed(p, stopping())
		return
	}
	go func() {
		defer q.background.Done()
		if err := q.resume(p, c); err != nil {
			q.unresumed(p, err)
		}
	}()
}

// unresumed gives a request back whose work did not begin again. Its question stays open.
func (q *Questions) unresumed(p *paying, err error) {
	q.release(p, reply)
	p.err = err
	close(p.begun)
}

// resume begins the work of a request that was charged.
func (q *Questions) resume(p *paying, c *content) error {
	h, err := q.config.Books.Hold(c.Book)
	if err != nil {
		return err
	}
	var request *api.AskRequest
	gone := h.Gone
	if !gone {
		if request, err = q.ask(h, p.by, c.Questions); err != nil {
			return err
		}
		request.RequestKey, request.Request, request.Definition = p.key, c.Request, c.Definition
	}
	claim := quantum.Claim{
		Class: c.Class, Before: c.Before, Bound: c.Bound, Principal: p.by, Book: c.Book,
		Passed: func() { q.end(c.Book, p.by) },
	}
	t, err := q.config.Desk.Start(q.life, claim, func(w *quantum.Work) bool {
		if gone {
			q.outdated(p, c)
			return true
		}
		return q.workAgain(w, p, c, request)
	})
	if err != nil {
		return stopping()
	}
	p.ticket = t
	close(p.begun)
	return nil
}

// workAgain is [Questions.work] for a request that was charged. Until it has taken the charge
// over it reads nothing: what stops it there is a refusal that leaves the question open, or ends it
// where its table is another by now.
func (q *Questions) workAgain(w *quantum.Work, p *paying, c *content, request *api.AskRequest) (refused bool) {
	defer func() {
		if recover() != nil {
			p.reply, refused = q.problemReply(problem.New("internal", ""), p.id, c), false
			go q.releaseWith(p)
		}
	}()
	ctx := context.Background()
	taken := false
	held := &service.Held{Charged: func() { taken = true }, Read: w.Turn, Computed: func() { q.move(p, compute); w.Ready() }}
	answers, err := held.Ask(ctx, q.config.Host.Service(), request)
	switch {
	case err != nil && !taken && service.IsOutdated(err):
		q.outdated(p, c)
		return true
	case err != nil && !taken && noren.CodeOf(err) != "forfeited":
		p.refused = q.failed(err)
		q.release(p, reply)
		q.wake()
		return true
	}
	q.conclude(ctx, p, c, p.by, answers, err)
	go q.releaseWith(p)
	return false
}

// outdated ends a question that can never be answered: the charge stays.
func (q *Questions) outdated(p *paying, c *content) {
	ctx := context.Background()
	_ = q.config.Kept.GiveUp(ctx, p.by, p.key)
	var kept bool
	p.reply, kept = q.settle(ctx, p.id, c, p.by, nil,
		problem.New("forfeited",
			"The request was charged by a process that stopped, and its table is another by now: it has no answer. The charge stays."))
	if kept {
		q.move(p, keep)
	}
	q.release(p, reply)
}

// conclude stores what became of a charged request, and makes its reply. After an error the
// ledger knows whether there is, or will be, an answer: then the question stays open, and is
// taken up in the background.
func (q *Questions) conclude(ctx context.Context, p *paying, c *content, principal string, answers *api.Answers, failure error) {
	if failure != nil && q.answerable(ctx, principal, p.key) {
		p.reply = q.problemReply(unstored(), p.id, c)
		q.wake()
		return
	}
	var kept bool
	p.reply, kept = q.settle(ctx, p.id, c, principal, answers, failure)
	if kept {
		q.move(p, keep)
	} else {
		q.wake()
	}
	_ = q.config.Fault("stored")
	_ = q.config.Books.Charged(ctx, c.Book, principal, remaining(answers)) // an alert that cannot be stored comes with the next charge
}

// answerable reports whether the ledger has the answer of a charged request, or all that it
// takes to compute it again.
func (q *Questions) answerable(ctx context.Context, principal, key string) bool {
	found, err := q.config.Host.Service().Stored(ctx, &api.StoredRequest{Analyst: principal, RequestKey: key})
	if err != nil {
		return true // not known: the question stays open until it is
	}
	if found.State != "reserved" {
		return found.State == "released"
	}
	pending, err := q.config.Kept.Pending(ctx, principal, key)
	return pending || err != nil
}

// unstored is the problem of a charged request whose answer comes later.
func unstored() *problem.Problem {
	return problem.New("unavailable", "The answer cannot be stored now.").Hinted("repeat the request with the same key")
}

func stopping() error { return problem.New("unavailable", "The server is stopping.") }

// wake looks for open questions in the background, until there are none.
func (q *Questions) wake() {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.awake || q.life.Err() != nil {
		return
	}
	q.awake = true
	q.background.Go(q.resolveLater)
}

// resolveLater tries again until no question is open: a charge without an answer is given
// up once its lease has run out, and one that can be answered is computed again.
func (q *Questions) resolveLater() {
	again := time.NewTicker(10 * time.Second)
	defer again.Stop()
	for {
		select {
		case <-q.life.Done():
			return
		case <-again.C:
			if left, err := q.resolveAll(context.Background()); err == nil && left == 0 {
				q.sleep()
				return
			}
		}
	}
}

// sleep lets the next question that is left open wake the background again.
func (q *Questions) sleep() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.awake = false
}
