package shards

import (
	"encoding/binary"
	"encoding/hex"
	"math"
	"strings"

	"github.com/noren-privacy/noren"
	"github.com/noren-privacy/noren/table"
)

// printSize is the length of a column print in a block or part, in bytes, and printPrefix
// how it begins as text.
const (
	printSize   = 32
	printPrefix = "hmac-sha256:"
)

// packPrints are the column prints as bytes, in the order of names.
func packPrints(names []string, prints map[string]string) ([]byte, error) {
	var out []byte
	for _, name := range names {
		digits, ok := strings.CutPrefix(prints[name], printPrefix)
		word, err := hex.DecodeString(digits)
		if !ok || err != nil || len(word) != printSize {
			return nil, &noren.Error{Where: noren.Textf("column %s", name), What: "has no print"}
		}
		out = append(out, word...)
	}
	return out, nil
}

// unpackPrints is the reverse of packPrints.
func unpackPrints(names []string, print []byte) map[string]string {
	out := map[string]string{}
	for i, name := range names {
		out[name] = printPrefix + hex.EncodeToString(print[i*printSize:(i+1)*printSize])
	}
	return out
}

// Blocks begin with the bucket, the shard and their number in the shard, 4 bytes each,
// lowest byte first: what a shuffle needs.
const blockHead = 12

// blockRows is the number of records of a block, at most.
const blockRows = 5000

// block is a run of records of one file and one bucket.
type block struct {
	bucket, shard, sequence uint32
	// total is the number of records of the file that are in any block, and print what was
	// read of it.
	total uint64
	print []byte
	rows  int
	body  []byte // the columns, undecoded
}

// appendBlock appends a block of the records at of t.
func appendBlock(dst []byte, b *block, t *table.Table, records []uint32) []byte {
	for _, v := range []uint32{b.bucket, b.shard, b.sequence} {
		dst = binary.LittleEndian.AppendUint32(dst, v)
	}
	dst = binary.LittleEndian.AppendUint64(dst, b.total)
	dst = append(dst, b.print...)
	dst = binary.LittleEndian.AppendUint32(dst, uint32(len(records)))
	dst = appendColumn(dst, t.Unit, records)
	for _, c := range t.Columns {
		dst = appendColumn(dst, c, records)
	}
	return dst
}

// decodeBlock reads the head of a block with n column prints.
func decodeBlock(text []byte, n int) (*block, error) {
	head := blockHead + 8 + n*printSize + 4
	if len(text) < head {
		return nil, badBlock(noren.Textf("it is cut off"))
	}
	b := &block{
		bucket: binary.LittleEndian.Uint32(text), shard: binary.LittleEndian.Uint32(text[4:]),
		sequence: binary.LittleEndian.Uint32(text[8:]),
	}
	b.total = binary.LittleEndian.Uint64(text[blockHead:])
	b.print = text[blockHead+8 : head-4]
	b.rows = int(binary.LittleEndian.Uint32(text[head-4:]))
	b.body = text[head:]
	if b.rows > blockRows || b.total > 1<<40 {
		return nil, badBlock(noren.Textf("it has too many records"))
	}
	return b, nil
}

func badBlock(what noren.Text) error {
	return &noren.Error{Kind: noren.BadData, Where: "block", What: what.Format, Args: what.Args}
}

// appendColumn appends the values of records: a bit for each that has none, and then whole
// numbers and numbers at 8 bytes, or the distinct texts and a code of 4 bytes for each.
func appendColumn(dst []byte, c *table.Column, records []uint32) []byte {
	bitmap := len(dst)
	dst = append(dst, make([]byte, (len(records)+7)/8)...)
	for i, r := range records {
		if c.IsMissing(int(r)) {
			dst[bitmap+i/8] |= 1 << (i % 8)
		}
	}
	switch c.Field.Type { // of no records no slice is there
	case table.Integer, table.Date:
		for _, r := range records {
			dst = binary.LittleEndian.AppendUint64(dst, uint64(c.Ints[r]))
		}
	case table.Decimal:
		for _, r := range records {
			dst = binary.LittleEndian.AppendUint64(dst, math.Float64bits(c.Floats[r]))
		}
	default:
		dst = appendTexts(dst, c, records)
	}
	return dst
}

