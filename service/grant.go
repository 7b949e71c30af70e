package service

import (
	"context"
	"errors"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/noren-privacy/noren"
	"github.com/noren-privacy/noren/account"
	"github.com/noren-privacy/noren/api"
	"github.com/noren-privacy/noren/dataset"
	"github.com/noren-privacy/noren/ledger"
	"github.com/noren-privacy/noren/release"
	"github.com/noren-privacy/noren/report/text"
	"github.com/noren-privacy/noren/spec"
	"github.com/noren-privacy/noren/table"
	"github.com/noren-privacy/noren/table/file"
	"github.com/noren-privacy/noren/table/parts"
)

// CodeConfirm is the code of the refusal to grant what the steward has neither stated
// nor confirmed.
const CodeConfirm = "confirm"

// LedgerGrantAnalyst sets the cap of one analyst under the data set's. From the first
// such grant on, only analysts with a grant may ask.
func (s *Service) LedgerGrantAnalyst(ctx context.Context, r *api.LedgerGrantAnalystRequest) (*api.Granted, error) {
	var out *api.Granted
	err := s.withLedger(ctx, func(l *ledger.Ledger) error {
		book, err := l.Book(ctx, r.Dataset)
		if err != nil {
			return err
		}
		most, err := api.CapOf(book.Accounting, r.Epsilon, r.Delta, r.Rho)
		if err == nil && book.Accounting == account.ZCDP && r.Delta != "" {
			err = noren.Usagef("delta", "does not go with an analyst's cap in zCDP").Hinted("the data set's grant states the delta")
		}
		if err != nil {
			return err
		}
		book, err = l.GrantAnalyst(ctx, r.Dataset, r.Analyst, most)
		if err != nil {
			return err
		}
		if left := book.Remaining; !most.Within(left) {
			s.note(api.Info, "analyst-cap", "analyst %s is granted %s, and data set %s has %s left: the data set's budget holds", r.Analyst, most,
				book.Name, left)
		}
		out = &api.Granted{Schema: api.LedgerSchema, Dataset: api.DatasetOf(book)}
		return nil
	})
	return out, err
}

// LedgerGrant sets the cap of a data set and, with a table, pins its schema: the whole
// file is read under the schema. A table that is no CSV or Parquet file is copied once
// to a private Parquet file beside the ledger, and queries read that file.
//
// A schema that is proposed from the values, and cells that do not fit, need a
// confirmation. Without it nothing is granted, and the result is the private review
// together with an error of kind Usage, code confirm. All other errors come without a
// result: those of [release.ReviewGrant] and of [ledger.Ledger.Grant].
func (s *Service) LedgerGrant(ctx context.Context, r *api.LedgerGrantRequest) (*api.Granted, error) {
	if r.Table != nil {
		if err := checkTable(r.Table); err != nil {
			return nil, err
		}
	}
	var out *api.Granted
	err := s.withLedger(ctx, func(l *ledger.Ledger) error {
		book, err := l.Book(ctx, r.Dataset)
		switch {
		case errors.Is(err, ledger.ErrNoGrant):
			book = nil
		case err != nil:
			return err
		}
		limit, err := capOf(r, book)
		if err != nil {
			return err
		}
		if r.Table == nil && book != nil {
			if book, err = l.Grant(ctx, ledger.Grant{Name: r.Dataset, Cap: limit.most}); err == nil {
				out = &api.Granted{Schema: api.LedgerSchema, Dataset: api.DatasetOf(book)}
			}
			return err
		}
		if book == nil && (r.Table == nil || r.Table.File == "") {
			return noren.Usagef("file", "say which file the budget is for").Coded("file-unstated")
		}
		g := grant{service: s, ledger: l, request: r, table: *r.Table, book: book, limit: limit}
		if g.table.SpecFile != "" {
			if g.stated, err = spec.Load(g.table.SpecFile); err != nil {
				return err
			}
		}
		out, err = g.run(ctx)
		return err
	})
	return out, err
}

// limit is the cap of a grant, with its accounting.
type limit struct {
	accounting     account.Accounting
	most           account.Cost
	statementDelta int64 // 0 leaves it as it is
}

