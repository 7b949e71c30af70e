package service

import (
	"context"
	"slices"
	"strings"

	"github.com/noren-privacy/noren"
	"github.com/noren-privacy/noren/api"
	"github.com/noren-privacy/noren/query"
	"github.com/noren-privacy/noren/ratio"
	"github.com/noren-privacy/noren/report"
	"github.com/noren-privacy/noren/spec"
	"github.com/noren-privacy/noren/table"
)

// excluded is the error that no standard error of a weighted answer contains.
const excluded = "hidden bias: how far private records differ, in what the columns of the weights do not tell, from the public ones " +
	"beside them; and how far the tables differ in what was not released beyond how they differ in what was"

// RatioAnswer answers a question about the private table from a weighted public one. The
// weights were paid for: nothing is charged. A table that a reachable ledger has granted is
// refused (code private).
func (s *Service) RatioAnswer(ctx context.Context, r *api.RatioAnswerRequest) (*api.RatioAnswer, error) {
	if err := checkRatioQuestion(r); err != nil {
		return nil, err
	}
	if err := s.refusePrivate(ctx, r.Weights, r.Meta, r.SpecFile); err != nil {
		return nil, err
	}
	sheet, err := s.publicSheet(r.SpecFile, r.Spec)
	if err != nil {
		return nil, err
	}
	o, err := sheet.StrictForm()
	if err != nil {
		return nil, err
	}
	a := &ratioAnswer{service: s, request: r, sheet: sheet}
	if a.weighted, err = s.openWeighted(ctx, &r.RatioWeights, o); err != nil {
		return nil, err
	}
	defer a.weighted.close()
	if err := a.read(ctx); err != nil {
		return nil, err
	}
	meta := a.weighted.meta
	a.out = &api.RatioAnswer{
		Schema: api.RatioAnswerSchema, Input: r.Weights, Question: r.Question, Where: r.Where, Excludes: excluded,
		Privacy: meta.Statement(), FitCheck: meta.Check, Warnings: []noren.Text{},
	}
	switch r.Question {
	case "regression":
		err = a.regression()
	case "count":
		err = a.count()
	case "histogram":
		err = a.histogram(a.table.Column(r.Column))
	default:
		err = a.number(a.table.Column(r.Column))
	}
	return a.out, err
}

// ratioAnswer is a question in progress.
type ratioAnswer struct {
	service  *Service
	request  *api.RatioAnswerRequest
	sheet    *spec.Spec
	weighted *weighted
	weights  *ratio.Weights // of the records that the condition keeps
	among    []bool         // those records; nil for all
	table    *table.Table   // the columns of the question
	out      *api.RatioAnswer
}

// ratioQuestions are the kinds of questions, with the fields that each may have.
var ratioQuestions = map[string][]string{
	"mean": {"column"}, "count": nil, "quantile": {"column", "rank"}, "histogram": {"column", "bins", "values"},
	"regression": {"target", "equals", "features"},
}

// checkRatioQuestion refuses fields that are not for the question, and misses those that it
// needs.
func checkRatioQuestion(r *api.RatioAnswerRequest) error {
	own, known := ratioQuestions[r.Question]
	if !known {
		return noren.Usagef("question", "expected mean, count, quantile, histogram or regression, got %q", r.Question)
	}
	stated := map[string]bool{
		"column": r.Column != "", "rank": r.Rank != nil, "bins": len(r.Bins) > 0, "values": len(r.Values) > 0,
		"target": r.Target != "", "equals": r.Equals != "", "features": len(r.Features) > 0,
	}
	for _, name := range []string{"column", "rank", "bins", "values", "target", "equals", "features"} {
		if stated[name] && !slices.Contains(own, name) {
			return noren.Usagef(name, "is not for a %s", r.Question)
		}
	}
	if slices.Contains(own, "column") && r.Column == "" {
		return noren.Usagef("column", "expected the column of the question, got none")
	}
	if r.Question == "regression" && (r.Target == "" || len(r.Features) == 0) {
		missing := "target"
		if r.Target != "" {
			missing = "features"
		}
		return noren.Usagef(missing, "a regression needs a target and features").Hinted("for instance income, explained by age,sex")
	}
	return nil
}

// read reads the columns of the question and keeps the records of its condition.
func (a *ratioAnswer) read(ctx context.Context) (err error) {
	if a.sheet.Name() == "" && len(a.sheet.Input.Missing) == 0 {
		a.sheet.Input.Missing = a.weighted.meta.Missing
	}
	if err := a.load(ctx); err != nil {
		return err
	}
	a.weights = a.weighted.weights
	if a.among != nil {
		a.weights, err = a.weights.Among(a.among)
	}
	return err
}

