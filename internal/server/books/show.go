package books

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"maps"
	"slices"
	"time"

	"github.com/noren-privacy/noren"
	"github.com/noren-privacy/noren/api"
	"github.com/noren-privacy/noren/internal/server/problem"
	"github.com/noren-privacy/noren/internal/server/store"
	"github.com/noren-privacy/noren/lang"
)

// Message is a sentence with a code, by which the page translates it.
type Message = api.Message

// Viewer is who looks at a book.
type Viewer struct {
	// ID is the principal's.
	ID string
	// All says that the viewer sees all accounts and entries: a steward or an auditor of
	// the table.
	All bool
	// Steward says that the viewer sees alerts.
	Steward bool
}

// Book is a book as it is shown.
type Book struct {
	ID           string          `json:"id" doc:"bk_ and 16 characters."`
	Table        string          `json:"table" doc:"The id of the table, which may be deleted."`
	TableName    string          `json:"table_name" doc:"The name of the table when the book was opened."`
	Name         string          `json:"name" doc:"The name of the book in the ledger and in certificates."`
	Opened       time.Time       `json:"opened" doc:"When it was opened."`
	Accounting   string          `json:"accounting" enum:"epsilon,zcdp" doc:"How privacy loss adds up."`
	Unit         string          `json:"unit" doc:"The privacy unit: record, or the column that tells persons apart."`
	Neighbours   string          `json:"neighbours" enum:"add-remove,replace-one" doc:"The relation of neighbouring tables."`
	AtMost       int64           `json:"at_most" doc:"The public upper bound of the number of records."`
	Records      int64           `json:"records,omitempty" doc:"The public number of records that count: exact where neighbours are replace-one, else about, as the steward stated it. Absent where neither is known."`
	MaxRows      int64           `json:"max_rows,omitempty" doc:"The number of records of one person that count where a question states none."`
	Version      int             `json:"version" doc:"The number of the version of definition and file."`
	SchemaHash   string          `json:"schema_hash" doc:"The SHA-256 of the definition, in hexadecimal."`
	ShareAnswers bool            `json:"share_answers" doc:"Whether analysts of the table may read the answers of others."`
	Outdated     bool            `json:"outdated,omitempty" doc:"The table has other columns or another file by now: a steward may take them over. For stewards."`
	Deleted      bool            `json:"table_deleted,omitempty" doc:"The table is deleted: nothing can be asked, and what was asked can still be read."`
	Sealed       bool            `json:"sealed" doc:"Nothing is paid until the ledger is reconciled."`
	SealedReason *Message        `json:"sealed_reason,omitempty" doc:"Why."`
	Cap          api.Amount      `json:"cap" doc:"The most that may ever be spent."`
	Spent        api.Amount      `json:"spent" doc:"What was charged."`
	Left         api.Amount      `json:"left" doc:"The cap less what was spent."`
	Delta        string          `json:"statement_delta,omitempty" doc:"The delta of the statements of a book in zCDP."`
	Statement    []Message       `json:"statement" nullable:"false" doc:"What is guaranteed for all answers so far, and at the cap."`
	Columns      []DefinedColumn `json:"columns" nullable:"false" doc:"The columns: the public definition."`
	Accounts     []Account       `json:"accounts" nullable:"false" doc:"The accounts: all for stewards and auditors, the own one for others."`
	Model        *Modelled       `json:"model,omitempty" doc:"How records depend on each other, as is publicly assumed: questions of kind correlated are about it."`
	Publics      []PublicTable   `json:"publics,omitempty" nullable:"false" doc:"Public tables that estimates may refer to."`
	Entries      *int64          `json:"entries,omitempty" doc:"The number of charges. For stewards and auditors."`
	Forfeited    *int64          `json:"forfeited_charges,omitempty" doc:"How many of them were charged and have no answer. For stewards and auditors."`
	Alerts       []Alert         `json:"alerts,omitempty" nullable:"false" doc:"Levels of caps that were passed. For stewards."`
}

// Modelled is what a model of dependent records is about.
type Modelled struct {
	Column string   `json:"column" doc:"The column that holds the states of the model."`
	States []string `json:"states" nullable:"false" doc:"The states, in the order of the model."`
}

// PublicTable is a public table of the server.
type PublicTable struct {
	Table   string   `json:"table" doc:"The name by which questions refer to it."`
	Name    string   `json:"name" doc:"Its name."`
	Columns []string `json:"columns" nullable:"false" doc:"The columns that the book has too."`
}

// DefinedColumn is a column of the public definition.
type DefinedColumn struct {
	Name   string   `json:"name" doc:"The name of the column."`
	Type   string   `json:"type" doc:"integer, decimal, date, ordered or category."`
	Bounds []string `json:"bounds,omitempty" doc:"The smallest and the largest value that counts."`
	Keys   []string `json:"keys,omitempty" doc:"The values by which questions group."`
	Order  []string `json:"order,omitempty" doc:"The levels of an ordered column, from lowest to highest."`
	Format string   `json:"format,omitempty" doc:"How dates are written."`
}

