package evaluate

import (
	"cmp"
	"context"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/noren-privacy/noren"
	"github.com/noren-privacy/noren/ldp"
	"github.com/noren-privacy/noren/learn"
	"github.com/noren-privacy/noren/noise"
)

// Run evaluates. Its figures differ a little from run to run: the noise is drawn
// afresh.
//
// Errors: Usage for options that contradict themselves or the table, BadData
// for a table from which nothing can be learned.
func Run(ctx context.Context, o Options) (*Result, error) {
	o, err := o.withDefaults()
	if err != nil {
		return nil, err
	}
	r := &Result{
		Schema: Schema, Label: o.Label.Field.Name, Folds: o.Folds, Repeats: o.Repeats, Seed: o.Seed,
		PerRecord: o.PerRecord, LabelRandomised: o.RandomiseLabel, Left: []LeftOut{},
	}
	e := &evaluation{o: &o, r: r, rates: make(map[place][2][]float64)}
	if err := e.prepare(); err != nil {
		return nil, err
	}
	if err := e.plan(); err != nil {
		return nil, err
	}
	for repeat := range o.Repeats {
		if err := e.repeat(ctx, repeat); err != nil {
			return nil, err
		}
	}
	for _, p := range e.order {
		c := Cell{Model: p.model, Train: p.train, Test: p.test}
		if p.variant >= 0 {
			v := &e.variants[p.variant]
			c.Mechanism, c.Epsilon, c.Loss = v.mechanism, v.epsilon, &v.loss
		}
		figures := e.rates[p]
		c.Accuracy, c.Balanced = newSpread(figures[0]), newSpread(figures[1])
		r.Cells = append(r.Cells, c)
	}
	if r.Selected > 0 {
		for j := range r.Attributes {
			share := float64(e.kept[j]) / float64(o.Folds*o.Repeats)
			r.Attributes[j].Chosen = &share
		}
	}
	r.state(&o)
	return r, nil
}

// evaluation is a run under way.
type evaluation struct {
	o        *Options
	r        *Result
	coded    []*coded
	y        []int // classes, one each record
	persons  []int // the number of the person of each record; nil where each is a person's
	raw, gen *learn.Matrix
	variants []variant
	models   []model
	order    []place
	rates    map[place][2][]float64 // accuracy and balanced accuracy, one each repeat
	done     atomic.Int64
	told     sync.Mutex
	kept     []int // in how many folds of raw records each attribute was chosen; guarded by told
}

type model struct {
	name    string
	learner learn.Learner
}

// variant is a mechanism at an epsilon for one attribute.
type variant struct {
	mechanism string
	epsilon   float64
	oracles   []ldp.Oracle // one each attribute
	class     ldp.Oracle   // of the class, nil where it is sent as it is
	loss      ldp.Loss
}

// place is where a figure belongs.
type place struct {
	model, train, test string
	variant            int // -1 without
}

// prepare chooses records and attributes and codes them.
func (e *evaluation) prepare() error {
	o, r := e.o, e.r
	var rows []int
	for i := range o.Label.Len() {
		if !o.Label.IsMissing(i) {
			rows = append(rows, i)
		}
	}
	r.WithClass, r.NoClass = len(rows), o.Label.Len()-len(rows)
	if o.Sample > 0 && len(rows) > o.Sample {
		picked, err := learn.Sample(len(rows), o.Sample, o.Seed)
		if err != nil {
			return err
		}
		for i, p := range picked {
			picked[i] = rows[p]
		}
		rows, r.Sampled = picked, true
	}
	r.Records = len(rows)
	if err := e.classes(rows); err != nil {
		return err
	}
	if err := e.units(rows); err != nil {
		return err
	}
	for _, a := range o.Attributes {
		c, reason, err := encode(a, rows, o)
		if err != nil {
			return err
		}
		if c == nil {
			r.Left = append(r.Left, LeftOut{Name: a.Column.Field.Name, Reason: reason})
			continue
		}
		e.coded = append(e.coded, c)
	}
	if len(e.coded) == 0 {
		return &noren.Error{
			Kind: noren.BadData, What: "no column is left that anything could be learned from",
			Hint: "name columns with a few different values",
		}
	}
	if err := e.size(); err != nil {
		return err
	}
	if err := e.matrices(); err != nil {
		return err
	}
	if o.Select > 0 && o.Select < len(e.coded) {
		r.Selected = o.Select
	}
	for _, c := range e.coded {
		r.Attributes = append(r.Attributes, c.info)
	}
	e.kept = make([]int, len(e.coded))
	return nil
}

