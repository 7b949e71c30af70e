package server

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/netip"
	"reflect"
	"strconv"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"github.com/noren-privacy/noren/api"
	"github.com/noren-privacy/noren/internal/server/audit"
	"github.com/noren-privacy/noren/internal/server/auth"
	"github.com/noren-privacy/noren/internal/server/problem"
	"github.com/noren-privacy/noren/internal/server/questions"
	"github.com/noren-privacy/noren/internal/server/store"
)

// askers may ask questions of a book.
var askers = []auth.Role{auth.Steward, auth.Analyst}

// askAction is the action of a paid question in the audit log.
const askAction = "answer.ask"

type quoteInput struct{ Body questions.Quoting }

type rehearsalInput struct {
	Body struct {
		Quote string `json:"quote" doc:"The token of the quote."`
	}
}

type answerListing struct {
	Book string `query:"book" maxLength:"64" doc:"The id of a book; answers of all books where left out."`
	Listing
}

// waitBody is the notice that an answer is not there yet.
type waitBody struct {
	ID       string `json:"id" doc:"The id of the answer."`
	Location string `json:"location" doc:"Where the answer can be fetched."`
	Seconds  int    `json:"retry_s" doc:"How many seconds to wait."`
}

type kindsInput struct {
	Book string `query:"book" maxLength:"64" doc:"The id of a book; all kinds where left out."`
}

// kindList are kinds of questions.
type kindList struct {
	Items []questions.Kind `json:"items" nullable:"false" doc:"The kinds, in the order in which they are offered."`
}

// registerQuestions adds quotes, rehearsals and answers.
func (s *Server) registerQuestions(a huma.API, mux *http.ServeMux) {
	register(s, a, op("POST", "/quotes", "Price questions; no data is read"), access{roles: askers, object: anyObject}, s.quote)
	register(s, a, op("POST", "/rehearsals", "Answer a quote on made-up rows; no data is read"), access{roles: askers, object: anyObject},
		s.rehearse)
	register(s, a, op("GET", "/question-kinds", "The kinds of questions, or those that a book can be asked"),
		access{roles: auth.Roles(), object: anyObject}, s.questionKinds)
	s.registerAnswers(a, mux)
}

// questionKinds are all kinds of questions, or those that can be asked of a book.
func (s *Server) questionKinds(ctx context.Context, c *call, in *kindsInput) (*output[*kindList], error) {
	if in.Book == "" {
		return &output[*kindList]{&kindList{questions.Kinds(nil)}}, nil
	}
	if err := s.asks(ctx, c, in.Book); err != nil {
		return nil, err
	}
	book, err := s.books.Get(ctx, in.Book, c.viewer())
	if err != nil {
		return nil, err
	}
	return &output[*kindList]{&kindList{questions.Kinds(book)}}, nil
}

