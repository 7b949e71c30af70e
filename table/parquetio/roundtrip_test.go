package parquetio

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/deprecated"
	"github.com/parquet-go/parquet-go/format"
	"pgregory.net/rapid"

	"github.com/noren-privacy/noren"
	"github.com/noren-privacy/noren/table"
)

// types are leaves of every type that a flat column can have.
var types = []struct {
	name string
	node parquet.Node
}{
	{"boolean", parquet.Leaf(parquet.BooleanType)},
	{"int32", parquet.Leaf(parquet.Int32Type)},
	{"int64", parquet.Leaf(parquet.Int64Type)},
	{"int96", parquet.Leaf(parquet.Int96Type)},
	{"float", parquet.Leaf(parquet.FloatType)},
	{"double", parquet.Leaf(parquet.DoubleType)},
	{"bytes", parquet.Leaf(parquet.ByteArrayType)},
	{"fixed", parquet.Leaf(parquet.FixedLenByteArrayType(5))},
	{"string", parquet.String()},
	{"enum", parquet.Enum()},
	{"json", parquet.JSON()},
	{"bson", parquet.BSON()},
	{"uuid", parquet.UUID()},
	{"int8", parquet.Int(8)},
	{"int16", parquet.Int(16)},
	{"uint8", parquet.Uint(8)},
	{"uint32", parquet.Uint(32)},
	{"uint64", parquet.Uint(64)},
	{"decimal32", parquet.Decimal(2, 9, parquet.Int32Type)},
	{"decimal64", parquet.Decimal(3, 18, parquet.Int64Type)},
	{"decimal fixed", parquet.Decimal(4, 38, parquet.FixedLenByteArrayType(16))},
	{"decimal bytes", parquet.Decimal(4, 38, parquet.ByteArrayType)},
	{"date", parquet.Date()},
	{"time ms", parquet.Time(parquet.Millisecond)},
	{"time us", parquet.Time(parquet.Microsecond)},
	{"timestamp ms", parquet.Timestamp(parquet.Millisecond)},
	{"timestamp us", parquet.Timestamp(parquet.Microsecond)},
	{"timestamp ns", parquet.TimestampAdjusted(parquet.Nanosecond, false)},
	{"interval", parquet.IntervalNode()},
	{"float16", parquet.Leaf(annotated{Type: parquet.FixedLenByteArrayType(2), logical: &format.LogicalType{Value: new(format.Float16Type)}})},
	{"zstd, string", parquet.Compressed(parquet.String(), &parquet.Zstd)},
	{"gzip", parquet.Compressed(parquet.Leaf(parquet.Int64Type), &parquet.Gzip)},
	{"undescribed int64", parquet.Leaf(annotated{Type: parquet.Int64Type})},
	{"string of an old writer", parquet.Leaf(annotated{Type: parquet.String().Type(), converted: ptr(deprecated.UTF8)})},
	{"timestamp of an old writer", parquet.Leaf(annotated{Type: parquet.Int64Type, converted: ptr(deprecated.TimestampMicros)})},
	{"uncompressed", parquet.Compressed(parquet.Leaf(parquet.Int64Type), &parquet.Uncompressed)},
}

func ptr[T any](v T) *T { return &v }