func appendTexts(dst []byte, c *table.Column, records []uint32) []byte {
	local := map[uint32]uint32{}
	var words []uint32
	codes := make([]uint32, len(records))
	for i, r := range records {
		if c.IsMissing(int(r)) {
			continue
		}
		code, known := local[c.Codes[r]]
		if !known {
			code = uint32(len(words))
			local[c.Codes[r]] = code
			words = append(words, c.Codes[r])
		}
		codes[i] = code
	}
	dst = binary.LittleEndian.AppendUint32(dst, uint32(len(words)))
	for _, w := range words {
		dst = binary.AppendUvarint(dst, uint64(len(c.Dict[w])))
		dst = append(dst, c.Dict[w]...)
	}
	for _, code := range codes {
		dst = binary.LittleEndian.AppendUint32(dst, code)
	}
	return dst
}

// columns appends the records of blocks to tables.
type columns struct {
	fields   []table.Field
	builders []*table.Builder // of the labels, then of the fields
	rows     int
}

func newColumns(unit string, fields []table.Field) (*columns, error) {
	c := &columns{fields: fields}
	for _, f := range append([]table.Field{{Name: unit, Type: table.Category}}, fields...) {
		b, err := table.NewBuilder(f, nil) // what is missing has no text here
		if err != nil {
			return nil, err
		}
		c.builders = append(c.builders, b)
	}
	return c, nil
}

// add appends the records of a block.
func (c *columns) add(b *block) error {
	body := b.body
	var err error
	for i, to := range c.builders {
		kind := table.Category
		if i > 0 {
			kind = c.fields[i-1].Type
		}
		if body, err = addColumn(to, kind, b.rows, body); err != nil {
			return err
		}
	}
	if len(body) > 0 {
		return badBlock(noren.Textf("it has bytes behind its last column"))
	}
	c.rows += b.rows
	return nil
}

// table is all that was added. The columns must not be used after it.
func (c *columns) table() *table.Table {
	t := &table.Table{Rows: c.rows, Unit: c.builders[0].Column()}
	for _, b := range c.builders[1:] {
		t.Columns = append(t.Columns, b.Column())
	}
	return t
}

// addColumn appends rows values of a column and returns what follows them.
func addColumn(to *table.Builder, kind table.Type, rows int, body []byte) ([]byte, error) {
	bitmap := (rows + 7) / 8
	if len(body) < bitmap {
		return nil, badBlock(noren.Textf("a column is cut off"))
	}
	missing, body := body[:bitmap], body[bitmap:]
	isMissing := func(i int) bool { return missing[i/8]>>(i%8)&1 == 1 }
	if kind == table.Category || kind == table.Ordered {
		return addTexts(to, rows, isMissing, body)
	}
	if len(body) < 8*rows {
		return nil, badBlock(noren.Textf("a column is cut off"))
	}
	for i := range rows {
		v := binary.LittleEndian.Uint64(body[8*i:])
		switch {
		case isMissing(i):
			to.AppendMissing()
		case kind == table.Decimal:
			if err := to.AppendFloat(math.Float64frombits(v)); err != nil {
				return nil, badBlock(noren.Textf("a number is not finite"))
			}
		default:
			to.AppendInt(int64(v))
		}
	}
	return body[8*rows:], nil
}

func addTexts(to *table.Builder, rows int, isMissing func(i int) bool, body []byte) ([]byte, error) {
	if len(body) < 4 {
		return nil, badBlock(noren.Textf("a column is cut off"))
	}
	n := int(binary.LittleEndian.Uint32(body))
	body = body[4:]
	if n > rows {
		return nil, badBlock(noren.Textf("it has more texts than records"))
	}
	words := make([][]byte, n)
	for i := range words {
		size, k := binary.Uvarint(body)
		if k <= 0 || size == 0 || size > uint64(len(body)-k) {
			return nil, badBlock(noren.Textf("a text is cut off"))
		}
		words[i], body = body[k:k+int(size)], body[k+int(size):]
	}
	if len(body) < 4*rows {
		return nil, badBlock(noren.Textf("a column is cut off"))
	}
	for i := range rows {
		code := binary.LittleEndian.Uint32(body[4*i:])
		switch {
		case isMissing(i):
			to.AppendMissing()
		case int(code) >= n:
			return nil, badBlock(noren.Textf("a code is not below %d", n))
		default:
			if err := to.Append(words[code]); err != nil {
				return nil, badBlock(noren.Textf("a text is no level of its column"))
			}
		}
	}
	return body[4*rows:], nil
}
