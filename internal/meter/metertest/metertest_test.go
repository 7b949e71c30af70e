package metertest

import (
	"fmt"
	"runtime"
	"testing"
	"time"
)

// recorder is a test that notes its faults.
type recorder struct {
	testing.TB
	faults  []string
	cleanup func()
}

func (r *recorder) Errorf(format string, args ...any) {
	r.faults = append(r.faults, fmt.Sprintf(format, args...))
}

func (r *recorder) Cleanup(f func()) { r.cleanup = f }

func (r *recorder) Helper() {}

func TestHold(t *testing.T) {
	for _, c := range []struct {
		input, size int
		want        bool
	}{{1, Ceiling + 50e6, true}, {1, 1e6, false}, {Longest + 1, Ceiling + 50e6, false}} {
		r := &recorder{TB: t}
		Hold(r, c.input)
		kept := make([]byte, c.size)
		// The heap is looked at within the wait however busy the machine is, or the next time.
		for i := 0; i < 200 && c.want; i++ {
			time.Sleep(5 * time.Millisecond)
		}
		runtime.KeepAlive(kept)
		if r.cleanup != nil {
			r.cleanup()
		}
		if got := len(r.faults) > 0; got != c.want {
			t.Errorf("an input of %d bytes that takes %d: %v", c.input, c.size, r.faults)
		}
	}
}

// What tests that ran before still hold is not of an input.
func TestHoldBefore(t *testing.T) {
	held := make([]byte, Ceiling+50e6)
	for i := range held {
		held[i] = 1
	}
	r := &recorder{TB: t}
	Hold(r, 1)
	time.Sleep(20 * time.Millisecond)
	r.cleanup()
	runtime.KeepAlive(held)
	if len(r.faults) > 0 {
		t.Errorf("what was held before: %v", r.faults)
	}
}

func TestPeak(t *testing.T) {
	var kept []byte
	most := Peak(t, func() { kept = make([]byte, 30e6) })
	runtime.KeepAlive(kept)
	if most < 30e6 || most > 100e6 {
		t.Errorf("%d bytes", most)
	}
}
