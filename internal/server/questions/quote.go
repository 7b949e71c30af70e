package questions

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"slices"
	"strconv"
	"time"

	"github.com/noren-privacy/noren"
	"github.com/noren-privacy/noren/api"
	"github.com/noren-privacy/noren/internal/server/books"
	"github.com/noren-privacy/noren/internal/server/problem"
	"github.com/noren-privacy/noren/internal/server/store"
	"github.com/noren-privacy/noren/service"
)

// MostQuestions is how many questions a request may hold.
const MostQuestions = 20

// lives is how long a quote can be paid.
const lives = 15 * time.Minute

// Quoting asks for a quote.
type Quoting struct {
	Book      string         `json:"book" maxLength:"64" doc:"The id of the book."`
	Questions []api.Question `json:"questions" nullable:"false" minItems:"1" maxItems:"20" doc:"The questions: one charge and one certificate for all."`
	Pay       []api.Amount   `json:"pay,omitempty" nullable:"false" maxItems:"20" doc:"What is paid for each question, in their order. Either pay or margin is needed, here or in the questions."`
	Margin    []api.Margin   `json:"margin,omitempty" nullable:"false" maxItems:"20" doc:"How close each answer must be, in their order."`
}

// Quote is a price, bound to the principal and to the schema of the book. It was made
// without reading data.
type Quote struct {
	ID          string              `json:"id" doc:"qt_ and 16 characters."`
	Token       string              `json:"token" doc:"What is sent to pay or to rehearse: all of the quote, signed."`
	Until       time.Time           `json:"until" doc:"When it expires."`
	Book        string              `json:"book" doc:"The id of the book."`
	Accounting  string              `json:"accounting" enum:"epsilon,zcdp" doc:"How privacy loss adds up."`
	Cost        api.Amount          `json:"cost" doc:"What all questions together cost."`
	Neighbours  string              `json:"neighbours" doc:"The relation of neighbouring tables."`
	Unit        string              `json:"unit" doc:"The privacy unit."`
	TimeClass   float64             `json:"time_class_s" doc:"How many seconds after its acceptance the answer leaves."`
	Questions   []api.QuestionQuote `json:"questions" nullable:"false" doc:"The questions with their prices."`
	LeftAfter   *LeftAfter          `json:"left_after,omitempty" doc:"What would be left; absent where the cost does not fit."`
	Fits        bool                `json:"fits" doc:"Whether all accounts cover the cost."`
	Short       *api.Amount         `json:"short,omitempty" doc:"What is missing."`
	FitsWith    []api.Change        `json:"fits_with,omitempty" nullable:"false" doc:"Changes by which the cost would fit."`
	Statement   []api.Message       `json:"statement" nullable:"false" doc:"What one person changes of the answers."`
	NotCovered  []api.Message       `json:"not_covered" nullable:"false" doc:"What is not promised."`
	Stored      *StoredAnswer       `json:"stored,omitempty" doc:"An answer to these very questions that the principal may read for nothing."`
	Spec        string              `json:"spec" doc:"The questions as a file for noren ask."`
	Command     string              `json:"command" doc:"The command that asks them on the machine of the ledger."`
	RequestHash string              `json:"request_hash" doc:"The hash by which the ledger knows the questions."`
	SchemaHash  string              `json:"schema_hash" doc:"The hash of the definition that the quote is bound to."`
}

// LeftAfter is what would be left, or was left.
type LeftAfter = books.LeftAfter

// StoredAnswer is an answer that was paid for.
type StoredAnswer struct {
	Answer string     `json:"answer" doc:"The id of the answer."`
	At     time.Time  `json:"at" doc:"When it was asked."`
	By     string     `json:"by" doc:"The name of the principal who paid."`
	Cost   api.Amount `json:"cost" doc:"What it cost."`
}

// content is what a token holds: all that is paid.
type content struct {
	Version    int              `json:"version"`
	ID         string           `json:"id"`
	Principal  string           `json:"principal"`
	Book       string           `json:"book"`
	Dataset    string           `json:"dataset"`
	Definition string           `json:"definition"`
	Questions  []api.Question   `json:"questions"`
	Asked      []api.Message    `json:"asked"`
	Margins    []PromisedMargin `json:"margins"`
	Cost       api.Amount       `json:"cost"`
	Class      time.Duration    `json:"class"`
	Before     time.Duration    `json:"before,omitempty"`
	Bound      time.Duration    `json:"bound,omitempty"`
	Length     int              `json:"length"`
	Request    string           `json:"request"`
	Until      int64            `json:"until"`
}

