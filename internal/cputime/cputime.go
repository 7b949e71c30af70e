// Package cputime measures the processor time of one goroutine, and lets it use the processor
// until it has used a stated time.
//
// The clock is that of the operating system's thread: CLOCK_THREAD_CPUTIME_ID on Linux, macOS and
// FreeBSD, GetThreadTimes on Windows, whose steps are about 16 ms. It stands while other programs have
// the processor. On other systems it is the wall clock, which does not. Where a virtual machine
// does not learn that its host took the processor away, that time counts as used.
package cputime

import (
	"math"
	"runtime"
	"time"
)

// Meter measures the processor time of a goroutine, which keeps its thread until [Meter.Stop].
// All methods are for that goroutine.
type Meter struct {
	clock func() (time.Duration, bool)
	begun time.Duration
}

// Start locks the goroutine to its thread, and begins to measure.
func Start() *Meter {
	runtime.LockOSThread()
	m := &Meter{clock: threadTime}
	var ok bool
	m.begun, ok = m.clock()
	if !ok {
		begun := time.Now()
		m.clock, m.begun = func() (time.Duration, bool) { return time.Since(begun), true }, 0
	}
	return m
}

// Used is the processor time since Start.
func (m *Meter) Used() time.Duration {
	now, ok := m.clock()
	if !ok {
		return math.MaxInt64 // the clock worked at Start: nothing waits for it
	}
	return now - m.begun
}

// Spend computes, to no purpose, until the goroutine has used a processor time since Start, or
// stop is closed. It neither waits nor allocates: the operating system treats it as it treats a
// computation.
func (m *Meter) Spend(until time.Duration, stop <-chan struct{}) {
	x := uint64(1)
	for m.Used() < until {
		select {
		case <-stop:
			return
		default:
		}
		for range 1 << 14 { // about 20 microseconds
			x = x*3 + 1
		}
	}
	runtime.KeepAlive(x)
}

// Stop gives the thread back.
func (m *Meter) Stop() { runtime.UnlockOSThread() }
