package shard

import (
	"encoding/binary"
	"math"

	"github.com/noren-privacy/noren/table"
	"github.com/noren-privacy/noren/table/pseudonym"
)

// A packed block holds records of one file that belong to one bucket:
//
//	u32 bucket | u32 shard | u32 sequence | u32 version | 16 job | u32 n | u32 m
//	m times: u32 record, u32 place        records that are outsiders of the sample
//	n times: u32 cell, quasi-identifiers, 16 bytes of the person where there is a unit
//	n times: uvarint length, kept columns
//
// The first twelve bytes are what the engine shuffles and sorts by.

// blockHeader begins a packed block.
type blockHeader struct {
	bucket, shard, sequence uint32
	n, m                    uint32 // records, and outsiders among them
}

func (h *blockHeader) append(dst []byte, j *Job) []byte {
	for _, v := range [...]uint32{h.bucket, h.shard, h.sequence, version} {
		dst = binary.LittleEndian.AppendUint32(dst, v)
	}
	dst = binary.LittleEndian.AppendUint32(append(dst, j.id[:]...), h.n)
	return binary.LittleEndian.AppendUint32(dst, h.m)
}

// blockHeader takes a header, and reports whether it is one of a block of the job.
func (s *source) blockHeader(j *Job) (blockHeader, bool) {
	h := blockHeader{bucket: s.u32(), shard: s.u32(), sequence: s.u32()}
	ours := s.u32() == version && string(s.take(idBytes)) == string(j.id[:])
	h.n, h.m = s.u32(), s.u32()
	return h, ours && !s.bad && int64(h.shard) < int64(len(j.Shards)) && h.m <= h.n && h.n > 0
}

// packing is a block in the making.
type packing struct {
	blockHeader
	rows  []byte
	tails []byte
	marks []byte
}

func (k *packing) bytes() int { return len(k.rows) + len(k.tails) + len(k.marks) }

// appendKept appends the kept values of a record: a byte that is 1 for a null and 0 for a
// value, then 8 bytes for a number or the length and the bytes of a text.
func appendKept(dst []byte, kept []table.Vector, i int) []byte {
	for c := range kept {
		v := &kept[c]
		if v.IsNull(i) {
			dst = append(dst, 1)
			continue
		}
		dst = append(dst, 0)
		switch v.Kind {
		case table.Int:
			dst = binary.LittleEndian.AppendUint64(dst, uint64(v.Ints[i]))
		case table.Float:
			dst = binary.LittleEndian.AppendUint64(dst, math.Float64bits(v.Floats[i]))
		default:
			dst = appendText(dst, v.Texts[i])
		}
	}
	return dst
}

// takeKept appends the kept values of a record to vectors, and reports whether they are
// of these columns.
func takeKept(tail []byte, stored []*table.StoredColumn, to []*table.Vector) bool {
	s := source{b: tail}
	for c, column := range stored {
		v := to[c]
		null := s.flag()
		v.Null = append(v.Null, null)
		switch column.Kind {
		case table.Int:
			n := int64(0)
			if !null {
				n = int64(s.u64())
			}
			v.Ints = append(v.Ints, n)
		case table.Float:
			x := 0.0
			if !null {
				x = s.f64()
			}
			v.Floats = append(v.Floats, x)
		default:
			var text []byte
			if !null {
				text = s.text()
			}
			v.Texts = append(v.Texts, text)
		}
	}
	return s.ended()
}

// packed is a block as a release reads it.
type packed struct {
	blockHeader
	rows  []byte // of equal width
	width int
	tails []byte
	out   map[uint32]uint32 // outsiders by record
}

// decodeBlock reads a block. Its rows are checked by [packed.holds], its tails where they
// are written.
func (j *Job) decodeBlock(p *Plan, frame []byte) (*packed, error) {
	s := source{b: frame}
	h, ours := s.blockHeader(j)
	b := &packed{blockHeader: h, width: 4 + p.codec.Width()}
	if j.unit() >= 0 {
		b.width += len(pseudonym.Digest{})
	}
	if !ours || int64(b.bucket) >= int64(p.Buckets()) || int64(b.n)*int64(b.width) > int64(len(s.b)) {
		return nil, malformed("a block of this job")
	}
	for range b.m {
		i, place := s.u32(), s.u32()
		if i >= b.n || int64(place) >= int64(p.left) {
			return nil, malformed("a block of this job")
		}
		if b.out == nil {
			b.out = map[uint32]uint32{}
		}
		b.out[i] = place
	}
	b.rows = s.take(int(b.n) * b.width)
	b.tails = s.b
	if s.bad || !b.holds(p) {
		return nil, malformed("a block of this job")
	}
	return b, nil
}

// holds checks the rows of a block.
func (b *packed) holds(p *Plan) bool {
	for i := range int(b.n) {
		cell := b.cell(i)
		if cell < p.first[b.bucket] || cell >= p.first[b.bucket+1] || !p.codec.Holds(b.row(i)[4:], p.heads) {
			return false
		}
	}
	return true
}

func (b *packed) row(i int) []byte { return b.rows[i*b.width : (i+1)*b.width] }

func (b *packed) cell(i int) uint32 { return binary.LittleEndian.Uint32(b.row(i)) }

// tailsOf are the kept columns of each record of a block.
func (b *packed) tailsOf() ([][]byte, bool) {
	s := source{b: b.tails}
	tails := make([][]byte, b.n)
	for i := range tails {
		tails[i] = s.text()
	}
	return tails, s.ended()
}
