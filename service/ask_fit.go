package service

import (
	"context"
	"math"
	"strconv"

	"github.com/noren-privacy/noren"
	"github.com/noren-privacy/noren/account"
	"github.com/noren-privacy/noren/api"
	"github.com/noren-privacy/noren/ledger"
	"github.com/noren-privacy/noren/release"
	"github.com/noren-privacy/noren/report/text"
	"github.com/noren-privacy/noren/table"
)

// fitsWith are changes of one question by which a request that does not fit would: a wider
// margin or a smaller payment, narrower bounds, no groups, or without the question. Each
// is priced as the request itself was, from public facts and from what is left.
func (b *batch) fitsWith(ctx context.Context, a *openSet, quote *release.Quote) ([]api.Change, error) {
	left := leastOf(quote.Remaining)
	var out []api.Change
	for i, part := range b.parts {
		rest := left
		for j := range quote.Parts {
			if j != i {
				rest = rest.Minus(quote.Parts[j].Cost)
			}
		}
		for _, c := range b.changes(ctx, a, i, part, rest) {
			questions := make([]api.Question, 0, len(b.request.Questions))
			questions = append(questions, b.request.Questions[:i]...)
			if c.question != nil {
				questions = append(questions, *c.question)
			}
			questions = append(questions, b.request.Questions[i+1:]...)
			cost, err := b.costOf(ctx, a, questions)
			if noren.KindOf(err) == noren.Usage {
				continue // what cannot be asked is no change
			}
			if err != nil {
				return nil, err
			}
			if !cost.Within(left) {
				continue
			}
			c.args["question"] = i + 1
			if to := c.question; to != nil && c.code == "margin" {
				c.args["from"], c.args["to"] = text.Figure(part.question.Margin.Within), text.Figure(to.Margin.Within)
			}
			out = append(out, api.Change{Change: text.ChangeWords(c.code, c.args), Questions: questions, Cost: a.amount(cost)})
		}
	}
	return out, nil
}

// change is a change of one question; without a question it is left out.
type change struct {
	code     string
	question *api.Question
	args     map[string]any
}

// changes are those of question i that may cost at most rest.
func (b *batch) changes(ctx context.Context, a *openSet, i int, part *pricedQuestion, rest account.Cost) (out []change) {
	own := b.request.Questions[i]
	if len(b.request.Questions) > 1 {
		out = append(out, change{code: "drop", args: map[string]any{}})
	}
	pay := b.payable(ctx, a, own, rest)
	if pay == nil {
		return out
	}
	paid := own
	paid.Pay = pay
	cheaper, err := b.service.asking(ctx, a, paid, b.request.Records)
	if err != nil {
		return out
	}
	if own.Pay != nil {
		c := change{"pay", &paid, map[string]any{"from": own.Pay.String(), "to": pay.String()}}
		return append([]change{c}, out...)
	}
	var first []change
	if acc, err := cheaper.accuracy(part.level, part.about); err == nil && acc.within != nil {
		wider := own
		margin := *own.Margin
		margin.Within = roundedUp(*acc.within)
		wider.Margin = &margin
		first = append(first, change{"margin", &wider, map[string]any{}})
	}
	if narrower, lo, hi := part.narrower(own, cost(part), pay); narrower != nil {
		first = append(first, change{"bounds", narrower, map[string]any{"lo": lo, "hi": hi}})
	}
	if by := own.By(); len(by) > 0 {
		whole := own.WithoutGroups()
		groups, _ := part.cells()
		margin := *own.Margin
		if margin.About > 0 {
			margin.About = min(margin.About*int64(groups), 1<<31)
		}
		whole.Margin = &margin
		first = append(first, change{"by", &whole, map[string]any{"by": by[0]}})
	}
	return append(first, out...)
}

// cost is what a question pays, as a number for comparison.
func cost(q *pricedQuestion) float64 {
	p := q.question.Pay
	return amountFloat(p)
}

