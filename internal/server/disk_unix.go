//go:build unix && !(openbsd || netbsd || solaris || illumos || aix)

package server

import (
	"math"

	"golang.org/x/sys/unix"
)

// freeDisk is what the owner of a folder can still use of its disk: the share, and the
// bytes.
func freeDisk(dir string) (share, bytes float64, err error) {
	var s unix.Statfs_t
	if err := unix.Statfs(dir, &s); err != nil || s.Blocks == 0 {
		return 1, math.Inf(1), err
	}
	return float64(s.Bavail) / float64(s.Blocks), float64(s.Bavail) * float64(s.Bsize), nil
}
