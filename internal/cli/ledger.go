package cli

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"noren"
	"noren/account"
	"noren/ledger"
)

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
	return "noren.db"
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
		Short: "Keep the privacy budgets: what each data set may lose, and has lost",
		Long: `The ledger is a file in which every data set has a budget of privacy loss
(epsilon, delta). Every answer of differential privacy is charged to it before the
data is read, and nothing is ever given back. Several processes may use it at once.

The ledger is $NOREN_LEDGER, else noren.db in the working directory, unless --ledger
says otherwise. Beside it lies its head file, noren.db.head; keep certificates
elsewhere: they find out when older copies of both are put back.`,
		Example: `  noren ledger create
  noren ledger grant visits --file visits.csv --epsilon 1 --delta 1e-6
  noren ledger grant visits --analyst mori --epsilon 0.3
  noren ledger show
  noren ledger history visits
  noren ledger verify`,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error { return c.Help() },
	}
	c.AddCommand(newLedgerCreate(t), newLedgerGrant(t), newLedgerShow(t), newLedgerHistory(t), newLedgerVerify(t), newLedgerReconcile(t))
	return c
}

func newLedgerCreate(t *terminal) *cobra.Command {
	var at ledgerFlag
	c := &cobra.Command{
		Use:     "create",
		Short:   "Make a new, empty ledger",
		Example: "  noren ledger create\n  noren ledger create --ledger /var/lib/noren/budgets.db",
		Args:    exactly(),
		RunE: func(c *cobra.Command, _ []string) error {
			if err := ledger.Create(c.Context(), at.file()); err != nil {
				return err
			}
			fmt.Fprintf(t.stdout, "%s: a new ledger; noren ledger grant NAME --file FILE --epsilon E opens a budget in it\n", at.file())
			return nil
		},
	}
	at.register(c)
	return c
}

type grantFlags struct {
	ledgerFlag
	file, epsilon, delta, neighbours, unit, analyst string
	changed, json                                   bool
}

func newLedgerGrant(t *terminal) *cobra.Command {
	var f grantFlags
	c := &cobra.Command{
		Use:   "grant NAME --file FILE --epsilon E",
		Short: "Give a data set, or an analyst, a budget",
		Long: `Opens the budget of a data set: all that may ever be lost of it. NAME stands in
certificates, FILE is told apart by its content. Granting again sets the cap anew,
not below what is spent.

The relation of neighbours and the unit are fixed by the first grant, because
epsilons of different relations do not add up. add-remove: tables that differ by
one unit more or less; replace-one: by what one unit holds. The unit is a record,
or the column whose equal values mark the records of one person.

With --analyst the cap is that analyst's own, under the data set's. From the first
such grant on, only analysts with a grant may ask.`,
		Example: `  noren ledger grant visits --file visits.csv --epsilon 1
  noren ledger grant visits --file visits.csv --epsilon 2 --delta 1e-6 --unit person_id
  noren ledger grant visits --analyst mori --epsilon 0.3
  noren ledger grant visits --file visits.csv --epsilon 3 --changed`,
		Args: exactly("NAME"),
		RunE: func(c *cobra.Command, args []string) error { return f.run(c, t, args[0]) },
	}
	f.register(c)
	s := c.Flags()
	s.StringVar(&f.file, "file", "", "the data set's `FILE`")
	s.StringVar(&f.epsilon, "epsilon", "", "all the epsilon that may ever be spent, in decimal")
	s.StringVar(&f.delta, "delta", "", "all the delta that may ever be spent (default 0)")
	s.StringVar(&f.neighbours, "neighbours", "", "add-remove or replace-one (default add-remove, or as granted before)")
	s.StringVar(&f.unit, "unit", "", "record, or the `COLUMN` that tells whose records belong together (default record, or as granted before)")
	s.StringVar(&f.analyst, "analyst", "", "grant to this analyst, under the data set's budget")
	s.BoolVar(&f.changed, "changed", false, "the file is the same data set in a new state: go on with what is spent")
	s.BoolVar(&f.json, "json", false, "print the book as one JSON object, noren.ledger/1")
	return c
}

func (f *grantFlags) run(c *cobra.Command, t *terminal, name string) error {
	limit, err := parseCost(f.epsilon, f.delta)
	if err != nil {
		return err
	}
	ctx := c.Context()
	return f.with(ctx, func(l *ledger.Ledger) error {
		book, err := f.dataset(ctx, l, name, limit)
		if err == nil && f.analyst != "" {
			book, err = l.GrantAnalyst(ctx, name, f.analyst, limit)
		}
		if err != nil {
			return err
		}
		if f.json {
			return printJSON(t.stdout, struct {
				Schema string `json:"schema"`
				datasetJSON
			}{ledgerSchema, bookJSON(book)})
		}
		return printBooks(t.stdout, []*ledger.Book{book})
	})
}

