package tables

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/noren-privacy/noren"
	"github.com/noren-privacy/noren/api"
	"github.com/noren-privacy/noren/internal/names"
	"github.com/noren-privacy/noren/internal/plainfile"
	"github.com/noren-privacy/noren/internal/server/jobs"
	"github.com/noren-privacy/noren/internal/server/problem"
	"github.com/noren-privacy/noren/internal/server/store"
	"github.com/noren-privacy/noren/internal/server/uploads"
)

// Adding is a request to add a table.
type Adding struct {
	// Name is the name of the table. Defaults to that of the source.
	Name string
	// Source says where it comes from. Required.
	Source Source
	// Form is what is known of the form of the file.
	Form Form
	// By is the principal who adds it.
	By string
}

// Add adds a table and begins the job that reads it.
func (t *Tables) Add(ctx context.Context, a Adding) (*Table, *jobs.Job, error) {
	d := &document{Source: a.Source, Form: a.Form, State: Reading, By: a.By, Added: t.config.Store.Second()}
	if err := a.Form.check(); err != nil {
		return nil, nil, err
	}
	if err := t.label(d); err != nil {
		return nil, nil, err
	}
	name := a.Name
	if name == "" {
		name = strings.TrimSpace(d.Label)
	}
	var err error
	if d.Name, err = tableName(name); err != nil {
		return nil, nil, err
	}
	r := &store.Resource{ID: store.NewID("tb"), Kind: store.KindTable}
	if r.Doc, err = json.Marshal(d); err != nil {
		return nil, nil, err
	}
	if err := t.config.Store.Write(ctx, func(ctx context.Context, tx *store.Tx) error { return tx.AddResource(ctx, r) }); err != nil {
		return nil, nil, err
	}
	shown, job, err := t.begin(ctx, r, d, a.By)
	if job == nil {
		_ = t.config.Store.Write(context.WithoutCancel(ctx),
			func(ctx context.Context, tx *store.Tx) error { return tx.DropResource(ctx, store.KindTable, r.ID) })
	}
	return shown, job, err
}

// begin begins the job that reads a table. Without a job nothing has changed.
func (t *Tables) begin(ctx context.Context, r *store.Resource, d *document, by string) (*Table, *jobs.Job, error) {
	ready := make(chan struct{}) // the table names its job before the job changes it
	defer close(ready)
	id := r.ID
	job, err := t.config.Jobs.Submit(jobs.Task{
		Kind: "read", Table: id, By: by, Finish: true,
		Run: func(ctx context.Context, run *jobs.Run) (any, error) {
			<-ready
			return nil, t.read(ctx, id, run)
		},
	})
	if err != nil {
		return nil, nil, err
	}
	d.Job = job.ID
	if err := t.save(ctx, r, d); err != nil {
		_, _ = t.config.Jobs.Cancel(job.ID)
		return nil, &job, err
	}
	shown, err := t.shown(ctx, r)
	return shown, &job, err
}

// label checks that a source is there and names it.
func (t *Tables) label(d *document) error {
	s := &d.Source
	switch s.Kind {
	case FromUpload:
		u, _, err := t.config.Uploads.File(d.By, s.Upload)
		if err != nil {
			return uploadProblem(err)
		}
		d.Source = Source{Kind: FromUpload, Upload: s.Upload}
		d.Label = u.Name
	case FromRoot:
		f, _, err := t.openRooted(s)
		if err != nil {
			return err
		}
		_ = f.Close()
		at, _ := inside(s.Path)
		d.Source = Source{Kind: FromRoot, Root: s.Root, Path: at}
		d.Label = filepath.Base(at)
	case FromDatabase:
		if _, ok := t.config.Databases[s.Database]; !ok {
			return problem.NotFound()
		}
		if s.Table == "" {
			return problem.New("invalid", "expected the name of a table of the database")
		}
		d.Source = Source{Kind: FromDatabase, Database: s.Database, Table: s.Table}
		d.Label = s.Table
		return seenLabel(d.Label)
	default:
		return problem.New("invalid", "expected a source of kind upload, root or database")
	}
	if err := seenLabel(d.Label); err != nil {
		return err
	}
	_, err := fileName(d.Label)
	return err
}