// size refuses what would not fit in memory.
func (e *evaluation) size() error {
	width := 0
	for _, c := range e.coded {
		width += c.features()
	}
	if cells := int64(width) * int64(e.r.Records); cells > 1<<27 {
		return &noren.Error{
			Kind: noren.Usage, What: "%d {record|records} with %d {feature|features} {1|is|are} too many to hold", Args: []any{e.r.Records, width},
			Hint: "take fewer records or columns, or leave out categories of many values",
		}
	}
	return nil
}

func (e *evaluation) matrices() (err error) {
	if e.raw, err = matrix(e.coded, e.r.Records, func(c *coded, x *learn.Matrix, at int) error { c.fillRaw(x, at); return nil }); err != nil {
		return err
	}
	e.gen, err = matrix(e.coded, e.r.Records, func(c *coded, x *learn.Matrix, at int) error { c.fill(x, at, c.label); return nil })
	return err
}

// classes numbers the values of the label that occur.
func (e *evaluation) classes(rows []int) error {
	label := e.o.Label
	counts := make(map[uint32]int)
	for _, i := range rows {
		counts[label.Codes[i]]++
	}
	if len(counts) < 2 {
		return &noren.Error{
			Kind: noren.BadData, Where: noren.Textf("column %s", e.r.Label),
			What: "fewer than two classes occur: there is nothing to tell apart",
		}
	}
	if len(counts) > maxClasses {
		return &noren.Error{
			Kind: noren.Usage, Where: noren.Textf("column %s", e.r.Label), What: "more than %d different values are too many for classes",
			Args: []any{maxClasses},
			Hint: "name a column of few values, or put values together beforehand",
		}
	}
	if len(rows) < e.o.Folds {
		return &noren.Error{
			Kind: noren.Usage, What: "%d {fold needs|folds need} as many records", Args: []any{e.o.Folds},
			Hint: "take fewer folds",
		}
	}
	number := make(map[uint32]int)
	largest := 0
	for code, word := range label.Dict {
		if n := counts[uint32(code)]; n > 0 {
			number[uint32(code)] = len(e.r.Classes)
			e.r.Classes = append(e.r.Classes, Class{Name: word, Records: n})
			largest = max(largest, n)
		}
	}
	e.r.Majority = float64(largest) / float64(len(rows))
	for _, i := range rows {
		e.y = append(e.y, number[label.Codes[i]])
	}
	return nil
}

// units numbers the persons of the records.
func (e *evaluation) units(rows []int) error {
	unit := e.o.Unit
	if unit == nil {
		return nil
	}
	number, records := map[uint32]int{}, []int{}
	for _, i := range rows {
		at, known := number[unit.Codes[i]]
		if !known || unit.IsMissing(i) {
			at = len(records)
			records = append(records, 0)
			if !unit.IsMissing(i) {
				number[unit.Codes[i]] = at
			}
		}
		records[at]++
		e.persons = append(e.persons, at)
	}
	e.r.Unit, e.r.Persons, e.r.MostOfPerson = unit.Field.Name, len(records), slices.Max(records)
	if len(records) < e.o.Folds {
		return &noren.Error{
			Kind: noren.Usage, What: "%d {fold needs|folds need} as many persons", Args: []any{e.o.Folds},
			Hint: "take fewer folds",
		}
	}
	return nil
}

// folds are the parts of one cross-validation.
func (e *evaluation) folds(seed uint64) ([]learn.Fold, error) {
	if e.persons != nil {
		return learn.GroupedKFold(e.y, e.persons, e.o.Folds, seed)
	}
	return learn.StratifiedKFold(e.y, e.o.Folds, seed)
}

