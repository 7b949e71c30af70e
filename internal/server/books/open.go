package books

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strconv"

	"github.com/noren-privacy/noren"
	"github.com/noren-privacy/noren/api"
	"github.com/noren-privacy/noren/internal/plainfile"
	"github.com/noren-privacy/noren/internal/server/jobs"
	"github.com/noren-privacy/noren/internal/server/problem"
	"github.com/noren-privacy/noren/internal/server/store"
	"github.com/noren-privacy/noren/internal/server/tables"
	"github.com/noren-privacy/noren/service"
	"github.com/noren-privacy/noren/spec"
)

// Opening says how a book is opened.
type Opening struct {
	Table      string         `json:"table" maxLength:"64" doc:"The id of the table."`
	Name       string         `json:"name,omitempty" maxLength:"64" pattern:"^[a-z0-9-]+$" doc:"The name of the book in the ledger; made of the table's name where left out. It never changes."`
	Accounting string         `json:"accounting" enum:"epsilon,zcdp" doc:"How privacy loss adds up: epsilon (and delta), or zcdp (rho)."`
	Epsilon    string         `json:"epsilon,omitempty" maxLength:"40" doc:"The cap of a book of epsilon, in decimal."`
	Delta      string         `json:"delta,omitempty" maxLength:"40" doc:"The cap of delta of a book of epsilon; the delta of the statement of a book of zcdp."`
	Rho        string         `json:"rho,omitempty" maxLength:"40" doc:"The cap of a book of zcdp, in decimal."`
	Unit       string         `json:"unit,omitempty" maxLength:"500" doc:"record, or the column that tells persons apart; that of the table where left out."`
	Neighbours string         `json:"neighbours,omitempty" enum:"add-remove,replace-one" doc:"The relation of neighbouring tables; add-remove where left out."`
	AtMost     int64          `json:"at_most,omitempty" minimum:"1" maximum:"1073741824" doc:"A public upper bound of the number of records; 1,000,000 where left out."`
	Records    int64          `json:"records,omitempty" minimum:"1" maximum:"1073741824" doc:"About how many records of the table count, each person with at most max_rows, as all who ask may know it: from a published figure and never counted in the table. Margins of means start from it."`
	MaxRows    int64          `json:"max_rows,omitempty" minimum:"1" maximum:"1000000" doc:"The number of records of one person that count where a question states none; needed where the unit is a column."`
	Columns    []PublicColumn `json:"columns,omitempty" nullable:"false" maxItems:"10000" doc:"Public facts of columns, in place of those of the table."`
	Model      *Dependence    `json:"model,omitempty" doc:"How records depend on each other. Every answer is charged under it; the unit is record, the relation replace-one, and the number of records that of the model."`
	Other      bool           `json:"other_people,omitempty" doc:"The steward declares that no person of the table is in a book with similar columns."`
	Share      *bool          `json:"share_answers,omitempty" doc:"Whether analysts of the table may read the answers of others; true where left out."`
	Confirm    bool           `json:"confirm,omitempty" doc:"Whether cells that do not fit count as missing. Without it a table with such cells gets no book, and the job's result is the review."`
}

// PublicColumn are public facts of a column.
type PublicColumn struct {
	Name   string   `json:"name" maxLength:"500" doc:"The name of the column."`
	Bounds []string `json:"bounds,omitempty" minItems:"2" maxItems:"2" doc:"The smallest and the largest value that counts; from what is known of the subject and never from the table."`
	Keys   []string `json:"keys,omitempty" maxItems:"10000" doc:"The values by which questions group; from a code book and never from the table."`
}

// Dependence is a public model of dependent records and the column that it is about.
type Dependence struct {
	Column       string          `json:"column" minLength:"1" maxLength:"500" doc:"The column that holds the states of the model."`
	Other        string          `json:"other,omitempty" maxLength:"500" doc:"The state of a cell that is in no state of the model; the first where left out."`
	Distribution json.RawMessage `json:"distribution" doc:"The model, an object (docs/correlated-privacy.md); from public or older data and never from the table."`
}

