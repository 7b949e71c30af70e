package records

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/noren-privacy/noren/api"
	"github.com/noren-privacy/noren/internal/server/jobs"
	"github.com/noren-privacy/noren/internal/server/problem"
	"github.com/noren-privacy/noren/internal/server/store"
	"github.com/noren-privacy/noren/internal/server/tables"
)

// Release is a release that has left, as it is shown.
type Release struct {
	ID            string    `json:"id" doc:"rl_ and 16 characters."`
	Table         string    `json:"table" doc:"The id of the table."`
	TableName     string    `json:"table_name" doc:"The name of the table when it was released."`
	At            time.Time `json:"at" doc:"When it was released."`
	By            string    `json:"by" doc:"The name of the steward who released it."`
	K             int       `json:"k" doc:"The k that was asked for."`
	L             float64   `json:"l,omitempty" doc:"The l that was asked for."`
	T             float64   `json:"t,omitempty" doc:"The t that was asked for."`
	Publish       string    `json:"publish" doc:"How quasi-identifiers are published."`
	Classes       int       `json:"classes" doc:"The number of classes."`
	Rows          int       `json:"rows" doc:"The number of records."`
	Bytes         int64     `json:"bytes" doc:"The size of the file."`
	SHA256        string    `json:"sha256" doc:"The SHA-256 of the file, in hexadecimal."`
	FileName      string    `json:"file_name" doc:"The name of the file."`
	CertificateID string    `json:"certificate_id,omitempty" doc:"The id of its certificate."`
	Command       string    `json:"command" doc:"The command that makes a release by the same recipe."`
	SeedCommand   string    `json:"seed_command,omitempty" doc:"The command that makes the same file, byte for byte. It holds the seed, which reveals the order of the rows: for stewards alone."`
}

// released is a release as it is stored.
type released struct {
	Release
	ByID          string   `json:"by_id"`
	Recipe        string   `json:"recipe"`
	SourceSHA256  string   `json:"source_sha256"`
	SourceColumns []string `json:"source_columns"`
	Unit          string   `json:"unit,omitempty"`
	// Parts are the SHA-256 of the parts beside the file, by name; absent for releases of
	// earlier versions.
	Parts map[string]string `json:"parts,omitempty"`
	// Noted says that the audit log has the release: it can be downloaded only then.
	Noted bool `json:"noted"`
}

func decodeRelease(row *store.Resource) (*released, error) {
	d := &released{}
	return d, row.Decode(d)
}

// Asking asks for a release.
type Asking struct {
	// Recipe is the id of the recipe, and SHA256 the SHA-256 of the preview's file that the
	// steward has looked at. Required.
	Recipe, SHA256 string
	// Studied are earlier releases of the same people that the steward has studied.
	Studied []string
	// By is the principal who asks.
	By string
}

// StartRelease begins the job that releases the file of a preview. While the gate is shut
// it refuses with the reasons.
func (r *Records) StartRelease(ctx context.Context, a Asking) (*jobs.Job, error) {
	p, err := r.claim(ctx, &a)
	if err != nil {
		return nil, err
	}
	job, err := r.config.Jobs.Submit(jobs.Task{
		Kind: "release", Table: p.held.Table.ID, Recipe: a.Recipe, By: a.By, Finish: true,
		Run: func(ctx context.Context, run *jobs.Run) (any, error) {
			// The table or the recipe may have changed while the job waited.
			if err := r.passes(ctx, p, &a); err != nil {
				return nil, err
			}
			id, err := r.release(ctx, run, p, a.By)
			if err != nil {
				return nil, err
			}
			return map[string]string{"release": id}, nil
		},
		Ended: func(jobs.Job) { r.unclaim(p) },
	})
	if err != nil {
		r.unclaim(p)
		return nil, err
	}
	return &job, nil
}

