package spool

import (
	"encoding/binary"
	"math"
	"strconv"
	"strings"

	"github.com/noren-privacy/noren/table"
)

// Tag is the type of a cell.
type Tag byte

const (
	Null       Tag = iota
	Integer        // 64 bits
	Float          // 64 bits
	Boolean        // 0 or 1
	Day            // days since 1 January 1970
	Instant        // microseconds since 1970, without time zone
	UTCInstant     // microseconds since 1970 in UTC
	Clock          // microseconds since midnight
	Text           // UTF-8
	Decimal        // a number in decimal, as text
	Fault          // the name of a spreadsheet's error, as text
	tags
)

// perSecond is the unit of instants and times of day.
const perSecond = 1_000_000

const perDay = 24 * 60 * 60 * perSecond

var (
	instant    = table.Logical{Of: table.Instant, PerSecond: perSecond}
	utcInstant = table.Logical{Of: table.UTCInstant, PerSecond: perSecond}
	clock      = table.Logical{Of: table.Clock, PerSecond: perSecond}
)

// isText reports whether cells of the tag are kept as bytes.
func (t Tag) isText() bool { return t >= Text }

// exactFloat bounds the integers that floating point holds exactly.
const exactFloat = 1 << 53

// set is a set of tags, by bits.
type set uint32

func (s set) only(t ...Tag) bool { return s&^setOf(t...) == 0 }

func setOf(t ...Tag) set {
	s := set(0)
	for _, tag := range t {
		s |= 1 << tag
	}
	return s
}

// shape is how a column of cells travels.
type shape struct {
	kind     table.Kind
	logical  table.Logical
	proposed *table.Type
	tag      Tag // of its cells where they have one
}

// shapeOf decides the type of a column by the tags of its cells. wide says that
// an integer among them is not exact in floating point.
func shapeOf(s set, wide bool) shape {
	propose := func(t table.Type) *table.Type { return &t }
	switch {
	case s == 0:
		return shape{kind: table.Text, tag: Text}
	case s.only(Integer):
		return shape{kind: table.Int, proposed: propose(table.Integer), tag: Integer}
	case s.only(Float), s.only(Integer, Float) && !wide:
		return shape{kind: table.Float, proposed: propose(table.Decimal), tag: Float}
	case s.only(Boolean):
		return shape{kind: table.Int, logical: table.Logical{Of: table.Boolean}, proposed: propose(table.Category), tag: Boolean}
	case s.only(Day):
		return shape{kind: table.Int, logical: table.Logical{Of: table.Day}, proposed: propose(table.Date), tag: Day}
	case s.only(Day, Instant):
		return shape{kind: table.Int, logical: instant, tag: Instant}
	case s.only(UTCInstant):
		return shape{kind: table.Int, logical: utcInstant, tag: UTCInstant}
	case s.only(Clock):
		return shape{kind: table.Int, logical: clock, tag: Clock}
	case s.only(Text):
		return shape{kind: table.Text, tag: Text}
	case s.only(Decimal):
		return shape{kind: table.Text, proposed: propose(table.Decimal), tag: Decimal}
	}
	return shape{kind: table.Text, logical: table.Logical{Of: table.Mixed}}
}

// appendShown appends the text of a number by its tag.
func appendShown(dst []byte, t Tag, bits uint64) []byte {
	v := int64(bits)
	switch t {
	case Float:
		return table.AppendFloat(dst, math.Float64frombits(bits))
	case Boolean:
		return strconv.AppendBool(dst, v != 0)
	case Day:
		return table.ISODate.AppendFormat(dst, v)
	case Instant:
		return instant.AppendInstant(dst, v)
	case UTCInstant:
		return utcInstant.AppendInstant(dst, v)
	case Clock:
		return clock.AppendClock(dst, v)
	}
	return strconv.AppendInt(dst, v, 10)
}

// Number is the value of a cell of a mixed column by its tag and text: integers,
// booleans, days, instants and times of day as they were given, floating point
// by its bits. ok is false for text.
func Number(cell []byte) (t Tag, bits uint64, ok bool) {
	if len(cell) == 0 {
		return Null, 0, false
	}
	t = Tag(cell[0])
	text := string(cell[1:])
	switch t {
	case Integer:
		n, err := strconv.ParseInt(text, 10, 64)
		return t, uint64(n), err == nil
	case Float:
		f, err := strconv.ParseFloat(text, 64)
		return t, math.Float64bits(f), err == nil
	case Boolean:
		if text == "true" {
			return t, 1, true
		}
		return t, 0, true
	case Day:
		n, err := table.ISODate.Parse(text)
		return t, uint64(n), err == nil
	case Instant:
		n, ok := parseInstant(text)
		return t, uint64(n), ok
	case Clock:
		n, ok := parseInstant("1970-01-01T" + text)
		return t, uint64(n), ok
	}
	return t, 0, false
}

func parseInstant(text string) (int64, bool) {
	const whole = len("2024-02-29T13:05:09")
	if len(text) < whole {
		return 0, false
	}
	seconds, ok := table.Layout("YYYY-MM-DDThh:mm:ss").Match([]byte(text[:whole]))
	if !ok {
		return 0, false
	}
	rest := int64(0)
	if fraction := text[whole:]; fraction != "" {
		const digits = 6
		n, err := strconv.ParseUint(strings.TrimPrefix(fraction, "."), 10, 32)
		if err != nil || fraction[0] != '.' || len(fraction) > digits+1 {
			return 0, false
		}
		rest = int64(n)
		for range digits + 1 - len(fraction) {
			rest *= 10
		}
	}
	return seconds*perSecond + rest, true
}

// appendNumber appends a cell of a number to a row.
func appendNumber(dst []byte, t Tag, bits uint64) []byte {
	return binary.LittleEndian.AppendUint64(append(dst, byte(t)), bits)
}