// The results of a job that opens a book or takes over a new version of its table.
type (
	// Opened names the book.
	Opened struct {
		Book string `json:"book"`
	}
	// Reviewed are the cells that do not fit. Nothing was granted.
	Reviewed struct {
		Review Review `json:"review"`
	}
	// Review counts misfits by column.
	Review struct {
		Columns []Misfits `json:"columns"`
	}
	// Misfits are the cells of a column that do not fit its type.
	Misfits struct {
		Name    string `json:"name"`
		Misfits int64  `json:"misfits"`
	}
)

// replaceOne is the relation of tables that differ in one record; the number of records is
// public.
const replaceOne = "replace-one"

// defaultAtMost is the public bound of the number of records where none is stated.
const defaultAtMost = 1_000_000

// Open begins the job that opens the book of a table.
func (b *Books) Open(ctx context.Context, o *Opening, by string) (*jobs.Job, error) {
	held, err := b.config.Tables.Hold(ctx, o.Table)
	if err != nil {
		return nil, err
	}
	if held.Table.State != tables.Confirmed {
		return nil, problem.New("conflict", "The columns of the table are not confirmed.").
			Hinted("confirm them: they become the definition of the book")
	}
	source := &source{
		path: held.Input, name: held.FileName, sha256: held.SHA256, columns: columnsHash(held), unit: held.Table.Unit,
		spec: specification(held),
	}
	return b.start(ctx, o, held.Table.Name, source, by)
}

// OpenDeclared is Open with types of columns that are declared apart from the table, whose
// columns need not be confirmed.
func (b *Books) OpenDeclared(ctx context.Context, o *Opening, declared *spec.Spec, by string) (*jobs.Job, error) {
	held, err := b.config.Tables.Hold(ctx, o.Table)
	if err != nil {
		return nil, err
	}
	return b.start(ctx, o, held.Table.Name, &source{
		path: held.Input, name: held.FileName, sha256: held.SHA256, unit: declared.Unit,
		spec: declared,
	}, by)
}

// source is what a book's version is made of.
type source struct {
	path, name, sha256 string
	columns            string // the hash of what was confirmed
	unit               string
	spec               *spec.Spec
}

// follows leaves the type of a column to the model that describes it. It is false where
// the table has no such column.
func (f *source) follows(column string) bool {
	_, known := f.spec.Columns[column]
	delete(f.spec.Columns, column)
	return known
}

// start checks an opening, stores it and begins its job.
func (b *Books) start(ctx context.Context, o *Opening, tableName string, from *source, by string) (*jobs.Job, error) {
	has, taken := b.exists(o.Table, o.Name)
	if has {
		return nil, problem.New("conflict", "The table has a book.").Hinted("a table has one book; raise its cap")
	}
	name := o.Name
	switch {
	case name == "":
		name = b.proposeName(tableName)
	case !validName(name):
		return nil, noren.Usagef("name", "expected 1 to %d letters a to z, digits and hyphens", longestName)
	case taken:
		return nil, noren.Usagef("name", "expected a name that no book has")
	}
	if err := o.state(from.spec); err != nil {
		return nil, err
	}
	neighbours := o.Neighbours
	var model *api.GrantModel
	if m := o.Model; m != nil {
		if !from.follows(m.Column) {
			p := problem.New("invalid", "The model cannot be as it is stated.")
			p.Errors = []problem.Fault{problem.At("/model/column", noren.Textf("expected a column of the table"))}
			return nil, p
		}
		if neighbours == "" {
			neighbours = replaceOne
		}
		model = &api.GrantModel{Distribution: m.Distribution, Column: m.Column, Other: m.Other}
	}
	unit := o.Unit
	if unit == "" {
		unit = from.unit
	}
	if unit == "" {
		unit = "record"
	}
	if unit != "record" && o.MaxRows == 0 {
		return nil, noren.Usagef("max-rows", "expected the number of records of one %s that count", unit).
			Hinted("a public number: records beyond it are left out of answers")
	}
	if o.AtMost > 0 && o.Records > o.AtMost {
		return nil, noren.Usagef("records", "expected at most the public bound of %d, got %d", o.AtMost, o.Records)
	}
	atMost := o.AtMost
	if atMost == 0 && neighbours != replaceOne { // there the number itself is public
		atMost = defaultAtMost
	}
	d := &document{
		State: opening, Table: o.Table, TableName: tableName, Name: name, Opened: b.config.Store.Second(), By: by, Share: o.Share == nil ||
			*o.Share, MaxRows: o.MaxRows, Records: o.Records,
		Cap: api.Amount{Epsilon: o.Epsilon, Delta: o.Delta}, Source: from.sha256, Columns: from.columns, Folder: "1", id: store.NewID("bk"),
	}
	grant := &api.LedgerGrantRequest{Dataset: name, Table: &api.GrantTable{
		Spec: from.spec, Neighbours: neighbours, Unit: unit, AtMost: atMost, Model: model, OtherPeople: o.Other, Confirm: o.Confirm,
	}}
	if err := accounting(o, d, grant); err != nil {
		return nil, err
	}
	if err := b.add(ctx, d); err != nil {
		return nil, err
	}
	job, err := b.config.Jobs.Submit(jobs.Task{
		Kind: "book", Table: o.Table, By: by, Finish: true,
		Run: func(ctx context.Context, run *jobs.Run) (any, error) { return b.open(ctx, run, d, grant, from) },
		Ended: func(job jobs.Job) {
			if opened(job) {
				return
			}
			b.drop(d)
		},
	})
	if err != nil {
		b.drop(d)
		return nil, err
	}
	return &job, nil
}

