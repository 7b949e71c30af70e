package parquetio

import (
	"encoding/base64"
	"encoding/binary"
	"errors"

	flatbuffers "github.com/google/flatbuffers/go"
	"github.com/parquet-go/parquet-go"

	"github.com/noren-privacy/noren/table"
)

// arrowKey is the key of the Arrow schema in a file's metadata: an encapsulated
// message of Arrow's interprocess format in base64. It holds what Parquet's own
// types do not say: zones of timestamps, durations, dictionaries, large texts.
const arrowKey = "ARROW:schema"

// Bounds of an Arrow schema; one beyond them is not used. Parts of a message can
// be shared, so that a short one can describe very many fields.
const (
	arrowDepth     = 64
	arrowSize      = 1 << 20 // bytes of names, and arrowFieldSize for every field
	arrowFieldSize = 64
)

// Numbers of Arrow's Schema.fbs.
const (
	arrowVersion5 = 4
	arrowSchema   = 1 // header of a message

	arrowInt       = 2
	arrowFloat     = 3
	arrowUtf8      = 5
	arrowBool      = 6
	arrowTimestamp = 10
)

// arrowField is a column in an Arrow schema, without the notes that tools
// attach: polars writes the categories of an Enum there.
type arrowField struct {
	name     string
	nullable bool
	kind     byte
	// params are the scalars of the type, and zone the zone of a timestamp.
	params     []int64
	zone       string
	dictionary *arrowDictionary
	children   []*arrowField
}

type arrowDictionary struct {
	bits    int64
	signed  bool
	ordered bool
}

// param is a scalar of a type: its size in bytes and what it is when left out.
type param struct {
	size     int
	standard int64
}

// arrowTypes are the types and their scalars, by the number of the type. The
// zone of a timestamp is its second entry and is not listed.
var arrowTypes = map[byte][]param{
	1: {}, arrowInt: {{4, 0}, {1, 0}}, arrowFloat: {{2, 0}}, 4: {}, arrowUtf8: {}, arrowBool: {},
	7: {{4, 0}, {4, 0}, {4, 128}}, // decimal: digits, places, bits
	8: {{2, 1}}, 9: {{2, 1}, {4, 32}}, arrowTimestamp: {{2, 0}},
	12: {}, 13: {}, // list, struct
	15: {{4, 0}}, 16: {{4, 0}}, 17: {{1, 0}}, 18: {{2, 1}}, // fixed sizes, map, duration
	19: {}, 20: {}, 21: {}, 23: {}, 24: {}, 25: {}, 26: {}, // large types and views
}

var errArrow = errors.New("no Arrow schema that is known")

// parseArrowSchema reads the columns of an Arrow schema.
func parseArrowSchema(text string) (fields []*arrowField, err error) {
	b, err := base64.StdEncoding.DecodeString(text)
	if err != nil || len(b) < 12 {
		return nil, errArrow
	}
	if binary.LittleEndian.Uint32(b) == 0xFFFFFFFF {
		b = b[4:]
	}
	size := binary.LittleEndian.Uint32(b)
	b = b[4:]
	if size < 8 || uint64(size) > uint64(len(b)) {
		return nil, errArrow
	}
	b = b[:size]
	err = guard(func() error {
		message := rootTable(b)
		if slotScalar(message, 1, 1, 0) != arrowSchema {
			return errArrow
		}
		schema, ok := slotTable(message, 2)
		if !ok || slotScalar(schema, 0, 2, 0) != 0 { // little-endian
			return errArrow
		}
		left := arrowSize
		fields, err = slotFields(schema, 1, 0, &left)
		return err
	})
	return fields, err
}

