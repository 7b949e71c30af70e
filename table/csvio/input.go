package csvio

import (
	"bufio"
	"bytes"
	"errors"
	"hash"
	"io"
	"sync/atomic"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
	"golang.org/x/text/transform"

	"github.com/noren-privacy/noren"
	"github.com/noren-privacy/noren/internal/atomicfile"
	"github.com/noren-privacy/noren/internal/meter"
)

// counter counts the bytes that are read from a file and keeps the file's own
// failure apart from those of what is built on it.
type counter struct {
	in   io.Reader
	read atomic.Int64
	err  error
	sum  hash.Hash // of what was read, nil where it is not wanted
}

func (c *counter) Read(b []byte) (int, error) {
	n, err := c.in.Read(b)
	c.read.Add(int64(n))
	if c.sum != nil {
		c.sum.Write(b[:n])
	}
	if err != nil && err != io.EOF {
		c.err = err
	}
	return n, err
}

// input is a file's text in UTF-8 without a byte order mark.
type input struct {
	io.Reader
	name  string
	file  *counter
	bom   bool // it had one
	meter *meter.Meter
	close func()
}

var utf8BOM = []byte{0xef, 0xbb, 0xbf}

// newInput undoes the dialect's packing and encoding. ahead asks for a
// goroutine that reads ahead where that is work; close must be called either
// way.
func newInput(name string, file io.Reader, d Dialect, ahead bool, sum hash.Hash, m *meter.Meter) (*input, error) {
	in := &input{name: name, file: &counter{in: file, sum: sum}, meter: m, close: func() {}}
	in.Reader = in.file
	switch d.Compression {
	case Gzip:
		z, err := gzip.NewReader(bufio.NewReaderSize(in.file, 64<<10))
		if err != nil {
			return nil, in.failure(err, 0, 0)
		}
		in.Reader = &unpacked{z, m}
		in.close = func() { _ = z.Close() }
	case Zstd:
		window, packed := zstdWindow(in.file)
		if err := m.Hold(window); err != nil {
			return nil, in.failure(err, 0, 0)
		}
		z, err := zstd.NewReader(packed, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxWindow(uint64(window)))
		if err != nil {
			return nil, in.failure(err, 0, 0)
		}
		in.Reader = &unpacked{z, m}
		in.close = z.Close
	}
	decoder := d.Encoding.decoder()
	if decoder != nil {
		in.Reader = transform.NewReader(in.Reader, decoder)
	}
	if ahead && (d.Compression != None || decoder != nil) {
		a := newAhead(in.Reader)
		stop := in.close
		in.Reader = a
		in.close = func() { a.Close(); stop() }
	}
	if decoder == nil || d.Encoding.unicode() {
		b := bufio.NewReaderSize(in.Reader, 16)
		if head, _ := b.Peek(len(utf8BOM)); bytes.Equal(head, utf8BOM) {
			in.bom = true
			_, _ = b.Discard(len(utf8BOM))
		}
		in.Reader = b // large reads pass it by
	}
	return in, nil
}

// Of a frame of zstd that states a window, mostWindow is the largest that is read, as by
// the zstd program, and leastWindow what any later frame of a file may state too.
const (
	mostWindow  = 128 << 20
	leastWindow = 32 << 20
)

// zstdWindow is how much memory the window of a file in zstd may take, by its first frame.
func zstdWindow(in io.Reader) (window int64, same io.Reader) {
	b := bufio.NewReaderSize(in, 64<<10)
	head, _ := b.Peek(zstd.HeaderMaxSize)
	var h zstd.Header
	if h.Decode(head) != nil {
		return leastWindow, b // the decoder says what is wrong
	}
	window = int64(min(h.WindowSize, mostWindow))
	if h.SingleSegment {
		window = int64(min(h.FrameContentSize, mostWindow))
	}
	return max(window, leastWindow), b
}

// unpacked counts what a file unpacks to.
type unpacked struct {
	in    io.Reader
	meter *meter.Meter
}

// Read implements io.Reader.
func (u *unpacked) Read(b []byte) (int, error) {
	n, err := u.in.Read(b)
	if e := u.meter.Unpack(int64(n)); e != nil {
		return 0, e
	}
	return n, err
}

// failure makes an error of what ended the reading, at a line and record where they are
// not 0.
func (in *input) failure(err error, line, record int64) error {
	if excess := meter.At(err, noren.Position{File: in.name, Line: line, Record: record}); excess != nil {
		return excess
	}
	switch {
	case errors.Is(err, zstd.ErrWindowSizeExceeded):
		return &noren.Error{
			Kind: noren.BadData, Code: meter.Code, Where: noren.File(in.name),
			What: "is packed with a window that takes too much memory", Hint: "pack it again with a smaller window, such as that of zstd -19",
		}
	case in.file.err != nil:
		return &noren.Error{Where: noren.File(in.name), What: "cannot be read", Err: atomicfile.Reason(in.file.err)}
	case errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, io.EOF):
		return &noren.Error{
			Kind: noren.BadData, Where: noren.File(in.name), What: "the compressed data end too early",
			Hint: "the file was cut short: copy or make it again",
		}
	}
	return &noren.Error{
		Kind: noren.BadData, Where: noren.File(in.name), What: "the compressed data are damaged",
		Hint: "copy or make the file again", Err: err,
	}
}

// ahead reads blocks in a goroutine of its own, two at most before they are
// asked for.
type ahead struct {
	full  chan block
	empty chan []byte
	stop  chan struct{}
	done  chan struct{}
	now   block
	rest  []byte
}

type block struct {
	data []byte
	err  error
}

func newAhead(in io.Reader) *ahead {
	const blocks = 3
	a := &ahead{full: make(chan block, blocks), empty: make(chan []byte, blocks), stop: make(chan struct{}), done: make(chan struct{})}
	for range blocks {
		a.empty <- make([]byte, blockSize)
	}
	go func() {
		defer close(a.done)
		for {
			var b block
			select {
			case b.data = <-a.empty:
			case <-a.stop:
				return
			}
			n := 0
			for n < len(b.data) && b.err == nil {
				var m int
				m, b.err = in.Read(b.data[n:])
				n += m
			}
			b.data = b.data[:n]
			a.full <- b // never blocks: its capacity is the number of blocks
			if b.err != nil {
				return
			}
		}
	}()
	return a
}

// Read implements io.Reader.
func (a *ahead) Read(p []byte) (int, error) {
	for len(a.rest) == 0 {
		if a.now.err != nil {
			return 0, a.now.err
		}
		if a.now.data != nil {
			a.empty <- a.now.data[:cap(a.now.data)]
		}
		a.now = <-a.full
		a.rest = a.now.data
	}
	n := copy(p, a.rest)
	a.rest = a.rest[n:]
	return n, nil
}

// Close ends the goroutine and waits for it.
func (a *ahead) Close() {
	close(a.stop)
	<-a.done
}
