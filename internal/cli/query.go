package cli

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/noren-privacy/noren/api"
	"github.com/noren-privacy/noren/lang"
	"github.com/noren-privacy/noren/query"
	words "github.com/noren-privacy/noren/report/text"
	"github.com/noren-privacy/noren/service"
)

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
	job       *queryJob // of noren worker query; nil elsewhere
}

func newQuery(t *terminal) *cobra.Command {
	c := &cobra.Command{
		Use:   "query",
		Short: "Query a data set with differential privacy",
		Args:  cobra.NoArgs,
		RunE:  func(c *cobra.Command, _ []string) error { return c.Help() },
	}
	for _, k := range queryKinds() {
		c.AddCommand(newQueryKind(t, k.kind, k.short, k.example, nil))
	}
	return c
}

// queryKind is a kind of query as a command.
type queryKind struct {
	kind    query.Kind
	short   string
	example string
}

func queryKinds() []queryKind {
	return []queryKind{
		{kind: query.Count, short: "Count records, or those that meet a condition", example: `--where "age >= 65 and sex = 'female'"`},
		{kind: query.Sum, short: "Sum a column", example: `--column cost_yen --bounds 0,1000000`},
		{kind: query.Mean, short: "Compute the mean of a column", example: `--column age --bounds 0,110`},
		{kind: query.Variance, short: "Compute the variance of a column", example: `--column age --bounds 0,110`},
		{kind: query.Histogram, short: "Count records by bins of a column", example: `--column age --bins 0,20,40,60,80,120`},
		{kind: query.Quantile, short: "Compute the median, or another quantile, of a column", example: `--column age --bounds 0,110 --rank 0.9`},
	}
}

// outsideOf is a part of the help of a kind of query: what becomes of values that its
// bounds or bins leave out.
func outsideOf(kind query.Kind) string {
	usage := "\n\nValues outside of the bounds are replaced by the nearer bound. Records without a value\nare left out."
	switch kind {
	case query.Count:
		usage = ""
	case query.Histogram:
		usage = "\n\nValues outside of all bins are not counted."
	}
	return usage
}

func newQueryKind(t *terminal, kind query.Kind, short, example string, job *queryJob) *cobra.Command {
	f := queryFlags{kind: kind, job: job}
	c := &cobra.Command{
		Use:   fmt.Sprintf("%s DATASET --epsilon E", kind),
		Short: short,
		Long: short + `, with differential privacy.

DATASET is a name in the ledger, or the path of its file. A cell that does not fit the
type of its column counts as missing. Where the unit of the data set is a column,
--max-rows says how many records of one person count.` + outsideOf(kind),
		Example: fmt.Sprintf(`  noren query %[1]s visits %[2]s --max-rows 5 --epsilon 0.1
  noren query %[1]s visits %[2]s --by sex --keys female,male --max-rows 5 --epsilon 0.1 --json
  noren query %[1]s visits %[2]s --max-rows 5 --epsilon 0.1 --dry-run`, kind, example),
		Args: exactly("DATASET"),
		RunE: func(c *cobra.Command, args []string) error { return f.answer(c, t, args[0]) },
	}
	f.dpFlags.register(c, &f.columnFlags, api.QuerySchema)
	s := c.Flags()
	s.StringVar(&f.where, "where", "", `only records that meet this condition, as in "age >= 65 and not (sex = 'male' or ward in ('A', 'B'))"`)
	s.StringSliceVar(&f.by, "by", nil, "answer for each group by these `columns`, whose values are in --keys")
	s.StringArrayVar(&f.keys, "keys", nil, "the public `VALUES` of the column of --by, comma-separated; once for each column, all "+
		"combinations are answered (default: the keys of the schema)")
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
		s.StringSliceVar(&f.values, "values", nil,
			"the bins of a category column: public `VALUES`, comma-separated (without --by, --keys is the same)")
	}
	if kind == query.Quantile {
		s.StringVar(&f.rank, "rank", "", "which quantile, between 0 and 1 (default 0.5, the median)")
	}
	usage := "laplace or gaussian (default laplace; gaussian needs --delta)"
	if kind == query.Quantile {
		usage = "exponential, or smooth for the median (default exponential; --accuracy compares them)"
	}
	s.StringVar(&f.mechanism, "mechanism", "", usage)
	s.Int64Var(&f.maxRows, "max-rows", 0, "largest number of records of one person that count, where the unit is a column")
	s.Float64Var(&f.level, "level", 0.95, "confidence of the intervals")
	s.BoolVar(&f.accuracy, "accuracy", false, "print the expected error only, from public facts; no file is read and no ledger is needed")
	s.Int64Var(&f.records, "records", 0, "with --accuracy and --dry-run: about how many records a group has (default: the public number of "+
		"records by the number of groups; where a bound alone is public, 1000 or what it allows)")
	return c
}