func drawValue(t *rapid.T, typ parquet.Type) parquet.Value {
	switch typ.Kind() {
	case parquet.Boolean:
		return parquet.BooleanValue(rapid.Bool().Draw(t, "v"))
	case parquet.Int32:
		return parquet.Int32Value(rapid.Int32().Draw(t, "v"))
	case parquet.Int64:
		return parquet.Int64Value(rapid.Int64().Draw(t, "v"))
	case parquet.Int96:
		return parquet.Int96Value(deprecated.Int96{rapid.Uint32().Draw(t, "v"), rapid.Uint32().Draw(t, "v"), rapid.Uint32().Draw(t, "v")})
	case parquet.Float:
		if rapid.Bool().Draw(t, "odd") {
			return parquet.FloatValue(rapid.SampledFrom([]float32{
				float32(math.NaN()), float32(math.Inf(1)), float32(math.Copysign(0, -1)),
				math.SmallestNonzeroFloat32,
			}).Draw(t, "v"))
		}
		return parquet.FloatValue(rapid.Float32().Draw(t, "v"))
	case parquet.Double:
		if rapid.Bool().Draw(t, "odd") {
			return parquet.DoubleValue(rapid.SampledFrom([]float64{math.NaN(), math.Inf(-1), math.Copysign(0, -1), math.SmallestNonzeroFloat64}).
				Draw(t, "v"))
		}
		return parquet.DoubleValue(rapid.Float64().Draw(t, "v"))
	case parquet.FixedLenByteArray:
		return parquet.FixedLenByteArrayValue(rapid.SliceOfN(rapid.Byte(), typ.Length(), typ.Length()).Draw(t, "v"))
	}
	return parquet.ByteArrayValue(rapid.SliceOf(rapid.Byte()).Draw(t, "v"))
}

// rawFile writes a file by the library alone.
func rawFile(path string, fields []parquet.Field, columns [][]parquet.Value, groupAt int, options ...parquet.WriterOption) (err error) {
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	options = append(options, parquet.NewSchema("schema", &group{fields: fields}), parquet.KeyValueMetadata("pandas", "secret"))
	w := parquet.NewGenericWriter[any](f, options...)
	for i, values := range columns {
		if _, err := w.ColumnWriters()[i].WriteRowValues(values[:groupAt]); err != nil {
			return err
		}
	}
	if err := w.Flush(); err != nil {
		return err
	}
	for i, values := range columns {
		if _, err := w.ColumnWriters()[i].WriteRowValues(values[groupAt:]); err != nil {
			return err
		}
	}
	return w.Close()
}

// rawRead reads a file by the library alone.
func rawRead(path string) (schema []format.SchemaElement, meta *format.FileMetaData, columns [][]parquet.Value, err error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, nil, nil, err
	}
	f, err := parquet.OpenFile(bytes.NewReader(data), int64(len(data)))
	if err != nil {
		return nil, nil, nil, err
	}
	columns = make([][]parquet.Value, len(f.Schema().Columns()))
	for _, g := range f.RowGroups() {
		for i, c := range g.ColumnChunks() {
			pages := c.Pages()
			for {
				p, err := pages.ReadPage()
				if err == io.EOF {
					break
				}
				if err != nil {
					return nil, nil, nil, err
				}
				values := make([]parquet.Value, p.NumValues())
				if n, err := p.Values().ReadValues(values); n != len(values) || err != nil && err != io.EOF {
					return nil, nil, nil, errors.New("short page")
				}
				for _, v := range values {
					columns[i] = append(columns[i], v.Clone())
				}
			}
			if err := pages.Close(); err != nil {
				return nil, nil, nil, err
			}
		}
	}
	return f.Metadata().Schema, f.Metadata(), columns, nil
}

// copyTable reads a table and writes it, in chunks as they come.
func copyTable(from, to string) (err error) {
	src, err := Open(from, Options{})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, src.Close()) }()
	r, err := src.Open(context.Background(), nil)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, r.Close()) }()
	out, err := Create(to, src.Columns())
	if err != nil {
		return err
	}
	for {
		c, err := r.Next()
		if err == io.EOF {
			return out.Close()
		}
		if err == nil {
			err = out.Write(c)
		}
		if err != nil {
			out.Abort()
			return err
		}
	}
}

