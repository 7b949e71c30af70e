package tempfile

import (
	"os"
	"path/filepath"
)

// SecondName reports whether the file at path has another name, a hard link, as each file of
// a folder has that was copied by links. A temporary name, which a process has left that was killed
// while it made the file, is removed. A file that is not there has none.
func SecondName(path string) bool {
	for range 2 {
		info, err := os.Lstat(path)
		if err != nil || !info.Mode().IsRegular() || linkCount(info) < 2 {
			return false
		}
		sweepAll(filepath.Dir(path), info) // the file keeps its own name
	}
	return true
}
