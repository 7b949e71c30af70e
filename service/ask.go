package service

import (
	"context"
	"encoding/hex"
	"encoding/json"
	"errors"
	"slices"
	"strings"

	"github.com/noren-privacy/noren"
	"github.com/noren-privacy/noren/account"
	"github.com/noren-privacy/noren/api"
	"github.com/noren-privacy/noren/kinds"
	"github.com/noren-privacy/noren/ledger"
	"github.com/noren-privacy/noren/outlier"
	"github.com/noren-privacy/noren/release"
	"github.com/noren-privacy/noren/report/text"
	"github.com/noren-privacy/noren/table"
)

// Ask answers several questions as one request, with one charge and one certificate. The
// cost of all is charged before the data is read.
func (s *Service) Ask(ctx context.Context, r *api.AskRequest) (*api.Answers, error) {
	return s.ask(ctx, r, nil)
}

// ask is Ask with a hold, or none.
func (s *Service) ask(ctx context.Context, r *api.AskRequest, h *Held) (*api.Answers, error) {
	b := &batch{service: s, request: r, hold: h}
	answer, receipt, _, err := pay[batchAnswer](ctx, s, b.question())
	if err != nil {
		return nil, err
	}
	return b.answers(answer, receipt)
}

// AskPrice computes what the questions of a request would cost, how accurate their answers
// would be, and what would remain. Nothing is charged and no private file is opened.
func (s *Service) AskPrice(ctx context.Context, r *api.AskRequest) (*api.AskQuote, error) {
	return current(s.Kept, r.Dataset, func() (*api.AskQuote, error) {
		ctx := s.bounded(ctx)
		b := &batch{service: s, request: r}
		q := b.question()
		a, _, request, err := q.prepare(ctx, s)
		if err != nil {
			return nil, err
		}
		defer a.close()
		quote, err := release.Price(ctx, &request)
		if err != nil {
			return nil, err
		}
		return b.quote(ctx, a, quote)
	})
}

// batch is a request while it is priced and answered.
type batch struct {
	service *Service
	request *api.AskRequest
	asked   *openSet
	parts   []*pricedQuestion
	paid    *release.Quote // of an answer
	hold    *Held
}

// batchAnswer is the payload of an answer.
type batchAnswer struct {
	Format  string            `json:"format"`
	Answers []json.RawMessage `json:"answers"`
}

func (b *batch) question() requested[*release.Batch] {
	r := b.request
	return requested[*release.Batch]{
		ask:    &api.Ask{Dataset: r.Dataset, Analyst: r.Analyst, RequestKey: r.RequestKey, Reuse: r.Reuse, Outputs: r.Outputs},
		schema: api.AskSchema, build: b.build, most: r.Most, priced: r.Request, hold: b.hold, paid: func(q *release.Quote) { b.paid = q },
	}
}

// build makes the mechanism of all questions.
func (b *batch) build(ctx context.Context, a *openSet) (*release.Batch, error) {
	r := b.request
	if err := forSchema(a.Dataset, r); err != nil {
		return nil, err
	}
	if len(r.Questions) == 0 || len(r.Questions) > release.MaxBatch {
		return nil, noren.Usagef("questions", "expected 1 to %d, got %d", release.MaxBatch, len(r.Questions))
	}
	b.asked, b.parts = a, nil
	var mechanisms []release.Mechanism
	for i := range r.Questions {
		part, err := b.service.asking(ctx, a, r.Questions[i], r.Records)
		if err != nil {
			return nil, inQuestion(err, i, len(r.Questions))
		}
		b.parts = append(b.parts, part)
		mechanisms = append(mechanisms, part.mechanism())
	}
	return release.NewBatch(mechanisms...)
}

// forSchema refuses a request that was priced under another schema than the current one.
func forSchema(d *release.Dataset, r *api.AskRequest) error {
	if r.Definition == "" || r.Definition == d.Hash() {
		return nil
	}
	return &noren.Error{
		Kind: noren.Refused, Code: release.CodeChanged, Where: noren.Textf("data set %s", d.Name),
		What: "the request is for another schema than the current one; nothing was charged",
		Hint: "ask for a new price",
	}
}