// Account is the budget of one principal.
type Account struct {
	Principal string     `json:"principal" doc:"The id of the principal."`
	Name      string     `json:"name" doc:"The name of the principal."`
	Cap       api.Amount `json:"cap" doc:"The most that the principal may ever spend."`
	Spent     api.Amount `json:"spent" doc:"What the principal was charged."`
	Left      api.Amount `json:"left" doc:"What the principal can still spend: the smaller of its own rest and the book's."`
	Closed    bool       `json:"closed" doc:"The principal may ask nothing more."`
	Ended     bool       `json:"asking_ended" doc:"The paid questions of the principal have ended, because one of them took longer than its bound, until a steward allows them again."`
}

// Alert is a level of a cap that what was spent has passed.
type Alert struct {
	Level   int       `json:"level" enum:"50,80,100" doc:"The level, in percent of the cap."`
	Account string    `json:"account,omitempty" doc:"The id of the principal; absent for the book itself."`
	At      time.Time `json:"at" doc:"When it was passed."`
}

// definition is the part of a public definition that is shown.
type definition struct {
	AtMost  int64 `json:"at_most"`
	Records int64 `json:"records"`
	Columns []struct {
		Name, Type, Layout   string
		Levels, Bounds, Keys []string
	} `json:"columns"`
	Model *Modelled `json:"model"`
}

// dataset is a book's data set in the ledger.
func (b *Books) dataset(ctx context.Context, name string) (*api.Dataset, error) {
	shown, err := b.config.Host.Service().LedgerShow(ctx, &api.LedgerShowRequest{Dataset: name})
	if err != nil {
		return nil, err
	}
	set := &shown.Datasets[0]
	caps := map[string]api.Amount{"": amountOf(set.Cap)}
	for i := range set.Analysts {
		caps[set.Analysts[i].Name] = amountOf(set.Analysts[i].Cap)
	}
	b.mu.Lock()
	b.caps[name] = caps
	b.mu.Unlock()
	return set, nil
}

// amountOf is a cost of the ledger as it is shown.
func amountOf(c api.Cost) api.Amount {
	return api.Amount{Epsilon: string(c.Epsilon), Delta: string(c.Delta), Rho: string(c.Rho)}
}

func amountText(a api.Amount) string { return a.String() }

// capOf is the cap of a data set as a grant states it.
func capOf(d *api.Dataset) (epsilon, delta, accounting, rho string) {
	c := amountOf(d.Cap)
	if d.Accounting == "zcdp" {
		return "", string(d.StatementDelta), d.Accounting, c.Rho
	}
	return c.Epsilon, c.Delta, d.Accounting, ""
}

// Get is a book as a viewer sees it.
func (b *Books) Get(ctx context.Context, id string, v Viewer) (*Book, error) {
	d, err := b.find(id)
	if err != nil {
		return nil, err
	}
	set, err := b.dataset(ctx, d.Name)
	if err != nil {
		return nil, err
	}
	return b.shown(ctx, d, set, v)
}

// Lost is the ids of books whose data set the ledger does not know, or whose document cannot
// be read. Lists mark them.
func (b *Books) Lost(ctx context.Context) ([]string, error) {
	var out []string
	for _, d := range b.listed(unreadable) {
		out = append(out, d.id)
	}
	for _, d := range b.list() {
		switch _, err := b.dataset(ctx, d.Name); {
		case noren.CodeOf(err) == "no-dataset":
			out = append(out, d.id)
		case err != nil:
			return nil, err
		}
	}
	slices.Sort(out)
	return out, nil
}

// List is the books that permitted shows, the newest first, made before the one of that
// number, at most limit of them. The number of the last follows, and the ids of those that
// cannot be read: their document is damaged, or the ledger does not know their data set.
func (b *Books) List(ctx context.Context, before int64, limit int, permitted func(table string) (Viewer, bool)) (out []Book, next int64,
	lost []string, err error,
) {
	all := b.listed(open, unreadable)
	slices.SortFunc(all, func(x, y *document) int { return cmp.Compare(y.row.N, x.row.N) })
	out = []Book{}
	for _, d := range all {
		v, ok := permitted(d.Table)
		if !ok || before > 0 && d.row.N >= before {
			continue
		}
		if len(out) == limit {
			return out, before, lost, nil
		}
		book, err := b.one(ctx, d, v)
		switch {
		case errors.Is(err, store.ErrUnreadable) || noren.CodeOf(err) == "no-dataset":
			lost, before = append(lost, d.id), d.row.N
		case err != nil:
			return nil, 0, nil, err
		default:
			out, before = append(out, *book), d.row.N
		}
	}
	return out, 0, lost, nil
}

