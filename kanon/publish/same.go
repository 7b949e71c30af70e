package publish

import (
	"encoding/binary"
	"slices"

	"github.com/noren-privacy/noren/table"
)

// Same lists the groups that show the same values in all columns, where several
// do: in the released file they are one class. A value is compared by its text,
// a missing one is the same as no other text.
func Same(columns []Column, groups int) [][]uint32 {
	classes := map[string][]uint32{}
	var v table.Vector
	var key, text []byte
	for g := range groups {
		key = key[:0]
		for c := range columns {
			columns[c].Fill(&v, []uint32{uint32(g)})
			if v.IsNull(0) {
				key = append(key, 0)
				continue
			}
			text = table.AppendText(text[:0], &columns[c].Stored, &v, 0)
			key = binary.AppendUvarint(key, uint64(len(text))+1)
			key = append(key, text...)
		}
		classes[string(key)] = append(classes[string(key)], uint32(g))
	}
	var out [][]uint32
	for _, of := range classes {
		if len(of) > 1 {
			out = append(out, of)
		}
	}
	slices.SortFunc(out, func(a, b []uint32) int { return int(a[0]) - int(b[0]) })
	return out
}