// opened reports whether a job has opened its book.
func opened(job jobs.Job) bool {
	var result Opened
	return job.State == jobs.Done && json.Unmarshal(job.Result, &result) == nil && result.Book != ""
}

// accounting states the caps of a new book.
func accounting(o *Opening, d *document, grant *api.LedgerGrantRequest) error {
	switch o.Accounting {
	case "epsilon":
		if o.Epsilon == "" || o.Rho != "" {
			return noren.Usagef("epsilon", "expected the cap of a book of epsilon, and no rho")
		}
		d.Cap = api.Amount{Epsilon: o.Epsilon, Delta: o.Delta}
		grant.Epsilon, grant.Delta = o.Epsilon, o.Delta
	case "zcdp":
		if o.Rho == "" || o.Delta == "" || o.Epsilon != "" {
			return noren.Usagef("rho", "expected the cap and the delta of a book of zcdp, and no epsilon")
		}
		d.Cap = api.Amount{Rho: o.Rho}
		grant.Accounting, grant.Rho, grant.Delta = o.Accounting, o.Rho, o.Delta
	default:
		return noren.Usagef("accounting", "expected epsilon or zcdp")
	}
	return nil
}

// state lays the public facts of an opening over those of the table.
func (o *Opening) state(s *spec.Spec) error {
	p := problem.New("invalid", "The columns cannot be as they are stated.")
	for i, c := range o.Columns {
		column, known := s.Columns[c.Name]
		if !known {
			p.Errors = append(p.Errors, problem.At("/columns/"+strconv.Itoa(i)+"/name", noren.Textf("expected a column of the table")))
			continue
		}
		if c.Bounds != nil {
			column.Bounds = c.Bounds
		}
		if c.Keys != nil {
			column.Keys = c.Keys
		}
		s.Columns[c.Name] = column
	}
	if len(p.Errors) > 0 {
		return p
	}
	return nil
}

// specification states the columns of a confirmed table.
func specification(h *tables.Held) *spec.Spec {
	s := &spec.Spec{Version: spec.Version, Columns: map[string]spec.Column{}}
	s.Input = h.Part
	s.Input.Missing = append([]string{}, h.Table.Missing...)
	for i := range h.Table.ColumnsDetail {
		c := &h.Table.ColumnsDetail[i]
		s.Columns[c.Name] = spec.Column{Type: c.Type, Format: c.Format, Order: c.Order, Bounds: c.Bounds}
	}
	return s
}

// columnsHash is the SHA-256 of what is confirmed of the columns of a table.
func columnsHash(h *tables.Held) string {
	text, err := json.Marshal(specification(h))
	if err != nil {
		return ""
	}
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:])
}

// add stores a book that is being opened.
func (b *Books) add(ctx context.Context, d *document) error {
	doc, err := json.Marshal(d)
	if err != nil {
		return err
	}
	d.row = &store.Resource{ID: d.id, Kind: store.KindBook, Parent: d.Table, Doc: doc}
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, other := range b.byID {
		if other.Table == d.Table || other.Name == d.Name {
			return problem.New("conflict", "The table has a book, or another book has the name.")
		}
	}
	if err := b.config.Store.Write(ctx, func(ctx context.Context, tx *store.Tx) error { return tx.AddResource(ctx, d.row) }); err != nil {
		return err
	}
	b.byID[d.id] = d
	return nil
}

