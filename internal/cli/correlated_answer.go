package cli

import (
	"errors"

	"github.com/spf13/cobra"

	"github.com/noren-privacy/noren"
	"github.com/noren-privacy/noren/api"
	"github.com/noren-privacy/noren/lang"
	"github.com/noren-privacy/noren/release"
	words "github.com/noren-privacy/noren/report/text"
)

type correlatedAnswerFlags struct {
	dpFlags
	model modelFlags
}

func newCorrelatedAnswer(t *terminal) *cobra.Command {
	var f correlatedAnswerFlags
	c := &cobra.Command{
		Use:   "answer DATASET --query Q --epsilon E",
		Short: "Answer a query on a data set of dependent records",
		Args:  exactly("DATASET"),
		RunE:  func(c *cobra.Command, args []string) error { return f.answer(c, t, args[0]) },
	}
	f.dpFlags.register(c, nil, api.CorrelatedAnswerSchema)
	c.Flags().Lookup("delta").Hidden = true // only 0 is accepted
	f.model.register(c)
	return c
}

func (f *correlatedAnswerFlags) answer(c *cobra.Command, t *terminal, name string) error {
	ctx := c.Context()
	ask, err := f.ask(name)
	if err != nil {
		return err
	}
	q, err := f.model.request()
	if err != nil {
		return err
	}
	r := &api.CorrelatedAnswerRequest{Ask: ask, ModelQuery: q}
	s := t.service(&f.ledgerFlag)
	if f.dryRun {
		quote, err := s.CorrelatedAnswerPrice(ctx, r)
		if err != nil {
			return f.explainModel(name, err)
		}
		return printPrice(t, f.json, quote, &quote.Price, t.lang.Text("a dry run, nothing is charged"),
			words.CorrelatedNoise(t.lang, quote.Accuracy.Scale, quote.Accuracy.Leakage.Upper))
	}
	if err := f.agree(ctx, t, func() (*api.Price, []api.Message, error) {
		quote, err := s.CorrelatedAnswerPrice(ctx, r)
		if err != nil {
			return nil, nil, err
		}
		return &quote.Price, nil, nil
	}); err != nil {
		return f.explainModel(name, err)
	}
	answer, err := s.CorrelatedAnswer(ctx, r)
	if err != nil {
		return f.explainModel(name, err)
	}
	if err := f.write(t, &answer.Receipt); err != nil {
		return err
	}
	if f.json {
		return printJSON(t.stdout, answer)
	}
	lang.Fprintf(t.stdout, "%s, %s\n\n", answer.Query, name)
	printLines(t.stdout, append(words.Correlated(t.lang, answer), words.Guarantee(t.lang, &answer.Receipt)...))
	return nil
}

// explainModel is explain, and says how a data set gets a model.
func (f *correlatedAnswerFlags) explainModel(name string, err error) error {
	var e *noren.Error
	if errors.As(err, &e) && e.Code == release.CodeModel && e.Hint == "" {
		out := *e
		out.Hinted("the steward grants one: noren ledger grant %s --model FILE --model-column COLUMN", name)
		return &out
	}
	return f.explain(name, err)
}