// capOf reads the cap of a grant to a data set that was granted as book; nil for a new
// one.
func capOf(r *api.LedgerGrantRequest, book *ledger.Book) (out limit, err error) {
	if out.accounting, err = account.ParseAccounting(r.Accounting); err != nil {
		return out, err
	}
	replace := r.Table != nil && r.Table.Replace
	switch {
	case book == nil || replace:
	case r.Accounting == "":
		out.accounting = book.Accounting
	case out.accounting != book.Accounting && r.Table == nil:
		return out, noren.Usagef("accounting", "data set %s was granted with the accounting %s", book.Name, book.Accounting).
			Hinted("a grant that replaces it, while nothing is spent, may change it").Coded("fixed")
	}
	if out.most, err = api.CapOf(out.accounting, r.Epsilon, r.Delta, r.Rho); err != nil || out.accounting != account.ZCDP {
		return out, err
	}
	if out.statementDelta, err = account.ParseDelta(r.Delta); err != nil {
		return out, err
	}
	fresh := book == nil || replace || book.Accounting != account.ZCDP
	if fresh && out.statementDelta == 0 {
		return out, noren.Usagef("delta", "expected the delta at which the budget states its epsilon").Hinted("for instance 1e-6")
	}
	if !fresh && r.Table == nil && out.statementDelta != 0 && out.statementDelta != book.StatementDelta {
		return out, noren.Usagef("delta", "data set %s states its epsilon at delta %s", book.Name, account.Decimal(book.StatementDelta, 18)).
			Hinted("leave it out").Coded("fixed")
	}
	return out, nil
}

// checkTable refuses what contradicts itself.
func checkTable(t *api.GrantTable) error {
	if t.Replace && t.Changed {
		return noren.Usagef("replace", "does not go with changed").
			Hinted("replace corrects a grant of which nothing is spent, changed grants a new version").Coded("replace-changed")
	}
	for _, n := range []struct {
		name    string
		records int64
	}{{"records", t.Records}, {"at-most", t.AtMost}} {
		if n.records < 0 {
			return noren.Usagef(n.name, "expected at least 1 record, got %d", n.records)
		}
	}
	return nil
}

// grant is a grant to a data set with a table, in progress.
type grant struct {
	service *Service
	ledger  *ledger.Ledger
	request *api.LedgerGrantRequest
	table   api.GrantTable
	book    *ledger.Book // as granted before; nil for a new data set
	limit   limit
	stated  *spec.Spec // of the request's specification file; nil without one

	path     string         // of the file that queries read
	copied   bool           // path is a private copy that this grant made
	read     *release.Files // what was copied, as it was before
	sharded  bool           // path is a folder or pattern whose files are read where they lie
	source   noren.Place    // what was copied
	sources  []string       // the folder or pattern that was copied, and its files
	proposed []string       // columns whose types were proposed from the values
	missing  bool           // so were the missing texts
}

func (g *grant) run(ctx context.Context) (*api.Granted, error) {
	g.path = g.table.File
	if g.path == "" {
		g.path = g.book.Path
	}
	shards, err := g.shards(ctx)
	if err == nil && !shards {
		err = g.copy(ctx)
	}
	if err != nil {
		return nil, err
	}
	out, err := g.review(ctx)
	if err != nil {
		if g.copied {
			err = joined(err, release.Discard(g.path))
		}
		return out, err
	}
	if g.copied {
		name := g.request.Dataset
		g.service.note(api.Info, "copied", "%s is copied to %s, which is private; data set %s reads it from now on", g.source,
			noren.File(g.path), name)
		if g.book != nil && g.book.Path != out.File {
			g.service.note(api.Info, "moved", "data set %s no longer reads %s", name, noren.File(g.book.Path))
		}
	}
	return out, nil
}

// joined is errors.Join that leaves a single error as it is.
func joined(err, other error) error {
	if other == nil {
		return err
	}
	return errors.Join(err, other)
}

// shards reports whether the grant is of files that are read where they lie, and finds
// them.
func (g *grant) shards(ctx context.Context) (bool, error) {
	g.sharded = g.table.Sharded
	if g.table.File == "" && g.book.Version > 0 {
		d, err := dataset.Parse(g.book.Definition)
		if err != nil {
			return false, err
		}
		g.sharded = g.sharded || d.File.Sharded
	}
	if !g.sharded {
		return false, nil
	}
	if g.table.Model != nil {
		return false, noren.Usagef("sharded", "a model is of records in their order, which files do not share").Hinted("grant one file")
	}
	files, err := release.Shards(ctx, g.path)
	g.sources = files
	return true, err
}

