package cli

import (
	"encoding/json"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/noren-privacy/noren/api"
	"github.com/noren-privacy/noren/internal/grid"
	"github.com/noren-privacy/noren/lang"
)

func newLedgerHistory(t *terminal) *cobra.Command {
	var at ledgerFlag
	var analyst string
	var asJSON bool
	c := &cobra.Command{
		Use:   "history [NAME]",
		Short: "Show the charges: analyst, query, time and cost",
		Args:  cobra.MaximumNArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			s := t.service(&at)
			out, err := s.LedgerHistory(c.Context(), &api.LedgerHistoryRequest{Dataset: argument(args), Analyst: analyst})
			if err != nil {
				return err
			}
			if asJSON {
				return printJSON(t.stdout, out)
			}
			if analyst != "" && len(out.Charges) == 0 {
				lang.Fprintf(t.stdout, "analyst %s has asked nothing\n", analyst)
				return nil
			}
			return printHistory(t.stdout, out.Charges)
		},
	}
	at.register(c)
	c.Flags().StringVar(&analyst, "analyst", "", "only the charges of the analyst of this `NAME`, as declared")
	c.Flags().BoolVar(&asJSON, "json", false, "print one JSON object, noren.ledger/1")
	return c
}

// printHistory prints a line for each charge.
func printHistory(out io.Writer, charges []api.Charged) error {
	if len(charges) == 0 {
		lang.Fprintln(out, "nothing was asked yet")
		return nil
	}
	w := grid.New(out)
	lang.Fprintln(w, "entry\ttime\tdata set\tanalyst\tcost\tstate\tquery")
	for i := range charges {
		e := &charges[i]
		state := e.State
		if e.Reason != "" {
			state += ": " + lang.Of(out).Say(e.Reason)
		}
		analyst := e.Principal
		if strings.HasPrefix(analyst, "(") { // no analyst: where a recovered charge comes from
			analyst = lang.Of(out).Say(analyst)
		}
		lang.Fprintf(w, "%d\t%s\t%s\t%s\t%s\t%s\t%s\n", e.Link, e.Time, e.Dataset, analyst, e.Cost, state, queryText(e.Mechanism))
	}
	return w.Flush()
}

// unsaid are parameters that a line of the history leaves out: those that other columns
// state, that are the same in all charges of a data set, or that follow from the rest.
// --json has them.
var unsaid = map[string]bool{"delta": true, "epsilon": true, "level": true, "mechanism": true, "neighbours": true, "noise": true, "query": true, "unit": true}

// queryText is the query of a charge as a line: the mechanism's name and its parameters.
func queryText(mechanism json.RawMessage) string {
	var q struct {
		Mechanism struct {
			Name       string                     `json:"name"`
			Parameters map[string]json.RawMessage `json:"parameters"`
		} `json:"mechanism"`
		Name       string                     `json:"name"` // of charges from before schemas
		Parameters map[string]json.RawMessage `json:"parameters"`
	}
	if json.Unmarshal(mechanism, &q) != nil {
		return strings.TrimSpace(string(mechanism))
	}
	if q.Mechanism.Name == "" {
		q.Mechanism.Name, q.Mechanism.Parameters = q.Name, q.Parameters
	}
	if q.Mechanism.Name == "" {
		return strings.TrimSpace(string(mechanism))
	}
	parts := []string{q.Mechanism.Name}
	for _, name := range slices.Sorted(maps.Keys(q.Mechanism.Parameters)) {
		if value := q.Mechanism.Parameters[name]; unsaid[name] || string(value) == "null" {
			continue
		}
		parts = append(parts, name+"="+shortened(q.Mechanism.Parameters[name]))
	}
	return strings.Join(parts, " ")
}

// shortened is a parameter as a line shows it: a text without its quotes, and the beginning of
// what is long.
func shortened(value json.RawMessage) string {
	const most = 60
	text := string(value)
	var word string
	if json.Unmarshal(value, &word) == nil && !strings.ContainsAny(word, " \t\n=") {
		text = word
	}
	if runes := []rune(text); len(runes) > most {
		text = string(runes[:most]) + "..."
	}
	return text
}
