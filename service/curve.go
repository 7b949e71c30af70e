package service

import (
	"cmp"
	"context"

	"github.com/noren-privacy/noren"
	"github.com/noren-privacy/noren/api"
	"github.com/noren-privacy/noren/kanon"
	"github.com/noren-privacy/noren/kanon/partition"
	"github.com/noren-privacy/noren/kanon/refine"
	"github.com/noren-privacy/noren/kanon/space"
	"github.com/noren-privacy/noren/report"
)

// Curve computes information loss and risk over k and methods, to choose k by. Result
// and page are private: they hold statistics of the table. Nothing else is written.
// Errors are of kind Usage, or of reading the table.
func (s *Service) Curve(ctx context.Context, q *api.CurveRequest) (*api.Curve, error) {
	sp, err := specOf(&q.Table)
	if err != nil {
		return nil, err
	}
	effort, scale := cmp.Or(q.Refine, refine.Fast.String()), cmp.Or(q.Scale, space.MinMax.String())
	job, err := curveJob(q, effort, scale)
	if err != nil {
		return nil, err
	}
	if err := s.targets(ctx, append(sp.Files(), q.Input), q.Force, q.Report); err != nil {
		return nil, err
	}
	src, err := s.openTable(ctx, q.Input, sp)
	if err != nil {
		return nil, err
	}
	defer closeTable(src)
	read, err := sp.ResolveSource(ctx, src, s.reading())
	if err != nil {
		return nil, err
	}
	quasi, err := read.QuasiNames()
	if err != nil {
		return nil, err
	}
	if job.Linkage, err = sp.Anonymize.Linkage(); err != nil {
		return nil, badField("unit-linkage", err)
	}
	if job.Unit = sp.Unit; job.Unit == "" && job.Linkage == kanon.LinkAll {
		return nil, noren.Usagef("unit-linkage", "is about persons: name the column that tells them apart").Hinted("name a unit")
	}
	job.Source, job.Schema, job.Missing = read.Source, *read.Schema, read.Missing
	result := &api.Curve{Schema: api.CurveSchema, Input: q.Input, Quasi: quasi, Unit: sp.Unit, Refine: effort, Scale: scale}
	result.Rows, err = kanon.Curve(ctx, *job, func(p kanon.CurvePoint) error {
		result.Points = append(result.Points, p)
		if q.Point != nil {
			q.Point(p)
		}
		return nil
	}, s.Progress)
	if err != nil {
		return nil, err
	}
	if q.Report != "" {
		page := report.ChoiceOfK(report.CurveFacts{Input: q.Input, Quasi: quasi, Unit: sp.Unit, Points: result.Points, Footer: s.footer()})
		if err := writePrivate(q.Report, q.Force, page.Write); err != nil {
			return nil, err
		}
	}
	return result, nil
}

// curveJob reads the parameters of a request.
func curveJob(q *api.CurveRequest, effort, scale string) (*kanon.CurveJob, error) {
	if len(q.K) == 0 {
		return nil, noren.Usagef("k", "expected values of k, got none")
	}
	job := &kanon.CurveJob{K: q.K, Workers: q.Workers}
	for _, name := range q.Methods {
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
