package books

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/noren-privacy/noren/api"
	"github.com/noren-privacy/noren/internal/server/jobs"
	"github.com/noren-privacy/noren/internal/server/problem"
	"github.com/noren-privacy/noren/internal/server/tables"
)

// TakeOver says how a book takes over the columns of its table as a new version.
type TakeOver struct {
	Columns []PublicColumn `json:"columns,omitempty" nullable:"false" maxItems:"10000" doc:"Public facts of columns, in place of those of the table."`
	Other   bool           `json:"other_people,omitempty" doc:"The steward declares that no person of the table is in a book with similar columns."`
	Confirm bool           `json:"confirm,omitempty" doc:"Whether cells that do not fit count as missing. Without it nothing changes for a table with such cells, and the job's result is the review."`
}

// StartVersion begins the job by which a book takes over the confirmed columns of its
// table, and its file, as a new version. Quotes made before are refused from then on.
func (b *Books) StartVersion(ctx context.Context, id string, t *TakeOver, by string) (*jobs.Job, error) {
	d, err := b.find(id)
	if err != nil {
		return nil, err
	}
	held, err := b.config.Tables.Hold(ctx, d.Table)
	if err != nil || d.Gone {
		return nil, problem.New("conflict", "The table of the book is deleted or not read.")
	}
	if held.Table.State != tables.Confirmed {
		return nil, problem.New("conflict", "The columns of the table are not confirmed.").Hinted("confirm them first")
	}
	if !d.behind(held) && len(t.Columns) == 0 {
		return nil, problem.New("conflict", "The book has the columns and the file of the table.")
	}
	from := &source{path: held.Input, name: held.FileName, sha256: held.SHA256, columns: columnsHash(held), spec: specification(held)}
	if err := (&Opening{Columns: t.Columns}).state(from.spec); err != nil {
		return nil, err
	}
	job, err := b.config.Jobs.Submit(jobs.Task{
		Kind: "book", Table: d.Table, By: by, Finish: true,
		Run: func(ctx context.Context, run *jobs.Run) (any, error) {
			return b.version(ctx, run, d.id, from, t, by)
		},
	})
	if err != nil {
		return nil, err
	}
	return &job, nil
}

// behind reports whether the file or the columns of a table are others than those that the
// book took over.
func (d *document) behind(h *tables.Held) bool {
	return h.SHA256 != d.Source || columnsHash(h) != d.Columns
}

// version grants the next version of a book.
func (b *Books) version(ctx context.Context, run *jobs.Run, id string, from *source, t *TakeOver, by string) (any, error) {
	d, err := b.find(id)
	if err != nil {
		return nil, err
	}
	set, err := b.dataset(ctx, d.Name)
	if err != nil {
		return nil, err
	}
	var def definition
	if err := json.Unmarshal(set.Definition, &def); err != nil {
		return nil, tables.FileError(err)
	}
	if def.Model != nil { // it stays
		from.follows(def.Model.Column)
	}
	next := *d
	next.Folder = strconv.Itoa(set.Version + 1)
	next.Source, next.Columns = from.sha256, from.columns
	grant := &api.LedgerGrantRequest{Dataset: d.Name, Table: &api.GrantTable{
		Spec: from.spec, Changed: true, OtherPeople: t.Other,
		Confirm: t.Confirm,
	}}
	grant.Epsilon, grant.Delta, grant.Accounting, grant.Rho = capOf(set)
	review, err := b.grant(ctx, run, &next, grant, from)
	if err != nil || review != nil {
		return review, err
	}
	ctx = context.WithoutCancel(ctx)
	if err := b.save(ctx, &next); err != nil {
		return nil, err
	}
	detail := map[string]string{"version": next.Folder}
	if from.sha256 != d.Source {
		detail["file"] = "another" // its hash would confirm a guess of what it holds
	}
	if err := b.changes(ctx, &def, d.Name, detail); err != nil {
		return nil, err
	}
	if err := b.config.Host.Note(ctx, by, "book.version", id, detail); err != nil {
		return nil, err
	}
	return &Opened{id}, b.config.Host.Load(ctx, d.Name)
}

// changes names the columns in which a definition differs from the one before it. Names of
// columns are public; the ledger holds what they state.
func (b *Books) changes(ctx context.Context, before *definition, name string, detail map[string]string) error {
	set, err := b.dataset(ctx, name)
	if err != nil {
		return err
	}
	var now definition
	if err := json.Unmarshal(set.Definition, &now); err != nil {
		return tables.FileError(err)
	}
	old := map[string]any{}
	for _, c := range before.Columns {
		old[c.Name] = c
	}
	lists := map[string][]string{}
	for _, c := range now.Columns {
		was, known := old[c.Name]
		switch {
		case !known:
			lists["added"] = append(lists["added"], c.Name)
		case !reflect.DeepEqual(was, any(c)):
			lists["changed"] = append(lists["changed"], c.Name)
		}
		delete(old, c.Name)
	}
	lists["removed"] = slices.Sorted(maps.Keys(old))
	for what, names := range lists {
		if len(names) > 0 {
			detail[what] = few(names)
		}
	}
	return nil
}

// few writes names in at most about 200 bytes, and how many are left out.
func few(names []string) string {
	out := ""
	for i, name := range names {
		if len(out)+len(name) > 200 {
			return strings.TrimPrefix(fmt.Sprintf("%s, +%d", out, len(names)-i), ", ")
		}
		if out != "" {
			out += ", "
		}
		out += name
	}
	return out
}