func slotFields(t flatbuffers.Table, slot, depth int, left *int) ([]*arrowField, error) {
	o := flatbuffers.UOffsetT(t.Offset(vtable(slot)))
	if o == 0 {
		return nil, nil
	}
	n := t.VectorLen(o)
	if depth > arrowDepth || n > *left/arrowFieldSize {
		return nil, errArrow
	}
	if n == 0 {
		return nil, nil
	}
	*left -= n * arrowFieldSize
	fields := make([]*arrowField, 0, n)
	for i := range n {
		f, err := readField(flatbuffers.Table{Bytes: t.Bytes, Pos: t.Indirect(t.Vector(o) + flatbuffers.UOffsetT(4*i))}, depth, left)
		if err != nil && depth > 0 {
			return nil, err
		}
		fields = append(fields, f)
	}
	return fields, nil
}

// readField reads a column; one of a type that is not known is nil in the schema
// and an error within another column.
func readField(t flatbuffers.Table, depth int, left *int) (*arrowField, error) {
	f := &arrowField{name: slotString(t, 0), nullable: slotScalar(t, 1, 1, 0) != 0, kind: byte(slotScalar(t, 2, 1, 0))}
	*left -= len(f.name)
	if *left < 0 {
		return nil, errArrow
	}
	params, known := arrowTypes[f.kind]
	kind, ok := slotTable(t, 3)
	if !known || !ok {
		return nil, errArrow
	}
	for i, p := range params {
		f.params = append(f.params, slotScalar(kind, i, p.size, p.standard))
	}
	if f.kind == arrowTimestamp {
		f.zone = slotString(kind, 1)
		*left -= len(f.zone)
		if *left < 0 {
			return nil, errArrow
		}
	}
	if d, ok := slotTable(t, 4); ok {
		f.dictionary = &arrowDictionary{bits: 32, signed: true, ordered: slotScalar(d, 2, 1, 0) != 0}
		if index, ok := slotTable(d, 1); ok {
			f.dictionary.bits, f.dictionary.signed = slotScalar(index, 0, 4, 0), slotScalar(index, 1, 1, 0) != 0
		}
	}
	var err error
	if f.children, err = slotFields(t, 5, depth+1, left); err != nil {
		return nil, err
	}
	return f, nil
}

func vtable(slot int) flatbuffers.VOffsetT { return flatbuffers.VOffsetT(4 + 2*slot) }

func rootTable(b []byte) flatbuffers.Table {
	return flatbuffers.Table{Bytes: b, Pos: flatbuffers.GetUOffsetT(b)}
}

func slotTable(t flatbuffers.Table, slot int) (flatbuffers.Table, bool) {
	o := flatbuffers.UOffsetT(t.Offset(vtable(slot)))
	if o == 0 {
		return flatbuffers.Table{}, false
	}
	return flatbuffers.Table{Bytes: t.Bytes, Pos: t.Indirect(t.Pos + o)}, true
}

func slotString(t flatbuffers.Table, slot int) string {
	o := flatbuffers.UOffsetT(t.Offset(vtable(slot)))
	if o == 0 {
		return ""
	}
	return string(t.ByteVector(t.Pos + o))
}

func slotScalar(t flatbuffers.Table, slot, size int, standard int64) int64 {
	o := flatbuffers.UOffsetT(t.Offset(vtable(slot)))
	if o == 0 {
		return standard
	}
	switch at := t.Pos + o; size {
	case 1:
		return int64(t.GetUint8(at))
	case 2:
		return int64(t.GetInt16(at))
	default:
		return int64(t.GetInt32(at))
	}
}

// formatArrowSchema is the Arrow schema of a table whose columns partly come from
// files that had one; empty when none did, or when a column has no type in it
// that is sure.
func formatArrowSchema(columns []table.StoredColumn, origins []*origin) string {
	found := false
	fields := make([]*arrowField, len(columns))
	for i, o := range origins {
		f := o.arrow
		if f == nil {
			f = plainField(o)
			if f == nil {
				return ""
			}
		} else {
			found = true
		}
		named := *f
		named.name, named.nullable = columns[i].Name, columns[i].Nullable
		fields[i] = &named
	}
	if !found {
		return ""
	}
	b := flatbuffers.NewBuilder(1024)
	list := addFields(b, fields)
	b.StartObject(4) // Schema
	b.PrependUOffsetTSlot(1, list, 0)
	schema := b.EndObject()
	b.StartObject(5) // Message
	b.PrependUOffsetTSlot(2, schema, 0)
	b.PrependInt16Slot(0, arrowVersion5, 0)
	b.PrependByteSlot(1, arrowSchema, 0)
	b.Finish(b.EndObject())
	message := b.FinishedBytes()
	size := (len(message) + 7) / 8 * 8
	out := binary.LittleEndian.AppendUint32(nil, 0xFFFFFFFF)
	out = binary.LittleEndian.AppendUint32(out, uint32(size))
	out = append(out, message...)
	out = append(out, make([]byte, size-len(message))...)
	return base64.StdEncoding.EncodeToString(out)
}