func (f *queryFlags) answer(c *cobra.Command, t *terminal, name string) error {
	ctx := c.Context()
	r, err := f.request(c, name)
	if err != nil {
		return err
	}
	s := t.service(&f.ledgerFlag)
	if f.job != nil {
		s.Collect, s.Buckets = f.job.collect, f.job.buckets
	}
	switch {
	case f.accuracy:
		return f.tellAccuracy(ctx, t, s, name, r)
	case f.dryRun:
		quote, err := s.QueryPrice(ctx, r)
		if err != nil {
			return f.explain(name, err)
		}
		return printPrice(t, f.json, quote, &quote.Price, t.lang.Text("%s %s: a dry run, nothing is charged", t.lang.Term(string(f.kind)), name),
			expected(t.lang, quote)...)
	}
	if err := f.agree(ctx, t, func() (*api.Price, []api.Message, error) {
		quote, err := s.QueryPrice(ctx, r)
		if err != nil {
			return nil, nil, err
		}
		return &quote.Price, quote.Warnings, nil
	}); err != nil {
		return f.explain(name, err)
	}
	answer, err := s.Query(ctx, r)
	if err != nil {
		return f.explain(name, err)
	}
	if err := f.write(t, &answer.Receipt); err != nil {
		return err
	}
	if f.json {
		return printJSON(t.stdout, answer)
	}
	return printQuery(t.stdout, name, answer)
}

// expected says how accurate an answer is expected to be, for which groups, and for all at
// once.
func expected(l lang.Lang, q *api.Quote[query.Accuracy]) []words.Line {
	lines := []words.Line{{Label: "accuracy", Text: words.Accuracy(l, q.Accuracy)}}
	for i := range q.Columns {
		lines = append(lines, words.Line{Label: "column", Text: reads(l, &q.Columns[i])})
	}
	if q.Cells > 1 {
		lines = append(lines, words.Line{Label: "all at once", Text: l.Text("%d {value|values}, with confidence %s", q.Cells,
			words.Figure(max(0, 1-float64(q.Cells)*(1-q.Accuracy.Level))))})
	}
	if q.Reach != nil {
		lines = append(lines, words.Line{Label: "reach", Text: q.Reach.In(l).Text})
	}
	for _, w := range q.Warnings {
		lines = append(lines, words.Line{Label: "warning", Text: w.In(l).Text})
	}
	return lines
}

// reads says which column is read, and what becomes of values outside of what counts.
func reads(l lang.Lang, c *api.ColumnUse) string {
	return fmt.Sprintf("%s: %s", c.Name, c.Outside.In(l).Text)
}

// request is the request that the flags make.
func (f *queryFlags) request(c *cobra.Command, name string) (*api.QueryRequest, error) {
	ask, err := f.dpFlags.ask(name)
	if err != nil {
		return nil, err
	}
	r := &api.QueryRequest{
		Ask: ask, Kind: f.kind, Column: f.column, Where: f.where, By: f.by, KeysFile: f.keysFile, Values: f.values, Rank: f.rank,
		Noise: query.Noise(f.mechanism), MaxRows: f.maxRows, Level: f.level, Records: f.records,
	}
	for _, list := range f.keys {
		r.Keys = append(r.Keys, splitList(list))
	}
	if f.bounds != "" {
		r.Bounds = splitList(f.bounds)
	}
	if f.bins != "" {
		r.Bins = splitList(f.bins)
	}
	if c.Flags().Changed("grid-bits") {
		r.GridBits = &f.gridBits
	}
	return r, nil
}

// tellAccuracy compares the mechanisms that can answer, from public facts.
func (f *queryFlags) tellAccuracy(ctx context.Context, t *terminal, s *service.Service, name string, r *api.QueryRequest) error {
	out, err := s.QueryAccuracy(ctx, r)
	if err != nil {
		return f.explain(name, err)
	}
	if f.json {
		return printJSON(t.stdout, out)
	}
	for _, a := range out.Accuracy {
		fmt.Fprintf(t.stdout, "%-12s %s\n", a.Mechanism, words.Accuracy(t.lang, &a.Accuracy))
	}
	return nil
}

// splitList splits at commas and drops blanks around what stands between.
func splitList(s string) []string {
	parts := strings.Split(s, ",")
	for i := range parts {
		parts[i] = strings.TrimSpace(parts[i])
	}
	return slices.Clip(parts)
}
