package parquetio

import (
	"context"
	"errors"
	"hash/crc32"
	"io"
	"math"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/encoding/thrift"
	"github.com/parquet-go/parquet-go/format"

	"github.com/noren-privacy/noren"
	"github.com/noren-privacy/noren/internal/meter"
)

// chunkPlace is where a column chunk lies in the file, and how it is compressed.
type chunkPlace struct {
	from, size int64
	codec      format.CompressionCodec
}

// locate notes where the column chunks are, and makes the library ask [pages] for them
// from the start.
func (src *Source) locate(f *footer) error {
	meta := src.parquet.Metadata()
	if len(f.codecs) != len(meta.RowGroups) {
		return errFooter
	}
	src.chunks = make([][]chunkPlace, len(meta.RowGroups))
	for i := range meta.RowGroups {
		columns := meta.RowGroups[i].Columns
		if len(f.codecs[i]) != len(columns) {
			return errFooter
		}
		src.chunks[i] = make([]chunkPlace, len(columns))
		for j := range columns {
			m := &columns[j].MetaData
			from := m.DataPageOffset
			if m.DictionaryPageOffset != 0 {
				from = m.DictionaryPageOffset
			}
			if from < 0 || m.TotalCompressedSize < 0 || from > src.size {
				return errFooter
			}
			src.chunks[i][j] = chunkPlace{from, min(m.TotalCompressedSize, src.size-from), f.codecs[i][j]}
			m.DictionaryPageOffset, m.DataPageOffset, m.TotalCompressedSize = 0, 0, math.MaxInt64
		}
	}
	return nil
}

// leaf is what the reading of pages asks of a column chunk.
type leaf struct {
	kind                   parquet.Kind
	definition, repetition int // the highest levels
}

// pages are the pages of a column chunk without compression, in their order, as a file
// that is read once from its start. Before the library reads a page, what it takes in
// memory to be read is drawn on the meter.
type pages struct {
	ctx    context.Context
	file   io.ReaderAt
	meter  *meter.Meter
	unpack *unpacker // shared by all columns: the library has copied a page when it returns it
	leaf   leaf
	codec  format.CompressionCodec
	at     int64 // of the next page in the file
	end    int64

	start int64     // of the current page among what is read from here
	now   [2][]byte // its description and its data
	held  [2]int64  // by the current page, and by the one before until settle
	kept  int64     // by the dictionary

	// spare is by how many bytes what was unpacked is more than the values that were made of it.
	spare int64
}

var errChecksum = errors.New("a checksum does not fit")

// pageWork is what a page counts as unpacked beside its data: one without values is work too.
const pageWork = 128

// made counts n values that were made. Each is a byte that is unpacked, or of those that its
// page counted: a run of six bytes makes up to 2,147,483,647 values.
func (p *pages) made(n int64) error {
	if n <= p.spare {
		p.spare -= n
		return nil
	}
	n, p.spare = n-p.spare, 0
	return p.meter.Unpack(n)
}

func (r *reader) pagesOf(group, column int) *pages {
	c := r.src.chunks[group][column]
	return &pages{
		ctx: r.ctx, file: r.src.file, meter: r.meter, unpack: &r.unpack, leaf: r.src.leaves[column], codec: c.codec, at: c.from,
		end: c.from + c.size,
	}
}

// ReadAt implements [io.ReaderAt] for a reader that goes forward. It returns less than
// was asked for at the end of a page: the next one is read when it is asked for.
func (p *pages) ReadAt(b []byte, at int64) (int, error) {
	for {
		if at < p.start {
			return 0, noren.Bug("pages are read once")
		}
		from := at - p.start
		for _, part := range p.now {
			if from < int64(len(part)) {
				return copy(b, part[from:]), nil
			}
			from -= int64(len(part))
		}
		if from > 0 {
			return 0, noren.Bug("pages are read in their order")
		}
		p.start += int64(len(p.now[0]) + len(p.now[1]))
		p.now = [2][]byte{}
		if p.at >= p.end {
			return 0, io.EOF
		}
		if err := p.next(); err != nil {
			return 0, err
		}
	}
}

