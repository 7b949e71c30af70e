package cli

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/noren-privacy/noren"
	"github.com/noren-privacy/noren/internal/grid"
	"github.com/noren-privacy/noren/lang"
	"github.com/noren-privacy/noren/lang/glossary"
	"github.com/noren-privacy/noren/table"
)

// newExplain is noren explain, which says what a term of a result means.
func newExplain(t *terminal) *cobra.Command {
	var asJSON bool
	c := &cobra.Command{
		Use:   "explain [TERM...]",
		Short: "Explain a term of a result",
		RunE: func(_ *cobra.Command, args []string) error {
			terms, err := explained(t, args)
			if err != nil {
				return err
			}
			if asJSON {
				return printJSON(t.stdout, terms)
			}
			if len(args) == 0 {
				return listTerms(t, terms)
			}
			for _, term := range terms {
				fmt.Fprintf(t.stdout, "%s\n\n  %s\n\n  %s\n", term.Name, term.Text, t.lang.Text("Example: %s", term.Example))
			}
			return nil
		},
		ValidArgsFunction: func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
			return glossary.Words(t.lang), cobra.ShellCompDirectiveNoFileComp
		},
	}
	c.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return c
}

// points names the terms of a result that noren explain says. It does so on a terminal only:
// a file that holds the result has no reader who can ask.
func (t *terminal) points(ids ...string) {
	if !t.progress.live {
		return
	}
	var names []string
	for _, id := range ids {
		if term, ok := glossary.Find(t.lang, id); ok {
			names = append(names, term.Name)
		}
	}
	t.note("noren explain TERM says what a term means: %s", strings.Join(names, ", "))
}

// next says what comes after a command, in one line. It does so on a terminal only: a
// script knows.
func (t *terminal) next(format lang.Key, args ...any) {
	if t.progress.live {
		fmt.Fprintln(t.stderr, t.lang.Text("next: %s", t.lang.Text(format, args...)))
	}
}

// explained is the term that the words of a command line name together, so that quotes are
// not needed; without a word all terms.
func explained(t *terminal, args []string) ([]glossary.Term, error) {
	if len(args) == 0 {
		return glossary.Terms(t.lang), nil
	}
	word := strings.Join(args, " ")
	if term, ok := glossary.Find(t.lang, word); ok {
		return []glossary.Term{term}, nil
	}
	err := noren.Usagef("TERM", "no term %q is known", word)
	if best := table.Nearest(word, glossary.Words(t.lang)); best != "" {
		return nil, err.Hinted("did you mean %s?", best)
	}
	return nil, err.Hinted("noren explain lists all terms")
}

// listTerms prints the first sentence of each term.
func listTerms(t *terminal, terms []glossary.Term) error {
	w := grid.New(t.stdout)
	for _, term := range terms {
		fmt.Fprintf(w, "%s\t%s\n", term.Name, term.First())
	}
	return w.Flush()
}
