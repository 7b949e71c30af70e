package cli

import (
	"fmt"
	"io"
	"os"

	"github.com/spf13/cobra"

	"github.com/noren-privacy/noren/api"
	"github.com/noren-privacy/noren/dataset"
	"github.com/noren-privacy/noren/internal/grid"
	"github.com/noren-privacy/noren/lang"
	words "github.com/noren-privacy/noren/report/text"
)

// defaultLedger is the ledger's file where neither flag nor environment names one.
const defaultLedger = "noren.db"

// ledgerFlag is where the ledger is.
type ledgerFlag struct{ path string }

func (f *ledgerFlag) register(c *cobra.Command) {
	c.Flags().StringVar(&f.path, "ledger", "", "the budget ledger's `FILE` (default: $NOREN_LEDGER, else noren.db)")
}

// file is the ledger's path.
func (f *ledgerFlag) file() string {
	switch {
	case f.path != "":
		return f.path
	case os.Getenv("NOREN_LEDGER") != "":
		return os.Getenv("NOREN_LEDGER")
	}
	return defaultLedger
}

func newLedger(t *terminal) *cobra.Command {
	c := &cobra.Command{
		Use:   "ledger",
		Short: "Manage privacy budgets and schemas of data sets",
		Args:  cobra.NoArgs,
		RunE:  func(c *cobra.Command, _ []string) error { return c.Help() },
	}
	c.AddCommand(newLedgerCreate(t), newLedgerGrant(t), newLedgerCloseAnalyst(t), newLedgerShow(t), newLedgerHistory(t), newLedgerVerify(t),
		newLedgerExport(t), newLedgerCheckExport(t), newLedgerReconcile(t))
	return c
}

func newLedgerCreate(t *terminal) *cobra.Command {
	var at ledgerFlag
	var anchor string
	c := &cobra.Command{
		Use:   "create",
		Short: "Create an empty ledger",
		Args:  exactly(),
		RunE: func(c *cobra.Command, _ []string) error {
			s := t.service(&at)
			s.Anchor = anchor
			if err := s.LedgerCreate(c.Context()); err != nil {
				return err
			}
			lang.Fprintf(t.stdout, "%s: a new ledger; noren ledger grant NAME --file FILE --epsilon E grants a budget in it\n", at.file())
			return nil
		},
	}
	at.register(c)
	c.Flags().StringVar(&anchor, "anchor", "", "a `FILE` in another folder that holds the number and the hash of the last entry")
	return c
}

func newLedgerCloseAnalyst(t *terminal) *cobra.Command {
	var at ledgerFlag
	var analyst string
	var asJSON bool
	c := &cobra.Command{
		Use:   "close-analyst NAME --analyst A",
		Short: "Close an analyst's budget in a data set",
		Args:  exactly("NAME"),
		RunE: func(c *cobra.Command, args []string) error {
			s := t.service(&at)
			out, err := s.LedgerCloseAnalyst(c.Context(), &api.LedgerCloseAnalystRequest{Dataset: args[0], Analyst: analyst})
			if err != nil {
				return err
			}
			if asJSON {
				return printJSON(t.stdout, out)
			}
			return printDatasets(t.stdout, []api.Dataset{out.Dataset})
		},
	}
	at.register(c)
	c.Flags().StringVar(&analyst, "analyst", "", "the `NAME` of the analyst")
	c.Flags().BoolVar(&asJSON, "json", false, "print one JSON object, noren.ledger/1")
	return c
}

func newLedgerShow(t *terminal) *cobra.Command {
	var at ledgerFlag
	var asJSON, schema bool
	c := &cobra.Command{
		Use:   "show [NAME]",
		Short: "Show budgets and schemas: granted, spent and left",
		Args:  cobra.MaximumNArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			s := t.service(&at)
			out, err := s.LedgerShow(c.Context(), &api.LedgerShowRequest{Dataset: argument(args)})
			if err != nil {
				return err
			}
			if asJSON {
				return printJSON(t.stdout, out)
			}
			if len(out.Datasets) == 0 {
				lang.Fprintln(t.stdout, "no data set has a budget yet: noren ledger grant NAME --file FILE --epsilon E")
				return nil
			}
			if err := printDatasets(t.stdout, out.Datasets); err != nil || !schema {
				return err
			}
			return printSchemas(t.stdout, out.Datasets)
		},
	}
	at.register(c)
	c.Flags().BoolVar(&schema, "schema", false, "show the schema: columns, types, unit, relation of neighbours")
	c.Flags().BoolVar(&asJSON, "json", false, "print one JSON object, noren.ledger/1")
	return c
}

// argument is the first argument; "" where there is none.
func argument(args []string) string {
	if len(args) == 0 {
		return ""
	}
	return args[0]
}

// printDatasets prints the budget of each data set and of its analysts.
func printDatasets(out io.Writer, datasets []api.Dataset) error {
	w := grid.New(out)
	lang.Fprintln(w, "data set\tspent\tleft\tof\tneighbours\tunit\tversion\tfile")
	for i := range datasets {
		d := &datasets[i]
		version := fmt.Sprint(d.Version)
		if d.Version == 0 {
			version = lang.Of(w).Text("no schema yet")
		}
		lang.Fprintf(w, "%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\n", d.Name, d.Spent, d.Remaining, d.Cap, d.Neighbours, d.Unit, version, d.File)
		for _, a := range d.Analysts {
			state := ""
			if a.Closed {
				state = lang.Of(w).Text("closed")
			}
			lang.Fprintf(w, "  analyst %s\t%s\t%s\t%s\t%s\t\t\t\n", a.Name, a.Spent, a.Available, a.Cap, state)
		}
	}
	if err := w.Flush(); err != nil {
		return err
	}
	for i := range datasets {
		if d := &datasets[i]; d.Statement != nil && d.StatementAtCap != nil {
			lang.Fprintf(out, "%s: all answers so far together: epsilon %s, delta %s; at the cap: epsilon %s, delta %s\n", d.Name,
				d.Statement.Epsilon, d.Statement.Delta, d.StatementAtCap.Epsilon, d.StatementAtCap.Delta)
		}
	}
	return nil
}

// printSchemas prints the current definition of each data set.
func printSchemas(w io.Writer, datasets []api.Dataset) error {
	for i := range datasets {
		s := &datasets[i]
		lang.Fprintf(w, "\nschema of %s", s.Name)
		if s.Version == 0 {
			lang.Fprintln(w, ": none yet; grant the data set again")
			continue
		}
		d, err := dataset.Parse(s.Definition)
		if err != nil {
			return err
		}
		lang.Fprintf(w, ", version %d, sha256 %s\n", s.Version, s.DefinitionSHA256)
		printDefinition(w, d, nil, false)
		printLines(w, words.Dataset(lang.Of(w), s))
	}
	return nil
}