// An untouched column comes out with the type and the values that it came in
// with, as the library alone tells them.
func TestUntouched(t *testing.T) {
	dir := t.TempDir()
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(0, 50).Draw(t, "records")
		var fields []parquet.Field
		var columns [][]parquet.Value
		for i, c := range types {
			node, optional := c.node, rapid.Bool().Draw(t, "optional")
			if rapid.Bool().Draw(t, "dictionary") && node.Type().Kind() != parquet.Boolean {
				node = parquet.Encoded(node, &parquet.RLEDictionary)
			}
			if optional {
				node = parquet.Optional(node)
			}
			if rapid.Bool().Draw(t, "id") {
				node = parquet.FieldID(node, 100+i)
			}
			fields = append(fields, field{node, c.name})
			values := make([]parquet.Value, n)
			for j := range values {
				if optional && rapid.Bool().Draw(t, "null") {
					values[j] = parquet.NullValue().Level(0, 0, i)
					continue
				}
				level := 0
				if optional {
					level = 1
				}
				values[j] = drawValue(t, c.node.Type()).Level(0, level, i)
			}
			columns = append(columns, values)
		}
		version := rapid.SampledFrom([]int{1, 2}).Draw(t, "page version")
		from, to := filepath.Join(dir, "from"), filepath.Join(dir, "to")
		defer func() { _ = os.Remove(to) }()
		if err := rawFile(from, fields, columns, rapid.IntRange(0, n).Draw(t, "group"), parquet.DataPageVersion(version)); err != nil {
			t.Fatal(err)
		}
		if err := copyTable(from, to); err != nil {
			t.Fatal(err)
		}
		before, metaBefore, _, err := rawRead(from)
		if err != nil {
			t.Fatal(err)
		}
		after, meta, got, err := rawRead(to)
		if err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff(before[1:], after[1:]); d != "" {
			t.Fatal("schema (-before +after)", d)
		}
		if len(meta.KeyValueMetadata) != 0 {
			t.Fatal("key-value metadata came along")
		}
		for i, values := range columns {
			if !slices.EqualFunc(values, got[i], same) {
				t.Fatalf("%s: got %v, want %v", types[i].name, got[i], values)
			}
			if n > 0 {
				if a, b := metaBefore.RowGroups[0].Columns[i].MetaData.Codec, meta.RowGroups[0].Columns[i].MetaData.Codec; a != b {
					t.Fatalf("%s: compressed by %v, was %v", types[i].name, b, a)
				}
			}
		}
	})
}

// same tells not-a-numbers to be equal and zeros of different sign not to be.
func same(a, b parquet.Value) bool {
	if a.Kind() == b.Kind() && !a.IsNull() && !b.IsNull() {
		switch a.Kind() {
		case parquet.Double:
			return math.Float64bits(a.Double()) == math.Float64bits(b.Double())
		case parquet.Float:
			return math.Float32bits(a.Float()) == math.Float32bits(b.Float())
		}
	}
	return parquet.DeepEqual(a, b)
}

// Tables of no file: text, integers and floats, with and without nulls, longer
// than a chunk and a row group.
func TestMade(t *testing.T) {
	columns := []table.StoredColumn{
		{Name: "b, with a comma.and a point"},
		{Name: "a", Kind: table.Int, Nullable: true},
		{Name: "氏名", Kind: table.Float},
	}
	for _, n := range []int{0, 1, chunkRows + 1, groupRows + chunkRows + 3} {
		path := filepath.Join(t.TempDir(), "out.parquet")
		s, err := Create(path, columns)
		if err != nil {
			t.Fatal(err)
		}
		c := &table.Chunk{Rows: n, Cols: []table.Vector{{}, {Kind: table.Int}, {Kind: table.Float}}}
		for i := range n {
			c.Cols[0].Texts = append(c.Cols[0].Texts, binary.AppendUvarint([]byte("x"), uint64(i%100)))
			c.Cols[1].Ints = append(c.Cols[1].Ints, int64(i)<<32)
			c.Cols[1].Null = append(c.Cols[1].Null, i%3 == 0)
			c.Cols[2].Floats = append(c.Cols[2].Floats, float64(i)/7)
		}
		if err := errors.Join(s.Write(c), s.Close()); err != nil {
			t.Fatal(err)
		}
		if s.Records() != int64(n) {
			t.Errorf("%d records, want %d", s.Records(), n)
		}
		src, err := Open(path, Options{})
		if err != nil {
			t.Fatal(err)
		}
		for i, got := range src.Columns() {
			if got.Name != columns[i].Name || got.Kind != columns[i].Kind || got.Nullable != columns[i].Nullable {
				t.Errorf("column %d: got %+v, want %+v", i, got, columns[i])
			}
		}
		r, err := src.Open(context.Background(), []int{2, 0, 1, 0})
		if err != nil {
			t.Fatal(err)
		}
		at := 0
		for {
			got, err := r.Next()
			if err == io.EOF {
				break
			}
			if err != nil {
				t.Fatal(err)
			}
			if got.First != int64(at) {
				t.Fatalf("first is %d, want %d", got.First, at)
			}
			for i := range got.Rows {
				null := got.Cols[2].IsNull(i)
				if got.Cols[0].Floats[i] != c.Cols[2].Floats[at] || !bytes.Equal(got.Cols[1].Texts[i], c.Cols[0].Texts[at]) ||
					!bytes.Equal(got.Cols[3].Texts[i], c.Cols[0].Texts[at]) || null != (at%3 == 0) || !null && got.Cols[2].Ints[i] != c.Cols[1].Ints[at] {
					t.Fatalf("record %d is another", at)
				}
				at++
			}
		}
		if at != n || r.Progress() != 1 {
			t.Errorf("%d records read, want %d; progress %g", at, n, r.Progress())
		}
		if err := errors.Join(r.Close(), src.Close()); err != nil {
			t.Error(err)
		}
	}
}

