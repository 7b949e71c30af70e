package service

import (
	"context"
	"errors"
	"io"
	"slices"
	"strings"

	"github.com/noren-privacy/noren"
	"github.com/noren-privacy/noren/account"
	"github.com/noren-privacy/noren/api"
	"github.com/noren-privacy/noren/dataset"
	"github.com/noren-privacy/noren/kinds"
	"github.com/noren-privacy/noren/query"
	"github.com/noren-privacy/noren/spec"
	"github.com/noren-privacy/noren/table"
)

// Query answers a count, sum, mean, variance, histogram or quantile with differential
// privacy. The cost is charged before the data is read.
func (s *Service) Query(ctx context.Context, r *api.QueryRequest) (*api.Query, error) {
	q, err := s.query(r)
	if err != nil {
		return nil, err
	}
	result, receipt, asked, err := pay[query.Result](ctx, s, q)
	if err != nil {
		return nil, err
	}
	out := &api.Query{Schema: q.schema, Result: result, Receipt: receipt, Care: queryCares(asked, result)}
	if p, ok := asked.Parameters().(query.Parameters); ok {
		out.Where, out.Rank = p.Where, p.Rank
	}
	for _, f := range asked.Columns() {
		if f.Name == result.Column {
			out.Field = f
		}
	}
	return out, nil
}

// QueryPrice says what a query would cost and how accurate it is expected to be, from
// public facts. Nothing is charged and no private file of a ledger is opened.
func (s *Service) QueryPrice(ctx context.Context, r *api.QueryRequest) (*api.Quote[query.Accuracy], error) {
	q, err := s.query(r)
	if err != nil {
		return nil, err
	}
	var part pricedQuestion
	var columns []api.ColumnUse
	var unlisted []api.Message
	build := q.build
	q.build = func(ctx context.Context, a *openSet) (*query.Query, error) {
		m, err := build(ctx, a)
		if err == nil {
			f := &queryForm{kind: r.Kind, query: m}
			if f.options, err = a.queryOptions(r, account.Cost{}); err != nil {
				return nil, err
			}
			part = pricedQuestion{
				form: f, level: level(r), about: r.Records, size: sizeOf(a.Definition, 0),
			}
			part.question, _ = kinds.Query{Kind: r.Kind, Where: r.Where, Rank: r.Rank, MaxRows: r.MaxRows}.Question()
			if r.Records > 0 {
				part.question.Margin = &api.Margin{About: r.Records}
			}
			part.all, columns, unlisted = publicGroups(a.Definition, m), part.uses(a), part.unlisted(a)
		}
		return m, err
	}
	p, m, err := price(ctx, s, q)
	if err != nil {
		return nil, err
	}
	if part.about == 0 {
		part.about, _ = part.guess()
	}
	accuracy, err := m.Accuracy(part.level, part.about)
	if err != nil {
		return nil, err
	}
	out := &api.Quote[query.Accuracy]{Price: p, Accuracy: &accuracy, Cells: m.Cells(), Columns: columns}
	out.Reach, out.Warnings = part.reach(&api.Promise{Within: accuracy.HalfWidth, Rank: accuracy.Rank})
	out.Warnings = append(unlisted, out.Warnings...)
	return out, nil
}

