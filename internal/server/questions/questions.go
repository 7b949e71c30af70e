package questions

import (
	"context"
	"encoding/json"
	"errors"
	"sync"
	"time"

	"github.com/noren-privacy/noren"
	"github.com/noren-privacy/noren/api"
	"github.com/noren-privacy/noren/internal/server/books"
	"github.com/noren-privacy/noren/internal/server/limit"
	"github.com/noren-privacy/noren/internal/server/problem"
	"github.com/noren-privacy/noren/internal/server/quantum"
	"github.com/noren-privacy/noren/internal/server/store"
	"github.com/noren-privacy/noren/service"
)

// Config holds what questions need.
type Config struct {
	// Store keeps questions and answers. Required.
	Store *store.Store
	// Books are the books that are charged. Required.
	Books *books.Books
	// Desk runs the work of paid questions. Required.
	Desk *quantum.Desk
	// Kept is the open ledger with its data sets. Required.
	Kept *service.Kept
	// Host is the server around the questions. Required.
	Host Host
	// Secret is what the key of tokens is derived from. Required.
	Secret []byte
	// Public are the files of public tables, by name.
	Public map[string]string
	// Fault is called at the steps asked (the question is stored, and not charged), stored
	// (its answer is) and reply (it leaves). For tests of faults. Optional.
	Fault func(step string) error
}

// Host is the server around the questions. Its methods are called by goroutines of requests and by those that compute
// answers, at the same time.
type Host interface {
	// Service makes the operations.
	Service() *service.Service
	// Times are the time class and the bounds of a quote: of public parameters alone.
	Times(q *api.AskQuote) quantum.Claim
	// Name is the name of a principal.
	Name(ctx context.Context, id string) string
	// Limit refuses a principal who asks for too many answers. A request calls it once, when it begins: one that
	// is repeated, or fetched, is no new answer.
	Limit(principal string) error
	// Space refuses a charge where the disk might not take its entries. A request calls it before its charge.
	Space() error
	// Asks refuses a principal who may not ask questions about a table at this moment, as [Reader.Asks] did when
	// its request came. What computes an answer calls it before the charge.
	Asks(ctx context.Context, principal, table string) error
	// Ended is called by what computes an answer, when the paid questions of a principal in a book have ended because
	// one of them took longer than its bound.
	Ended(ctx context.Context, book, principal string)
	// Explain is the problem of an error.
	Explain(err error) *problem.Problem
	// Seal refuses all changes from now on: the ledger was found sealed.
	Seal()
	// Sealed says why nothing is paid; "" where it is.
	Sealed() noren.Phrase
}

// Questions answers questions. Make one with [New].
type Questions struct {
	config Config
	sealer *sealer

	mu   sync.Mutex
	open map[string]*paying // requests whose reply has not left, by request key
	byID map[string]*paying // the same, by the id of the answer
	// ended holds whose paid questions in which book have ended, as the store does: it is
	// known here first.
	ended map[endedKey]bool

	fits fits

	rehearsing *limit.Places
	life       context.Context // ends with Close
	stop       context.CancelFunc
	awake      bool // open questions are looked for; guarded by mu
	background sync.WaitGroup
}

// New makes the questions of a server, and looks in the ledger for answers that a killed
// process stored there and did not send.
func New(ctx context.Context, config Config) (*Questions, error) {
	if config.Store == nil || config.Books == nil || config.Desk == nil || config.Kept == nil || config.Host == nil ||
		len(config.Secret) == 0 {
		return nil, noren.Bug("questions: expected all fields of Config but Public")
	}
	s, err := newSealer(config.Secret)
	if err != nil {
		return nil, err
	}
	if config.Fault == nil {
		config.Fault = func(string) error { return nil }
	}
	q := &Questions{
		config: config, sealer: s, open: map[string]*paying{}, byID: map[string]*paying{}, ended: map[endedKey]bool{},
		rehearsing: limit.NewPlaces(rehearsals, waitingRehearsal),
	}
	q.life, q.stop = context.WithCancel(context.Background())
	ended, err := config.Store.EndedAsking(ctx)
	if err != nil {
		q.stop()
		return nil, err
	}
	for _, e := range ended {
		q.ended[endedKey{e.Book, e.Principal}] = true
	}
	if config.Host.Sealed() != "" {
		return q, nil // the ledger, or the store, may be an older one: what it says is not believed
	}
	left, err := q.resolveAll(ctx)
	if err != nil {
		q.Close()
		return nil, err
	}
	if left > 0 {
		q.wake()
	}
	return q, nil
}

