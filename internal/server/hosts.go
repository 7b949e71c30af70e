package server

import (
	"context"

	"github.com/noren-privacy/noren"
	"github.com/noren-privacy/noren/api"
	"github.com/noren-privacy/noren/internal/server/problem"
	"github.com/noren-privacy/noren/internal/server/quantum"
	"github.com/noren-privacy/noren/service"
)

// booksHost is the server as its books see it.
type booksHost struct{ s *Server }

func (h booksHost) Service() *service.Service                  { return h.s.service() }
func (h booksHost) Name(ctx context.Context, id string) string { return h.s.nameOf(ctx, id) }
func (h booksHost) Sealed() noren.Phrase                       { return h.s.Sealed() }

func (h booksHost) Note(ctx context.Context, by, action, object string, detail map[string]string) error {
	return h.s.noteObject(ctx, by, action, object, detail)
}

// Hidden and AskingEnded ask the questions, which are opened after the books.
func (h booksHost) Hidden(key string) bool { return h.s.questions != nil && h.s.questions.Hidden(key) }

func (h booksHost) AskingEnded(book, principal string) bool {
	return h.s.questions != nil && h.s.questions.AskingEnded(book, principal)
}

func (h booksHost) Load(ctx context.Context, dataset string) error {
	return h.s.kept.Load(ctx, dataset)
}

// questionsHost is the server as its questions see it.
type questionsHost struct{ s *Server }

func (h questionsHost) Service() *service.Service                  { return h.s.service() }
func (h questionsHost) Times(q *api.AskQuote) quantum.Claim        { return h.s.times(q) }
func (h questionsHost) Name(ctx context.Context, id string) string { return h.s.nameOf(ctx, id) }
func (h questionsHost) Limit(principal string) error               { return h.s.limitAnswers(principal) }
func (h questionsHost) Space() error                               { return h.s.spaceToCharge() }
func (h questionsHost) Explain(err error) *problem.Problem         { return h.s.explained(err) }
func (h questionsHost) Seal()                                      { h.s.sealLedger() }
func (h questionsHost) Sealed() noren.Phrase                       { return h.s.Sealed() }

func (h questionsHost) Asks(ctx context.Context, principal, table string) error {
	return h.s.stillAsks(ctx, principal, table)
}

func (h questionsHost) Ended(ctx context.Context, book, principal string) {
	h.s.noteEnded(ctx, book, principal)
}
