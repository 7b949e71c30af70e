//go:build unix && !(openbsd || netbsd || solaris || illumos || aix)

package server

import "golang.org/x/sys/unix"

// freeDisk is what the owner of a folder can still use of its disk, of how many bytes.
func freeDisk(dir string) (free, total float64, known bool) {
	var s unix.Statfs_t
	if err := unix.Statfs(dir, &s); err != nil || s.Blocks == 0 {
		return 0, 0, false
	}
	return float64(s.Bavail) * float64(s.Bsize), float64(s.Blocks) * float64(s.Bsize), true
}
