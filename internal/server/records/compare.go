package records

import (
	"context"
	"maps"
	"path/filepath"
	"slices"

	"github.com/noren-privacy/noren/api"
	"github.com/noren-privacy/noren/internal/server/jobs"
	"github.com/noren-privacy/noren/internal/server/problem"
)

// Comparison says what two releases of the same people give away together.
type Comparison struct {
	Candidates []Candidates `json:"candidates" doc:"How many are left with few candidates."`
	Least      int64        `json:"least" doc:"The smallest number of candidates that remain."`
	BelowK     int64        `json:"below_k" doc:"How many are left with fewer than k candidates."`
	Common     int64        `json:"common" doc:"How many are in both."`
	Text       []Message    `json:"text" doc:"The same in words."`
}

// Candidates says how many of those in both releases are left with few candidates.
type Candidates struct {
	AtMost int     `json:"at_most" doc:"The number of candidates."`
	Share  float64 `json:"share" doc:"The share of those in both releases."`
}

// side is one of two releases that are compared.
type side struct {
	dir, file string
	table     string // whose copy is the source
	source    string // SHA-256 of the source
	k         int
	release   string            // its id; "" for a preview
	sums      map[string]string // SHA-256 of the files that are read, by name; "" where it is not known
}

// whole refuses a side of which a file that is read is not the one that was released, or
// studied: the gate would believe a comparison of something else.
func (r *Records) whole(s *side) error {
	for _, name := range slices.Sorted(maps.Keys(s.sums)) {
		f, err := openWhole(filepath.Dir(s.dir), filepath.Join(filepath.Base(s.dir), name), s.sums[name], -1)
		if err == nil {
			err = f.Close()
		}
		if s.release != "" {
			r.alter(s.release, partOf(name), err)
		}
		if err != nil {
			return alteredPart()
		}
	}
	return nil
}

// partOf is the name by which health knows a file of a release.
func partOf(file string) string {
	switch file {
	case certFile:
		return PartCertificate
	case dossierFile:
		return PartDossier
	case dossierJapanese:
		return PartDossierJapanese
	case specFile:
		return PartRecipe
	case classesFile:
		return classesFile
	}
	return PartFile
}

func (r *Records) sideOf(ctx context.Context, id string) (*side, error) {
	d, err := r.findRelease(ctx, id)
	if err != nil {
		return nil, err
	}
	sums := map[string]string{d.FileName: d.SHA256, specFile: d.Parts[specFile], classesFile: d.Parts[classesFile]}
	return &side{r.folder(id), d.FileName, d.Table, d.SourceSHA256, d.K, id, sums}, nil
}

// source is the path of the source of a release, which must be as it was then.
func (r *Records) source(ctx context.Context, s *side) (string, error) {
	h, err := r.config.Tables.Hold(ctx, s.table)
	if err != nil || h.SHA256 != s.source {
		return "",
			problem.New("unfit", "The table that a release was made of is no longer there, or has changed: the releases cannot be compared.").
				Hinted("compare them where both tables are, by noren assess --previous")
	}
	return h.Input, h.Unchanged(ctx)
}

// Compare begins the job that compares a release with another of the same people.
func (r *Records) Compare(ctx context.Context, id, with, by string) (*jobs.Job, error) {
	now, err := r.sideOf(ctx, id)
	if err != nil {
		return nil, err
	}
	return r.compare(ctx, jobs.Task{Kind: "compare", Table: now.table, By: by}, now, with, nil)
}

// ComparePreview begins the job that compares a preview with an earlier release. Once it
// is done, the gate knows that the earlier release was compared.
func (r *Records) ComparePreview(ctx context.Context, recipe, with, by string) (*jobs.Job, error) {
	if _, _, err := r.find(ctx, recipe); err != nil {
		return nil, err
	}
	r.mu.Lock()
	p := r.previews[recipe]
	switch {
	case p == nil || p.release == nil:
		r.mu.Unlock()
		return nil, shut([]Message{api.Say("no-preview", nil)})
	case p.busy:
		r.mu.Unlock()
		return nil, problem.New("conflict", "The preview is being released or compared.")
	}
	p.busy = true
	r.mu.Unlock()
	now := &side{
		p.dir, p.file, p.held.Table.ID, p.held.SHA256, p.parameters.K, "",
		map[string]string{p.file: p.release.SHA256, specFile: "", classesFile: ""},
	}
	job, err := r.compare(ctx, jobs.Task{Kind: "compare", Table: now.table, Recipe: recipe, By: by, Ended: func(jobs.Job) { r.unclaim(p) }},
		now, with, func() {
			r.mu.Lock()
			defer r.mu.Unlock()
			p.compared[with] = true
		})
	if err != nil {
		r.unclaim(p)
	}
	return job, err
}

func (r *Records) compare(ctx context.Context, task jobs.Task, now *side, with string, done func()) (*jobs.Job, error) {
	then, err := r.sideOf(ctx, with)
	if err != nil {
		return nil, err
	}
	if now.dir == then.dir {
		return nil, problem.New("invalid", "expected another release")
	}
	task.Run = func(ctx context.Context, run *jobs.Run) (any, error) {
		q := &api.OverlapRequest{Release: filepath.Join(now.dir, now.file), Previous: filepath.Join(then.dir, then.file)}
		for _, s := range []*side{now, then} {
			if err := r.whole(s); err != nil {
				return nil, err
			}
		}
		var err error
		if q.Input, err = r.source(ctx, now); err != nil {
			return nil, err
		}
		if q.PreviousSource, err = r.source(ctx, then); err != nil {
			return nil, err
		}
		q.SpecFile = filepath.Join(now.dir, specFile)
		if q.Classes, err = readClasses(filepath.Join(now.dir, classesFile)); err != nil {
			return nil, err
		}
		if q.PreviousClasses, err = readClasses(filepath.Join(then.dir, classesFile)); err != nil {
			return nil, err
		}
		operations := r.config.Apart.Operations()
		operations.Progress = run.Progress
		o, err := operations.Overlap(ctx, q)
		if err != nil {
			return nil, err
		}
		if done != nil {
			done()
		}
		return comparison(o), nil
	}
	job, err := r.config.Jobs.Submit(task)
	return &job, err
}

// comparison is an overlap as it is shown.
func comparison(o *api.Overlap) *Comparison {
	out := &Comparison{Least: o.Min, BelowK: o.Below, Common: o.Common, Candidates: []Candidates{}}
	who := "records"
	if o.Unit != "" {
		who = "persons"
	}
	share := func(n int64) float64 {
		if o.Common == 0 {
			return 0
		}
		return float64(n) / float64(o.Common)
	}
	if o.Common == 0 {
		out.Text = []Message{api.Say("overlap-none", map[string]any{"unit": who})}
		return out
	}
	out.Candidates = append(out.Candidates, Candidates{1, share(o.Alone)})
	if o.K > 2 {
		out.Candidates = append(out.Candidates, Candidates{o.K - 1, share(o.Below)})
	}
	out.Text = []Message{
		api.Say("overlap", map[string]any{"common": o.Common, "least": o.Min, "mean": o.Mean, "unit": who}),
		api.Say("overlap-below", map[string]any{"below": o.Below, "k": o.K, "alone": o.Alone}),
	}
	return out
}
