package records

import (
	"cmp"
	"context"
	"encoding/binary"
	"io"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/noren-privacy/noren"
	"github.com/noren-privacy/noren/api"
	"github.com/noren-privacy/noren/internal/plainfile"
	"github.com/noren-privacy/noren/internal/server/jobs"
	"github.com/noren-privacy/noren/internal/server/problem"
	"github.com/noren-privacy/noren/internal/server/store"
	"github.com/noren-privacy/noren/internal/server/tables"
	"github.com/noren-privacy/noren/lang"
	"github.com/noren-privacy/noren/report/text"
)

// The files of a release, beside that of the data.
const (
	specFile    = "noren.yaml"
	dossierFile = "dossier.html"
	certFile    = "certificate.json"
	seedFile    = "seed"
	classesFile = "classes"

	dossierJapanese = "dossier.ja.html" // absent in releases of earlier versions
)

// preview is a release that was made and has not left. Its fields but busy, compared and
// failure are never changed; these are guarded by the lock of Records.
type preview struct {
	recipe        string
	by            string // the principal who asked for it
	dir           string
	file          string // its name in dir
	recipeVersion int64
	held          *tables.Held
	parameters    Parameters
	release       *api.Release
	seed          string
	notes         []api.Note
	bytes         int64
	made          time.Time
	job           string

	busy     bool            // a job uses the folder
	compared map[string]bool // earlier releases that were compared with it
	failure  *problem.Problem
	failed   [2]int64 // versions of recipe and table at the failure
}

// mostPreviews is how many previews of one principal are kept at once.
const mostPreviews = 16

// StartPreview begins the job that makes the file of a release in the working folder.
func (r *Records) StartPreview(ctx context.Context, id, by string) (*jobs.Job, error) {
	row, d, h, err := r.open(ctx, id)
	if err != nil {
		return nil, err
	}
	if reasons := problems(h, &d.Parameters, r.config.LeastK); len(reasons) > 0 {
		return nil, shut(reasons)
	}
	version, p := row.Version, d.Parameters
	job, err := r.config.Jobs.Submit(jobs.Task{
		Kind: "preview", Table: row.Parent, Recipe: id, By: by,
		Run: func(ctx context.Context, run *jobs.Run) (any, error) {
			made, err := r.make(ctx, run, id, version, h, &p)
			if err != nil {
				r.keepFailure(id, by, version, h.Table.Version, err)
				return nil, err
			}
			if err := h.Unchanged(ctx); err != nil { // while it was read
				_ = os.RemoveAll(made.dir)
				return nil, err
			}
			made.by = by
			r.keep(made)
			// The table may have been deleted meanwhile, before or after the preview was kept.
			if _, err := r.config.Tables.Hold(context.WithoutCancel(ctx), h.Table.ID); err != nil {
				r.TableDeleted(h.Table.ID)
				return nil, err
			}
			return map[string]any{"recipe_version": version, "sha256": made.release.SHA256}, nil
		},
	})
	return &job, err
}

