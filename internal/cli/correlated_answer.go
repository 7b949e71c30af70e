package cli

import (
	"fmt"
	"io"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/noren-privacy/noren"
	"github.com/noren-privacy/noren/correlated"
	"github.com/noren-privacy/noren/release"
	"github.com/noren-privacy/noren/table"
	"github.com/noren-privacy/noren/table/file"
)

const correlatedSchema = "noren.correlated.answer/1"

type correlatedAnswerFlags struct {
	dpFlags
	law lawFlags
}

func newCorrelatedAnswer(t *terminal) *cobra.Command {
	var f correlatedAnswerFlags
	c := &cobra.Command{
		Use:   "answer DATASET --query Q --epsilon E",
		Short: "Answer a query on a data set of dependent records",
		Long: `Answers a query on the model column of a data set that was granted under a model of
dependent records (noren ledger grant --model): one record of the model a row, in its
order. The noise is calibrated to the model so that the answer alone leaks at most
epsilon of any record. The ledger charges the answer by a rule whose charges add up over
all answers from the data set (docs/correlated-privacy.md, section 12).`,
		Example: `  noren correlated answer power --query '{"count":"on"}' --epsilon 0.5
  noren correlated answer power --query query.json --epsilon 0.5 --dry-run --json`,
		Args: exactly("DATASET"),
		RunE: func(c *cobra.Command, args []string) error { return f.answer(c, t, args[0]) },
	}
	f.dpFlags.register(c, nil, correlatedSchema)
	f.law.register(c)
	return c
}

func (f *correlatedAnswerFlags) answer(c *cobra.Command, t *terminal, path string) error {
	ctx := c.Context()
	cost, err := parseCost(f.epsilon, f.delta)
	if err != nil {
		return err
	}
	a, err := f.open(ctx, c, path)
	if err != nil {
		return err
	}
	defer a.close()
	if err := a.public(ctx, f.law.query, f.law.adversaries); err != nil {
		return err
	}
	m := a.Model()
	if m == nil {
		return &noren.Error{Kind: noren.Usage, Code: release.CodeModel, Where: "data set " + a.Name, What: "has no model of dependent records", Hint: "the steward grants one: noren ledger grant " + a.Name + " --model FILE --model-column COLUMN"}
	}
	q, o, err := f.law.ask(m)
	if err != nil {
		return err
	}
	epsilon, _ := cost.Float()
	mechanism, err := correlated.NewMechanism(ctx, correlated.Spec{Model: m, Query: q, Column: a.Definition.Model.Column, Epsilon: epsilon, Options: o})
	if err != nil {
		return err
	}
	request := f.request(a, mechanism)
	if f.dryRun {
		return f.quote(c, t, &request, mechanism)
	}
	out, answer, err := askOld[correlated.Answer](ctx, t, &f.dpFlags, request)
	if err != nil {
		return err
	}
	if f.json {
		return printJSON(t.stdout, struct {
			Schema string `json:"schema"`
			correlated.Answer
			CBP float64 `json:"cbp"`
			dpJSON
		}{correlatedSchema, *out, mechanism.Calibration().Leakage.Upper, answerJSON(answer)})
	}
	fmt.Fprintf(t.stdout, "%s, %s\n\n", q, path)
	for i, v := range out.Values {
		fmt.Fprintf(t.stdout, "  value       %s, off by at most %s 95 times in 100\n", v, figure(out.Within95[i]))
	}
	fmt.Fprintf(t.stdout, "  noise       Laplace, scale %s, for a leakage of at most %s\n", figure(out.Scale), decimal(mechanism.Calibration().Leakage.Upper))
	printPromise(t.stdout, answer)
	return nil
}

func (f *correlatedAnswerFlags) quote(c *cobra.Command, t *terminal, r *release.Request, m *correlated.Mechanism) error {
	quote, err := release.Price(c.Context(), r)
	if err != nil {
		return err
	}
	return tellQuote(t, f.json, correlatedSchema, quote, m.Calibration(), func(w io.Writer) {
		fmt.Fprint(w, "a dry run, nothing is charged\n\n")
	}, func(w io.Writer) {
		fmt.Fprintf(w, "  noise       Laplace, scale %s, for a leakage of at most %s\n", figure(m.Calibration().Scale), decimal(m.Calibration().Leakage.Upper))
	})
}

type fitFlags struct {
	columnFlags
	column   string
	columns  []string
	sequence string
	length   int
	states   []string
	options  correlated.FitOptions
	centre   string
	output   string
	force    bool
}

