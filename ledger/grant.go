package ledger

import (
	"bytes"
	"context"
	"database/sql"
	"encoding/hex"
	"errors"
	"maps"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/noren-privacy/noren"
	"github.com/noren-privacy/noren/internal/names"
)

const (
	kindDataset = "dataset"
	kindAnalyst = "analyst"
	kindBlock   = "block" // granted by older ledgers alone
)

// maxName is the longest name of a data set, an analyst, a print or a key.
const maxName = 200

// Grant sets the privacy budget (cap) of a data set and pins its schema: a new
// data set, a new version of one, a new path or a higher cap.
type Grant struct {
	// Name of the data set. Required. It is written into certificates.
	Name string
	// Path of the data set's file, folder or pattern. Required with a
	// definition. The ledger makes it absolute, with links resolved.
	Path string
	// Sources are the private files that the file at Path was copied from, as the
	// files of a folder, at most 10,000. Their paths belong to the data set: the
	// ledger knows them ([Ledger.Knows]), and no query reads them. Optional.
	Sources []string
	// Cap is all that may ever be spent. Required: an epsilon above 0, and a delta or
	// none; in a budget in zCDP a rho above 0. It can only rise, unless Replace.
	Cap Cost
	// Accounting is how losses add up. Fixed once something is spent. Defaults to Basic.
	Accounting Accounting
	// StatementDelta is the delta, in units of 1e-18, at which the budget states its
	// epsilon. Required in a budget in zCDP, fixed like Accounting, and 0 otherwise.
	StatementDelta int64
	// Neighbours is the relation the budget is for. Defaults to add-remove.
	Neighbours Neighbours
	// Unit is "record", or the column whose equal values mark the records of
	// one person. Defaults to "record".
	Unit string
	// Definition is the canonical text of the schema, a JSON object of at most 1
	// MiB. Public. The ledger reads nothing of it but whether its member "model"
	// is the same as before. Without a definition the grant changes the cap of an
	// existing data set and nothing else; only Name and Cap are then read.
	Definition []byte
	// DefinitionHash identifies the definition. Required with it. Package dataset
	// computes it.
	DefinitionHash [32]byte
	// Print is the keyed print of the table, Prints those of its columns by
	// name. Required with a definition.
	Print  string
	Prints map[string]string
	// Contents are what the columns are recognised by, beside their names and Prints.
	// Without them the version is compared by names until [Ledger.SetContents].
	Contents *Contents
	// Files are the fingerprints of the bytes ([FileHash]) of the files that the table was read
	// from, for [Ledger.KnowsFile].
	Files []string
	// Size and Mtime are those of the file, for [Ledger.Seen].
	Size, Mtime int64
	// FixedOnceSpent says that the definition holds for one table only, as one
	// with a model does: once something is spent, another table is refused.
	FixedOnceSpent bool
	// Changed says that the table or the definition is a new version of the data
	// set: relation, unit and all that is spent stay.
	Changed bool
	// Replace says that what was granted before was a mistake: any field may
	// change and the cap may fall. It is refused once something is spent or
	// reserved. Both versions stay on the chain.
	Replace bool
	// OtherPeople declares that no person is both in this data set and in any
	// that shares its columns. The names of those are written on the chain.
	OtherPeople bool
	// OldFingerprint is the fingerprint of the file's bytes ([FileHash]). Without
	// Changed or Replace it is required for a data set that was granted before
	// data sets had schemas, and must be that of its last grant. Given for any
	// other, it keeps a file of such a data set out.
	OldFingerprint string

	byNames []ByNames // found by similar
}

// checkName refuses names that could not be read or typed.
func checkName(what any, name string) error {
	switch {
	case name == "" || strings.TrimSpace(name) != name:
		return noren.Usagef(what, "is empty or has spaces around it").Hinted("give it a name")
	case len(name) > maxName:
		return noren.Usagef(what, "is longer than %d bytes", maxName).Hinted("give it a shorter name")
	case !utf8.ValidString(name) || strings.ContainsFunc(name, func(r rune) bool { return !unicode.IsPrint(r) }):
		return noren.Usagef(what, "holds a character that cannot be printed").Hinted("use letters, digits and signs")
	}
	return nil
}

// checkNewName refuses what checkName does, and a name with characters that are not seen as
// they are, such as fillers and marks of direction. It is for names that are not in the
// ledger yet: one of before that holds such a name is read and charged as it was.
func checkNewName(what, name string) error {
	if err := checkName(what, name); err != nil {
		return err
	}
	if names.Connection(name) {
		return noren.Usagef(what, "expected a name, got a connection string, which is not repeated because it may hold a password")
	}
	if !names.Seen(name) {
		return noren.Usagef(what, "holds a character that cannot be seen").Hinted("use letters, digits and signs")
	}
	return nil
}

