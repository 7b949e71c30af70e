package records

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"sync"

	"github.com/noren-privacy/noren"
	"github.com/noren-privacy/noren/internal/server/apart"
	"github.com/noren-privacy/noren/internal/server/jobs"
	"github.com/noren-privacy/noren/internal/server/problem"
	"github.com/noren-privacy/noren/internal/server/store"
	"github.com/noren-privacy/noren/internal/server/tables"
	"github.com/noren-privacy/noren/service"
)

// Config holds what records need.
type Config struct {
	// Work is the folder of previews, which is empty at the start, and Releases that of
	// releases. Required, on one file system.
	Work, Releases string
	// Store keeps recipes and releases. Required.
	Store *store.Store
	// Tables are the tables that are released. Required.
	Tables *tables.Tables
	// Jobs run what takes long. Required.
	Jobs *jobs.Manager
	// Service makes the operations. Required.
	Service func() *service.Service
	// Apart runs operations on tables in other processes. Required.
	Apart *apart.Runner
	// Space pledges n more bytes until they are written, or refuses them where they would take
	// space that others need. Optional.
	Space func(n int64) (release func(), err error)
	// Watch is a context that ends, whose cause is that the disk is full, where what is
	// written takes such space. Optional.
	Watch func(context.Context) (context.Context, func())
	// LeastK is the least k of a release.
	LeastK int
	// Sealed says why no release is made; "" where releases are made. Required.
	Sealed func() noren.Phrase
	// Note writes to the audit log that a principal did something with an object. Required.
	Note func(ctx context.Context, by, action, object string, detail map[string]string) error
	// Explain is the problem of an error of a job. Required.
	Explain func(error) *problem.Problem
	// Name finds the name of a principal. Required.
	Name func(ctx context.Context, id string) string
}

// Records makes releases. Make one with [New].
type Records struct {
	config Config

	mu       sync.Mutex
	previews map[string]*preview // by recipe
	curves   map[string]*curve   // by recipe
	altered  map[string]bool     // parts of releases that are not those that were released
}

// New makes the records of a store, and removes or completes what a killed process left.
func New(ctx context.Context, config Config) (*Records, error) {
	if config.Work == "" || config.Releases == "" || config.Store == nil || config.Tables == nil || config.Jobs == nil ||
		config.Service == nil ||
		config.Sealed == nil || config.Note == nil || config.Name == nil || config.Explain == nil {
		return nil, noren.Bug("records: expected all fields of Config")
	}
	if config.Space == nil {
		config.Space = func(int64) (func(), error) { return func() {}, nil }
	}
	if config.Watch == nil {
		config.Watch = func(ctx context.Context) (context.Context, func()) { return ctx, func() {} }
	}
	if config.LeastK < 1 {
		config.LeastK = 5
	}
	r := &Records{config: config, previews: map[string]*preview{}, curves: map[string]*curve{}, altered: map[string]bool{}}
	return r, r.recover(ctx)
}

// LastRelease is the latest release of a table, for package tables.
func LastRelease(ctx context.Context, s *store.Store, table string) (*tables.LastRelease, error) {
	rows, err := s.Resources(ctx, store.KindRelease, table, 0, 5)
	if err != nil {
		return nil, err
	}
	for i := range rows {
		d, err := decodeRelease(&rows[i])
		if err == nil && d.Noted {
			return &tables.LastRelease{ID: d.ID, K: d.K, Classes: d.Classes, At: d.At}, nil
		}
	}
	return nil, nil
}

// find reads a recipe from the store.
func (r *Records) find(ctx context.Context, id string) (*store.Resource, *document, error) {
	d := &document{}
	row, err := r.config.Store.FindDocument(ctx, store.KindRecipe, "rc", id, d)
	if errors.Is(err, store.ErrNotFound) {
		err = problem.NotFound()
	}
	return row, d, err
}

// open reads a recipe and its table.
func (r *Records) open(ctx context.Context, id string) (*store.Resource, *document, *tables.Held, error) {
	row, d, err := r.find(ctx, id)
	if err != nil {
		return nil, nil, nil, err
	}
	h, err := r.config.Tables.Hold(ctx, row.Parent)
	return row, d, h, err
}

// shown is a recipe as it is shown.
func (r *Records) shown(row *store.Resource, d *document, h *tables.Held) *Recipe {
	return &Recipe{
		ID: row.ID, Table: row.Parent, Version: row.Version, Saved: d.Saved, Parameters: d.Parameters,
		Command: command(h, d.Parameters.K, ""), Problems: problems(h, &d.Parameters, r.config.LeastK),
	}
}

