package shuffle

import (
	"context"
	"encoding/binary"
	"fmt"
	"math/bits"

	"github.com/noren-privacy/noren"
	"github.com/noren-privacy/noren/internal/tempfile"
	"github.com/noren-privacy/noren/table"
)

// arranger puts records into the order asked for: in memory while they fit,
// then in buckets, each of which holds the records of a range of places and
// fits into memory by itself.
type arranger struct {
	opts  Options
	n     uint64 // records in all
	rows  uint64 // records taken
	kinds []table.Kind

	// In memory: the records in blocks, and for each place where its record
	// is: the block and, in the low bits, the offset in it. In buckets at has
	// the places of one bucket, from its first on.
	blocks [][]byte
	used   int64
	at     []uint64

	// In buckets.
	file    *tempfile.File
	size    int64 // of the file
	buckets []bucket
	limit   int // bytes of a bucket that are kept in memory
}

// A block of the common size holds many records; one that is larger than it
// has a block of its own.
const (
	blockBits = 20
	blockSize = 1 << blockBits
)

// bucket holds the records of the places from first on.
type bucket struct {
	first   uint64
	pending []byte
	extents []extent
	bytes   int64
}

// extent is a part of the temporary file.
type extent struct{ offset, length int64 }

// take adds the records of c.
func (a *arranger) take(c *table.Chunk) (err error) {
	if a.kinds, err = kindsOf(c, a.kinds); err != nil {
		return err
	}
	if uint64(c.Rows) > a.n-a.rows {
		return &noren.Error{What: fmt.Sprintf("more records were read than the %d that there is an order for", a.n)}
	}
	var row []byte
	if a.rows == 0 && a.at == nil {
		for i := range c.Rows {
			row = appendRow(row, c, i)
		}
		// The first records tell about how long all will be.
		if int64(float64(len(row))/float64(max(c.Rows, 1))*float64(a.n)) > a.opts.Memory && c.Rows > 0 {
			if err := a.split(float64(len(row)) / float64(c.Rows)); err != nil {
				return err
			}
		} else {
			a.at = make([]uint64, a.n)
		}
	}
	for i := range c.Rows {
		place := uint64(a.opts.Order[a.rows])
		row = appendRow(row[:0], c, i)
		if a.buckets == nil {
			a.keep(place, row)
		} else if err := a.spill(place, row); err != nil {
			return err
		}
		a.rows++
		if a.buckets == nil && a.used > a.opts.Memory && a.rows < a.n {
			if err := a.split(float64(a.used) / float64(a.rows)); err != nil {
				return err
			}
		}
	}
	return nil
}

// keep puts a record into memory.
func (a *arranger) keep(place uint64, row []byte) {
	last := len(a.blocks) - 1
	if last < 0 || len(a.blocks[last])+len(row) > cap(a.blocks[last]) {
		// The first blocks are small, that small tables take little.
		size := min(blockSize, 4096<<min(len(a.blocks), 8))
		a.blocks = append(a.blocks, make([]byte, 0, max(size, len(row))))
		last++
	}
	block := &a.blocks[last]
	a.at[place] = uint64(last)<<blockBits | uint64(len(*block))
	*block = append(*block, row...)
	a.used += int64(len(row))
}

// kept is where the record of a place begins.
func (a *arranger) kept(place uint64) []byte {
	at := a.at[place]
	return a.blocks[at>>blockBits][at&(blockSize-1):]
}

// split goes over to buckets for records of that mean length. Of the memory a half is for the one
// bucket that is read back and a quarter for what is to be written to the
// others.
func (a *arranger) split(mean float64) (err error) {
	if a.file, err = tempfile.Create(a.opts.Dir); err != nil {
		return err
	}
	const least = 4 << 10 // shorter writes would be slow
	count := uint64(mean*float64(a.n)/float64(a.opts.Memory/2)) + 1
	count = min(count, max(2, uint64(a.opts.Memory/4/least)), a.n)
	a.limit = int(min(max(a.opts.Memory/4/int64(count), least), blockSize))
	a.buckets = make([]bucket, count)
	for b := range a.buckets {
		a.buckets[b].first = a.firstOf(uint64(b))
	}
	for i := range a.rows {
		place := uint64(a.opts.Order[i])
		row := a.kept(place)
		if err := a.spill(place, row[:rowLen(row, a.kinds)]); err != nil {
			return err
		}
	}
	a.blocks, a.at = nil, nil
	return nil
}

