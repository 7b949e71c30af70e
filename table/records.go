package table

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"io"
	"math"
	"slices"
)

// mostDigests is how many digests of records are held at a time, of 40 bytes each.
const mostDigests = 1 << 21

// SumRecords is the SHA-256 of a table whatever the order of its records, as tables of
// databases have none, and the number of bytes that it covers. These are the canonical form
// of the table:
//
//   - "noren/table/records/1" and a zero byte;
//   - the number of columns, and of each column the length of its name and its name;
//   - of each different record, in the order of the digests: its SHA-256, and in 8 bytes, the
//     most significant first, how many records are the same.
//
// The SHA-256 of a record is over its cells in the order of the columns: a byte 0 for null;
// else a byte 1, the length of the text, and the text (see [AppendText]). Lengths and the
// number of columns are unsigned LEB128. Two tables with other columns, in another order, or
// with other records, of which each counts as often as it is there, have different sums, except
// where SHA-256 has a collision.
//
// A table that is larger than fits into memory is read several times. The sum is as private
// as the table: that of a release may leave with it.
func SumRecords(ctx context.Context, src Source) (sum [SumSize]byte, size int64, err error) {
	return sumRecords(ctx, src, mostDigests)
}

func sumRecords(ctx context.Context, src Source, most int) (sum [SumSize]byte, size int64, err error) {
	h := sha256.New()
	columns := src.Columns()
	head := append([]byte(nil), "noren/table/records/1\x00"...)
	head = binary.AppendUvarint(head, uint64(len(columns)))
	for i := range columns {
		head = appendSized(head, columns[i].Name)
	}
	h.Write(head)
	size = int64(len(head))
	// Of the ranges of digests, each is read on its own once they do not fit together.
	ranges := [][2]uint64{{0, math.MaxUint64}}
	for len(ranges) > 0 {
		within := ranges[0]
		found, fit, err := digests(ctx, src, within, most)
		if err != nil {
			return sum, 0, err
		}
		if !fit {
			middle := within[0] + (within[1]-within[0])/2
			ranges = append([][2]uint64{{within[0], middle}, {middle + 1, within[1]}}, ranges[1:]...)
			continue
		}
		ranges = ranges[1:]
		var buf []byte
		for i := range found {
			buf = binary.BigEndian.AppendUint64(append(buf[:0], found[i].sum[:]...), found[i].n)
			h.Write(buf)
			size += int64(len(buf))
		}
	}
	h.Sum(sum[:0])
	return sum, size, nil
}

// digest is the SHA-256 of a record, and how many records have it.
type digest struct {
	sum [SumSize]byte
	n   uint64
}

func (d *digest) start() uint64 { return binary.BigEndian.Uint64(d.sum[:]) }

// digests are the digests of a table whose first 8 bytes are within a range, sorted, each once.
// fit is false where there are more than are held.
func digests(ctx context.Context, src Source, within [2]uint64, most int) (found []digest, fit bool, err error) {
	r, err := src.Open(ctx, nil)
	if err != nil {
		return nil, false, err
	}
	defer func() { _ = r.Close() }()
	columns := src.Columns()
	var record, text []byte
	for {
		c, err := r.Next()
		if errors.Is(err, io.EOF) {
			return merged(found), true, nil
		}
		if err != nil {
			return nil, false, err
		}
		for i := range c.Rows {
			record = record[:0]
			for j := range c.Cols {
				v := &c.Cols[j]
				if v.IsNull(i) {
					record = append(record, 0)
					continue
				}
				text = AppendText(text[:0], &columns[j], v, i)
				record = appendSized(append(record, 1), text)
			}
			d := digest{sha256.Sum256(record), 1}
			if at := d.start(); at < within[0] || at > within[1] {
				continue
			}
			if len(found) == most {
				found = merged(found)
				if len(found) > most/2 && within[0] < within[1] {
					return nil, false, nil
				}
			}
			found = append(found, d)
		}
	}
}

// merged are digests in their order, with those that are the same as one.
func merged(found []digest) []digest {
	slices.SortFunc(found, func(a, b digest) int { return bytes.Compare(a.sum[:], b.sum[:]) })
	out := found[:0]
	for _, d := range found {
		if n := len(out); n > 0 && out[n-1].sum == d.sum {
			out[n-1].n += d.n
			continue
		}
		out = append(out, d)
	}
	return out
}
