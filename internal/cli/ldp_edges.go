package cli

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"noren"
	"noren/account"
	"noren/ldp"
	"noren/query"
	"noren/release"
)

const edgesSchema = "noren.ldp.edges/1"

type edgesFlags struct {
	queryFlags
	count int
}

func newLDPEdges(t *terminal) *cobra.Command {
	f := edgesFlags{queryFlags: queryFlags{kind: query.Quantile, level: 0.95}}
	c := &cobra.Command{
		Use:   "edges FILE --column COLUMN --bounds LO,HI --count L --epsilon E",
		Short: "Edges of bins that hold about equally many, bought with differential privacy",
		Long: `Makes L bins that hold about equally many of a column's values: the L-1 quantiles
between are asked of the table with differential privacy, each at its share of epsilon,
and charged to the file's budget. The ends are the public bounds.

Edges that are taken from the data as they are are somebody's values, and no later
noise makes up for that. Public edges (--bins, --edges) cost nothing.`,
		Example: `  noren ldp edges table.csv --column radius --bounds 0,40 --count 5 --epsilon 0.5
  noren ldp randomize table.csv --column radius --mechanism grr --edges 0,11.2,12.8,14.1,17.5,40 --edges-epsilon 0.5 --epsilon 1`,
		Args: exactly("FILE"),
		RunE: func(c *cobra.Command, args []string) error { return f.buy(c, t, args[0]) },
	}
	f.registerTypes(c)
	f.ledgerFlag.register(c)
	s := c.Flags()
	s.StringVar(&f.column, "column", "", "the `COLUMN` of numbers")
	s.StringVar(&f.bounds, "bounds", "", "`LO,HI`: the outer edges; public")
	s.IntVar(&f.count, "count", 5, "how many bins")
	s.StringVar(&f.epsilon, "epsilon", "", "what all edges cost together, in decimal")
	s.StringVar(&f.analyst, "analyst", "", "who asks (default: the user's name)")
	s.StringVar(&f.key, "request-key", "", "ask the same again under the same `KEY`: the same edges, free of charge")
	s.BoolVar(&f.unaccounted, "unaccounted", false, "answer without a ledger")
	s.StringVar(&f.neighbours, "neighbours", "", "add-remove or replace-one; only with --unaccounted (default add-remove)")
	s.StringVar(&f.unit, "unit", "", "record, or the `COLUMN` that tells whose records belong together")
	s.Int64Var(&f.maxRows, "max-rows", 0, "how many records of one person count at the most, where the unit is a column")
	s.BoolVar(&f.dryRun, "dry-run", false, "print the price and what would remain; nothing is charged")
	s.BoolVar(&f.json, "json", false, "print one JSON object, "+edgesSchema)
	return c
}

