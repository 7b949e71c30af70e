package parquetio

import (
	"bytes"
	"errors"
	"io"

	"github.com/andybalholm/brotli"
	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/snappy"
	"github.com/klauspost/compress/zstd"
	"github.com/parquet-go/parquet-go/format"
	"github.com/pierrec/lz4/v4"

	"github.com/noren-privacy/noren"
	"github.com/noren-privacy/noren/internal/meter"
)

// unpacker undoes the compression of pages, within the size that each states. Its buffers
// hold one page.
type unpacker struct {
	head, packed, data []byte
	in                 bytes.Reader
	gzip               *gzip.Reader
	brotli             *brotli.Reader
	zstd               *zstd.Decoder
}

var errLonger = errors.New("a page is longer than it states")

// sized is b with n bytes, and draws on the meter what it grows by.
func (u *unpacker) sized(m *meter.Meter, b []byte, n int64) ([]byte, error) {
	if n <= int64(cap(b)) {
		return b[:n], nil
	}
	// What a page is about to take is freed by the collector only later: it grows by a
	// quarter at least, so that pages of one size do not grow it again and again.
	size := n + n/4
	if m.Hold(size) == nil {
		m.Release(int64(cap(b)))
		return make([]byte, n, size), nil
	}
	if err := m.Hold(n); err != nil {
		return b[:0], err
	}
	m.Release(int64(cap(b)))
	return make([]byte, n), nil
}

// page unpacks a page whose first bytes are not compressed. It is good until the next
// call.
func (u *unpacker) page(m *meter.Meter, codec format.CompressionCodec, packed []byte, plain int, stated int64) ([]byte, error) {
	if codec == format.Uncompressed {
		return packed, nil
	}
	// Some writers leave the levels out of the size that they state.
	most := stated + int64(plain)
	var err error
	if u.data, err = u.sized(m, u.data, most); err != nil {
		return nil, err
	}
	out := u.data[:copy(u.data, packed[:plain])]
	packed = packed[plain:]
	if len(packed) == 0 {
		return out, nil
	}
	to := u.data[plain:]
	n := 0
	switch codec {
	case format.Snappy:
		if n, err = snappy.DecodedLen(packed); err == nil && n > len(to) {
			err = errLonger
		}
		if err == nil {
			_, err = snappy.Decode(to, packed)
		}
	case format.Lz4Raw:
		n, err = lz4.UncompressBlock(packed, to)
	case format.Zstd:
		var b []byte
		if u.zstd == nil {
			u.zstd, err = zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecodeAllCapLimit(true), zstd.WithDecoderMaxWindow(128<<20))
		}
		if err == nil {
			b, err = u.zstd.DecodeAll(packed, to[:0:len(to)])
			n = len(b)
		}
	case format.Gzip:
		u.in.Reset(packed)
		if u.gzip == nil {
			u.gzip, err = gzip.NewReader(&u.in)
		} else {
			err = u.gzip.Reset(&u.in)
		}
		if err == nil {
			n, err = fill(u.gzip, to)
		}
	case format.Brotli:
		u.in.Reset(packed)
		if u.brotli == nil {
			u.brotli = brotli.NewReader(&u.in)
		} else {
			err = u.brotli.Reset(&u.in)
		}
		if err == nil {
			n, err = fill(u.brotli, to)
		}
	default:
		err = errors.New("the compression is not known")
	}
	if err != nil {
		return nil, noren.Reasonf("unpack a page: %s", err)
	}
	return u.data[:plain+n], nil
}

// fill reads in to its end, which must fit b.
func fill(in io.Reader, b []byte) (int, error) {
	n := 0
	for n < len(b) {
		m, err := in.Read(b[n:])
		n += m
		if err == io.EOF {
			return n, nil
		} else if err != nil {
			return n, err
		}
	}
	var more [1]byte
	for {
		m, err := in.Read(more[:])
		switch {
		case m > 0:
			return n, errLonger
		case err == io.EOF:
			return n, nil
		case err != nil:
			return n, err
		}
	}
}

// close ends what the unpacker keeps.
func (u *unpacker) close() {
	if u.zstd != nil {
		u.zstd.Close()
		u.zstd = nil
	}
}
