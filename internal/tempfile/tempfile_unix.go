//go:build unix

package tempfile

import "os"

// createUnlinked takes the name away at once; the file lives as long as it is
// open.
func createUnlinked(dir string) (*File, error) {
	f, err := createNamed(dir)
	if err != nil {
		return nil, err
	}
	if err := os.Remove(f.name); err == nil {
		f.name = ""
	}
	return f, nil
}
