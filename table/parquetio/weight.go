package parquetio

import (
	"encoding/binary"
	"math"
	"math/bits"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/encoding/delta"
	"github.com/parquet-go/parquet-go/format"
)

// runs is how many values run-length encoded data hold: runs of six bytes hold up to
// 2,147,483,647, and the library makes all of them, whatever a page says of their number.
func runs(data []byte, width int) int64 {
	total := int64(0)
	for i := 0; i < len(data); {
		u, n := binary.Uvarint(data[i:])
		if n <= 0 || u>>1 > math.MaxInt32 {
			return total // the library fails here
		}
		i += n
		count := int64(u >> 1)
		switch {
		case count == 0:
		case u&1 != 0:
			total += 8 * count
			i = int(min(int64(i)+count*int64(width), math.MaxInt32))
		default:
			total += count
			i += (width + 7) / 8
		}
	}
	return total
}

// levelWeight is what decoding the levels of that many values takes: their bytes, and
// where the data hold more of them, the bytes of a slice that grows.
func levelWeight(data []byte, most int, encoding format.Encoding, values int32) int64 {
	if most == 0 {
		return 0
	}
	n := int64(values)
	decoded := runs(data, bits.Len(uint(most)))
	if encoding == format.BitPacked {
		decoded = max(decoded, 8*int64(len(data)))
	}
	if decoded > n+1024 {
		n += 3 * decoded
	}
	return n
}

// prefixed splits data that begin with their length.
func prefixed(data []byte) (these, rest []byte) {
	if len(data) < 4 {
		return nil, nil
	}
	n := int64(binary.LittleEndian.Uint32(data))
	if n > int64(len(data)-4) {
		return nil, nil
	}
	return data[4 : 4+n], data[4+n:]
}

// plainDictionary is the encoding PLAIN_DICTIONARY, which the format has deprecated and
// files of earlier programs have.
const plainDictionary format.Encoding = 2

// weight is what decoding values of an encoding takes, beside the data.
func (l leaf) weight(encoding format.Encoding, values int64, data []byte) int64 {
	offsets := int64(0)
	if l.kind == parquet.ByteArray {
		offsets = 4 * values
	}
	switch encoding {
	case format.Plain: // is decoded in place
		return offsets
	case plainDictionary, format.RLEDictionary:
		if len(data) == 0 {
			return 0
		}
		n := 4 * values
		if decoded := runs(data[1:], int(data[0])); decoded > values+1024 {
			n += 12 * decoded // a slice that grows
		}
		return n
	case format.RLE:
		these, _ := prefixed(data)
		return 3 * runs(these, 1)
	case format.DeltaBinaryPacked:
		total, _ := deltas(data)
		return 8 * max(total, values)
	case format.DeltaLengthByteArray:
		total, _ := deltas(data)
		return offsets + 8*total + int64(len(data))
	case format.DeltaByteArray:
		prefixes, rest := deltas(data)
		suffixes, _ := deltas(rest)
		return offsets + 8*(prefixes+suffixes) + int64(len(data))
	}
	return offsets + 16*values + int64(len(data))
}

// deltas is how many values delta encoded data state, and what is behind them; nothing
// where they are damaged.
func deltas(data []byte) (total int64, rest []byte) {
	var head [3]uint64 // size of a block, parts of a block, values
	for i := range head {
		v, n := binary.Uvarint(data)
		if n <= 0 {
			return 0, nil
		}
		head[i], data = v, data[n:]
	}
	_, n := binary.Varint(data)
	if n <= 0 || head[0] > math.MaxInt32 || head[1] == 0 || head[1] > head[0] || head[2] > math.MaxInt32 {
		return 0, nil
	}
	data = data[n:]
	each, parts := int64(head[0]/head[1]), int(head[1])
	total = int64(head[2])
	for left := total - 1; left > 0; {
		_, n := binary.Varint(data)
		if n <= 0 || parts > len(data)-n {
			return total, nil
		}
		widths := data[n : n+parts]
		data = data[n+parts:]
		for _, w := range widths {
			data = data[min(each*int64(w)/8, int64(len(data))):]
			left -= each
			if left <= 0 {
				break
			}
		}
	}
	return total, data
}

// prefixes draws on the meter the texts that a page of delta encoded texts makes: each
// states how much of the one before it begins with.
func (p *pages) prefixes(header *format.PageHeader, data []byte, levels int) error {
	encoding := header.DataPageHeaderV2.V.Encoding
	if header.Type == format.DataPage {
		encoding = header.DataPageHeader.V.Encoding
		for _, most := range []int{p.leaf.repetition, p.leaf.definition} {
			if most > 0 {
				_, data = prefixed(data)
			}
		}
	} else {
		data = data[levels:]
	}
	if encoding != format.DeltaByteArray {
		return nil
	}
	_, rest := deltas(data)
	lengths, err := new(delta.BinaryPackedEncoding).DecodeInt32(nil, data[:len(data)-len(rest)])
	if err != nil {
		return err
	}
	n := int64(0)
	for _, l := range lengths {
		n += int64(max(l, 0))
	}
	if n > math.MaxInt64/4 {
		n = math.MaxInt64 / 4
	}
	if err := p.meter.Hold(2 * n); err != nil {
		return err
	}
	p.held[0] += 2 * n
	return p.meter.Unpack(n)
}