// make makes the file of a release, its page and what it is described by.
func (r *Records) make(ctx context.Context, run *jobs.Run, id string, version int64, h *tables.Held, p *Parameters) (_ *preview,
	err error,
) {
	if err := h.Unchanged(ctx); err != nil {
		return nil, err
	}
	source, err := os.Stat(h.Input)
	if err != nil {
		return nil, tables.FileError(err)
	}
	written, err := r.config.Space(source.Size())
	if err != nil {
		return nil, tables.FileError(err)
	}
	defer written()
	ctx, ended := r.config.Watch(ctx)
	defer ended()
	dir := filepath.Join(r.config.Work, run.ID)
	if err := os.Mkdir(dir, 0o700); err != nil {
		return nil, tables.FileError(err)
	}
	defer func() {
		if err != nil {
			_ = os.RemoveAll(dir)
		}
	}()
	if err := writeRecipe(dir, h, p); err != nil {
		return nil, err
	}
	out := &preview{
		recipe: id, dir: dir, file: outputName(h, p.K), recipeVersion: version, held: h, parameters: *p, seed: store.NewSeed(),
		made: r.config.Store.Second(), job: run.ID,
		compared: map[string]bool{},
	}
	operations := r.config.Apart.Operations()
	operations.Progress = run.Progress
	operations.Note = func(n api.Note) { out.notes = append(out.notes, n) }
	path := filepath.Join(dir, out.file)
	out.release, err = operations.Anonymize(ctx, &api.AnonymizeRequest{
		Table: api.Table{Input: h.Input, SpecFile: filepath.Join(dir, specFile)}, Output: path, Report: filepath.Join(dir, dossierFile),
		ReportJapanese: filepath.Join(dir, dossierJapanese), PlainNames: true,
		Command: command(h, p.K, ""), Seed: out.seed, Memory: run.Memory, Assess: true, Notes: singleSteward(),
		CopyOfDatabase: h.Table.Source.Kind == tables.FromDatabase,
	})
	if err != nil {
		return nil, tables.Watched(ctx, err)
	}
	// A release is read by others than its owner once it has left, not before.
	if err := os.Chmod(path, 0o600); err != nil {
		return nil, tables.FileError(err)
	}
	info, err := os.Stat(path)
	if err != nil {
		return nil, tables.FileError(err)
	}
	out.bytes = info.Size()
	if err := write(filepath.Join(dir, seedFile), []byte(out.seed+"\n")); err != nil {
		return nil, err
	}
	if err := writeClasses(filepath.Join(dir, classesFile), out.release.ClassOf); err != nil {
		return nil, err
	}
	out.release.ClassOf = nil // in the file
	return out, nil
}

// writeRecipe writes the noren.yaml of a recipe with its hierarchies.
func writeRecipe(dir string, h *tables.Held, p *Parameters) error {
	if err := write(filepath.Join(dir, specFile), []byte(recipeText(h, p))); err != nil {
		return err
	}
	for column, path := range h.Hierarchies {
		data, err := tables.ReadHierarchy(path, h.Sums[column])
		if err != nil {
			return err
		}
		if err := write(filepath.Join(dir, filepath.FromSlash(hierarchyName(h, column))), data); err != nil {
			return err
		}
	}
	return nil
}

// writeClasses stores the class of each record of the source, 4 bytes each.
func writeClasses(path string, classes []uint32) error {
	data := make([]byte, 0, 4*len(classes))
	for _, c := range classes {
		data = binary.LittleEndian.AppendUint32(data, c)
	}
	return write(path, data)
}

func readClasses(path string) ([]uint32, error) {
	f, err := plainfile.OpenPath(path)
	if err != nil {
		return nil, tables.FileError(err)
	}
	defer func() { _ = f.Close() }()
	data, err := io.ReadAll(f)
	if err != nil {
		return nil, tables.FileError(err)
	}
	out := make([]uint32, len(data)/4)
	for i := range out {
		out[i] = binary.LittleEndian.Uint32(data[4*i:])
	}
	return out, nil
}

// keep keeps a preview in place of the one before it.
func (r *Records) keep(p *preview) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.drop(r.previews[p.recipe])
	r.previews[p.recipe] = p
	// What others have studied stays, however many previews one principal makes.
	for {
		var oldest *preview
		own := 0
		for _, x := range r.previews {
			if x.by != p.by {
				continue
			}
			own++
			if x != p && !x.busy && (oldest == nil || x.made.Before(oldest.made)) {
				oldest = x
			}
		}
		if own <= mostPreviews || oldest == nil {
			return
		}
		delete(r.previews, oldest.recipe)
		r.drop(oldest)
	}
}

// TableDeleted removes the previews of a table that is deleted: of one that a job uses, when
// that has ended.
func (r *Records) TableDeleted(table string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for recipe, p := range r.previews {
		if p.held != nil && p.held.Table.ID == table {
			delete(r.previews, recipe)
			r.drop(p)
		}
	}
}

