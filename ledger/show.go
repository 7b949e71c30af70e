package ledger

import (
	"context"
	"database/sql"
	"math"
	"slices"
	"time"

	"github.com/noren-privacy/noren"
)

// Book is the budget of a data set, with its schema and its analysts.
type Book struct {
	Account
	Path string // of the current version, or as it was granted before versions
	// Within is the folder of the ledger where Path is kept relative to it, else "".
	Within string
	// Fingerprint is the keyed print of the current version's table. Without a
	// version it is that of the file's bytes ([FileHash]).
	Fingerprint string
	Neighbours  Neighbours
	Unit        string // "record", or a column
	// Accounting is how losses add up, and StatementDelta the delta of the statements of
	// a budget in zCDP; 0 otherwise.
	Accounting     Accounting
	StatementDelta int64
	// Version is the number of the current version, 0 before the first: then
	// nothing is answered. Definition, its hash and the prints of the columns
	// are those of the current version.
	Version        int
	Definition     []byte
	DefinitionHash [32]byte
	Prints         map[string]string
	Versions       []Version // all, the oldest first
	// OtherPeople are the data sets with similar columns that the steward
	// declared to hold none of the persons of this one.
	OtherPeople []string
	// BeforeSchema is the number of charges before the first version. Their
	// guarantee holds for the column types that their requests declared.
	BeforeSchema int
	// SharedWith are the data sets that were granted a path or a file of this
	// one before a path and a print belonged to one data set.
	SharedWith []string
	Analysts   []Account
	// ByNames are the versions of other data sets with which a grant compared this one by
	// the names of columns alone. [Ledger.Grant] sets it.
	ByNames []ByNames
}

// Version is one state of a data set: a schema and a table.
type Version struct {
	Number         int
	Link           int64 // of its grant, on the chain
	Time           time.Time
	Definition     []byte
	DefinitionHash [32]byte
	Print          string // keyed, of the table
	Path           string
	Replaced       bool // by the next version, before anything was spent
}

// Account is one cap and what was spent under it.
type Account struct {
	ID        int64
	Name      string
	Cap       Cost
	Spent     Cost
	Remaining Cost
	// Available is what can still be spent: of an analyst the smaller of its own
	// and the data set's, nothing if closed.
	Available Cost
	Closed    bool // an analyst that may not ask
	// Loss is what was spent of a budget in zCDP.
	Loss Loss
}

func (a *account) public() Account {
	return Account{
		ID: a.id, Name: a.name, Cap: a.limit(), Spent: a.total(), Remaining: a.left(), Available: a.left(), Closed: a.closed,
		Loss: a.loss(),
	}
}

func least(a, b Cost) Cost {
	return Cost{Epsilon: min(a.Epsilon, b.Epsilon), Delta: min(a.Delta, b.Delta), Rho: min(a.Rho, b.Rho)}
}

// Sound is an error of kind BadData where pages of the file do not fit together, as on a damaged disk, or
// in a copy that was made while the ledger was written to. It reads the whole file, and compares each index
// with its table: the index of another table in its place would hide charges from those who look for them.
func (l *Ledger) Sound(ctx context.Context) error {
	var found string
	if err := l.retry(ctx, func() error { return l.db.QueryRowContext(ctx, "PRAGMA integrity_check(1)").Scan(&found) }); err != nil {
		return fail(l.path, "cannot be read", err)
	}
	if found != "ok" {
		return &noren.Error{Kind: noren.BadData, Where: noren.File(l.path), What: "is damaged", Hint: "restore it from a copy and reconcile it"}
	}
	return nil
}

// Sealed returns nil, or the error of kind Refused that every Grant and Reserve
// answers with: the ledger does not contain its known head, or its accounts are
// not as the chain says. Its cause is a [*SealedError].
func (l *Ledger) Sealed() error {
	l.sealMu.Lock()
	defer l.sealMu.Unlock()
	return l.sealed
}

func (l *Ledger) setSealed(err error) {
	l.sealMu.Lock()
	defer l.sealMu.Unlock()
	l.sealed = err
}

// Show returns the budgets of all data sets, in the order of their grants.
func (l *Ledger) Show(ctx context.Context) ([]*Book, error) {
	all, err := l.books(ctx)
	if err != nil {
		return nil, fail(l.path, "cannot be read", err)
	}
	return all, nil
}

func (l *Ledger) books(ctx context.Context) ([]*Book, error) {
	tx, err := l.readers.BeginTx(ctx, &sql.TxOptions{ReadOnly: true})
	if err != nil {
		return nil, err
	}
	defer tx.Rollback()
	all, err := accounts(ctx, tx, "TRUE")
	if err != nil {
		return nil, err
	}
	var books []*Book
	byID := map[int64]*Book{}
	for i := range all {
		a := &all[i]
		if a.kind == kindDataset {
			b := &Book{
				Account: a.public(), Path: l.place(a.path), Within: l.within(a.path), Fingerprint: a.fingerprint,
				Neighbours: parseNeighbours(a.neighbours), Unit: a.unit, Version: int(a.version), Accounting: Accounting(a.accounting),
				StatementDelta: a.statementDelta,
			}
			books, byID[a.id] = append(books, b), b
		}
	}
	for i := range all {
		// The blocks of an older ledger are charged with the data set.
		if a := &all[i]; a.kind == kindBlock && byID[a.parent] != nil {
			byID[a.parent].Available = least(byID[a.parent].Available, a.left())
		}
	}
	for i := range all {
		a := &all[i]
		b := byID[a.parent]
		if b == nil || a.kind != kindAnalyst {
			continue
		}
		out := a.public()
		out.Available = least(out.Available, b.Available)
		if a.closed {
			out.Available = Cost{}
		}
		b.Analysts = append(b.Analysts, out)
	}
	for _, add := range []func(context.Context, querier, map[int64]*Book) error{l.addVersions, addShared, addBefore} {
		if err := add(ctx, tx, byID); err != nil {
			return nil, err
		}
	}
	return books, nil
}