// dataset grants to the data set itself; for an analyst only where it has no
// budget yet.
func (f *grantFlags) dataset(ctx context.Context, l *ledger.Ledger, name string, limit account.Cost) (*ledger.Book, error) {
	g := ledger.Grant{Name: name, File: f.file, Cap: limit, Unit: f.unit, Changed: f.changed}
	book, err := l.Book(ctx, name)
	switch {
	case errors.Is(err, ledger.ErrNoGrant):
	case err != nil:
		return nil, err
	default:
		if f.analyst != "" && f.file == "" {
			return book, nil
		}
		if f.analyst != "" {
			found, err := l.FindByFile(ctx, f.file)
			if err != nil {
				return nil, err
			}
			if found.Name != name {
				return nil, &noren.Error{Kind: noren.Usage, Where: f.file, What: fmt.Sprintf("is granted as %s, not as %s", found.Name, name)}
			}
			return book, nil
		}
		g.Neighbours = book.Neighbours
		if g.Unit == "" {
			g.Unit = book.Unit
		}
	}
	if f.file == "" {
		return nil, &noren.Error{Kind: noren.Usage, Where: "--file", What: "say which file the budget is for", Hint: "noren ledger grant " + name + " --file FILE --epsilon E"}
	}
	if f.neighbours != "" {
		if g.Neighbours, err = account.ParseNeighbours(f.neighbours); err != nil {
			return nil, err
		}
	}
	return l.Grant(ctx, g)
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

func newLedgerShow(t *terminal) *cobra.Command {
	var at ledgerFlag
	var asJSON bool
	c := &cobra.Command{
		Use:     "show [NAME]",
		Short:   "Show the budgets: granted, spent and left",
		Example: "  noren ledger show\n  noren ledger show visits --json",
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
					t.warn("%v", err)
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
				return printBooks(t.stdout, books)
			})
		},
	}
	at.register(c)
	c.Flags().BoolVar(&asJSON, "json", false, "print one JSON object, noren.ledger/1")
	return c
}

func printBooks(out io.Writer, books []*ledger.Book) error {
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "data set\tspent\tleft\tof\tneighbours\tunit\tfile")
	row := func(name string, a *ledger.Account, rest string) {
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\n", name, account.Cost(a.Spent), account.Cost(a.Remaining), account.Cost(a.Cap), rest)
	}
	for _, b := range books {
		row(b.Name, &b.Account, fmt.Sprintf("%s\t%s\t%s", b.Neighbours, b.Unit, b.Path))
		for i := range b.Analysts {
			row("  analyst "+b.Analysts[i].Name, &b.Analysts[i], "\t\t")
		}
		for i := range b.Blocks {
			row("  block "+b.Blocks[i].Name, &b.Blocks[i], "\t\t")
		}
	}
	return w.Flush()
}

func newLedgerHistory(t *terminal) *cobra.Command {
	var at ledgerFlag
	var asJSON bool
	c := &cobra.Command{
		Use:     "history [NAME]",
		Short:   "Show who asked what, when, and what it cost",
		Example: "  noren ledger history\n  noren ledger history visits --json",
		Args:    cobra.MaximumNArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			name := ""
			if len(args) == 1 {
				name = args[0]
			}
			return at.with(c.Context(), func(l *ledger.Ledger) error {
				if name != "" {
					if _, err := l.Book(c.Context(), name); err != nil {
						return err
					}
				}
				var entries []entryJSON
				err := l.History(c.Context(), name, func(e ledger.Entry) error {
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
	c.Flags().BoolVar(&asJSON, "json", false, "print one JSON object, noren.ledger/1")
	return c
}

func printHistory(out io.Writer, entries []entryJSON) error {
	if len(entries) == 0 {
		fmt.Fprintln(out, "nothing was asked yet")
		return nil
	}
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "link\ttime\tdata set\twho\twhat\tcost\tstate")
	for _, e := range entries {
		state := e.State
		if e.Reason != "" {
			state += ": " + e.Reason
		}
		fmt.Fprintf(w, "%d\t%s\t%s\t%s\t%s\t%s\t%s\n", e.Link, e.Time, e.Dataset, e.Principal, e.what(), account.Cost(e.cost), state)
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
