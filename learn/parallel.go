package learn

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
)

// parallel does units 0..n-1, each by a free worker; every worker makes its
// own doer first, which may keep buffers. The first failure ends all.
func parallel(ctx context.Context, workers, n int, worker func() func(unit int) error) error {
	workers = max(1, min(workers, n))
	errs := make([]error, workers)
	var next atomic.Int64
	var failed atomic.Bool
	work := func(w int) {
		do := worker()
		for !failed.Load() {
			unit := int(next.Add(1) - 1)
			if unit >= n {
				return
			}
			err := ctx.Err()
			if err == nil {
				err = do(unit)
			}
			if err != nil {
				errs[w] = err
				failed.Store(true)
			}
		}
	}
	if workers == 1 {
		work(0)
		return errs[0]
	}
	var wg sync.WaitGroup
	for w := range workers {
		wg.Go(func() { work(w) })
	}
	wg.Wait()
	return errors.Join(errs...)
}
