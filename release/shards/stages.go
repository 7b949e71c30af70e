package shards

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/binary"
	"io"

	"github.com/noren-privacy/noren"
	"github.com/noren-privacy/noren/table"
)

// Route passes the records of a file to emit, as blocks by the bucket of their person. A
// file without records has an empty block all the same: it shows that the file was read.
// Records without a label are left out, as they do not count.
func (p *Plan) Route(ctx context.Context, shard int, emit func(block []byte) error) error {
	if !p.Shuffled() {
		return noren.Usagef("plan", "the unit is one record: files are not routed")
	}
	t, print, err := p.read(ctx, shard)
	if err != nil {
		return err
	}
	buckets := p.bucketsOf(t)
	b := &block{shard: uint32(shard), print: print}
	for _, records := range buckets {
		b.total += uint64(len(records))
	}
	if b.total == 0 {
		b.bucket = uint32(shard % p.Buckets)
		return emit(appendBlock(nil, b, t, nil))
	}
	for bucket, records := range buckets {
		b.bucket = uint32(bucket)
		for len(records) > 0 {
			if err := ctx.Err(); err != nil {
				return err
			}
			n := min(len(records), blockRows)
			if err := emit(appendBlock(nil, b, t, records[:n])); err != nil {
				return err
			}
			b.sequence++
			records = records[n:]
		}
	}
	return nil
}

// bucketsOf are the records of each bucket.
func (p *Plan) bucketsOf(t *table.Table) [][]uint32 {
	mac := hmac.New(sha256.New, p.JobKey)
	of := make([]uint32, len(t.Unit.Dict)) // of each label
	var sum [sha256.Size]byte
	for i, label := range t.Unit.Dict {
		mac.Reset()
		mac.Write([]byte(label))
		of[i] = uint32(binary.BigEndian.Uint64(mac.Sum(sum[:0])) % uint64(p.Buckets))
	}
	out := make([][]uint32, p.Buckets)
	for i, code := range t.Unit.Codes {
		if !t.Unit.IsMissing(i) {
			out[of[code]] = append(out[of[code]], uint32(i))
		}
	}
	return out
}

// Sum makes a part of all blocks of a bucket, which next returns until [io.EOF]. Their order
// does not matter; a block that comes twice is refused.
func (p *Plan) Sum(ctx context.Context, bucket int, next func() ([]byte, error)) ([]byte, error) {
	if !p.Shuffled() {
		return nil, noren.Usagef("plan", "the unit is one record: there are no buckets")
	}
	c, err := newColumns(p.definition.Unit, p.query.Columns())
	if err != nil {
		return nil, err
	}
	out := &part{of: map[uint32]*read{}}
	seen := map[[2]uint32]bool{}
	for {
		text, err := next()
		if err == io.EOF {
			break
		}
		if err == nil {
			err = ctx.Err()
		}
		if err != nil {
			return nil, err
		}
		b, err := decodeBlock(text, len(p.names))
		if err != nil {
			return nil, err
		}
		at := [2]uint32{b.shard, b.sequence}
		if int64(b.bucket) != int64(bucket) || int64(b.shard) >= int64(len(p.Files)) || seen[at] {
			return nil, badBlock(noren.Textf("it is of another bucket or file, or came before"))
		}
		seen[at] = true
		if err := out.take(b.shard, b.total, b.print, uint64(b.rows)); err != nil {
			return nil, err
		}
		if err := c.add(b); err != nil {
			return nil, err
		}
	}
	if out.sums, err = p.query.Partial(ctx, c.table()); err != nil {
		return nil, err
	}
	return out.append(nil), nil
}

// SumFile makes a part of a file, where the unit is one record.
func (p *Plan) SumFile(ctx context.Context, shard int) ([]byte, error) {
	if p.Shuffled() {
		return nil, noren.Usagef("plan", "the unit is a column: files are routed to buckets")
	}
	t, print, err := p.read(ctx, shard)
	if err != nil {
		return nil, err
	}
	out := &part{of: map[uint32]*read{}}
	if err := out.take(uint32(shard), uint64(t.Rows), print, uint64(t.Rows)); err != nil {
		return nil, err
	}
	if out.sums, err = p.query.Partial(ctx, t); err != nil {
		return nil, err
	}
	return out.append(nil), nil
}