const contentVersion = 1

// ask is the request of the service. The files of public tables replace their names.
func (q *Questions) ask(h *books.Held, principal string, questions []api.Question) (*api.AskRequest, error) {
	if h.Gone {
		return nil, problem.New("conflict", "The table of the book is deleted: nothing can be asked.")
	}
	r := &api.AskRequest{Dataset: h.Dataset, Analyst: principal, Records: h.Records, Questions: make([]api.Question, len(questions))}
	copy(r.Questions, questions)
	for i := range r.Questions {
		one := &r.Questions[i]
		if public := one.Public(); public != "" {
			path, known := q.config.Public[public]
			if !known {
				return nil, fault(i, "public", "expected the name of a public table of the server")
			}
			*one = one.WithPublic(path)
		}
		if one.MaxRows() == 0 {
			*one = one.WithMaxRows(h.MaxRows)
		}
	}
	return r, nil
}

// named puts the names of public tables back in the place of their files.
func (q *Questions) named(questions []api.Question) []api.Question {
	out := make([]api.Question, len(questions))
	copy(out, questions)
	for i := range out {
		for name, path := range q.config.Public {
			if out[i].Public() == path {
				out[i] = out[i].WithPublic(name)
				break
			}
		}
	}
	return out
}

func fault(question int, field string, detail noren.Format) error {
	p := problem.New("invalid", "")
	p.Errors = []problem.Fault{problem.At("/questions/"+strconv.Itoa(question)+"/"+field, noren.Textf(detail))}
	return p
}

// stated lays pay and margin over the questions.
func (in *Quoting) stated() ([]api.Question, error) {
	n := len(in.Questions)
	out := make([]api.Question, n)
	copy(out, in.Questions)
	if len(in.Pay) > 0 && len(in.Margin) > 0 || len(in.Pay) > 0 && len(in.Pay) != n || len(in.Margin) > 0 && len(in.Margin) != n {
		return nil, problem.New("invalid", "expected either pay or margin, with %d {item|items}: one for each question", n)
	}
	for i := range out {
		if len(in.Pay)+len(in.Margin) > 0 && (out[i].Pay != nil || out[i].Margin != nil) {
			return nil, fault(i, "pay", "expected the price once: in the question or beside it")
		}
		if len(in.Pay) > 0 {
			out[i].Pay = &in.Pay[i]
		}
		if len(in.Margin) > 0 {
			out[i].Margin = &in.Margin[i]
		}
	}
	return out, nil
}

// Quote prices questions. It reads no data and writes nothing.
func (q *Questions) Quote(ctx context.Context, in *Quoting, r *Reader) (*Quote, error) {
	h, err := q.config.Books.Hold(in.Book)
	if err != nil {
		return nil, err
	}
	questions, err := in.stated()
	if err != nil {
		return nil, err
	}
	request, err := q.ask(h, r.ID, questions)
	if err != nil {
		return nil, err
	}
	price, err := q.config.Host.Service().AskPrice(ctx, request)
	if err != nil {
		return nil, q.failed(err)
	}
	if !slices.ContainsFunc(price.Accounts, func(a api.AccountQuote) bool { return a.Kind == "analyst" }) {
		price.Fits = false // only those with an account may ask
	}
	times := q.config.Host.Times(price)
	until := q.config.Store.Now().Add(lives).Truncate(time.Second)
	c := &content{
		Version: contentVersion, ID: store.NewID("qt"), Principal: r.ID, Book: h.ID, Dataset: h.Dataset, Definition: price.Definition,
		Cost: price.Cost, Class: times.Class, Before: times.Before, Bound: times.Bound, Length: lengthClass(price), Request: price.Request,
		Until: until.Unix(),
	}
	out := &Quote{
		ID: c.ID, Until: until, Book: h.ID, Accounting: price.Accounting, Cost: price.Cost, Neighbours: price.Neighbours, Unit: price.Unit,
		TimeClass: times.Class.Seconds(), Questions: price.Questions, Fits: price.Fits, Short: price.Short, FitsWith: price.FitsWith,
		Statement: price.Statement, NotCovered: price.NotCovered, Command: "noren ask questions.yaml", RequestHash: price.Request,
		SchemaHash: price.Definition,
	}
	priced := make([]api.Question, len(out.Questions))
	for i := range out.Questions {
		one := &out.Questions[i]
		priced[i] = one.Question
		c.Asked = append(c.Asked, one.Asked...)
		c.Margins = append(c.Margins, PromisedMargin{one.Accuracy.Within, one.Accuracy.At})
	}
	c.Questions = q.named(priced)
	// The file names public tables as the server does: their folders are the host's.
	if out.Spec, err = service.QuestionsFile(request.Dataset, c.Questions); err != nil {
		return nil, err
	}
	for i := range out.Questions {
		one := &out.Questions[i]
		one.Question, one.Asked, one.Columns = c.Questions[i], list(one.Asked), list(one.Columns)
	}
	for i := range out.FitsWith {
		out.FitsWith[i].Questions = q.named(out.FitsWith[i].Questions)
	}
	out.LeftAfter = leftAfter(price)
	out.Statement, out.NotCovered, c.Asked = list(out.Statement), list(out.NotCovered), list(c.Asked)
	if out.Stored, err = q.stored(ctx, h, price.Request, r); err != nil {
		return nil, err
	}
	out.Token, err = q.sealer.seal(c)
	return out, err
}

