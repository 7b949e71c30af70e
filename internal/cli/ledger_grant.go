package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/noren-privacy/noren"
	"github.com/noren-privacy/noren/account"
	"github.com/noren-privacy/noren/correlated"
	"github.com/noren-privacy/noren/dataset"
	"github.com/noren-privacy/noren/ledger"
	"github.com/noren-privacy/noren/release"
	"github.com/noren-privacy/noren/spec"
	"github.com/noren-privacy/noren/table/csvio"
	"github.com/noren-privacy/noren/table/file"
)

type grantFlags struct {
	ledgerFlag
	columnFlags
	file, epsilon, delta, neighbours, unit, analyst string
	model, modelColumn, modelOther                  string
	atMost, records                                 int64
	changed, replace, otherPeople, yes, json        bool
}

func newLedgerGrant(t *terminal) *cobra.Command {
	var f grantFlags
	c := &cobra.Command{
		Use:   "grant NAME --file FILE --epsilon E",
		Short: "Grant a budget and a schema to a data set, or a budget to an analyst",
		Long: `Sets the privacy budget of a data set and pins its schema: how the file is read, what
its privacy unit is, and which tables are neighbours. The whole file is read under the
schema; what does not fit is listed for you, and for you alone. Queries cannot change
the schema, and it is public: do not put anything into it that is a secret of the table.

Types, date layouts, levels, missing texts, bounds and keys come from --spec or the
flags. Types that neither states are proposed from the values and must be confirmed
with --yes, as must cells that do not fit: they will count as missing. Levels, keys and
bounds are never proposed.

add-remove: neighbouring tables differ by all records of one unit (unbounded
neighbours). replace-one: by what one unit holds (bounded neighbours); their number is
public. The unit is a record, or the column whose equal texts mark one person.

While nothing is spent, --replace exchanges schema, unit, relation and cap. Later the
cap can only rise, and --changed grants a new version of the same data set, such as next
month's table of the same people: what is spent stays spent. People who are in two data
sets have two budgets, so a file that shares its columns with another data set needs
--other-people, which certificates then state as an assumption.

A workbook, a table of a database (pg:TABLE, sqlite:FILE?table=TABLE) and the result of
--query FILE are copied once, now, to a private Parquet file in the ledger's folder, and
queries read that file alone. What changes in the table later changes no answer: grant
it again with --changed.

With --model, a public model of dependent records (noren correlated), every answer is
priced under the model. With --analyst the cap is that analyst's own, under the data
set's; from the first such grant on, only analysts with a grant may ask.`,
		Example: `  noren ledger grant visits --file visits.csv --spec noren.yaml --epsilon 1 --yes
  noren ledger grant visits --epsilon 2
  noren ledger grant wards --file pg:clinic.wards --epsilon 1 --yes
  noren ledger grant visits --analyst mori --epsilon 0.3
  noren ledger grant visits --file visits.csv --spec noren.yaml --epsilon 3 --changed --yes`,
		Args: exactly("NAME"),
		RunE: func(c *cobra.Command, args []string) error { return f.run(c, t, args[0]) },
	}
	f.ledgerFlag.register(c)
	s := c.Flags()
	s.StringVar(&f.file, "file", "", "the data set's `FILE`, workbook or database table (default: the file granted before)")
	s.StringVar(&f.epsilon, "epsilon", "", "cap: the total epsilon that may ever be spent, in decimal")
	s.StringVar(&f.delta, "delta", "", "cap: the total delta that may ever be spent (default 0)")
	s.StringVar(&f.neighbours, "neighbours", "", "add-remove or replace-one (default add-remove, or as granted before)")
	s.StringVar(&f.unit, "unit", "", "record, or the `COLUMN` that tells whose records belong together (default record, or as granted before)")
	s.Int64Var(&f.atMost, "at-most", 0, "public upper bound on the number of records (default 20,000,000)")
	s.Int64Var(&f.records, "records", 0, "exact number of records, public: for replace-one neighbours of one record (default: those of the file)")
	s.StringVar(&f.model, "model", "", "public model of dependent records, a JSON `FILE`: every answer is priced under it")
	s.StringVar(&f.modelColumn, "model-column", "", "the `COLUMN` that holds the states of the model")
	s.StringVar(&f.modelOther, "model-other", "", "the `STATE` of a cell that is in no state of the model (default: the first)")
	s.StringVar(&f.spec, "spec", "", "types, layouts, levels, missing texts, bounds and keys, from this `FILE` (see noren init)")
	s.StringArrayVar(&f.types, "type", nil, "`COLUMN=TYPE`: integer, decimal, date, ordered or category; may be repeated")
	s.StringArrayVar(&f.orders, "order", nil, "`COLUMN=LOW<...<HIGH`: the levels of an ordered column; may be repeated")
	s.StringArrayVar(&f.formats, "format", nil, "`COLUMN=LAYOUT`: how a date is written, as in YYYY-MM-DD; may be repeated")
	f.registerInput(c)
	s.StringVar(&f.analyst, "analyst", "", "grant to this analyst, under the data set's budget")
	s.BoolVar(&f.yes, "yes", false, "confirm the proposed schema, and that cells which do not fit count as missing")
	s.BoolVar(&f.changed, "changed", false, "the file or its schema is a new version of the same data set: what is spent stays spent")
	s.BoolVar(&f.replace, "replace", false, "exchange schema, unit, relation and cap; only while nothing is spent")
	s.BoolVar(&f.otherPeople, "other-people", false, "declare that no person of this data set is in a data set with similar columns")
	s.BoolVar(&f.json, "json", false, "print one JSON object, noren.ledger/1")
	return c
}

