//go:build !linux

package atomicfile

import (
	"io/fs"
	"os"
)

func create(dir string) (*os.File, string, error) { return createNamed(dir) }

func publicMode(dir string) (fs.FileMode, error) { return namedMode(dir) }

// publish closes the file first: an open file cannot be renamed everywhere.
func (f *File) publish() error {
	if err := f.Close(); err != nil {
		return err
	}
	return publishNamed(f.temp, f.target, f.force)
}

// syncDir does nothing: folders cannot be synced everywhere, and where they
// cannot, the file itself was.
func syncDir(string) error { return nil }
