package cli

import (
	"encoding/json"
	"io"
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

// printHistory prints a line for each charge, with the whole query.
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

// queryText is the whole query of a charge: the mechanism's name and its parameters.
func queryText(mechanism json.RawMessage) string {
	var q struct {
		Mechanism struct {
			Name       string          `json:"name"`
			Parameters json.RawMessage `json:"parameters"`
		} `json:"mechanism"`
		Name       string          `json:"name"` // of charges from before schemas
		Parameters json.RawMessage `json:"parameters"`
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
	return q.Mechanism.Name + " " + string(q.Mechanism.Parameters)
}
