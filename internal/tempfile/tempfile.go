// Package tempfile makes temporary files for private data: readable by their
// owner alone, and without a name wherever the system allows it, so that even a
// killed process leaves no file.
package tempfile

import (
	"errors"
	"io/fs"
	"os"

	"github.com/noren-privacy/noren"
)

// File is a temporary file. Close removes it.
type File struct {
	*os.File
	name string // its name while it has one, empty otherwise
}

// Create makes an empty temporary file in the folder dir (the system's folder
// for such files when dir is empty). Where the system can hold a file without
// a name it has none; elsewhere its name is removed by Close.
func Create(dir string) (*File, error) {
	if dir == "" {
		dir = os.TempDir()
	}
	f, err := create(dir)
	if err != nil {
		return nil, &noren.Error{
			Where: noren.File(dir), What: "no temporary file can be made here",
			Hint: "the folder must exist, be writable and have free space", Err: pathless(err),
		}
	}
	return f, nil
}

// Close closes and removes the file. It may be called more than once.
func (f *File) Close() error {
	err := f.File.Close()
	if f.name != "" {
		if rm := os.Remove(f.name); err == nil {
			err = rm
		}
		f.name = ""
	}
	return err
}

func createNamed(dir string) (*File, error) {
	f, err := CreateNamed(dir)
	if err != nil {
		return nil, err
	}
	return &File{File: f, name: f.Name()}, nil
}

// pathless strips the path from a system error, as it names no file of the
// caller's.
func pathless(err error) error {
	var p *fs.PathError
	if errors.As(err, &p) {
		return p.Err
	}
	return err
}
