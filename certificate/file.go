package certificate

import (
	"errors"
	"io/fs"
	"os"

	"github.com/noren-privacy/noren"
	"github.com/noren-privacy/noren/internal/meter"
)

// readSmall reads a key or certificate, and no more than the largest one.
func readSmall(f *os.File, path string, failure noren.Format) ([]byte, error) {
	text, err := meter.ReadAll(f, maxSize, noren.File(path))
	if err != nil && meter.Refused(err) == nil {
		err = fileError(path, noren.Textf(failure), err)
	}
	return text, err
}

// Load reads and parses the certificate at path.
func Load(path string) (*Signed, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, fileError(path, noren.Textf("cannot be opened"), err)
	}
	defer f.Close()
	text, err := readSmall(f, path, "cannot be read")
	if err != nil {
		return nil, err
	}
	s, err := Parse(text)
	var e *noren.Error
	if errors.As(err, &e) {
		at := *e
		at.Where = path
		return nil, &at
	}
	return s, err
}

// fileError is the error about a file that the caller named, of kind Usage if the file
// does not exist or may not be used.
func fileError(path string, what noren.Text, err error) error {
	kind := noren.Internal
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, fs.ErrPermission) {
		kind = noren.Usage
	}
	return &noren.Error{Kind: kind, Where: noren.File(path), What: what.Format, Args: what.Args, Err: reason(err)}
}

// reason drops the operation and the path, which the message has already.
func reason(err error) error {
	var p *fs.PathError
	if errors.As(err, &p) {
		return p.Err
	}
	var l *os.LinkError
	if errors.As(err, &l) {
		return l.Err
	}
	return err
}
