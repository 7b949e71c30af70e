package cli

import (
	"context"
	"encoding/hex"
	"fmt"
	"io"
	"os"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"github.com/noren-privacy/noren"
	"github.com/noren-privacy/noren/account"
	"github.com/noren-privacy/noren/dataset"
	"github.com/noren-privacy/noren/ledger"
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

// with opens the ledger for one piece of work.
func (f *ledgerFlag) with(ctx context.Context, work func(*ledger.Ledger) error) error {
	l, err := ledger.Open(ctx, f.file(), ledger.Options{})
	if err != nil {
		return err
	}
	defer func() { _ = l.Close() }()
	return work(l)
}

func newLedger(t *terminal) *cobra.Command {
	c := &cobra.Command{
		Use:   "ledger",
		Short: "Manage the privacy budgets and schemas of data sets",
		Long: `Manages the ledger: a file that stores for every data set its privacy budget
(epsilon, delta), its schema, and what was charged. Answers with differential privacy
are charged before the data is read; charges are never refunded. Several processes may
use one ledger at once.

The ledger is $NOREN_LEDGER, else noren.db in the working directory, unless --ledger
says otherwise. Beside it lies its head file, noren.db.head. Keep certificates elsewhere:
they reveal an older copy of both that was put back.`,
		Example: `  noren ledger create
  noren ledger grant visits --file visits.csv --spec noren.yaml --epsilon 1 --yes
  noren ledger grant visits --analyst mori --epsilon 0.3
  noren ledger show visits --schema
  noren ledger history visits
  noren ledger verify`,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error { return c.Help() },
	}
	c.AddCommand(newLedgerCreate(t), newLedgerGrant(t), newLedgerCloseAnalyst(t), newLedgerShow(t), newLedgerHistory(t), newLedgerVerify(t), newLedgerReconcile(t))
	return c
}

func newLedgerCreate(t *terminal) *cobra.Command {
	var at ledgerFlag
	c := &cobra.Command{
		Use:     "create",
		Short:   "Create an empty ledger",
		Example: "  noren ledger create\n  noren ledger create --ledger budgets.db",
		Args:    exactly(),
		RunE: func(c *cobra.Command, _ []string) error {
			if err := ledger.Create(c.Context(), at.file()); err != nil {
				return err
			}
			fmt.Fprintf(t.stdout, "%s: a new ledger; noren ledger grant NAME --file FILE --epsilon E grants a budget in it\n", at.file())
			return nil
		},
	}
	at.register(c)
	return c
}

// parseCost reads --epsilon and --delta.
func parseCost(epsilon, delta string) (account.Cost, error) {
	if epsilon == "" {
		return account.Cost{}, &noren.Error{Kind: noren.Usage, Where: "--epsilon", What: "say how much may be spent", Hint: "--epsilon 0.1"}
	}
	var c account.Cost
	var err error
	if c.Epsilon, err = account.ParseEpsilon(epsilon); err != nil {
		return c, at("--epsilon", err)
	}
	if c.Delta, err = account.ParseDelta(delta); err != nil {
		return c, at("--delta", err)
	}
	return c, nil
}

func newLedgerCloseAnalyst(t *terminal) *cobra.Command {
	var at ledgerFlag
	var analyst string
	var asJSON bool
	c := &cobra.Command{
		Use:   "close-analyst NAME --analyst A",
		Short: "Close an analyst's budget in a data set",
		Long: `Closes an analyst's budget: the analyst may ask nothing more of the data set. What was
spent stays spent, and analysts without a grant are still refused. A new grant to the
analyst opens the budget again.`,
		Example: "  noren ledger close-analyst visits --analyst mori",
		Args:    exactly("NAME"),
		RunE: func(c *cobra.Command, args []string) error {
			if analyst == "" {
				return &noren.Error{Kind: noren.Usage, Where: "--analyst", What: "say whose budget is closed"}
			}
			return at.with(c.Context(), func(l *ledger.Ledger) error {
				book, err := l.CloseAnalyst(c.Context(), args[0], analyst)
				if err != nil {
					return err
				}
				if asJSON {
					return printJSON(t.stdout, grantJSON(book, nil))
				}
				return printBooks(t.stdout, []*ledger.Book{book})
			})
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
		Long: `Shows the budget of every data set, or of one: granted, spent and left. What an analyst
can still spend is the smaller of the analyst's own rest and the data set's. --schema
shows how the data set is read; a schema is public.`,
		Example: "  noren ledger show\n  noren ledger show visits --schema\n  noren ledger show visits --json",
		Args:    cobra.MaximumNArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			return at.with(c.Context(), func(l *ledger.Ledger) error {
				books, err := l.Show(c.Context())
				if err == nil && len(args) == 1 {
					var b *ledger.Book
					b, err = l.Book(c.Context(), args[0])
					books = []*ledger.Book{b}
				}
				if err != nil {
					return err
				}
				if err := l.Sealed(); err != nil {
					t.warn("%v", hinted(err))
				}
				if asJSON {
					out := booksJSON{Schema: ledgerSchema, Ledger: l.ID(), Sealed: l.Sealed() != nil, Datasets: []datasetJSON{}}
					for _, b := range books {
						out.Datasets = append(out.Datasets, bookJSON(b))
					}
					return printJSON(t.stdout, out)
				}
				if len(books) == 0 {
					fmt.Fprintln(t.stdout, "no data set has a budget yet: noren ledger grant NAME --file FILE --epsilon E")
					return nil
				}
				if err := printBooks(t.stdout, books); err != nil || !schema {
					return err
				}
				return printSchemas(t.stdout, books)
			})
		},
	}
	at.register(c)
	c.Flags().BoolVar(&schema, "schema", false, "show the schema: columns, types, unit, relation of neighbours")
	c.Flags().BoolVar(&asJSON, "json", false, "print one JSON object, noren.ledger/1")
	return c
}

func printBooks(out io.Writer, books []*ledger.Book) error {
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "data set\tspent\tleft\tof\tneighbours\tunit\tversion\tfile")
	for _, b := range books {
		version := fmt.Sprint(b.Version)
		if b.Version == 0 {
			version = "no schema yet"
		}
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\n", b.Name, account.Cost(b.Spent), account.Cost(b.Remaining), account.Cost(b.Cap), b.Neighbours, b.Unit, version, b.Path)
		for i := range b.Analysts {
			a := &b.Analysts[i]
			state := ""
			if a.Closed {
				state = "closed"
			}
			fmt.Fprintf(w, "  analyst %s\t%s\t%s\t%s\t%s\t\t\t\n", a.Name, account.Cost(a.Spent), account.Cost(a.Available), account.Cost(a.Cap), state)
		}
	}
	return w.Flush()
}

