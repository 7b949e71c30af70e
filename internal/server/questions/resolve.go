package questions

import (
	"context"
	"errors"

	"github.com/noren-privacy/noren"
	"github.com/noren-privacy/noren/api"
	"github.com/noren-privacy/noren/internal/server/books"
	"github.com/noren-privacy/noren/internal/server/limit"
	"github.com/noren-privacy/noren/internal/server/problem"
	"github.com/noren-privacy/noren/internal/server/store"
)

// resolveAll ends the questions that a killed process left, as far as the ledger knows what
// became of them, and returns how many it does not know yet.
func (q *Questions) resolveAll(ctx context.Context) (left int, err error) {
	rows, err := q.config.Store.OpenQuestions(ctx)
	if err != nil {
		return 0, err
	}
	for i := range rows {
		if q.Hidden(rows[i].Key) {
			left++
			continue // its work is under way
		}
		if err := q.resolve(ctx, &rows[i]); err != nil {
			return 0, err
		}
		now, err := q.config.Store.QuestionByKey(ctx, rows[i].Key)
		if err == nil && now.State == store.Asked {
			left++
		}
	}
	return left, nil
}

// resolve ends a question by what the ledger says of its charge, or takes it up. It charges
// nothing.
func (q *Questions) resolve(ctx context.Context, kept *store.Question) error {
	if q.config.Host.Sealed() != "" {
		return nil // the ledger may be an older one, which does not have the charge
	}
	var c content
	if err := unmarshal(kept.Paid, &c); err != nil {
		return err
	}
	found, err := q.config.Host.Service().Stored(ctx, &api.StoredRequest{Analyst: kept.Principal, RequestKey: kept.Key})
	if err != nil {
		return err
	}
	switch found.State {
	case "none": // killed before the charge
		return q.config.Store.Write(ctx, func(ctx context.Context, tx *store.Tx) error { return tx.DropQuestion(ctx, kept.ID) })
	case "released":
		h, err := q.config.Books.Hold(c.Book)
		if err != nil {
			return err
		}
		answers, err := q.again(ctx, h, &c, kept)
		if err != nil && !outdated(err) {
			return err
		}
		if err != nil {
			// Its schema is another by now: the answer cannot be shown in words.
			err = problem.New("forfeited", "The request was answered when the server stopped, under an earlier schema of the book. The export of "+
				"the book has the answer and its certificate.")
		}
		q.settle(ctx, kept.ID, &c, kept.Principal, answers, err)
	case "reserved":
		pending, err := q.config.Kept.Pending(ctx, kept.Principal, kept.Key)
		if err != nil {
			return err
		}
		if pending {
			q.takeUp(kept, &c)
		}
	case "forfeited":
		q.settle(ctx, kept.ID, &c, kept.Principal, nil,
			problem.New("forfeited", "The request was charged by a process that stopped, and has no answer. The charge stays."))
	}
	return nil
}

// again asks for the stored answer to a question that was released.
func (q *Questions) again(ctx context.Context, h *books.Held, c *content, kept *store.Question) (*api.Answers, error) {
	request, err := q.ask(h, kept.Principal, c.Questions)
	if err != nil {
		return nil, err
	}
	request.RequestKey, request.Request = kept.Key, c.Request
	return q.config.Host.Service().Ask(ctx, request)
}

// outdated reports whether a stored answer cannot be asked for any more: the data set or
// its schema is another.
func outdated(err error) bool {
	return noren.KindOf(err) == noren.Refused || noren.KindOf(err) == noren.Usage
}

// Of rehearsals, so many run at once, and so many of one principal wait: they take turns by
// principal.
const (
	rehearsals       = 2
	waitingRehearsal = 8
)

// Rehearsal is a rehearsal of a quote on made-up rows.
type Rehearsal struct {
	Rows      int             `json:"rows" doc:"The number of made-up rows."`
	Runs      int             `json:"runs" doc:"How often each question was answered."`
	Questions []RehearsedPart `json:"questions" nullable:"false" doc:"One run of each question."`
	Within    int             `json:"within" doc:"How many values of all runs lay within their margins."`
	Of        int             `json:"of" doc:"How many values of all runs have a margin."`
}

// RehearsedPart is the rehearsal of one question.
type RehearsedPart struct {
	Rows   []Row `json:"rows" nullable:"false" doc:"The values of one run."`
	Within int   `json:"within" doc:"How many values of all runs lay within the margin."`
	Of     int   `json:"of" doc:"How many values of all runs have a margin."`
}

// Rehearse answers a quote on rows drawn from the public definition alone. It reads no data
// and charges nothing.
func (q *Questions) Rehearse(ctx context.Context, token string, r *Reader) (*Rehearsal, error) {
	c, h, err := q.opened(token, r)
	if err != nil {
		return nil, err
	}
	request, err := q.ask(h, r.ID, c.Questions)
	if err != nil {
		return nil, err
	}
	request.Definition = c.Definition
	back, err := q.rehearsing.Take(ctx, r.ID)
	if errors.Is(err, limit.ErrShare) {
		p := problem.New("too-many", "Your rehearsals fill your share of the queue.").Hinted("wait until one ends")
		p.RetryAfter = 1
		return nil, p
	}
	if err != nil {
		return nil, err
	}
	defer back()
	found, err := q.config.Host.Service().Rehearse(ctx, &api.RehearseRequest{AskRequest: *request, Seed: c.Request})
	if err != nil {
		return nil, q.failed(err)
	}
	out := &Rehearsal{Rows: found.Rows, Runs: found.Runs, Within: found.Within, Of: found.Of, Questions: []RehearsedPart{}}
	for _, one := range found.Questions {
		out.Questions = append(out.Questions, RehearsedPart{rowsOf(one.Rows), one.Within, one.Of})
	}
	return out, nil
}
