package tables

import (
	"context"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/noren-privacy/noren"
	"github.com/noren-privacy/noren/api"
	"github.com/noren-privacy/noren/internal/server/jobs"
	"github.com/noren-privacy/noren/internal/server/problem"
	"github.com/noren-privacy/noren/internal/server/store"
	"github.com/noren-privacy/noren/spec"
)

// check refuses a form that no file can have.
func (f *Form) check() error {
	if len(f.Sheet) > 200 {
		return problem.New("invalid", "expected the name of a worksheet of at most 200 bytes")
	}
	p := problem.New("invalid", "The file cannot have that form.")
	for i, text := range f.Missing {
		if len(text) > 200 {
			p.Errors = append(p.Errors, problem.At("/missing/"+strconv.Itoa(i), noren.Textf("expected a text of at most 200 bytes")))
		}
	}
	if len(p.Errors) > 0 {
		return p
	}
	_, err := (&spec.Spec{Version: spec.Version, Input: spec.Input{
		HeaderRow: f.HeaderRow, Delimiter: f.Delimiter, Encoding: f.Encoding,
		Totals: f.Totals,
	}}).CheckedForm()
	return err
}

// Again reads a table again by another form: one that could not be read, or that was read
// otherwise than it is meant. Its columns are proposed again.
func (t *Tables) Again(ctx context.Context, id string, version int64, by string, form *Form) (*Table, *jobs.Job, error) {
	r, d, err := t.find(ctx, id)
	if err != nil {
		return nil, nil, err
	}
	if err := matches(r, version); err != nil {
		return nil, nil, err
	}
	if err := form.check(); err != nil {
		return nil, nil, err
	}
	switch {
	case d.State == Reading:
		return nil, nil, problem.New("conflict", "The table is being read.").Hinted("wait for its job")
	case d.Folder == "" && d.Source.Kind == FromUpload:
		if _, _, err := t.config.Uploads.File(d.By, d.Source.Upload); err != nil {
			return nil, nil, problem.New("conflict", "The uploaded file is not kept any more.").Hinted("upload the file again")
		}
	}
	if d.Hidden != nil && d.sheet() != form.Sheet {
		d.Hidden = nil // another sheet hides other cells
	}
	d.Form, d.Sheet, d.State, d.Job, d.Confirmed, d.Failure, d.FailureTexts = *form, "", Reading, "", nil, nil, nil
	before := r.Doc
	if err := t.save(ctx, r, d); err != nil { // before the job: it finds no other version
		return nil, nil, err
	}
	shown, job, err := t.begin(ctx, r, d, by)
	if job == nil {
		r.Doc = before
		_ = t.config.Store.Write(context.WithoutCancel(ctx), func(ctx context.Context, tx *store.Tx) error { return tx.ChangeResource(ctx, r) })
	}
	return shown, job, err
}

// readAgain is the work of a job that reads the copy of a table by another form.
func (t *Tables) readAgain(ctx context.Context, id string, d *document, run *jobs.Run) error {
	found, err := t.inspect(ctx, t.data(id, d), d, run)
	if err != nil {
		return err
	}
	r, now, err := t.find(ctx, id)
	if err != nil {
		return err // deleted meanwhile
	}
	propose(now, found)
	files := now.Files // hierarchies are of the columns of before
	now.Files, now.Sums = nil, nil
	now.State, now.Failure, now.FailureTexts = Proposed, nil, nil
	if err := t.save(ctx, r, now); err != nil {
		return err
	}
	for _, name := range files {
		_ = os.Remove(filepath.Join(t.folder(id), hierarchyFolder, name)) // else it stays unused
	}
	return nil
}

// inspect looks at a table by the form that was stated.
func (t *Tables) inspect(ctx context.Context, path string, d *document, run *jobs.Run) (*api.Inspection, error) {
	operations := t.config.Apart.Operations()
	if run != nil {
		operations.Progress = run.Progress
	}
	in := d.input()
	in.Missing = d.Form.Missing
	found, err := operations.Inspect(ctx, &api.InspectRequest{
		Table: api.Table{Input: path, Spec: &spec.Spec{Version: spec.Version, Input: in}},
	})
	if err != nil {
		return nil, err
	}
	for i := range found.Columns {
		why := &found.Columns[i].TypeWhy
		withoutFolder(&why.Text, why.Args, path)
		why = &found.Columns[i].RoleWhy
		withoutFolder(&why.Text, why.Args, path)
	}
	return found, nil
}

// withoutFolder takes the folder of the copy off a reason that names a place in it.
func withoutFolder(said *string, args map[string]any, path string) {
	folder := filepath.Dir(path) + string(filepath.Separator)
	*said = strings.ReplaceAll(*said, folder, "")
	for name, v := range args {
		if text, ok := v.(string); ok {
			args[name] = strings.ReplaceAll(text, folder, "")
		}
	}
}

// unread refuses what needs the columns of a table that has none, or none any more.
func (d *document) unread() error {
	if d.Folder != "" && d.State != Reading && d.State != Failed {
		return nil
	}
	return problem.New("conflict", "The table has not been read.").Hinted("wait for its job, or add the table again")
}

// decidedTotals refuses a table with rows of totals of which nothing was decided.
func (d *document) decidedTotals() error {
	if d.Read == nil || d.Read.Totals == 0 || d.Read.TotalsPolicy != "" {
		return nil
	}
	return noren.Usagef("totals", "%d {row looks|rows look} like totals or notes, not like records", d.Read.Totals).
		Hinted("decide whether they are read as records or left out").Coded("totals")
}
