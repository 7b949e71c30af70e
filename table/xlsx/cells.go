package xlsx

import (
	"bytes"
	"math"
	"strconv"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/noren-privacy/noren"
	"github.com/noren-privacy/noren/table"
	"github.com/noren-privacy/noren/table/spool"
)

const (
	mostRows    = 1 << 20
	mostColumns = 1 << 14
)

// place reads a cell's reference, such as AB12: column and row from 0; ok is
// false for what is none.
func place(ref []byte) (column, row int, ok bool) {
	i := 0
	for ; i < len(ref) && ref[i] >= 'A' && ref[i] <= 'Z' && i < 4; i++ {
		column = 26*column + int(ref[i]-'A') + 1
	}
	digits := i
	for ; i < len(ref) && ref[i] >= '0' && ref[i] <= '9' && i < digits+8; i++ {
		row = 10*row + int(ref[i]-'0')
	}
	ok = i == len(ref) && digits > 0 && row >= 1 && row <= mostRows && column >= 1 && column <= mostColumns
	return column - 1, row - 1, ok
}

// appendColumn appends the letters of column i, counted from 0.
func appendColumn(dst []byte, i int) []byte {
	var letters [4]byte
	at := len(letters)
	for i++; i > 0; i = (i - 1) / 26 {
		at--
		letters[at] = 'A' + byte((i-1)%26)
	}
	return append(dst, letters[at:]...)
}

// Days are counted from 30 December 1899, and before 1 March 1900 from the day
// after, because 29 February 1900 counts although there was none. 1 January 1970
// is day 25,569. Workbooks of old Macintosh programs count from 1 January 1904.
const (
	epoch     = 25569
	epoch1904 = 1462
	lastDay   = 2958465 // 31 December 9999
	msPerDay  = 24 * 60 * 60 * 1000
)

// dated turns the number of a cell with a date's or a time's format into a day,
// an instant or a time of day. What is out of the range of dates stays a number.
func (b *book) dated(v float64, of sense) (spool.Tag, int64) {
	if b.dates {
		v += epoch1904
	}
	if !(v >= 0 && v < lastDay+1) {
		return spool.Float, 0
	}
	ms := int64(math.Round(v * msPerDay))
	day, rest := ms/msPerDay, ms%msPerDay
	if day == 0 && (rest != 0 || of == timeOfDay) || of == timeOfDay && b.dates && day == epoch1904 {
		return spool.Clock, rest * 1000
	}
	if day < 60 {
		day++
	}
	if rest == 0 && of == date {
		return spool.Day, day - epoch
	}
	return spool.Instant, ((day-epoch)*msPerDay + rest) * 1000
}

// serial is the number by which a workbook counts v microseconds since 1970; ok
// is false for what it cannot count: before 1900, after 9999, or parts of a
// millisecond.
func serial(v int64) (float64, bool) {
	const usPerDay = msPerDay * 1000
	day, rest := v/usPerDay, v%usPerDay
	if rest < 0 {
		day, rest = day-1, rest+usPerDay
	}
	day += epoch
	if day <= 60 {
		day--
	}
	if day < 1 || day > lastDay || rest%1000 != 0 {
		return 0, false
	}
	return float64(day) + float64(rest)/usPerDay, true
}

// cellValue puts the cell of type t with the stored value (texts resolved) into
// w. Of an invalid one it says why.
func (b *book) cellValue(w *spool.Writer, t byte, st style, value []byte) noren.Format {
	switch t {
	case 'n':
		v, err := strconv.ParseFloat(string(value), 64)
		if err != nil || math.IsNaN(v) || math.IsInf(v, 0) {
			return "expected a number, got another text in a cell of numbers"
		}
		if st.sense != number {
			if tag, n := b.dated(v, st.sense); tag != spool.Float {
				w.Int(tag, n)
				return ""
			}
		}
		if v == math.Trunc(v) && math.Abs(v) <= 1<<53 {
			w.Int(spool.Integer, int64(v))
			return ""
		}
		w.Float(v)
	case 'b':
		switch string(value) {
		case "1", "true":
			w.Int(spool.Boolean, 1)
		case "0", "false":
			w.Int(spool.Boolean, 0)
		default:
			return "expected TRUE or FALSE, got another text in a cell of these"
		}
	case 'd':
		if v, err := table.ISODate.Parse(string(value)); err == nil {
			w.Int(spool.Day, v)
			return ""
		}
		tag, v, ok := spool.Number(append([]byte{byte(spool.Instant)}, bytes.TrimSuffix(value, []byte("Z"))...))
		if !ok {
			return "expected a date as ISO 8601 writes it, got another text in a cell of dates"
		}
		w.Int(tag, int64(v))
	case 'e':
		w.Bytes(spool.Fault, value)
	default:
		if !w.Bytes(spool.Text, value) {
			return "its text is not valid UTF-8"
		}
	}
	return ""
}

// unescapeControls turns _x000D_ in dst[from:] into the character of that code,
// by which workbooks write what XML cannot hold.
func unescapeControls(dst []byte, from int) []byte {
	if !bytes.Contains(dst[from:], []byte("_x")) {
		return dst
	}
	in := append([]byte(nil), dst[from:]...)
	dst = dst[:from]
	for i := 0; i < len(in); {
		if r, ok := controlAt(in[i:]); ok {
			if r >= 0xd800 && r < 0xdc00 {
				if low, ok := controlAt(in[i+7:]); ok && utf16.IsSurrogate(low) {
					dst = utf8.AppendRune(dst, utf16.DecodeRune(r, low))
					i += 14
					continue
				}
			}
			dst = utf8.AppendRune(dst, r)
			i += 7
			continue
		}
		dst = append(dst, in[i])
		i++
	}
	return dst
}

// controlAt reads _xHHHH_ at the start of b.
func controlAt(b []byte) (rune, bool) {
	if len(b) < 7 || b[0] != '_' || b[1] != 'x' || b[6] != '_' {
		return 0, false
	}
	r := rune(0)
	for _, c := range b[2:6] {
		switch {
		case c >= '0' && c <= '9':
			r = r<<4 | rune(c-'0')
		case c >= 'A' && c <= 'F':
			r = r<<4 | rune(c-'A'+10)
		case c >= 'a' && c <= 'f':
			r = r<<4 | rune(c-'a'+10)
		default:
			return 0, false
		}
	}
	return r, true
}