func amountFloat(p *api.Amount) float64 {
	text := p.Epsilon
	if p.Rho != "" {
		text = p.Rho
	}
	x, _ := strconv.ParseFloat(text, 64)
	if p.Rho != "" {
		return math.Sqrt(2 * x) // as an epsilon
	}
	return x
}

// narrower is the question with bounds that are as much narrower as its cost must fall, if
// that is at most by half: the noise of a sum, mean or quantile shrinks with its bounds.
func (q *pricedQuestion) narrower(own api.Question, cost float64, pay *api.Amount) (out *api.Question, lo, hi string) {
	f, ok := q.form.(*queryForm)
	if !ok || f.options.Bounds == nil {
		return nil, "", ""
	}
	for _, field := range f.query.Columns() {
		if field.Name == f.options.Column && field.Type == table.Date {
			return nil, "", ""
		}
	}
	share := amountFloat(pay) / cost
	from, to := f.options.Bounds.Lo, f.options.Bounds.Hi
	if share < 0.5 || share >= 1 {
		return nil, "", ""
	}
	step := math.Pow(10, math.Floor(math.Log10(to-from))-1) // two digits of the width
	end := from + math.Floor((to-from)*share/step)*step
	lo, hi = strconv.FormatFloat(from, 'f', -1, 64), strconv.FormatFloat(end, 'g', 12, 64)
	own = own.WithBounds(lo, hi)
	return &own, lo, hi
}

// affordable is the most that one question may pay, in steps of the grid of prices; nil
// where that is nothing.
func affordable(a *openSet, rest account.Cost) *api.Amount {
	if _, zcdp := a.zcdp(); zcdp {
		if rho := rest.Rho / rhoStep * rhoStep; rho > 0 {
			amount := account.RhoAmount(rho)
			return &amount
		}
		return nil
	}
	if epsilon := rest.Epsilon / priceStep * priceStep; epsilon > 0 {
		return &api.Amount{Epsilon: account.Decimal(epsilon, 9)}
	}
	return nil
}

// payable is the most that a question may pay so that it costs at most rest, or nearly; nil
// where that is nothing. Under a model of dependent records it costs more than it pays.
func (b *batch) payable(ctx context.Context, a *openSet, own api.Question, rest account.Cost) *api.Amount {
	pay := affordable(a, rest)
	if a.Model() == nil {
		return pay
	}
	for within := rest; pay != nil; pay = affordable(a, within) {
		own.Pay, own.Margin = pay, nil
		cost, err := b.costOf(ctx, a, []api.Question{own})
		if err != nil || cost.Within(rest) {
			break
		}
		within.Epsilon = min(within.Epsilon-priceStep, int64(float64(within.Epsilon)*float64(rest.Epsilon)/float64(cost.Epsilon)))
	}
	return pay
}

// roundedUp is x rounded up to three digits.
func roundedUp(x float64) float64 {
	if !(x > 0) {
		return x
	}
	unit := math.Pow(10, math.Floor(math.Log10(x))-2)
	return math.Ceil(x/unit-1e-9) * unit
}

// costOf prices other questions to the same data set.
func (b *batch) costOf(ctx context.Context, a *openSet, questions []api.Question) (account.Cost, error) {
	r := *b.request
	r.Questions = questions
	other := &batch{service: b.service, request: &r}
	m, err := other.build(ctx, a)
	if err != nil {
		return account.Cost{}, err
	}
	quote, err := release.Price(ctx, &release.Request{Mechanism: m, Dataset: a.Dataset, Budget: release.Budget{Principal: "price"}})
	if err != nil {
		return account.Cost{}, err
	}
	return quote.Cost, nil
}

// leastOf is the least that any account holds, part by part.
func leastOf(all []ledger.Remaining) account.Cost {
	least := all[0].Left
	for _, r := range all[1:] {
		least = least.Least(r.Left)
	}
	return least
}
