package service

import (
	"context"
	"io"
	"math"
	"slices"

	"github.com/noren-privacy/noren/api"
	"github.com/noren-privacy/noren/dataset"
	"github.com/noren-privacy/noren/internal/tempfile"
	"github.com/noren-privacy/noren/ledger"
	"github.com/noren-privacy/noren/release"
)

// publicReports is r with files of reports that no reachable ledger has granted (code
// private): the lines of a granted table with one column are labels, and an estimate from
// them would tell its exact frequencies. A stream is copied to a temporary file, which done
// removes. The caller calls done, after an error too.
func (s *Service) publicReports(ctx context.Context, r *api.LDPEstimateRequest) (_ *api.LDPEstimateRequest, done func(), err error) {
	out := *r
	var open []io.Closer
	done = func() {
		for _, f := range open {
			_ = f.Close()
		}
	}
	public := func(f api.LDPFile) (api.LDPFile, error) {
		switch {
		case f.Reader != nil:
			return f, nil
		case f.Name != "-" || s.Stdin == nil:
			return f, s.refusePrivate(ctx, f.Name)
		}
		copied, err := tempfile.Spool(ctx, s.Stdin, "", "standard input")
		if err != nil {
			return f, err
		}
		open = append(open, copied)
		f.Reader = io.NewSectionReader(copied, 0, math.MaxInt64)
		near, err := s.reach(ctx, "-")
		defer near.close()
		if err != nil {
			return f, err
		}
		held, err := near.holdings(func(l *ledger.Ledger) (string, error) {
			return release.GrantedStream(ctx, copied, dataset.File{}, l)
		})
		if err == nil && len(held) > 0 {
			err = release.Private("standard input", held[0].dataset)
		}
		return f, err
	}
	out.Reports = slices.Clone(r.Reports)
	for i, f := range out.Reports {
		if out.Reports[i], err = public(f); err != nil {
			return nil, done, err
		}
	}
	if r.With != nil {
		with := *r.With
		if with.Reports, err = public(with.Reports); err != nil {
			return nil, done, err
		}
		out.With = &with
		if err := s.refusePrivate(ctx, with.CandidatesFile); err != nil {
			return nil, done, err
		}
	}
	return &out, done, s.refusePrivate(ctx, r.CandidatesFile)
}