func (f *grantFlags) run(c *cobra.Command, t *terminal, name string) error {
	limit, err := parseCost(f.epsilon, f.delta)
	if err != nil {
		return err
	}
	if err := f.check(c); err != nil {
		return err
	}
	ctx := c.Context()
	return f.with(ctx, func(l *ledger.Ledger) error {
		var g *granted
		book, err := l.Book(ctx, name)
		switch {
		case err != nil && !errors.Is(err, ledger.ErrNoGrant):
			return err
		case err != nil:
			book = nil
		}
		switch {
		case f.analyst != "":
			if flag := f.schemaFlag(c); flag != "" {
				return &noren.Error{Kind: noren.Usage, Where: "--" + flag, What: "an analyst's grant has no schema of its own", Hint: "leave it out"}
			}
			if book, err = l.GrantAnalyst(ctx, name, f.analyst, limit); err != nil {
				return err
			}
			f.tellAnalyst(t, book, limit)
		default:
			if g, err = f.dataset(ctx, c, t, l, name, book, limit); err != nil {
				return err
			}
			book = g.book
		}
		if f.json {
			return printJSON(t.stdout, grantJSON(book, g))
		}
		if g != nil {
			g.print(t.stdout)
		}
		return printBooks(t.stdout, []*ledger.Book{book})
	})
}

// check refuses flags that contradict each other or themselves.
func (f *grantFlags) check(c *cobra.Command) error {
	if f.replace && f.changed {
		return &noren.Error{Kind: noren.Usage, Where: "--replace", What: "does not go with --changed", Hint: "--replace corrects a grant of which nothing is spent, --changed grants a new version"}
	}
	for name, n := range map[string]int64{"records": f.records, "at-most": f.atMost} {
		if c.Flags().Changed(name) && n < 1 {
			return &noren.Error{Kind: noren.Usage, Where: "--" + name, What: fmt.Sprintf("expected at least 1 record, got %d", n)}
		}
	}
	return nil
}

// tellAnalyst warns of a cap that the data set does not cover.
func (f *grantFlags) tellAnalyst(t *terminal, book *ledger.Book, limit account.Cost) {
	if left := account.Cost(book.Remaining); !limit.Within(left) {
		t.note("analyst %s is granted %s, and data set %s has %s left: the data set's budget holds", f.analyst, limit, book.Name, left)
	}
}

// schemaFlag names a flag that was given and is about a schema, "" if none was.
func (f *grantFlags) schemaFlag(c *cobra.Command) string {
	for _, name := range []string{"file", "spec", "type", "order", "format", "missing", "delimiter", "encoding", "sheet", "header-row", "query", "neighbours", "unit", "at-most", "records", "model", "model-column", "model-other", "changed", "replace", "other-people"} {
		if c.Flags().Changed(name) {
			return name
		}
	}
	return ""
}

