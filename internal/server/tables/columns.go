package tables

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/noren-privacy/noren"
	"github.com/noren-privacy/noren/api"
	"github.com/noren-privacy/noren/internal/server/problem"
	"github.com/noren-privacy/noren/spec"
)

// Stated is what a steward states of a table.
type Stated struct {
	Unit    string         `json:"unit,omitempty" maxLength:"500" doc:"The column that tells persons apart; absent where each record is a person's."`
	Hidden  string         `json:"hidden,omitempty" enum:"read,leave" doc:"What becomes of the rows and columns that a workbook hides; absent: as it was decided. Where it changes which columns there are, they are proposed again."`
	Missing []string       `json:"missing" nullable:"false" maxItems:"200" doc:"The texts that stand for a missing value, beside the empty one."`
	Columns []StatedColumn `json:"columns" nullable:"false" maxItems:"10000" doc:"The columns; those that are left out stay as they are."`
	Confirm bool           `json:"confirm" doc:"Whether to confirm: the whole table is checked against what is stated."`
}

// StatedColumn is what a steward states of a column.
type StatedColumn struct {
	Name   string   `json:"name" maxLength:"500" doc:"The column's name."`
	Type   string   `json:"type" enum:"integer,decimal,date,ordered,category" doc:"Its type."`
	Format string   `json:"format,omitempty" maxLength:"100" doc:"How dates or numbers are written."`
	Order  []string `json:"order,omitempty" maxItems:"10000" doc:"The levels of an ordered column, from lowest to highest."`
	Role   string   `json:"role" enum:"identifier,quasi-identifier,sensitive,other,drop" doc:"Its role."`
	Bounds []string `json:"bounds,omitempty" maxItems:"2" doc:"Its public bounds: smallest and largest value."`
	Round  *int     `json:"round,omitempty" minimum:"-12" maximum:"12" doc:"The decimal places of a published mean."`
}

// State takes over what a steward states of the columns. To confirm, every column must
// have been decided on, and every value of the table must be what is stated: misfits are a
// problem with the code unfit that counts them by column. Without confirming the columns
// are proposals again. A file that has changed at its source is copied again first.
func (t *Tables) State(ctx context.Context, id string, version int64, by string, s *Stated) (*Table, error) {
	r, d, err := t.find(ctx, id)
	if err != nil {
		return nil, err
	}
	if err := matches(r, version); err != nil {
		return nil, err
	}
	if err := d.unread(); err != nil {
		return nil, err
	}
	if err := t.hide(ctx, id, d, s.Hidden); err != nil {
		return nil, err
	}
	if err := d.state(s); err != nil {
		return nil, err
	}
	before := d.Folder
	d.State, d.Confirmed = Proposed, nil
	if s.Confirm {
		if err := d.decided(); err != nil {
			return nil, err
		}
		if !t.unchanged(d) {
			if d, err = t.copyAgain(ctx, id, d); err != nil {
				return nil, err
			}
			defer func() {
				if err != nil { // the copy is no one's
					_ = os.RemoveAll(filepath.Join(t.folder(id), d.Folder))
				}
			}()
		}
		if err = t.fit(ctx, id, d); err != nil {
			return nil, err
		}
		d.State, d.Confirmed = Confirmed, &Confirmation{At: t.config.Store.Second(), By: by}
	}
	if err = t.save(ctx, r, d); err != nil {
		return nil, err
	}
	if d.Folder != before {
		_ = os.RemoveAll(filepath.Join(t.folder(id), before)) // else at the next start
	}
	return t.shown(ctx, r)
}

// missingTexts are texts for missing values in order, each once, without the empty one, which always is one.
func missingTexts(texts []string) []string {
	return slices.DeleteFunc(slices.Compact(slices.Sorted(slices.Values(texts))), func(text string) bool { return text == "" })
}

// hide takes over what becomes of hidden rows and columns. Where that changes the table, it is
// read again, and its columns are proposed again.
func (t *Tables) hide(ctx context.Context, id string, d *document, policy string) error {
	if policy == "" || d.Hidden != nil && d.Hidden.Policy == policy {
		return nil
	}
	if d.Hidden == nil {
		p := problem.New("invalid", "The table hides no rows and no columns.")
		p.Where = "hidden"
		return p
	}
	was := *d.Hidden
	d.Hidden = &Hidden{Rows: was.Rows, Columns: was.Columns, Policy: policy}
	if (was.Policy == "leave") == (policy == "leave") {
		return nil
	}
	found, err := t.inspect(ctx, t.data(id, d), d, nil)
	if err != nil {
		return err
	}
	propose(d, found)
	for column := range d.Files {
		if !slices.ContainsFunc(d.Columns, func(c Column) bool { return c.Name == column }) {
			delete(d.Files, column)
		}
	}
	return nil
}

