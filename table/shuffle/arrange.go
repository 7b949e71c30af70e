package shuffle

import (
	"context"
	"encoding/binary"
	"math/bits"

	"github.com/noren-privacy/noren"
	"github.com/noren-privacy/noren/internal/tempfile"
	"github.com/noren-privacy/noren/table"
)

// arranger puts records into the order asked for. It keeps them in buckets, each of which
// holds the records of a range of places: records are added at the ends of the buckets and
// ordered within one bucket at a time, so that neither goes all over the memory. The buckets
// are in memory while they fit, then in a temporary file.
type arranger struct {
	opts  Options
	n     uint64 // records in all
	rows  uint64 // records taken
	kinds []table.Kind
	lanes []lane

	buckets []bucket
	limit   int   // bytes of a bucket that are gathered before they are put away
	used    int64 // bytes of all records

	file *tempfile.File // nil while all is in memory
	size int64          // of the file

	at []uint64 // where the records of one bucket begin, from its first place on
}

// lane is what one goroutine makes records in.
type lane struct {
	rows []byte
	ends []int
}

// bucket holds the records of the places from first on.
type bucket struct {
	first   uint64
	pending []byte
	kept    [][]byte // put away in memory
	extents []extent // put away in the file
	bytes   int64
}

// extent is a part of the temporary file.
type extent struct{ offset, length int64 }

const (
	// bucketSize is how large a bucket in memory is: its records are ordered in the cache.
	bucketSize = 1 << 20
	// keptSize is how much of it is put away at once, so that little is left unused.
	keptSize = 16 << 10
	// atOnce is the number of records that are made before the memory used is looked at.
	atOnce = 1024
)

// take adds the records of c.
func (a *arranger) take(c *table.Chunk) (err error) {
	if a.kinds, err = kindsOf(c, a.kinds); err != nil {
		return err
	}
	if uint64(c.Rows) > a.n-a.rows {
		return &noren.Error{What: "more records were read than the %d that there is an order for", Args: []any{a.n}}
	}
	if a.lanes == nil {
		a.lanes = make([]lane, workers())
	}
	for i := 0; i < c.Rows; i += atOnce {
		count := min(c.Rows-i, atOnce)
		a.make(c, i, count)
		if a.buckets == nil {
			// The first records tell about how long all will be.
			if err := a.split(a.mean(count)); err != nil {
				return err
			}
		}
		if err := a.add(); err != nil {
			return err
		}
		if err := a.resplit(); err != nil {
			return err
		}
	}
	return nil
}

// make fills the lanes with count records of c, from record i on, on all processors.
func (a *arranger) make(c *table.Chunk, i, count int) {
	share(count, len(a.lanes), func(w, lo, hi int) {
		l := &a.lanes[w]
		l.rows, l.ends = l.rows[:0], l.ends[:0]
		for j := lo; j < hi; j++ {
			l.rows = appendRow(l.rows, c, i+j)
			l.ends = append(l.ends, len(l.rows))
		}
	})
}

// mean is the mean length of the count records in the lanes.
func (a *arranger) mean(count int) float64 {
	length := 0
	for i := range a.lanes {
		length += len(a.lanes[i].rows)
	}
	return float64(length) / float64(max(count, 1))
}

// add puts the records in the lanes into their buckets.
func (a *arranger) add() error {
	for w := range a.lanes {
		l, from := &a.lanes[w], 0
		for _, end := range l.ends {
			if err := a.put(uint64(a.opts.Order[a.rows]), l.rows[from:end]); err != nil {
				return err
			}
			a.rows++
			from = end
		}
	}
	return nil
}

// split makes the buckets for records of that mean length, in memory if they fit.
func (a *arranger) split(mean float64) error {
	if total := mean * float64(a.n); total <= float64(a.opts.Memory) {
		a.cut(uint64(total/bucketSize) + 1)
		a.limit = keptSize
		return nil
	}
	return a.splitFile(mean)
}

// splitFile makes the buckets in a file. Of the memory a half is for the one bucket that is
// read back and a quarter for what is to be written to the others.
func (a *arranger) splitFile(mean float64) (err error) {
	if a.file, err = tempfile.Create(a.opts.Dir); err != nil {
		return err
	}
	const least = 4 << 10 // shorter writes would be slow
	count := uint64(mean*float64(a.n)/float64(a.opts.Memory/2)) + 1
	a.cut(min(count, max(2, uint64(a.opts.Memory/4/least))))
	a.limit = int(min(max(a.opts.Memory/4/int64(len(a.buckets)), least), 1<<20))
	return nil
}

