//go:build !linux && !darwin && !freebsd && !windows

package cputime

import "time"

// threadTime is not known on this system.
func threadTime() (time.Duration, bool) { return 0, false }
