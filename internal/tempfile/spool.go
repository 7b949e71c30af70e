package tempfile

import (
	"context"
	"io"

	"github.com/noren-privacy/noren"
)

// Spool copies a stream to a temporary file in dir, so that it can be read
// more than once. name stands for the stream in errors.
func Spool(ctx context.Context, in io.Reader, dir, name string) (*File, error) {
	f, err := Create(dir)
	if err != nil {
		return nil, err
	}
	buf := make([]byte, 256<<10)
	for {
		if err := ctx.Err(); err != nil {
			_ = f.Close()
			return nil, err
		}
		n, err := in.Read(buf)
		if _, werr := f.Write(buf[:n]); werr != nil {
			_ = f.Close()
			return nil, &noren.Error{
				Where: noren.File(name), What: "cannot be kept in a temporary file",
				Hint: "give it as a file, or set TMPDIR to a folder with free space", Err: pathless(werr),
			}
		}
		if err == io.EOF {
			return f, nil
		}
		if err != nil {
			_ = f.Close()
			return nil, &noren.Error{Where: noren.File(name), What: "cannot be read", Err: pathless(err)}
		}
	}
}
