package cputime

import (
	"testing"
	"time"
)

// Waiting takes no processor time, and Spend uses what is asked for and ends when it is stopped.
func TestMeter(t *testing.T) {
	m := Start()
	defer m.Stop()
	if _, ok := threadTime(); ok {
		time.Sleep(100 * time.Millisecond)
		if used := m.Used(); used > 50*time.Millisecond {
			t.Errorf("100 ms of waiting took %s", used)
		}
	}
	const want = 40 * time.Millisecond
	begun, before := time.Now(), m.Used()
	m.Spend(before+want, nil)
	if used := m.Used() - before; used < want || time.Since(begun) < used*9/10 {
		t.Errorf("used %s in %s, want %s", used, time.Since(begun), want)
	}
	stop := make(chan struct{})
	close(stop)
	m.Spend(time.Hour, stop)
}