// drop removes a book that was not opened.
func (b *Books) drop(d *document) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if held := b.byID[d.id]; held == nil || held.State == open {
		return
	}
	// What cannot be removed now is removed at the next start.
	if b.config.Store.Write(context.Background(),
		func(ctx context.Context, tx *store.Tx) error { return tx.DropResource(ctx, store.KindBook, d.id) }) == nil {
		delete(b.byID, d.id)
	}
	_ = os.RemoveAll(b.folder(d.id))
}

// open copies the file, grants the budget and the account of the opener.
func (b *Books) open(ctx context.Context, run *jobs.Run, d *document, grant *api.LedgerGrantRequest, from *source) (any, error) {
	review, err := b.grant(ctx, run, d, grant, from)
	if err != nil || review != nil {
		return review, err
	}
	if _, err := b.finish(context.WithoutCancel(ctx), d); err != nil {
		return nil, err
	}
	return &Opened{d.id}, nil
}

// grant copies the file of a version to the folder of the book and grants it. A review is
// returned where cells do not fit and the steward has not confirmed that.
func (b *Books) grant(ctx context.Context, run *jobs.Run, d *document, grant *api.LedgerGrantRequest, from *source) (any, error) {
	path, err := b.copy(d, from)
	if err != nil {
		return nil, err
	}
	if err := b.config.Tables.Verify(ctx, path, from.sha256); err != nil {
		return nil, err
	}
	grant.Table.File = path
	operations := b.config.Host.Service()
	if run != nil {
		operations.Progress = run.Progress
	}
	out, err := operations.LedgerGrant(ctx, grant)
	if noren.CodeOf(err) == service.CodeConfirm && out != nil && out.Private != nil {
		review := Reviewed{Review{Columns: []Misfits{}}}
		for _, c := range out.Private.Columns {
			if c.Misfits > 0 {
				review.Review.Columns = append(review.Review.Columns, Misfits{c.Name, c.Misfits})
			}
		}
		return &review, nil
	}
	return nil, err
}

// finish gives the opener an account and lets the book be used.
func (b *Books) finish(ctx context.Context, d *document) (*document, error) {
	if _, err := b.config.Host.Service().LedgerGrantAnalyst(ctx, &api.LedgerGrantAnalystRequest{
		Dataset: d.Name, Analyst: d.By,
		Epsilon: d.Cap.Epsilon, Delta: d.Cap.Delta, Rho: d.Cap.Rho,
	}); err != nil {
		return nil, err
	}
	if err := b.config.Host.Note(ctx, d.By, "book.opened", d.id,
		map[string]string{"table": d.Table, "name": d.Name, "cap": amountText(d.Cap)}); err != nil {
		return nil, err
	}
	done := *d
	done.State = open
	if err := b.save(ctx, &done); err != nil {
		return nil, err
	}
	return &done, b.config.Host.Load(ctx, d.Name)
}

// copy puts the file of a version into the folder of the book: a second name of the
// table's copy, which is never written to, or else a copy of it.
func (b *Books) copy(d *document, from *source) (string, error) {
	dir := filepath.Join(b.folder(d.id), d.Folder)
	if err := os.RemoveAll(dir); err != nil {
		return "", tables.FileError(err)
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return "", tables.FileError(err)
	}
	path := filepath.Join(dir, from.name)
	if os.Link(from.path, path) != nil {
		if err := copyFile(from.path, path); err != nil {
			return "", tables.FileError(err)
		}
	}
	for _, folder := range []string{dir, b.folder(d.id), b.config.Dir} {
		if err := tables.SyncFolder(folder); err != nil {
			return "", err
		}
	}
	return path, nil
}

func copyFile(from, to string) error {
	in, err := plainfile.OpenPath(from)
	if err != nil {
		return err
	}
	defer func() { _ = in.Close() }()
	out, err := os.OpenFile(to, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	_, err = io.Copy(out, in)
	return errors.Join(err, out.Sync(), out.Close())
}
