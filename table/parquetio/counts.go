package parquetio

import (
	"encoding/binary"
	"errors"
	"io"
	"math/bits"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/format"
)

var errCounts = errors.New("a page does not have the values that it states")

// counted checks that a page has as many texts as it states values. The library would write a
// warning with these numbers to the standard error, and give the texts that there are.
//
// A page of the second version also states how many nulls it has, and writers disagree on which
// values of lists are nulls: the levels say it, and what is stated is set to it.
func (p *pages) counted(header *format.PageHeader, data []byte, levels int) error {
	v1, v2 := &header.DataPageHeader.V, &header.DataPageHeaderV2.V
	encoding, values := v1.Encoding, int64(v1.NumValues)
	switch header.Type {
	case format.DataPage:
		if p.leaf.repetition > 0 {
			_, data = prefixed(data)
		}
		if p.leaf.definition > 0 {
			these, rest := prefixed(data)
			n, err := equal(these, v1.DefinitionLevelEncoding, p.leaf.definition, values)
			if err != nil {
				return err
			}
			values, data = n, rest
		}
	case format.DataPageV2:
		encoding, values = v2.Encoding, int64(v2.NumValues)
		if p.leaf.definition > 0 && v2.DefinitionLevelsByteLength > 0 {
			n, err := equal(data[v2.RepetitionLevelsByteLength:levels], format.RLE, p.leaf.definition, values)
			if err != nil {
				return err
			}
			v2.NumNulls = int32(values - n)
		}
		values, data = values-int64(v2.NumNulls), data[levels:]
	default:
		return nil
	}
	if p.leaf.kind != parquet.ByteArray {
		return nil
	}
	texts := int64(0)
	switch encoding {
	case format.Plain:
		for ; len(data) >= 4; texts++ {
			n := int64(binary.LittleEndian.Uint32(data))
			data = data[min(4+n, int64(len(data))):]
		}
	case format.DeltaLengthByteArray, format.DeltaByteArray:
		texts, _ = deltas(data)
	default: // indices of a dictionary, or no encoding of texts
		return nil
	}
	if texts != values {
		return errCounts
	}
	return nil
}

// equal is how many of the first n levels are the highest one.
func equal(data []byte, encoding format.Encoding, most int, n int64) (int64, error) {
	width := bits.Len(uint(most))
	if encoding == format.BitPacked {
		found, read := packedEqual(data, width, most, n, true)
		if read < n {
			return 0, io.ErrUnexpectedEOF
		}
		return found, nil
	}
	found := int64(0)
	for n > 0 {
		u, size := binary.Uvarint(data)
		if size <= 0 {
			return 0, io.ErrUnexpectedEOF
		}
		data = data[size:]
		count := u >> 1
		if count == 0 {
			continue
		}
		if u&1 == 0 {
			if len(data) == 0 {
				return 0, io.ErrUnexpectedEOF
			}
			these := int64(min(count, uint64(n)))
			if int(data[0]) == most {
				found += these
			}
			n, data = n-these, data[1:]
			continue
		}
		if count > uint64(len(data)/width) { // eight values of that many bits take as many bytes
			return 0, io.ErrUnexpectedEOF
		}
		these := data[:int(count)*width]
		more, read := packedEqual(these, width, most, n, false)
		found, n, data = found+more, n-read, data[len(these):]
	}
	return found, nil
}

// packedEqual is how many of the first n values of width bits are most, and how many values were
// read. Those of the deprecated encoding BIT_PACKED begin with the highest bit of a byte.
func packedEqual(data []byte, width, most int, n int64, highFirst bool) (found, read int64) {
	n = min(n, int64(len(data))*8/int64(width))
	if width == 1 && !highFirst {
		for ; read+8 <= n; read += 8 {
			found += int64(bits.OnesCount8(data[read/8]))
		}
	}
	for ; read < n; read++ {
		v := 0
		for i := range width {
			at := read*int64(width) + int64(i)
			if highFirst {
				v = v<<1 | int(data[at/8]>>(7-at%8))&1
			} else {
				v |= int(data[at/8]>>(at%8)) & 1 << i
			}
		}
		if v == most {
			found++
		}
	}
	return found, read
}
