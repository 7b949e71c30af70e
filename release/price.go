package release

import (
	"context"
	"slices"

	"github.com/noren-privacy/noren"
	"github.com/noren-privacy/noren/account"
	"github.com/noren-privacy/noren/correlated"
	"github.com/noren-privacy/noren/ledger"
)

// Quote is what a request costs and what would be left, from public facts.
type Quote struct {
	// Dataset and Version are those of the ledger; empty and 0 when unaccounted.
	Dataset    string
	Version    int
	Neighbours account.Neighbours
	Unit       string
	// Accounting is how the data set's budget adds up losses; Basic when unaccounted.
	Accounting account.Accounting
	// Cost is what is charged to each account: epsilon and delta, or in a budget in zCDP
	// rho. Loss is the latter with its parts.
	Cost account.Cost
	Loss account.Loss
	// Alone is the (epsilon, delta) of the answer by itself: Cost, but in zCDP.
	Alone account.Cost
	// Parts are the prices of the mechanisms of a batch, or of the one mechanism; Cost, Loss
	// and Alone are the sums of theirs.
	Parts     []Part
	Guarantee noren.Guarantee
	// Remaining is what each account has before the charge: the data set's and,
	// where there is one, the analyst's. Nil when unaccounted.
	Remaining []ledger.Remaining
	// Fits says that all of them cover Cost.
	Fits bool
	// Request is the hash of the question: two requests with one hash ask the same of the
	// same version.
	Request [32]byte

	admits   bool // the analyst may ask at all
	question *question
}

// Price computes the cost of a request. Nothing is charged, and no file is
// opened: the data set's definition says all that the cost depends on. Errors are
// of kind Usage (the request does not go with the definition) and Refused (a
// sealed ledger).
func Price(ctx context.Context, q *Request) (*Quote, error) {
	if err := q.validate(); err != nil {
		return nil, err
	}
	d := q.Dataset.Definition
	out := &Quote{
		Dataset: q.Dataset.Name, Version: q.Dataset.Version, Neighbours: d.Relation(), Unit: d.Unit,
		Accounting: q.Dataset.Accounting(), Fits: true,
	}
	for _, m := range partsOf(q.Mechanism) {
		part, err := q.priceOf(ctx, m)
		if err == nil {
			out.Cost, err = out.Cost.Add(part.Cost)
		}
		if err == nil {
			out.Alone, err = out.Alone.Add(part.Alone)
		}
		if err == nil {
			out.Loss, err = out.Loss.Add(part.Loss)
		}
		if err != nil {
			return nil, err
		}
		out.Parts = append(out.Parts, part)
	}
	if err := out.Cost.Validate(); err != nil {
		return nil, err
	}
	var err error
	if out.Guarantee, err = together(out.Parts); err != nil {
		return nil, err
	}
	out.Guarantee.Assumptions = append(slices.Clone(out.Guarantee.Assumptions), q.Dataset.assumptions()...)
	if q.accounted() && q.Budget.Expanded {
		out.Guarantee.Assumptions = append(out.Guarantee.Assumptions, noren.Textf(computational))
	}
	if out.question, err = q.question(); err != nil {
		return nil, err
	}
	out.Request = out.question.hash
	if l := q.Dataset.ledger; l != nil {
		if err := l.Sealed(); err != nil {
			return nil, err
		}
		balance, err := l.Balance(ctx, q.Dataset.Name, q.Budget.Principal)
		if err != nil {
			return nil, err
		}
		if balance.Version != q.Dataset.Version {
			return nil, &noren.Error{
				Kind: noren.Refused, Code: CodeChanged, Where: noren.Textf("data set %s", q.Dataset.Name),
				What: "its version is %d, the request is for version %d; nothing was charged", Args: []any{balance.Version, q.Dataset.Version},
				Hint: "ask again for the current version",
			}
		}
		out.Remaining, out.admits = balance.Remaining, balance.Admits()
	}
	for _, r := range out.Remaining {
		out.Fits = out.Fits && out.Cost.Within(r.Left)
	}
	return out, nil
}