// copy makes a private copy of what is no CSV or Parquet file.
func (g *grant) copy(ctx context.Context) error {
	if g.table.File == "" {
		return nil
	}
	in, err := g.spec(nil).Form()
	if err != nil {
		return err
	}
	in.Plain, in.Progress = true, g.service.Progress
	read, err := release.FilesAt(ctx, g.table.File)
	if err != nil {
		return err
	}
	src, err := file.Open(ctx, g.table.File, in)
	if err != nil {
		return err
	}
	defer func() { _ = src.Close() }()
	if file.InPlace(src) {
		return nil
	}
	g.service.noteHidden(src)
	g.source = table.PlaceOf(src)
	if of, ok := src.(*parts.Source); ok {
		g.sources = append([]string{g.table.File}, of.Paths()...)
	}
	path, err := release.Copy(ctx, src, release.CopyOptions{
		Dir: filepath.Dir(g.service.ledger()), Name: g.request.Dataset, KeepOrder: g.table.Model != nil, Progress: g.service.Progress,
	})
	if err == nil {
		g.path, g.copied, g.read = path, true, read
	}
	return err
}

// review reads the file under its definition and grants the budget.
func (g *grant) review(ctx context.Context) (*api.Granted, error) {
	d, err := g.definition(ctx)
	if err != nil {
		return nil, err
	}
	reviewed, err := release.ReviewGrant(ctx, g.ledger, release.Candidate{
		Path: g.path, Definition: d, Copied: g.read,
		Progress: g.service.Progress,
	})
	if err != nil {
		return nil, err
	}
	out := &api.Granted{
		Schema: api.LedgerSchema, Private: api.GrantReviewOf(reviewed.Review, g.proposed),
		Source: g.path, Proposal: d, MissingProposed: g.missing,
	}
	if err := g.confirmed(d, reviewed.Review); err != nil {
		return out, err
	}
	t := &g.table
	book, err := release.ConfirmGrant(ctx, g.ledger, release.Grant{
		Name: g.request.Dataset, Cap: g.limit.most, Accounting: g.limit.accounting,
		StatementDelta: g.limit.statementDelta, Sources: g.sources, Changed: t.Changed, Replace: t.Replace, OtherPeople: t.OtherPeople,
	}, reviewed)
	if err != nil {
		return nil, err
	}
	for _, other := range book.ByNames {
		g.service.columnNote(api.Info, "by-names", nil, byNames(other))
	}
	out.Dataset = api.DatasetOf(book)
	return out, nil
}

// byNames says which versions of another data set the grant could not compare by values.
func byNames(other ledger.ByNames) noren.Text {
	var versions []string
	for _, n := range other.Versions {
		versions = append(versions, strconv.Itoa(n))
	}
	return noren.Textf("data set %s, version %s: compared by the names of its columns alone; the values are compared after its file was "+
		"read as the granted version", other.Dataset, strings.Join(versions, ", "))
}

// confirmed refuses to pin what the steward has neither stated nor confirmed.
func (g *grant) confirmed(d *dataset.Definition, r *dataset.Review) error {
	if g.table.Confirm {
		return nil
	}
	where := noren.Place{noren.File(g.path)}
	if g.copied {
		where = g.source
	}
	var e *noren.Error
	switch cells, columns := r.Misfits(); {
	case cells > 0:
		e = &noren.Error{What: "%s, which is not confirmed", Args: []any{text.Misfits(cells, columns)}}
	case len(g.proposed) > 0:
		e = &noren.Error{
			What: "the schema is not confirmed: the types of %s were proposed from the values",
			Args: []any{strings.Join(g.proposed, ", ")},
		}
	case g.missing:
		e = &noren.Error{
			What: "the schema is not confirmed: the missing texts %s were proposed from the values, and the request states none",
			Args: []any{strings.Join(d.Missing, ", ")},
		}
	default:
		return nil
	}
	e.Kind, e.Code, e.Where = noren.Usage, CodeConfirm, where
	return e.Hinted("set Confirm of the table to confirm it; nothing was granted")
}
