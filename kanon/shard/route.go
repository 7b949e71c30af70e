package shard

import (
	"context"
	"encoding/binary"

	"github.com/noren-privacy/noren/kanon/publish"
	"github.com/noren-privacy/noren/table"
	"github.com/noren-privacy/noren/table/pseudonym"
)

// Sizes at which a block is passed on: records, bytes, and bytes of all blocks.
const (
	blockRows  = 5_000
	blockBytes = 768 << 10
	routeBytes = 48 << 20
)

// router finds the bucket of each record of a file.
type router struct {
	j       *Job
	p       *Plan
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
	r := &router{j: j, p: p, blocks: make([]packing, p.Buckets()), emit: emit, out: map[int64]int{}}
	further := j.kept()
	if j.unit() >= 0 {
		further = append(further, j.unit())
		r.person = newPersons(j)
	}
	for _, i := range further {
		r.columns = append(r.columns, src.Columns()[i])
	}
	for b := range r.blocks {
		r.blocks[b].bucket, r.blocks[b].shard = uint32(b), uint32(n)
	}
	at, end := p.look.place(n)
	if j.run.Publish.Boxes() {
		for place, i := range publish.SampleOutsiders[int64](int(p.look.rows), j.run.SearchSeed()) {
			if i >= at && i < end {
				r.out[i] = place
			}
		}
	}
	recode := newRecoder(table.PlaceOf(src), p.heads)
	_, err = j.read(ctx, n, src, further, func(columns []*table.Column, further []table.Vector) error {
		if at+int64(columns[0].Len()) > end {
			return changed(table.PlaceOf(src))
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
		return changed(table.PlaceOf(src))
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
			k.marks = binary.LittleEndian.AppendUint32(k.marks, k.n)
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
	k.m = uint32(len(k.marks) / 8)
	r.frame = append(append(append(k.append(r.frame[:0], r.j), k.marks...), k.rows...), k.tails...)
	r.held -= k.bytes()
	next := blockHeader{bucket: k.bucket, shard: k.shard, sequence: k.sequence + 1}
	*k = packing{blockHeader: next, rows: k.rows[:0], tails: k.tails[:0], marks: k.marks[:0]}
	return r.emit(r.frame)
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