// seenLabel refuses the name of a source that cannot be seen as it is: it is shown beside
// the name of the table.
func seenLabel(name string) error {
	if names.Connection(name) {
		p := problem.New("invalid", "expected the name of a table, got a connection string, which is not repeated because it may hold a password")
		p.Where = "source"
		return p
	}
	if names.Seen(name) {
		return nil
	}
	p := problem.New("invalid", "expected a name without characters that are not seen, such as marks of direction")
	p.Where = "source"
	return p
}

// uploadProblem is a refusal of an upload as a source.
func uploadProblem(err error) error {
	switch {
	case errors.Is(err, uploads.ErrUnknown):
		return problem.NotFound()
	case errors.Is(err, uploads.ErrIncomplete):
		return problem.New("conflict", "The upload is not complete.").Hinted("send the parts that are missing")
	}
	return err
}

// read copies the source of a table, reads it and stores what was found. It is the work of
// a job. After an error the table says why.
func (t *Tables) read(ctx context.Context, id string, run *jobs.Run) error {
	watched, ended := t.config.Watch(ctx)
	err := Watched(watched, t.readInto(watched, id, run))
	ended()
	if err == nil {
		return nil
	}
	ending := context.WithoutCancel(ctx)
	r, d, e := t.find(ending, id)
	if e != nil {
		return err // the table was deleted meanwhile
	}
	d.State = Failed
	p := *t.config.Explain(err)
	if errors.Is(err, context.Canceled) {
		p = *problem.New("unavailable", "The reading of the table was cancelled.").Hinted("add the table again")
	}
	d.fail(&p)
	if d.Source.Kind == FromUpload && hopeless(err) {
		_ = t.config.Uploads.Remove(d.Source.Upload) // else it goes with the table, or expires
	}
	if e := t.save(ending, r, d); e != nil {
		return errors.Join(err, e)
	}
	return err
}

// hopeless reports whether reading the same upload again fails again, whatever is said of
// its form.
func hopeless(err error) bool { return noren.CodeOf(err) == "too-large" }

func (t *Tables) readInto(ctx context.Context, id string, run *jobs.Run) error {
	_, d, err := t.find(ctx, id)
	if err != nil {
		return err
	}
	if d.Folder != "" {
		return t.readAgain(ctx, id, d, run)
	}
	made, err := os.MkdirTemp(t.config.Dir, "new-*")
	if err != nil {
		return FileError(err)
	}
	defer func() { _ = os.RemoveAll(made) }()
	copied, err := t.copy(ctx, d, made, run.Progress)
	if err != nil {
		return err
	}
	found, err := t.inspect(ctx, filepath.Join(made, copied.Folder, copied.File), d, run)
	if err != nil {
		return err
	}
	if err := SyncAll(made); err != nil {
		return err
	}
	if err := os.Rename(made, t.folder(id)); err != nil {
		return FileError(err)
	}
	if err := SyncFolder(t.config.Dir); err != nil {
		return err
	}
	// The job was cancelled or the table deleted: its folder goes with it.
	r, now, err := t.find(ctx, id)
	if err != nil {
		_ = os.RemoveAll(t.folder(id))
		return err
	}
	*now = *copied.into(now)
	propose(now, found)
	now.State, now.Failure, now.FailureTexts = Proposed, nil, nil
	if err := t.save(ctx, r, now); err != nil {
		_ = os.RemoveAll(t.folder(id))
		return err
	}
	if d.Source.Kind == FromUpload {
		_ = t.config.Uploads.Remove(d.Source.Upload) // else it expires
	}
	return nil
}

// copied is a copy of a source.
type copied struct {
	Folder, File, SHA256 string
	from                 document
}

// into is a table with the copy as its data.
func (c *copied) into(d *document) *document {
	out := *d
	out.Folder, out.File, out.SHA256 = c.Folder, c.File, c.SHA256
	out.Size, out.Modified = c.from.Size, c.from.Modified
	return &out
}

// propose takes what was found in a table as the proposal of its columns.
func propose(d *document, found *api.Inspection) {
	d.Rows, d.Columns, d.Unit, d.Persons, d.Read = found.Rows, nil, "", 0, &found.Form
	// What was stated stands, whether the file holds it or not.
	d.Missing = missingTexts(slices.Concat(found.Missing, d.Form.Missing))
	d.hides(found.Hidden)
	for _, c := range found.Columns {
		d.Columns = append(d.Columns, Column{
			Name: c.Name, Type: c.Type, TypeReason: api.Because(c.TypeWhy), Format: c.Format, Order: c.Order,
			Role: c.Role, RoleReason: api.Because(c.RoleWhy), Missing: &c.Missing, Distinct: &c.Distinct, Estimated: c.Estimated, Unit: c.Unit,
		})
		if c.Unit && c.Role == "identifier" && c.Distinct > d.Persons {
			d.Unit, d.Persons = c.Name, c.Distinct
		}
	}
}

