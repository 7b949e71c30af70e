package cli

import (
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/noren-privacy/noren"
	"github.com/noren-privacy/noren/api"
	"github.com/noren-privacy/noren/internal/grid"
	"github.com/noren-privacy/noren/kinds"
	"github.com/noren-privacy/noren/lang"
	words "github.com/noren-privacy/noren/report/text"
	"github.com/noren-privacy/noren/service"
)

// askFlags are those of noren ask. What is asked, and at what cost, is in the file.
type askFlags struct {
	dpFlags
	rehearse bool
}

func newAsk(t *terminal) *cobra.Command {
	var f askFlags
	c := &cobra.Command{
		Use:   "ask FILE",
		Short: "Answer several questions of a data set as one request, from a file",
		Args:  exactly("FILE"),
		RunE:  func(c *cobra.Command, args []string) error { return f.ask(c, t, args[0]) },
	}
	f.ledgerFlag.register(c)
	s := c.Flags()
	s.StringVar(&f.analyst, "analyst", "", "`NAME` of the analyst, as declared: it is not checked (default: the user's name)")
	s.StringVar(&f.key, "request-key", "", "`KEY` of this request: the same request under the same key gets the same answer, free of "+
		"charge, also after a crash; without a key a crash forfeits the charge")
	s.BoolVar(&f.reuse, "reuse", false, "return the stored answer of an equal request if the ledger has one, free of charge")
	s.BoolVar(&f.dryRun, "dry-run", false,
		"print the cost, the expected accuracy and what would remain; nothing is charged and no private file is read")
	s.BoolVar(&f.yes, "yes", false, "pay without a question; without it a terminal is asked above a tenth of what is left")
	s.BoolVar(&f.rehearse, "rehearse", false,
		"answer made-up rows instead, drawn from the schema and the bounds alone; nothing is charged and no private file is read")
	s.StringVarP(&f.output, "output", "o", "", "write the released answer to this `FILE` too, byte for byte as the certificate names it")
	s.StringVar(&f.certificate, "certificate", "", "write the signed certificate to this `FILE`")
	s.BoolVar(&f.force, "force", false, "replace files that exist")
	s.BoolVar(&f.json, "json", false, "print one JSON object, "+api.AskSchema)
	return c
}

func (f *askFlags) ask(c *cobra.Command, t *terminal, path string) error {
	questions, err := service.ReadQuestions(path)
	if err != nil {
		return err
	}
	if err := checkTargets(f.force, f.output, f.certificate); err != nil {
		return err
	}
	r := questions.Request
	r.Analyst, r.RequestKey, r.Reuse, r.Outputs = f.analyst, f.key, f.reuse, []string{f.output, f.certificate}
	explain := func(err error) error { return f.explain(r.Dataset, questions.Located(err)) }
	ctx, s := c.Context(), t.service(&f.ledgerFlag)
	switch {
	case f.rehearse && f.dryRun:
		return &noren.Error{Kind: noren.Usage, Where: "--rehearse", What: "does not go with --dry-run", Hint: "leave one of them out"}
	case f.rehearse:
		out, err := s.Rehearse(ctx, &api.RehearseRequest{AskRequest: *r})
		if err != nil {
			return explain(err)
		}
		if f.json {
			return printJSON(t.stdout, out)
		}
		return printRehearsal(t.stdout, r, out)
	case f.dryRun:
		quote, err := s.AskPrice(ctx, r)
		if err != nil {
			return explain(err)
		}
		if f.json {
			if quote.Specification, err = service.QuotedFile(quote); err != nil {
				return err
			}
			return printJSON(t.stdout, quote)
		}
		return printAskPrice(t.stdout, quote)
	}
	if err := f.agree(ctx, t, r, func() (*api.AskQuote, error) { return s.AskPrice(ctx, r) }); err != nil {
		return explain(err)
	}
	answers, err := s.Ask(ctx, r)
	if err != nil {
		return explain(err)
	}
	if err := f.write(t, &answers.Receipt); err != nil {
		return err
	}
	if f.json {
		return printJSON(t.stdout, answers)
	}
	for i := range answers.Answers {
		a := &answers.Answers[i]
		if err := printAnswer(t.stdout, i, &a.Question, a.Question.Said(), a.Rows); err != nil {
			return err
		}
		printMessages(t.stdout, "note", a.ReadWithCare)
		fmt.Fprintln(t.stdout)
	}
	printLines(t.stdout, words.Guarantee(t.lang, &answers.Receipt))
	return nil
}