// printSchemas prints the current definition of each data set.
func printSchemas(w io.Writer, books []*ledger.Book) error {
	for _, b := range books {
		fmt.Fprintf(w, "\nschema of %s", b.Name)
		if b.Version == 0 {
			fmt.Fprintln(w, ": none yet; grant the data set again")
			continue
		}
		d, err := dataset.Parse(b.Definition)
		if err != nil {
			return err
		}
		fmt.Fprintf(w, ", version %d, sha256 %x\n", b.Version, b.DefinitionHash)
		printDefinition(w, d, nil, false)
		for _, other := range b.OtherPeople {
			fmt.Fprintf(w, "  declared    no person of %s is in data set %s\n", b.Name, other)
		}
		if b.BeforeSchema > 0 {
			fmt.Fprintf(w, "  note        %s before this schema: their guarantee holds for the column types that their queries declared\n", plural(b.BeforeSchema, "charge"))
		}
		for _, other := range b.SharedWith {
			fmt.Fprintf(w, "  note        data set %s was granted for the same file: the same persons have two budgets\n", other)
		}
	}
	return nil
}

func newLedgerHistory(t *terminal) *cobra.Command {
	var at ledgerFlag
	var analyst string
	var asJSON bool
	c := &cobra.Command{
		Use:     "history [NAME]",
		Short:   "Show who asked what, when, and at what cost",
		Example: "  noren ledger history\n  noren ledger history visits --analyst mori\n  noren ledger history visits --json",
		Args:    cobra.MaximumNArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			o := ledger.HistoryOptions{Analyst: analyst}
			if len(args) == 1 {
				o.Dataset = args[0]
			}
			return at.with(c.Context(), func(l *ledger.Ledger) error {
				if o.Dataset != "" {
					if _, err := l.Book(c.Context(), o.Dataset); err != nil {
						return err
					}
				}
				var entries []entryJSON
				err := l.History(c.Context(), o, func(e ledger.Entry) error {
					entries = append(entries, toEntryJSON(&e))
					return nil
				})
				if err != nil {
					return err
				}
				if asJSON {
					return printJSON(t.stdout, map[string]any{"schema": ledgerSchema, "ledger": l.ID(), "charges": append([]entryJSON{}, entries...)})
				}
				return printHistory(t.stdout, entries)
			})
		},
	}
	at.register(c)
	c.Flags().StringVar(&analyst, "analyst", "", "only what this analyst `NAME` asked, as declared")
	c.Flags().BoolVar(&asJSON, "json", false, "print one JSON object, noren.ledger/1")
	return c
}