// granted is a grant with the private report for the steward.
type granted struct {
	book     *ledger.Book
	path     string
	copied   bool // path is a private copy that this grant made
	from     string
	proposed []string // columns whose types were proposed from the values
	missing  bool     // so were the missing texts
	review   *release.Reviewed
	model    *dataset.Model
}

// dataset grants to a data set. Where no flag is about its schema, only the cap
// changes and the file is not read.
func (f *grantFlags) dataset(ctx context.Context, c *cobra.Command, t *terminal, l *ledger.Ledger, name string, book *ledger.Book, limit account.Cost) (*granted, error) {
	if book != nil && f.schemaFlag(c) == "" {
		raised, err := l.Grant(ctx, ledger.Grant{Name: name, Cap: limit})
		return &granted{book: raised}, err
	}
	out := &granted{path: f.file}
	if f.file == "" {
		if book == nil {
			return nil, &noren.Error{Kind: noren.Usage, Where: "--file", What: "say which file the budget is for", Hint: "noren ledger grant " + name + " --file FILE --epsilon E"}
		}
		out.path = book.Path
	}
	if err := f.copy(ctx, t, out, name); err != nil {
		return nil, err
	}
	if err := f.review(ctx, t, l, name, book, limit, out); err != nil {
		if out.copied {
			err = errors.Join(err, release.Discard(out.path))
		}
		return nil, err
	}
	if out.copied {
		t.note("%s is copied to %s, which is private; data set %s reads it from now on", out.from, out.path, name)
		if book != nil && book.Path != out.book.Path {
			t.note("data set %s no longer reads %s", name, book.Path)
		}
	}
	return out, nil
}

// copy makes a private copy of what is no CSV or Parquet file.
func (f *grantFlags) copy(ctx context.Context, t *terminal, out *granted, name string) error {
	if f.file == "" {
		return nil
	}
	s, err := f.merged()
	if err != nil {
		return err
	}
	in, err := formOptions(s)
	if err != nil {
		return err
	}
	in.Plain = true
	src, err := file.Open(ctx, f.file, in)
	if err != nil {
		return err
	}
	defer closeSource(src)
	if isPlain(src) {
		return nil
	}
	if out.path, err = release.Copy(ctx, src, filepath.Dir(f.ledgerFlag.file()), name, f.model != "", t.progress.report); err != nil {
		return err
	}
	t.progress.clear()
	out.copied = true
	out.from = src.Name()
	return nil
}

// review reads the file under its definition and grants the budget.
func (f *grantFlags) review(ctx context.Context, t *terminal, l *ledger.Ledger, name string, book *ledger.Book, limit account.Cost, out *granted) error {
	d, err := f.definition(ctx, t, out, book)
	if err != nil {
		return err
	}
	out.model = d.Model
	out.review, err = release.ReviewGrant(ctx, l, out.path, d, t.progress.report)
	t.progress.clear()
	if err != nil {
		return err
	}
	if err := f.confirmed(t, d, out); err != nil {
		return err
	}
	out.book, err = release.ConfirmGrant(ctx, l, release.Grant{Name: name, Cap: limit, Changed: f.changed, Replace: f.replace, OtherPeople: f.otherPeople}, out.review)
	return err
}

