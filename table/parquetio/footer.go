package parquetio

import (
	"encoding/binary"
	"errors"
	"io"

	"github.com/parquet-go/parquet-go/format"

	"github.com/noren-privacy/noren/internal/meter"
)

// place is where in the description of a file the walk stands.
type place uint8

const (
	atOther place = iota
	atFile
	atSchema
	atGroup
	atChunk
	atMeta
)

// below is the place of the field id of a structure.
func (p place) below(id int64) place {
	switch {
	case p == atFile && id == 2:
		return atSchema
	case p == atFile && id == 4:
		return atGroup
	case p == atGroup && id == 1:
		return atChunk
	case p == atChunk && id == 3:
		return atMeta
	}
	return atOther
}

// weight is about how many bytes an element of a list takes in memory, with what the
// library and this package make of it.
func (p place) weight() int64 {
	switch p {
	case atSchema, atChunk:
		return 1 << 10
	case atGroup:
		return 512
	}
	return 64
}

// The types of values in Thrift's compact protocol.
const (
	thriftTrue = iota + 1
	thriftFalse
	thriftByte
	thriftInt16
	thriftInt32
	thriftInt64
	thriftDouble
	thriftBinary
	thriftList
	thriftSet
	thriftMap
	thriftStruct
)

var errFooter = errors.New("the description cannot be read")

// deepest bounds structures within structures.
const deepest = 32

// footer walks through the description of a file before the library reads it, and draws
// on the meter what the library is about to make of it: a list whose size is stated with
// five bytes takes gigabytes. It notes where the compression of each column chunk is
// stated.
type footer struct {
	b     []byte
	at    int
	meter *meter.Meter
	held  int64
	// codecs are the compressions by row group and column chunk.
	codecs [][]format.CompressionCodec
	// stated are the positions of these statements, one byte each.
	stated []int
}

// readFooter walks through the description b of a file.
func readFooter(b []byte, m *meter.Meter) (*footer, error) {
	f := &footer{b: b, meter: m}
	if err := f.hold(4 * int64(len(b))); err != nil {
		return nil, err
	}
	return f, f.structure(atFile, 0)
}

func (f *footer) hold(n int64) error {
	err := f.meter.Hold(n)
	if err == nil {
		f.held += n
	}
	return err
}

func (f *footer) byte() (byte, error) {
	if f.at >= len(f.b) {
		return 0, io.ErrUnexpectedEOF
	}
	f.at++
	return f.b[f.at-1], nil
}

func (f *footer) uvarint() (uint64, error) {
	v, n := binary.Uvarint(f.b[f.at:])
	if n <= 0 {
		return 0, errFooter
	}
	f.at += n
	return v, nil
}

func (f *footer) structure(p place, depth int) error {
	if depth > deepest {
		return errFooter
	}
	last := int64(0)
	for {
		head, err := f.byte()
		if err != nil || head == 0 {
			return err
		}
		id := last + int64(head>>4)
		if head>>4 == 0 {
			v, n := binary.Varint(f.b[f.at:])
			if n <= 0 {
				return errFooter
			}
			f.at += n
			id = v
		}
		// A field that is stated twice would leave parts of its first value in its second.
		if id <= last {
			return errFooter
		}
		last = id
		if kind := head & 15; p == atMeta && id == 4 && kind == thriftInt32 {
			err = f.codec()
		} else if kind > thriftFalse { // these two are their own value
			err = f.value(kind, p.below(id), depth)
		}
		if err != nil {
			return err
		}
	}
}

// codec reads the compression of a column chunk.
func (f *footer) codec() error {
	at := f.at
	v, err := f.uvarint()
	if err != nil || f.at != at+1 || v&1 != 0 || len(f.codecs) == 0 {
		return errFooter
	}
	group := f.codecs[len(f.codecs)-1]
	if len(group) == 0 {
		return errFooter
	}
	group[len(group)-1] = format.CompressionCodec(v >> 1)
	f.stated = append(f.stated, at)
	return nil
}

func (f *footer) value(kind byte, p place, depth int) error {
	switch kind {
	case thriftTrue, thriftFalse, thriftByte:
		return f.skip(1)
	case thriftInt16, thriftInt32, thriftInt64:
		_, err := f.uvarint()
		return err
	case thriftDouble:
		return f.skip(8)
	case thriftBinary:
		n, err := f.uvarint()
		if err != nil {
			return err
		}
		return f.skip(n)
	case thriftList, thriftSet:
		head, err := f.byte()
		if err != nil {
			return err
		}
		n := uint64(head >> 4)
		if n == 15 {
			if n, err = f.uvarint(); err != nil {
				return err
			}
		}
		return f.elements(head&15, n, p, depth)
	case thriftMap:
		n, err := f.uvarint()
		if err != nil || n == 0 {
			return err
		}
		kinds, err := f.byte()
		if err != nil || n > uint64(len(f.b)-f.at) {
			return errFooter
		}
		for range n {
			for _, kind := range []byte{kinds >> 4, kinds & 15} {
				if err := f.value(kind, atOther, depth+1); err != nil {
					return err
				}
			}
		}
		return nil
	case thriftStruct:
		return f.structure(p, depth+1)
	}
	return errFooter
}

// elements reads those of a list. Each takes a byte at least.
func (f *footer) elements(kind byte, n uint64, p place, depth int) error {
	if n > uint64(len(f.b)-f.at) {
		return errFooter
	}
	if err := f.hold(int64(n) * p.weight()); err != nil {
		return err
	}
	for range n {
		switch p {
		case atGroup:
			f.codecs = append(f.codecs, nil)
		case atChunk:
			if len(f.codecs) == 0 {
				return errFooter
			}
			last := &f.codecs[len(f.codecs)-1]
			*last = append(*last, format.Uncompressed)
		}
		if err := f.value(kind, p, depth); err != nil {
			return err
		}
	}
	return nil
}

func (f *footer) skip(n uint64) error {
	if n > uint64(len(f.b)-f.at) {
		return io.ErrUnexpectedEOF
	}
	f.at += int(n)
	return nil
}

// unpacked is a file whose description states that no column chunk is compressed. The
// library reads its description there, and its pages from [pages], which unpack them.
type unpacked struct {
	file   io.ReaderAt
	from   int64 // of the description
	footer []byte
	walked *footer
}

// uncompressed reads the description of the file, and states in a copy of it that nothing
// is compressed. [Source.checkEnds] has looked at its length.
func (src *Source) uncompressed() (*unpacked, error) {
	var tail [8]byte
	if err := readFull(src.file, tail[:], src.size-8); err != nil {
		return nil, err
	}
	n := int64(binary.LittleEndian.Uint32(tail[:4]))
	if err := src.meter.Hold(n); err != nil {
		return nil, err
	}
	u := &unpacked{file: src.file, from: src.size - 8 - n, footer: make([]byte, n)}
	if err := readFull(src.file, u.footer, u.from); err != nil {
		return nil, err
	}
	var err error
	if u.walked, err = readFooter(u.footer, src.meter); err != nil {
		return nil, err
	}
	for _, at := range u.walked.stated {
		u.footer[at] = 0
	}
	return u, nil
}

// ReadAt implements [io.ReaderAt].
func (u *unpacked) ReadAt(p []byte, at int64) (int, error) {
	n, err := u.file.ReadAt(p, at)
	if i := max(at, u.from); i < min(at+int64(n), u.from+int64(len(u.footer))) {
		copy(p[i-at:n], u.footer[i-u.from:])
	}
	return n, err
}