// mostRecipes is how many recipes of one table a principal may have.
const mostRecipes = 100

// everyRecipe is more than the number of recipes of a table.
const everyRecipe = 1 << 20

// Make makes a recipe of a table with the default parameters.
func (r *Records) Make(ctx context.Context, table, by string) (*Recipe, error) {
	h, err := r.config.Tables.Hold(ctx, table)
	if err != nil {
		return nil, err
	}
	all, err := r.config.Store.Resources(ctx, store.KindRecipe, table, 0, everyRecipe)
	if err != nil {
		return nil, err
	}
	own := 0
	for i := range all {
		d := &document{}
		if all[i].Decode(d) == nil && cmp.Or(d.Maker, d.By) == by {
			own++
		}
	}
	if own >= mostRecipes {
		return nil, problem.New("conflict", "You have 100 recipes of this table.").Hinted("change one of your recipes")
	}
	d := &document{Saved: r.config.Store.Second(), By: by, Maker: by, Parameters: defaults(max(r.config.LeastK, 1))}
	row := &store.Resource{ID: store.NewID("rc"), Kind: store.KindRecipe, Parent: table}
	if row.Doc, err = json.Marshal(d); err != nil {
		return nil, err
	}
	if err := r.config.Store.Write(ctx, func(ctx context.Context, tx *store.Tx) error { return tx.AddResource(ctx, row) }); err != nil {
		return nil, err
	}
	return r.shown(row, d, h), nil
}

// List is the recipes of a table, the newest first, with the ids of those that cannot be read.
func (r *Records) List(ctx context.Context, table string, before int64, limit int) (out []Recipe, next int64, unreadable []string,
	err error,
) {
	h, err := r.config.Tables.Hold(ctx, table)
	if err != nil {
		return nil, 0, nil, err
	}
	rows, err := r.config.Store.Resources(ctx, store.KindRecipe, table, before, limit)
	if err != nil {
		return nil, 0, nil, err
	}
	out = []Recipe{}
	for i := range rows {
		before = rows[i].N
		d := &document{}
		if err := rows[i].Decode(d); err != nil {
			unreadable = append(unreadable, rows[i].ID)
			continue
		}
		out = append(out, *r.shown(&rows[i], d, h))
	}
	if len(rows) < limit {
		before = 0
	}
	return out, before, unreadable, nil
}

// Get is a recipe.
func (r *Records) Get(ctx context.Context, id string) (*Recipe, error) {
	row, d, h, err := r.open(ctx, id)
	if err != nil {
		return nil, err
	}
	return r.shown(row, d, h), nil
}

// Put stores other parameters of a recipe.
func (r *Records) Put(ctx context.Context, id string, version int64, by string, p *Parameters) (*Recipe, error) {
	row, d, h, err := r.open(ctx, id)
	if err != nil {
		return nil, err
	}
	switch version {
	case 0:
		return nil, problem.New("precondition-required", "")
	case row.Version:
	default:
		return nil, problem.New("precondition", "")
	}
	if err := check(h, p); err != nil {
		return nil, err
	}
	if p.Columns == nil {
		p.Columns = map[string]Role{}
	}
	d.Maker = cmp.Or(d.Maker, d.By)
	d.Parameters, d.Saved, d.By = *p, r.config.Store.Second(), by
	if row.Doc, err = json.Marshal(d); err != nil {
		return nil, err
	}
	err = r.config.Store.Write(ctx, func(ctx context.Context, tx *store.Tx) error { return tx.ChangeResource(ctx, row) })
	switch {
	case errors.Is(err, store.ErrChanged):
		return nil, problem.New("precondition", "")
	case errors.Is(err, store.ErrNotFound):
		return nil, problem.NotFound()
	case err != nil:
		return nil, err
	}
	return r.shown(row, d, h), nil
}

// Text is the noren.yaml of a recipe.
func (r *Records) Text(ctx context.Context, id string) (string, error) {
	_, d, h, err := r.open(ctx, id)
	if err != nil {
		return "", err
	}
	return recipeText(h, &d.Parameters), nil
}

// TableOf is the table of a recipe or a release, by whose grants both are used.
func (r *Records) TableOf(ctx context.Context, id string) (string, error) {
	kind := store.KindRecipe
	if store.ValidID("rl", id) {
		kind = store.KindRelease
	}
	row, err := r.config.Store.FindResource(ctx, kind, id)
	if err != nil {
		return "", err
	}
	return row.Parent, nil
}

// write writes a private file.
func write(path string, data []byte) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return tables.FileError(err)
	}
	if err := os.WriteFile(path, data, 0o600); err != nil {
		return tables.FileError(err)
	}
	return nil
}
