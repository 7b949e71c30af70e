package dataset

import (
	"bytes"

	"github.com/noren-privacy/noren/table"
)

// moment is a text with a time of day that has a fraction of a second or a distance from
// UTC, as databases and Parquet files write them: no layout of dates reads these.
type moment struct {
	parted   bool
	short    []byte // the text without both; nil where it has neither
	fraction []byte // digits, without zeros at the end
	east     int64  // seconds that its clock is ahead of UTC
}

// match is [table.Layout.Match] for the text without fraction and distance; at is by the
// clock of UTC.
func (m *moment) match(layout table.Layout, text []byte) (at int64, ok bool) {
	if !m.parted {
		m.part(text)
	}
	if m.short == nil {
		return 0, false
	}
	at, ok = layout.Match(m.short)
	return at - m.east, ok
}

// part parts the text.
func (m *moment) part(text []byte) {
	*m = moment{parted: true}
	rest, zulu := bytes.CutSuffix(text, []byte("Z"))
	if !zulu {
		rest, m.east = cutDistance(rest)
	}
	if at := bytes.LastIndexAny(rest, ".,"); at >= 3 && rest[at-3] == ':' && at+1 < len(rest) && len(rest)-at <= 10 && allDigits(rest[at+1:]) {
		rest, m.fraction = rest[:at], bytes.TrimRight(rest[at+1:], "0")
	}
	if len(rest) < len(text) {
		m.short = rest
	}
}

// cutDistance parts a text at +hh:mm, +hhmm or +hh behind a time of day.
func cutDistance(text []byte) (rest []byte, seconds int64) {
	for _, n := range []int{6, 5, 3} {
		at := len(text) - n
		if at < 5 || text[at] != '+' && text[at] != '-' || bytes.IndexByte(text[:at], ':') < 0 {
			continue
		}
		d := text[at+1:]
		if n == 6 && d[2] == ':' {
			d = []byte{d[0], d[1], d[3], d[4]}
		}
		if !allDigits(d) {
			continue
		}
		seconds = int64(d[0]-'0')*36000 + int64(d[1]-'0')*3600
		if len(d) == 4 {
			seconds += int64(d[2]-'0')*600 + int64(d[3]-'0')*60
		}
		if text[at] == '-' {
			seconds = -seconds
		}
		return bytes.TrimRight(text[:at], " "), seconds
	}
	return text, 0
}

func allDigits(text []byte) bool {
	for _, c := range text {
		if c < '0' || c > '9' {
			return false
		}
	}
	return len(text) > 0
}
