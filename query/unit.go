package query

import (
	"bytes"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"math"
	"slices"

	"github.com/noren-privacy/noren/internal/identity"
	"github.com/noren-privacy/noren/table"
)

// checkEvery is how many records pass between two looks at the context.
const checkEvery = 1 << 16

// contributors returns the code of the label of every record, from 0, and -1
// where the record has none. Labels are the texts of [table.Table.Unit]: equal
// codes are equal bytes, whatever type a question gives the column.
func contributors(unit *table.Column) []int32 {
	of := make([]int32, unit.Len())
	for i, code := range unit.Codes {
		of[i] = int32(code)
		if unit.IsMissing(i) {
			of[i] = -1
		}
	}
	return of
}

// boundRows is [boundRows] for the query. The records that count follow from the version of
// the table, the columns that are read, the unit, the bound and the key: queries that share
// them share the result, where the table keeps it ([table.Memo]).
func (q *Query) boundRows(ctx context.Context, t *table.Table, columns []*table.Column, unit *table.Column) ([]bool, error) {
	pick := func() ([]bool, error) { return boundRows(ctx, t, columns, unit, q.o.MaxRows, q.o.Key) }
	if t.Memo == nil {
		return pick()
	}
	id, err := q.rowsIdentity(columns, unit)
	if err != nil {
		return pick()
	}
	if kept, ok := t.Memo.Get(id); ok {
		if keep, ok := kept.([]bool); ok && len(keep) == t.Rows {
			return keep, nil
		}
	}
	keep, err := pick()
	if err == nil {
		t.Memo.Put(id, keep, int64(len(keep)))
	}
	return keep, err
}

// rowsIdentity names the records that count, among all that is kept of one table.
func (q *Query) rowsIdentity(columns []*table.Column, unit *table.Column) (string, error) {
	type field struct {
		Name   string       `json:"name"`
		Type   string       `json:"type"`
		Layout table.Layout `json:"layout"`
		Levels []string     `json:"levels"`
	}
	fields := make([]field, len(columns))
	for i, c := range columns {
		f := &c.Field
		fields[i] = field{f.Name, f.Type.String(), f.Layout, f.Levels}
	}
	id, err := identity.Of("noren.query.rows/1", struct {
		Unit    string  `json:"unit"`
		MaxRows int64   `json:"max_rows"`
		Key     string  `json:"key"`
		Fields  []field `json:"fields"`
	}{unit.Field.Name, q.o.MaxRows, hex.EncodeToString(q.o.Key), fields})
	return id.String(), err
}

// boundRows selects the records that count: at most most of each label of unit,
// and no record without a label. Of a contributor with more, those count
// whose contents (the columns that the query reads) have the least HMAC-SHA256
// under key. Which they are depends on that contributor's records alone, and not
// on their order: two records with the same HMAC are the same to the query. Hence
// one unit more or less changes at most most of the records that count, all its
// own.
func boundRows(ctx context.Context, t *table.Table, columns []*table.Column, unit *table.Column, most int64, key []byte) ([]bool, error) {
	of := contributors(unit)
	count := make([]int64, len(unit.Dict))
	keep := make([]bool, t.Rows)
	for i, who := range of {
		if who >= 0 {
			count[who]++
			keep[i] = true
		}
	}
	type tagged struct {
		tag [sha256.Size]byte
		row int
	}
	over := map[int32][]tagged{}
	mac, content := hmac.New(sha256.New, key), []byte(nil)
	for i, who := range of {
		if i%checkEvery == 0 && ctx.Err() != nil {
			return nil, ctx.Err()
		}
		if who < 0 || count[who] <= most {
			continue
		}
		content = content[:0]
		for _, c := range columns {
			content = appendContent(content, c, i)
		}
		mac.Reset()
		mac.Write(content)
		var r tagged
		mac.Sum(r.tag[:0])
		r.row = i
		over[who] = append(over[who], r)
	}
	for _, rows := range over {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		slices.SortFunc(rows, func(a, b tagged) int { return bytes.Compare(a.tag[:], b.tag[:]) })
		for _, r := range rows[most:] {
			keep[r.row] = false
		}
	}
	return keep, nil
}

// appendContent appends the value of record i so that different values, and
// different rows of values, have different bytes. A text is written as such: its
// code depends on what others have.
func appendContent(dst []byte, c *table.Column, i int) []byte {
	switch {
	case c.IsMissing(i):
		return append(dst, 0)
	case c.Codes != nil:
		text := c.Dict[c.Codes[i]]
		dst = binary.BigEndian.AppendUint64(append(dst, 1), uint64(len(text)))
		return append(dst, text...)
	case c.Ints != nil:
		return binary.BigEndian.AppendUint64(append(dst, 2), uint64(c.Ints[i]))
	default:
		return binary.BigEndian.AppendUint64(append(dst, 3), math.Float64bits(c.Floats[i]+0)) // -0 is 0
	}
}
