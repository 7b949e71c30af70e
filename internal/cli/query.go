package cli

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"noren"
	"noren/account"
	"noren/internal/spec"
	"noren/query"
	"noren/release"
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
		Short: "Ask a private table everyday questions, with differential privacy",
		Long: `Answers a question about a private table with just enough noise that the answer
tells next to nothing about any one person in it, and charges the price to the
file's budget before the table is read (noren ledger).

Bounds, bins, keys and conditions are public: choose them from what is known of the
world, never by looking at the table.`,
		Example: `  noren query count visits.csv --where "age >= 65" --epsilon 0.1
  noren query mean visits.csv --column age --bounds 0,110 --by sex --keys female,male --epsilon 0.1
  noren query histogram visits.csv --column department --values cardiology,surgery --epsilon 0.2
  noren query quantile visits.csv --column age --bounds 0,110 --epsilon 0.1 --dry-run`,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error { return c.Help() },
	}
	for _, k := range []struct {
		kind    query.Kind
		short   string
		example string
	}{
		{query.Count, "How many records there are, or that meet a condition", `--where "age >= 65 and sex = 'female'"`},
		{query.Sum, "The sum of a column", `--column cost --bounds 0,1000000`},
		{query.Mean, "The mean of a column", `--column age --bounds 0,110`},
		{query.Variance, "The variance of a column", `--column age --bounds 0,110`},
		{query.Histogram, "How many records there are in each of some bins", `--column age --bins 0,20,40,60,80,120`},
		{query.Quantile, "The median, or another quantile, of a column", `--column age --bounds 0,110 --rank 0.9`},
	} {
		c.AddCommand(newQueryKind(t, k.kind, k.short, k.example))
	}
	return c
}

func newQueryKind(t *terminal, kind query.Kind, short, example string) *cobra.Command {
	f := queryFlags{kind: kind}
	c := &cobra.Command{
		Use:   fmt.Sprintf("%s FILE --epsilon E", kind),
		Short: short,
		Long: short + `, with differential privacy.

A column is taken as the specification or --type declares it; where neither does,
what is summed, averaged, ranked or compared with a bare number is a decimal number,
and everything else is words. Values outside of the bounds count as the nearer bound.
Records without a value are left out of sums.`,
		Example: fmt.Sprintf(`  noren query %[1]s visits.csv %[2]s --epsilon 0.1
  noren query %[1]s visits.csv %[2]s --by sex --keys female,male --epsilon 0.1 --json
  noren query %[1]s visits.csv %[2]s --epsilon 0.1 --dry-run`, kind, example),
		Args: exactly("FILE"),
		RunE: func(c *cobra.Command, args []string) error { return f.answer(c, t, args[0]) },
	}
	f.columnFlags.registerTypes(c)
	f.dpFlags.register(c, querySchema)
	s := c.Flags()
	s.StringVar(&f.where, "where", "", `only records that meet this condition, as in "age >= 65 and not (sex = 'male' or ward in ('A', 'B'))"`)
	s.StringSliceVar(&f.by, "by", nil, "answer for each group by these `columns`, whose values are in --keys")
	s.StringArrayVar(&f.keys, "keys", nil, "the public `VALUES` of the column of --by, comma-separated; once for each column, all combinations are answered")
	s.StringVar(&f.keysFile, "keys-file", "", "the public groups, as a CSV `FILE` whose header names the columns of --by")
	if kind != query.Count {
		s.StringVar(&f.column, "column", "", "the `COLUMN` that is asked about")
	}
	if kind == query.Sum || kind == query.Mean || kind == query.Variance || kind == query.Quantile {
		s.StringVar(&f.bounds, "bounds", "", "`LO,HI`: what a value counts as at the least and at the most; public")
		s.IntVar(&f.gridBits, "grid-bits", 0, "round values to multiples of 2^-`J` (default: from the bounds)")
	}
	if kind == query.Histogram {
		s.StringVar(&f.bins, "bins", "", "`EDGES` of the bins of a number column, rising, comma-separated: bin i is [edge i, edge i+1)")
		s.StringSliceVar(&f.values, "values", nil, "the bins of a column of words: public `VALUES`, comma-separated (without --by, --keys is the same)")
	}
	if kind == query.Quantile {
		s.StringVar(&f.rank, "rank", "", "which quantile, between 0 and 1 (default 0.5, the median)")
	}
	mechanisms := "laplace or gaussian (default laplace; gaussian needs --delta)"
	if kind == query.Quantile {
		mechanisms = "exponential, or smooth for the median (default exponential; --accuracy compares them)"
	}
	s.StringVar(&f.mechanism, "mechanism", "", mechanisms)
	s.Int64Var(&f.maxRows, "max-rows", 0, "how many records of one person count at the most, where the unit is a column")
	s.Float64Var(&f.level, "level", 0.95, "confidence of the intervals")
	s.BoolVar(&f.accuracy, "accuracy", false, "only tell how far the answer would be off, from public facts; the file is not read")
	s.Int64Var(&f.records, "records", 1000, "with --accuracy and --dry-run: about how many records a group has")
	return c
}