// list is a list that is never null in JSON.
func list[T any](all []T) []T {
	if all == nil {
		return []T{}
	}
	return all
}

// leftAfter is what would be left; nil where the cost does not fit.
func leftAfter(price *api.AskQuote) *LeftAfter {
	if !price.Fits {
		return nil
	}
	out := &LeftAfter{}
	for _, a := range price.Accounts {
		switch {
		case a.After == nil:
		case a.Kind == "analyst":
			out.Own = a.After
		default:
			out.Table = *a.After
		}
	}
	return out
}

// stored finds the newest answer to the very questions which the reader may read: answers
// of others, where the reader may not read them, are not looked at, and neither is one whose
// reply has not left.
func (q *Questions) stored(ctx context.Context, h *books.Held, request string, r *Reader) (*StoredAnswer, error) {
	of, others := r.whose(h)
	if !others && of == "" {
		return nil, nil
	}
	for before := int64(0); ; {
		kept, err := q.config.Store.AnsweredRequest(ctx, h.ID, request, of, before)
		if errors.Is(err, store.ErrNotFound) {
			return nil, nil
		}
		if err != nil {
			return nil, err
		}
		before = kept.N
		if q.Hidden(kept.Key) {
			continue
		}
		var c content
		if err := unmarshal(kept.Paid, &c); err != nil {
			return nil, err
		}
		return &StoredAnswer{kept.ID, kept.Made, q.config.Host.Name(ctx, kept.Principal), c.Cost}, nil
	}
}

// opened reads the token of a quote of a principal, who must be one who may ask questions
// about the table still.
func (q *Questions) opened(token string, r *Reader) (*content, *books.Held, error) {
	c := &content{}
	if q.sealer.open(token, c) != nil || c.Version != contentVersion || c.Principal != r.ID {
		p := problem.New("invalid", "")
		p.Errors = []problem.Fault{problem.At("/quote", noren.Textf("expected the token of a quote that this server made for the principal"))}
		return nil, nil, p
	}
	h, err := q.config.Books.Hold(c.Book)
	if err == nil && !r.Asks(h.Table) {
		err = problem.NotFound()
	}
	return c, h, err
}

// lengthClass is the number of bytes that the reply to a quote's questions is filled up
// to: of public parameters alone.
func lengthClass(price *api.AskQuote) int {
	need := 16 << 10
	for i := range price.Questions {
		need += 4096 + 512*price.Questions[i].Cells
	}
	return filled(need)
}

// filled is the next power of two.
func filled(n int) int {
	size := 4096
	for size < n {
		size *= 2
	}
	return size
}

// requestKey is the request key of a charge: of the principal and the Idempotency-Key. The
// principal is an id, which has no line end.
func requestKey(principal, key string) string {
	sum := sha256.Sum256([]byte("noren.server.answer/1\n" + principal + "\n" + key))
	return hex.EncodeToString(sum[:])
}
