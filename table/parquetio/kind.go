package parquetio

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"math"
	"math/big"
	"strconv"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/deprecated"
	"github.com/parquet-go/parquet-go/format"

	"github.com/noren-privacy/noren"
	"github.com/noren-privacy/noren/table"
)

// appendFunc shows value i of v as text.
type appendFunc = func(dst []byte, v *table.Vector, i int) []byte

// form is how a column's type travels and is shown.
type form struct {
	kind     table.Kind
	proposed *table.Type
	logical  table.Logical
	show     appendFunc // nil for the rule that table.AppendText has
	unsigned bool       // of a whole number
}

func propose(t table.Type) *table.Type { return &t }

// formOf tells the form of a type as the library understands it. element is the
// column's entry in the file's schema.
func formOf(t parquet.Type, element *format.SchemaElement) form {
	var logical any
	if lt := t.LogicalType(); lt != nil {
		logical = lt.Value
	}
	if element.LogicalType.Value != nil {
		logical = element.LogicalType.Value
	}
	switch lt := logical.(type) {
	case *format.NullType:
		return form{kind: table.Text}
	case *format.DecimalType:
		return decimalForm(t, int(lt.Scale))
	case *format.DateType:
		return logicalForm(table.Logical{Of: table.Day}, propose(table.Date))
	case *format.TimeType:
		f := logicalForm(table.Logical{Of: table.Clock, PerSecond: perSecond(lt.Unit)}, nil)
		if lt.IsAdjustedToUTC {
			f.logical, f.show = table.Logical{}, showUTCTime(f.logical)
		}
		return f
	case *format.TimestampType:
		of := table.Instant
		if lt.IsAdjustedToUTC {
			of = table.UTCInstant
		}
		return logicalForm(table.Logical{Of: of, PerSecond: perSecond(lt.Unit)}, nil)
	case *format.StringType, *format.EnumType, *format.JsonType:
		return form{kind: table.Text}
	case *format.UUIDType:
		return form{kind: table.Text, proposed: propose(table.Category), show: showUUID}
	case *format.Float16Type:
		return form{kind: table.Text, proposed: propose(table.Decimal), show: showFloat16}
	case *format.IntType:
		if !lt.IsSigned {
			f := form{kind: table.Int, proposed: propose(table.Integer), unsigned: true}
			if t.Kind() == parquet.Int64 {
				f.show = showUint64
			}
			return f
		}
	}
	switch t.Kind() {
	case parquet.Boolean:
		return logicalForm(table.Logical{Of: table.Boolean}, propose(table.Category))
	case parquet.Int32, parquet.Int64:
		return form{kind: table.Int, proposed: propose(table.Integer)}
	case parquet.Int96:
		return form{kind: table.Text, show: showInt96}
	case parquet.Float:
		return form{kind: table.Float, proposed: propose(table.Decimal), show: showFloat32}
	case parquet.Double:
		return form{kind: table.Float, proposed: propose(table.Decimal)}
	}
	if ct := t.ConvertedType(); ct != nil && *ct == deprecated.Interval {
		return form{kind: table.Text, proposed: propose(table.Category), show: showInterval}
	}
	return form{kind: table.Text, proposed: propose(table.Category), show: showHex}
}

// logicalForm is the form of whole numbers that count something.
func logicalForm(l table.Logical, proposed *table.Type) form {
	return form{kind: table.Int, proposed: proposed, logical: l, show: l.Show()}
}

// Unreadable tells which well-known tools cannot read a column that is stored as
// in the file that it comes from; empty for none that is known.
func Unreadable(c *table.StoredColumn) noren.Text {
	o, ok := c.Origin.(*origin)
	if !ok || o.nested != nil {
		return noren.Text{}
	}
	t := o.node.Type()
	if ct := t.ConvertedType(); ct != nil && *ct == deprecated.Interval {
		return noren.Textf("polars cannot read intervals; pyarrow and pandas read them as bytes")
	}
	if lt := t.LogicalType(); lt != nil {
		if d, ok := lt.Value.(*format.DecimalType); ok && d.Precision > 38 {
			return noren.Textf("polars cannot read decimals of more than 38 digits; pyarrow and pandas can")
		}
	}
	return noren.Text{}
}

func decimalForm(t parquet.Type, scale int) form {
	switch t.Kind() {
	case parquet.Int32, parquet.Int64:
		return form{kind: table.Int, proposed: propose(table.Decimal), show: func(dst []byte, v *table.Vector, i int) []byte {
			var digits [20]byte
			return appendScaled(dst, strconv.AppendInt(digits[:0], v.Ints[i], 10), scale)
		}}
	}
	return form{kind: table.Text, proposed: propose(table.Decimal), show: func(dst []byte, v *table.Vector, i int) []byte {
		return appendScaled(dst, bigEndian(v.Texts[i]).Append(nil, 10), scale)
	}}
}

// bigEndian reads a whole number in two's complement.
func bigEndian(b []byte) *big.Int {
	n := new(big.Int).SetBytes(b)
	if len(b) > 0 && b[0] >= 0x80 {
		n.Sub(n, new(big.Int).Lsh(big.NewInt(1), uint(8*len(b))))
	}
	return n
}