// addVersions fills in what the versions say.
func (l *Ledger) addVersions(ctx context.Context, q querier, byID map[int64]*Book) error {
	rows, err := q.QueryContext(ctx, `SELECT account, version, seq, definition, definition_hash, print, columns, path,
		json_extract(body, '$.time'), coalesce(json_extract(body, '$.replaces'), 0) FROM dataset_version JOIN chain USING (seq) ORDER BY account, version`)
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		var v versionRow
		var made int64
		var replaces bool
		if err := rows.Scan(&v.account, &v.number, &v.seq, &v.definition, &v.hash, &v.print, &v.columns, &v.path, &made, &replaces); err != nil {
			return err
		}
		b := byID[v.account]
		if b == nil || len(v.hash) != len(b.DefinitionHash) {
			continue // changed from outside: the ledger is sealed
		}
		if replaces && len(b.Versions) > 0 {
			b.Versions[len(b.Versions)-1].Replaced = true
		}
		b.Definition, b.DefinitionHash = []byte(v.definition), [32]byte(v.hash)
		b.Versions = append(b.Versions, Version{
			int(v.number), v.seq, time.UnixMilli(made).UTC(), b.Definition, b.DefinitionHash, v.print,
			l.place(v.path), false,
		})
		// Prints that cannot be read were changed from outside: the ledger is
		// sealed, and is shown all the same.
		b.Prints, _ = v.prints()
	}
	if err := rows.Err(); err != nil {
		return err
	}
	declared, err := declarations(ctx, q)
	for id, names := range declared {
		if b := byID[id]; b != nil {
			b.OtherPeople = names
		}
	}
	return err
}

// addShared fills in which data sets were granted the same path or file. Only
// the entries before the first version can have done so.
func addShared(ctx context.Context, q querier, byID map[int64]*Book) error {
	rows, err := q.QueryContext(ctx, `WITH old AS (
			SELECT json_extract(body, '$.account') AS id, json_extract(body, '$.fingerprint') AS print, json_extract(body, '$.path') AS path
			FROM chain INDEXED BY chain_grant WHERE kind = 'grant' AND seq < coalesce((SELECT min(seq) FROM dataset_version), 9223372036854775807)
				AND json_extract(body, '$.kind') = 'dataset')
		SELECT old.id, dataset_print.account FROM old JOIN dataset_print USING (print) WHERE account <> old.id
		UNION SELECT old.id, dataset_path.account FROM old JOIN dataset_path USING (path) WHERE account <> old.id ORDER BY 1, 2`)
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		var one, other int64
		if err := rows.Scan(&one, &other); err != nil {
			return err
		}
		a, b := byID[one], byID[other]
		if a == nil || b == nil {
			continue
		}
		if !slices.Contains(a.SharedWith, b.Name) {
			a.SharedWith = append(a.SharedWith, b.Name)
		}
		if !slices.Contains(b.SharedWith, a.Name) {
			b.SharedWith = append(b.SharedWith, a.Name)
		}
	}
	return rows.Err()
}

// addBefore counts the charges before the first version.
func addBefore(ctx context.Context, q querier, byID map[int64]*Book) error {
	for id, b := range byID {
		first := int64(math.MaxInt64)
		if len(b.Versions) > 0 {
			first = b.Versions[0].Link
		}
		if err := q.QueryRowContext(ctx, "SELECT count(*) FROM charge INDEXED BY charge_account WHERE account = ? AND seq < ? AND EXISTS "+
			"(SELECT 1 FROM charge_line WHERE charge = charge.id)", id, first).Scan(&b.BeforeSchema); err != nil {
			return err
		}
	}
	return nil
}

// Book returns the budget of a data set; [ErrNoGrant] where there is none.
func (l *Ledger) Book(ctx context.Context, name string) (*Book, error) {
	all, err := l.Show(ctx)
	if err != nil {
		return nil, err
	}
	for _, b := range all {
		if b.Name == name {
			return b, nil
		}
	}
	return nil, noDataset(name)
}

// Contains reports whether the ledger's chain has the charge that a certificate
// states, at its place. A charge that it lacks is a sign that an older copy was
// restored: see [Ledger.Reconcile].
func (l *Ledger) Contains(ctx context.Context, c ChargeInfo) (bool, error) {
	var found bool
	err := l.readers.QueryRowContext(ctx, `SELECT EXISTS (SELECT 1 FROM charge JOIN chain USING (seq)
		WHERE charge.id = ? AND seq = ? AND hash = ?)`, c.ID, c.Link, c.Head[:]).Scan(&found)
	if err != nil {
		return false, fail(l.path, "cannot be read", err)
	}
	return found && c.Ledger == l.id, nil
}
