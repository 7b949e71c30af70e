package shard

import (
	"context"
	"encoding/binary"
	"math"

	"github.com/noren-privacy/noren/kanon/publish"
	"github.com/noren-privacy/noren/table"
	"github.com/noren-privacy/noren/table/pseudonym"
)

// A packed block holds records of one file that belong to one bucket:
//
//	u32 bucket | u32 shard | u32 sequence | u8 version | 3 x 0 | 16 job | u32 n | u32 m
//	m times: u32 record, u32 place        records that are outsiders of the sample
//	n times: u32 cell, quasi-identifiers, 16 bytes of the person where there is a unit
//	n times: uvarint length, kept columns
//
// The first twelve bytes are what the engine shuffles and sorts by.

// Sizes at which a block is passed on: records, bytes, and bytes of all blocks.
const (
	blockRows  = 5_000
	blockBytes = 768 << 10
	routeBytes = 48 << 20
)

// packing is a block in the making.
type packing struct {
	sequence uint32
	n        int
	rows     []byte
	tails    []byte
	marks    []byte
}

func (k *packing) bytes() int { return len(k.rows) + len(k.tails) + len(k.marks) }

// router finds the bucket of each record of a file.
type router struct {
	j       *Job
	p       *Plan
	shard   int
	blocks  []packing // by bucket
	held    int
	emit    func(frame []byte) error
	frame   []byte
	columns []table.StoredColumn // the kept ones, then the unit
	tail    []byte
	person  *persons
	out     map[int64]int // outsiders of this file by the number of their record
}

// Route passes on the records of one file as blocks of their buckets. Columns that are
// kept ride behind the quasi-identifiers; identifiers stay in the file, and of the unit
// only a keyed digest leaves it. Errors are those of [Job.Survey].
func (j *Job) Route(ctx context.Context, p *Plan, n int, emit func(frame []byte) error) error {
	if err := j.hasShard(n); err != nil {
		return err
	}
	src, err := j.open(ctx, n)
	if err != nil {
		return err
	}
	defer func() { _ = src.Close() }()
	r := &router{j: j, p: p, shard: n, blocks: make([]packing, p.Buckets()), emit: emit, out: map[int64]int{}}
	further := j.kept()
	if j.unit() >= 0 {
		further = append(further, j.unit())
		r.person = newPersons(j)
	}
	for _, i := range further {
		r.columns = append(r.columns, src.Columns()[i])
	}
	at, end := p.look.place(n)
	if j.run.Publish.Boxes() {
		for place, i := range publish.SampleOutsiders[int64](int(p.look.rows), j.run.SearchSeed()) {
			if i >= at && i < end {
				r.out[i] = place
			}
		}
	}
	recode := newRecoder(src.Name(), p.heads)
	_, err = j.read(ctx, n, src, further, func(columns []*table.Column, further []table.Vector) error {
		if at+int64(columns[0].Len()) > end {
			return changed(src.Name())
		}
		columns, err := recode.recode(columns)
		if err != nil {
			return err
		}
		if err := r.take(at, columns, further); err != nil {
			return err
		}
		at += int64(columns[0].Len())
		return nil
	})
	if err != nil {
		return err
	}
	if at != end {
		return changed(src.Name())
	}
	return r.flush()
}

// take packs a piece whose first record is at.
func (r *router) take(at int64, columns []*table.Column, further []table.Vector) error {
	s, err := r.p.frame.Space(columns)
	if err != nil {
		return err
	}
	cells := make([]uint32, s.Len())
	r.p.tree.Route(s, cells, 1)
	for i, cell := range cells {
		bucket := r.p.bucketOf(cell)
		k := &r.blocks[bucket]
		before := k.bytes()
		if place, is := r.out[at+int64(i)]; is {
			k.marks = binary.LittleEndian.AppendUint32(k.marks, uint32(k.n))
			k.marks = binary.LittleEndian.AppendUint32(k.marks, uint32(place))
		}
		k.rows = binary.LittleEndian.AppendUint32(k.rows, cell)
		k.rows = r.p.codec.Put(k.rows, columns, i)
		kept := further
		if r.person != nil {
			last := len(further) - 1
			digest := r.person.of(&r.columns[last], &further[last], i)
			k.rows = append(k.rows, digest[:]...)
			kept = further[:last]
		}
		r.tail = appendKept(r.tail[:0], kept, i)
		k.tails = appendText(k.tails, r.tail)
		k.n++
		r.held += k.bytes() - before
		if k.n >= blockRows || k.bytes() >= blockBytes {
			if err := r.pass(bucket); err != nil {
				return err
			}
		}
		if r.held >= routeBytes {
			if err := r.flush(); err != nil {
				return err
			}
		}
	}
	return nil
}