// checkCap refuses what is no cap of either accounting.
func checkCap(c Cost) error {
	switch {
	case c.Rho == 0 && (c.Epsilon <= 0 || c.Delta < 0 || c.Delta > 1e18):
		return noren.Usagef(noren.Phrase("the budget"), "expected an epsilon above 0 and a delta from 0 to 1")
	case c.Rho < 0 || c.Rho > 0 && (c.Epsilon != 0 || c.Delta != 0):
		return noren.Usagef(noren.Phrase("the budget"), "expected a rho above 0 alone")
	}
	return nil
}

// checkAccounting refuses a budget whose parts do not go with its accounting.
func (g *Grant) checkAccounting() error {
	where := noren.Textf("data set %s", g.Name)
	switch {
	case g.Accounting != Basic && g.Accounting != ZCDP:
		return noren.Usagef(where, "expected the accounting epsilon or zcdp")
	case (g.Accounting == ZCDP) != (g.Cap.Rho > 0):
		return otherAccounting(where, string(g.Accounting))
	case g.Accounting == Basic && g.StatementDelta != 0:
		return noren.Usagef(where, "a budget in epsilon and delta states its own delta").Hinted("leave the delta of the statements out")
	case g.Accounting == ZCDP && (g.StatementDelta <= 0 || g.StatementDelta >= 1e18):
		return noren.Usagef(where, "expected a delta of the statements above 0 and below 1").Hinted("for instance 1e-6")
	case g.Accounting == ZCDP && model(string(g.Definition)) != "":
		return &noren.Error{
			Kind: noren.Usage, Code: "model", Where: where, What: "a model of dependent records has no budget in zCDP",
			Hint: "grant a budget in epsilon and delta",
		}
	}
	return nil
}

// otherAccounting is the refusal of a cap of another accounting than the budget's.
func otherAccounting(where any, accounting string) error {
	if accounting == string(ZCDP) {
		return noren.Usagef(where, "its budget is in zCDP, expected a cap in rho")
	}
	return noren.Usagef(where, "its budget is in epsilon and delta, expected a cap in epsilon")
}

// Grant grants the budget that g states. Faults are of kind Usage, with the codes same-table (a
// path or print of another data set), other-people (similar columns without a
// declaration) and fixed (relation, unit, model or a falling cap); a table or
// definition that is not the current one, without Changed, is [ErrChanged], of
// kind Refused and code changed.
func (l *Ledger) Grant(ctx context.Context, g Grant) (*Book, error) {
	if g.Unit == "" {
		g.Unit = "record"
	}
	faults := []error{checkName(noren.Phrase("the data set's name"), g.Name), checkName(noren.Phrase("the unit"), g.Unit), checkCap(g.Cap)}
	var paths, sources []string
	if len(g.Definition) > 0 {
		faults = append(faults, g.checkVersion())
	}
	if err := errors.Join(faults...); err != nil {
		return nil, firstFault(err)
	}
	if len(g.Definition) > 0 {
		var err error
		if paths, err = l.spellings(g.Path); err != nil {
			return nil, err
		}
		for _, source := range g.Sources {
			names, err := l.spellings(source)
			if err != nil {
				return nil, err
			}
			sources = append(sources, names[0])
		}
	}
	err := l.grant(ctx, func(tx *sql.Tx) (*grantBody, error) {
		old, err := findAccount(ctx, tx, 0, kindDataset, g.Name)
		if err != nil {
			return nil, err
		}
		if len(g.Definition) == 0 {
			if old == nil {
				return nil, noDataset(g.Name)
			}
			return old.withCap(g.Cap)
		}
		if old == nil {
			err = checkNewName("the data set's name", g.Name)
		}
		if old == nil || old.unit != g.Unit {
			err = errors.Join(err, checkNewName("the unit", g.Unit))
		}
		if err != nil {
			return nil, firstFault(err)
		}
		b, err := g.decide(ctx, tx, old, paths, sources)
		if err != nil || b.Version == 0 || g.Contents == nil {
			return b, err
		}
		if b.Account == 0 {
			if b.Account, err = nextAccount(ctx, tx); err != nil {
				return nil, err
			}
		}
		contents, err := g.Contents.row(b.Account, b.Version)
		if err != nil {
			return nil, err
		}
		b.Contents = l.contentsMAC(contents)
		return b, nil
	}, func(tx *sql.Tx, b *grantBody) error {
		if len(g.Definition) == 0 {
			return nil
		}
		if err := l.keepContents(ctx, tx, &g, b); err != nil {
			return err
		}
		for _, print := range g.Files {
			if _, err := tx.ExecContext(ctx, "INSERT OR IGNORE INTO dataset_file (print, account) VALUES (?, ?)", print, b.Account); err != nil {
				return err
			}
		}
		return setSeen(ctx, tx, b.Account, g.Size, g.Mtime)
	})
	if err != nil {
		return nil, err
	}
	book, err := l.Book(ctx, g.Name)
	if err == nil {
		book.ByNames = g.byNames
	}
	return book, err
}

