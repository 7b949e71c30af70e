package cputime

import (
	"context"
	"runtime"
)

type oneThread struct{}

// OneThread marks a computation whose processor time is measured on its own thread: it must use
// no other, whose time would not count, and for which it would wait.
func OneThread(ctx context.Context) context.Context {
	return context.WithValue(ctx, oneThread{}, true)
}

// Workers is how many goroutines a computation may use: one, its own, where it is marked by
// [OneThread], else as many as can run at once.
func Workers(ctx context.Context) int {
	if ctx.Value(oneThread{}) != nil {
		return 1
	}
	return runtime.GOMAXPROCS(0)
}
