package tempfile

import (
	"os"

	"golang.org/x/sys/unix"
)

// renameNew renames a file unless another has the name.
func renameNew(from, to string) error {
	if err := unix.RenameatxNp(unix.AT_FDCWD, from, unix.AT_FDCWD, to, unix.RENAME_EXCL); err != nil {
		return &os.LinkError{Op: "rename", Old: from, New: to, Err: err}
	}
	return nil
}