// decide is the body of g's entry, given the data set before it.
func (g *Grant) decide(ctx context.Context, tx *sql.Tx, old *account, paths, sources []string) (*grantBody, error) {
	if old != nil && !g.Replace { // what is not stated stays
		if g.Accounting == "" {
			g.Accounting = Accounting(old.accounting)
		}
		if g.Accounting == ZCDP && g.StatementDelta == 0 {
			g.StatementDelta = old.statementDelta
		}
	}
	if g.Accounting == "" {
		g.Accounting = Basic
	}
	if err := g.checkAccounting(); err != nil {
		return nil, err
	}
	b := &grantBody{
		Kind: kindDataset, Name: g.Name, Unit: g.Unit, Neighbours: g.Neighbours.String(),
		Fingerprint: g.Print, Path: paths[0], Replaces: g.Replace, Sources: sources,
	}
	b.setLimit(string(g.Accounting), g.StatementDelta, g.Cap)
	isNew := true
	switch {
	case old == nil && (g.Changed || g.Replace):
		return nil, noDataset(g.Name)
	case old != nil:
		b.Account = old.id
		current, err := currentVersion(ctx, tx, old)
		if err != nil {
			return nil, err
		}
		var contents *contentsRow
		if current != nil {
			if contents, err = contentsOf(ctx, tx, old.id, current.number); err != nil {
				return nil, err
			}
		}
		if isNew, err = g.follows(old, current, contents); err != nil {
			return nil, err
		}
		b.Version = old.version
	}
	if err := g.checkHeld(ctx, tx, b.Account, slices.Concat(paths, sources)); err != nil {
		return nil, err
	}
	// The current version is compared too, wherever its file was read: others may have got
	// the prints of their values since it was granted. A declaration makes a version.
	var err error
	if b.OtherPeople, err = g.similar(ctx, tx, b.Account, isNew); err != nil {
		return nil, err
	}
	if !isNew && len(b.OtherPeople) == 0 {
		b.Version = 0
		return b, nil
	}
	b.Version++
	b.Definition, b.DefinitionHash, b.Columns = string(g.Definition), hex.EncodeToString(g.DefinitionHash[:]), g.Prints
	return b, nil
}

// follows refuses a grant that may not follow the current version, and reports
// whether g makes a new version of it.
func (g *Grant) follows(old *account, current *versionRow, contents *contentsRow) (isNew bool, err error) {
	spent := old.isSpent()
	same := false
	if current != nil {
		if same, err = g.same(current, contents); err != nil {
			return false, err
		}
	}
	if g.Replace && spent {
		return false, old.fixed(noren.Textf("unit, relation and model are fixed"))
	}
	if g.Replace {
		return !same || old.unit != g.Unit || old.neighbours != g.Neighbours.String(), nil
	}
	switch {
	case old.unit != g.Unit || old.neighbours != g.Neighbours.String():
		return false, old.fixed(noren.Textf("its budget is for %s neighbours of one %s, not %s of one %s", old.neighbours,
			noren.UnitName(old.unit), g.Neighbours, noren.UnitName(g.Unit)))
	case string(g.Accounting) != old.accounting || g.StatementDelta != old.statementDelta:
		return false, old.fixed(noren.Textf("its budget is in %s", old.inWords()))
	case !old.limit().Within(g.Cap):
		return false, old.capFalls()
	case current == nil:
		if spent && (g.FixedOnceSpent || model(string(g.Definition)) != "") {
			return false, old.fixed(noren.Textf("unit, relation and model are fixed"))
		}
		if !g.Changed && g.OldFingerprint != old.fingerprint {
			return false, changedError(g.Path, g.Name, noren.Textf("the file at this path is not the one that was granted as %s", g.Name))
		}
		return true, nil
	case same:
		return false, nil
	case !g.Changed && g.Print == current.print:
		return false,
			changedError(g.Path, g.Name, noren.Textf("its definition or the order of its records is not that of version %d of data set %s",
				current.number, g.Name))
	case !g.Changed:
		return false, changedError(g.Path, g.Name, noren.Textf("it is not version %d of data set %s", current.number, g.Name))
	}
	was, now := model(current.definition), model(string(g.Definition))
	if spent && was != now {
		return false, old.fixed(noren.Textf("unit, relation and model are fixed"))
	}
	if spent && (g.FixedOnceSpent || now != "") && (g.Print != current.print || !g.samePrints(current)) {
		// A model is of the records in their order: the prints of the columns
		// hold the order, the print of the table does not.
		return false, old.fixed(noren.Textf("unit, relation and model are fixed"))
	}
	return true, nil
}

