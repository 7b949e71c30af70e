package service

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/big"
	"strconv"

	"github.com/noren-privacy/noren"
	"github.com/noren-privacy/noren/account"
	"github.com/noren-privacy/noren/api"
	"github.com/noren-privacy/noren/kinds"
	"github.com/noren-privacy/noren/noise"
	"github.com/noren-privacy/noren/release"
	"github.com/noren-privacy/noren/table"
)

// payment is what is paid for a question, and the noise that it pays for.
type payment struct {
	noise string
	cost  account.Cost
	rho   account.Rho // of Gaussian noise in zCDP; cost then holds the delta it is stated at
}

// accuracy is what noise moves one value of an answer by.
type accuracy struct {
	within *float64 // nil where no bound holds
	rank   bool     // it is of the rank
	about  bool     // it depends on the number of records of a group
	guess  bool     // it holds if the guess of the question is right
}

// form is a question of one kind, made for a data set. Everything in it follows from
// public facts.
type form interface {
	// at is the form with the mechanism for a payment.
	at(ctx context.Context, p payment) (form, error)
	// mechanism is that of the last payment, and of a usual one before.
	mechanism() release.Mechanism
	// noises are the kinds of noise that may be chosen where the question names none.
	noises() []string
	// accuracy is that of the mechanism.
	accuracy(level float64, about int64) (accuracy, error)
	// needsAbout says that the accuracy depends on the number of records of a group.
	needsAbout() bool
	// cells are the numbers of groups, and of values in all of them.
	cells() (groups, values int)
	// label is the unit of the answer: records, the name of a column, or empty.
	label() string
	// columns are the columns that are read, and what becomes of values outside.
	columns(a *openSet) []api.ColumnUse
	// cares are remarks about an answer beside those that all kinds share.
	cares(answer json.RawMessage) []api.Message
	// twin says how made-up rows for the question are drawn, about that many.
	twin(a *openSet, rows int) twin
	// try answers about made-up rows, and counts the values within a margin.
	try(ctx context.Context, t *table.Table, margin float64, src *noise.Source) (*trial, error)
}

// pricedQuestion is a question with its price.
type pricedQuestion struct {
	form
	question api.Question // with what is paid
	level    float64
	at       string
	about    int64
	size     publicSize
	all      int64 // groups that the public values of the columns make
}

const (
	defaultAt = "0.95"
	// assumedRecords is how many records a group is taken to have where nothing is said.
	assumedRecords = 1000
)

// asking makes a question for the data set, with its price. records is about how many records
// the data set has, as its steward states; 0 where that is not stated.
func (s *Service) asking(ctx context.Context, a *openSet, q api.Question, records int64) (*pricedQuestion, error) {
	if err := q.Check(); err != nil {
		return nil, err
	}
	out := &pricedQuestion{question: q, at: defaultAt, about: assumedRecords, size: sizeOf(a.Definition, records)}
	if m := q.Margin; m != nil {
		if m.At != "" {
			out.at = m.At
		}
		if m.About != 0 {
			out.about = m.About
		}
	}
	var err error
	if out.level, err = strconv.ParseFloat(out.at, 64); err != nil || !(out.level > 0 && out.level < 1) || len(out.at) > 16 {
		return nil, noren.Usagef("margin.at", "expected a confidence above 0 and below 1, got another").Hinted("0.95 is usual")
	}
	if out.about < 1 || out.about > 1<<31 {
		return nil, noren.Usagef("margin.about", "expected 1 to 2^31 records, got %d", out.about)
	}
	if out.form, err = s.form(ctx, a, &out.question, out.level); err != nil {
		return nil, err
	}
	out.all = out.groupsOf(a)
	if q.Margin == nil || q.Margin.About == 0 {
		out.guessed()
	}
	switch {
	case q.Pay == nil && q.Of.Facts().Margin == kinds.Unknown:
		return nil, noren.Usagef("pay", "expected what is paid, got none").
			Hinted("the error of an estimate by weights is not known before the answer, so that a margin has no price")
	case q.Pay != nil:
		err = out.paid(ctx, a, *q.Pay)
	case q.Margin == nil:
		return nil, noren.Usagef("pay", "expected what is paid, or a margin, got neither").Hinted("pay: {epsilon: 0.1}, or margin: {within: 30}")
	default:
		err = out.priced(ctx, a)
	}
	return out, err
}

// form makes the form of the question's kind.
func (s *Service) form(ctx context.Context, a *openSet, q *api.Question, level float64) (form, error) {
	switch k := q.Of.(type) {
	case kinds.Outliers:
		return newOutliersForm(ctx, a, &k)
	case kinds.Correlated:
		return s.newCorrelatedForm(ctx, a, &k)
	case kinds.Ratio:
		return s.newRatioForm(ctx, a, &k, level)
	}
	return newQueryForm(ctx, a, q, level)
}

