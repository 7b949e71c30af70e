package personal

import (
	"slices"
	"strings"
)

// eras are the Japanese eras by name and letter, with the year before the first.
var eras = []struct {
	name, letter string
	before       int
}{{"明治", "M", 1867}, {"大正", "T", 1911}, {"昭和", "S", 1925}, {"平成", "H", 1988}, {"令和", "R", 2018}}

// yearOf is the year of a date with year, month and day, however it is written:
// 1970-03-02, 02.03.1970, 3/2/1970, 19700302, 1970年3月2日, 昭和45年3月2日, S45.3.2;
// a time may follow.
func yearOf(text string) (year int, ok bool) {
	before := 0
	for _, e := range eras {
		rest, found := strings.CutPrefix(text, e.name)
		if !found {
			rest, found = strings.CutPrefix(text, e.letter)
			if found {
				found = rest != "" && (rest[0] >= '0' && rest[0] <= '9' || rest[0] == '.')
				rest = strings.TrimPrefix(rest, ".")
			}
		}
		if found {
			before, text = e.before, strings.Replace(rest, "元年", "1年", 1)
			break
		}
	}
	groups, lengths, ok := dateGroups(text)
	if !ok {
		return 0, false
	}
	var y, m, d int
	switch {
	case len(groups) == 1 && lengths[0] == 8 && before == 0:
		y, m, d = groups[0]/10000, groups[0]/100%100, groups[0]%100
	case len(groups) == 1 && lengths[0] == 6 && before > 0:
		y, m, d = groups[0]/10000, groups[0]/100%100, groups[0]%100
	case len(groups) < 3:
		return 0, false
	case before > 0 && lengths[0] <= 2:
		y, m, d = groups[0], groups[1], groups[2]
	case lengths[0] == 4:
		y, m, d = groups[0], groups[1], groups[2]
	case lengths[2] == 4:
		y, m, d = groups[2], groups[1], groups[0]
		if m > 12 {
			m, d = d, m
		}
	default:
		return 0, false
	}
	y += before
	return y, y >= 1850 && y <= 2150 && m >= 1 && m <= 12 && d >= 1 && d <= 31
}

// dateGroups are the first three numbers of text, which must hold nothing before
// the third but numbers and the separators of dates.
func dateGroups(text string) (groups, lengths []int, ok bool) {
	value, length := 0, 0
	flush := func() {
		if length > 0 {
			groups, lengths = append(groups, value), append(lengths, length)
		}
		value, length = 0, 0
	}
	for _, r := range text {
		switch {
		case r >= '0' && r <= '9':
			if length++; length > 8 {
				return nil, nil, false
			}
			value = 10*value + int(r-'0')
		case slices.Contains([]rune{'-', '/', '.', ' ', '年', '月'}, r) && length > 0:
			flush()
		case (r == '日' || r == 'T' || r == ' ') && (length > 0 || len(groups) > 0):
			flush()
			if len(groups) >= 3 {
				return groups, lengths, true
			}
		case len(groups) >= 3:
			return groups, lengths, true // a time
		default:
			return nil, nil, false
		}
	}
	flush()
	return groups, lengths, len(groups) > 0
}

// spread is over how many years the middle four fifths of years lie.
func spread(years []int) int {
	slices.Sort(years)
	n := len(years)
	return years[n-1-n/10] - years[n/10]
}

// IsDate reports whether text is a day with year, month and day, or an instant.
func IsDate(text string) bool {
	_, ok := yearOf(normal(text))
	return ok
}
