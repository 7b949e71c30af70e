package atomicfile

import (
	"io"
	"io/fs"
	"os"

	"github.com/noren-privacy/noren"
)

// Output is where a table is written to: a file of its own making, which goes
// when the table fails, or a writer of somebody else's, which stays theirs.
type Output struct {
	io.Writer
	file *os.File // of its own making
}

// NewOutput makes the file at path, which must not exist, readable by its owner
// alone. Error: of kind Usage.
func NewOutput(path string) (*Output, error) {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return nil, &noren.Error{Kind: noren.Usage, Where: noren.File(path), What: "cannot be made", Err: Reason(err)}
	}
	return &Output{f, f}, nil
}

// Close ends the output after everything was written, and after err where that
// failed: it syncs a regular file, whosever it is, closes its own, and removes
// its own where anything failed, which it returns.
func (o *Output) Close(err error) error {
	if err == nil {
		err = o.sync()
	}
	if err != nil {
		o.Remove()
		return err
	}
	if o.file != nil {
		return o.file.Close()
	}
	return nil
}

// sync syncs a regular file; a pipe or a terminal cannot be.
func (o *Output) sync() error {
	f, ok := o.Writer.(interface {
		Stat() (fs.FileInfo, error)
		Sync() error
	})
	if !ok {
		return nil
	}
	if info, err := f.Stat(); err != nil || !info.Mode().IsRegular() {
		return err
	}
	return f.Sync()
}

// Remove takes the output's own file away; a writer of somebody else's is left
// as it is.
func (o *Output) Remove() {
	if o.file != nil {
		_ = o.file.Close()
		_ = os.Remove(o.file.Name())
	}
}
