package cli

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/noren-privacy/noren"
	"github.com/noren-privacy/noren/account"
	"github.com/noren-privacy/noren/dataset"
	"github.com/noren-privacy/noren/query"
	"github.com/noren-privacy/noren/release"
	"github.com/noren-privacy/noren/spec"
	"github.com/noren-privacy/noren/table"
)

const querySchema = query.Format

type queryFlags struct {
	columnFlags
	dpFlags
	kind      query.Kind
	column    string
	where     string
	by        []string
	keys      []string
	keysFile  string
	bounds    string
	bins      string
	values    []string
	rank      string
	mechanism string
	maxRows   int64
	gridBits  int
	level     float64
	accuracy  bool
	records   int64
}

func newQuery(t *terminal) *cobra.Command {
	c := &cobra.Command{
		Use:   "query",
		Short: "Query a private data set with differential privacy",
		Long: `Answers counts, sums, means, variances, histograms and quantiles of a data set, with
noise for differential privacy. The privacy cost is charged to the data set's budget
before the file is read (noren ledger).

DATASET is the name that the steward granted, or the path of its file. Types, missing
texts, unit and relation of neighbours are those of the data set's schema
(noren ledger show NAME --schema). Bounds, bins, keys and conditions are public: choose
them from what is known of the subject, never from the table.`,
		Example: `  noren query count visits --where "age >= 65" --max-rows 5 --epsilon 0.1
  noren query mean visits.csv --column age --bounds 0,110 --by sex --keys female,male --max-rows 5 --epsilon 0.1
  noren query histogram visits --column department --values cardiology,surgery --max-rows 5 --epsilon 0.1
  noren query quantile visits --column age --bounds 0,110 --max-rows 5 --epsilon 0.1 --dry-run`,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error { return c.Help() },
	}
	for _, k := range []struct {
		kind    query.Kind
		short   string
		example string
	}{
		{query.Count, "Count records, or those that meet a condition", `--where "age >= 65 and sex = 'female'"`},
		{query.Sum, "Sum a column", `--column cost_yen --bounds 0,1000000`},
		{query.Mean, "Compute the mean of a column", `--column age --bounds 0,110`},
		{query.Variance, "Compute the variance of a column", `--column age --bounds 0,110`},
		{query.Histogram, "Count records by bins of a column", `--column age --bins 0,20,40,60,80,120`},
		{query.Quantile, "Compute the median, or another quantile, of a column", `--column age --bounds 0,110 --rank 0.9`},
	} {
		c.AddCommand(newQueryKind(t, k.kind, k.short, k.example))
	}
	return c
}

func newQueryKind(t *terminal, kind query.Kind, short, example string) *cobra.Command {
	f := queryFlags{kind: kind}
	c := &cobra.Command{
		Use:   fmt.Sprintf("%s DATASET --epsilon E", kind),
		Short: short,
		Long: short + `, with differential privacy.

DATASET is a name in the ledger, or the path of its file. Values outside of the bounds
count as the nearer bound; records without a value are left out of sums. A cell that
does not fit the type of its column counts as missing. Where the unit of the data set
is a column, --max-rows says how many records of one person count.`,
		Example: fmt.Sprintf(`  noren query %[1]s visits %[2]s --max-rows 5 --epsilon 0.1
  noren query %[1]s visits %[2]s --by sex --keys female,male --max-rows 5 --epsilon 0.1 --json
  noren query %[1]s visits %[2]s --max-rows 5 --epsilon 0.1 --dry-run`, kind, example),
		Args: exactly("DATASET"),
		RunE: func(c *cobra.Command, args []string) error { return f.answer(c, t, args[0]) },
	}
	f.dpFlags.register(c, &f.columnFlags, querySchema)
	s := c.Flags()
	s.StringVar(&f.where, "where", "", `only records that meet this condition, as in "age >= 65 and not (sex = 'male' or ward in ('A', 'B'))"`)
	s.StringSliceVar(&f.by, "by", nil, "answer for each group by these `columns`, whose values are in --keys")
	s.StringArrayVar(&f.keys, "keys", nil, "the public `VALUES` of the column of --by, comma-separated; once for each column, all combinations are answered (default: the keys of the schema)")
	s.StringVar(&f.keysFile, "keys-file", "", "the public groups, as a CSV `FILE` whose header names the columns of --by")
	if kind != query.Count {
		s.StringVar(&f.column, "column", "", "the `COLUMN` that is asked about")
	}
	if kind == query.Sum || kind == query.Mean || kind == query.Variance || kind == query.Quantile {
		s.StringVar(&f.bounds, "bounds", "", "`LO,HI`: smallest and largest value that counts; public (default: the bounds of the schema)")
		s.IntVar(&f.gridBits, "grid-bits", 0, "round values to multiples of 2^-`J` (default: from the bounds)")
	}
	if kind == query.Histogram {
		s.StringVar(&f.bins, "bins", "", "`EDGES` of the bins of a number column, rising, comma-separated: bin i is [edge i, edge i+1)")
		s.StringSliceVar(&f.values, "values", nil, "the bins of a category column: public `VALUES`, comma-separated (without --by, --keys is the same)")
	}
	if kind == query.Quantile {
		s.StringVar(&f.rank, "rank", "", "which quantile, between 0 and 1 (default 0.5, the median)")
	}
	mechanisms := "laplace or gaussian (default laplace; gaussian needs --delta)"
	if kind == query.Quantile {
		mechanisms = "exponential, or smooth for the median (default exponential; --accuracy compares them)"
	}
	s.StringVar(&f.mechanism, "mechanism", "", mechanisms)
	s.Int64Var(&f.maxRows, "max-rows", 0, "largest number of records of one person that count, where the unit is a column")
	s.Float64Var(&f.level, "level", 0.95, "confidence of the intervals")
	s.BoolVar(&f.accuracy, "accuracy", false, "print the expected error only, from public facts; no file is read and no ledger is needed")
	s.Int64Var(&f.records, "records", 1000, "with --accuracy and --dry-run: about how many records a group has")
	return c
}