// load reads the columns of the question, and says which records meet its condition.
func (a *ratioAnswer) load(ctx context.Context) error {
	q, v := a.request, a.weighted
	names := slices.Clone(q.Features)
	for _, name := range []string{q.Column, q.Target} {
		if name != "" {
			names = append(names, name)
		}
	}
	for i, name := range names {
		if slices.Contains(names[:i], name) {
			return noren.Usagef("features", "column %q is named twice", name)
		}
	}
	fields, err := a.fields(ctx, names)
	if err != nil {
		return err
	}
	var condition *query.Predicate
	if q.Where != "" {
		all, err := a.conditionFields(ctx)
		if err != nil {
			return err
		}
		if condition, err = query.ParsePredicate(q.Where, all); err != nil {
			return inField("where", err)
		}
		for _, field := range condition.Fields() {
			if !slices.Contains(names, field.Name) {
				names, fields = append(names, field.Name), append(fields, field)
			}
		}
	}
	if len(fields) == 0 {
		return nil
	}
	if a.table, err = table.Read(ctx, v.source, fields,
		table.ReadOptions{Missing: a.sheet.Input.Missing, Progress: a.service.Progress}); err != nil || condition == nil {
		return err
	}
	if a.among, err = condition.Select(a.table); err != nil {
		return inField("where", err)
	}
	return nil
}

// conditionFields are all columns, for the condition: types are inferred of those whose
// names occur in it.
func (a *ratioAnswer) conditionFields(ctx context.Context) ([]table.Field, error) {
	var all []table.Field
	var named []string
	for _, c := range a.weighted.source.Columns() {
		all = append(all, table.Field{Name: c.Name})
		if c.Name != "" && strings.Contains(a.request.Where, c.Name) && !slices.Contains(named, c.Name) {
			named = append(named, c.Name)
		}
	}
	typed, err := a.fields(ctx, named)
	if err != nil {
		return nil, err
	}
	for i := range all {
		if j := slices.Index(named, all[i].Name); j >= 0 {
			all[i] = typed[j]
		}
	}
	return all, nil
}

// fields describe columns: those of the weights as they were at the fit, unless the request
// declares them otherwise, and others as declared or inferred.
func (a *ratioAnswer) fields(ctx context.Context, names []string) ([]table.Field, error) {
	out := make([]table.Field, len(names))
	var others []string
	for j, name := range names {
		_, declared := a.sheet.Columns[name]
		for _, own := range a.weighted.frame.Columns() {
			if own.Name == name && !declared {
				out[j] = own
			}
		}
		if out[j].Name == "" {
			others = append(others, name)
		}
	}
	if len(others) == 0 {
		return out, nil
	}
	fields, err := a.service.publicFields(ctx, a.sheet, a.weighted.source, others)
	if err != nil {
		return nil, err
	}
	for _, field := range fields {
		out[slices.Index(names, field.Name)] = field
	}
	return out, nil
}

// count counts the records that meet the condition, or all.
func (a *ratioAnswer) count() error {
	v := a.weighted
	in := a.among
	if in == nil {
		in = slices.Repeat([]bool{true}, len(v.weights.W))
	}
	share := make([]float64, len(in))
	for i, holds := range in {
		if holds {
			share[i] = 1
		}
	}
	a.out.Of = noren.Textf("count")
	count, err := v.weights.Count(in)
	if err != nil {
		return err
	}
	part, err := v.weights.Mean(share)
	if err != nil {
		return err
	}
	a.single(count, nil)
	one := ratioEstimate(part, true)
	a.out.Share = &one
	return nil
}

// number is a mean or a quantile.
func (a *ratioAnswer) number(c *table.Column) error {
	q := a.request
	if c.Field.Type == table.Category || c.Field.Type == table.Ordered && q.Question == "mean" {
		return noren.Usagef("column", "%s is of categories, which have no %s", q.Column, q.Question).
			Hinted("ask for a count with a condition, or a histogram; or declare its type as decimal")
	}
	if q.Question == "mean" {
		a.out.Of = noren.Textf("mean of %s", q.Column)
		mean, err := a.weights.Mean(ratio.Numbers(c))
		if err == nil {
			a.single(mean, &c.Field)
		}
		return err
	}
	rank := 0.5
	if q.Rank != nil {
		rank = *q.Rank
	}
	a.out.Of = noren.Textf("%g-quantile of %s", rank, q.Column)
	quantile, err := a.weights.Quantile(ratio.Numbers(c), rank)
	if err != nil {
		return inField("rank", err)
	}
	a.single(quantile, &c.Field)
	return nil
}

// single is the answer of one estimate, of a column's values where field is not nil.
func (a *ratioAnswer) single(e *ratio.Answer, field *table.Field) {
	one := ratioEstimate(e, true)
	if field != nil && (field.Type == table.Date || field.Type == table.Ordered) {
		one.Text = report.ValueText(*field)(e.Value)
		if field.Type == table.Date {
			a.out.ErrorUnit = "days"
			if field.Layout.HasTime() {
				a.out.ErrorUnit = "s"
			}
		}
	}
	a.out.Answer = &one
	a.out.Warnings = one.Warnings
}

