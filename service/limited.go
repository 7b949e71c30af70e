package service

import (
	"context"

	"github.com/noren-privacy/noren/internal/meter"
)

// Limited is a context for operations on files that others have made: reading one holds at
// most held bytes at once beside the columns that are kept, and unpacks to 16 GiB at most.
func Limited(ctx context.Context, held int64) context.Context {
	return meter.With(ctx, meter.Limits{Held: held, Unpacked: meter.DefaultUnpacked})
}
