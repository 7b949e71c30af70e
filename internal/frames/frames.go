// Package frames reads and writes byte strings on a pipe: a length of 4 bytes, lowest
// byte first, and then the bytes. An empty frame is the last one.
//
// A pipe that ends without the empty frame was cut off: its writer was killed. A reader
// gets [ErrCut] for it and never takes the part for the whole.
package frames

import (
	"bufio"
	"encoding/binary"
	"errors"
	"io"

	"github.com/noren-privacy/noren"
	"github.com/noren-privacy/noren/internal/meter"
)

// Most is the length of the longest frame, in bytes.
const Most = 64 << 20

// first is how much memory a frame gets before its bytes arrive: a length alone
// costs no more memory.
const first = 1 << 20

// ErrCut says that the frames ended before the last, empty one.
var ErrCut = errors.New("the frames ended before the last one")

// Reader reads frames. Its zero value is of no use: make one with [NewReader].
type Reader struct {
	in    *bufio.Reader
	buf   []byte
	ended bool
}

// NewReader returns a reader of the frames of in.
func NewReader(in io.Reader) *Reader { return &Reader{in: bufio.NewReaderSize(in, 1<<16)} }

// Next returns the next frame, whose bytes are good until the next call, and [io.EOF]
// after the last one. Frames that end without an empty one are [ErrCut], of kind Internal:
// another try may succeed. A frame of more than [Most] bytes is of kind
// BadData and has the code of package meter.
func (r *Reader) Next() ([]byte, error) {
	if r.ended {
		return nil, io.EOF
	}
	var head [4]byte
	if _, err := io.ReadFull(r.in, head[:]); err != nil {
		return nil, cut(err)
	}
	n := int(binary.LittleEndian.Uint32(head[:]))
	switch {
	case n == 0:
		r.ended = true
		return nil, io.EOF
	case n > Most:
		return nil, &noren.Error{
			Kind: noren.BadData, Code: meter.Code, Where: "frames",
			What: "expected a frame of at most %d bytes, got %d", Args: []any{Most, n},
		}
	}
	for have := 0; have < n; {
		to := min(n, max(first, 2*have))
		if cap(r.buf) < to {
			r.buf = append(make([]byte, 0, to), r.buf[:have]...)
		}
		r.buf = r.buf[:to]
		if _, err := io.ReadFull(r.in, r.buf[have:to]); err != nil {
			return nil, cut(err)
		}
		have = to
	}
	return r.buf[:n], nil
}

// cut is the error of a read in the middle of the frames.
func cut(err error) error {
	if err == io.EOF || errors.Is(err, io.ErrUnexpectedEOF) {
		return &noren.Error{Where: "frames", Err: ErrCut, Hint: "their writer was ended before it was done"}
	}
	return &noren.Error{Where: "frames", What: "cannot be read", Err: err}
}

// Writer writes frames. Its zero value is of no use: make one with [NewWriter].
type Writer struct {
	out *bufio.Writer
}

// NewWriter returns a writer of frames to out.
func NewWriter(out io.Writer) *Writer { return &Writer{out: bufio.NewWriterSize(out, 1<<16)} }

// Write writes a frame of the bytes of all parts, which must be one byte at least and
// [Most] at most.
func (w *Writer) Write(parts ...[]byte) error {
	n := 0
	for _, p := range parts {
		n += len(p)
	}
	if n == 0 || n > Most {
		return &noren.Error{Where: "frames", What: "a frame has 1 to %d bytes, not %d", Args: []any{Most, n}}
	}
	var head [4]byte
	binary.LittleEndian.PutUint32(head[:], uint32(n))
	_, err := w.out.Write(head[:])
	for _, p := range parts {
		if err == nil {
			_, err = w.out.Write(p)
		}
	}
	return written(err)
}

// Flush passes on what was written so far.
func (w *Writer) Flush() error { return written(w.out.Flush()) }

// Close writes the last frame. Without it a reader takes the frames as cut off.
func (w *Writer) Close() error {
	if _, err := w.out.Write(make([]byte, 4)); err != nil {
		return written(err)
	}
	return w.Flush()
}

func written(err error) error {
	if err == nil {
		return nil
	}
	return &noren.Error{Where: "frames", What: "cannot be written", Err: err}
}
