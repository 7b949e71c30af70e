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

// heap is what the objects of the heap take, with those that are garbage and not yet collected.
func heap() int64 {
	s := []metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}}
	metrics.Read(s)
	return int64(s[0].Value.Uint64())
}

// Peak is the most heap that f takes, in bytes, beside what there is before.
func Peak(t testing.TB, f func()) int64 {
	t.Helper()
	defer debug.SetGCPercent(debug.SetGCPercent(20)) // garbage is little of what is measured
	runtime.GC()
	before := heap()
	var most atomic.Int64
	stop, stopped := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(stopped)
		for {
			most.Store(max(most.Load(), heap()))
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
	return max(most.Load(), heap()) - before
}

// outside is the resident memory beside that of Go, such as that of SQLite; 0 where the
// system does not tell.
func outside() int64 {
	text, err := os.ReadFile("/proc/self/statm")
	if err != nil {
		return 0
	}
	fields := bytes.Fields(text)
	if len(fields) < 2 {
		return 0
	}
	pages, err := strconv.ParseInt(string(fields[1]), 10, 64)
	if err != nil {
		return 0
	}
	s := []metrics.Sample{{Name: "/memory/classes/total:bytes"}, {Name: "/memory/classes/heap/released:bytes"}}
	metrics.Read(s)
	return pages*int64(os.Getpagesize()) - int64(s[0].Value.Uint64()) + int64(s[1].Value.Uint64())
}

// Hold fails the test at its end where the live heap, or the memory beside Go's, has passed [Ceiling] meanwhile and the
// input is no longer than [Longest]. It is for fuzz targets: it costs microseconds.
func Hold(t testing.TB, input int) {
	if input > Longest {
		return
	}
	// What the process held before is not of this input: the race detector keeps much, and so do
	// tests that ran before.
	if heap() > Ceiling/8 {
		runtime.GC()
	}
	beside, before := outside(), heap()
	most, stop, stopped := int64(0), make(chan struct{}), make(chan struct{})
	go func() {
		defer close(stopped)
		tick := time.NewTicker(time.Millisecond)
		defer tick.Stop()
		for {
			select {
			case <-stop:
				return
			case <-tick.C:
				if heap()-before > Ceiling {
					runtime.GC() // what is garbage does not count
					most = max(most, heap()-before)
				}
				most = max(most, outside()-beside)
			}
		}
	}()
	t.Cleanup(func() {
		close(stop)
		<-stopped
		if most > Ceiling {
			t.Errorf("an input of %d bytes took %d MB of memory", input, most/1e6)
		}
	})
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