// buy asks for the quantiles, after all of them are known to be covered.
func (f *edgesFlags) buy(c *cobra.Command, t *terminal, path string) error {
	ctx := c.Context()
	if f.count < 2 || f.count > 1000 {
		return &noren.Error{Kind: noren.Usage, Where: "--count", What: "must lie between 2 and 1,000 bins"}
	}
	if f.column == "" {
		return &noren.Error{Kind: noren.Usage, Where: "--column", What: "say which column is parted"}
	}
	bounds, err := floats("--bounds", f.bounds)
	if err != nil || len(bounds) != 2 || !(bounds[0] < bounds[1]) {
		return &noren.Error{Kind: noren.Usage, Where: "--bounds", What: "say between which public ends the bins lie", Hint: "--bounds LO,HI"}
	}
	cost, err := parseCost(f.epsilon, "")
	if err != nil {
		return err
	}
	each, err := cost.Split(f.count - 1)
	if err != nil {
		return at("--epsilon", err)
	}
	cost.Epsilon = each.Epsilon * int64(f.count-1) // what is charged in all
	p, err := f.pay(ctx, path)
	if err != nil {
		return err
	}
	defer p.close()
	s, err := f.merged()
	if err != nil {
		return err
	}
	request := func(rank float64, price account.Cost) (release.Request, error) {
		f.rank = strconv.FormatFloat(rank, 'g', 15, 64)
		q, err := f.build(ctx, c, path, s, p, price)
		if err != nil {
			return release.Request{}, err
		}
		return f.request(t, p, path, s, q)
	}
	// All or nothing: the whole price is looked at before the first quantile.
	whole, err := request(0.5, cost)
	if err != nil {
		return err
	}
	quote, err := release.Price(ctx, &whole)
	if err != nil {
		return err
	}
	if f.dryRun {
		if f.json {
			return printJSON(t.stdout, priceTag(edgesSchema, quote, nil))
		}
		fmt.Fprintf(t.stdout, "%d bins of %s: a dry run, nothing is charged\n\n", f.count, f.column)
		printQuote(t.stdout, quote)
	}
	// Asked again under a key it is free, whatever remains.
	if !quote.Fits && (f.key == "" || f.dryRun) {
		return &noren.Error{Kind: noren.Refused, Where: path, What: fmt.Sprintf("the budget does not cover all edges, %s%s; nothing was charged", cost, left(quote.Remaining)), Hint: "ask for fewer bins, or a smaller epsilon"}
	}
	if f.dryRun {
		return nil
	}
	return f.ask(ctx, t, path, p, bounds, each, request)
}

// ask asks for each quantile and tells the edges.
func (f *edgesFlags) ask(ctx context.Context, t *terminal, path string, p *payer, bounds []float64, each account.Cost, request func(float64, account.Cost) (release.Request, error)) error {
	edges := []float64{bounds[0]}
	var last *release.Answer
	key := f.key
	for i := 1; i < f.count; i++ {
		r, err := request(float64(i)/float64(f.count), each)
		if err != nil {
			return err
		}
		if key != "" {
			r.Budget.Key = fmt.Sprintf("%s/%d of %d", key, i, f.count)
		}
		result, answer, err := ask[query.Result](ctx, t, &f.dpFlags, r)
		if err != nil {
			return err
		}
		if result.Group == nil || result.Value == nil {
			return &noren.Error{What: "a quantile without a value"}
		}
		edges, last = append(edges, min(max(float64(*result.Value), bounds[0]), bounds[1])), answer
	}
	edges = append(edges, bounds[1])
	// Sorting, and merging those that coincide, look at no data.
	slices.Sort(edges)
	epsilon, _ := each.Float()
	epsilon *= float64(f.count - 1)
	bins, err := ldp.PaidBins(edges, epsilon)
	if err != nil {
		return err
	}
	edges = bins.Edges()
	var text []string
	for _, e := range edges {
		text = append(text, strconv.FormatFloat(e, 'g', -1, 64))
	}
	if bins.Len() < f.count {
		t.note("%d of %d bins are left: some edges coincide", bins.Len(), f.count)
	}
	if f.json {
		return printJSON(t.stdout, struct {
			Schema     string         `json:"schema"`
			Column     string         `json:"column"`
			Edges      []float64      `json:"edges"`
			Epsilon    float64        `json:"edges_epsilon"`
			Neighbours string         `json:"neighbours"`
			Unit       string         `json:"unit"`
			Remaining  *remainingJSON `json:"remaining"`
		}{edgesSchema, f.column, edges, epsilon, p.neighbours.String(), p.unit, toRemainingJSON(last.Remaining)})
	}
	w := t.stdout
	fmt.Fprintf(w, "%d bins of %s in %s\n\n", bins.Len(), f.column, path)
	fmt.Fprintf(w, "  edges       %s\n", strings.Join(text, ","))
	fmt.Fprintf(w, "  epsilon     %s in all, neighbours %s of one %s\n", strconv.FormatFloat(epsilon, 'g', 9, 64), p.neighbours, p.unit)
	fmt.Fprintf(w, "  go on with  --edges %s --edges-epsilon %s\n", strings.Join(text, ","), strconv.FormatFloat(epsilon, 'g', 9, 64))
	return nil
}