// definition is what specification and flags state of the file, with types
// proposed where they state none. What they do not say stays as granted before.
func (f *grantFlags) definition(ctx context.Context, t *terminal, out *granted, book *ledger.Book) (*dataset.Definition, error) {
	var pinned *dataset.Definition
	if book != nil && book.Version > 0 {
		var err error
		if pinned, err = dataset.Parse(book.Definition); err != nil {
			return nil, err
		}
	}
	s, err := f.stated(pinned)
	if err != nil {
		return nil, err
	}
	o, err := f.options(book, pinned)
	if err != nil {
		return nil, err
	}
	stated := f.unit
	if stated == "" && s.Unit != "" && (book == nil || f.replace) {
		stated = s.Unit // persons, as in releases by the same specification
		o.Unit = stated
	}
	o.Progress = t.progress.report
	if out.copied {
		s.Input = spec.Input{Missing: s.Input.Missing} // the copy is read as it is
	}
	in, err := inputOptions(s)
	if err != nil {
		return nil, err
	}
	if s.Input.Header == nil {
		in.Header = csvio.HeaderChecked // a record must not become the names of a public schema
	}
	src, err := file.Open(ctx, out.path, in)
	var e *noren.Error
	if noren.CodeOf(err) == csvio.FirstLineCode && errors.As(err, &e) {
		return nil, &noren.Error{Kind: e.Kind, Code: e.Code, Where: e.Where, What: e.What, Hint: "add a first line with the names of the columns, which will be public; --header if these are names"}
	}
	if err != nil {
		return nil, err
	}
	defer closeSource(src)
	d, proposed, err := s.Definition(ctx, src, *o)
	t.progress.clear()
	if err == nil {
		err = unitNamed(stated, d)
	}
	out.proposed = proposed
	out.missing = err == nil && s.Name() == "" && s.Input.Missing == nil && len(d.Missing) > 0
	return d, err
}

// stated is the specification of the columns. Without --spec the flags are laid over
// the schema that is pinned; a column that they name is stated anew.
func (f *grantFlags) stated(pinned *dataset.Definition) (*spec.Spec, error) {
	if f.spec != "" || pinned == nil {
		return f.merged()
	}
	s := spec.Of(pinned)
	for _, pair := range slices.Concat(f.types, f.orders, f.formats) {
		if name, _, ok := strings.Cut(pair, "="); ok {
			c := s.Columns[name]
			s.Columns[name] = spec.Column{Bounds: c.Bounds, Keys: c.Keys}
		}
	}
	return s, f.layOver(s)
}

// options are the parts of a definition that no column states.
func (f *grantFlags) options(book *ledger.Book, pinned *dataset.Definition) (*spec.DatasetOptions, error) {
	o := &spec.DatasetOptions{Unit: f.unit, AtMost: f.atMost, Records: f.records}
	if book != nil {
		o.Neighbours = book.Neighbours
		if o.Unit == "" {
			o.Unit = book.Unit
		}
	}
	var err error
	if f.neighbours != "" {
		if o.Neighbours, err = account.ParseNeighbours(f.neighbours); err != nil {
			return nil, at("--neighbours", err)
		}
	}
	if o.Model, err = f.modelOf(); err != nil {
		return nil, err
	}
	if pinned != nil {
		if o.Model == nil && (!f.replace || f.spec == "") {
			o.Model = pinned.Model
		}
		same := o.Neighbours == pinned.Relation() && o.Unit == pinned.Unit
		if same && !f.replace && o.Records == 0 {
			o.Records = pinned.Records
		}
		if same && o.AtMost == 0 && pinned.Records == 0 {
			o.AtMost = pinned.AtMost
		}
	}
	if o.Model != nil && o.Records == 0 {
		m, err := correlated.ParseModel(bytes.NewReader(o.Model.Distribution), "model")
		if err != nil {
			return nil, err
		}
		o.Records = int64(m.Model.Records())
	}
	return o, nil
}

// modelOf reads the model of --model.
func (f *grantFlags) modelOf() (*dataset.Model, error) {
	if f.model == "" {
		if f.modelColumn != "" || f.modelOther != "" {
			return nil, &noren.Error{Kind: noren.Usage, Where: "--model-column", What: "goes with --model"}
		}
		return nil, nil
	}
	if f.modelColumn == "" {
		return nil, &noren.Error{Kind: noren.Usage, Where: "--model-column", What: "say which column holds the states of the model"}
	}
	m, err := readModel(f.model)
	if err != nil {
		return nil, err
	}
	text, err := json.Marshal(m)
	if err != nil {
		return nil, at(f.model, err)
	}
	return &dataset.Model{Column: f.modelColumn, States: m.StateNames(), Other: f.modelOther, Distribution: text}, nil
}

// misfits counts the cells that do not fit.
func misfits(cells int64, columns int) string {
	verb := "do"
	if cells == 1 {
		verb = "does"
	}
	return fmt.Sprintf("%s in %s %s not fit", plural(int(cells), "cell"), plural(columns, "column"), verb)
}

