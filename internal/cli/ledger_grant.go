package cli

import (
	"github.com/spf13/cobra"

	"github.com/noren-privacy/noren"
	"github.com/noren-privacy/noren/api"
	"github.com/noren-privacy/noren/internal/names"
	"github.com/noren-privacy/noren/service"
	"github.com/noren-privacy/noren/spec"
	"github.com/noren-privacy/noren/table/csvio"
)

type grantFlags struct {
	ledgerFlag
	columnFlags
	file, epsilon, delta, neighbours, unit, analyst string
	accounting, rho                                 string
	model, modelColumn, modelOther                  string
	atMost, records                                 int64
	sharded, changed, replace, otherPeople          bool
	yes, json                                       bool
}

func newLedgerGrant(t *terminal) *cobra.Command {
	var f grantFlags
	c := &cobra.Command{
		Use:   "grant NAME --file FILE --epsilon E",
		Short: "Grant a budget and a schema to a data set, or a budget to an analyst",
		Args:  exactly("NAME"),
		RunE:  func(c *cobra.Command, args []string) error { return f.run(c, t, args[0]) },
	}
	f.ledgerFlag.register(c)
	s := c.Flags()
	s.StringVar(&f.file, "file", "", "the data set's `FILE`, workbook or database table (default: the file granted before)")
	s.StringVar(&f.epsilon, "epsilon", "", "cap: the total epsilon that may ever be spent, in decimal")
	s.StringVar(&f.delta, "delta", "",
		"cap: the total delta that may ever be spent (default 0); with zcdp: the delta at which epsilon is stated")
	s.StringVar(&f.accounting, "accounting", "", "how losses add up: epsilon, or zcdp (default epsilon, or as granted before)")
	s.StringVar(&f.rho, "rho", "", "cap with zcdp: the total rho that may ever be spent, in decimal")
	s.StringVar(&f.neighbours, "neighbours", "", "add-remove or replace-one (default add-remove, or as granted before)")
	s.StringVar(&f.unit, "unit", "", "record, or the `COLUMN` that tells whose records belong together (default record, or as granted before)")
	s.Int64Var(&f.atMost, "at-most", 0, "public upper bound on the number of records (default 20,000,000)")
	s.Int64Var(&f.records, "records", 0,
		"exact number of records, public: for replace-one neighbours of one record (default: those of the file)")
	s.StringVar(&f.model, "model", "", "public model of dependent records, a JSON `FILE`: every answer is priced under it")
	s.StringVar(&f.modelColumn, "model-column", "", "the `COLUMN` that holds the states of the model")
	s.StringVar(&f.modelOther, "model-other", "", "the `STATE` of a cell that is in no state of the model (default: the first)")
	s.StringVar(&f.spec, "spec", "", "types, layouts, levels, missing texts, bounds and keys, from this `FILE` (see noren init)")
	s.StringArrayVar(&f.types, "type", nil, "`COLUMN=TYPE`: integer, decimal, date, ordered or category; may be repeated")
	s.StringArrayVar(&f.orders, "order", nil, "`COLUMN=LOW<...<HIGH`: the levels of an ordered column; may be repeated")
	s.StringArrayVar(&f.formats, "format", nil, "`COLUMN=LAYOUT`: how a date is written, as in YYYY-MM-DD; may be repeated")
	f.registerInput(c)
	s.StringVar(&f.analyst, "analyst", "", "grant to the analyst of this `NAME`, under the data set's budget")
	s.BoolVar(&f.yes, "yes", false, "confirm the proposed schema, and that cells which do not fit count as missing")
	s.BoolVar(&f.sharded, "sharded", false,
		"the file is a folder or pattern of CSV or Parquet files, which are read where they lie, one by one")
	s.BoolVar(&f.changed, "changed", false, "the file or its schema is a new version of the same data set: what is spent stays spent")
	s.BoolVar(&f.replace, "replace", false, "exchange schema, unit, relation and cap; only while nothing is spent")
	s.BoolVar(&f.otherPeople, "other-people", false, "declare that no person of this data set is in a data set with similar columns")
	s.BoolVar(&f.json, "json", false, "print one JSON object, noren.ledger/1")
	return c
}

