package cli

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/noren-privacy/noren"
	"github.com/noren-privacy/noren/account"
	"github.com/noren-privacy/noren/ldp"
	"github.com/noren-privacy/noren/query"
	"github.com/noren-privacy/noren/release"
)

const edgesSchema = "noren.ldp.edges/1"

type edgesFlags struct {
	queryFlags
	count int
}

func newLDPEdges(t *terminal) *cobra.Command {
	f := edgesFlags{queryFlags: queryFlags{kind: query.Quantile, level: 0.95, records: 1000}}
	c := &cobra.Command{
		Use:   "edges DATASET --column COLUMN --bounds LO,HI --count L --epsilon E",
		Short: "Compute equal-frequency bin edges with differential privacy",
		Long: `Computes the edges of L bins that hold about equally many values of a column: the L-1
quantiles between the public bounds, in one answer for one charge to the data set's
budget, with one certificate.

Edges that are read off the data are values of persons, and noise that is added to
reports later does not protect them. Public edges (--bins, --edges of noren ldp
randomize) cost nothing.`,
		Example: `  noren ldp edges visits --column age --bounds 0,110 --count 5 --max-rows 5 --epsilon 0.5
  noren ldp randomize table.csv --column radius --mechanism grr --edges 0,11.2,12.8,14.1,17.5,40 --edges-epsilon 0.5 --epsilon 1`,
		Args: exactly("DATASET"),
		RunE: func(c *cobra.Command, args []string) error { return f.answer(c, t, args[0]) },
	}
	f.dpFlags.register(c, &f.columnFlags, edgesSchema)
	s := c.Flags()
	s.StringVar(&f.column, "column", "", "the `COLUMN` of numbers")
	s.StringVar(&f.bounds, "bounds", "", "`LO,HI`: the outer edges; public (default: the bounds of the schema)")
	s.IntVar(&f.count, "count", 5, "number of bins")
	s.Lookup("epsilon").Usage = "privacy cost of all edges together: epsilon, in decimal"
	s.Int64Var(&f.maxRows, "max-rows", 0, "largest number of records of one person that count, where the unit is a column")
	return c
}

func (f *edgesFlags) answer(c *cobra.Command, t *terminal, name string) error {
	ctx := c.Context()
	if f.column == "" {
		return &noren.Error{Kind: noren.Usage, Where: "--column", What: "say which column is divided into bins"}
	}
	cost, err := parseCost(f.epsilon, f.delta)
	if err != nil {
		return err
	}
	a, err := f.open(ctx, c, name)
	if err != nil {
		return err
	}
	defer a.close()
	o, err := f.options(c, a.Definition, cost)
	if err != nil {
		return err
	}
	if o.Unit != account.Record {
		if o.Key, err = a.rowsKey(); err != nil {
			return err
		}
	}
	m, err := query.NewEdges(ctx, *o, f.count)
	if err != nil {
		return err
	}
	request := f.dpFlags.request(a, m)
	if f.dryRun {
		return f.quote(ctx, t, &request, m)
	}
	result, answer, err := askOld[query.EdgesResult](ctx, t, &f.dpFlags, request)
	if err != nil {
		return err
	}
	return f.tell(t, name, o.Bounds, result, answer)
}

func (f *edgesFlags) quote(ctx context.Context, t *terminal, r *release.Request, m *query.Edges) error {
	quote, err := release.Price(ctx, r)
	if err != nil {
		return err
	}
	accuracy, err := m.Accuracy(f.level, f.records)
	if err != nil {
		return err
	}
	return tellQuote(t, f.json, edgesSchema, quote, accuracy, func(w io.Writer) {
		fmt.Fprintf(w, "%d bins of %s: a dry run, nothing is charged\n\n", f.count, f.column)
	}, func(w io.Writer) {
		fmt.Fprintf(w, "  accuracy    %s\n", accuracyWords(&accuracy))
	})
}

// tell prints the edges with the public bounds at both ends.
func (f *edgesFlags) tell(t *terminal, name string, bounds *query.Bounds, r *query.EdgesResult, answer *release.Answer) error {
	edges := []float64{bounds.Lo}
	for _, e := range r.Edges {
		edges = append(edges, min(max(float64(e), bounds.Lo), bounds.Hi))
	}
	edges = append(edges, bounds.Hi)
	epsilon := answer.Certificate.Certificate.Guarantee.Epsilon
	// Merging edges that coincide looks at no data.
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
	cost := decimal(epsilon)
	if f.json {
		return printJSON(t.stdout, struct {
			Schema       string      `json:"schema"`
			Column       string      `json:"column"`
			Edges        []float64   `json:"edges"`
			RankWithin   float64     `json:"rank_within"`
			Level        float64     `json:"level"`
			EdgesEpsilon json.Number `json:"edges_epsilon"`
			dpJSON
		}{edgesSchema, f.column, edges, r.RankWithin, r.Level, json.Number(cost), answerJSON(answer)})
	}
	w := t.stdout
	fmt.Fprintf(w, "%d bins of %s in %s\n\n", bins.Len(), f.column, name)
	fmt.Fprintf(w, "  edges       %s\n", strings.Join(text, ","))
	fmt.Fprintf(w, "  ranks       off by at most %s records, all at once with confidence %g\n", figure(r.RankWithin), r.Level)
	fmt.Fprintf(w, "  go on with  --edges %s --edges-epsilon %s\n", strings.Join(text, ","), cost)
	printPromise(w, answer)
	return nil
}
