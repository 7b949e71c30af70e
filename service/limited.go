package service

import (
	"context"

	"github.com/noren-privacy/noren/internal/meter"
)

// bounded is a context within the limits of s.
func (s *Service) bounded(ctx context.Context) context.Context {
	if s.Memory <= 0 || meter.From(ctx) != (meter.Limits{}) {
		return ctx
	}
	return Limited(ctx, s.Memory)
}

// Limited is a context for operations on files that others have made: reading one holds at
// most held bytes at once beside the columns that are kept, and unpacks to 16 GiB at most and
// to no more than follows from its size.
func Limited(ctx context.Context, held int64) context.Context {
	return meter.With(ctx, meter.Limits{Held: held, Unpacked: meter.DefaultUnpacked, BySize: true})
}