// QueryAccuracy compares the mechanisms that can answer a query, from public facts
// alone. It needs no ledger; without one the columns that the request names are assumed.
func (s *Service) QueryAccuracy(ctx context.Context, r *api.QueryRequest) (*api.QueryAccuracy, error) {
	cost, err := account.ParseCost(r.Epsilon, r.Delta)
	if err != nil {
		return nil, err
	}
	d, err := s.assumed(ctx, r)
	if err != nil {
		return nil, err
	}
	choices := []query.Noise{r.Noise}
	if r.Noise == "" && r.Kind == query.Quantile && (r.Rank == "" || r.Rank == "0.5") {
		choices = []query.Noise{query.Exponential, query.Smooth}
	}
	out := &api.QueryAccuracy{Schema: api.QueryAccuracySchema, Query: r.Kind}
	for _, choice := range choices {
		o, err := queryOptions(r, d, cost)
		if err != nil {
			return nil, err
		}
		o.Noise = choice
		if o.Unit != account.Record {
			o.Key = make([]byte, 32) // it picks records, and none is read
		}
		q, err := query.New(ctx, *o)
		if err != nil {
			return nil, err
		}
		about := r.Records
		if about == 0 {
			about, _ = sizeOf(d, 0).ofGroup(publicGroups(d, q), r.Where)
		}
		a, err := q.Accuracy(level(r), about)
		if err != nil {
			return nil, err
		}
		if p, ok := q.Parameters().(query.Parameters); ok {
			choice = p.Noise
		}
		out.Accuracy = append(out.Accuracy, api.NoiseAccuracy{Mechanism: choice, Accuracy: a})
	}
	return out, nil
}

func level(r *api.QueryRequest) float64 {
	if r.Level == 0 {
		return 0.95
	}
	return r.Level
}

// query is the question of a request.
func (s *Service) query(r *api.QueryRequest) (requested[*query.Query], error) {
	q := requested[*query.Query]{ask: &r.Ask, schema: api.QuerySchema, public: []string{r.KeysFile}}
	cost, fault := account.ParseCost(r.Epsilon, r.Delta)
	if fault != nil && (r.Unaccounted || r.Epsilon != "") {
		return q, fault
	}
	if fault != nil { // said together with all that is missing
		cost = account.Cost{Epsilon: account.EpsilonUnits}
	}
	q.build = func(ctx context.Context, a *openSet) (*query.Query, error) {
		o, err := a.queryOptions(r, cost)
		if o == nil {
			return nil, err
		}
		out, more := query.New(ctx, *o)
		if err = together(fault, err, more); err != nil {
			return nil, err
		}
		return out, nil
	}
	return q, nil
}

// together are all faults of a request. A field that one argument is about is not repeated by a
// later one.
func together(all ...error) error {
	var out []error
	seen := map[string]bool{}
	for _, err := range all {
		list, fields := []error{err}, []string(nil)
		if joined, ok := err.(interface{ Unwrap() []error }); ok {
			list = joined.Unwrap()
		}
		for _, one := range list {
			var e *noren.Error
			if one == nil {
				continue
			}
			if errors.As(one, &e) {
				field, _, _ := strings.Cut(e.Place(), ": ")
				if field == "groups" {
					field = "keys"
				}
				if field != "" && seen[field] {
					continue
				}
				fields = append(fields, field)
			}
			out = append(out, one)
		}
		for _, field := range fields {
			seen[field] = true
		}
	}
	if len(out) == 1 {
		return out[0]
	}
	return errors.Join(out...)
}

// queryOptions are the options of a query to the open data set. With an error about what the
// request holds they are there too, so that the other faults can be found.
func (a *openSet) queryOptions(r *api.QueryRequest, cost account.Cost) (*query.Options, error) {
	o, err := queryOptions(r, a.Definition, cost)
	if o != nil && o.Unit != account.Record {
		key, fault := a.rowsKey()
		if fault != nil {
			return nil, fault
		}
		o.Key = key
	}
	return o, err
}

// queryOptions are those of the request, with defaults of the definition.
func queryOptions(r *api.QueryRequest, d *dataset.Definition, cost account.Cost) (*query.Options, error) {
	o := &query.Options{
		Kind: r.Kind, Fields: queryFields(d), Column: r.Column, Where: r.Where, By: r.By, Rank: r.Rank,
		Noise: r.Noise, Cost: cost, Neighbours: d.Relation(), Unit: d.Unit, MaxRows: r.MaxRows, Level: level(r), GridBits: r.GridBits,
	}
	texts := query.Texts{Bounds: r.Bounds, Bins: r.Bins, Values: r.Values, Keys: r.Keys}
	if r.KeysFile != "" && len(r.By) > 0 && len(r.Keys) == 0 {
		var err error
		if texts.Groups, err = readKeys(r.KeysFile, r.By); err != nil {
			return nil, err
		}
	} else if r.KeysFile != "" {
		texts.Groups = [][]string{}
	}
	err := o.Read(texts, func(name string) query.Described {
		c := d.Column(name)
		if c == nil {
			return query.Described{}
		}
		values := c.Keys
		if len(values) == 0 {
			values = c.Levels
		}
		return query.Described{Bounds: c.Bounds, Values: values}
	})
	return o, err
}

