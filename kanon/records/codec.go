package records

import (
	"encoding/binary"
	"math"

	"github.com/noren-privacy/noren"
	"github.com/noren-privacy/noren/internal/atomicfile"
	"github.com/noren-privacy/noren/internal/tempfile"
	"github.com/noren-privacy/noren/table"
)

// Codec writes records in a fixed number of bytes: a bit a column for a missing
// value, then 8 bytes for a number and 4 for a code.
type Codec struct {
	fields []table.Field
	mask   int // bytes of bits
	width  int
}

// NewCodec writes records of columns of these fields.
func NewCodec(fields []table.Field) *Codec {
	c := &Codec{fields: fields, mask: (len(fields) + 7) / 8}
	c.width = c.mask
	for j := range fields {
		c.width += c.size(j)
	}
	return c
}

func (c *Codec) size(j int) int {
	if c.fields[j].Type.IsNumber() {
		return 8
	}
	return 4
}

// Width is the number of bytes of a record.
func (c *Codec) Width() int { return c.width }

// Put appends record i.
func (c *Codec) Put(dst []byte, columns []*table.Column, i int) []byte {
	at := len(dst)
	for range c.mask {
		dst = append(dst, 0)
	}
	for j, col := range columns {
		if col.IsMissing(i) {
			dst[at+j/8] |= 1 << (j % 8)
		}
		switch {
		case col.Ints != nil:
			dst = binary.LittleEndian.AppendUint64(dst, uint64(col.Ints[i]))
		case col.Floats != nil:
			dst = binary.LittleEndian.AppendUint64(dst, math.Float64bits(col.Floats[i]))
		default:
			dst = binary.LittleEndian.AppendUint32(dst, col.Codes[i])
		}
	}
	return dst
}

// Holds reports whether a row is a record of the columns: its codes are of their
// dictionaries, and its numbers finite.
func (c *Codec) Holds(row []byte, columns []*table.Column) bool {
	at := c.mask
	for j, col := range columns {
		missing := row[j/8]&(1<<(j%8)) != 0
		switch {
		case missing:
		case c.size(j) == 4:
			if uint64(binary.LittleEndian.Uint32(row[at:])) >= uint64(len(col.Dict)) {
				return false
			}
		case c.fields[j].Type == table.Decimal:
			if v := math.Float64frombits(binary.LittleEndian.Uint64(row[at:])); math.IsNaN(v) || math.IsInf(v, 0) {
				return false
			}
		}
		at += c.size(j)
	}
	return true
}

// Get makes the record that row begins with record i of the columns; ranks, by
// column, are what its codes stand for, nil where they are the columns' own.
func (c *Codec) Get(row []byte, columns []*table.Column, i int, ranks [][]uint32) {
	at := c.mask
	for j, col := range columns {
		missing := row[j/8]&(1<<(j%8)) != 0
		if missing {
			col.SetMissing(i)
		}
		switch {
		case missing:
		case col.Ints != nil:
			col.Ints[i] = int64(binary.LittleEndian.Uint64(row[at:]))
		case col.Floats != nil:
			col.Floats[i] = math.Float64frombits(binary.LittleEndian.Uint64(row[at:]))
		case ranks != nil && ranks[j] != nil:
			col.Codes[i] = ranks[j][binary.LittleEndian.Uint32(row[at:])]
		default:
			col.Codes[i] = binary.LittleEndian.Uint32(row[at:])
		}
		at += c.size(j)
	}
}

// appender writes records one after the other.
type appender struct {
	to     *tempfile.File
	size   int64
	buffer []byte
}

const appendAt = 1 << 20

func (w *appender) rows(c *Codec, columns []*table.Column) error {
	for i := range columns[0].Len() {
		w.buffer = c.Put(w.buffer, columns, i)
		if len(w.buffer) >= appendAt {
			if err := w.flush(); err != nil {
				return err
			}
		}
	}
	return nil
}

func (w *appender) flush() error {
	if _, err := w.to.WriteAt(w.buffer, w.size); err != nil {
		return writeError(err)
	}
	w.size += int64(len(w.buffer))
	w.buffer = w.buffer[:0]
	return nil
}

func writeError(err error) error {
	return &noren.Error{
		Code: "temporary-file", What: "the temporary file for the records cannot be written",
		Hint: "free space in the folder of the result, or allow more memory", Err: atomicfile.Reason(err),
	}
}

func readError(err error) error {
	return &noren.Error{What: "the temporary file for the records cannot be read back", Err: atomicfile.Reason(err)}
}
