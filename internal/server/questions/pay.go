package questions

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"net/http"
	"time"

	"github.com/noren-privacy/noren"
	"github.com/noren-privacy/noren/api"
	"github.com/noren-privacy/noren/internal/server/books"
	"github.com/noren-privacy/noren/internal/server/problem"
	"github.com/noren-privacy/noren/internal/server/quantum"
	"github.com/noren-privacy/noren/internal/server/spoken"
	"github.com/noren-privacy/noren/internal/server/store"
	"github.com/noren-privacy/noren/lang"
	"github.com/noren-privacy/noren/service"
)

// Paying asks for the answer to a quote.
type Paying struct {
	Quote string     `json:"quote" doc:"The token of the quote."`
	Most  api.Amount `json:"most" doc:"The most that may be charged."`

	content *content // of the quote, once it was read
}

// Reply is what is sent for a paid question.
type Reply struct {
	// Status is the HTTP status: 200, that of a problem, or 202 where the work missed its
	// class.
	Status int
	// Body is the body in English, filled up with spaces to a length that follows from public
	// parameters.
	Body []byte
	// japanese is the same in Japanese for a reply without an answer. An answer is said in Japanese
	// when it is sent: how long that takes follows from what the client then reads.
	japanese []byte
	// Answer is the id of the answer; "" where there is none.
	Answer string
	// Replayed says that an earlier request with the same key was answered so.
	Replayed bool
	// Wait is how long to wait before the answer is fetched, after a miss.
	Wait time.Duration
}

// paying is a paid request whose reply has not left.
type paying struct {
	// key and bodyHash never change.
	key      string
	bodyHash [sha256.Size]byte
	// The goroutine of the first request sets ticket or err, then closes begun.
	begun  chan struct{}
	ticket *quantum.Ticket
	err    error // why the work did not begin
	// The work sets reply or refused before the ticket is released.
	reply   *Reply
	refused error
	// The lock of [Questions] guards the others. state is where the request stands, noticed
	// says that a client got the notice of a miss. id, book and by are set together, once.
	state        state
	noticed      bool
	id, book, by string
}

// waits reports whether the reply of a request may not leave yet.
func (p *paying) waits() bool {
	select {
	case <-p.begun:
		return p.ticket != nil && p.ticket.Open()
	default:
		return true
	}
}

// Pay answers a quote under an Idempotency-Key. begin writes the request to the audit log;
// it runs before anything is charged, and what it refuses is not charged. With the same key
// and the same body the reply has the same bytes, and there is one charge; with another
// body the error is a conflict. Errors mean that this request has charged nothing.
func (q *Questions) Pay(ctx context.Context, r *Reader, key string, in *Paying,
	begin func(answer, book string, c api.Amount) error,
) (*Reply, error) {
	if key == "" || len(key) > 200 {
		return nil, problem.New("invalid", "expected a header Idempotency-Key of 1 to 200 bytes").
			Hinted("send a new random text with each new request, and the same one when you repeat it")
	}
	text, err := json.Marshal(in)
	if err != nil {
		return nil, err
	}
	p := &paying{key: requestKey(r.ID, key), bodyHash: sha256.Sum256(text), begun: make(chan struct{})}
	first := q.claim(p)
	if first != p {
		if first.bodyHash != p.bodyHash {
			return nil, conflict()
		}
		reply, err := q.await(ctx, first, true)
		if errors.Is(err, context.Canceled) && ctx.Err() == nil {
			return q.Pay(ctx, r, key, in, begin) // the first client went away before its request began
		}
		return reply, err
	}
	reply, err := q.first(ctx, p, r, in, begin)
	if err != nil || reply != nil {
		return reply, err
	}
	return q.await(ctx, p, false)
}

