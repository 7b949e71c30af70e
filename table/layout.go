package table

import (
	"errors"
	"strconv"
	"strings"

	"github.com/noren-privacy/noren"
)

// Layout is how dates are written, in the tokens YYYY, MM, DD, hh, mm and ss;
// every other character stands for itself ("YYYY年MM月DD日"). M, D and h stand
// for numbers that are written without a leading zero (and may be read with
// one). G and g at the start stand for a Japanese era, by its name (令和) or its
// letter (R), and E or EE for the year in it ("GE年M月D日", "gE.M.D"). A layout
// with hh or h is an instant and counted in seconds, any other a
// day. There are no time zones: an instant is what the clock on the wall shows.
type Layout string

// ISODate is the layout that stands where none is given.
const ISODate Layout = "YYYY-MM-DD"

const secondsPerDay = 24 * 60 * 60

// token is the first part of a layout: a number (one of Y M D h m s, of that many
// digits, 1 for "without a leading zero"), or a byte that stands for itself.
func (l Layout) token() (number byte, digits int) {
	c := l[0]
	double := len(l) > 1 && l[1] == c
	switch c {
	case 'Y':
		if strings.HasPrefix(string(l), "YYYY") {
			return c, 4
		}
	case 'G', 'g':
		return c, 1
	case 'M', 'D', 'h', 'E':
		if double {
			return c, 2
		}
		return c, 1
	case 'm', 's':
		if double {
			return c, 2
		}
	}
	return 0, 1
}

// orISO is l, or the layout that stands where none is given.
func (l Layout) orISO() Layout {
	if l == "" {
		return ISODate
	}
	return l
}

// Validate reports whether l can be used: every token once at most, a
// year, no letter that is no token, a smaller unit of time only beside the
// larger, and nothing else with digits right behind a number whose digits are
// not counted.
func (l Layout) Validate() error {
	var seen [256]bool
	open := false // the token before was a number without a leading zero
	for rest := l.orISO(); rest != ""; {
		number, digits := rest.token()
		if number != 0 {
			if seen[number] {
				return noren.Reasonf("date layout names %s twice", strings.Repeat(string(number), digits))
			}
			if open {
				return errors.New("date layout: M, D and h must not stand right before another number, as nothing tells where they end")
			}
			seen[number] = true
			open = digits == 1
			if number == 'G' || number == 'g' {
				open = false
				if len(rest) < len(l.orISO()) {
					return errors.New("date layout: the name of the era (G or g) stands at the start")
				}
			}
			rest = rest[digits:]
			continue
		}
		switch c := rest[0]; {
		case c >= '0' && c <= '9', c >= 'a' && c <= 'z', c >= 'A' && c <= 'Y' && c != 'T', c == '_':
			return noren.Reasonf("date layout: %q is no token; use YYYY MM DD hh mm ss, or G and E for an era", string(c))
		}
		open = false
		rest = rest[1:]
	}
	switch {
	case seen['E'] != (seen['G'] || seen['g']), seen['G'] && seen['g'], seen['E'] && (seen['Y'] || seen['h']):
		return errors.New("date layout: the year of an era is an era and a number, as in GE年M月D日 or gE.M.D, without YYYY and a time of day")
	case !seen['Y'] && !seen['E']:
		return errors.New("date layout names no year (YYYY)")
	case seen['D'] && !seen['M']:
		return errors.New("date layout names a day (DD) but no month (MM)")
	case seen['h'] && !seen['D']:
		return errors.New("date layout names an hour (hh) but no day (DD)")
	case seen['m'] && !seen['h']:
		return errors.New("date layout names minutes (mm) but no hour (hh)")
	case seen['s'] && !seen['m']:
		return errors.New("date layout names seconds (ss) but no minutes (mm)")
	}
	return nil
}

// HasTime reports whether l tells the time of day, so that its values count
// seconds and not days.
func (l Layout) HasTime() bool { return strings.Contains(string(l), "h") }

// Parse reads text and returns days (or, with a time of day, seconds) since
// 1 January 1970. What the layout does not name counts as 1 (months, days) or
// 0. The whole text must match, and the date exist. The error does not repeat
// the text.
func (l Layout) Parse(text string) (int64, error) {
	if err := l.Validate(); err != nil {
		return 0, err
	}
	v, ok := parse(l.orISO(), text)
	if !ok {
		return 0, l.expected()
	}
	return v, nil
}

// Match is [Layout.Parse] for many texts: it says no instead of making an error.
// l must be valid.
func (l Layout) Match(text []byte) (v int64, ok bool) { return parse(l.orISO(), text) }

func (l Layout) expected() error { return noren.Reasonf("expected a date like %s", l.orISO()) }

