package query

import (
	"context"
	"encoding/json"
	"errors"
	"slices"

	"github.com/noren-privacy/noren"
	"github.com/noren-privacy/noren/account"
	"github.com/noren-privacy/noren/noise"
	"github.com/noren-privacy/noren/table"
)

// Query is a validated query with its noise. It holds no data, and may be
// shared by goroutines. Make one with [New].
type Query struct {
	o         Options
	predicate *Predicate // nil: all records
	groups    *keys
	field     *table.Field // of the column; nil for a count
	fields    []table.Field
	kernel    kernel
}

// kernel is how a kind of query is answered once the records are picked.
type kernel interface {
	// answer reads the records of the scan, with their groups, and adds noise.
	answer(ctx context.Context, t *table.Table, s *scan, src *noise.Source) ([]Group, error)
	// trial answers about a made-up table; see [Query.Try].
	trial(ctx context.Context, t *table.Table, records *scan) (draw func(src *noise.Source) ([]Group, error),
		off func(i int, g *Group) float64, err error)
	// accuracy is what the noise does to the answer, from public figures.
	accuracy(level float64, records int64) (Accuracy, error)
	// parameters fills in what is public about the mechanism.
	parameters(p *Parameters)
	// assumptions are what the guarantee rests on beyond what all queries share.
	assumptions() noren.Texts
}

// New validates o. The error lists all faults and is of kind Usage; it depends on
// public parameters alone.
func New(ctx context.Context, o Options) (*Query, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	o.setDefaults()
	o.Fields, o.By, o.Bins, o.Values = slices.Clone(o.Fields), slices.Clone(o.By), slices.Clone(o.Bins), slices.Clone(o.Values)
	o.Key = slices.Clone(o.Key)
	if o.Bounds != nil {
		b := *o.Bounds
		o.Bounds = &b
	}
	if o.GridBits != nil {
		j := *o.GridBits
		o.GridBits = &j
	}
	q := &Query{o: o}
	faults := []error{o.validate()}
	var err error
	if o.Where != "" {
		q.predicate, err = ParsePredicate(o.Where, o.Fields)
		faults = append(faults, err)
	}
	texts := make([][]string, len(o.Keys))
	for i := range texts {
		texts[i] = slices.Clone(o.Keys[i])
	}
	q.groups, err = newKeys("groups", o.Fields, o.By, texts)
	faults = append(faults, err)
	slices.SortStableFunc(faults, missingFirst)
	if err = errors.Join(faults...); err != nil {
		return nil, err
	}
	if o.Column != "" {
		q.field, err = findField(o.Fields, "column", o.Column)
		if err != nil {
			return nil, err
		}
	}
	if err := q.checkSize(); err != nil {
		return nil, err
	}
	q.collectFields()
	switch o.Kind {
	case Quantile:
		q.kernel, err = newQuantile(q)
	default:
		q.kernel, err = newSums(q)
	}
	if err != nil {
		return nil, err
	}
	return q, nil
}

// checkSize refuses what would make too large an answer.
func (q *Query) checkSize() error {
	size := 1024 + len(q.groups.texts)*q.bins()*maxCell
	for _, list := range []any{q.groups.texts, q.o.Values} {
		text, err := json.Marshal(list)
		if err != nil {
			return &noren.Error{What: "the keys cannot be written as JSON", Err: err}
		}
		// Every key stands beside each of its bins, and every bin in each group.
		if _, keys := list.([][]string); keys {
			size += len(text) * q.bins()
		} else {
			size += len(text) * len(q.groups.texts)
		}
	}
	if size > maxAnswer {
		return noren.Usagef("groups", "%d {group|groups} of %d {bin|bins} {1|makes|make} an answer of more than %d bytes", len(q.groups.texts),
			q.bins(), maxAnswer).Hinted("ask for fewer groups or bins")
	}
	return nil
}

// collectFields lists the columns that the query reads, each once, in the order of
// the table's fields.
func (q *Query) collectFields() {
	read := map[string]bool{q.o.Column: q.o.Column != ""}
	for _, f := range q.groups.fields {
		read[f.Name] = true
	}
	if q.predicate != nil {
		for _, f := range q.predicate.fields {
			read[f.Name] = true
		}
	}
	for _, f := range q.o.Fields {
		if read[f.Name] {
			read[f.Name] = false
			q.fields = append(q.fields, f)
		}
	}
	// A table is read by its columns: a count of all records reads the first.
	if len(q.fields) == 0 && len(q.o.Fields) > 0 {
		q.fields = append(q.fields, q.o.Fields[0])
	}
}

// Columns are the columns that [Query.Answer] needs, in the order of the table.
// The unit column is one of them only where the question itself uses it: the
// labels of the records are read beside the columns ([table.Table.Unit]).
func (q *Query) Columns() []table.Field { return slices.Clone(q.fields) }

// Kind is the kind of the query.
func (q *Query) Kind() Kind { return q.o.Kind }

// Name is "query." and the kind.
func (q *Query) Name() string { return "query." + string(q.o.Kind) }

// Cost is the privacy cost for a budget of the given relation and unit. The unit must be
// the query's; an add-remove query costs twice its epsilon under a replace-one budget, and
// a replace-one query is refused under an add-remove budget ([account.Charge]). Error:
// [noren.Usage].
func (q *Query) Cost(n account.Neighbours, unit string) (account.Cost, error) {
	if unit != q.o.Unit {
		return account.Cost{}, noren.Usagef("unit", "the query is private for one %s, and the budget is for one %s",
			noren.UnitName(q.o.Unit), noren.UnitName(unit)).
			Hinted("ask for the unit of the budget")
	}
	return account.Charge(q.o.Cost, q.o.Neighbours, n)
}