// first begins the work of the request that has its key, and lets those that joined it go
// on, also after a panic.
func (q *Questions) first(ctx context.Context, p *paying, r *Reader, in *Paying,
	note func(answer, book string, c api.Amount) error,
) (reply *Reply, err error) {
	err = problem.New("internal", "")
	defer func() {
		if err != nil || reply != nil {
			q.release(p, drop)
			if p.err = err; err == nil {
				p.err = errAgain
			}
		}
		close(p.begun)
	}()
	reply, err = q.begin(ctx, p, r, in, note)
	return reply, err
}

// errAgain lets a request with the same key begin again: the first one found a stored
// reply.
var errAgain = errors.New("questions: the reply is stored")

func conflict() error {
	return problem.New("conflict", "A request with this key and another body was sent before.").Hinted("use a new key for a new request")
}

// claim takes a request key, and returns the request that has it.
func (q *Questions) claim(p *paying) *paying {
	q.mu.Lock()
	defer q.mu.Unlock()
	if held := q.open[p.key]; held != nil {
		return held
	}
	q.open[p.key] = p
	return p
}

// keptNotice is how long a refusal can be fetched whose client got the notice of a miss.
const keptNotice = 10 * time.Minute

// release gives a request key back: at a reply, or because the request is dropped.
func (q *Questions) release(p *paying, end event) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if !p.move(end) {
		return // it was given back
	}
	delete(q.open, p.key)
	if p.noticed && p.refused != nil {
		time.AfterFunc(keptNotice, func() { q.forget(p) })
		return
	}
	delete(q.byID, p.id)
}

func (q *Questions) forget(p *paying) {
	q.mu.Lock()
	defer q.mu.Unlock()
	delete(q.byID, p.id)
}

// begin returns a stored reply, or begins the work of a request.
func (q *Questions) begin(ctx context.Context, p *paying, r *Reader, in *Paying,
	note func(answer, book string, c api.Amount) error,
) (*Reply, error) {
	kept, err := q.config.Store.QuestionByKey(ctx, p.key)
	switch {
	case err == nil && !bytes.Equal(kept.BodyHash, p.bodyHash[:]):
		return nil, conflict()
	case err == nil:
		if err := q.MayRead(ctx, kept.ID, r); err != nil {
			return nil, err // the role on the table has ended
		}
		return q.replay(ctx, kept)
	case !errors.Is(err, store.ErrNotFound):
		return nil, err
	}
	if err := q.config.Host.Limit(r.ID); err != nil {
		return nil, err
	}
	if err := q.config.Host.Space(); err != nil {
		return nil, problem.New("unavailable", "The disk is full.").Hinted("free space on the server")
	}
	c, h, err := q.opened(in.Quote, r)
	if err != nil {
		return nil, err
	}
	in.content = c
	if !q.config.Store.Now().Before(time.Unix(c.Until, 0)) {
		return nil, problem.New("quote-expired", "").Hinted("ask for a new quote; it is free")
	}
	if !c.Cost.Within(in.Most) {
		out := problem.New("invalid", "")
		out.Errors = []problem.Fault{problem.At("/most", noren.Textf("expected at least the cost of the quote"))}
		return nil, out
	}
	if err := q.allowed(c.Book, r.ID); err != nil {
		return nil, err
	}
	request, err := q.ask(h, r.ID, c.Questions)
	if err != nil {
		return nil, err
	}
	request.RequestKey, request.Most, request.Definition, request.Request = p.key, &c.Cost, c.Definition, c.Request
	held, err := q.hold(ctx, c, h, r, request)
	if err != nil {
		return nil, err
	}
	defer func() {
		if p.ticket == nil {
			held.Release()
		}
	}()
	id := store.NewID("an")
	if err := note(id, c.Book, c.Cost); err != nil {
		return nil, err
	}
	q.mu.Lock()
	p.id, p.book, p.by = id, c.Book, r.ID
	q.byID[id] = p
	q.mu.Unlock()
	claim := quantum.Claim{
		Class: c.Class, Before: c.Before, Bound: c.Bound, Principal: r.ID, Book: c.Book,
		Passed: func() { q.end(c.Book, r.ID) },
	}
	p.ticket, err = q.config.Desk.Start(ctx, claim, func(w *quantum.Work) bool {
		defer held.Release()
		return q.work(w, p, c, h, r, request, held)
	})
	switch {
	case errors.Is(err, quantum.ErrFull):
		out := problem.New("too-many", "Too many questions wait for an answer.")
		out.RetryAfter = 1
		return nil, out
	case errors.Is(err, quantum.ErrClosed):
		return nil, problem.New("unavailable", "The server is stopping.")
	}
	return nil, err
}