// registerAnswers adds the routes of paid answers.
func (s *Server) registerAnswers(a huma.API, mux *http.ServeMux) {
	schema := func(v any) map[string]*huma.MediaType {
		return map[string]*huma.MediaType{"application/json": {Schema: huma.SchemaFromType(a.OpenAPI().Components.Schemas, reflect.TypeOf(v))}}
	}
	answer := &huma.Response{
		Description: "The answer. The body is filled up with spaces to a length that follows from public parameters.",
		Content:     schema(questions.Answer{}),
	}
	later := &huma.Response{
		Description: "The answer is not there yet: fetch it at the location, after the time that Retry-After says.",
		Content:     schema(waitBody{}),
	}
	pay := op("POST", "/answers", "Pay a quote; the answer leaves at the end of its time class")
	pay.Parameters = []*huma.Param{{
		Name: "Idempotency-Key", In: "header", Required: true,
		Description: "A new random text with each new request, and the same one when it is repeated.", Schema: &huma.Schema{
			Type: huma.TypeString,
		},
	}}
	pay.RequestBody = &huma.RequestBody{Required: true, Content: schema(questions.Paying{})}
	pay.Responses = map[string]*huma.Response{"200": answer, "202": later}
	asking := access{roles: askers, object: anyObject, changes: true, action: askAction}
	s.handle(a, mux, pay, asking, func(w http.ResponseWriter, r *http.Request, c *call) error { return s.pay(w, r, c, &asking) })
	register(s, a, op("GET", "/answers", "Answers, the newest first"), access{roles: auth.Roles(), object: anyObject}, s.listAnswers)

	readable := access{roles: auth.Roles(), object: "id", check: func(ctx context.Context, c *call) error {
		return s.mayRead(ctx, c.id, s.reader(c))
	}}
	get := op("GET", "/answers/{id}", "An answer")
	get.Parameters = []*huma.Param{pathParameter("id", "The id of the answer.")}
	get.Responses = map[string]*huma.Response{"200": answer, "202": later}
	s.handle(a, mux, get, readable, func(w http.ResponseWriter, r *http.Request, c *call) error {
		reply, err := s.questions.Get(r.Context(), c.id, s.reader(c))
		if err != nil {
			return err
		}
		return sendReply(w, r, reply)
	})
	for _, part := range []struct{ name, summary, file string }{
		{name: "certificate", summary: "The certificate of an answer", file: "certificate.json"},
		{name: "file", summary: "An answer and its certificate", file: "answer.json"},
	} {
		o := op("GET", "/answers/{id}/"+part.name, part.summary)
		o.Parameters = []*huma.Param{pathParameter("id", "The id of the answer.")}
		o.Responses = map[string]*huma.Response{"200": {
			Description: "The file, as an attachment.",
			Content:     map[string]*huma.MediaType{"application/json": {}},
		}}
		s.handle(a, mux, o, readable, func(w http.ResponseWriter, r *http.Request, c *call) error {
			certificate, payload, err := s.questions.Parts(r.Context(), c.id, s.reader(c))
			if err != nil {
				return err
			}
			w.Header().Set("Content-Disposition", `attachment; filename="`+part.file+`"`)
			if part.name == "certificate" {
				w.Header().Set("Content-Type", "application/json")
				_, _ = w.Write(certificate) // the client has gone if this fails
				return nil
			}
			return writeJSON(w, http.StatusOK, map[string]json.RawMessage{"answer": json.RawMessage(payload), "certificate": certificate})
		})
	}
}

// reader is the principal of a call as one who reads answers.
func (s *Server) reader(c *call) *questions.Reader {
	return &questions.Reader{
		ID: c.actor.ID, Name: c.actor.Name,
		All:     func(table string) bool { return c.actor.Has(table, auth.Steward, auth.Auditor) },
		Analyst: func(table string) bool { return c.actor.Has(table, auth.Analyst) },
		Asks:    func(table string) bool { return c.actor.Has(table, askers...) },
	}
}

// asks refuses a book that a principal may not ask as one that does not exist.
func (s *Server) asks(ctx context.Context, c *call, book string) error {
	table := ""
	var err error
	if store.ValidID("bk", book) {
		table, err = s.ownerOf(ctx, book)
	}
	if err != nil {
		return err
	}
	if table == "" || !c.actor.Has(table, askers...) {
		return problem.NotFound()
	}
	return nil
}

func (s *Server) quote(ctx context.Context, c *call, in *quoteInput) (*output[*questions.Quote], error) {
	if err := s.asks(ctx, c, in.Body.Book); err != nil {
		return nil, err
	}
	out, err := s.questions.Quote(ctx, &in.Body, s.reader(c))
	return &output[*questions.Quote]{out}, err
}

func (s *Server) rehearse(ctx context.Context, c *call, in *rehearsalInput) (*output[*questions.Rehearsal], error) {
	out, err := s.questions.Rehearse(ctx, in.Body.Quote, s.reader(c))
	return &output[*questions.Rehearsal]{out}, err
}

func (s *Server) listAnswers(ctx context.Context, c *call, in *answerListing) (*output[page[questions.AnswerLine]], error) {
	before, err := in.number()
	if err != nil {
		return nil, err
	}
	items, next, unreadable, err := s.questions.List(ctx, in.Book, before, in.Limit, s.reader(c))
	if err != nil {
		return nil, err
	}
	return &output[page[questions.AnswerLine]]{pageOf(items, next, unreadable)}, nil
}