// parse is Parse for a layout that is valid and not empty.
func parse[T string | []byte](l Layout, text T) (int64, bool) {
	if l == ISODate {
		return parseISO(text)
	}
	if l.hasEra() {
		return parseEra(l, text)
	}
	year, month, day, hour, minute, second, time := 0, 1, 1, 0, 0, 0, false
	i := 0
	for l != "" {
		number, digits := l.token()
		if number == 0 {
			if i == len(text) || text[i] != l[0] {
				return 0, false
			}
			l, i = l[1:], i+1
			continue
		}
		l = l[digits:]
		most := max(digits, 2) // a number without a leading zero has two digits at most
		n, from := 0, i
		for i < len(text) && i-from < most && '0' <= text[i] && text[i] <= '9' {
			n = 10*n + int(text[i]-'0')
			i++
		}
		if i-from < digits {
			return 0, false
		}
		switch number {
		case 'Y':
			year = n
		case 'M':
			month = n
		case 'D':
			day = n
		case 'h':
			hour, time = n, true
		case 'm':
			minute = n
		case 's':
			second = n
		}
	}
	if i != len(text) || hour > 23 || minute > 59 || second > 59 {
		return 0, false
	}
	days, ok := daysOf(year, month, day)
	if time {
		return days*secondsPerDay + int64(hour*3600+minute*60+second), ok
	}
	return days, ok
}

// parseISO is parse for YYYY-MM-DD.
func parseISO[T string | []byte](text T) (int64, bool) {
	if len(text) != 10 || text[4] != '-' || text[7] != '-' {
		return 0, false
	}
	var d [10]int
	for i := range d {
		d[i] = int(text[i]) - '0'
		if (d[i] < 0 || d[i] > 9) && i != 4 && i != 7 {
			return 0, false
		}
	}
	return daysOf(d[0]*1000+d[1]*100+d[2]*10+d[3], d[5]*10+d[6], d[8]*10+d[9])
}

// Format writes v, in the unit of [Layout.Parse].
func (l Layout) Format(v int64) string { return string(l.AppendFormat(nil, v)) }

// AppendFormat appends v, in the unit of [Layout.Parse].
func (l Layout) AppendFormat(dst []byte, v int64) []byte {
	l = l.orISO()
	if l.hasEra() {
		return l.appendEra(dst, v)
	}
	days, seconds := v, int64(0)
	if l.HasTime() {
		days, seconds = floorDiv(v, secondsPerDay)
	}
	year, month, day := dateOf(days)
	for l != "" {
		number, digits := l.token()
		n := int64(0)
		switch number {
		case 0:
			dst = append(dst, l[0])
			l = l[1:]
			continue
		case 'Y':
			n = year
		case 'M':
			n = int64(month)
		case 'D':
			n = int64(day)
		case 'h':
			n = seconds / 3600
		case 'm':
			n = seconds / 60 % 60
		case 's':
			n = seconds % 60
		}
		dst = appendPadded(dst, n, digits)
		l = l[digits:]
	}
	return dst
}

// appendPadded appends n with as many digits at least.
func appendPadded(dst []byte, n int64, digits int) []byte {
	if n < 0 {
		dst, n = append(dst, '-'), -n
	}
	for limit := int64(10); digits > 1; digits-- {
		if n < limit {
			for range digits - 1 {
				dst = append(dst, '0')
			}
			break
		}
		limit *= 10
	}
	return strconv.AppendInt(dst, n, 10)
}

// floorDiv is the quotient rounded down, and the remainder that is left.
func floorDiv(a, b int64) (quotient, remainder int64) {
	quotient, remainder = a/b, a%b
	if remainder < 0 {
		quotient, remainder = quotient-1, remainder+b
	}
	return quotient, remainder
}

// The calendar is the Gregorian one, carried on to all years. Years are
// counted from 1 March, so that the day added in a leap year is the last, and
// eras of 400 years (146,097 days) from 1 March of year 0, which is 719,468
// days before 1 January 1970. Months from March on alternate between 31 and 30
// days in fives of 153 days: the first of month m (March: 0) is day
// (153m+2)/5.

// daysOf counts the days from 1 January 1970 to a date; ok is false when the
// date does not exist.
func daysOf(year, month, day int) (days int64, ok bool) {
	if month < 1 || month > 12 || day < 1 || day > daysIn(year, month) {
		return 0, false
	}
	if month <= 2 {
		year--
		month += 12
	}
	era, ofEra := floorDiv(int64(year), 400)
	ofYear := int64((153*(month-3)+2)/5 + day - 1)
	return era*146097 + ofEra*365 + ofEra/4 - ofEra/100 + ofYear - 719468, true
}

func daysIn(year, month int) int {
	switch month {
	case 4, 6, 9, 11:
		return 30
	case 2:
		if year%4 == 0 && (year%100 != 0 || year%400 == 0) {
			return 29
		}
		return 28
	}
	return 31
}

// dateOf is the inverse of daysOf.
func dateOf(days int64) (year int64, month, day int) {
	era, ofEra := floorDiv(days+719468, 146097)
	// Take away the leap days before, to count in years of 365.
	y := (ofEra - ofEra/1460 + ofEra/36524 - ofEra/146096) / 365
	ofYear := ofEra - (365*y + y/4 - y/100)
	m := (5*ofYear + 2) / 153
	day = int(ofYear - (153*m+2)/5 + 1)
	year, month = era*400+y, int(m)+3
	if month > 12 {
		year, month = year+1, month-12
	}
	return year, month, day
}
