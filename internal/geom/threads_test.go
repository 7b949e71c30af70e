package geom

import (
	"runtime"
	"testing"

	"github.com/noren-privacy/noren/internal/cputime"
)

// A count whose processor time is measured on its own thread uses no other goroutine.
func TestCountOnOneThread(t *testing.T) {
	coords := make([]int32, 2*10_000)
	for i := range coords {
		coords[i] = int32(i * 7919 % 100_000)
	}
	tree, err := NewTree(2, coords)
	if err != nil {
		t.Fatal(err)
	}
	starts, most, before := 0, 0, runtime.NumGoroutine()
	err = tree.eachLeaf(cputime.OneThread(t.Context()), func() func(int32) {
		starts++
		return func(int32) { most = max(most, runtime.NumGoroutine()) }
	})
	if err != nil || starts != 1 || most > before {
		t.Errorf("%v: %d workers, %d goroutines, before %d", err, starts, most, before)
	}
}
