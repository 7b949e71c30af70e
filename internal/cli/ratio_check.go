package cli

import (
	"fmt"
	"io"
	"math"

	"github.com/spf13/cobra"

	"github.com/noren-privacy/noren/api"
	"github.com/noren-privacy/noren/internal/grid"
	"github.com/noren-privacy/noren/lang"
	words "github.com/noren-privacy/noren/report/text"
)

type ratioCheckFlags struct {
	columnFlags
	dpFlags
	weightsFlags
	records         int
	publicDelimiter string
	publicEncoding  string
}

func newRatioCheck(t *terminal) *cobra.Command {
	var f ratioCheckFlags
	c := &cobra.Command{
		Use:   "check DATASET WEIGHTS --epsilon E",
		Short: "Compare the weighted public table with the private one, for a privacy cost",
		Args:  exactly("DATASET", "WEIGHTS"),
		RunE:  func(c *cobra.Command, args []string) error { return f.check(c, t, args[0], args[1]) },
	}
	f.dpFlags.register(c, &f.columnFlags, api.RatioCheckSchema)
	f.weightsFlags.register(c)
	s := c.Flags()
	s.StringVar(&f.publicDelimiter, "public-delimiter", "", "field delimiter of WEIGHTS: one `CHARACTER`, or tab (detected when left out)")
	s.StringVar(&f.publicEncoding, "public-encoding", "", "`ENCODING` of WEIGHTS: utf-8 or shift_jis (detected when left out)")
	s.IntVar(&f.records, "records", 0, "the public number of private records, where neighbours are replace-one (default: that of the schema)")
	return c
}

func (f *ratioCheckFlags) check(c *cobra.Command, t *terminal, private, path string) error {
	ctx := c.Context()
	ask, err := f.dpFlags.ask(private)
	if err != nil {
		return err
	}
	q := &api.RatioCheckRequest{
		Ask: ask, RatioWeights: api.RatioWeights{Weights: path, Meta: f.meta},
		PublicDelimiter: f.publicDelimiter, PublicEncoding: f.publicEncoding, Records: f.records,
	}
	s := t.service(&f.ledgerFlag)
	defer t.progress.clear()
	if f.dryRun {
		quote, err := s.RatioCheckPrice(ctx, q)
		if err != nil {
			return f.explain(private, explainRatio(err))
		}
		return printPrice(t, f.json, quote, &quote.Price, t.lang.Text("a dry run, nothing is charged"))
	}
	if err := f.agree(ctx, t, func() (*api.Price, []api.Message, error) {
		quote, err := s.RatioCheckPrice(ctx, q)
		if err != nil {
			return nil, nil, err
		}
		return &quote.Price, nil, nil
	}); err != nil {
		return f.explain(private, explainRatio(err))
	}
	out, err := s.RatioCheck(ctx, q)
	if err != nil {
		return f.explain(private, explainRatio(err))
	}
	t.progress.clear()
	if err := f.write(t, &out.Receipt); err != nil {
		return err
	}
	if f.json {
		return printJSON(t.stdout, out)
	}
	printRatioCheck(t.stdout, private, out)
	return nil
}

func printRatioCheck(out io.Writer, private string, c *api.RatioCheck) {
	lang.Fprintf(out, "%s against %s\n\n", c.Input, private)
	w := grid.New(out)
	lang.Fprintln(w, "  mean of\tprivate\tweighted\tpublic\tstd. error\tz")
	for _, t := range c.Tests {
		z, mark := "-", ""
		if t.Z != nil {
			z = fmt.Sprintf("%.1f", math.Round(*t.Z*10)/10)
		}
		if t.Off {
			mark = lang.Of(out).Text(" off")
		}
		fmt.Fprintf(w, "  %s\t%s\t%s\t%s\t%s\t%s%s\n", t.Function, share(t.Private), share(t.Weighted), share(t.Public), share(t.SE), z, mark)
	}
	_ = w.Flush()
	lang.Fprintln(out, "  (numbers run from 0 to 1 over the public records; private means hold noise)")
	printLines(out, words.RatioCheck(lang.Of(out), c))
	printLines(out, words.Guarantee(lang.Of(out), &c.Receipt))
}