// hides takes over what is hidden, and keeps what was decided of it.
func (d *document) hides(found *api.Hidden) {
	was := d.Hidden
	d.Hidden = nil
	if found == nil {
		return
	}
	d.Hidden = (&Hidden{Rows: found.Rows, Columns: found.Columns})
	if was != nil {
		d.Hidden.Policy = was.Policy
	}
}

// copy copies the source of a table into a new folder of dir.
func (t *Tables) copy(ctx context.Context, d *document, dir string, progress func(string, int64, int64)) (*copied, error) {
	out := &copied{Folder: store.NewID("d")[:12], from: *d}
	if err := os.Mkdir(filepath.Join(dir, out.Folder), 0o700); err != nil {
		return nil, FileError(err)
	}
	var in io.ReadCloser
	var total int64
	switch d.Source.Kind {
	case FromDatabase:
		out.File = plain(d.Source.Table) + ".parquet"
		path := filepath.Join(dir, out.Folder, out.File)
		connection, err := t.connection(d.Source.Database)
		if err != nil {
			return nil, err
		}
		operations := t.config.Apart.Operations()
		operations.Progress = progress
		name, err := t.listed(ctx, &d.Source)
		if err != nil {
			return nil, err
		}
		written, err := t.config.Space(0)
		if err != nil {
			return nil, FileError(err)
		}
		defer written()
		if _, err := operations.Copy(ctx, &api.CopyRequest{
			Input: "pg:" + name, Connection: connection, Output: path,
			MostBytes: t.config.MostBytes,
		}); err != nil {
			return nil, unreachable(err)
		}
		out.SHA256, err = t.hash(ctx, path, progress)
		return out, err
	case FromUpload:
		u, path, err := t.config.Uploads.File(d.By, d.Source.Upload)
		if err != nil {
			return nil, uploadProblem(err)
		}
		f, err := plainfile.OpenPath(path)
		if err != nil {
			return nil, FileError(err)
		}
		in, total = f, u.Size
		out.from.Size = u.Size
	default:
		f, info, err := t.openRooted(&d.Source)
		if err != nil {
			return nil, err
		}
		in, total = f, info.Size()
		out.from.Size, out.from.Modified = info.Size(), info.ModTime().UTC()
		if info.Size() > t.config.MostBytes {
			_ = f.Close()
			return nil, tooLarge(t.config.MostBytes)
		}
	}
	defer func() { _ = in.Close() }()
	written, err := t.config.Space(total)
	if err != nil {
		return nil, FileError(err)
	}
	defer written()
	if out.File, err = fileName(d.Label); err != nil {
		return nil, err
	}
	path := filepath.Join(dir, out.Folder, out.File)
	if err = copyFile(ctx, path, in, total, progress); err != nil {
		return nil, err
	}
	if out.SHA256, err = t.hash(ctx, path, progress); err != nil {
		return nil, err
	}
	return out, t.unpacks(ctx, path, progress)
}

// copyFile writes all that in reads to a new file. Where both are files, the operating system copies.
func copyFile(ctx context.Context, path string, in io.Reader, total int64, progress func(string, int64, int64)) error {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return FileError(err)
	}
	for done := int64(0); err == nil; {
		if err = ctx.Err(); err != nil {
			break
		}
		var n int64
		n, err = io.CopyN(f, in, 4<<20)
		done += n
		if progress != nil && err == nil {
			progress("copying", done, total)
		}
	}
	if err == io.EOF {
		err = nil
	}
	if e := f.Close(); err == nil {
		err = e
	}
	return copyError(err)
}

func copyError(err error) error {
	if err == nil || errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return err
	}
	return FileError(err)
}

// hash is the SHA-256 of a file.
func (t *Tables) hash(ctx context.Context, path string, progress func(string, int64, int64)) (string, error) {
	operations := t.config.Apart.Operations()
	operations.Progress = progress
	sum, err := operations.Hash(ctx, path)
	return sum, copyError(err)
}
