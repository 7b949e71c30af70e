// Package metertest measures in tests what reading a file takes.
package metertest

import (
	"bytes"
	"os"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"strconv"
	"sync/atomic"
	"testing"
	"time"
)

// Ceiling is the most heap, in bytes, that reading an input of [Longest] bytes may take.
const Ceiling = 256e6

// Longest is the length of inputs, in bytes, for which fuzz targets hold the ceiling.
const Longest = 64 << 10

func read(name string) int64 {
	s := []metrics.Sample{{Name: name}}
	metrics.Read(s)
	return int64(s[0].Value.Uint64())
}

// Peak is the most heap that f takes, in bytes, beside what there is before.
func Peak(t testing.TB, f func()) int64 {
	t.Helper()
	defer debug.SetGCPercent(debug.SetGCPercent(20)) // garbage is little of what is measured
	runtime.GC()
	now := func() int64 { return read("/memory/classes/heap/objects:bytes") }
	before := now()
	var most atomic.Int64
	stop, stopped := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(stopped)
		for {
			most.Store(max(most.Load(), now()))
			select {
			case <-stop:
				return
			case <-time.After(time.Millisecond):
			}
		}
	}()
	f()
	close(stop)
	<-stopped
	return max(most.Load(), now()) - before
}

// Under fails the test where f takes more heap than [Ceiling]. It measures closely only
// where f allocates as much in all, and runs f again for it: f must do the same each time.
func Under(t testing.TB, f func()) {
	t.Helper()
	before := read("/gc/heap/allocs:bytes")
	f()
	if read("/gc/heap/allocs:bytes")-before <= Ceiling {
		return
	}
	if most := Peak(t, f); most > Ceiling {
		t.Fatalf("took %d MB of heap", most/1e6)
	}
}

// Resident is the most resident memory that f takes, in bytes, beside what there is before:
// also what is not of Go's heap. It skips the test where the system does not tell.
func Resident(t testing.TB, f func()) int64 {
	t.Helper()
	debug.FreeOSMemory()
	if err := os.WriteFile("/proc/self/clear_refs", []byte("5"), 0); err != nil {
		t.Skip("this system does not measure resident memory")
	}
	before := status(t, "VmRSS:")
	f()
	return status(t, "VmHWM:") - before
}

func status(t testing.TB, field string) int64 {
	t.Helper()
	text, err := os.ReadFile("/proc/self/status")
	if err != nil {
		t.Skip("this system does not measure resident memory")
	}
	for _, line := range bytes.Split(text, []byte("\n")) {
		if rest, ok := bytes.CutPrefix(line, []byte(field)); ok {
			n, err := strconv.ParseInt(string(bytes.TrimSpace(bytes.TrimSuffix(rest, []byte("kB")))), 10, 64)
			if err != nil {
				t.Fatal(err)
			}
			return n << 10
		}
	}
	t.Skip("this system does not measure resident memory")
	return 0
}
