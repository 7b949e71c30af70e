package file

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"io"
	"os"

	"github.com/noren-privacy/noren"
	"github.com/noren-privacy/noren/internal/atomicfile"
)

// Digests are the SHA-256 of the files of the table at path, in hexadecimal and in the order
// of their records: of all files of a folder or pattern, else of one. They are of all bytes,
// as sha256sum prints them. A table of a database has none. They are as private as the table:
// a file that is private can be guessed and tried.
func Digests(ctx context.Context, path string) ([]string, error) {
	paths, err := Parts(ctx, Place(path))
	if err != nil {
		return nil, err
	}
	out := make([]string, len(paths))
	for i, p := range paths {
		if out[i], err = digest(ctx, p); err != nil {
			return nil, err
		}
	}
	return out, nil
}

func digest(ctx context.Context, path string) (string, error) {
	f, err := os.Open(path)
	if err != nil {
		return "", &noren.Error{Kind: noren.Usage, Where: noren.File(path), What: "cannot be opened", Err: atomicfile.Reason(err)}
	}
	defer func() { _ = f.Close() }()
	sum := sha256.New()
	if _, err := io.Copy(sum, &reading{ctx, f}); err != nil {
		if cause := context.Cause(ctx); cause != nil {
			return "", cause
		}
		return "", &noren.Error{Where: noren.File(path), What: "cannot be read", Err: atomicfile.Reason(err)}
	}
	return hex.EncodeToString(sum.Sum(nil)), nil
}

// reading ends with its context.
type reading struct {
	ctx context.Context
	in  io.Reader
}

// Read implements [io.Reader].
func (r *reading) Read(p []byte) (int, error) {
	if err := r.ctx.Err(); err != nil {
		return 0, err
	}
	return r.in.Read(p)
}