// confirmed refuses to pin what the steward has neither stated nor confirmed.
func (f *grantFlags) confirmed(t *terminal, d *dataset.Definition, out *granted) error {
	if f.yes {
		return nil
	}
	cells, columns := out.review.Misfits()
	where := out.path
	if out.copied {
		where = out.from
	}
	refuse := func(what string) error {
		out.printSchema(t.stderr, d)
		out.printReview(t.stderr)
		return &noren.Error{Kind: noren.Usage, Code: "confirm", Where: where, What: what, Hint: "nothing was granted"}
	}
	switch {
	case cells > 0:
		return refuse(misfits(cells, columns) + "; confirm with --yes")
	case len(out.proposed) > 0:
		return refuse("confirm the schema with --yes: the types of " + strings.Join(out.proposed, ", ") + " were proposed from the values")
	case out.missing:
		return refuse("confirm the schema with --yes: the missing texts " + strings.Join(d.Missing, ", ") + " were proposed from the values, and no --missing says them")
	}
	return nil
}

// print tells the steward what was granted and what does not fit.
func (g *granted) print(w io.Writer) {
	if g.review == nil {
		return
	}
	fmt.Fprintf(w, "%s: version %d of data set %s, %d records (private: for the steward)\n", filepath.Base(g.path), g.book.Version, g.book.Name, g.review.Records)
	g.printReview(w)
	fmt.Fprintln(w)
}

// printSchema prints a definition, column by column.
func (g *granted) printSchema(out io.Writer, d *dataset.Definition) {
	printDefinition(out, d, g.proposed, g.missing)
}

func printDefinition(out io.Writer, d *dataset.Definition, proposed []string, missing bool) {
	how := d.File.Kind
	if d.File.Delimiter != "" {
		how += fmt.Sprintf(", delimiter %q, %s", d.File.Delimiter, d.File.Encoding)
	}
	texts := orNone(d.Missing)
	if missing {
		texts += " (proposed)"
	}
	fmt.Fprintf(out, "  file        %s; missing texts: %s\n", how, texts)
	fmt.Fprintf(out, "  neighbours  %s of one %s; at most %d records\n", d.Neighbours, d.Unit, d.AtMost)
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "  column\ttype\tlayout or levels\tbounds or keys\t")
	for i := range d.Columns {
		c := &d.Columns[i]
		kind := c.Type
		for _, name := range proposed {
			if name == c.Name {
				kind += " (proposed)"
			}
		}
		fmt.Fprintf(w, "  %s\t%s\t%s\t%s\t\n", c.Name, kind, c.Layout+strings.Join(c.Levels, " < "), strings.Join(append(append([]string{}, c.Bounds...), c.Keys...), ", "))
	}
	_ = w.Flush()
	if m := d.Model; m != nil {
		fmt.Fprintf(out, "  model       of column %s, states %s; any other cell counts as %s\n", m.Column, strings.Join(m.States, ", "), m.Other)
	}
}

func orNone(texts []string) string {
	if len(texts) == 0 {
		return "none but the empty field"
	}
	return strings.Join(texts, ", ")
}

// printReview lists what does not fit. It is private, and holds no cell.
func (g *granted) printReview(w io.Writer) {
	r := g.review
	if cells, columns := r.Misfits(); cells > 0 {
		fmt.Fprintf(w, "  %s:\n", misfits(cells, columns))
	}
	for _, c := range r.Columns {
		if c.Misfits > 0 {
			read := fmt.Sprintf("not %s and count as missing", c.Type)
			if g.model != nil && c.Name == g.model.Column {
				read = "in no state of the model and count as " + g.model.Other
			}
			fmt.Fprintf(w, "    %s: %d are %s, the first at %s\n", c.Name, c.Misfits, read, strings.Join(c.Lines, "; "))
		}
	}
	if r.LargestUnit > 0 {
		fmt.Fprintf(w, "  the largest unit has %s; %s without a unit count in no answer\n", plural(int(r.LargestUnit), "record"), plural(int(r.WithoutUnit), "record"))
	}
}
