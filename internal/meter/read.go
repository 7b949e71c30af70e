package meter

import (
	"context"
	"errors"
	"io"
	"os"

	"github.com/noren-privacy/noren"
)

// TooLarge is the error of kind BadData about a file or text of more than limit bytes.
func TooLarge(where any, limit int64) error {
	return &noren.Error{Kind: noren.BadData, Code: Code, Where: where, What: "is larger than %s", Args: []any{Size(limit)}}
}

// ReadAll reads in to its end into memory. More than limit bytes are an error of
// [TooLarge]; the others are those of in.
func ReadAll(in io.Reader, limit int64, where any) ([]byte, error) {
	text, err := io.ReadAll(io.LimitReader(in, limit+1))
	if int64(len(text)) > limit {
		return nil, TooLarge(where, limit)
	}
	return text, err
}

// ReadFile reads a file of at most limit bytes. Its errors are those of [ReadAll] and of
// package os.
func ReadFile(path string, limit int64) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }()
	return ReadAll(f, limit, path)
}

// Bounded is in up to limit bytes: reading more is an error of [TooLarge]. A decoder
// reads from it what it would read from in.
func Bounded(in io.Reader, limit int64, where any) io.Reader {
	return &bounded{in: in, left: limit, limit: limit, where: where}
}

type bounded struct {
	in          io.Reader
	left, limit int64
	where       any
}

// Read implements io.Reader.
func (b *bounded) Read(p []byte) (int, error) {
	if len(p) == 0 {
		return 0, nil
	}
	if int64(len(p)) > b.left+1 {
		p = p[:b.left+1]
	}
	n, err := b.in.Read(p)
	if int64(n) > b.left {
		return 0, TooLarge(b.where, b.limit)
	}
	b.left -= int64(n)
	return n, err
}

// Interruptible is in until ctx ends: reading then fails with the error of ctx. A decoder reads
// 64 KiB at most between two looks.
func Interruptible(ctx context.Context, in io.Reader) io.Reader { return &interruptible{ctx, in} }

type interruptible struct {
	ctx context.Context
	in  io.Reader
}

// Read implements io.Reader.
func (r *interruptible) Read(p []byte) (int, error) {
	if err := r.ctx.Err(); err != nil {
		return 0, err
	}
	return r.in.Read(p[:min(len(p), 64<<10)])
}

// Refused is the error with the code [Code] that err is or wraps, or nil.
func Refused(err error) error {
	var e *noren.Error
	if errors.As(err, &e) && noren.CodeOf(err) == Code {
		return e
	}
	return nil
}