func (f *queryFlags) answer(c *cobra.Command, t *terminal, name string) error {
	ctx := c.Context()
	cost, err := parseCost(f.epsilon, f.delta)
	if err != nil {
		return err
	}
	if f.accuracy {
		return f.tellAccuracy(ctx, c, t, name, cost)
	}
	a, err := f.open(ctx, c, name)
	if err != nil {
		return err
	}
	defer a.close()
	if err := a.public(ctx, f.keysFile); err != nil {
		return err
	}
	q, err := f.build(c, a, cost)
	if err != nil {
		return err
	}
	request := f.request(a, q)
	if f.dryRun {
		return f.quote(ctx, t, name, &request, q)
	}
	result, answer, err := ask[query.Result](ctx, t, &f.dpFlags, request)
	if err != nil {
		return err
	}
	if f.json {
		return printJSON(t.stdout, queryJSON{Schema: querySchema, Result: result, dpJSON: answerJSON(answer)})
	}
	return printQuery(t.stdout, name, q, result, answer)
}

// build makes the query for the data set's definition.
func (f *queryFlags) build(c *cobra.Command, a *openData, cost account.Cost) (*query.Query, error) {
	o, err := f.options(c, a.Definition, cost)
	if err != nil {
		return nil, err
	}
	if o.Unit != account.Record {
		if o.Key, err = a.rowsKey(); err != nil {
			return nil, err
		}
	}
	return query.New(*o)
}

