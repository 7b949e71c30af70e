package service

import (
	"cmp"
	"context"

	"github.com/noren-privacy/noren"
	"github.com/noren-privacy/noren/api"
	"github.com/noren-privacy/noren/assess"
	"github.com/noren-privacy/noren/kanon"
	"github.com/noren-privacy/noren/kanon/partition"
	"github.com/noren-privacy/noren/kanon/publish"
	"github.com/noren-privacy/noren/kanon/refine"
	"github.com/noren-privacy/noren/kanon/space"
	"github.com/noren-privacy/noren/report"
	"github.com/noren-privacy/noren/table"
)

// Curve computes information loss and risk over k and methods, to choose k by. Result
// and page are private: they hold statistics of the table. Nothing else is written.
// Errors are of kind Usage, or of reading the table.
func (s *Service) Curve(ctx context.Context, r *api.CurveRequest) (*api.Curve, error) {
	sp, err := specOf(&r.Table)
	if err != nil {
		return nil, err
	}
	effort, scale := cmp.Or(r.Refine, refine.Fast.String()), cmp.Or(r.Scale, space.ZScore.String())
	job, err := curveJob(r, effort, scale)
	if err != nil {
		return nil, err
	}
	if err := s.targets(ctx, append(sp.Files(), r.Input), r.Force, r.Report); err != nil {
		return nil, err
	}
	read, err := s.openMeasured(ctx, r.Input, sp)
	if err != nil {
		return nil, err
	}
	defer read.close()
	if job.Linkage, err = sp.Anonymize.Linkage(); err != nil {
		return nil, badField("unit-linkage", err)
	}
	job.Unit = sp.Unit
	if job.Unit == "" && job.Linkage == kanon.LinkAll {
		return nil, noren.Usagef("unit-linkage", "is about persons: name the column that tells them apart").Hinted("name a unit")
	}
	job.Count = countError
	job.Source, job.Schema, job.Missing, job.Progress = read.Source, *read.Schema, read.Missing, s.Progress
	result := &api.Curve{
		Schema: api.CurveSchema, Private: "do not release", Input: r.Input, Quasi: read.quasi, Unit: sp.Unit, Refine: effort,
		Scale: scale,
	}
	result.Rows, err = kanon.Curve(ctx, *job, func(p kanon.CurvePoint) error {
		result.Points = append(result.Points, p)
		if r.Point != nil {
			r.Point(p)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	if r.Report != "" {
		page := report.ChoiceOfK(report.CurveFacts{Input: r.Input, Quasi: read.quasi, Unit: sp.Unit, Points: result.Points, Footer: s.footer()})
		if err := writePrivate(r.Report, r.Force, page.In(s.Lang).Write); err != nil {
			return nil, err
		}
	}
	return result, nil
}

// curveJob reads the parameters of a request.
func curveJob(r *api.CurveRequest, effort, scale string) (*kanon.CurveJob, error) {
	if len(r.K) == 0 {
		return nil, noren.Usagef("k", "expected values of k, got none")
	}
	job := &kanon.CurveJob{K: r.K, Workers: r.Workers}
	for _, name := range r.Methods {
		m, err := partition.ParseMethod(name)
		if err != nil {
			return nil, badField("methods", err)
		}
		job.Methods = append(job.Methods, m)
	}
	var err error
	if job.Refine, err = refine.ParseEffort(effort); err != nil {
		return nil, badField("refine", err)
	}
	if job.Scale, err = space.ParseScaling(scale); err != nil {
		return nil, badField("scale", err)
	}
	return job, nil
}

// countError is the mean relative error of random counts over groups that are
// published as matched values. The counts are those that a release is asked.
func countError(ctx context.Context, columns []*table.Column, group []uint32, groups int) (*float64, error) {
	q, err := assess.AskGrouping(ctx, columns, group, groups, publish.Options{Mode: publish.Matched}, assess.QueryOptions{})
	if err != nil || q == nil {
		return nil, err
	}
	return &q.Mean, nil
}