// paid makes the mechanism for an amount.
func (q *pricedQuestion) paid(ctx context.Context, a *openSet, pay api.Amount) error {
	cost, err := pay.Parse()
	if err != nil {
		return prefixed("pay", err)
	}
	_, zcdp := a.zcdp()
	switch {
	case pay.Rho != "" && !zcdp:
		return noren.Usagef("pay.rho", "the budget of %s is an epsilon, not a rho", a.Name).Hinted("pay an epsilon")
	case pay.Rho != "":
		return q.paidRho(ctx, a, cost.Rho)
	}
	if zcdp && cost.Delta != 0 {
		return noren.Usagef("pay.delta", "expected none: the budget of %s is in zCDP", a.Name).
			Hinted("pay a rho for gaussian noise, or an epsilon for any other")
	}
	p := payment{noise: q.question.Noise(), cost: cost}
	if p.noise == "" {
		p.noise = q.noises()[0]
	}
	return q.settle(ctx, p)
}

// paidRho makes the mechanism for a rho: Gaussian noise of that rho, or other noise of
// the largest epsilon that costs no more. Of several it takes the one with the smaller
// error.
func (q *pricedQuestion) paidRho(ctx context.Context, a *openSet, rho account.Rho) error {
	delta, _ := a.zcdp()
	noises := q.noises()
	if named := q.question.Noise(); named != "" {
		noises = []string{named}
	}
	var best *payment
	var least float64
	for _, noise := range noises {
		p := payment{noise: noise, cost: account.Cost{Epsilon: pureWithin(rho)}}
		if noise == gaussian {
			p.cost, p.rho = account.Cost{Delta: delta}, rho
		}
		f, err := q.form.at(ctx, p)
		if err != nil {
			return err
		}
		acc, err := f.accuracy(q.level, q.about)
		if err != nil {
			return err
		}
		if best == nil || acc.within != nil && *acc.within < least {
			best, least = &p, 0
			if acc.within != nil {
				least = *acc.within
			}
		}
	}
	return q.settle(ctx, *best)
}

// settle makes the mechanism and writes into the question what is paid.
func (q *pricedQuestion) settle(ctx context.Context, p payment) error {
	f, err := q.form.at(ctx, p)
	if err != nil {
		return err
	}
	q.form, q.question = f, q.question.WithNoise(p.noise)
	pay := api.Amount{Epsilon: account.Decimal(p.cost.Epsilon, 9)}
	if p.cost.Delta != 0 {
		pay.Delta = account.Decimal(p.cost.Delta, 18)
	}
	if p.rho != 0 {
		pay = account.RhoAmount(p.rho)
	}
	q.question.Pay = &pay
	return nil
}

const gaussian = "gaussian"

// pureWithin is the largest epsilon, in units of 1e-9, of which epsilon^2/2 is at most
// rho: 1e-18 e^2 / 2 <= 1e-15 rho, so that e is the root of 2000 rho, rounded down.
func pureWithin(rho account.Rho) int64 {
	square := new(big.Int).Mul(big.NewInt(int64(rho)), big.NewInt(2000))
	return square.Sqrt(square).Int64()
}

// zcdp is the delta at which a budget in zCDP is stated; false for a budget of epsilon.
func (a *openSet) zcdp() (delta int64, is bool) {
	return a.StatementDelta(), a.Accounting() == account.ZCDP
}

// amount is a cost in the form of the budget.
func (a *openSet) amount(c account.Cost) api.Amount { return account.AmountIn(a.Accounting(), c) }

// prefixed says in which part of a question an error is.
func prefixed(part string, err error) error {
	return relocated(err, func(where any) any {
		if where == nil {
			return part
		}
		return fmt.Sprint(part, ".", where)
	})
}

// numbered is the question with this index, in the place of an error.
type numbered int

// Text is the number of the question.
func (q numbered) Text() noren.Text { return noren.Textf("question %d", int(q)+1) }

// String is its text in English.
func (q numbered) String() string { return q.Text().String() }

// inQuestion says which question an error is about, where there are several.
func inQuestion(err error, i, n int) error {
	if n == 1 {
		return err
	}
	return relocated(err, func(where any) any {
		if where == nil {
			return numbered(i)
		}
		return noren.Place{numbered(i), where}
	})
}

// relocated is err, or each of several errors, with another place.
func relocated(err error, at func(where any) any) error {
	switch e := err.(type) {
	case nil:
		return nil
	case *noren.Error:
		out := *e
		out.Where = at(nil)
		if e.Place() != "" {
			out.Where = at(e.Where)
		}
		return &out
	case interface{ Unwrap() []error }:
		var all []error
		for _, one := range e.Unwrap() {
			all = append(all, relocated(one, at))
		}
		return errors.Join(all...)
	}
	return &noren.Error{Kind: noren.KindOf(err), Code: noren.CodeOf(err), Where: at(nil), Err: err}
}

// guessed takes the number of records of a group from public facts, where the question does
// not say it and its error depends on it.
func (q *pricedQuestion) guessed() {
	if !q.needsAbout() {
		return
	}
	guess, known := q.guess()
	if q.question.Margin != nil && !known {
		return // a price is not looked for by a guess that may be far off
	}
	q.about = guess
	if q.question.Margin != nil {
		margin := *q.question.Margin
		margin.About = guess
		q.question.Margin = &margin
	}
}
