package records

import (
	"cmp"
	"context"
	"math"
	"slices"

	"github.com/noren-privacy/noren/api"
	"github.com/noren-privacy/noren/internal/server/jobs"
	"github.com/noren-privacy/noren/internal/server/problem"
)

// CurvePoint is what a value of k costs and gains.
type CurvePoint struct {
	K           int      `json:"k" doc:"The least size of a group."`
	Loss        float64  `json:"loss" doc:"The share of the spread of the quasi-identifiers that is lost."`
	QueryError  *float64 `json:"query_error,omitempty" doc:"The mean relative error of random counts; absent where none was counted."`
	HighestRisk float64  `json:"highest_risk" doc:"The largest probability of finding a person of a group by guessing."`
	AverageRisk float64  `json:"average_risk" doc:"That of a record on average."`
	Classes     int      `json:"classes" doc:"The number of groups."`
	Smallest    int      `json:"smallest" doc:"The size of the smallest group."`
	Method      string   `json:"method,omitempty" doc:"The method that made the groups."`
}

// Curve is the points of a recipe so far.
type Curve struct {
	State  string       `json:"state" enum:"none,queued,running,done,failed,cancelled,lost" doc:"none, or the state of the job."`
	Points []CurvePoint `json:"points" nullable:"false" doc:"The points so far, by k."`
	Job    string       `json:"job,omitempty" doc:"The id of the job."`
	Stale  bool         `json:"stale" doc:"Whether table or recipe have changed since."`
}

// curve is a curve of a recipe. Its fields are guarded by the lock of Records.
type curve struct {
	job           string
	recipe, table int64 // versions
	points        []CurvePoint
}

// ks are the values of k of a curve.
var ks = []int{2, 3, 4, 5, 6, 8, 10, 15, 20, 25, 30, 50}

// mostKs is how many values of k a curve may have.
const mostKs = 50

// StartCurve begins the job that computes loss and risk over k, for the columns and the
// method of a recipe. The refinement is at most fast.
func (r *Records) StartCurve(ctx context.Context, id, by string, asked []int) (*jobs.Job, error) {
	row, d, h, err := r.open(ctx, id)
	if err != nil {
		return nil, err
	}
	if m := h.Table.Stand(); m != nil {
		return nil, shut([]Message{*m})
	}
	if len(asked) > mostKs {
		return nil, problem.New("invalid", "expected at most 50 values of k")
	}
	n := int(min(cmp.Or(h.Table.Persons, h.Table.Rows), math.MaxInt32))
	values := asked
	if len(values) == 0 {
		values = slices.DeleteFunc(slices.Clone(ks), func(k int) bool { return k > n })
	}
	values = slices.Compact(slices.Sorted(slices.Values(values)))
	if len(values) == 0 || values[0] < 1 || values[len(values)-1] > n {
		return nil, problem.New("invalid", "expected values of k from 1 to the number of persons or records of the table")
	}
	p := d.Parameters
	s := specification(h, &p, func(column string) string { return h.Hierarchies[column] })
	c := &curve{recipe: row.Version, table: h.Table.Version, points: []CurvePoint{}}
	method := p.Method
	if method == "topdown" {
		method = "auto"
	}
	refine := p.Refine
	if refine == "auto" {
		refine = "fast"
	}
	job, err := r.config.Jobs.Submit(jobs.Task{
		Kind: "curve", Table: row.Parent, Recipe: id, By: by,
		Run: func(ctx context.Context, run *jobs.Run) (any, error) {
			if err := h.Unchanged(ctx); err != nil {
				return nil, err
			}
			operations := r.config.Apart.Operations()
			operations.Progress = run.Progress
			var failed error
			_, err := operations.Curve(ctx, &api.CurveRequest{
				Table: api.Table{Input: h.Input, Spec: s}, K: values, Methods: []string{method}, Scale: p.Scale, Refine: refine,
				Point: func(x api.CurvePoint) {
					point := CurvePoint{
						K: x.K, Loss: x.Loss, HighestRisk: x.MaxRisk, AverageRisk: x.MeanRisk, Classes: x.Groups,
						Smallest: int(math.Round(1 / x.MaxRisk)), Method: x.Method, QueryError: x.CountError,
					}
					r.mu.Lock()
					c.points = append(c.points, point)
					r.mu.Unlock()
					if err := run.Emit("point", point); err != nil {
						failed = err
					}
				},
			})
			if err == nil {
				err = failed
			}
			if err != nil {
				return nil, err
			}
			r.mu.Lock()
			defer r.mu.Unlock()
			return map[string]any{"points": slices.Clone(c.points), "done": true}, nil
		},
	})
	if err != nil {
		return nil, err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	c.job = job.ID
	r.curves[id] = c
	return &job, nil
}

// Curve is the latest curve of a recipe.
func (r *Records) Curve(ctx context.Context, id string) (*Curve, error) {
	row, _, h, err := r.open(ctx, id)
	if err != nil {
		return nil, err
	}
	r.mu.Lock()
	c := r.curves[id]
	if c == nil {
		r.mu.Unlock()
		return &Curve{State: "none", Points: []CurvePoint{}}, nil
	}
	out := &Curve{State: string(jobs.Lost), Points: slices.Clone(c.points), Job: c.job, Stale: c.recipe != row.Version ||
		c.table != h.Table.Version}
	r.mu.Unlock() // jobs that end take the lock while they hold that of the manager
	if job, ok := r.config.Jobs.Get(out.Job); ok {
		out.State = string(job.State)
	}
	return out, nil
}
