//go:build unix && !(openbsd || netbsd || solaris || illumos || aix)

package server

import "golang.org/x/sys/unix"

// freeShare is the share of the disk of a folder that its owner can still use.
func freeShare(dir string) (float64, error) {
	var s unix.Statfs_t
	if err := unix.Statfs(dir, &s); err != nil || s.Blocks == 0 {
		return 1, err
	}
	return float64(s.Bavail) / float64(s.Blocks), nil
}