// state lays what is stated over the columns.
func (d *document) state(s *Stated) error {
	p := problem.New("invalid", "The columns cannot be as they are stated.")
	fault := func(pointer string, detail noren.Format) {
		p.Errors = append(p.Errors, problem.At(pointer, noren.Textf(detail)))
	}
	of := func(pointer, column string, what noren.Text) {
		if !what.IsZero() {
			p.Errors = append(p.Errors, problem.At(pointer, noren.Textf("column %s: %s", column, what)))
		}
	}
	missing := missingTexts(s.Missing)
	at := map[string]int{}
	for i := range d.Columns {
		at[d.Columns[i].Name] = i
	}
	seen := map[string]bool{}
	for i := range s.Columns {
		c := &s.Columns[i]
		where := "/columns/" + strconv.Itoa(i)
		n, known := at[c.Name]
		switch {
		case !known:
			fault(where+"/name", "expected a column of the table")
			continue
		case seen[c.Name]:
			fault(where+"/name", "expected each column once")
			continue
		case c.Type == "ordered" && len(c.Order) == 0:
			of(where+"/order", c.Name, noren.Textf("expected the levels of an ordered column"))
		}
		of(where+"/bounds", c.Name, spec.Column{Type: c.Type, Format: c.Format, Bounds: c.Bounds}.BoundsFault(missing))
		seen[c.Name] = true
		column := &d.Columns[n]
		column.Type, column.Format, column.Order, column.Role, column.Bounds, column.Round, column.Decided = c.Type, c.Format, nil, c.Role,
			c.Bounds, c.Round, true
		if c.Type == "ordered" {
			column.Order = c.Order
		}
		if column.Hierarchy != nil && c.Type != "category" {
			of(where+"/type", c.Name, noren.Textf("expected category, as the column has a hierarchy"))
		}
	}
	for i, text := range s.Missing {
		if len(text) > 200 {
			fault("/missing/"+strconv.Itoa(i), "expected a text of at most 200 bytes")
		}
	}
	d.Unit, d.Persons = s.Unit, 0
	if s.Unit != "" {
		n, known := at[s.Unit]
		switch {
		case !known:
			fault("/unit", "expected a column of the table")
		case d.Columns[n].Role != "identifier":
			fault("/unit", "expected a column with the role identifier")
		}
	}
	d.Missing = missing
	if len(p.Errors) > 0 {
		return p
	}
	if len(d.Columns) > 0 {
		if _, err := d.specification("").Options(); err != nil {
			return err
		}
	}
	return nil
}

// decided refuses columns that no steward has decided on.
func (d *document) decided() error {
	if err := d.decidedHidden(); err != nil {
		return err
	}
	if err := d.decidedTotals(); err != nil {
		return err
	}
	var open []string
	for i := range d.Columns {
		if !d.Columns[i].Decided {
			open = append(open, d.Columns[i].Name)
		}
	}
	if len(open) == 0 {
		return nil
	}
	return noren.Usagef("columns", "columns have no role that a steward stated: %s", strings.Join(open, ", ")).
		Hinted("state the role of each").Coded("column-undecided")
}

// decidedHidden refuses a workbook that hides rows or columns of which nothing was decided.
func (d *document) decidedHidden() error {
	if d.Hidden == nil || d.Hidden.Policy != "" {
		return nil
	}
	return noren.Usagef("hidden", "the workbook hides rows or columns, and nothing was decided about them").
		Hinted("state whether they are read or left out").Coded("hidden")
}

// fit checks the whole table against what is stated.
func (t *Tables) fit(ctx context.Context, id string, d *document) error {
	s := d.specification(filepath.Join(t.folder(id), hierarchyFolder) + string(filepath.Separator))
	found, err := t.config.Apart.Operations().Fit(ctx, &api.FitRequest{Table: api.Table{Input: t.data(id, d), Spec: s}})
	if err != nil {
		return err
	}
	d.hides(found.Hidden)
	d.Read = &found.Form
	if err := d.decidedHidden(); err != nil {
		return err
	}
	if err := d.decidedTotals(); err != nil {
		return err
	}
	if values, columns := found.Misfits(); values > 0 {
		p := problem.New("unfit", "%d {value|values} in %d {column|columns} {1|is|are} not of the type that is stated.", values, columns)
		for i, c := range found.Columns {
			if c.Misfits == 0 {
				continue
			}
			first := make([]string, len(c.First))
			for j, n := range c.First {
				first[j] = strconv.FormatInt(n, 10)
			}
			detail := noren.Textf("column %s: %d {value is|values are} not of type %s, the first in records %s", c.Name, c.Misfits, c.Type,
				strings.Join(first, ", "))
			p.Errors = append(p.Errors, problem.At("/columns/"+strconv.Itoa(i), detail))
		}
		return p.Hinted("state another type, or name these texts as missing")
	}
	d.Rows, d.Persons = found.Rows, found.Persons
	for i, c := range found.Columns {
		d.Columns[i].Missing = &c.Missing
	}
	return nil
}

// copyAgain copies a source that has changed. Its columns must be the same.
func (t *Tables) copyAgain(ctx context.Context, id string, d *document) (*document, error) {
	c, err := t.copy(ctx, d, t.folder(id), nil)
	if err != nil {
		return nil, err
	}
	fresh := c.into(d)
	fail := func(err error) (*document, error) {
		_ = os.RemoveAll(filepath.Join(t.folder(id), c.Folder))
		return nil, err
	}
	rows, err := t.config.Service().
		Rows(ctx, &api.RowsRequest{
			Table: api.Table{Input: t.data(id, fresh), Spec: &spec.Spec{Version: spec.Version, Input: d.input()}},
			Rows:  1,
		})
	if err != nil {
		return fail(err)
	}
	names := make([]string, len(d.Columns))
	for i := range d.Columns {
		names[i] = d.Columns[i].Name
	}
	if !slices.Equal(names, rows.Columns) {
		return fail(problem.New("unfit", "The file has other columns now than when the table was added.").Hinted("add the file as a new table"))
	}
	if err := SyncAll(filepath.Join(t.folder(id), c.Folder)); err != nil {
		return fail(err)
	}
	return fresh, nil
}

// Rows is the first rows of a table. They are private: for stewards alone.
func (t *Tables) Rows(ctx context.Context, id string) (*api.Rows, error) {
	_, d, err := t.find(ctx, id)
	if err != nil {
		return nil, err
	}
	if d.Folder == "" {
		return nil, problem.New("conflict", "The table has not been read.")
	}
	return t.config.Service().
		Rows(ctx, &api.RowsRequest{Table: api.Table{Input: t.data(id, d), Spec: &spec.Spec{Version: spec.Version, Input: d.input()}}})
}