// same reports whether g is the version current, wherever its file is now. The
// prints of the columns count too: they hold the order of the records. So do those of the
// files of a sharded version, where contents, its row, has them.
func (g *Grant) same(current *versionRow, contents *contentsRow) (bool, error) {
	if g.Print != current.print || string(g.Definition) != current.definition || !bytes.Equal(g.DefinitionHash[:], current.hash) ||
		!g.samePrints(current) {
		return false, nil
	}
	if contents == nil || g.Contents == nil {
		return true, nil
	}
	return contents.sameFiles(g.Contents)
}

func (g *Grant) samePrints(current *versionRow) bool {
	prints, err := current.prints()
	return err == nil && maps.Equal(prints, g.Prints)
}

// GrantAnalyst sets the cap of one analyst under the data set's. From the first
// such grant on, only analysts with a grant may ask. The cap can only rise. It
// may be above what the data set has left: [Account.Available] is the smaller.
// A closed analyst is opened again.
func (l *Ledger) GrantAnalyst(ctx context.Context, dataset, analyst string, limit Cost) (*Book, error) {
	if err := errors.Join(checkName(noren.Phrase("the analyst's name"), analyst), checkCap(limit)); err != nil {
		return nil, firstFault(err)
	}
	return l.grantBelow(ctx, dataset, analyst, func(parent, old *account) (*grantBody, error) {
		if old != nil {
			return old.withCap(limit)
		}
		if err := checkNewName("the analyst's name", analyst); err != nil {
			return nil, err
		}
		b := &grantBody{Parent: parent.id, Kind: kindAnalyst, Name: analyst, Unit: parent.unit, Neighbours: parent.neighbours}
		if (parent.accounting == string(ZCDP)) != (limit.Rho > 0) {
			return nil, otherAccounting(noren.Textf("data set %s", dataset), parent.accounting)
		}
		b.setLimit(parent.accounting, parent.statementDelta, limit)
		return b, nil
	})
}

// CloseAnalyst ends the grant of an analyst: requests are refused until the
// next grant. What is spent stays, and the data set still is one of which only
// analysts with a grant may ask. An analyst without a grant is [ErrNoGrant].
func (l *Ledger) CloseAnalyst(ctx context.Context, dataset, analyst string) (*Book, error) {
	return l.grantBelow(ctx, dataset, analyst, func(_, old *account) (*grantBody, error) {
		if old == nil {
			return nil, noAnalyst(dataset, analyst)
		}
		b := old.body()
		b.Closed = true
		return b, nil
	})
}

func (l *Ledger) grantBelow(ctx context.Context, dataset, analyst string, decide func(parent, old *account) (*grantBody, error)) (*Book,
	error,
) {
	err := l.grant(ctx, func(tx *sql.Tx) (*grantBody, error) {
		parent, err := findAccount(ctx, tx, 0, kindDataset, dataset)
		if err != nil {
			return nil, err
		}
		if parent == nil {
			return nil, noDataset(dataset)
		}
		old, err := findAccount(ctx, tx, parent.id, kindAnalyst, analyst)
		if err != nil {
			return nil, err
		}
		return decide(parent, old)
	}, nil)
	if err != nil {
		return nil, err
	}
	return l.Book(ctx, dataset)
}