// next unpacks the next page.
func (p *pages) next() error {
	if err := p.ctx.Err(); err != nil {
		return err
	}
	from := p.at
	header, err := p.header()
	if err != nil {
		return err
	}
	u := p.unpack
	if err := p.meter.Unpack(p.at - from + pageWork); err != nil {
		return err
	}
	size := int64(header.CompressedPageSize)
	if size > p.end-p.at {
		return io.ErrUnexpectedEOF
	}
	if u.packed, err = u.sized(p.meter, u.packed, size); err != nil {
		return err
	}
	if err := readFull(p.file, u.packed, p.at); err != nil {
		return err
	}
	p.at += size
	if header.CRC != 0 && crc32.ChecksumIEEE(u.packed) != uint32(header.CRC) {
		return errChecksum
	}
	levels := 0 // bytes that are never compressed
	v2 := &header.DataPageHeaderV2
	if header.Type == format.DataPageV2 && v2.Valid {
		levels = int(v2.V.RepetitionLevelsByteLength) + int(v2.V.DefinitionLevelsByteLength)
		if levels > len(u.packed) {
			return io.ErrUnexpectedEOF
		}
	}
	codec := p.codec
	if header.Type == format.DataPageV2 && v2.V.IsCompressed.Valid && !v2.V.IsCompressed.V {
		codec = format.Uncompressed
	}
	data, err := u.page(p.meter, codec, u.packed, levels, int64(header.UncompressedPageSize))
	if err != nil {
		return err
	}
	if err := p.meter.Unpack(int64(len(data))); err != nil {
		return err
	}
	p.spare += int64(len(data))
	if err := p.hold(header, data, levels); err != nil {
		return err
	}
	header.CompressedPageSize, header.UncompressedPageSize, header.CRC = int32(len(data)), int32(len(data)), 0
	header.DataPageHeader.V.Statistics, v2.V.Statistics = format.Statistics{}, format.Statistics{}
	head, err := thrift.Marshal(&thrift.CompactProtocol{}, header)
	if err != nil {
		return err
	}
	p.now = [2][]byte{head, data}
	return nil
}

// header reads the description of the next page.
func (p *pages) header() (*format.PageHeader, error) {
	u := p.unpack
	for size := int64(512); ; size *= 8 {
		size = min(size, p.end-p.at)
		var err error
		if u.head, err = u.sized(p.meter, u.head, size); err != nil {
			return nil, err
		}
		if err := readFull(p.file, u.head, p.at); err != nil {
			return nil, err
		}
		header := new(format.PageHeader)
		protocol := thrift.CompactProtocol{}
		in := protocol.NewReaderFromBytes(u.head)
		if err = thrift.NewDecoder(in).Decode(header); err != nil {
			if size == p.end-p.at {
				return nil, err
			}
			continue
		}
		p.at += int64(in.BytesRead())
		v1, v2 := &header.DataPageHeader.V, &header.DataPageHeaderV2.V
		if min(header.CompressedPageSize, header.UncompressedPageSize, v1.NumValues, header.DictionaryPageHeader.V.NumValues,
			v2.NumValues, v2.NumNulls, v2.NumRows, v2.RepetitionLevelsByteLength, v2.DefinitionLevelsByteLength) < 0 {
			return nil, errors.New("a page states a size below zero")
		}
		return header, nil
	}
}

// hold draws on the meter what the library takes to decode a page.
func (p *pages) hold(header *format.PageHeader, data []byte, levels int) error {
	p.settle()
	p.held[1], p.held[0] = p.held[0], 0
	n := int64(len(data))
	switch header.Type {
	case format.DictionaryPage:
		if p.kept > 0 {
			return nil // the library passes over it
		}
		n += 8 * int64(header.DictionaryPageHeader.V.NumValues)
		copied := int64(len(data)) // for as long as it is decoded
		if err := p.meter.Hold(n + copied); err != nil {
			return err
		}
		p.meter.Release(copied)
		p.kept = n
		return nil
	case format.DataPage:
		h := &header.DataPageHeader.V
		rest := data
		if p.leaf.repetition > 0 {
			var these []byte
			these, rest = prefixed(rest)
			n += levelWeight(these, p.leaf.repetition, h.RepetitionLevelEncoding, h.NumValues)
		}
		if p.leaf.definition > 0 {
			var these []byte
			these, rest = prefixed(rest)
			n += levelWeight(these, p.leaf.definition, h.DefinitionLevelEncoding, h.NumValues)
		}
		n += p.leaf.weight(h.Encoding, int64(h.NumValues), rest)
	case format.DataPageV2:
		h := &header.DataPageHeaderV2.V
		n += levelWeight(data[:h.RepetitionLevelsByteLength], p.leaf.repetition, format.RLE, h.NumValues)
		n += levelWeight(data[h.RepetitionLevelsByteLength:levels], p.leaf.definition, format.RLE, h.NumValues)
		n += p.leaf.weight(h.Encoding, int64(h.NumValues), data[levels:])
	}
	if err := p.meter.Hold(n); err != nil {
		return err
	}
	p.held[0] = n
	if err := p.counted(header, data, levels); err != nil {
		return err
	}
	return p.prefixes(header, data, levels)
}

// settle gives back what the page before took: the library has released it when it
// returns the current one.
func (p *pages) settle() {
	p.meter.Release(p.held[1])
	p.held[1] = 0
}

// close gives back what the pages and the dictionary held.
func (p *pages) close() {
	p.meter.Release(p.held[0] + p.held[1] + p.kept)
	p.held, p.kept = [2]int64{}, 0
}

func readFull(in io.ReaderAt, b []byte, at int64) error {
	n, err := in.ReadAt(b, at)
	if n == len(b) {
		return nil
	}
	if err == io.EOF {
		err = io.ErrUnexpectedEOF
	}
	return err
}
