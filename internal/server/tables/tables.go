package tables

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"

	"github.com/noren-privacy/noren"
	"github.com/noren-privacy/noren/internal/server/apart"
	"github.com/noren-privacy/noren/internal/server/jobs"
	"github.com/noren-privacy/noren/internal/server/problem"
	"github.com/noren-privacy/noren/internal/server/store"
	"github.com/noren-privacy/noren/internal/server/uploads"
	"github.com/noren-privacy/noren/service"
	"github.com/noren-privacy/noren/spec"
)

// Config holds what tables need.
type Config struct {
	// Sealed says why nothing is changed; "" where it is. Optional.
	Sealed func() noren.Phrase
	// Dir is the folder of tables. Required.
	Dir string
	// Store keeps what is known of tables. Required.
	Store *store.Store
	// Uploads are the uploads that tables are made of. Required.
	Uploads *uploads.Store
	// Jobs run what takes long. Required.
	Jobs *jobs.Manager
	// Service makes the operations of a table. Required.
	Service func() *service.Service
	// Apart runs operations on tables in other processes. Required.
	Apart *apart.Runner
	// Roots are the folders whose files may be read, by name.
	Roots map[string]string
	// Databases are the files that hold connection strings, by name of the database.
	Databases map[string]string
	// LastRelease is the latest release of a table; nil where there is none. Required.
	LastRelease func(ctx context.Context, table string) (*LastRelease, error)
	// Name is the name of a principal. Optional.
	Name func(ctx context.Context, id string) string
	// Explain is the problem of an error of a job. Required.
	Explain func(error) *problem.Problem
	// Deleted is called when a table was deleted. Optional.
	Deleted func(ctx context.Context, id string) error
	// Space pledges n more bytes until they are written, or refuses them where they would take
	// space that others need. Optional.
	Space func(n int64) (release func(), err error)
	// Watch is a context that ends, whose cause is that the disk is full, where what is
	// written takes such space. Optional.
	Watch func(context.Context) (context.Context, func())
	// MostBytes is the size of the largest table, unpacked. Defaults to 16 GiB.
	MostBytes int64
}

// Tables keeps tables. Make one with [New].
type Tables struct {
	config Config
}

// New makes the tables of a store and removes what a killed process left.
func New(ctx context.Context, config Config) (*Tables, error) {
	if config.Dir == "" || config.Store == nil || config.Uploads == nil || config.Jobs == nil || config.Service == nil ||
		config.LastRelease == nil || config.Explain == nil {
		return nil, noren.Bug("tables: expected Dir, Store, Uploads, Jobs, Service, LastRelease and Explain")
	}
	if config.Space == nil {
		config.Space = func(int64) (func(), error) { return func() {}, nil }
	}
	if config.Watch == nil {
		config.Watch = func(ctx context.Context) (context.Context, func()) { return ctx, func() {} }
	}
	if config.MostBytes <= 0 {
		config.MostBytes = 16 << 30
	}
	t := &Tables{config: config}
	if config.Sealed != nil && config.Sealed() != "" {
		return t, nil // nothing is removed: the store may be an older one
	}
	return t, t.Recover(ctx)
}

// hierarchyFolder is the folder of hierarchies, in that of a table.
const hierarchyFolder = "hierarchies"

// all is more than the number of tables, recipes or releases of a server.
const all = 1 << 20

// Recover removes folders that no table names and gives tables up whose job a killed
// process left.
func (t *Tables) Recover(ctx context.Context) error {
	known := map[string]*document{}
	rows, err := t.config.Store.Resources(ctx, store.KindTable, "", 0, all)
	if err != nil {
		return err
	}
	for i := range rows {
		d, err := decode(&rows[i])
		if err != nil {
			known[rows[i].ID] = nil // lists mark it; its files stay
			continue
		}
		known[rows[i].ID] = d
		if d.State == Reading {
			d.State = Failed
			d.fail(problem.New("unavailable", "The server stopped while it read the table.").Hinted("add the table again"))
			if err := t.save(ctx, &rows[i], d); err != nil {
				return err
			}
		}
	}
	entries, err := os.ReadDir(t.config.Dir)
	if err != nil {
		return FileError(err)
	}
	for _, entry := range entries {
		d, is := known[entry.Name()]
		path := filepath.Join(t.config.Dir, entry.Name())
		if is && d == nil {
			continue
		}
		if d == nil || d.Folder == "" {
			if err := os.RemoveAll(path); err != nil {
				return FileError(err)
			}
			continue
		}
		inside, err := os.ReadDir(path)
		if err != nil {
			return FileError(err)
		}
		for _, x := range inside {
			if x.Name() != d.Folder && x.Name() != hierarchyFolder {
				if err := os.RemoveAll(filepath.Join(path, x.Name())); err != nil {
					return FileError(err)
				}
			}
		}
	}
	return nil
}

func decode(r *store.Resource) (*document, error) {
	d := &document{}
	return d, r.Decode(d)
}

// find reads a table from the store.
func (t *Tables) find(ctx context.Context, id string) (*store.Resource, *document, error) {
	d := &document{}
	r, err := t.config.Store.FindDocument(ctx, store.KindTable, "tb", id, d)
	if errors.Is(err, store.ErrNotFound) {
		err = problem.NotFound()
	}
	return r, d, err
}

// save stores a table in place of the version that was read.
func (t *Tables) save(ctx context.Context, r *store.Resource, d *document) error {
	doc, err := json.Marshal(d)
	if err != nil {
		return err
	}
	changed := *r
	changed.Doc = doc
	err = t.config.Store.Write(ctx, func(ctx context.Context, tx *store.Tx) error {
		return tx.ChangeResource(ctx, &changed)
	})
	switch {
	case err == nil:
		*r = changed
	case errors.Is(err, store.ErrChanged):
		return problem.New("precondition", "")
	case errors.Is(err, store.ErrNotFound):
		return problem.NotFound()
	}
	return err
}

