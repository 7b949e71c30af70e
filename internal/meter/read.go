package meter

import (
	"bytes"
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

// What a document in JSON takes when it is decoded, beside its text: a value its place in a list
// that grows, and an object the fields of its type too. The text is held by its reader and by a
// decoder whose buffer doubles.
const (
	documentValue  = 64
	documentObject = 384
	documentText   = 3
)

// Document refuses a text in JSON that takes more than [DefaultHeld] when it is decoded: three
// bytes of it make an empty object of a hundred. Faults of its form are for the decoder to say.
func Document(text []byte, where any) error {
	values, objects := int64(1), int64(0)
	for i := 0; i < len(text); i++ {
		switch text[i] {
		case '"':
			for i++; i < len(text) && text[i] != '"'; i++ {
				if text[i] == '\\' {
					i++
				}
			}
		case '{':
			objects++
			values++
		case '[', ',':
			values++
		}
	}
	if err := New(Limits{}, 0).Hold(values*documentValue + objects*documentObject + int64(len(text))*documentText); err != nil {
		return At(err, where)
	}
	return nil
}

// Lines is in while its lines are no longer than limit bytes: a longer one is an error of
// [TooLarge]. A reader that keeps one line at a time keeps no more.
func Lines(in io.Reader, limit int64, where any) io.Reader {
	return &lines{in: in, limit: limit, where: where}
}

type lines struct {
	in        io.Reader
	at, limit int64
	where     any
}

// Read implements io.Reader.
func (l *lines) Read(p []byte) (int, error) {
	n, err := l.in.Read(p)
	for rest := p[:n]; len(rest) > 0; {
		i := bytes.IndexByte(rest, '\n')
		l.at += int64(len(rest))
		if i >= 0 {
			l.at += int64(i - len(rest))
		}
		if l.at > l.limit {
			return 0, TooLarge(l.where, l.limit)
		}
		if i < 0 {
			break
		}
		l.at, rest = 0, rest[i+1:]
	}
	return n, err
}