// printAskPrice prints a dry run.
func printAskPrice(w io.Writer, q *api.AskQuote) error {
	l := lang.Of(w)
	lang.Fprintf(w, "%d {question|questions} to %s: a dry run, nothing is charged\n", len(q.Questions), q.Dataset)
	for i := range q.Questions {
		one := &q.Questions[i]
		fmt.Fprintf(w, "\n%d. %s\n", i+1, sentence(l, one.Question.Said()))
		printLine(w, "cost", l.Text("%s, %s noise", one.Cost, one.Question.Noise()))
		printLine(w, "accuracy", words.PromiseWords(&one.Accuracy, one.Cells).In(l).Text)
		printLine(w, "groups", one.Composition.In(l).Text)
		for j := range one.Columns {
			printLine(w, "column", reads(l, &one.Columns[j]))
		}
		if one.Reach != nil {
			printLine(w, "reach", one.Reach.In(l).Text)
		}
		printMessages(w, "warning", one.Warnings)
		if one.Sampling != nil {
			printLine(w, "sampling", l.Text("within %s. %s", figure(one.Sampling.Within), one.Sampling.Basis.In(l).Text))
		}
	}
	fmt.Fprintln(w)
	printLine(w, "cost", l.Text("%s, neighbours %s of one %s", q.Cost, q.Neighbours, l.Unit(q.Unit)))
	for _, a := range q.Accounts {
		if a.After != nil {
			printLine(w, noren.Term(a.Kind), l.Text("%s: %s left after it", a.Name, a.After))
		} else {
			printLine(w, noren.Term(a.Kind), l.Text("%s: %s left, not enough", a.Name, a.Left))
		}
	}
	printMessages(w, "odds", q.Statement)
	for _, change := range q.FitsWith {
		printLine(w, "would fit", l.Text("%s: %s in all", change.Change.In(l).Text, change.Cost))
	}
	if !q.Fits {
		return &alreadySaid{&noren.Error{Kind: noren.Refused, Code: "budget-refused", What: "the budget does not cover it"}}
	}
	return nil
}

// printRehearsal prints what made-up rows came to.
func printRehearsal(w io.Writer, r *api.AskRequest, out *api.Rehearsal) error {
	lang.Fprintf(w, "a rehearsal on %d made-up {row|rows}, not those of %s: nothing is charged\n\n", out.Rows, r.Dataset)
	for i := range out.Questions {
		q := &r.Questions[i]
		if err := printAnswer(w, i, q, q.Said(), out.Questions[i].Rows); err != nil {
			return err
		}
		if of := out.Questions[i].Of; of > 0 {
			printLine(w, "within", lang.Of(w).Text("%d of %d {value|values} of %d {run|runs} {1|lies|lie} within the margin (%.1f %%)",
				out.Questions[i].Within, of, out.Runs, 100*float64(out.Questions[i].Within)/float64(of)))
		}
		fmt.Fprintln(w)
	}
	return nil
}

// printAnswer prints the values of one question.
func printAnswer(w io.Writer, i int, q *api.Question, asked []api.Message, rows []api.AnswerRow) error {
	fmt.Fprintf(w, "%d. %s\n", i+1, sentence(lang.Of(w), asked))
	l := lang.Of(w)
	tab := grid.New(w)
	for j := range rows {
		r := &rows[j]
		cells := append([]string{""}, r.Keys...)
		for k := 1; k < len(cells); k++ {
			if cells[k] == "" {
				cells[k] = l.Text("(missing)")
			}
		}
		value := l.Text("none")
		switch {
		case r.Text != "":
			value = r.Text
		case r.Value != nil:
			value = figure(*r.Value)
		}
		spread := ""
		switch {
		case r.Low != nil && r.Text == "":
			spread = l.Text("%s to %s", figure(*r.Low), figure(*r.High))
		case r.Noise != nil && q.Of.Facts().Margin == kinds.OfRank:
			spread = l.Text("rank off by at most %s", figure(*r.Noise))
		case r.Noise != nil:
			spread = l.Text("within %s", figure(*r.Noise))
		}
		fmt.Fprintf(tab, "  %s\t%s\t%s\n", strings.Join(cells, "\t"), value, spread)
	}
	return tab.Flush()
}

func sentence(l lang.Lang, m []api.Message) string {
	if len(m) == 0 {
		return ""
	}
	return m[0].In(l).Text
}

// printMessages prints sentences under one label.
func printMessages(w io.Writer, label noren.Term, all []api.Message) {
	for _, m := range all {
		printLine(w, label, m.In(lang.Of(w)).Text)
	}
}
