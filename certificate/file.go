package certificate

import (
	"errors"
	"io"
	"io/fs"
	"os"

	"github.com/noren-privacy/noren"
)

// readSmall reads a key or certificate file, and no more than the largest one.
func readSmall(r io.Reader) ([]byte, error) {
	text, err := io.ReadAll(io.LimitReader(r, maxSize+1))
	if err == nil && len(text) > maxSize {
		err = errors.New("it is too long")
	}
	return text, err
}

// Load reads and parses the certificate at path.
func Load(path string) (*Signed, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, fileError(path, "cannot be opened", err)
	}
	defer f.Close()
	text, err := readSmall(f)
	if err != nil {
		return nil, fileError(path, "cannot be read", err)
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
func fileError(path, what string, err error) error {
	kind := noren.Internal
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, fs.ErrPermission) {
		kind = noren.Usage
	}
	return &noren.Error{Kind: kind, Where: path, What: what, Err: reason(err)}
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
