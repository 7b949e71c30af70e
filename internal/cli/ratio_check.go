package cli

import (
	"context"
	"fmt"
	"io"
	"math"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/noren-privacy/noren/ratio"
	"github.com/noren-privacy/noren/release"
	"github.com/noren-privacy/noren/table/csvio"
	"github.com/noren-privacy/noren/table/file"
)

const ratioCheckSchema = "noren.ratio.check/1"

type ratioCheckFlags struct {
	columnFlags
	dpFlags
	meta            string
	records         int
	publicDelimiter string
	publicEncoding  string
}

func newRatioCheck(t *terminal) *cobra.Command {
	var f ratioCheckFlags
	c := &cobra.Command{
		Use:   "check DATASET WEIGHTS --epsilon E",
		Short: "Compare the weighted public table with the private one, at a price",
		Long: `Asks the private table for means of the columns of the weights, with noise, and compares
them with those of the weighted public records. The price is charged as for any question.

What comes out can show that weights are bad: a mean that is off by more than three
standard errors. That none is does not show that they are good, least of all in columns
that the weights do not have; a larger epsilon sees more.`,
		Example: `  noren ratio check patients.csv weighted.csv --epsilon 0.2
  noren ratio check patients.csv weighted.csv --epsilon 0.2 --dry-run
  noren ratio check patients.csv weighted.parquet --epsilon 0.2 --certificate c.json --json`,
		Args: exactly("DATASET", "WEIGHTS"),
		RunE: func(c *cobra.Command, args []string) error { return f.check(c, t, args[0], args[1]) },
	}
	f.dpFlags.register(c, &f.columnFlags, ratioCheckSchema)
	s := c.Flags()
	s.StringVar(&f.publicDelimiter, "public-delimiter", "", "field delimiter of WEIGHTS: one `CHARACTER`, or tab (detected when left out)")
	s.StringVar(&f.publicEncoding, "public-encoding", "", "`ENCODING` of WEIGHTS: utf-8 or shift_jis (detected when left out)")
	s.StringVar(&f.meta, "meta", "", "the meta data of the weights, a JSON `FILE` (default: WEIGHTS"+metaEnding+")")
	s.IntVar(&f.records, "records", 0, "the public number of private records, where neighbours are replace-one (default: that of the schema)")
	return c
}

func (f *ratioCheckFlags) check(c *cobra.Command, t *terminal, private, path string) error {
	ctx := c.Context()
	cost, err := parseCost(f.epsilon, f.delta)
	if err != nil {
		return err
	}
	o, err := publicForm(f.publicDelimiter, f.publicEncoding)
	if err != nil {
		return err
	}
	a, err := f.open(ctx, c, private)
	if err != nil {
		return err
	}
	defer a.close()
	if err := a.public(ctx, path, f.meta); err != nil {
		return err
	}
	v, err := openWeighted(ctx, t, path, f.meta, o)
	if err != nil {
		return err
	}
	defer closeSource(v.source)
	if f.records, err = a.records(f.records); err != nil {
		return err
	}
	m, err := ratio.NewCheck(ratio.CheckOptions{Weights: v.weights, Frame: v.frame, Public: v.points, Cost: cost, Neighbours: a.neighbours(), Records: f.records})
	if err != nil {
		return err
	}
	request := f.request(a, m)
	if f.dryRun {
		return f.quote(ctx, t, &request)
	}
	sums, answer, err := askOld[ratio.Sums](ctx, t, &f.dpFlags, request)
	if err != nil {
		return err
	}
	r, err := m.Compare(sums)
	if err != nil {
		return err
	}
	out := toCheckJSON(path, v, r, answer)
	if f.json {
		return printJSON(t.stdout, out)
	}
	out.print(t.stdout, private)
	printPromise(t.stdout, answer)
	return nil
}

// publicForm says how a public text file is written.
func publicForm(delimiter, encoding string) (o file.Options, err error) {
	if o.Delimiter, err = csvio.ParseDelimiter(delimiter); err != nil {
		return o, at("--public-delimiter", err)
	}
	if o.Encoding, err = csvio.ParseEncoding(encoding); err != nil {
		return o, at("--public-encoding", err)
	}
	o.Plain = true
	return o, strictEncoding("--public-encoding", o.Encoding)
}

func (f *ratioCheckFlags) quote(ctx context.Context, t *terminal, r *release.Request) error {
	quote, err := release.Price(ctx, r)
	if err != nil {
		return err
	}
	return tellQuote(t, f.json, ratioCheckSchema, quote, nil, func(w io.Writer) {
		fmt.Fprint(w, "a dry run, nothing is charged\n\n")
	}, func(io.Writer) {})
}

type testJSON struct {
	ratio.Compared
	Z *float64 `json:"z"`
}

type ratioCheckJSON struct {
	Schema   string         `json:"schema"`
	Input    string         `json:"input"`
	Tests    []testJSON     `json:"tests"`
	Off      int            `json:"off"`
	Nearer   bool           `json:"nearer"`
	Verdict  string         `json:"verdict"` // off, no help, or nothing found
	Warnings []string       `json:"warnings"`
	FitCheck ratio.FitCheck `json:"fit_check"`
	dpJSON
}

func toCheckJSON(path string, v *weighted, r *ratio.CheckResult, answer *release.Answer) *ratioCheckJSON {
	out := &ratioCheckJSON{
		Schema: ratioCheckSchema, Input: path, Off: r.Off, Nearer: r.Nearer, Verdict: "nothing found",
		Warnings: append([]string{}, r.Warnings...), FitCheck: v.meta.Check, dpJSON: answerJSON(answer),
	}
	switch {
	case r.Off > 0:
		out.Verdict = "off"
	case !r.Nearer:
		out.Verdict = "no help"
	}
	for _, c := range r.Tests {
		out.Tests = append(out.Tests, testJSON{c, orNull((c.Private - c.Weighted) / c.SE)})
	}
	return out
}

func (c *ratioCheckJSON) print(out io.Writer, private string) {
	fmt.Fprintf(out, "%s against %s\n\n", c.Input, private)
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "  mean of\tprivate\tweighted\tpublic\tstd. error\tz")
	for _, t := range c.Tests {
		z, mark := "-", ""
		if t.Z != nil {
			z = fmt.Sprintf("%.1f", math.Round(*t.Z*10)/10)
		}
		if t.Off {
			mark = " off"
		}
		fmt.Fprintf(w, "  %s\t%s\t%s\t%s\t%s\t%s%s\n", t.Function, share(t.Private), share(t.Weighted), share(t.Public), share(t.SE), z, mark)
	}
	_ = w.Flush()
	fmt.Fprintln(out, "  (numbers run from 0 to 1 over the public records; private means hold noise)")
	switch c.Verdict {
	case "off":
		fmt.Fprintln(out, "  verdict     the weights are OFF")
	case "no help":
		fmt.Fprintln(out, "  verdict     the weights are not seen to help")
	default:
		fmt.Fprintln(out, "  verdict     nothing wrong was found, as far as the noise lets it be seen")
	}
	for _, text := range c.Warnings {
		fmt.Fprintf(out, "  warning     %s\n", text)
	}
}