// Close ends what runs in the background. Paid questions end by the desk.
func (q *Questions) Close() {
	q.mu.Lock()
	q.stop()
	q.mu.Unlock()
	q.background.Wait()
}

// Hidden reports whether the reply of the charge with a request key has not left yet.
func (q *Questions) Hidden(key string) bool {
	q.mu.Lock()
	p := q.open[key]
	q.mu.Unlock()
	return p != nil && p.waits()
}

// TableOf is the table that decides who may see an answer; [store.ErrNotFound] for an id
// of none.
func (q *Questions) TableOf(ctx context.Context, id string) (string, error) {
	book, _, err := q.whose(ctx, id)
	if err != nil {
		return "", err
	}
	return q.config.Books.TableOf(ctx, book)
}

// whose is the book and the principal of an answer; [store.ErrNotFound] for an id of none.
func (q *Questions) whose(ctx context.Context, id string) (book, principal string, err error) {
	kept, err := q.config.Store.QuestionByID(ctx, id)
	if err == nil {
		return kept.Book, kept.Principal, nil
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	if p := q.byID[id]; p != nil && errors.Is(err, store.ErrNotFound) {
		return p.book, p.by, nil
	}
	return "", "", err
}

// Reader is who reads answers.
type Reader struct {
	// ID is the principal's, and Name its name.
	ID, Name string
	// All says that a table's answers may all be read: by its stewards and auditors.
	All func(table string) bool
	// Analyst says that the reader is an analyst of a table.
	Analyst func(table string) bool
	// Asks says that the reader may ask questions about a table.
	Asks func(table string) bool
}

// reads reports whether a reader may read the answers of a principal in a book.
func (r *Reader) reads(h *books.Held, principal string) bool {
	of, others := r.whose(h)
	return others || of != "" && of == principal
}

// whose are the principals whose answers in a book a reader may read: all, one, or none ("").
func (r *Reader) whose(h *books.Held) (of string, others bool) {
	analyst := r.Analyst(h.Table)
	switch {
	case r.All(h.Table) || analyst && h.Share:
		return "", true
	case analyst:
		return r.ID, false
	}
	return "", false
}

// MayRead refuses an answer that a reader may not read as one that does not exist.
func (q *Questions) MayRead(ctx context.Context, id string, r *Reader) error {
	book, principal, err := q.whose(ctx, id)
	if errors.Is(err, store.ErrNotFound) {
		return problem.NotFound()
	}
	if err != nil {
		return err
	}
	h, err := q.config.Books.Hold(book)
	if err != nil || !r.reads(h, principal) {
		return problem.NotFound()
	}
	return nil
}

// AnswerLine is an answer in a list.
type AnswerLine struct {
	ID     string           `json:"id" doc:"an_ and 16 characters."`
	Book   string           `json:"book" doc:"The id of the book."`
	At     time.Time        `json:"at" doc:"When it was asked."`
	By     string           `json:"by" doc:"The name of the principal who paid."`
	Asked  []api.Message    `json:"asked" nullable:"false" doc:"A sentence for each question."`
	Cost   api.Amount       `json:"cost" doc:"What was charged."`
	Margin []PromisedMargin `json:"margin" nullable:"false" doc:"The margin of each question."`
}

// PromisedMargin is the margin that a quote promised.
type PromisedMargin struct {
	Within *float64 `json:"within" doc:"The largest error; null where no bound holds."`
	At     string   `json:"at" doc:"The confidence."`
}

// List is the answers of a book, or of all, that a reader may read, the newest first, made
// before the one of that number, at most limit of them. The number of the last follows, and
// the ids of those that cannot be read.
func (q *Questions) List(ctx context.Context, book string, before int64, limit int, r *Reader) (out []AnswerLine, next int64,
	unreadable []string, err error,
) {
	out = []AnswerLine{}
	for {
		rows, err := q.config.Store.Questions(ctx, book, store.Answered, before, limit)
		if err != nil {
			return nil, 0, nil, err
		}
		for i := range rows {
			row := &rows[i]
			before = row.N
			h, err := q.config.Books.Hold(row.Book)
			if err != nil || !r.reads(h, row.Principal) || q.Hidden(row.Key) {
				continue
			}
			var line AnswerLine
			if err := json.Unmarshal(row.Line, &line); err != nil {
				unreadable = append(unreadable, row.ID)
				continue
			}
			line.ID, line.Book, line.At, line.By = row.ID, row.Book, row.Made, q.config.Host.Name(ctx, row.Principal)
			out = append(out, line)
			if len(out) == limit {
				return out, before, unreadable, nil
			}
		}
		if len(rows) < limit {
			return out, 0, unreadable, nil
		}
	}
}