// flush passes on all blocks.
func (r *router) flush() error {
	for b := range r.blocks {
		if r.blocks[b].n > 0 {
			if err := r.pass(b); err != nil {
				return err
			}
		}
	}
	return nil
}

// pass passes on the block of a bucket.
func (r *router) pass(bucket int) error {
	k := &r.blocks[bucket]
	dst := binary.LittleEndian.AppendUint32(r.frame[:0], uint32(bucket))
	dst = binary.LittleEndian.AppendUint32(dst, uint32(r.shard))
	dst = binary.LittleEndian.AppendUint32(dst, k.sequence)
	dst = append(dst, version, 0, 0, 0)
	dst = append(dst, r.j.id[:]...)
	dst = binary.LittleEndian.AppendUint32(dst, uint32(k.n))
	dst = binary.LittleEndian.AppendUint32(dst, uint32(len(k.marks)/8))
	dst = append(append(append(dst, k.marks...), k.rows...), k.tails...)
	r.frame = dst
	r.held -= k.bytes()
	*k = packing{sequence: k.sequence + 1, rows: k.rows[:0], tails: k.tails[:0], marks: k.marks[:0]}
	return r.emit(dst)
}

// persons gives the records digests of whose they are. A record without a label has the
// digest zero, which no label has but with probability 2^-128.
type persons struct {
	digests *pseudonym.Digests
	missing map[string]bool
	text    []byte
}

func newPersons(j *Job) *persons {
	p := &persons{digests: pseudonym.Key(j.key().Derive("persons")).Digests(), missing: map[string]bool{"": true}}
	for _, text := range j.Missing {
		p.missing[text] = true
	}
	return p
}

func (p *persons) of(stored *table.StoredColumn, v *table.Vector, i int) pseudonym.Digest {
	if v.IsNull(i) {
		return pseudonym.Digest{}
	}
	p.text = table.AppendText(p.text[:0], stored, v, i)
	if p.missing[string(p.text)] {
		return pseudonym.Digest{}
	}
	return p.digests.Of(p.text)
}

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
	bucket, shard, sequence uint32
	n                       int
	rows                    []byte // of equal width
	width                   int
	tails                   []byte
	out                     map[uint32]uint32 // outsiders by record
}

// decodeBlock reads a block. Its rows are checked by [packed.holds], its tails where they
// are written.
func (j *Job) decodeBlock(p *Plan, frame []byte) (*packed, error) {
	s := source{b: frame}
	b := &packed{bucket: s.u32(), shard: s.u32(), sequence: s.u32()}
	v, zero, id := s.u8(), s.take(3), s.take(idBytes)
	n, m := s.u32(), s.u32()
	b.width = 4 + p.codec.Width()
	if j.unit() >= 0 {
		b.width += len(pseudonym.Digest{})
	}
	if s.bad || v != version || zero[0]|zero[1]|zero[2] != 0 || string(id) != string(j.id[:]) ||
		int64(b.bucket) >= int64(p.Buckets()) || int64(b.shard) >= int64(len(j.Shards)) || m > n || n == 0 ||
		int64(n)*int64(b.width) > int64(len(s.b)) {
		return nil, malformed("a block of this job")
	}
	for range m {
		i, place := s.u32(), s.u32()
		if i >= n || int64(place) >= int64(p.left) {
			return nil, malformed("a block of this job")
		}
		if b.out == nil {
			b.out = map[uint32]uint32{}
		}
		b.out[i] = place
	}
	b.n = int(n)
	b.rows = s.take(b.n * b.width)
	b.tails = s.b
	if s.bad || !b.holds(p) {
		return nil, malformed("a block of this job")
	}
	return b, nil
}

// holds checks the rows of a block.
func (b *packed) holds(p *Plan) bool {
	for i := range b.n {
		cell := b.cell(i)
		if cell < p.first[b.bucket] || cell >= p.first[b.bucket+1] || !p.codec.Holds(b.row(i)[4:], p.heads) {
			return false
		}
	}
	return true
}

func (b *packed) row(i int) []byte { return b.rows[i*b.width : (i+1)*b.width] }

func (b *packed) cell(i int) uint32 { return binary.LittleEndian.Uint32(b.row(i)) }