// printHistory prints a line a charge, and below it the whole question.
func printHistory(out io.Writer, entries []entryJSON) error {
	if len(entries) == 0 {
		fmt.Fprintln(out, "nothing was asked yet")
		return nil
	}
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "link\ttime\tdata set\tanalyst\tcost\tstate\tquestion")
	for _, e := range entries {
		state := e.State
		if e.Reason != "" {
			state += ": " + e.Reason
		}
		fmt.Fprintf(w, "%d\t%s\t%s\t%s\t%s\t%s\t%s\n", e.Link, e.Time, e.Dataset, e.Principal, account.Cost(e.cost), state, e.what())
	}
	return w.Flush()
}

func newLedgerVerify(t *terminal) *cobra.Command {
	var at ledgerFlag
	var asJSON bool
	c := &cobra.Command{
		Use:   "verify",
		Short: "Check the whole ledger: its chain, its sums, its head file",
		Long: `Replays the chain of all grants and charges from its first link and compares it
with what the ledger holds and with its head file. Exit code 0 when all is as it
should be, 4 when it has been changed from outside or damaged.`,
		Example: "  noren ledger verify\n  noren ledger verify --json",
		Args:    exactly(),
		RunE: func(c *cobra.Command, _ []string) error {
			return at.with(c.Context(), func(l *ledger.Ledger) error {
				r, err := l.Verify(c.Context())
				if err != nil {
					return err
				}
				if asJSON {
					err = printJSON(t.stdout, map[string]any{
						"schema": ledgerSchema, "ledger": l.ID(), "sound": r.Err() == nil, "links": r.Links, "charges": r.Charges,
						"head": hex.EncodeToString(r.Head[:]), "faults": append([]string{}, r.Faults...), "sealed": l.Sealed() != nil,
					})
				} else {
					printVerification(t.stdout, at.file(), r)
				}
				if err == nil && r.Err() != nil {
					return &alreadySaid{r.Err()}
				}
				if err == nil {
					err = l.Sealed()
				}
				return err
			})
		},
	}
	at.register(c)
	c.Flags().BoolVar(&asJSON, "json", false, "print one JSON object, noren.ledger/1")
	return c
}

func printVerification(w io.Writer, path string, r *ledger.Report) {
	if r.Err() == nil {
		fmt.Fprintf(w, "%s: sound: %d links, %d charges\nhead %x\n", path, r.Links, r.Charges, r.Head)
		return
	}
	fmt.Fprintf(w, "%s: NOT sound\n", path)
	for _, f := range r.Faults {
		fmt.Fprintf(w, "  %s\n", f)
	}
}

// when writes a time as certificates do.
func when(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.UTC().Format(time.RFC3339)
}
