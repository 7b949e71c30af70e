package pg

import (
	"math"
	"strconv"
	"time"

	"github.com/noren-privacy/noren"
	"github.com/noren-privacy/noren/table"
	"github.com/noren-privacy/noren/table/spool"
)

// The server counts days and microseconds from 1 January 2000.
const (
	days2000         = 10957
	perSecond        = 1_000_000
	secondsPerDay    = 24 * 60 * 60
	microseconds2000 = days2000 * secondsPerDay * perSecond
)

// Days and instants of the years 1 to 9999 are numbers in a table. ISO 8601 and most
// formats hold no others, and microseconds from 1970 in 64 bits end in the year 294247,
// before those of the server do.
const (
	firstDay = -719162 // 1 January of the year 1, from 1970
	lastDay  = 2932896 // 31 December 9999
)

// Bounds of the server's types, in days from 1970: 24 November 4714 BC for both,
// 31 December 5874897 for days and 31 December 294276 for instants.
const (
	firstHeld       = -2440588
	lastHeldDay     = 2145042905
	lastHeldInstant = 106762939
)

// putMoment adds a day, an instant or a time of day as the server counts it. What the
// type of the cell cannot hold keeps the text by which the server writes it: infinity,
// years before 1 and after 9999, and 24:00:00.
func putMoment(w *spool.Writer, t spool.Tag, v int64) {
	text := func(b []byte) { w.Bytes(spool.Text, b) }
	switch t {
	case spool.Day:
		switch days := v + days2000; {
		case v == math.MaxInt32:
			text([]byte("infinity"))
		case v == math.MinInt32:
			text([]byte("-infinity"))
		case days < firstDay || days > lastDay:
			text(appendDay(nil, days))
		default:
			w.Int(t, days)
		}
	case spool.Clock:
		if v == secondsPerDay*perSecond {
			text([]byte("24:00:00"))
			return
		}
		w.Int(t, v)
	default:
		switch days := floorDiv(v, secondsPerDay*perSecond) + days2000; {
		case v == math.MaxInt64:
			text([]byte("infinity"))
		case v == math.MinInt64:
			text([]byte("-infinity"))
		case days < firstDay || days > lastDay:
			seconds := floorDiv(v, perSecond)
			text(appendInstant(nil, seconds+days2000*secondsPerDay, v-seconds*perSecond, t == spool.UTCInstant))
		default:
			w.Int(t, v+microseconds2000)
		}
	}
}

// appendDay appends a day, counted from 1970, as the server writes it: 2024-02-29, or
// 0044-03-15 BC for a year before 1. The year has four digits or more.
func appendDay(dst []byte, days int64) []byte {
	dst, bc := appendDate(dst, days)
	if bc {
		dst = append(dst, " BC"...)
	}
	return dst
}

// appendDate is appendDay without the mark of years before 1; bc says that it is missing.
func appendDate(dst []byte, days int64) (_ []byte, bc bool) {
	year, month, day := time.Unix(days*secondsPerDay, 0).UTC().Date()
	bc = year <= 0
	if bc {
		year = 1 - year
	}
	dst = append(appendDigits(dst, int64(year), 4), '-')
	dst = append(appendDigits(dst, int64(month), 2), '-')
	return appendDigits(dst, int64(day), 2), bc
}

// appendInstant appends an instant, in seconds and microseconds from 1970, as the server
// writes it: 2024-02-29 13:05:09.5, with +00 in UTC.
func appendInstant(dst []byte, seconds, micro int64, utc bool) []byte {
	days := floorDiv(seconds, secondsPerDay)
	dst, bc := appendDate(dst, days)
	dst = appendClock(append(dst, ' '), seconds-days*secondsPerDay, micro)
	if utc {
		dst = append(dst, "+00"...)
	}
	if bc {
		dst = append(dst, " BC"...)
	}
	return dst
}

// appendClock appends a time of day.
func appendClock(dst []byte, seconds, micro int64) []byte {
	dst = append(appendDigits(dst, seconds/3600, 2), ':')
	dst = append(appendDigits(dst, seconds/60%60, 2), ':')
	dst = appendDigits(dst, seconds%60, 2)
	if micro == 0 {
		return dst
	}
	dst = appendDigits(append(dst, '.'), micro, 6)
	for dst[len(dst)-1] == '0' {
		dst = dst[:len(dst)-1]
	}
	return dst
}

// appendDigits appends n >= 0 with at least least digits.
func appendDigits(dst []byte, n int64, least int) []byte {
	text := strconv.AppendInt(nil, n, 10)
	for range least - len(text) {
		dst = append(dst, '0')
	}
	return append(dst, text...)
}

func floorDiv(a, b int64) int64 {
	q := a / b
	if a%b < 0 {
		q--
	}
	return q
}

// isMoment reports whether a column counts days, instants or times of day.
func isMoment(c *table.StoredColumn) bool {
	switch c.Logical.Of {
	case table.Day, table.Instant, table.UTCInstant, table.Clock:
		return c.Kind == table.Int
	}
	return false
}

// appendMoment appends a day, an instant or a time of day of a table as the server reads
// it. what says why the server cannot hold it, and is empty where it can.
func appendMoment(dst []byte, l table.Logical, v int64) (_ []byte, what noren.Format) {
	if l.Of == table.Day {
		if v < firstHeld || v > lastHeldDay {
			return dst, "holds a day that PostgreSQL cannot hold: before 4714 BC or after the year 5874897"
		}
		return appendDay(dst, v), ""
	}
	seconds := floorDiv(v, l.PerSecond)
	micro, exact := microseconds(v-seconds*l.PerSecond, l.PerSecond)
	if !exact {
		return dst, "holds a part of a microsecond, which PostgreSQL cannot hold"
	}
	if l.Of == table.Clock {
		if seconds == secondsPerDay && micro == 0 {
			return append(dst, "24:00:00"...), ""
		}
		if seconds < 0 || seconds >= secondsPerDay {
			return dst, "holds a time of day that is not between 00:00 and 24:00"
		}
		return appendClock(dst, seconds, micro), ""
	}
	if days := floorDiv(seconds, secondsPerDay); days < firstHeld || days > lastHeldInstant {
		return dst, "holds an instant that PostgreSQL cannot hold: before 4714 BC or after the year 294276"
	}
	return appendInstant(dst, seconds, micro, l.Of == table.UTCInstant), ""
}

// microseconds turns a part of a second in units into microseconds; exact is false where
// that loses a digit.
func microseconds(rest, unitsPerSecond int64) (micro int64, exact bool) {
	if unitsPerSecond <= perSecond {
		return rest * (perSecond / unitsPerSecond), true
	}
	unit := unitsPerSecond / perSecond
	return rest / unit, rest%unit == 0
}