// Asked is what a request of Pay asks: the id of the book, the questions in words and the
// cost. All are empty where its quote was not read.
func (in *Paying) Asked() (book, words, cost string) {
	c := in.content
	if c == nil {
		return "", "", ""
	}
	for i, m := range c.Asked {
		if i > 0 {
			words += "; "
		}
		words += m.Text
	}
	return c.Book, words, c.Cost.String()
}

// await waits until the reply of a request may leave.
func (q *Questions) await(ctx context.Context, p *paying, joined bool) (*Reply, error) {
	select {
	case <-p.begun:
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	if p.err != nil {
		if joined && errors.Is(p.err, errAgain) {
			kept, err := q.config.Store.QuestionByKey(ctx, p.key)
			if err != nil {
				return nil, err
			}
			return q.replay(ctx, kept)
		}
		return nil, p.err
	}
	select {
	case <-p.ticket.Released():
	case <-p.ticket.Missed():
		if q.notice(p) {
			return missed(p, time.Now()), nil
		}
		<-p.ticket.Released() // at this moment
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	if p.refused != nil {
		return nil, p.refused
	}
	if err := q.config.Fault("reply"); err != nil {
		return nil, err
	}
	out := *p.reply
	out.Replayed = joined
	return &out, nil
}

// notice says that the client of a request gets the notice of a miss, unless its reply is
// there or about to be.
func (q *Questions) notice(p *paying) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	if p.state.over() || !p.ticket.Open() {
		return false
	}
	p.noticed = true
	return true
}

// missed is the notice of a request whose work missed its class.
func missed(p *paying, now time.Time) *Reply {
	wait := p.ticket.Next(now)
	return &Reply{Status: http.StatusAccepted, Answer: p.id, Wait: wait}
}

// work charges and answers a request. It returns true for a refusal, which read nothing.
// Its result is in p when it returns. The charge comes before the turn, and the end of the
// charge at the boundary of the reply: neither time depends on private data.
func (q *Questions) work(w *quantum.Work, p *paying, c *content, h *books.Held, r *Reader, request *api.AskRequest,
	held *service.Held,
) (refused bool) {
	defer func() {
		if recover() != nil {
			// It may have been charged: the reply waits for its boundary.
			p.reply, refused = q.problemReply(problem.New("internal", ""), p.id, c), false
			go q.releaseWith(p)
		}
	}()
	// The request goes on when the client has gone: it may have been charged.
	ctx := context.Background()
	q.move(p, accept)
	paid, err := json.Marshal(c)
	if err == nil {
		err = q.allowed(c.Book, r.ID) // they may have ended while the request waited
	}
	if err == nil {
		err = q.config.Store.Write(ctx, func(ctx context.Context, tx *store.Tx) error {
			return tx.AddQuestion(ctx, &store.Question{
				ID: p.id, Book: c.Book, Principal: r.ID, Key: p.key, BodyHash: p.bodyHash[:],
				Request: c.Request, Paid: paid,
			})
		})
	}
	if err == nil {
		err = q.config.Fault("asked")
	}
	if err == nil {
		err = q.config.Host.Asks(ctx, r.ID, h.Table) // the role may have ended while the request waited
	}
	if err != nil {
		p.refused = err
		q.drop(ctx, p)
		return true
	}
	held.Charged, held.Read, held.Computed = func() { q.move(p, charge) }, w.Turn, func() { q.move(p, compute); w.Ready() }
	answers, err := held.Ask(ctx, q.config.Host.Service(), request)
	if err != nil && q.stands(p) == begun && !service.IsCharged(err) {
		p.refused = q.refusal(ctx, c, h, r, request, err)
		q.drop(ctx, p)
		return true
	}
	// A charge without a line in the head file, and an answer that was stored before, come
	// without the two steps. For all others they change nothing here.
	q.move(p, charge)
	q.move(p, compute)
	q.conclude(ctx, p, c, r.ID, answers, err)
	go q.releaseWith(p)
	return false
}

// drop removes a question that was refused.
func (q *Questions) drop(ctx context.Context, p *paying) {
	_ = q.config.Store.Write(ctx, func(ctx context.Context, tx *store.Tx) error { return tx.DropQuestion(ctx, p.id) })
	q.release(p, drop)
}

// releaseWith gives the key of a request back when its reply may leave.
func (q *Questions) releaseWith(p *paying) {
	<-p.begun
	<-p.ticket.Released()
	q.release(p, reply)
}

// settle stores the answer of a charged request, or that it has none, and makes its reply.
// Where it cannot be stored, the question stays open, and kept is false.
func (q *Questions) settle(ctx context.Context, id string, c *content, principal string, answers *api.Answers, failure error) (out *Reply,
	kept bool,
) {
	state, link := store.Withheld, int64(0)
	var body, line []byte
	err := failure
	if err == nil {
		body, line, link, err = q.compose(ctx, id, c, principal, answers)
		if err != nil {
			return q.problemReply(q.config.Host.Explain(err), id, c), false // the row stays open: the answer is in the ledger
		}
		state, out = store.Answered, answered(id, body, c.Length)
	} else {
		out = q.problemReply(q.config.Host.Explain(err), id, c)
		body, line = bytes.TrimRight(out.Body, " "), []byte("{}")
	}
	err = q.config.Store.Write(ctx, func(ctx context.Context, tx *store.Tx) error {
		return tx.EndQuestion(ctx, id, state, link, line, body)
	})
	if err != nil {
		// The charge and the answer are in the ledger: the row stays open until it is read
		// there.
		return q.problemReply(problem.New("unavailable", "The answer cannot be stored now.").Hinted("repeat the request with the same key"), id,
			c), false
	}
	return out, true
}

// problemReply is the reply of a charged request without an answer: it has the length
// class of an answer.
func (q *Questions) problemReply(of *problem.Problem, id string, c *content) *Reply {
	out := *of
	out.RequestID = id
	return withheld(id, &out, c.Length)
}

// withheld is the reply of a charged request without an answer.
func withheld(id string, p *problem.Problem, length int) *Reply {
	body := func(l lang.Lang) []byte {
		text, err := json.Marshal(p.In(l))
		if err != nil {
			text = []byte("{}")
		}
		return fill(text, length)
	}
	return &Reply{Status: p.Status, Answer: id, Body: body(lang.English), japanese: body(lang.Japanese)}
}

// answered is the reply of an answer, which body is in English.
func answered(id string, body []byte, length int) *Reply {
	return &Reply{Status: http.StatusOK, Answer: id, Body: fill(body, length)}
}

// In is the body in a language.
func (r *Reply) In(l lang.Lang) []byte {
	switch {
	case l == lang.English:
		return r.Body
	case r.japanese != nil:
		return r.japanese
	}
	// The form of an answer cannot grow by texts with arguments: its length follows from public parameters.
	return fill(spoken.JSON[Answer](l, bytes.TrimRight(r.Body, " "), nil), len(r.Body))
}

// fill appends spaces to a body up to a length, or to the next power of two where it is
// longer.
func fill(body []byte, length int) []byte {
	if len(body) > length {
		length = filled(len(body))
	}
	return append(bytes.Clone(body), bytes.Repeat([]byte{' '}, length-len(body))...)
}