func newCorrelatedFit(t *terminal) *cobra.Command {
	var f fitFlags
	c := &cobra.Command{
		Use:   "fit FILE --column COLUMN --length N --source TEXT -o MODEL",
		Short: "Estimate a model from public or older data, with a box around the estimate",
		Long: `Estimates a Markov chain from sequences of states (--column, one row a step; with
--sequence, rows of equal values there make a sequence), or a tree over several columns
(--columns, Chow and Liu 1968: one row a sample, one column a record).

The data must be public, or older than what is to be protected: a model made from the
private records would itself tell of them. The model that is written is a box of laws
around the estimate, which holds the true one with the confidence given if the data
follow a law of that shape; a guarantee made with it does not hang on one point.`,
		Example: `  noren correlated fit lastyear.csv --column state --sequence day --length 1440 --source "2024, published" -o power.json
  noren correlated fit survey.csv --columns a,b,c --states no,yes --source "public survey" -o family.json`,
		Args: exactly("FILE"),
		RunE: func(c *cobra.Command, args []string) error { return f.run(c, t, args[0]) },
	}
	f.registerInput(c)
	s := c.Flags()
	s.StringVar(&f.column, "column", "", "the `COLUMN` of states, for a chain")
	s.StringVar(&f.sequence, "sequence", "", "the `COLUMN` that tells which rows make a sequence (default: all rows make one)")
	s.IntVar(&f.length, "length", 0, "how many records the chain is for")
	s.StringSliceVar(&f.columns, "columns", nil, "the `columns`, each a record, for a tree")
	s.StringSliceVar(&f.states, "states", nil, "the names of the states, in their order (default: those in the data, in byte order)")
	s.StringVar(&f.options.Source, "source", "", "where the data came from, in words; every guarantee states it")
	s.Float64Var(&f.options.Confidence, "confidence", 0.95, "the probability with which the box holds the law")
	s.Float64Var(&f.options.Smoothing, "smoothing", 0.5, "added to every count for the estimate at the centre")
	s.StringVar(&f.centre, "centre", "", "write the estimate alone to this `FILE`: a guarantee for it hangs on one point")
	s.StringVarP(&f.output, "output", "o", "-", "write the model to this `FILE`")
	s.BoolVar(&f.force, "force", false, "replace files that exist")
	return c
}

func (f *fitFlags) run(c *cobra.Command, t *terminal, path string) error {
	ctx := c.Context()
	s, err := f.merged()
	if err != nil {
		return err
	}
	if err := checkTargets(f.force, f.output, f.centre); err != nil {
		return err
	}
	if (f.column == "") == (len(f.columns) == 0) {
		return &noren.Error{Kind: noren.Usage, What: "say --column for a chain, or --columns for a tree"}
	}
	names := f.columns
	if f.column != "" {
		names = []string{f.column}
	}
	if f.sequence != "" {
		names = append(names, f.sequence)
	}
	src, err := openInput(ctx, path, t.stdin, s)
	if err != nil {
		return err
	}
	defer closeSource(src)
	tab, err := file.ReadText(ctx, src, names, s.Input.Missing, t.progress.report)
	t.progress.clear()
	if err != nil {
		return err
	}
	f.options.Length = f.length
	var fitted *correlated.Fitted
	if f.column != "" {
		states := f.read(tab.Columns[:1])
		fitted, err = correlated.FitChain(sequences(states[0], tab.Column(f.sequence)), f.options)
	} else {
		states := f.read(tab.Columns)
		fitted, err = correlated.FitTree(ctx, rows(states, tab.Rows), f.options)
	}
	if err != nil {
		return err
	}
	if f.centre != "" {
		if err := writeFile(f.centre, f.force, t.stdout, jsonWriter(fitted.Centre)); err != nil {
			return err
		}
	}
	if err := writeFile(f.output, f.force, t.stdout, jsonWriter(fitted.File)); err != nil {
		return err
	}
	if f.output != "-" {
		t.note("wrote %s, from %d observations", f.output, fitted.Observations)
	}
	return nil
}

// read turns texts into states; a text that is none of --states counts as
// missing.
func (f *fitFlags) read(columns []*table.Column) [][]int {
	f.options.States = f.states
	if len(f.states) == 0 {
		seen := map[string]bool{}
		for _, c := range columns {
			for _, word := range c.Dict {
				seen[word] = true
			}
		}
		f.options.States = sortedNames(seen)
	}
	number := map[string]int{}
	for i, name := range f.options.States {
		number[name] = i
	}
	out := make([][]int, len(columns))
	for j, c := range columns {
		out[j] = make([]int, c.Len())
		for i := range out[j] {
			out[j][i] = -1
			if !c.IsMissing(i) {
				if state, known := number[c.Dict[c.Codes[i]]]; known {
					out[j][i] = state
				}
			}
		}
	}
	return out
}

// sequences cuts a column of states where the sequence changes.
func sequences(states []int, by *table.Column) [][]int {
	if by == nil {
		return [][]int{states}
	}
	var out [][]int
	from := 0
	key := func(i int) string {
		if by.IsMissing(i) {
			return ""
		}
		return strconv.Itoa(int(by.Codes[i]))
	}
	for i := range states {
		if i > from && key(i) != key(from) {
			out = append(out, states[from:i])
			from = i
		}
	}
	return append(out, states[from:])
}

func rows(columns [][]int, n int) [][]int {
	out := make([][]int, n)
	for i := range out {
		for _, c := range columns {
			out[i] = append(out[i], c[i])
		}
	}
	return out
}