// fits makes sure that the mechanism reads columns as the definition types them,
// and answers every table of its form.
func (q *Request) fits(m Mechanism) error {
	d := q.Dataset.Definition
	for _, f := range m.Columns() {
		have, err := d.Field(f.Name)
		if err != nil {
			return err
		}
		if have.Type != f.Type || have.Layout != f.Layout || !slices.Equal(have.Levels, f.Levels) {
			return &noren.Error{
				Kind: noren.Usage, Code: CodeColumnType, Where: noren.Textf("column %s", f.Name),
				What: "the query reads it as %s, the data set defines it as %s", Args: []any{f.Type, have.Type},
				Hint: "the definition of the data set decides how a column is read",
			}
		}
	}
	if d.File.Sharded {
		if _, err := q.inParts(); err != nil {
			return err
		}
	}
	return m.Covers(d.AtMost, d.Records)
}

// assumptions are the assumptions of the guarantee that follow from the definition.
func (d *Dataset) assumptions() noren.Texts {
	out := noren.Sentences(
		"The schema of the table is public: the guarantee compares tables that are read under one definition.",
		"A cell that does not fit the type of its column counts as missing.",
	)
	if d.book != nil {
		for _, other := range d.book.OtherPeople {
			out = append(out, noren.Textf("No person of data set %s is in data set %s, as the steward declared.", d.Name, other))
		}
	}
	return out
}

// underModel prices a mechanism on a data set with a model of dependence, and
// refuses a query that the model does not cover. See docs/correlated-privacy.md, theorem D.
func (q *Request) underModel(ctx context.Context, one Mechanism, out *Part) error {
	m := q.Dataset.Definition.Model
	var where any
	if q.Dataset.Name != "" {
		where = noren.Textf("data set %s", q.Dataset.Name)
	}
	refuse := func(what noren.Text, hint noren.Format) error {
		return &noren.Error{Kind: noren.Usage, Code: CodeModel, Where: where, What: what.Format, Args: what.Args, Hint: hint}
	}
	dependent, ok := one.(Dependent)
	if m == nil {
		if ok {
			return refuse(noren.Textf("has no model of dependence"),
				"the steward grants the data set under a model: every answer is then priced under it")
		}
		return nil
	}
	if ok {
		if dependent.ModelHash() != q.Dataset.modelHash || dependent.Column() != m.Column {
			return refuse(noren.Textf("the query was made for another model than the data set's"), "")
		}
		return nil
	}
	for _, f := range one.Columns() {
		if f.Name != m.Column {
			return refuse(noren.Textf("the model covers column %s, the query reads %s", m.Column, f.Name), "ask about the column of the model")
		}
	}
	if own, most := q.Dataset.model.Model, len(q.Dataset.model.StateNames()); !sameStates(own, most) {
		// A query reads every record by all states, and the model knows nothing of
		// a record in a state that is not its own.
		return refuse(noren.Textf("the records of the model have different states, which only a mechanism for the model distinguishes"),
			"ask for an answer under the model")
	}
	if out.Cost.Delta != 0 {
		return refuse(noren.Textf("an answer under the model needs delta 0"), "choose noise that is private without a delta")
	}
	var err error
	if out.Cost, err = correlated.Price(ctx, q.Dataset.model.Model, out.Cost); err != nil {
		return err
	}
	out.Guarantee.Assumptions = append(slices.Clone(out.Guarantee.Assumptions), noren.Textf(
		"Under the model of dependence of the data set, this answer adds at most %s to what all answers tell of one record.", out.Cost))
	return nil
}

// sameStates reports whether every record of the model has that many states.
func sameStates(m correlated.Model, states int) bool {
	for i := range m.Records() {
		if m.States(i) != states {
			return false
		}
	}
	return true
}