// drop removes the folder of a preview that no job uses. The lock is held.
func (r *Records) drop(p *preview) {
	if p != nil && p.dir != "" && !p.busy {
		_ = os.RemoveAll(p.dir) // else at the next start
	}
}

// keepFailure notes that no preview of a recipe could be made.
func (r *Records) keepFailure(recipe, by string, version, table int64, err error) {
	if interrupted(err) {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	p := r.previews[recipe]
	if p == nil {
		p = &preview{recipe: recipe, by: by, made: r.config.Store.Second()}
		r.previews[recipe] = p
	}
	p.failure, p.failed = r.config.Explain(err), [2]int64{version, table}
}

// Preview is a release that was made and has not left, as it is shown.
type Preview struct {
	RecipeVersion int64     `json:"recipe_version" doc:"The version of the recipe that it was made of."`
	Made          time.Time `json:"made" doc:"When it was made."`
	Job           string    `json:"job" doc:"The job that made it."`
	Stale         bool      `json:"stale" doc:"Whether table or recipe have changed since."`
	Today         Today     `json:"today" doc:"The risk of the table as it is."`
	After         After     `json:"after" doc:"The release."`
	Statement     []Message `json:"statement" nullable:"false" doc:"What the release guarantees."`
	NotCovered    []Message `json:"not_covered" nullable:"false" doc:"What it does not."`
	Checks        []Check   `json:"checks" nullable:"false" doc:"What the verifier found, and remarks."`
	Warnings      []Warning `json:"warnings" nullable:"false" doc:"What needs a decision before the release, with its remedies."`
	Leaving       Leaving   `json:"leaving" doc:"What will leave."`
	Gate          Gate      `json:"gate" doc:"Whether it can be released."`
	Columns       []Fate    `json:"columns" nullable:"false" doc:"What becomes of each column."`
	Pictures      Pictures  `json:"pictures" doc:"The table and the release in pictures."`
	Earlier       []Earlier `json:"earlier" nullable:"false" doc:"Earlier releases of the same people."`
}

// Today is the risk of the table as it is.
type Today struct {
	N           int64   `json:"persons_or_rows" doc:"The number of persons, or of records where no unit is stated."`
	Unique      int64   `json:"unique" doc:"How many of them no other fits."`
	Unit        string  `json:"unit" enum:"person,record" doc:"What is counted."`
	HighestRisk float64 `json:"highest_risk" doc:"The largest probability of finding one by guessing."`
	AverageRisk float64 `json:"average_risk" doc:"The average probability."`
}

// After describes the release.
type After struct {
	K           int      `json:"k" doc:"The size of the smallest class that the verifier found."`
	Classes     int      `json:"classes" doc:"The number of classes."`
	Largest     int64    `json:"largest" doc:"The size of the largest class."`
	Loss        float64  `json:"loss" doc:"The share of the spread of the quasi-identifiers that is lost."`
	QueryError  *float64 `json:"query_error,omitempty" doc:"The mean relative error of random counts; absent where none was counted."`
	HighestRisk float64  `json:"highest_risk" doc:"The largest probability of finding one by guessing."`
	AverageRisk float64  `json:"average_risk" doc:"The average probability."`
	Bound       *float64 `json:"bound,omitempty" doc:"A loss that no grouping gets below."`
}

// Check is what the verifier found, or a remark.
type Check struct {
	Level   string  `json:"level" enum:"ok,attention,stop" doc:"How urgent it is."`
	Message Message `json:"message" doc:"What was found."`
	Detail  string  `json:"detail,omitempty" doc:"More of it."`

	columns []string // that it is about
}

// Leaving is what a release lets out.
type Leaving struct {
	File    string   `json:"file" doc:"The name of the file."`
	Rows    int      `json:"rows" doc:"The number of records."`
	Columns []string `json:"columns" nullable:"false" doc:"The names of its columns."`
	Bytes   int64    `json:"bytes" doc:"The size of the file."`
	SHA256  string   `json:"sha256" doc:"Its SHA-256, in hexadecimal."`
}

// Gate says whether a release can be made.
type Gate struct {
	Open    bool      `json:"open" doc:"Whether it can."`
	Reasons []Message `json:"reasons" nullable:"false" doc:"Why it cannot."`
}

// Fate is what becomes of a column.
type Fate struct {
	Name string     `json:"name" doc:"The column's name."`
	Role string     `json:"role" doc:"Its role in the release."`
	Fate string     `json:"fate" enum:"dropped,transformed,kept" doc:"What becomes of it."`
	Why  noren.Text `json:"why" doc:"The reason."`
}

// Pictures show a table and its release.
type Pictures struct {
	Scatter    *api.Scatter `json:"scatter,omitempty" doc:"Two columns of numbers before and after."`
	Histograms []Histogram  `json:"histograms" nullable:"false" doc:"Each quasi-identifier before and after."`
}

// Histogram shows a column before and after. It has edges for numbers and labels for
// texts.
type Histogram struct {
	Column string    `json:"column" doc:"The column's name."`
	Type   string    `json:"type" doc:"Its type; edges of dates count days, or seconds, since 1970."`
	Edges  []float64 `json:"edges,omitempty" doc:"The ends of the bins, one more than there are bins."`
	Labels []string  `json:"labels,omitempty" doc:"The values."`
	Before []float64 `json:"before" nullable:"false" doc:"The number of records of each, in the table."`
	After  []float64 `json:"after" nullable:"false" doc:"The number of records of each, in the release; a range counts in parts."`
}

// GetPreview is the latest preview of a recipe.
func (r *Records) GetPreview(ctx context.Context, id string) (*Preview, error) {
	row, d, h, err := r.open(ctx, id)
	if err != nil {
		return nil, err
	}
	earlier, err := r.earlier(ctx, h)
	if err != nil {
		return nil, err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	p := r.previews[id]
	if p == nil || p.release == nil {
		if p != nil && p.failure != nil && p.failed == [2]int64{row.Version, h.Table.Version} {
			failure := *p.failure
			return nil, &failure
		}
		return nil, problem.NotFound()
	}
	out := describe(p)
	out.Stale = p.stale(row, h)
	out.Gate.Reasons = r.reasons(row, &d.Parameters, h, p, earlier, nil)
	out.Gate.Open = len(out.Gate.Reasons) == 0
	out.Earlier = earlier
	return out, nil
}

// stale reports whether table or recipe have changed since a preview was made.
func (p *preview) stale(row *store.Resource, h *tables.Held) bool {
	return p.recipeVersion != row.Version || p.held.Table.Version != h.Table.Version || p.held.SHA256 != h.SHA256
}

// describe is a preview as it is shown, without its gate.
func describe(p *preview) *Preview {
	rel, a := p.release, p.release.Assessment
	out := &Preview{
		RecipeVersion: p.recipeVersion, Made: p.made, Job: p.job, Statement: text.Stated(&rel.Result), NotCovered: notCovered(rel),
		Checks: checks(p), Warnings: warnings(p), Columns: []Fate{},
		Today: Today{
			N: a.Original.Records, Unique: a.Original.UniqueRecords, Unit: "record", HighestRisk: a.Original.Prosecutor.Max,
			AverageRisk: a.Original.Marketer,
		},
		After: After{
			K: rel.AchievedK, Classes: rel.Classes, Largest: int64(rel.Verified.ClassSize.Max), Loss: rel.Loss,
			HighestRisk: a.Release.Prosecutor.Max, AverageRisk: a.Release.Marketer,
		},
		Leaving:  Leaving{File: p.file, Rows: rel.Rows, Columns: []string{}, Bytes: p.bytes, SHA256: rel.SHA256},
		Pictures: Pictures{Scatter: rel.Scatter, Histograms: histograms(rel)},
	}
	if o := a.OriginalPersons; o != nil {
		out.Today = Today{N: o.Persons, Unique: o.Fit.Alone, Unit: "person", HighestRisk: o.MaxRisk, AverageRisk: 1 / max(o.Mean, 1)}
	}
	if o := a.ReleasePersons; o != nil {
		out.After.HighestRisk, out.After.AverageRisk, out.After.Largest = o.MaxRisk, 1/max(o.Mean, 1), o.Largest
	}
	if a.Queries != nil {
		out.After.QueryError = &a.Queries.Mean
	}
	if rel.Bound.Method != "none" {
		out.After.Bound = &rel.LowerBound
	}
	for _, c := range rel.Columns {
		out.Columns = append(out.Columns, Fate{c.Column, c.Role, c.Fate, c.Why})
		if c.Fate != "dropped" {
			out.Leaving.Columns = append(out.Leaving.Columns, c.Column)
		}
	}
	return out
}

// histograms are the quasi-identifiers before and after.
func histograms(rel *api.Release) []Histogram {
	out := []Histogram{}
	u := rel.Assessment.Utility
	for _, c := range u.Numbers {
		if h := c.Histogram; h != nil {
			out = append(out, Histogram{Column: c.Name, Type: c.Type, Edges: h.Edges, Before: h.Original, After: h.Release})
		}
	}
	for _, c := range u.Categories {
		h := Histogram{Column: c.Name, Type: c.Type, Labels: []string{}, Before: []float64{}, After: []float64{}}
		for _, f := range c.Frequencies {
			h.Labels, h.Before, h.After = append(h.Labels, f.Value), append(h.Before, f.Original), append(h.After, f.Release)
		}
		if c.Rest != nil {
			h.Labels, h.Before, h.After = append(h.Labels, ""), append(h.Before, c.Rest.Original), append(h.After, c.Rest.Release)
		}
		out = append(out, h)
	}
	order := map[string]int{}
	for i, name := range rel.Assessment.Quasi {
		order[name] = i
	}
	slices.SortStableFunc(out, func(a, b Histogram) int { return cmp.Compare(order[a.Column], order[b.Column]) })
	return out
}

// shut is the refusal of work while the gate is shut.
func shut(reasons []Message) error {
	p := problem.New("guarantee-not-met", "The gate is shut.")
	for _, m := range reasons {
		p.Errors = append(p.Errors, problem.At(m.Code, m.Whole()))
	}
	if len(reasons) > 0 {
		p.Saying(reasons[0].Whole())
	}
	return p
}

// reasons says why a recipe cannot be released. studied are the earlier releases that the
// steward says to have studied. The lock is held.
func (r *Records) reasons(row *store.Resource, parameters *Parameters, h *tables.Held, p *preview, earlier []Earlier,
	studied []string,
) []Message {
	out := problems(h, parameters, r.config.LeastK)
	add := func(code string, args map[string]any) { out = append(out, api.Say(code, args)) }
	if reason := r.config.Sealed(); reason != "" {
		out = append(out, lang.Fixed("sealed", reason))
	}
	switch {
	case p != nil && p.failure != nil && p.failed == [2]int64{row.Version, h.Table.Version} && (p.release == nil || p.stale(row, h)):
		out = append(out, Message{
			Code: "preview-failed", Text: p.failure.Detail, Args: map[string]any{"code": p.failure.Code},
			Said: p.failure.DetailIn,
		})
	case p == nil || p.release == nil:
		add("no-preview", nil)
	case p.stale(row, h):
		add("preview-stale", nil)
	}
	for _, e := range earlier {
		if (p == nil || !p.compared[e.Release]) && !slices.Contains(studied, e.Release) {
			add("previous-unstudied", map[string]any{"release": e.Release})
		}
	}
	return out
}
