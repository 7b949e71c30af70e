package parquetio

import (
	"math"
	"path/filepath"
	"testing"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/deprecated"
	"github.com/parquet-go/parquet-go/format"

	"github.com/noren-privacy/noren/table"
)

func fixed(s string) parquet.Value { return parquet.FixedLenByteArrayValue([]byte(s)) }

// How every type is shown as text, and what it is proposed to be.
func TestShow(t *testing.T) {
	const none = table.Type(255)
	for _, c := range []struct {
		name     string
		node     parquet.Node
		value    parquet.Value
		want     string
		proposed table.Type
	}{
		{"boolean", parquet.Leaf(parquet.BooleanType), parquet.BooleanValue(true), "true", table.Category},
		{"int32", parquet.Leaf(parquet.Int32Type), parquet.Int32Value(-7), "-7", table.Integer},
		{"uint8", parquet.Uint(8), parquet.Int32Value(200), "200", table.Integer},
		{"uint32", parquet.Uint(32), parquet.Int32Value(-1), "4294967295", table.Integer},
		{
			"old uint32", parquet.Leaf(annotated{Type: parquet.Int32Type, converted: ptr(deprecated.Uint32)}), parquet.Int32Value(-1), "4294967295",
			table.Integer,
		},
		{"uint64", parquet.Uint(64), parquet.Int64Value(-1), "18446744073709551615", table.Integer},
		{"double", parquet.Leaf(parquet.DoubleType), parquet.DoubleValue(0.1), "0.1", table.Decimal},
		{"large double", parquet.Leaf(parquet.DoubleType), parquet.DoubleValue(1e6), "1000000", table.Decimal},
		{"not a number", parquet.Leaf(parquet.DoubleType), parquet.DoubleValue(math.NaN()), "NaN", table.Decimal},
		{"float", parquet.Leaf(parquet.FloatType), parquet.FloatValue(0.1), "0.1", table.Decimal},
		{"small float", parquet.Leaf(parquet.FloatType), parquet.FloatValue(1e-7), "1e-07", table.Decimal},
		{
			"half", parquet.Leaf(annotated{Type: parquet.FixedLenByteArrayType(2), logical: &format.LogicalType{Value: new(format.Float16Type)}}),
			fixed("\x00\xc1"), "-2.5", table.Decimal,
		},
		{"smallest half", parquet.Leaf(annotated{
			Type:    parquet.FixedLenByteArrayType(2),
			logical: &format.LogicalType{Value: new(format.Float16Type)},
		}), fixed("\x01\x00"), "5.9604645e-08", table.Decimal},
		{"infinite half", parquet.Leaf(annotated{
			Type:    parquet.FixedLenByteArrayType(2),
			logical: &format.LogicalType{Value: new(format.Float16Type)},
		}), fixed("\x00\xfc"), "-Inf", table.Decimal},
		{"decimal32", parquet.Decimal(2, 9, parquet.Int32Type), parquet.Int32Value(1250), "12.50", table.Decimal},
		{"small decimal64", parquet.Decimal(3, 18, parquet.Int64Type), parquet.Int64Value(-5), "-0.005", table.Decimal},
		{"decimal without places", parquet.Decimal(0, 9, parquet.Int32Type), parquet.Int32Value(-5), "-5", table.Decimal},
		{
			"fixed decimal", parquet.Decimal(2, 38, parquet.FixedLenByteArrayType(16)),
			fixed("\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\x38"), "-2.00", table.Decimal,
		},
		{
			"long decimal", parquet.Decimal(2, 38, parquet.ByteArrayType), parquet.ByteArrayValue([]byte{0x01, 0, 0, 0, 0, 0, 0, 0, 0}),
			"184467440737095516.16", table.Decimal,
		},
		{"date", parquet.Date(), parquet.Int32Value(19782), "2024-02-29", table.Date},
		{"date before 1970", parquet.Date(), parquet.Int32Value(-1), "1969-12-31", table.Date},
		{"time", parquet.TimeAdjusted(parquet.Millisecond, false), parquet.Int32Value(47109500), "13:05:09.500", none},
		{"time in UTC", parquet.Time(parquet.Nanosecond), parquet.Int64Value(47109 * 1e9), "13:05:09Z", none},
		{"no time of day", parquet.Time(parquet.Microsecond), parquet.Int64Value(-1), "-1", none},
		{"timestamp", parquet.TimestampAdjusted(parquet.Microsecond, false), parquet.Int64Value(1709211909000000), "2024-02-29T13:05:09", none},
		{"timestamp in UTC", parquet.Timestamp(parquet.Millisecond), parquet.Int64Value(-1), "1969-12-31T23:59:59.999Z", none},
		{"timestamp ns", parquet.TimestampAdjusted(parquet.Nanosecond, false), parquet.Int64Value(1), "1970-01-01T00:00:00.000000001", none},
		{"int96", parquet.Leaf(parquet.Int96Type), parquet.Int96Value(deprecated.Int96{0, 0, 2440589}), "1970-01-02T00:00:00", none},
		{
			"uuid", parquet.UUID(), fixed("\x12\x3e\x45\x67\xe8\x9b\x12\xd3\xa4\x56\x42\x66\x14\x17\x40\x00"),
			"123e4567-e89b-12d3-a456-426614174000", table.Category,
		},
		{"interval", parquet.IntervalNode(), fixed("\x01\x00\x00\x00\x02\x00\x00\x00\xac\x0d\x00\x00"), "P1M2DT3.500S", table.Category},
		{"string", parquet.String(), parquet.ByteArrayValue([]byte("日本")), "日本", none},
		{"json", parquet.JSON(), parquet.ByteArrayValue([]byte(`{"a":1}`)), `{"a":1}`, none},
		{"bytes", parquet.Leaf(parquet.ByteArrayType), parquet.ByteArrayValue([]byte("\x00\xff")), "00ff", table.Category},
		{"fixed bytes", parquet.Leaf(parquet.FixedLenByteArrayType(3)), fixed("abc"), "616263", table.Category},
	} {
		t.Run(c.name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "in.parquet")
			fields := []parquet.Field{field{parquet.Optional(c.node), "c"}}
			values := [][]parquet.Value{{c.value.Level(0, 1, 0), parquet.NullValue().Level(0, 0, 0)}}
			if err := rawFile(path, fields, values, 0); err != nil {
				t.Fatal(err)
			}
			src, err := Open(path, Options{})
			if err != nil {
				t.Fatal(err)
			}
			defer func() { _ = src.Close() }()
			column := src.Columns()[0]
			if got := column.Proposed; got == nil && c.proposed != none || got != nil && *got != c.proposed {
				t.Errorf("proposed as %v, want %v", got, c.proposed)
			}
			r, err := src.Open(t.Context(), nil)
			if err != nil {
				t.Fatal(err)
			}
			defer func() { _ = r.Close() }()
			chunk, err := r.Next()
			if err != nil {
				t.Fatal(err)
			}
			if got := string(table.AppendText(nil, &column, &chunk.Cols[0], 0)); got != c.want {
				t.Errorf("shown as %q, want %q", got, c.want)
			}
			if got := string(table.AppendText(nil, &column, &chunk.Cols[0], 1)); got != "" {
				t.Errorf("a null is shown as %q", got)
			}
		})
	}
}

// A decimal of an old writer keeps its places, which only the new way tells.
func TestOldDecimal(t *testing.T) {
	typ := parquet.Decimal(2, 9, parquet.Int32Type).Type()
	var element format.SchemaElement
	element.ConvertedType.Set(deprecated.Decimal)
	a := annotate(typ, &element)
	lt, ok := a.LogicalType().Value.(*format.DecimalType)
	if !ok || lt.Scale != 2 || lt.Precision != 9 {
		t.Errorf("got %+v", a.LogicalType())
	}
}
