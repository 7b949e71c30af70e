package cli

import (
	"bytes"
	"io"

	"github.com/noren-privacy/noren"
	"github.com/noren-privacy/noren/spec"
	"github.com/noren-privacy/noren/table/csvio"
)

// readSide is [spec.ReadSide].
func readSide(path string, what noren.Phrase, hint noren.Format) ([]byte, csvio.Encoding, error) {
	return spec.ReadSide(path, what, hint)
}

// openSide is [spec.ReadSide] for what reads a stream.
func openSide(path string, what noren.Phrase) (io.Reader, error) {
	text, _, err := spec.ReadSide(path, what, "does the file exist?")
	if err != nil {
		return nil, err
	}
	return bytes.NewReader(text), nil
}
