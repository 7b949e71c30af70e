package service

import (
	"math"
	"slices"

	"github.com/noren-privacy/noren/account"
	"github.com/noren-privacy/noren/api"
	"github.com/noren-privacy/noren/kinds"
	"github.com/noren-privacy/noren/query"
	"github.com/noren-privacy/noren/release"
	"github.com/noren-privacy/noren/report/text"
)

// quoteOf is the price of one question with all that is shown beside it.
func (b *batch) quoteOf(q *pricedQuestion, cost account.Cost) (*api.QuestionQuote, error) {
	a := b.asked
	out := &api.QuestionQuote{Question: q.question, Cost: a.amount(cost), Asked: q.question.Said(), UnitLabel: q.label()}
	out.Groups, out.Cells = q.cells()
	out.Composition = text.Composition(&q.question, out.Groups, out.Cells, a.neighbours(), a.Definition.Unit)
	out.Columns = q.uses(a)
	var err error
	if out.Accuracy, err = q.promise(); err != nil {
		return nil, err
	}
	out.Reach, out.Warnings = q.reach(&out.Accuracy)
	out.Warnings = append(append(q.unlisted(a), out.Warnings...), q.timing(a)...)
	out.Sampling = q.sampling()
	return out, nil
}

// uses are the columns that a question reads, and the unit, with what is not counted.
func (q *pricedQuestion) uses(a *openSet) []api.ColumnUse {
	out := q.columns(a)
	if unit := a.Definition.Unit; unit != account.Record {
		out = append(out, api.ColumnUse{Name: unit, Outside: text.Outside(unit, "person", "", "", int(q.question.MaxRows()))})
	}
	return out
}

// promise is what is said of the error before the answer.
func (q *pricedQuestion) promise() (api.Promise, error) {
	acc, err := q.accuracy(q.level, q.about)
	if err != nil {
		return api.Promise{}, err
	}
	_, cells := q.cells()
	p := api.Promise{Within: acc.within, At: q.at, Rank: acc.rank, Guess: acc.guess, Simultaneous: cells == 1}
	if acc.about {
		p.About = q.about
	}
	p.AllAt = max(0, math.Round(1e12*(1-float64(cells)*(1-q.level)))/1e12)
	p.Words = text.PromiseWords(&p, cells)
	return p, nil
}

// statement says what one unit changes of the odds of the answers. In zCDP it holds at the
// delta of the budget.
func (a *openSet) statement(quote *release.Quote) ([]api.Message, error) {
	cost := quote.Alone
	if delta, zcdp := a.zcdp(); zcdp {
		var err error
		if cost, err = quote.Loss.Statement(delta); err != nil {
			return nil, err
		}
	}
	odds := text.Odds
	if a.neighbours() == account.ReplaceOne {
		odds = text.OddsReplaced
	}
	return []api.Message{odds(cost, a.Definition.Unit, "answer")}, nil
}

// sampling is the error of the figure for more people than those in the table, from public
// facts: the guess of the size of a group, and the spread of the column.
func (q *pricedQuestion) sampling() *api.Sampling {
	if q.question.Margin == nil || q.question.Margin.About == 0 {
		return nil
	}
	z, n := math.Sqrt2*math.Erfinv(q.level), float64(q.about)
	switch q.question.Of.(type) {
	case kinds.Count, kinds.Histogram:
		return &api.Sampling{Within: z * math.Sqrt(n), Basis: text.SamplingBasis("count", q.about, 0)}
	case kinds.Mean:
		spread, basis := q.spread()
		if spread <= 0 {
			return nil
		}
		return &api.Sampling{Within: z * spread / math.Sqrt(n), Basis: text.SamplingBasis(basis, q.about, spread)}
	}
	return nil
}

