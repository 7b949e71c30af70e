package server

import (
	"context"
	"sync"
	"time"

	"github.com/noren-privacy/noren/internal/server/uploads"
)

// chargeReserve is the least that a charge, its answer and their entries in ledger and audit
// log are sure to find free.
const chargeReserve = 64 << 20

// pledges are the bytes that are being written: of what is free, they are somebody's already.
type pledges struct {
	mu   sync.Mutex
	held int64
}

// space pledges n bytes for an upload, a copy of a table or a preview, or refuses them where
// they would take what is kept for ledger and audit log: the disk would no longer be ready.
// Many at once share what is free: each finds what the others have pledged. release ends the
// pledge once the bytes are written.
func (s *Server) space(n int64) (release func(), err error) {
	p := &s.pledges
	p.mu.Lock()
	defer p.mu.Unlock()
	free, reserve, known := s.disk()
	if known && free-float64(p.held)-float64(n) < reserve {
		return nil, uploads.ErrDiskFull
	}
	p.held += n
	return sync.OnceFunc(func() {
		p.mu.Lock()
		p.held -= n
		p.mu.Unlock()
	}), nil
}

// disk is what is free, and what of it is kept for ledger and audit log.
func (s *Server) disk() (free, reserve float64, known bool) {
	free, total, known := freeDisk(s.cfg.Dir)
	return free, min(leastFree*total, leastFreeBytes), known
}

// spaceToCharge refuses a charge where the disk might not take its entries.
func (s *Server) spaceToCharge() error {
	if free, reserve, known := s.disk(); known && free < min(reserve/16, chargeReserve) {
		return uploads.ErrDiskFull
	}
	return nil
}

// watchInterval is how often the disk is looked at while a job writes a file of unknown size.
const watchInterval = 100 * time.Millisecond

// watchSpace is a context that ends with [uploads.ErrDiskFull] as its cause once half of what
// is kept for ledger and audit log is taken: a file of a size that was not known, such as the copy
// of a table of a database or a release of a packed table, takes no more.
func (s *Server) watchSpace(ctx context.Context) (context.Context, func()) {
	ctx, cancel := context.WithCancelCause(ctx)
	go func() {
		look := time.NewTicker(watchInterval)
		defer look.Stop()
		for {
			select {
			case <-ctx.Done():
				return
			case <-look.C:
				if free, reserve, known := s.disk(); known && free < reserve/2 {
					cancel(uploads.ErrDiskFull)
					return
				}
			}
		}
	}()
	return ctx, func() { cancel(context.Canceled) }
}
