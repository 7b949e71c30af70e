package table

import (
	"strings"
	"unicode/utf8"
)

// era is a Japanese era: its first day, and the year before its first.
type era struct {
	kanji  string
	letter byte
	first  int64 // in days since 1 January 1970
	before int64 // the year 0 of the era
}

// firstYear is how the first year of an era is written.
const firstYear = "元"

// eras from the latest to the earliest. Meiji counts from its first year of the
// Gregorian calendar, 1873: days before are of the old calendar.
func eras() [5]era {
	return [5]era{
		{"令和", 'R', 18017, 2018},  // 1 May 2019
		{"平成", 'H', 6947, 1988},   // 8 January 1989
		{"昭和", 'S', -15713, 1925}, // 25 December 1926
		{"大正", 'T', -20974, 1911}, // 30 July 1912
		{"明治", 'M', -35428, 1867}, // 1 January 1873
	}
}

// span is the first and the last day of the period that a date of the layout
// tells: a day, a month or a year. l names an era.
func (l Layout) span(year, month, day int) (first, last int64) {
	switch {
	case !strings.Contains(string(l), "M"):
		first, _ = daysOf(year, 1, 1)
		last, _ = daysOf(year, 12, 31)
	case !strings.Contains(string(l), "D"):
		first, _ = daysOf(year, month, 1)
		last, _ = daysOf(year, month, daysIn(year, month))
	default:
		first, _ = daysOf(year, month, day)
		last = first
	}
	return first, last
}

// eraAt is the era of a day, and Meiji for the days before.
func eraAt(days int64) (at era) {
	for _, at = range eras() {
		if days >= at.first {
			break
		}
	}
	return at
}

// inEra reports whether a period has a day of the era.
func inEra(e era, first, last int64) bool {
	end := int64(1) << 40
	for _, later := range eras() {
		if later.letter == e.letter {
			break
		}
		end = later.first
	}
	return last >= e.first && first < end
}

// eraName reads the name of an era at the start of text: its kanji for G, its
// letter for g.
func eraName[T string | []byte](token byte, text T) (e era, size int) {
	for _, e := range eras() {
		switch {
		case token == 'G' && len(text) >= len(e.kanji) && string(text[:len(e.kanji)]) == e.kanji:
			return e, len(e.kanji)
		case token == 'g' && len(text) > 0 && (text[0] == e.letter || text[0] == e.letter+'a'-'A'):
			return e, 1
		}
	}
	return era{}, 0
}

// parseEra is parse for a layout that names an era. Full-width digits are read as
// their ASCII forms, and 元 as the first year.
func parseEra[T string | []byte](l Layout, text T) (int64, bool) {
	whole := l
	var named era
	year, month, day := 0, 1, 1
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
		if number == 'G' || number == 'g' {
			e, size := eraName(number, text[i:])
			if size == 0 {
				return 0, false
			}
			named, i = e, i+size
			continue
		}
		n, count := 0, 0
		if number == 'E' && len(text)-i >= len(firstYear) && string(text[i:i+len(firstYear)]) == firstYear {
			n, count, i = 1, digits, i+len(firstYear)
		} else {
			for ; count < 2; count++ {
				d, size := digitAt(text[i:])
				if size == 0 {
					break
				}
				n, i = 10*n+d, i+size
			}
		}
		if count < digits {
			return 0, false
		}
		switch number {
		case 'E':
			year = n
		case 'M':
			month = n
		case 'D':
			day = n
		}
	}
	if i != len(text) || year < 1 {
		return 0, false
	}
	year += int(named.before)
	days, ok := daysOf(year, month, day)
	if !ok {
		return 0, false
	}
	first, last := whole.span(year, month, day)
	return days, inEra(named, first, last)
}

// digitAt is the digit at the start of text and how many bytes it has, 0 where
// there is none.
func digitAt[T string | []byte](text T) (digit, size int) {
	if len(text) > 0 && text[0] >= '0' && text[0] <= '9' {
		return int(text[0] - '0'), 1
	}
	if len(text) < 3 || text[0] != 0xef { // the first byte of full-width characters
		return 0, 0
	}
	c, _ := utf8.DecodeRuneInString(string(text[:3]))
	if c >= '０' && c <= '９' {
		return int(c - '０'), 3
	}
	return 0, 0
}

// appendEra is AppendFormat for a layout that names an era. A month or a year is
// written by the era of its last day.
func (l Layout) appendEra(dst []byte, days int64) []byte {
	year, month, day := dateOf(days)
	_, last := l.span(int(year), month, day)
	e := eraAt(last)
	for l != "" {
		number, digits := l.token()
		rest := l[digits:]
		n := int64(day)
		switch number {
		case 0:
			dst, l = append(dst, l[0]), l[1:]
			continue
		case 'G':
			dst, l = append(dst, e.kanji...), rest
			continue
		case 'g':
			dst, l = append(dst, e.letter), rest
			continue
		case 'E':
			n = year - e.before
			if n == 1 && digits == 1 && strings.HasPrefix(string(rest), "年") {
				dst, l = append(dst, firstYear...), rest
				continue
			}
		case 'M':
			n = int64(month)
		}
		dst, l = appendPadded(dst, n, digits), rest
	}
	return dst
}

// hasEra reports whether l, which is valid, counts years by eras.
func (l Layout) hasEra() bool { return l[0] == 'G' || l[0] == 'g' }