// bucketOf is the bucket of a place: place*count/n, in 128 bits.
func (a *arranger) bucketOf(place uint64) uint64 {
	hi, lo := bits.Mul64(place, uint64(len(a.buckets)))
	b, _ := bits.Div64(hi, lo, a.n)
	return b
}

// firstOf is the first place of a bucket: b*n/count, rounded up.
func (a *arranger) firstOf(b uint64) uint64 {
	count := uint64(len(a.buckets))
	hi, lo := bits.Mul64(b, a.n)
	place, rest := bits.Div64(hi, lo, count)
	if rest > 0 {
		place++
	}
	return place
}

// spill adds a record to its bucket.
func (a *arranger) spill(place uint64, row []byte) error {
	b := &a.buckets[a.bucketOf(place)]
	before := len(b.pending)
	b.pending = binary.AppendUvarint(b.pending, place-b.first)
	b.pending = append(b.pending, row...)
	b.bytes += int64(len(b.pending) - before)
	if len(b.pending) < a.limit {
		return nil
	}
	return a.flush(b)
}

// flush writes what is pending of a bucket to the file.
func (a *arranger) flush(b *bucket) error {
	if len(b.pending) == 0 {
		return nil
	}
	if _, err := a.file.WriteAt(b.pending, a.size); err != nil {
		return &noren.Error{What: "the temporary file for the order of the records cannot be written", Hint: "free space in the folder of the result", Err: err}
	}
	b.extents = append(b.extents, extent{a.size, int64(len(b.pending))})
	a.size += int64(len(b.pending))
	b.pending = b.pending[:0]
	return nil
}

// write writes all records in order.
func (a *arranger) write(ctx context.Context, sink table.Sink) error {
	o := newOut(a.kinds, sink)
	if a.buckets == nil {
		for place := range a.n {
			if err := o.add(a.kept(place)); err != nil {
				return err
			}
			if place%chunkRows == 0 {
				if err := a.pause(ctx, o); err != nil {
					return err
				}
			}
		}
		if err := o.flush(); err != nil {
			return err
		}
		return a.pause(ctx, o)
	}
	for i := range a.buckets {
		b := &a.buckets[i]
		if err := a.flush(b); err != nil {
			return err
		}
		b.pending = nil
	}
	var data []byte
	for i := range a.buckets {
		if err := a.pause(ctx, o); err != nil {
			return err
		}
		var err error
		if data, err = a.load(data, i); err != nil {
			return err
		}
		end := a.n
		if i+1 < len(a.buckets) {
			end = a.buckets[i+1].first
		}
		first := a.buckets[i].first
		for place := first; place < end; place++ {
			if err := o.add(data[a.at[place-first]:]); err != nil {
				return err
			}
			if place%chunkRows == 0 {
				if err := a.pause(ctx, o); err != nil {
					return err
				}
			}
		}
		// The texts of the chunk lie in data, which is read into next.
		if err := o.flush(); err != nil {
			return err
		}
	}
	return a.pause(ctx, o)
}

// pause looks whether work is to go on, and tells how far it has come.
func (a *arranger) pause(ctx context.Context, o *out) error {
	a.opts.Progress.Report("writing", o.rows, int64(a.n))
	return ctx.Err()
}

// load reads bucket i into data and notes in a.at where the record of each of
// its places begins, from its first on.
func (a *arranger) load(data []byte, i int) ([]byte, error) {
	b := &a.buckets[i]
	if int64(cap(data)) < b.bytes {
		data = make([]byte, b.bytes+b.bytes/16)
	}
	data = data[:b.bytes]
	rest := data
	for _, e := range b.extents {
		if _, err := a.file.ReadAt(rest[:e.length], e.offset); err != nil {
			return nil, &noren.Error{What: "the temporary file for the order of the records cannot be read back", Err: err}
		}
		rest = rest[e.length:]
	}
	end := a.n
	if i+1 < len(a.buckets) {
		end = a.buckets[i+1].first
	}
	if n := int(end - b.first); cap(a.at) < n {
		a.at = make([]uint64, n+n/16)
	} else {
		a.at = a.at[:n]
	}
	for at := 0; at < len(data); {
		place, size := binary.Uvarint(data[at:])
		at += size
		a.at[place] = uint64(at)
		at += rowLen(data[at:], a.kinds)
	}
	return data, nil
}

func (a *arranger) close() error {
	if a.file == nil {
		return nil
	}
	if err := a.file.Close(); err != nil {
		return &noren.Error{What: "the temporary file for the order of the records cannot be removed", Err: err}
	}
	return nil
}