// spread is the standard deviation of the column: by stated quartiles, else at most half
// the distance of the bounds.
func (q *pricedQuestion) spread() (spread float64, basis string) {
	if m := q.question.Margin; m != nil && len(m.Quartiles) == 2 && m.Quartiles[1] > m.Quartiles[0] {
		// The quartiles of a normal distribution are 2 * 0.6745 standard deviations apart.
		return (m.Quartiles[1] - m.Quartiles[0]) / 1.349, "quartiles"
	}
	f, ok := q.form.(*queryForm)
	if !ok {
		return 0, ""
	}
	lo, hi, _, ok := f.query.Grid()
	if !ok {
		return 0, ""
	}
	return (hi - lo) / 2, "bounds"
}

// sampled adds to the values of an answer the error of sampling: from the released values
// alone, and for means from the spread of the column.
func (q *pricedQuestion) sampled(rows []api.AnswerRow) {
	z := math.Sqrt2 * math.Erfinv(q.level)
	spread, _ := q.spread()
	for i := range rows {
		r := &rows[i]
		within := math.NaN()
		size := q.question.Of.Facts().Size
		switch {
		case r.Value == nil:
		case size == kinds.ChangesSampling:
			within = z * math.Sqrt(max(1, float64(*r.Value)))
		case q.question.Name() == "mean" && spread > 0 && r.Records != nil && *r.Records >= 1:
			within = z * spread / math.Sqrt(*r.Records)
		}
		if !math.IsNaN(within) {
			r.Sampling = &within
		}
	}
}

func (f *queryForm) label() string {
	switch f.kind {
	case query.Count, query.Histogram:
		return "records"
	case query.Variance:
		return f.options.Column + "^2"
	}
	return f.options.Column
}

func (f *queryForm) columns(a *openSet) []api.ColumnUse {
	var out []api.ColumnUse
	o := f.options
	for _, field := range f.query.Columns() {
		use := api.ColumnUse{Name: field.Name}
		if c := a.Definition.Column(field.Name); len(c.Bounds) == 2 {
			use.TableBounds = slices.Clone(c.Bounds)
		}
		lo, hi, _, bounded := f.query.Grid()
		at := slices.Index(o.By, field.Name)
		switch {
		case field.Name == o.Column && bounded:
			use.Used = []string{text.Bound(field, lo), text.Bound(field, hi)}
			use.Outside = text.Outside(field.Name, "clamped", use.Used[0], use.Used[1], 0)
		case field.Name == o.Column && len(o.Bins) > 1:
			use.Used = []string{text.Bound(field, o.Bins[0]), text.Bound(field, o.Bins[len(o.Bins)-1])}
			use.Outside = text.Outside(field.Name, "bins", use.Used[0], use.Used[1], 0)
		case field.Name == o.Column:
			use.Outside = text.Outside(field.Name, "listed", "", "", len(o.Values))
		case at >= 0:
			distinct := map[string]bool{}
			for _, key := range o.Keys {
				distinct[key[at]] = true
			}
			use.Outside = text.Outside(field.Name, "listed", "", "", len(distinct))
		case o.Where != "":
			use.Outside = text.Outside(field.Name, "condition", "", "", 0)
		default:
			continue // a count of all records reads a column for its length alone
		}
		out = append(out, use)
	}
	return out
}

func (f *outliersForm) label() string { return "records" }

func (f *outliersForm) columns(a *openSet) []api.ColumnUse {
	var out []api.ColumnUse
	for _, axis := range f.options.Axes {
		use := api.ColumnUse{Name: axis.Field.Name, Used: []string{text.Bound(axis.Field, axis.Low), text.Bound(axis.Field, axis.High)}}
		if c := a.Definition.Column(axis.Field.Name); len(c.Bounds) == 2 {
			use.TableBounds = slices.Clone(c.Bounds)
		}
		use.Outside = text.Outside(use.Name, "box", use.Used[0], use.Used[1], 0)
		out = append(out, use)
	}
	return out
}

func (f *correlatedForm) label() string { return "" }

func (f *correlatedForm) columns(*openSet) []api.ColumnUse {
	return []api.ColumnUse{{Name: f.options.Column, Outside: text.Outside(f.options.Column, "model", "", "", 0)}}
}
