//go:build unix

package tempfile

import (
	"os"
	"syscall"
)

// linkCount is the number of names of a file.
func linkCount(info os.FileInfo) uint64 {
	if s, ok := info.Sys().(*syscall.Stat_t); ok {
		return uint64(s.Nlink) // of another type on other systems
	}
	return 1
}