// List is the tables that permitted says yes to, the newest first, made before the one of
// that number, at most limit of them. The number of the last follows, and the ids of those
// that cannot be read.
func (t *Tables) List(ctx context.Context, before int64, limit int, permitted func(id string) bool) (out []Line, next int64,
	unreadable []string, err error,
) {
	out = []Line{}
	for {
		rows, err := t.config.Store.Resources(ctx, store.KindTable, "", before, limit)
		if err != nil {
			return nil, 0, nil, err
		}
		for i := range rows {
			before = rows[i].N
			if permitted != nil && !permitted(rows[i].ID) {
				continue
			}
			table, err := t.shown(ctx, &rows[i])
			switch {
			case errors.Is(err, store.ErrUnreadable):
				unreadable = append(unreadable, rows[i].ID)
				continue
			case err != nil:
				return nil, 0, nil, err
			}
			out = append(out, table.Line)
			if len(out) == limit {
				return out, before, unreadable, nil
			}
		}
		if len(rows) < limit {
			return out, 0, unreadable, nil
		}
	}
}

// Get is a table.
func (t *Tables) Get(ctx context.Context, id string) (*Table, error) {
	r, _, err := t.find(ctx, id)
	if err != nil {
		return nil, err
	}
	return t.shown(ctx, r)
}

// Rename gives a table another name.
func (t *Tables) Rename(ctx context.Context, id string, version int64, name string) (*Table, error) {
	r, d, err := t.find(ctx, id)
	if err != nil {
		return nil, err
	}
	if err := matches(r, version); err != nil {
		return nil, err
	}
	if d.Name, err = tableName(name); err != nil {
		return nil, err
	}
	if err := t.save(ctx, r, d); err != nil {
		return nil, err
	}
	return t.shown(ctx, r)
}

// Delete removes a table, its copy and its recipes. Releases of it stay.
func (t *Tables) Delete(ctx context.Context, id string, version int64) error {
	r, d, err := t.find(ctx, id)
	if err != nil {
		return err
	}
	if err := matches(r, version); err != nil {
		return err
	}
	if d.State == Reading {
		if _, err := t.config.Jobs.Cancel(d.Job); err != nil && !errors.Is(err, jobs.ErrUnknown) {
			return err
		}
	}
	err = t.config.Store.Write(ctx, func(ctx context.Context, tx *store.Tx) error {
		if err := tx.DropChildren(ctx, store.KindRecipe, id); err != nil {
			return err
		}
		return tx.DropResource(ctx, store.KindTable, id)
	})
	if errors.Is(err, store.ErrNotFound) {
		return problem.NotFound()
	}
	if err != nil {
		return err
	}
	// What is computed from it is of no use any more.
	t.config.Jobs.CancelOf(id)
	// The table is gone; a folder that stays is removed at the next start, and an upload
	// expires.
	_ = os.RemoveAll(t.folder(id))
	if d.Source.Kind == FromUpload {
		_ = t.config.Uploads.Remove(d.Source.Upload)
	}
	if t.config.Deleted != nil {
		return t.config.Deleted(ctx, id)
	}
	return nil
}

func (t *Tables) folder(id string) string { return filepath.Join(t.config.Dir, id) }

// data is the path of the copy of a table.
func (t *Tables) data(id string, d *document) string {
	return filepath.Join(t.folder(id), d.Folder, d.File)
}

// Held is a table as operations need it.
type Held struct {
	// Table is the table as it is shown.
	Table *Table
	// Input is the file of the copy, and SHA256 its hash.
	Input, SHA256 string
	// FileName is the name of the copy.
	FileName string
	// Part says which part of a workbook is the table.
	Part spec.Input
	// Hierarchies are the paths of the files of hierarchies, by column.
	Hierarchies map[string]string
	// Sums are the SHA-256 of these files, by column; none for a file of before they were kept.
	Sums map[string]string
	// verify is [Tables.Verify].
	verify func(ctx context.Context, path, sum string) error
	// again is the table as it is now.
	again func(context.Context) (*Held, error)
}

// Hold is a table that was read, with the places of its files.
func (t *Tables) Hold(ctx context.Context, id string) (*Held, error) {
	r, d, err := t.find(ctx, id)
	if err != nil {
		return nil, err
	}
	shown, err := t.shown(ctx, r)
	if err != nil {
		return nil, err
	}
	if err := d.unread(); err != nil {
		return nil, err
	}
	h := &Held{
		Table: shown, Input: t.data(id, d), SHA256: d.SHA256, FileName: d.File, Part: d.input(), Hierarchies: map[string]string{},
		Sums: d.Sums,
	}
	h.verify = t.Verify
	h.again = func(ctx context.Context) (*Held, error) { return t.Hold(ctx, id) }
	for column, name := range d.Files {
		h.Hierarchies[column] = filepath.Join(t.folder(id), hierarchyFolder, name)
	}
	return h, nil
}

// matches refuses a change of another version than the table has. Version 0 is a request
// without If-Match.
func matches(r *store.Resource, version int64) error {
	switch version {
	case 0:
		return problem.New("precondition-required", "")
	case r.Version:
		return nil
	}
	return problem.New("precondition", "")
}

// fail notes why the table could not be read.
func (d *document) fail(p *problem.Problem) {
	if text, err := json.Marshal(p); err == nil {
		d.Failure, d.FailureTexts = text, p.Texts()
	}
}