// queryFields are the columns of a definition. A query that names none reads the
// first: under a model of dependent records that is the model's column, the only one
// that may be read.
func queryFields(d *dataset.Definition) []table.Field {
	fields := d.Fields()
	if d.Model == nil {
		return fields
	}
	slices.SortStableFunc(fields, func(a, b table.Field) int {
		switch d.Model.Column {
		case a.Name:
			return -1
		case b.Name:
			return 1
		}
		return 0
	})
	return fields
}

// readKeys reads the groups of a CSV file whose header names the columns.
func readKeys(path string, by []string) ([][]string, error) {
	text, _, err := spec.ReadSide(path, "the keys", "does the file exist?")
	if err != nil {
		return nil, err
	}
	r, _, err := spec.SideRows(path, text)
	if err != nil {
		return nil, err
	}
	r.ReuseRecord = true
	unreadable := func() ([][]string, error) {
		return nil, &noren.Error{
			Kind: noren.BadData, Where: noren.File(path), What: "the keys cannot be read",
			Hint: "a CSV file whose header names the columns of the groups, and a line for each group",
		}
	}
	header, err := r.Read()
	if err != nil {
		return unreadable()
	}
	at, lacking := make([]int, len(by)), ""
	for j, name := range by {
		at[j] = slices.Index(header, name)
		if at[j] < 0 && lacking == "" {
			lacking = name
		}
	}
	var groups [][]string
	for {
		row, err := r.Read()
		if errors.Is(err, io.EOF) && len(groups) > 0 {
			break
		}
		if err != nil {
			return unreadable()
		}
		if lacking != "" {
			return nil, &noren.Error{Kind: noren.BadData, Where: noren.File(path), What: "its header has no column %q", Args: []any{lacking}}
		}
		group := make([]string, len(at))
		for i, j := range at {
			group[i] = strings.Clone(row[j])
		}
		groups = append(groups, group)
	}
	return groups, nil
}

// assumed is the definition of the data set, or, where no ledger has it, one of the
// columns that the request names.
func (s *Service) assumed(ctx context.Context, r *api.QueryRequest) (*dataset.Definition, error) {
	if !r.Unaccounted {
		a, err := s.open(ctx, &r.Ask)
		if err == nil {
			defer a.close()
			return a.Definition, s.public(ctx, a, r.KeysFile)
		}
		if code := noren.CodeOf(err); code != "no-ledger" && code != "no-dataset" && code != "no-schema" {
			return nil, err
		}
	}
	sheet, err := merged(&r.Ask)
	if err != nil {
		return nil, err
	}
	assume := func(name string, as table.Type) {
		c := sheet.Columns[name]
		if name != "" && c.Type == "" && len(c.Order) == 0 && c.Format == "" {
			c.Type = as.String()
			sheet.Columns[name] = c
		}
	}
	if r.Kind != query.Histogram || len(r.Bins) > 0 {
		assume(r.Column, table.Decimal)
	}
	for _, by := range r.By {
		if _, named := sheet.Columns[by]; !named {
			assume(by, table.Category)
		}
	}
	if _, named := sheet.Columns[r.Unit]; r.Unit != account.Record && !named {
		assume(r.Unit, table.Category)
	}
	o, err := datasetOptions(&r.Ask)
	if err != nil {
		return nil, err
	}
	return sheet.Assumed(o)
}