func (f *grantFlags) run(c *cobra.Command, t *terminal, name string) error {
	s := t.service(&f.ledgerFlag)
	var out *api.Granted
	var err error
	if f.analyst != "" {
		out, err = f.toAnalyst(c, s, name)
	} else {
		out, err = f.toDataset(c, s, name)
	}
	t.progress.clear()
	if noren.CodeOf(err) == service.CodeConfirm && out != nil {
		printDefinition(t.stderr, out.Proposal, out.Private.Proposed, out.MissingProposed)
		printReview(t.stderr, out)
		return err
	}
	if err != nil {
		return f.worded(name, err)
	}
	if f.json {
		return printJSON(t.stdout, out)
	}
	printGranted(t.stdout, out)
	if err := printDatasets(t.stdout, []api.Dataset{out.Dataset}); err != nil {
		return err
	}
	t.next("noren query count %s --epsilon 0.1 --dry-run shows what an answer costs", names.Shell(name))
	return nil
}

func (f *grantFlags) toAnalyst(c *cobra.Command, s *service.Service, name string) (*api.Granted, error) {
	flag := f.tableFlag(c)
	if f.accounting != "" {
		flag = "accounting"
	}
	if flag != "" {
		return nil, noren.Usagef("--"+flag, "an analyst's grant has no schema of its own").Hinted("leave it out")
	}
	return s.LedgerGrantAnalyst(c.Context(), &api.LedgerGrantAnalystRequest{
		Dataset: name, Analyst: f.analyst, Epsilon: f.epsilon,
		Delta: f.delta, Rho: f.rho,
	})
}

// toDataset grants to a data set. Where no flag is about its table, only the cap
// changes and no file is read.
func (f *grantFlags) toDataset(c *cobra.Command, s *service.Service, name string) (*api.Granted, error) {
	r := api.LedgerGrantRequest{Dataset: name, Accounting: f.accounting, Epsilon: f.epsilon, Delta: f.delta, Rho: f.rho}
	if f.tableFlag(c) != "" {
		var err error
		if r.Table, err = f.table(c); err != nil {
			return nil, err
		}
	}
	return s.LedgerGrant(c.Context(), &r)
}

// table is what the flags state of the data set's table.
func (f *grantFlags) table(c *cobra.Command) (*api.GrantTable, error) {
	for _, n := range []struct {
		flag    string
		records int64
	}{{"records", f.records}, {"at-most", f.atMost}} {
		if c.Flags().Changed(n.flag) && n.records == 0 {
			return nil, noren.Usagef("--"+n.flag, "expected at least 1 record, got 0")
		}
	}
	model, err := f.modelRequest()
	if err != nil {
		return nil, err
	}
	s := &spec.Spec{}
	err = f.layOver(s)
	return &api.GrantTable{
		File: f.file, SpecFile: f.spec, Spec: s, Neighbours: f.neighbours, Unit: f.unit, AtMost: f.atMost, Records: f.records, Model: model,
		Sharded: f.sharded, Changed: f.changed, Replace: f.replace, OtherPeople: f.otherPeople, Confirm: f.yes,
	}, err
}

// modelRequest reads the model of --model.
func (f *grantFlags) modelRequest() (*api.GrantModel, error) {
	if f.model == "" {
		if f.modelColumn != "" || f.modelOther != "" {
			return nil, noren.Usagef("--model-column", "goes with --model")
		}
		return nil, nil
	}
	text, _, err := spec.ReadSide(f.model, "the model", "does the file exist?")
	return &api.GrantModel{Name: f.model, Distribution: text, Column: f.modelColumn, Other: f.modelOther}, err
}

// tableFlag names a flag that was given and is about the data set's table, "" if none
// was.
func (f *grantFlags) tableFlag(c *cobra.Command) string {
	for _, name := range []string{
		"file", "spec", "type", "order", "format", "missing", "delimiter", "encoding", "sheet", "hidden", "totals",
		"header-row", "query", "neighbours", "unit", "at-most", "records", "model", "model-column", "model-other", "sharded", "changed",
		"replace", "other-people",
	} {
		if c.Flags().Changed(name) {
			return name
		}
	}
	return ""
}

// worded is err with the flags of this command.
func (f *grantFlags) worded(name string, err error) error {
	e, ok := err.(*noren.Error)
	if !ok {
		return err
	}
	out := *e
	switch e.Code {
	case "replace-changed":
		out.Saying("does not go with --changed").Hinted("--replace corrects a grant of which nothing is spent, --changed grants a new version")
	case "file-unstated":
		out.Hinted("noren ledger grant %s --file FILE --epsilon E", name)
	case "unit-name":
		out.Where = "--unit record"
		out.Hinted("rename it, or omit --unit for one record as the unit")
	case csvio.FirstLineCode:
		out.Hinted("add a first line with the names of the columns, which will be public; --header if these are names")
	}
	if e.Place() == "epsilon" && f.epsilon == "" && f.rho == "" {
		out.Hinted("--epsilon 0.1")
	}
	return &out
}
