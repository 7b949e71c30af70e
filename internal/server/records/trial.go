package records

import (
	"context"
	"os"

	"github.com/noren-privacy/noren/api"
	"github.com/noren-privacy/noren/internal/server/jobs"
)

// Figures are what a change of a recipe is judged by.
type Figures struct {
	K           int      `json:"k" doc:"The size of the smallest class that the verifier found."`
	Classes     int      `json:"classes" doc:"The number of classes."`
	Loss        float64  `json:"loss" doc:"The share of the spread of the quasi-identifiers that is lost."`
	QueryError  *float64 `json:"query_error,omitempty" doc:"The mean relative error of random counts; absent where none was counted."`
	HighestRisk float64  `json:"highest_risk" doc:"The largest probability of finding one by guessing."`
	AverageRisk float64  `json:"average_risk" doc:"The average probability."`
	Rows        int      `json:"rows" doc:"The number of records that leave."`
	Columns     int      `json:"columns" doc:"The number of columns that leave."`
	Unique      *int64   `json:"unique,omitempty" doc:"The number of records that are unique in one or two kept columns; absent where it was not counted."`
	L           *int     `json:"l,omitempty" doc:"The least number of different sensitive values in a class; absent without a sensitive column."`
}

// Trial compares what a recipe makes with what it would make with other parameters.
type Trial struct {
	Now  Figures `json:"now" doc:"The current preview."`
	Then Figures `json:"then" doc:"A preview with the other parameters."`
}

// figures are those of a preview.
func figures(p *preview) Figures {
	d, rel := describe(p), p.release
	out := Figures{
		K: d.After.K, Classes: d.After.Classes, Loss: d.After.Loss, QueryError: d.After.QueryError, HighestRisk: d.After.HighestRisk,
		AverageRisk: d.After.AverageRisk,
		Rows:        d.Leaving.Rows, Columns: len(d.Leaving.Columns),
	}
	if u := rel.Unique; u != nil {
		out.Unique = &u.InPairs
	}
	for _, s := range rel.Verified.Sensitive {
		if out.L == nil || s.DistinctL < *out.L {
			out.L = &s.DistinctL
		}
	}
	return out
}

// StartTrial begins the job that makes a preview with other parameters and compares it with the
// current one. The recipe and its preview stay as they are.
func (r *Records) StartTrial(ctx context.Context, id, by string, parameters *Parameters) (*jobs.Job, error) {
	row, _, h, err := r.open(ctx, id)
	if err != nil {
		return nil, err
	}
	if err := check(h, parameters); err != nil {
		return nil, err
	}
	if reasons := problems(h, parameters, r.config.LeastK); len(reasons) > 0 {
		return nil, shut(reasons)
	}
	r.mu.Lock()
	now := r.previews[id]
	r.mu.Unlock()
	switch {
	case now == nil || now.release == nil:
		return nil, shut([]Message{api.Say("no-preview", nil)})
	case now.stale(row, h):
		return nil, shut([]Message{api.Say("preview-stale", nil)})
	}
	p := *parameters
	job, err := r.config.Jobs.Submit(jobs.Task{
		Kind: "preview", Table: row.Parent, Recipe: id, By: by,
		Run: func(ctx context.Context, run *jobs.Run) (any, error) {
			made, err := r.make(ctx, run, id, row.Version, h, &p)
			if err != nil {
				return nil, err
			}
			defer func() { _ = os.RemoveAll(made.dir) }()
			if err := h.Unchanged(ctx); err != nil { // while it was read
				return nil, err
			}
			return &Trial{figures(now), figures(made)}, nil
		},
	})
	return &job, err
}
