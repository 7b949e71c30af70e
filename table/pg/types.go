package pg

import (
	"encoding/binary"
	"math"

	"github.com/jackc/pgx/v5/pgtype"

	"github.com/noren-privacy/noren/table"
	"github.com/noren-privacy/noren/table/spool"
)

// origin is the type of a column as the server writes it, such as
// numeric(10,2).
type origin struct{ typeName string }

// Formats by which the server sends values.
const (
	asText   int16 = 0
	asBinary int16 = 1
)

// formOf is how columns of a type are sent, and their type here.
func formOf(oid uint32) (format int16, expected spool.Tag) {
	switch oid {
	case pgtype.BoolOID:
		return asBinary, spool.Boolean
	case pgtype.Int2OID, pgtype.Int4OID, pgtype.Int8OID:
		return asBinary, spool.Integer
	case pgtype.Float4OID, pgtype.Float8OID:
		return asBinary, spool.Float
	case pgtype.DateOID:
		return asBinary, spool.Day
	case pgtype.TimestampOID:
		return asBinary, spool.Instant
	case pgtype.TimestamptzOID:
		return asBinary, spool.UTCInstant
	case pgtype.TimeOID:
		return asBinary, spool.Clock
	case pgtype.NumericOID:
		return asText, spool.Decimal
	}
	return asText, spool.Text
}

// put adds a value to w. It reports whether it is what its type says.
func put(w *spool.Writer, oid uint32, b []byte) bool {
	number := func(size int) (v int64, ok bool) {
		switch {
		case len(b) != size:
			return 0, false
		case size == 1:
			return int64(b[0]), true
		case size == 2:
			return int64(int16(binary.BigEndian.Uint16(b))), true
		case size == 4:
			return int64(int32(binary.BigEndian.Uint32(b))), true
		}
		return int64(binary.BigEndian.Uint64(b)), true
	}
	counted := func(t spool.Tag, size int) bool {
		v, ok := number(size)
		if ok {
			w.Int(t, v)
		}
		return ok
	}
	moment := func(t spool.Tag, size int) bool {
		v, ok := number(size)
		if ok {
			putMoment(w, t, v)
		}
		return ok
	}
	switch oid {
	case pgtype.BoolOID:
		return counted(spool.Boolean, 1)
	case pgtype.Int2OID:
		return counted(spool.Integer, 2)
	case pgtype.Int4OID:
		return counted(spool.Integer, 4)
	case pgtype.Int8OID:
		return counted(spool.Integer, 8)
	case pgtype.Float4OID:
		v, ok := number(4)
		w.Float(float64(math.Float32frombits(uint32(v))))
		return ok
	case pgtype.Float8OID:
		v, ok := number(8)
		w.Float(math.Float64frombits(uint64(v)))
		return ok
	case pgtype.DateOID:
		return moment(spool.Day, 4)
	case pgtype.TimestampOID:
		return moment(spool.Instant, 8)
	case pgtype.TimestamptzOID:
		return moment(spool.UTCInstant, 8)
	case pgtype.TimeOID:
		return moment(spool.Clock, 8)
	case pgtype.NumericOID:
		return w.Bytes(spool.Decimal, b)
	}
	return w.Bytes(spool.Text, b)
}

// typeOf is the type by which a column is stored.
func typeOf(c *table.StoredColumn) string {
	if o, ok := c.Origin.(*origin); ok {
		return o.typeName
	}
	switch c.Logical.Of {
	case table.Boolean:
		return "boolean"
	case table.Day:
		return "date"
	case table.Instant:
		return "timestamp"
	case table.UTCInstant:
		return "timestamptz"
	case table.Clock:
		return "time"
	case table.Mixed:
		return "text"
	}
	decimal := c.Proposed != nil && (*c.Proposed == table.Decimal || *c.Proposed == table.Integer)
	switch {
	case c.Kind == table.Float && c.AppendText != nil:
		return "real"
	case c.Kind == table.Float:
		return "double precision"
	case c.Kind == table.Int && c.AppendText == nil:
		return "bigint"
	case decimal && c.AppendText != nil, decimal && c.Kind == table.Text:
		return "numeric"
	}
	return "text"
}