// pay pays a quote and sends the answer when it may leave.
func (s *Server) pay(w http.ResponseWriter, r *http.Request, c *call, a *access) error {
	text, err := io.ReadAll(r.Body)
	if err != nil {
		return err
	}
	if err := statedOnce(text); err != nil {
		return err
	}
	in := &questions.Paying{}
	dec := json.NewDecoder(bytes.NewReader(text))
	dec.DisallowUnknownFields()
	if err := dec.Decode(in); err != nil || dec.More() {
		return problem.New("invalid", "expected a JSON object with quote and most")
	}
	entry := c.entry(a.action, "ok")
	entry.Role = string(c.role)
	reply, err := s.questions.Pay(r.Context(), s.reader(c), r.Header.Get("Idempotency-Key"), in,
		func(answer, book string, cost api.Amount) error {
			// The entry is on disk before anything is charged.
			entry.Object, entry.Detail = book, map[string]string{"answer": answer, "cost": cost.String()}
			return s.noteEntry(r.Context(), entry)
		})
	if err != nil {
		if book, words, cost := in.Asked(); book != "" {
			c.id = book
			c.note("asked", words)
			c.note("cost", cost)
		}
		return err
	}
	c.noted = true // before the charge, or by the request with the same key
	if err := s.stillReads(r, c, reply.Answer); err != nil {
		return err
	}
	return sendReply(w, r, reply)
}

// stillAsks refuses a principal who has no role by which it may ask about a table any more.
func (s *Server) stillAsks(ctx context.Context, principal, table string) error {
	p, err := s.store.PrincipalByID(ctx, principal)
	switch {
	case errors.Is(err, store.ErrNotFound):
		return problem.NotFound()
	case err != nil:
		return err
	case p.Ended || !(&auth.Actor{Grants: p.Grants}).Has(table, askers...):
		return problem.NotFound()
	}
	return nil
}

// stillReads refuses a reply whose principal was signed out, or lost the right to it, while
// the request waited. What was charged stays charged, and is stored for those who may read it.
func (s *Server) stillReads(r *http.Request, c *call, answer string) error {
	from, _ := r.Context().Value(addressKey{}).(netip.Addr)
	actor, err := s.actorOf(r, from, s.auth.Holds)
	if errors.Is(err, auth.ErrUnknown) || err == nil && (actor == nil || actor.ID != c.actor.ID) {
		return problem.New("unauthenticated", "")
	}
	if err != nil {
		return err
	}
	return s.questions.MayRead(r.Context(), answer, s.reader(&call{actor: actor}))
}

// noteEntry writes an entry to the audit log: what cannot be noted is not done.
func (s *Server) noteEntry(ctx context.Context, e audit.Entry) error {
	if err := s.audit.Append(ctx, e); err != nil {
		s.cfg.Log.Error("the audit log cannot be written", "error", err)
		return problem.New("sealed", "The audit log cannot be written.")
	}
	return nil
}

// sendReply sends the reply of a paid question.
func sendReply(w http.ResponseWriter, r *http.Request, reply *questions.Reply) error {
	h := w.Header()
	if reply.Replayed {
		h.Set("Idempotency-Replayed", "true")
	}
	if reply.Status == http.StatusAccepted {
		location := apiPrefix + "/answers/" + reply.Answer
		seconds := int((reply.Wait + time.Second - 1) / time.Second)
		h.Set("Location", location)
		h.Set("Retry-After", strconv.Itoa(seconds))
		return writeJSON(w, http.StatusAccepted, waitBody{reply.Answer, location, seconds})
	}
	h.Set("Content-Type", "application/json")
	if reply.Status != http.StatusOK {
		h.Set("Content-Type", "application/problem+json")
	}
	l := languageOf(r.Context())
	setLanguage(h, l)
	w.WriteHeader(reply.Status)
	_, _ = w.Write(reply.In(l)) // the client has gone if this fails
	return nil
}