// appendScaled appends digits with the point before the last scale of them.
func appendScaled(dst, digits []byte, scale int) []byte {
	if len(digits) > 0 && digits[0] == '-' {
		dst, digits = append(dst, '-'), digits[1:]
	}
	if scale <= 0 {
		return append(dst, digits...)
	}
	if len(digits) <= scale {
		dst = append(dst, '0', '.')
		for range scale - len(digits) {
			dst = append(dst, '0')
		}
		return append(dst, digits...)
	}
	dst = append(dst, digits[:len(digits)-scale]...)
	dst = append(dst, '.')
	return append(dst, digits[len(digits)-scale:]...)
}

func showUint64(dst []byte, v *table.Vector, i int) []byte {
	return strconv.AppendUint(dst, uint64(v.Ints[i]), 10)
}

func showFloat32(dst []byte, v *table.Vector, i int) []byte { return appendFloat32(dst, v.Floats[i]) }

// appendFloat32 is the rule of table.AppendText with the digits that 32 bits
// need.
func appendFloat32(dst []byte, f float64) []byte {
	form := byte('f')
	if abs := math.Abs(f); abs != 0 && (abs < 1e-6 || abs >= 1e21) {
		form = 'e'
	}
	return strconv.AppendFloat(dst, f, form, -1, 32)
}

const nanosecondsPerSecond = 1_000_000_000

func perSecond(u format.TimeUnit) int64 {
	switch u.Value.(type) {
	case *format.MilliSeconds:
		return 1000
	case *format.MicroSeconds:
		return 1_000_000
	}
	return nanosecondsPerSecond
}

// split is v in whole seconds, rounded down, and what remains.
func split(v, perSecond int64) (seconds, rest int64) {
	seconds, rest = v/perSecond, v%perSecond
	if rest < 0 {
		seconds, rest = seconds-1, rest+perSecond
	}
	return seconds, rest
}

// showUTCTime shows a time of day with a Z.
func showUTCTime(l table.Logical) appendFunc {
	return func(dst []byte, v *table.Vector, i int) []byte {
		n := len(dst)
		dst = l.AppendClock(dst, v.Ints[i])
		if bytes.IndexByte(dst[n:], ':') < 0 {
			return dst
		}
		return append(dst, 'Z')
	}
}

// showInt96 reads nanoseconds of the day and the Julian day; 1 January 1970
// begins with Julian day 2,440,588.
func showInt96(dst []byte, v *table.Vector, i int) []byte {
	b := v.Texts[i]
	if len(b) != 12 {
		return hex.AppendEncode(dst, b)
	}
	nanoseconds := int64(binary.LittleEndian.Uint64(b))
	day := int64(int32(binary.LittleEndian.Uint32(b[8:])))
	seconds, rest := split(nanoseconds, nanosecondsPerSecond)
	seconds += (day - 2_440_588) * 24 * 60 * 60
	return table.AppendFraction(table.Layout("YYYY-MM-DDThh:mm:ss").AppendFormat(dst, seconds), rest, nanosecondsPerSecond, false)
}

func showUUID(dst []byte, v *table.Vector, i int) []byte {
	b := v.Texts[i]
	if len(b) != 16 {
		return hex.AppendEncode(dst, b)
	}
	for _, part := range [][]byte{b[:4], b[4:6], b[6:8], b[8:10]} {
		dst = append(hex.AppendEncode(dst, part), '-')
	}
	return hex.AppendEncode(dst, b[10:])
}

// showInterval reads months, days and milliseconds.
func showInterval(dst []byte, v *table.Vector, i int) []byte {
	b := v.Texts[i]
	if len(b) != 12 {
		return hex.AppendEncode(dst, b)
	}
	months, days, ms := binary.LittleEndian.Uint32(b), binary.LittleEndian.Uint32(b[4:]), binary.LittleEndian.Uint32(b[8:])
	dst = strconv.AppendUint(append(dst, 'P'), uint64(months), 10)
	dst = strconv.AppendUint(append(dst, 'M'), uint64(days), 10)
	dst = strconv.AppendUint(append(dst, 'D', 'T'), uint64(ms/1000), 10)
	return append(table.AppendFraction(dst, int64(ms%1000), 1000, false), 'S')
}

// showFloat16 reads IEEE 754 half precision: 5 bits of exponent, 10 of
// fraction.
func showFloat16(dst []byte, v *table.Vector, i int) []byte {
	b := v.Texts[i]
	if len(b) != 2 {
		return hex.AppendEncode(dst, b)
	}
	bits := binary.LittleEndian.Uint16(b)
	exponent, fraction := int(bits>>10&0x1f), float64(bits&0x3ff)
	var f float64
	switch exponent {
	case 0:
		f = math.Ldexp(fraction, -24)
	case 0x1f:
		f = math.Inf(1)
		if fraction != 0 {
			f = math.NaN()
		}
	default:
		f = math.Ldexp(1024+fraction, exponent-25)
	}
	if bits>>15 != 0 {
		f = -f
	}
	return appendFloat32(dst, f)
}

func showHex(dst []byte, v *table.Vector, i int) []byte { return hex.AppendEncode(dst, v.Texts[i]) }