// cut makes count buckets, or one a record.
func (a *arranger) cut(count uint64) {
	a.buckets = make([]bucket, max(1, min(count, a.n)))
	for b := range a.buckets {
		a.buckets[b].first = a.firstOf(uint64(b))
	}
}

// resplit makes other buckets where those in memory no longer do: they take more than is
// allowed, or the records are much longer than the first were.
func (a *arranger) resplit() error {
	if a.file != nil || a.rows == a.n || a.rows == 0 {
		return nil
	}
	mean := float64(a.used) / float64(a.rows)
	full := a.used > a.opts.Memory
	if !full && (uint64(len(a.buckets)) == a.n || mean*float64(a.n) <= 4*bucketSize*float64(len(a.buckets))) {
		return nil
	}
	before := a.buckets
	a.used = 0
	split := a.split
	if full {
		split = a.splitFile
	}
	if err := split(mean); err != nil {
		return err
	}
	for i := range before {
		b := &before[i]
		for _, part := range append(b.kept, b.pending) {
			for len(part) > 0 {
				place, size := binary.Uvarint(part)
				part = part[size:]
				length := rowLen(part, a.kinds)
				if err := a.put(b.first+place, part[:length]); err != nil {
					return err
				}
				part = part[length:]
			}
		}
		b.kept, b.pending = nil, nil
	}
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

// put adds a record to its bucket.
func (a *arranger) put(place uint64, row []byte) error {
	b := &a.buckets[a.bucketOf(place)]
	a.used += int64(len(row))
	if a.file == nil && len(b.pending)+binary.MaxVarintLen64+len(row) > cap(b.pending) {
		if len(b.pending) > 0 {
			b.kept = append(b.kept, b.pending)
		}
		b.pending = make([]byte, 0, max(a.limit, binary.MaxVarintLen64+len(row)))
	}
	before := len(b.pending)
	b.pending = binary.AppendUvarint(b.pending, place-b.first)
	b.pending = append(b.pending, row...)
	b.bytes += int64(len(b.pending) - before)
	if a.file == nil || len(b.pending) < a.limit {
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
		return &noren.Error{
			What: "the temporary file for the order of the records cannot be written",
			Hint: "free space in the folder of the result", Err: err,
		}
	}
	b.extents = append(b.extents, extent{a.size, int64(len(b.pending))})
	a.size += int64(len(b.pending))
	b.pending = b.pending[:0]
	return nil
}

// write writes all records in order.
func (a *arranger) write(ctx context.Context, sink table.Sink) (err error) {
	o := newOut(a.kinds, sink, a.opts.Complete)
	defer func() {
		if e := o.wait(); err == nil {
			err = e
		}
	}()
	if a.file != nil {
		for i := range a.buckets {
			b := &a.buckets[i]
			if err := a.flush(b); err != nil {
				return err
			}
			b.pending = nil
		}
	}
	var data []byte
	for i := range a.buckets {
		// The texts of the last chunk lie in data, which is read into next.
		if err := o.wait(); err != nil {
			return err
		}
		if data, err = a.load(data, i); err != nil {
			return err
		}
		end := a.n
		if i+1 < len(a.buckets) {
			end = a.buckets[i+1].first
		}
		first := a.buckets[i].first
		if err := a.chunks(ctx, o, first, end, func(place uint64) []byte { return data[a.at[place-first]:] }); err != nil {
			return err
		}
	}
	return nil
}

// chunks writes the records of the places from first up to end.
func (a *arranger) chunks(ctx context.Context, o *out, first, end uint64, row func(place uint64) []byte) error {
	for place := first; place < end; place += chunkRows {
		if err := a.pause(ctx, o); err != nil {
			return err
		}
		if err := o.put(int(min(chunkRows, end-place)), func(i int) []byte { return row(place + uint64(i)) }); err != nil {
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
	for _, part := range b.kept {
		rest = rest[copy(rest, part):]
	}
	if a.file == nil {
		copy(rest, b.pending)
	}
	b.kept, b.pending = nil, nil
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
