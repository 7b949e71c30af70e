package xlsx

import "strings"

// sense is what a number format makes of a number.
type sense uint8

const (
	number  sense = iota
	date          // a day; an instant where it has a time of day
	instant       // a day with a time
	timeOfDay
)

// builtin are the formats that files name by number alone and that show dates or
// times: ECMA-376 part 1, 18.8.30, and those of Japanese, Chinese and Korean.
func builtin(id int) (sense, string) {
	switch id {
	case 14:
		return date, "yyyy-mm-dd" // by the reader's locale
	case 15:
		return date, "d-mmm-yy"
	case 16:
		return date, "d-mmm"
	case 17:
		return date, "mmm-yy"
	case 18:
		return timeOfDay, "h:mm AM/PM"
	case 19:
		return timeOfDay, "h:mm:ss AM/PM"
	case 20:
		return timeOfDay, "h:mm"
	case 21:
		return timeOfDay, "h:mm:ss"
	case 22:
		return instant, "yyyy-mm-dd hh:mm"
	case 45:
		return timeOfDay, "mm:ss"
	case 47:
		return timeOfDay, "mm:ss.0"
	case 1:
		return number, "0"
	case 2:
		return number, "0.00"
	case 3:
		return number, "#,##0"
	case 4:
		return number, "#,##0.00"
	case 9:
		return number, "0%"
	case 10:
		return number, "0.00%"
	case 11:
		return number, "0.00E+00"
	case 12:
		return number, "# ?/?"
	case 13:
		return number, "# ??/??"
	case 46:
		return number, "[h]:mm:ss"
	case 49:
		return number, "@"
	}
	switch {
	case id >= 27 && id <= 31, id == 36, id >= 50 && id <= 54, id >= 57 && id <= 58:
		return date, "yyyy-mm-dd"
	case id >= 32 && id <= 35, id >= 55 && id <= 56:
		return timeOfDay, "hh:mm:ss"
	}
	return number, ""
}

// senseOf tells what a format code shows: a date if it has a year or a day, an
// instant if it has hours, minutes or seconds too, a time of day if it has those
// alone, otherwise a number. Of several sections the first counts. An elapsed time ([h]:mm) is a number of
// days.
func senseOf(code string) sense {
	var hasDay, hasTime, hasMonth, elapsed bool
	lower := strings.ToLower(code)
	for i := 0; i < len(lower); i++ {
		switch c := lower[i]; c {
		case '"':
			n := strings.IndexByte(lower[i+1:], '"')
			if n < 0 {
				i = len(lower)
				break
			}
			i += n + 1
		case '\\', '_', '*':
			i++
		case '[':
			n := strings.IndexByte(lower[i:], ']')
			if n < 0 {
				i = len(lower)
				break
			}
			elapsed = elapsed || n > 1 && strings.Trim(lower[i+1:i+n], "hms") == ""
			i += n
		case ';':
			i = len(lower)
		case 'y', 'd', 'e', 'g', 'b':
			// E is the year of an era, unless it is an exponent.
			if c == 'e' && i+1 < len(lower) && (lower[i+1] == '+' || lower[i+1] == '-') {
				return number
			}
			if strings.HasPrefix(lower[i:], "general") {
				return number
			}
			hasDay = true
		case 'm':
			hasMonth = true
		case 'h', 's':
			hasTime = true
		case '0', '#', '?':
			// The digits of a fraction of a second follow a point behind s.
			if !hasTime {
				return number
			}
		}
	}
	switch {
	case elapsed:
		return number
	case hasDay && hasTime:
		return instant
	case hasDay:
		return date
	case hasTime:
		return timeOfDay
	case hasMonth:
		return date
	}
	return number
}