func TestUnwritable(t *testing.T) {
	path := filepath.Join(t.TempDir(), "from.parquet")
	fields := []parquet.Field{field{parquet.Int(32), "n"}, field{parquet.Uint(32), "u"}, field{parquet.UUID(), "id"}}
	if err := rawFile(path, fields, make([][]parquet.Value, 3), 0); err != nil {
		t.Fatal(err)
	}
	src, err := Open(path, Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = src.Close() }()
	n, u, id := src.Columns()[0], src.Columns()[1], src.Columns()[2]
	for name, c := range map[string]struct {
		column table.StoredColumn
		vector table.Vector
		kind   noren.Kind
	}{
		"null":         {table.StoredColumn{Name: "a"}, table.Vector{Texts: [][]byte{nil}, Null: []bool{true}}, noren.BadData},
		"not UTF-8":    {table.StoredColumn{Name: "a"}, table.Vector{Texts: [][]byte{[]byte("\xff")}}, noren.BadData},
		"too large":    {n, table.Vector{Kind: table.Int, Ints: []int64{1 << 31}}, noren.BadData},
		"negative":     {u, table.Vector{Kind: table.Int, Ints: []int64{-1}}, noren.BadData},
		"too short":    {id, table.Vector{Texts: [][]byte{[]byte("x")}}, noren.BadData},
		"another kind": {table.StoredColumn{Name: "a"}, table.Vector{Kind: table.Int, Ints: []int64{1}}, noren.Internal},
		"wrong chunk":  {table.StoredColumn{Name: "a"}, table.Vector{}, noren.Internal},
	} {
		s, err := NewSink(io.Discard, "out.parquet", []table.StoredColumn{c.column})
		if err != nil {
			t.Fatal(err)
		}
		chunk := &table.Chunk{Rows: 1, Cols: []table.Vector{c.vector}}
		if name == "wrong chunk" {
			chunk.Cols = nil
		}
		if err := s.Write(chunk); err == nil || noren.KindOf(err) != c.kind {
			t.Errorf("%s: got %v, want an error of kind %s", name, err, c.kind)
		}
		if err := s.Close(); err == nil {
			t.Errorf("%s: Close forgets the error", name)
		}
	}
	for _, columns := range [][]table.StoredColumn{nil, {{Name: ""}}, {{Name: "a"}, {Name: "a"}}} {
		if _, err := NewSink(io.Discard, "out", columns); noren.KindOf(err) != noren.Usage {
			t.Errorf("got %v, want an error of kind usage", err)
		}
	}
}