// quote is the price of the request with all that is shown beside it.
func (b *batch) quote(ctx context.Context, a *openSet, quote *release.Quote) (*api.AskQuote, error) {
	out := &api.AskQuote{
		Schema: api.AskSchema, DryRun: true, Dataset: a.Name, Version: a.Version, Definition: a.Hash(),
		Request:    hex.EncodeToString(quote.Request[:]),
		Accounting: "epsilon", Neighbours: quote.Neighbours.String(), Unit: quote.Unit, Cost: a.amount(quote.Cost), Fits: quote.Fits,
		Guarantee: quote.Guarantee,
		Accounts:  []api.AccountQuote{},
	}
	if _, zcdp := a.zcdp(); zcdp {
		out.Accounting = "zcdp"
	}
	for _, r := range quote.Remaining {
		account := api.AccountQuote{Kind: r.Kind, Name: r.Name, Left: a.amount(r.Left)}
		if out.Cost.Within(account.Left) {
			after := account.Left.Minus(out.Cost)
			account.After = &after
		} else if short := out.Cost.Minus(account.Left); out.Short == nil || !short.Within(*out.Short) {
			out.Short = &short
		}
		out.Accounts = append(out.Accounts, account)
	}
	for i, part := range b.parts {
		q, err := b.quoteOf(part, quote.Parts[i].Cost)
		if err != nil {
			return nil, err
		}
		out.Questions = append(out.Questions, *q)
	}
	out.Work = b.work(a)
	out.NotCovered = text.NotCovered(out.Questions, quote.Unit)
	var err error
	if out.Statement, err = a.statement(quote); err != nil {
		return nil, err
	}
	if !out.Fits {
		if out.FitsWith, err = b.fitsWith(ctx, a, quote); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// work is what answering takes.
func (b *batch) work(a *openSet) api.Work {
	w := api.Work{AtMost: a.Definition.AtMost, Persons: a.Definition.Unit != account.Record}
	read := map[string]bool{}
	for _, part := range b.parts {
		m := part.mechanism()
		columns := m.Columns()
		for _, f := range columns {
			read[f.Name] = true
		}
		_, cells := part.cells()
		texts := slices.ContainsFunc(columns, func(f table.Field) bool { return f.Type != table.Integer && f.Type != table.Decimal })
		work := api.QuestionWork{
			Kind: part.question.Name(), Columns: len(columns), Cells: cells, Texts: texts, Terms: terms(part.question.Where()),
			Digits: digits(part.question.Rank()), K: neighbours(part.question.Of),
		}
		if count, ok := m.(*outlier.Mechanism); ok {
			work.Degrees = count.Degrees(int(w.AtMost))
		}
		if f, ok := part.form.(*queryForm); ok {
			work.Grouped, work.Hashed, work.Listed = f.query.Lists()
		}
		w.Questions = append(w.Questions, work)
	}
	w.Columns = len(read)
	return w
}

// neighbours is the k of a count of outliers; 0 of others.
func neighbours(k kinds.Kind) int {
	o, _ := k.(kinds.Outliers)
	return o.K
}

// digits is the number of decimal places of a rank.
func digits(rank string) int {
	_, places, _ := strings.Cut(rank, ".")
	return len(strings.TrimRight(places, "0"))
}

// terms is at least the number of values that a condition compares with.
func terms(where string) int {
	if where == "" {
		return 0
	}
	lower := strings.ToLower(where)
	return 1 + strings.Count(lower, "and") + strings.Count(lower, "or") + strings.Count(lower, ",")
}

// answers are the answers in the form in which they are shown.
func (b *batch) answers(answer *batchAnswer, receipt api.Receipt) (*api.Answers, error) {
	if len(answer.Answers) != len(b.parts) {
		return nil, &noren.Error{What: "the stored answer is of another number of questions"}
	}
	quote := b.paid
	out := &api.Answers{Schema: api.AskSchema, Receipt: receipt, Cost: b.asked.amount(quote.Cost)}
	var quotes []api.QuestionQuote
	for i, part := range b.parts {
		rows, err := part.question.Of.Rows(answer.Answers[i], part.level)
		if err != nil {
			return nil, err
		}
		part.sampled(rows)
		q, err := b.quoteOf(part, quote.Parts[i].Cost)
		if err != nil {
			return nil, err
		}
		one := api.QuestionAnswer{
			Question: part.question, Asked: q.Asked, Rows: rows, Accuracy: q.Accuracy, UnitLabel: q.UnitLabel,
			Notes: []api.Message{},
		}
		for _, c := range q.Columns {
			one.Notes = append(one.Notes, c.Outside)
		}
		if n, lo, hi := part.saysNothing(rows); n > 0 {
			one.ReadWithCare = append(one.ReadWithCare, text.CareBounds(n, len(rows), lo, hi))
		}
		one.ReadWithCare = append(one.ReadWithCare, part.cut(rows)...)
		one.ReadWithCare = append(one.ReadWithCare, text.ReadWithCare(&part.question, &q.Accuracy, rows)...)
		one.ReadWithCare = append(one.ReadWithCare, part.cares(answer.Answers[i])...)
		out.Answers, quotes = append(out.Answers, one), append(quotes, *q)
	}
	out.NotCovered = text.NotCovered(quotes, quote.Unit)
	var err error
	out.Statement, err = b.asked.statement(quote)
	return out, err
}

// RefusalOf is why the budget does not cover a request, where that is the cause of err;
// nil for all other errors.
func RefusalOf(err error) *api.Refusal {
	var refused *ledger.Refusal
	if !errors.As(err, &refused) {
		return nil
	}
	out := &api.Refusal{}
	for _, s := range refused.Short {
		in := account.Basic
		if s.Requested.Rho != 0 {
			in = account.ZCDP
		}
		asked, left := account.AmountIn(in, s.Requested), account.AmountIn(in, s.Remaining)
		out.Accounts = append(out.Accounts, api.AccountShort{Kind: s.Kind, Name: s.Name, Asked: asked, Left: left, Short: asked.Minus(left)})
	}
	return out
}