// histogram counts the records of each bin.
func (a *ratioAnswer) histogram(c *table.Column) error {
	q := a.request
	a.out.Of = noren.Textf("histogram of %s", q.Column)
	categories := ratio.Categorical(c.Field)
	var labels []string
	var bin []int
	switch {
	case len(q.Bins) > 0 && len(q.Values) > 0:
		return noren.Usagef("bins", "expected bins or values, got both")
	case categories && len(q.Bins) > 0:
		return noren.Usagef("bins", "the column is of categories").Hinted("name its values, or declare its type as decimal")
	case !categories && len(q.Bins) == 0:
		return noren.Usagef("bins", "expected the edges of the bins of a column of numbers, got none").Hinted("for instance 0,20,40,60,80")
	case categories:
		labels = q.Values
		if len(labels) == 0 {
			labels = c.Dict
		}
		bin = ratio.CategoryBins(c, labels)
	default:
		var edges []float64
		for _, text := range q.Bins {
			edge, err := query.ParseBound(c.Field, text)
			if err != nil {
				return inField("bins", err)
			}
			if len(edges) > 0 && edge <= edges[len(edges)-1] {
				return noren.Usagef("bins", "the edges must rise")
			}
			edges = append(edges, edge)
		}
		if len(edges) < 2 {
			return noren.Usagef("bins", "expected at least two edges, got %d", len(edges))
		}
		for i := range edges[1:] {
			labels = append(labels, "["+q.Bins[i]+", "+q.Bins[i+1]+")")
		}
		bin = ratio.NumberBins(c, edges)
	}
	several, err := a.weights.Histogram(bin, len(labels))
	if err != nil {
		return err
	}
	for l, e := range several {
		one := ratioEstimate(e, true)
		one.Share = finite(e.Value / a.weighted.meta.Records)
		a.out.Bins = append(a.out.Bins, api.RatioBin{Bin: labels[l], RatioEstimate: one})
	}
	a.out.Warnings = append(a.out.Warnings, commonWarnings(several)...)
	return nil
}

// regression explains the target by the features, by least squares.
func (a *ratioAnswer) regression() error {
	q := a.request
	target := a.table.Column(q.Target)
	of := q.Target
	y := ratio.Numbers(target)
	switch categories := ratio.Categorical(target.Field); {
	case categories && q.Equals == "":
		return noren.Usagef("equals", "column %s is of categories: expected the category that counts as 1, got none", q.Target)
	case !categories && q.Equals != "":
		return noren.Usagef("equals", "expected a target of categories, got one of numbers")
	case q.Equals != "":
		l := slices.Index(target.Dict, q.Equals)
		if l < 0 {
			return noren.Usagef("equals", "the public table has no such category in the target")
		}
		of += " = " + q.Equals
		y = ratio.Indicator(target, l)
	}
	a.out.Of = noren.Textf("regression of %s on %s", of, strings.Join(q.Features, ", "))
	var features []*table.Column
	for _, name := range q.Features {
		features = append(features, a.table.Column(name))
	}
	x, terms, err := ratio.Design(features)
	if err != nil {
		return inField("features", err)
	}
	r, err := a.weights.Regression(x, y)
	if err != nil {
		return err
	}
	for l, e := range r.Coefficients {
		name := "(intercept)"
		if l > 0 {
			name = terms[l-1]
		}
		a.out.Coefficients = append(a.out.Coefficients, api.RatioTerm{Term: name, RatioEstimate: ratioEstimate(e, false)})
	}
	a.out.R2 = &r.R2
	a.out.Warnings = append(append(a.out.Warnings, r.Warnings...), commonWarnings(r.Coefficients)...)
	return nil
}

// ratioEstimate is an answer of package ratio; carried says that its share of explained
// variation is defined.
func ratioEstimate(e *ratio.Answer, carried bool) api.RatioEstimate {
	p := e.Parts
	out := api.RatioEstimate{
		Value: finite(e.Value), SE: finite(e.SE), Warnings: append([]noren.Text{}, e.Warnings...),
		Parts: api.RatioParts{Public: finite(p.Public), Privacy: finite(p.Privacy), Private: finite(p.Private), Model: finite(p.Model)},
	}
	if carried {
		out.Carried = finite(e.Carried)
	}
	return out
}

// commonWarnings are the warnings that all of the estimates have.
func commonWarnings(all []*ratio.Answer) (common []noren.Text) {
	if len(all) == 0 {
		return nil
	}
	for _, text := range all[0].Warnings {
		if !slices.ContainsFunc(all, func(e *ratio.Answer) bool { return !slices.ContainsFunc(e.Warnings, text.Equal) }) {
			common = append(common, text)
		}
	}
	return common
}
