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