// claim takes the preview of a recipe for a job, if the gate is open.
func (r *Records) claim(ctx context.Context, a *Asking) (*preview, error) {
	row, d, h, err := r.open(ctx, a.Recipe)
	if err != nil {
		return nil, err
	}
	earlier, err := r.earlier(ctx, h)
	if err != nil {
		return nil, err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	p := r.previews[a.Recipe]
	if reasons := r.reasons(row, &d.Parameters, h, p, earlier, a.Studied); len(reasons) > 0 {
		return nil, shut(reasons)
	}
	switch {
	case p.release.SHA256 != a.SHA256:
		return nil, shut([]Message{api.Say("preview-other", nil)})
	case p.busy:
		return nil, problem.New("conflict", "The preview is being released or compared.")
	}
	p.busy = true
	return p, nil
}

// passes asks again whether the gate is open for a preview that was claimed.
func (r *Records) passes(ctx context.Context, p *preview, a *Asking) error {
	row, d, h, err := r.open(ctx, a.Recipe)
	if err != nil {
		return err
	}
	earlier, err := r.earlier(ctx, h)
	if err != nil {
		return err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if reasons := r.reasons(row, &d.Parameters, h, p, earlier, a.Studied); len(reasons) > 0 {
		return shut(reasons)
	}
	return nil
}

// unclaim gives a preview back.
func (r *Records) unclaim(p *preview) {
	r.mu.Lock()
	defer r.mu.Unlock()
	p.busy = false
	if r.previews[p.recipe] != p { // another preview took its place meanwhile
		r.drop(p)
	}
}

// forget takes a preview that has left.
func (r *Records) forget(p *preview) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.previews[p.recipe] == p {
		delete(r.previews, p.recipe)
	}
}

// release certifies the file of a preview and makes it a release.
func (r *Records) release(ctx context.Context, run *jobs.Run, p *preview, by string) (string, error) {
	if err := p.held.Unchanged(ctx); err != nil {
		return "", err
	}
	operations := r.config.Service()
	operations.Progress = run.Progress
	made, err := operations.Certify(ctx, &api.CertifyRequest{
		Table: api.Table{Input: p.held.Input, SpecFile: filepath.Join(p.dir, specFile)}, Release: p.release, File: filepath.Join(p.dir, p.file),
		Name:        p.file,
		Certificate: filepath.Join(p.dir, certFile), Notes: singleSteward(),
	})
	if err != nil {
		return "", err
	}
	signed := filepath.Join(p.dir, certFile)
	defer func() { _ = os.Remove(signed) }() // of a release that did not come about
	guarantee, err := json.Marshal(p.release.Guarantee)
	if err != nil {
		return "", err
	}
	d := &released{
		Release: Release{
			ID: store.NewID("rl"), Table: p.held.Table.ID, TableName: p.held.Table.Name, At: r.config.Store.Second(), By: r.config.Name(ctx, by),
			K: p.parameters.K, L: p.parameters.L, T: p.parameters.T,
			Publish: p.parameters.Publish, Classes: p.release.Classes, Rows: p.release.Rows, Bytes: made.Bytes, SHA256: made.SHA256,
			FileName: p.file,
			Command:  command(p.held, p.parameters.K, ""), SeedCommand: command(p.held, p.parameters.K, p.seed), CertificateID: store.NewID("ct"),
		},
		ByID: by, Recipe: p.recipe, SourceSHA256: p.held.SHA256, Unit: p.release.Unit,
	}
	for i := range p.held.Table.ColumnsDetail {
		d.SourceColumns = append(d.SourceColumns, p.held.Table.ColumnsDetail[i].Name)
	}
	slices.Sort(d.SourceColumns)
	d.Parts = map[string]string{}
	for _, part := range []string{certFile, dossierFile, dossierJapanese, specFile, classesFile} {
		if d.Parts[part], err = sumOf(filepath.Join(p.dir, part)); err != nil {
			return "", err
		}
	}
	if err := tables.SyncAll(p.dir); err != nil {
		return "", err
	}
	if err := ctx.Err(); err != nil {
		return "", err
	}
	// From here on the release comes about: it is no longer cancelled.
	ctx = context.WithoutCancel(ctx)
	if err := os.Rename(p.dir, r.folder(d.ID)); err != nil {
		return "", tables.FileError(err)
	}
	// A release that does not come about is the preview that it was: it was studied.
	undo := func(err error) (string, error) {
		if os.Rename(r.folder(d.ID), p.dir) != nil {
			r.forget(p)
			_ = os.RemoveAll(r.folder(d.ID))
		}
		return "", err
	}
	if err := tables.SyncFolder(r.config.Releases); err != nil {
		return undo(err)
	}
	row := &store.Resource{ID: d.ID, Kind: store.KindRelease, Parent: d.Table}
	if row.Doc, err = json.Marshal(d); err != nil {
		return undo(err)
	}
	err = r.config.Store.Write(ctx, func(ctx context.Context, tx *store.Tx) error {
		if err := tx.AddResource(ctx, row); err != nil {
			return err
		}
		return tx.AddCertificate(ctx, &store.Certificate{
			ID: d.CertificateID, Release: d.ID, Object: d.Table, KeyID: made.KeyID, FileName: d.FileName, SHA256: d.SHA256,
			Guarantee: string(guarantee),
		})
	})
	if err != nil {
		return undo(err)
	}
	r.forget(p)
	return d.ID, r.note(ctx, row, d)
}

// note writes a release to the audit log. Only then can it be downloaded.
func (r *Records) note(ctx context.Context, row *store.Resource, d *released) error {
	if err := r.config.Note(ctx, d.ByID, "release", d.ID,
		map[string]string{"table": d.Table, "sha256": d.SHA256, "certificate": d.CertificateID, "mode": "single-steward"}); err != nil {
		return err
	}
	d.Noted = true
	doc, err := json.Marshal(d)
	if err != nil {
		return err
	}
	row.Doc = doc
	return r.config.Store.Write(ctx, func(ctx context.Context, tx *store.Tx) error { return tx.ChangeResource(ctx, row) })
}

// recover removes folders of releases that are not in the store, and notes those in the
// audit log whose process was killed before it did.
func (r *Records) recover(ctx context.Context) error {
	rows, err := r.config.Store.Resources(ctx, store.KindRelease, "", 0, mostReleases)
	if err != nil {
		return err
	}
	known := map[string]bool{}
	for i := range rows {
		known[rows[i].ID] = true
		d, err := decodeRelease(&rows[i])
		if err != nil {
			continue // lists mark it; its files stay
		}
		if d.Noted || r.config.Sealed() != "" {
			continue
		}
		if err := r.note(ctx, &rows[i], d); err != nil {
			return err
		}
	}
	if r.config.Sealed() != "" {
		return nil // nothing is removed: the store may be an older one
	}
	entries, err := os.ReadDir(r.config.Releases)
	if err != nil {
		return tables.FileError(err)
	}
	for _, e := range entries {
		if !known[e.Name()] {
			if err := os.RemoveAll(filepath.Join(r.config.Releases, e.Name())); err != nil {
				return tables.FileError(err)
			}
		}
	}
	return nil
}

func (r *Records) folder(id string) string { return filepath.Join(r.config.Releases, id) }

// Releases lists releases, the newest first: of a table where it is not "", and those that
// permitted says yes to, with the ids of those that cannot be read.
func (r *Records) Releases(ctx context.Context, table string, before int64, limit int, permitted func(table string) bool) (out []Release,
	next int64, unreadable []string, err error,
) {
	out = []Release{}
	for {
		rows, err := r.config.Store.Resources(ctx, store.KindRelease, table, before, limit)
		if err != nil {
			return nil, 0, nil, err
		}
		for i := range rows {
			before = rows[i].N
			d, err := decodeRelease(&rows[i])
			if err != nil {
				if permitted == nil || permitted(rows[i].Parent) {
					unreadable = append(unreadable, rows[i].ID)
				}
				continue
			}
			if !d.Noted || permitted != nil && !permitted(d.Table) {
				continue
			}
			out = append(out, d.Release)
			if len(out) == limit {
				return out, before, unreadable, nil
			}
		}
		if len(rows) < limit {
			return out, 0, unreadable, nil
		}
	}
}

// findRelease is a release that has left.
func (r *Records) findRelease(ctx context.Context, id string) (*released, error) {
	d := &released{}
	_, err := r.config.Store.FindDocument(ctx, store.KindRelease, "rl", id, d)
	if errors.Is(err, store.ErrNotFound) || err == nil && !d.Noted {
		return nil, problem.NotFound()
	}
	return d, err
}

// GetRelease is a release.
func (r *Records) GetRelease(ctx context.Context, id string) (*Release, error) {
	d, err := r.findRelease(ctx, id)
	if err != nil {
		return nil, err
	}
	return &d.Release, nil
}

// The parts of a release that can be downloaded.
const (
	PartFile        = "file"
	PartCertificate = "certificate"
	PartDossier     = "dossier"
	// PartDossierJapanese is the dossier in Japanese, or in English where the release has no other.
	PartDossierJapanese = "dossier.ja"
	PartRecipe          = "recipe"
)