// one is a book of a list.
func (b *Books) one(ctx context.Context, d *document, v Viewer) (*Book, error) {
	if d.State == unreadable {
		return nil, store.ErrUnreadable
	}
	set, err := b.dataset(ctx, d.Name)
	if err != nil {
		return nil, err
	}
	return b.shown(ctx, d, set, v)
}

// shown is a book as a viewer sees it.
func (b *Books) shown(ctx context.Context, d *document, set *api.Dataset, v Viewer) (*Book, error) {
	out := &Book{
		ID: d.id, Table: d.Table, TableName: d.TableName, Name: d.Name, Opened: d.Opened, Accounting: cmp.Or(set.Accounting, "epsilon"),
		Unit: set.Unit, Neighbours: set.Neighbours,
		MaxRows: d.MaxRows, Deleted: d.Gone, Version: set.Version, SchemaHash: set.DefinitionSHA256, ShareAnswers: d.Share,
		Cap: amountOf(set.Cap), Spent: amountOf(set.Spent), Left: amountOf(set.Remaining), Delta: string(set.StatementDelta),
		Statement: statement(set), Columns: []DefinedColumn{}, Accounts: []Account{},
	}
	if reason := b.config.Host.Sealed(); reason != "" {
		m := lang.Fixed("sealed-reason", reason)
		out.Sealed, out.SealedReason = true, &m
	}
	var def definition
	if err := json.Unmarshal(set.Definition, &def); err != nil {
		return nil, noren.Reasonf("books: the definition of a book: %s", store.ErrUnreadable)
	}
	out.AtMost, out.Records = def.AtMost, cmp.Or(def.Records, d.Records)
	for _, c := range def.Columns {
		out.Columns = append(out.Columns, DefinedColumn{c.Name, c.Type, c.Bounds, c.Keys, c.Levels, c.Layout})
	}
	out.Model = def.Model
	if out.Model != nil {
		out.Statement = append(out.Statement, modelled(out.Model.Column))
	}
	out.Publics = b.publics(ctx, out.Columns)
	for i := range set.Analysts {
		a := &set.Analysts[i]
		if v.All || a.Name == v.ID {
			out.Accounts = append(out.Accounts, Account{
				a.Name, b.config.Host.Name(ctx, a.Name), amountOf(a.Cap), amountOf(a.Spent),
				amountOf(a.Available), a.Closed, b.config.Host.AskingEnded(d.id, a.Name),
			})
		}
	}
	if !v.All {
		return out, nil
	}
	counts, err := b.config.Host.Service().LedgerCounts(ctx, &api.LedgerCountsRequest{Dataset: d.Name})
	if err != nil {
		return nil, err
	}
	out.Entries, out.Forfeited = &counts.Charges, &counts.Forfeited
	held, err := b.config.Tables.Hold(ctx, d.Table)
	switch {
	case d.Gone:
	case err == nil && v.Steward && held.Table.Confirmed != nil:
		out.Outdated = d.behind(held)
	}
	if v.Steward {
		if out.Alerts, err = b.alerts(ctx, d); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// publics are the public tables with the columns that a book has too. Those that cannot be
// read are left out.
func (b *Books) publics(ctx context.Context, columns []DefinedColumn) (out []PublicTable) {
	for _, name := range slices.Sorted(maps.Keys(b.config.Public)) {
		rows, err := b.config.Host.Service().Rows(ctx, &api.RowsRequest{Table: api.Table{Input: b.config.Public[name]}, Rows: 1})
		if err != nil {
			continue
		}
		one := PublicTable{Table: name, Name: name, Columns: []string{}}
		for _, c := range columns {
			if slices.Contains(rows.Columns, c.Name) {
				one.Columns = append(one.Columns, c.Name)
			}
		}
		if len(one.Columns) > 0 {
			out = append(out, one)
		}
	}
	return out
}

func isNotFound(err error) bool {
	return err != nil && problem.From(err).Code == "not-found"
}

// alerts lists the alerts of a book.
func (b *Books) alerts(ctx context.Context, d *document) ([]Alert, error) {
	rows, err := b.config.Store.Alerts(ctx, d.id, 100)
	if err != nil {
		return nil, err
	}
	out := make([]Alert, len(rows))
	for i, a := range rows {
		out[i] = Alert{a.Level, a.Account, a.Made}
	}
	return out, nil
}

// Left is what a principal can still spend in a book. It is false for a principal without
// an open account.
func (b *Books) Left(ctx context.Context, id, principal string) (left api.Amount, ok bool, err error) {
	d, err := b.find(id)
	if err != nil {
		return left, false, err
	}
	set, err := b.dataset(ctx, d.Name)
	if err != nil {
		return left, false, err
	}
	for i := range set.Analysts {
		if a := &set.Analysts[i]; a.Name == principal {
			return amountOf(a.Available), !a.Closed, nil
		}
	}
	return left, false, nil
}
