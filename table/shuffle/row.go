package shuffle

import (
	"encoding/binary"
	"math"

	"github.com/noren-privacy/noren"
	"github.com/noren-privacy/noren/table"
)

// A record is kept as its values one after the other: a byte that is 1 for a
// null and 0 for a value, then 8 bytes for a number or the length and the bytes
// of a text.

// appendRow appends record i of c.
func appendRow(dst []byte, c *table.Chunk, i int) []byte {
	for j := range c.Cols {
		v := &c.Cols[j]
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
			dst = binary.AppendUvarint(dst, uint64(len(v.Texts[i])))
			dst = append(dst, v.Texts[i]...)
		}
	}
	return dst
}

// rowLen is the length of the record that row begins with.
func rowLen(row []byte, kinds []table.Kind) int {
	at := 0
	for _, k := range kinds {
		null := row[at] == 1
		at++
		switch {
		case null:
		case k == table.Text:
			n, size := binary.Uvarint(row[at:])
			at += size + int(n)
		default:
			at += 8
		}
	}
	return at
}

// out collects records for a sink.
type out struct {
	kinds []table.Kind
	chunk table.Chunk
	nulls [][]bool
	rows  int64 // written
	sink  table.Sink
}

func newOut(kinds []table.Kind, sink table.Sink) *out {
	return &out{kinds: kinds, chunk: table.Chunk{Cols: make([]table.Vector, len(kinds))}, nulls: make([][]bool, len(kinds)), sink: sink}
}

// add takes the record that row begins with. Its texts are used until the
// chunk is written.
func (o *out) add(row []byte) error {
	at := 0
	for j, k := range o.kinds {
		v := &o.chunk.Cols[j]
		v.Kind = k
		null := row[at] == 1
		at++
		o.nulls[j] = append(o.nulls[j], null)
		if null {
			v.Null = o.nulls[j] // marks the chunk as one with nulls
		}
		switch k {
		case table.Int, table.Float:
			bits := uint64(0)
			if !null {
				bits = binary.LittleEndian.Uint64(row[at:])
				at += 8
			}
			if k == table.Int {
				v.Ints = append(v.Ints, int64(bits))
			} else {
				v.Floats = append(v.Floats, math.Float64frombits(bits))
			}
		default:
			var text []byte
			if !null {
				n, size := binary.Uvarint(row[at:])
				at += size
				text = row[at : at+int(n) : at+int(n)]
				at += int(n)
			}
			v.Texts = append(v.Texts, text)
		}
	}
	if o.chunk.Rows++; o.chunk.Rows == chunkRows {
		return o.flush()
	}
	return nil
}

func (o *out) flush() error {
	if o.chunk.Rows == 0 {
		return nil
	}
	for j := range o.chunk.Cols {
		if v := &o.chunk.Cols[j]; v.Null != nil {
			v.Null = o.nulls[j]
		}
	}
	o.chunk.First = o.rows
	if err := o.sink.Write(&o.chunk); err != nil {
		return err
	}
	o.rows += int64(o.chunk.Rows)
	o.chunk.Rows = 0
	for j := range o.chunk.Cols {
		v := &o.chunk.Cols[j]
		v.Ints, v.Floats, v.Texts, v.Null = v.Ints[:0], v.Floats[:0], v.Texts[:0], nil
		o.nulls[j] = o.nulls[j][:0]
	}
	return nil
}

// kindsOf are the kinds of a chunk's columns, which must be those before.
func kindsOf(c *table.Chunk, before []table.Kind) ([]table.Kind, error) {
	if before == nil {
		kinds := make([]table.Kind, len(c.Cols))
		for j := range c.Cols {
			kinds[j] = c.Cols[j].Kind
		}
		return kinds, nil
	}
	if len(before) != len(c.Cols) {
		return nil, &noren.Error{What: "a chunk has another number of columns than those before"}
	}
	for j := range c.Cols {
		if c.Cols[j].Kind != before[j] {
			return nil, &noren.Error{What: "a column changes its kind from chunk to chunk"}
		}
	}
	return before, nil
}