// grant applies the decision of decide, in one transaction and on the chain. also
// runs in that transaction, after it; it may be nil.
func (l *Ledger) grant(ctx context.Context, decide func(*sql.Tx) (*grantBody, error), also func(*sql.Tx, *grantBody) error) error {
	var seq int64
	l.at("grant-begin")
	err := l.write(ctx, "the grant failed", func(ctx context.Context, tx *sql.Tx, now int64) error {
		if err := l.unsealed(ctx, tx); err != nil {
			return err
		}
		b, err := decide(tx)
		if err != nil {
			return err
		}
		b.Time = now
		if b.Account == 0 {
			if b.Account, err = nextAccount(ctx, tx); err != nil {
				return err
			}
		}
		if b.Path != "" || len(b.Sources) > 0 {
			b.PathSalt = newSalt()
		}
		k, err := l.appendLink(ctx, tx, kindGrant, b)
		if err != nil {
			return err
		}
		l.at("grant-linked")
		seq = k.Seq
		if err := applyGrant(ctx, tx, k.Seq, b); err != nil {
			return err
		}
		if also != nil {
			if err = also(tx, b); err == nil {
				seq, _, err = lastLink(ctx, tx)
			}
		}
		if err == nil && b.Version > 1 && b.Kind == kindDataset {
			seq, err = l.forfeitEarlier(ctx, tx, b.Account, k.Seq, seq, now)
		}
		l.at("grant-before-commit")
		return err
	})
	if err != nil {
		return err
	}
	l.at("granted")
	return l.syncHead(ctx, seq)
}

// nextAccount is the id of the next account.
func nextAccount(ctx context.Context, tx *sql.Tx) (id int64, err error) {
	err = tx.QueryRowContext(ctx, "SELECT coalesce(max(id), 0) + 1 FROM account").Scan(&id)
	return id, err
}

// applyGrant makes or changes the account of b, the body of entry seq.
func applyGrant(ctx context.Context, tx *sql.Tx, seq int64, b *grantBody) error {
	null := func(s string) any {
		if b.Kind != kindDataset {
			return nil
		}
		return s
	}
	var parent any
	if b.Parent != 0 {
		parent = b.Parent
	}
	before, err := accountByID(ctx, tx, b.Account)
	if err != nil {
		return err
	}
	var a account
	a.accounting = b.accounting()
	a.setCap(b.limit())
	if _, err := tx.ExecContext(ctx, `INSERT INTO account (id, parent, kind, name, unit, neighbours, fingerprint, path, cap_eps_nano, cap_delta, closed, accounting, statement_delta, cap_rho)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
		ON CONFLICT (id) DO UPDATE SET unit = excluded.unit, neighbours = excluded.neighbours, fingerprint = excluded.fingerprint, path = excluded.path,
			cap_eps_nano = excluded.cap_eps_nano, cap_delta = excluded.cap_delta, closed = excluded.closed,
			accounting = excluded.accounting, statement_delta = excluded.statement_delta, cap_rho = excluded.cap_rho`,
		b.Account, parent, b.Kind, b.Name, b.Unit, b.Neighbours, null(b.Fingerprint), null(b.Path), a.cap.eps, a.cap.delta, b.Closed,
		a.accounting, b.StatementDelta, a.cap.rho); err != nil {
		return err
	}
	if b.Replaces {
		// Caps of another accounting mean nothing: they are 0 until the next grants.
		a.setCap(Cost{})
		if _, err := tx.ExecContext(ctx, `UPDATE account SET unit = ?1, neighbours = ?2, accounting = ?3, statement_delta = ?4,
			cap_eps_nano = CASE WHEN accounting = ?3 THEN cap_eps_nano ELSE ?5 END, cap_delta = CASE WHEN accounting = ?3 THEN cap_delta ELSE 0 END,
			cap_rho = CASE WHEN accounting = ?3 THEN cap_rho ELSE 0 END WHERE parent = ?6`,
			b.Unit, b.Neighbours, a.accounting, b.StatementDelta, a.cap.eps, b.Account); err != nil {
			return err
		}
	}
	if err := applyDataset(ctx, tx, seq, b); err != nil {
		return err
	}
	return noteGrant(ctx, tx, seq, b, before)
}

func noDataset(name string) error {
	return &noren.Error{
		Kind: noren.Refused, Code: "no-dataset", Where: noren.Textf("data set %s", name), What: "it has no budget", Err: ErrNoGrant,
		Hint: "the steward grants one first",
	}
}

func noAnalyst(dataset, analyst string) error {
	return &noren.Error{
		Kind: noren.Refused, Code: "no-grant", Where: noren.Textf("analyst %s", analyst), What: "has no budget in data set %s", Args: []any{
			dataset,
		}, Err: ErrNoGrant,
		Hint: "the steward grants one first",
	}
}

func changedError(path, name string, what noren.Text) error {
	return &noren.Error{
		Kind: noren.Refused, Code: "changed", Where: noren.File(path), What: what.Format, Args: what.Args, Err: ErrChanged,
		Hint: "if it is the same data set in a new state, the steward grants %s again as changed: what is spent stays spent", HintArgs: []any{
			name,
		},
	}
}

// firstFault unpacks the first of joined errors, so that its kind and hint show.
func firstFault(err error) error {
	var e *noren.Error
	if errors.As(err, &e) {
		return e
	}
	return err
}