// plainField is the Arrow type of a column that a release made.
func plainField(o *origin) *arrowField {
	t := o.node.Type()
	if o.nested != nil || t == nil {
		return nil
	}
	logical := t.LogicalType()
	if a, ok := t.(annotated); ok {
		logical = a.logical
	}
	switch {
	case logical != nil && logical.Value != nil && logical.String() == "STRING":
		return &arrowField{kind: arrowUtf8}
	case logical != nil && logical.Value != nil:
		return nil
	case t.Kind() == parquet.Boolean:
		return &arrowField{kind: arrowBool}
	case t.Kind() == parquet.Int32:
		return &arrowField{kind: arrowInt, params: []int64{32, 1}}
	case t.Kind() == parquet.Int64:
		return &arrowField{kind: arrowInt, params: []int64{64, 1}}
	case t.Kind() == parquet.Float:
		return &arrowField{kind: arrowFloat, params: []int64{1}}
	case t.Kind() == parquet.Double:
		return &arrowField{kind: arrowFloat, params: []int64{2}}
	}
	return nil
}

func addFields(b *flatbuffers.Builder, fields []*arrowField) flatbuffers.UOffsetT {
	at := make([]flatbuffers.UOffsetT, len(fields))
	for i, f := range fields {
		at[i] = addField(b, f)
	}
	b.StartVector(4, len(at), 4)
	for i := len(at) - 1; i >= 0; i-- {
		b.PrependUOffsetT(at[i])
	}
	return b.EndVector(len(at))
}

func addField(b *flatbuffers.Builder, f *arrowField) flatbuffers.UOffsetT {
	children := addFields(b, f.children)
	name := b.CreateString(f.name)
	var zone flatbuffers.UOffsetT
	if f.zone != "" {
		zone = b.CreateString(f.zone)
	}
	params := arrowTypes[f.kind]
	b.StartObject(max(len(params), 2))
	for i, p := range params {
		switch p.size {
		case 1:
			b.PrependByteSlot(i, byte(f.params[i]), byte(p.standard))
		case 2:
			b.PrependInt16Slot(i, int16(f.params[i]), int16(p.standard))
		default:
			b.PrependInt32Slot(i, int32(f.params[i]), int32(p.standard))
		}
	}
	if zone != 0 {
		b.PrependUOffsetTSlot(1, zone, 0)
	}
	kind := b.EndObject()
	var dictionary flatbuffers.UOffsetT
	if d := f.dictionary; d != nil {
		b.StartObject(2)
		b.PrependInt32Slot(0, int32(d.bits), 0)
		b.PrependBoolSlot(1, d.signed, false)
		index := b.EndObject()
		b.StartObject(4)
		b.PrependUOffsetTSlot(1, index, 0)
		b.PrependBoolSlot(2, d.ordered, false)
		dictionary = b.EndObject()
	}
	b.StartObject(7)
	b.PrependUOffsetTSlot(0, name, 0)
	b.PrependBoolSlot(1, f.nullable, false)
	b.PrependByteSlot(2, f.kind, 0)
	b.PrependUOffsetTSlot(3, kind, 0)
	b.PrependUOffsetTSlot(4, dictionary, 0)
	b.PrependUOffsetTSlot(5, children, 0)
	return b.EndObject()
}