// choose returns the columns of the attributes whose features go most strongly with the
// class in the records that a model is trained on, and counts them where count is set; nil
// where all are kept.
func (e *evaluation) choose(x *learn.Matrix, y []int, count bool) ([]int, error) {
	if e.r.Selected == 0 {
		return nil, nil
	}
	strength, err := learn.CovarianceWithClass(x, y)
	if err != nil {
		return nil, err
	}
	type ranked struct {
		at, from int
		by       float64
	}
	list := make([]ranked, len(e.coded))
	from := 0
	for j, c := range e.coded {
		list[j] = ranked{j, from, slices.Max(strength[from : from+c.features()])}
		from += c.features()
	}
	slices.SortStableFunc(list, func(a, b ranked) int { return cmp.Compare(b.by, a.by) })
	var columns []int
	for _, r := range list[:e.r.Selected] {
		for j := range e.coded[r.at].features() {
			columns = append(columns, r.from+j)
		}
		if count {
			e.told.Lock()
			e.kept[r.at]++
			e.told.Unlock()
		}
	}
	slices.Sort(columns)
	return columns, nil
}

// plan makes the mechanisms and lists the figures in their order.
func (e *evaluation) plan() error {
	o := e.o
	share := 1
	if o.PerRecord {
		share = len(e.coded)
		if o.RandomiseLabel {
			share++
		}
	}
	for _, m := range o.Mechanisms {
		for _, epsilon := range o.Epsilons {
			v, err := e.variant(m, epsilon/float64(share))
			if err != nil {
				return err
			}
			e.variants = append(e.variants, v)
		}
	}
	for _, name := range o.Models {
		m := model{name: name, learner: o.SVM}
		if name == "forest" {
			m.learner = o.Forest
		}
		e.models = append(e.models, m)
		e.r.Models = append(e.r.Models, Model{Name: name, Title: m.learner.String()})
		for _, p := range [][2]string{{Raw, Raw}, {Raw, Generalised}, {Generalised, Raw}, {Generalised, Generalised}} {
			e.order = append(e.order, place{name, p[0], p[1], -1})
		}
		for v := range e.variants {
			for _, p := range [][2]string{{Raw, Randomised}, {Randomised, Raw}, {Randomised, Generalised}, {Randomised, Randomised}} {
				e.order = append(e.order, place{name, p[0], p[1], v})
			}
		}
	}
	return nil
}

// variant makes the oracles of all attributes and adds up their losses.
func (e *evaluation) variant(mechanism string, epsilon float64) (variant, error) {
	v := variant{mechanism: mechanism, epsilon: epsilon}
	add := func(name string, k int) (ldp.Oracle, error) {
		oracle, err := ldp.NewOracle(name, k, epsilon)
		if err != nil {
			return nil, err
		}
		l := oracle.Loss()
		v.loss.Report = max(v.loss.Report, l.Report)
		v.loss.Record += l.Record
		v.loss.Lifetime += l.Lifetime
		return oracle, nil
	}
	for _, c := range e.coded {
		oracle, err := add(mechanism, len(c.point))
		if err != nil {
			return v, err
		}
		v.oracles = append(v.oracles, oracle)
	}
	if e.o.RandomiseLabel {
		var err error
		if v.class, err = add("grr", len(e.r.Classes)); err != nil {
			return v, err
		}
	}
	return v, nil
}

// randomised draws what comes back from the reports of all records: features,
// and classes to train by.
func (e *evaluation) randomised(ctx context.Context, src *noise.Source, v *variant) (*learn.Matrix, []int, error) {
	at := -1
	x, err := matrix(e.coded, e.r.Records, func(c *coded, x *learn.Matrix, column int) error {
		at++
		if err := ctx.Err(); err != nil {
			return err
		}
		labels, err := through(src, v.oracles[at], c.label)
		if err == nil {
			c.fill(x, column, labels)
		}
		return err
	})
	if err != nil || v.class == nil {
		return x, e.y, err
	}
	y, err := through(src, v.class, e.y)
	return x, y, err
}

// through sends every label as a report and decodes it: an answer as it is, bits
// to a random one of those set, as the paper does.
func through(src *noise.Source, o ldp.Oracle, labels []int) ([]int, error) {
	decoded := make([]int, len(labels))
	bits, many := o.(*ldp.Unary)
	for i, l := range labels {
		r, err := o.Randomise(src, l)
		if err != nil {
			return nil, err
		}
		decoded[i] = int(r.Value)
		if many {
			if decoded[i], err = bits.RandomSetBit(src, r); err != nil {
				return nil, err
			}
		}
	}
	return decoded, nil
}