func (f *queryFlags) answer(c *cobra.Command, t *terminal, path string) error {
	ctx := c.Context()
	s, err := f.merged()
	if err != nil {
		return err
	}
	cost, err := parseCost(f.epsilon, f.delta)
	if err != nil {
		return err
	}
	if f.accuracy {
		return f.tellAccuracy(ctx, c, t, path, s, cost)
	}
	p, err := f.pay(ctx, path)
	if err != nil {
		return err
	}
	defer p.close()
	q, err := f.build(ctx, c, path, s, p, cost)
	if err != nil {
		return err
	}
	request, err := f.request(t, p, path, s, q)
	if err != nil {
		return err
	}
	if f.dryRun {
		return f.quote(ctx, t, &request, q)
	}
	result, answer, err := ask[query.Result](ctx, t, &f.dpFlags, request)
	if err != nil {
		return err
	}
	if f.json {
		return printJSON(t.stdout, queryJSON{Schema: querySchema, Result: result, dpJSON: answerJSON(answer)})
	}
	return printQuery(t.stdout, path, q, result, answer)
}

// build makes the question for the relation and unit of whoever pays.
func (f *queryFlags) build(ctx context.Context, c *cobra.Command, path string, s *spec.Spec, p *payer, cost account.Cost) (*query.Query, error) {
	fields, err := f.fields(ctx, path, s)
	if err != nil {
		return nil, err
	}
	o := query.Options{
		Kind: f.kind, Fields: fields, Column: f.column, Where: f.where, By: f.by, Values: f.values, Rank: f.rank,
		Method: query.Method(f.mechanism), Cost: cost, Neighbours: p.neighbours, Unit: p.unit, MaxRows: f.maxRows, Level: f.level,
	}
	if o.Keys, err = f.groups(s); err != nil {
		return nil, err
	}
	if err := f.ranges(s, &o); err != nil {
		return nil, err
	}
	if c.Flags().Changed("grid-bits") {
		o.GridBits = &f.gridBits
	}
	if p.unit != account.Record {
		if o.Key, err = p.rowsKey(); err != nil {
			return nil, err
		}
	}
	return query.New(o)
}

// quote prints a dry run.
func (f *queryFlags) quote(ctx context.Context, t *terminal, r *release.Request, q *query.Query) error {
	quote, err := release.Price(ctx, r)
	if err != nil {
		return err
	}
	accuracy, err := q.Accuracy(f.level, f.records)
	if err != nil {
		return err
	}
	if f.json {
		return printJSON(t.stdout, priceTag(querySchema, quote, accuracy))
	}
	fmt.Fprintf(t.stdout, "%s %s: a dry run, nothing is charged\n\n", f.kind, r.File)
	printQuote(t.stdout, quote)
	fmt.Fprintf(t.stdout, "  accuracy    %s\n", accuracyWords(&accuracy))
	if !quote.Fits {
		return &alreadySaid{&noren.Error{Kind: noren.Refused, What: "the budget does not cover it"}}
	}
	return nil
}

// tellAccuracy compares the mechanisms that would serve, from public facts.
func (f *queryFlags) tellAccuracy(ctx context.Context, c *cobra.Command, t *terminal, path string, s *spec.Spec, cost account.Cost) error {
	p := &payer{unit: f.unit}
	if p.unit == "" {
		p.unit = account.Record
	}
	var err error
	if f.neighbours != "" {
		if p.neighbours, err = account.ParseNeighbours(f.neighbours); err != nil {
			return at("--neighbours", err)
		}
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
		q, err := f.build(ctx, c, path, s, p, cost)
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
	words := fmt.Sprintf("nothing can be promised for %d records", a.Records)
	if a.HalfWidth != nil {
		what := "off by"
		if a.Rank {
			what = "its rank is off by"
		}
		words = fmt.Sprintf("%s %s at the most, with confidence %g", what, figure(*a.HalfWidth), a.Level)
		if a.Rank {
			words = fmt.Sprintf("%s %s records at the most, with confidence %g", what, figure(*a.HalfWidth), a.Level)
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

// registerTypes registers what says how a file is written and what its columns
// are, without roles.
func (f *columnFlags) registerTypes(c *cobra.Command) {
	s := c.Flags()
	s.StringVar(&f.spec, "spec", "", "read types, bounds and keys from this `FILE` (see noren init)")
	s.StringArrayVar(&f.types, "type", nil, "`COLUMN=TYPE`: integer, decimal, date, ordered or category; may be repeated")
	s.StringArrayVar(&f.orders, "order", nil, "`COLUMN=LOW<...<HIGH`: the levels of an ordered column; may be repeated")
	s.StringArrayVar(&f.formats, "format", nil, "`COLUMN=LAYOUT`: how a date is written, as in YYYY-MM-DD; may be repeated")
	f.registerInput(c)
}

// specOf is what a specification says of a column.
func specOf(s *spec.Spec, name string) spec.Column { return s.Columns[name] }

// splitList splits at commas and drops blanks around what stands between.
func splitList(s string) []string {
	parts := strings.Split(s, ",")
	for i := range parts {
		parts[i] = strings.TrimSpace(parts[i])
	}
	return slices.Clip(parts)
}
