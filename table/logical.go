package table

import "strconv"

// Logical says what the numbers of a stored column count, in terms that every
// format knows, so that a column keeps its type when it goes from one format to
// another. The zero value says that they are plain values of their kind.
type Logical struct {
	Of LogicalType
	// PerSecond is the number of units in a second, of instants and times of
	// day: 1000, 1,000,000 or 1,000,000,000.
	PerSecond int64
}

// LogicalType is the type of a [Logical].
type LogicalType uint8

const (
	// Plain values are what their kind says.
	Plain LogicalType = iota
	// Boolean is Int: 0 is false, 1 is true.
	Boolean
	// Day is Int: days since 1 January 1970.
	Day
	// Instant is Int: units since 1 January 1970, by a clock without time zone.
	Instant
	// UTCInstant is Int: units since 1 January 1970 in UTC.
	UTCInstant
	// Clock is Int: units since midnight.
	Clock
	// Mixed is Text: values of several types. The first byte of each tells its
	// type (package table/spool), the rest is its text.
	Mixed
)

// Show is the AppendText of columns of this type, nil for plain ones: booleans
// as true and false, days as 2024-02-29, times as 13:05:09 and instants as
// 2024-02-29T13:05:09, with the digits of a fraction where it is not zero and a
// Z for UTC.
func (l Logical) Show() func(dst []byte, v *Vector, i int) []byte {
	switch l.Of {
	case Boolean:
		return func(dst []byte, v *Vector, i int) []byte { return strconv.AppendBool(dst, v.Ints[i] != 0) }
	case Day:
		return func(dst []byte, v *Vector, i int) []byte { return ISODate.AppendFormat(dst, v.Ints[i]) }
	case Instant, UTCInstant:
		return func(dst []byte, v *Vector, i int) []byte { return l.AppendInstant(dst, v.Ints[i]) }
	case Clock:
		return func(dst []byte, v *Vector, i int) []byte { return l.AppendClock(dst, v.Ints[i]) }
	case Mixed:
		return func(dst []byte, v *Vector, i int) []byte { return append(dst, v.Texts[i][1:]...) }
	}
	return nil
}

// instantLayout is how instants are shown.
const instantLayout Layout = "YYYY-MM-DDThh:mm:ss"

// AppendInstant appends v units since 1970.
func (l Logical) AppendInstant(dst []byte, v int64) []byte {
	seconds, rest := floorDiv(v, l.PerSecond)
	return AppendFraction(instantLayout.AppendFormat(dst, seconds), rest, l.PerSecond, l.Of == UTCInstant)
}

// AppendClock appends v units since midnight. What is no time of day is shown
// as the number that it is.
func (l Logical) AppendClock(dst []byte, v int64) []byte {
	seconds, rest := floorDiv(v, l.PerSecond)
	if seconds < 0 || seconds >= secondsPerDay {
		return strconv.AppendInt(dst, v, 10)
	}
	text := instantLayout.AppendFormat(nil, seconds)
	return AppendFraction(append(dst, text[len("1970-01-01T"):]...), rest, l.PerSecond, false)
}

// AppendFraction appends a part of a second in units, unless it is zero, and a Z
// for UTC.
func AppendFraction(dst []byte, rest, perSecond int64, utc bool) []byte {
	if rest != 0 {
		dst = append(dst, '.')
		for unit := perSecond / 10; unit > 0; unit /= 10 {
			dst = append(dst, '0'+byte(rest/unit%10))
		}
	}
	if utc {
		dst = append(dst, 'Z')
	}
	return dst
}

// AppendFloat appends f in the shortest form that reads back the same.
func AppendFloat(dst []byte, f float64) []byte { return appendFloat(dst, f) }
