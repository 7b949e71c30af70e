package records

import (
	"context"
	"encoding/binary"
	"slices"

	"github.com/noren-privacy/noren/internal/tempfile"
	"github.com/noren-privacy/noren/table"
)

// Arranged holds the records of a table cell by cell, those of a cell in their
// own order: every record has a place, 0..n-1.
type Arranged struct {
	// Counts is the number of records of each cell.
	Counts []int64

	t     *Table
	start []int64  // place of the first record of each cell, and n
	order []uint32 // in memory: the record of each place

	file  *tempfile.File
	parts []part // by cell
	width int
	end   int64 // of the file
}

// part is a cell in the file: its extents one after the other.
type part struct {
	pending []byte
	extents []extent
}

type extent struct{ offset, length int64 }

// lead is the number of bytes of a record's number.
const lead = 4

// Arrange puts together what belongs together: cellsOf writes the cell of each
// record of a run, below cells. What is arranged must be closed; it needs the
// table no more when that is not in memory.
func (t *Table) Arrange(ctx context.Context, cells int, cellsOf func(columns []*table.Column, out []uint32) error) (_ *Arranged,
	err error,
) {
	a := &Arranged{t: t, Counts: make([]int64, cells), start: make([]int64, cells+1)}
	defer func() {
		if err != nil {
			a.Close()
		}
	}()
	var cell []uint32 // in memory, of each record
	limit := 0
	if !t.InMemory() {
		if a.file, err = tempfile.Create(t.opts.Dir); err != nil {
			return nil, err
		}
		a.parts, a.width = make([]part, cells), lead+t.codec.width
		limit = int(min(max(t.opts.Memory/2/int64(cells), 4<<10), 1<<20))
	} else {
		cell = make([]uint32, 0, t.Rows)
	}
	of := make([]uint32, runRows)
	err = t.runs(ctx, func(r run) error {
		of := of[:r.n]
		if err := cellsOf(r.columns(), of); err != nil {
			return err
		}
		for i, c := range of {
			a.Counts[c]++
			if r.raw == nil {
				continue
			}
			p := &a.parts[c]
			p.pending = binary.LittleEndian.AppendUint32(p.pending, uint32(r.first+i))
			p.pending = append(p.pending, r.raw[i*t.codec.width:(i+1)*t.codec.width]...)
			if len(p.pending) >= limit {
				if err := a.flush(p); err != nil {
					return err
				}
			}
		}
		if r.raw == nil {
			cell = append(cell, of...)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	for c := range a.parts {
		if err := a.flush(&a.parts[c]); err != nil {
			return nil, err
		}
		a.parts[c].pending = nil
	}
	for c, n := range a.Counts {
		a.start[c+1] = a.start[c] + n
	}
	if t.InMemory() {
		a.order = make([]uint32, t.Rows)
		at := slices.Clone(a.start)
		for i, c := range cell {
			a.order[at[c]] = uint32(i)
			at[c]++
		}
	}
	return a, nil
}

func (a *Arranged) flush(p *part) error {
	if len(p.pending) == 0 {
		return nil
	}
	if _, err := a.file.WriteAt(p.pending, a.end); err != nil {
		return writeError(err)
	}
	p.extents = append(p.extents, extent{a.end, int64(len(p.pending))})
	a.end += int64(len(p.pending))
	p.pending = p.pending[:0]
	return nil
}

// Load returns the records of the places from..to-1 and their columns. It may be
// called from several goroutines.
func (a *Arranged) Load(from, to int64) (records []uint32, columns []*table.Column, err error) {
	if a.file == nil {
		records = a.order[from:to]
		return records, a.t.pick(records), nil
	}
	n := int(to - from)
	raw := make([]byte, 0, n*a.width)
	c, found := slices.BinarySearch(a.start, from)
	if !found {
		c--
	}
	for ; from < to; c++ {
		upTo := min(to, a.start[c+1])
		if raw, err = a.read(raw, &a.parts[c], (from-a.start[c])*int64(a.width), (upTo-a.start[c])*int64(a.width)); err != nil {
			return nil, nil, err
		}
		from = upTo
	}
	records = make([]uint32, n)
	for i := range records {
		records[i] = binary.LittleEndian.Uint32(raw[i*a.width:])
	}
	return records, a.t.decode(raw, lead, n), nil
}

// read appends the bytes from..to-1 of a cell.
func (a *Arranged) read(dst []byte, p *part, from, to int64) ([]byte, error) {
	for _, e := range p.extents {
		if to <= 0 {
			break
		}
		if from < e.length {
			at := len(dst)
			lo, hi := max(from, 0), min(to, e.length)
			dst = dst[:at+int(hi-lo)]
			if _, err := a.file.ReadAt(dst[at:], e.offset+lo); err != nil {
				return nil, readError(err)
			}
		}
		from, to = from-e.length, to-e.length
	}
	return dst, nil
}

// Close removes the temporary file, if there is one.
func (a *Arranged) Close() {
	if a.file != nil {
		_ = a.file.Close()
	}
}
