//go:build unix

package cli

import (
	"os"
	"os/signal"
	"syscall"
)

// ownFolder reports whether a folder is of this user, and no link: another user may have
// made one of such a name to have a link taken for that of a demonstration.
func ownFolder(path string) bool {
	info, err := os.Lstat(path)
	if err != nil || !info.IsDir() {
		return false
	}
	owner, ok := info.Sys().(*syscall.Stat_t)
	return ok && int(owner.Uid) == os.Getuid()
}

// maskFiles takes all rights of others from the files that this process makes from here on.
func maskFiles() { syscall.Umask(0o077) }

// ignoreBackground lets a process that is in the background of a terminal go on when it
// reads from it.
func ignoreBackground() { signal.Ignore(syscall.SIGTTIN) }
