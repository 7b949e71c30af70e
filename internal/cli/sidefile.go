package cli

import (
	"bytes"
	"encoding/csv"
	"io"

	"github.com/noren-privacy/noren/spec"
	"github.com/noren-privacy/noren/table"
	"github.com/noren-privacy/noren/table/csvio"
)

// readSide is [spec.ReadSide].
func readSide(path, what, hint string) ([]byte, csvio.Encoding, error) {
	return spec.ReadSide(path, what, hint)
}

// openSide is [spec.ReadSide] for what reads a stream.
func openSide(path, what string) (io.Reader, error) {
	text, _, err := spec.ReadSide(path, what, "does the file exist?")
	if err != nil {
		return nil, err
	}
	return bytes.NewReader(text), nil
}

// sideRows is [spec.SideRows].
func sideRows(text []byte) (r *csv.Reader, skip int) { return spec.SideRows(text) }

// loadHierarchy returns a function that reads a hierarchy file and prints its notes.
func loadHierarchy(t *terminal) func(path string) (*table.Hierarchy, error) {
	return func(path string) (*table.Hierarchy, error) { return spec.LoadHierarchy(path, t.specNote) }
}