// Loss is the privacy loss in a budget in zCDP of the given relation and unit: that of
// the Gaussian noise (CKS, theorem 14), or of the epsilon of any other noise
// ([account.PureLoss]). Relation and unit are as for [Query.Cost]. Error:
// [noren.Usage].
func (q *Query) Loss(n account.Neighbours, unit string) (account.Loss, error) {
	if _, err := q.Cost(n, unit); err != nil {
		return account.Loss{}, err
	}
	if s, ok := q.kernel.(*sums); ok && q.o.Noise == Gaussian {
		return account.ChargeLoss(account.GaussianLoss(s.rho), q.o.Neighbours, n)
	}
	own, err := account.PureLoss(q.o.Cost.Epsilon)
	if err != nil {
		return account.Loss{}, err
	}
	return account.ChargeLoss(own, q.o.Neighbours, n)
}

// Covers refuses a data set that may hold more than 2^31 records: every table of at most
// atMost records is answered. Error: [noren.Usage], code "too-many-records".
func (q *Query) Covers(atMost, _ int64) error {
	if atMost > maxRecords {
		return &noren.Error{
			Kind: noren.Usage, Code: "too-many-records", Where: "records",
			What: "expected at most %d records, got a bound of %d", Args: []any{int64(maxRecords), atMost},
			Hint: "state a smaller bound of the number of records",
		}
	}
	return nil
}

// Guarantee is the guarantee of [Query.Answer] for a budget of the given relation and
// unit, at [Query.Cost]. Error: [noren.Usage], as there.
func (q *Query) Guarantee(n account.Neighbours, unit string) (noren.Guarantee, error) {
	cost, err := q.Cost(n, unit)
	if err != nil {
		return noren.Guarantee{}, err
	}
	g := noren.Guarantee{Model: "differential privacy", Neighbours: n.String(), Unit: unit}
	g.Epsilon, g.Delta = cost.Float()
	g.Assumptions = append(g.Assumptions, neighboursDiffer(n, unit))
	if q.o.Unit != account.Record {
		g.Assumptions = append(g.Assumptions,
			noren.Textf("of the records of one %s at most %d count, picked by a keyed hash of their contents and not by their order", q.o.Unit,
				q.o.MaxRows),
			noren.Textf("records whose %s is missing do not count", q.o.Unit))
	}
	g.Assumptions = append(g.Assumptions,
		noren.Textf("the predicate, the keys, the bounds, the bins and the grid were chosen without looking at the data"))
	g.Assumptions = append(g.Assumptions, q.kernel.assumptions()...)
	g.Assumptions = append(g.Assumptions, noren.Textf("the time that the answer took is not released"))
	return g, nil
}

// neighboursDiffer says in what records neighbours differ.
func neighboursDiffer(n account.Neighbours, unit string) noren.Text {
	switch record := unit == account.Record; {
	case record && n == account.AddRemove:
		return noren.Textf("neighbours differ in one record, which one of them has and the other has not")
	case record:
		return noren.Textf("neighbours differ in one record, which is another in the one than in the other")
	case n == account.AddRemove:
		return noren.Textf("neighbours differ in all records of one %s, which one of them has and the other has not", unit)
	default:
		return noren.Textf("neighbours differ in the records of one %s, which are others in the one than in the other", unit)
	}
}

// Answer answers from t, which holds at least the columns of [Query.Columns] and,
// where the unit is a column, its labels as t.Unit; the answer is a [*Result]. It fails when a column of t is not what the query was made
// for, when src fails and when ctx ends; an error holds no value of t.
func (q *Query) Answer(ctx context.Context, t *table.Table, src *noise.Source) (any, error) {
	r, err := q.answer(ctx, t, src)
	if err != nil {
		return nil, err
	}
	return r, nil
}

func (q *Query) answer(ctx context.Context, t *table.Table, src *noise.Source) (*Result, error) {
	if t.Rows > maxRecords {
		return nil, &noren.Error{Kind: noren.BadData, What: "the table has more than 2^31 records"}
	}
	records, err := q.records(ctx, t)
	if err != nil {
		return nil, err
	}
	groups, err := q.kernel.answer(ctx, t, records, src)
	if err != nil {
		return nil, err
	}
	return q.result(groups), nil
}

// records returns a scan of the records that count, with their groups.
func (q *Query) records(ctx context.Context, t *table.Table) (*scan, error) {
	columns := make([]*table.Column, len(q.fields))
	for i := range q.fields {
		c, err := bind(t, &q.fields[i])
		if err != nil {
			return nil, err
		}
		columns[i] = c
	}
	s := &scan{rows: t.Rows}
	if q.o.Unit != account.Record {
		unit, err := bindUnit(t, q.o.Unit)
		if err != nil {
			return nil, err
		}
		if s.keep, err = q.boundRows(ctx, t, columns, unit); err != nil {
			return nil, err
		}
	}
	if q.predicate != nil {
		var err error
		if s.where, err = q.predicate.compile(t); err != nil {
			return nil, err
		}
	}
	var err error
	s.group, err = q.groups.compile(t)
	return s, err
}
