package cli

import (
	"context"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/noren-privacy/noren/api"
	"github.com/noren-privacy/noren/lang"
	words "github.com/noren-privacy/noren/report/text"
)

type edgesFlags struct {
	columnFlags
	dpFlags
	r      api.LDPEdgesRequest
	bounds string
}

func newLDPEdges(t *terminal) *cobra.Command {
	var f edgesFlags
	c := &cobra.Command{
		Use:   "edges DATASET --column COLUMN --bounds LO,HI --count L --epsilon E",
		Short: "Compute equal-frequency bin edges with differential privacy",
		Args:  exactly("DATASET"),
		RunE:  func(c *cobra.Command, args []string) error { return f.run(c.Context(), t, args[0]) },
	}
	f.dpFlags.register(c, &f.columnFlags, api.LDPEdgesSchema)
	s := c.Flags()
	s.StringVar(&f.r.Column, "column", "", "the `COLUMN` of numbers")
	s.StringVar(&f.bounds, "bounds", "", "`LO,HI`: the outer edges; public (default: the bounds of the schema)")
	s.IntVar(&f.r.Count, "count", 5, "number of bins")
	s.Lookup("epsilon").Usage = "privacy cost of all edges together: epsilon, in decimal"
	s.Int64Var(&f.r.MaxRows, "max-rows", 0, "largest number of records of one person that count, where the unit is a column")
	return c
}

func (f *edgesFlags) run(ctx context.Context, t *terminal, name string) error {
	var err error
	if f.r.Ask, err = f.ask(name); err != nil {
		return err
	}
	if f.bounds != "" {
		f.r.Bounds = splitList(f.bounds)
	}
	s := t.service(&f.ledgerFlag)
	if f.dryRun {
		quote, err := s.LDPEdgesPrice(ctx, &f.r)
		if err != nil {
			return f.explain(name, err)
		}
		return printPrice(t, f.json, quote, &quote.Price, t.lang.Text("%d {bin|bins} of %s: a dry run, nothing is charged", f.r.Count,
			f.r.Column),
			words.Line{Label: "accuracy", Text: words.Accuracy(t.lang, quote.Accuracy)})
	}
	if err := f.agree(ctx, t, func() (*api.Price, []api.Message, error) {
		quote, err := s.LDPEdgesPrice(ctx, &f.r)
		if err != nil {
			return nil, nil, err
		}
		return &quote.Price, nil, nil
	}); err != nil {
		return f.explain(name, err)
	}
	e, err := s.LDPEdges(ctx, &f.r)
	if err != nil {
		return f.explain(name, err)
	}
	if err := f.write(t, &e.Receipt); err != nil {
		return err
	}
	bins := len(e.Edges) - 1
	if f.json {
		return printJSON(t.stdout, e)
	}
	var list []string
	for _, edge := range e.Edges {
		list = append(list, strconv.FormatFloat(edge, 'g', -1, 64))
	}
	w, edges := t.stdout, strings.Join(list, ",")
	lang.Fprintf(w, "%d {bin|bins} of %s in %s\n\n", bins, f.r.Column, name)
	lang.Fprintf(w, "  edges       %s\n", edges)
	lang.Fprintf(w, "  ranks       off by at most %s records, all at once with confidence %g\n", figure(e.RankWithin), e.Level)
	lang.Fprintf(w, "  go on with  --edges %s --edges-epsilon %s\n", edges, e.EdgesEpsilon)
	printLines(w, words.Guarantee(t.lang, &e.Receipt))
	return nil
}