// options are the query's, with defaults of the definition.
func (f *queryFlags) options(c *cobra.Command, d *dataset.Definition, cost account.Cost) (*query.Options, error) {
	o := &query.Options{
		Kind: f.kind, Fields: queryFields(d), Column: f.column, Where: f.where, By: f.by, Values: f.values, Rank: f.rank,
		Method: query.Method(f.mechanism), Cost: cost, Neighbours: d.Relation(), Unit: d.Unit, MaxRows: f.maxRows, Level: f.level,
	}
	var err error
	if o.Keys, err = f.groups(d); err != nil {
		return nil, err
	}
	if err := f.ranges(d, o); err != nil {
		return nil, err
	}
	if c.Flags().Changed("grid-bits") {
		o.GridBits = &f.gridBits
	}
	return o, nil
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

// quote prints a dry run.
func (f *queryFlags) quote(ctx context.Context, t *terminal, name string, r *release.Request, q *query.Query) error {
	quote, err := release.Price(ctx, r)
	if err != nil {
		return err
	}
	accuracy, err := q.Accuracy(f.level, f.records)
	if err != nil {
		return err
	}
	return tellQuote(t, f.json, querySchema, quote, accuracy, func(w io.Writer) {
		fmt.Fprintf(w, "%s %s: a dry run, nothing is charged\n\n", f.kind, name)
	}, func(w io.Writer) {
		fmt.Fprintf(w, "  accuracy    %s\n", accuracyWords(&accuracy))
	})
}

// tellAccuracy compares the mechanisms that would serve, from public facts.
func (f *queryFlags) tellAccuracy(ctx context.Context, c *cobra.Command, t *terminal, name string, cost account.Cost) error {
	d, err := f.assumed(ctx, c, name)
	if err != nil {
		return err
	}
	methods := []query.Method{query.Method(f.mechanism)}
	if f.mechanism == "" && f.kind == query.Quantile && (f.rank == "" || f.rank == "0.5") {
		methods = []query.Method{query.Exponential, query.Smooth}
	}
	type row struct {
		Mechanism query.Method   `json:"mechanism"`
		Accuracy  query.Accuracy `json:"accuracy"`
	}
	var rows []row
	for _, m := range methods {
		f.mechanism = string(m)
		o, err := f.options(c, d, cost)
		if err != nil {
			return err
		}
		if o.Unit != account.Record {
			o.Key = make([]byte, 32) // it picks records, and none is read
		}
		q, err := query.New(*o)
		if err != nil {
			return err
		}
		a, err := q.Accuracy(f.level, f.records)
		if err != nil {
			return err
		}
		if parameters, ok := q.Parameters().(query.Parameters); ok {
			m = parameters.Method
		}
		rows = append(rows, row{m, a})
	}
	if f.json {
		return printJSON(t.stdout, map[string]any{"schema": "noren.query.accuracy/1", "query": f.kind, "accuracy": rows})
	}
	for _, r := range rows {
		fmt.Fprintf(t.stdout, "%-12s %s\n", r.Mechanism, accuracyWords(&r.Accuracy))
	}
	return nil
}

func accuracyWords(a *query.Accuracy) string {
	words := fmt.Sprintf("no bound for %d records", a.Records)
	if a.HalfWidth != nil {
		what := "off by"
		if a.Rank {
			what = "its rank is off by"
		}
		words = fmt.Sprintf("%s at most %s, with confidence %g", what, figure(*a.HalfWidth), a.Level)
		if a.Rank {
			words = fmt.Sprintf("%s at most %s records, with confidence %g", what, figure(*a.HalfWidth), a.Level)
		}
		if a.Records > 0 {
			words += fmt.Sprintf(", for %d records", a.Records)
		}
	}
	if a.EvenSpread != nil {
		words += fmt.Sprintf("; off by %s if the values were spread evenly", figure(*a.EvenSpread))
	}
	return words
}

// assumed is the definition of the data set, or, where no ledger has it, one of the
// columns that the flags name.
func (f *queryFlags) assumed(ctx context.Context, c *cobra.Command, name string) (*dataset.Definition, error) {
	if !f.unaccounted {
		a, err := f.open(ctx, c, name)
		if err == nil {
			defer a.close()
			return a.Definition, a.public(ctx, f.keysFile)
		}
		if code := noren.CodeOf(err); code != "no-ledger" && code != "no-dataset" && code != "no-schema" {
			return nil, err
		}
	}
	s, err := f.columnFlags.merged()
	if err != nil {
		return nil, err
	}
	if f.column != "" && (f.kind != query.Histogram || f.bins != "") {
		column := s.Columns[f.column]
		if column.Type == "" && len(column.Order) == 0 && column.Format == "" {
			column.Type = table.Decimal.String()
			s.Columns[f.column] = column
		}
	}
	for _, by := range f.by {
		if _, named := s.Columns[by]; !named {
			s.Columns[by] = spec.Column{Type: table.Category.String()}
		}
	}
	if _, named := s.Columns[f.unit]; f.unit != "" && f.unit != account.Record && !named {
		s.Columns[f.unit] = spec.Column{Type: table.Category.String()}
	}
	o := spec.DatasetOptions{Unit: f.unit}
	if f.neighbours != "" {
		if o.Neighbours, err = account.ParseNeighbours(f.neighbours); err != nil {
			return nil, at("--neighbours", err)
		}
	}
	return s.Assumed(o)
}

// splitList splits at commas and drops blanks around what stands between.
func splitList(s string) []string {
	parts := strings.Split(s, ",")
	for i := range parts {
		parts[i] = strings.TrimSpace(parts[i])
	}
	return slices.Clip(parts)
}
