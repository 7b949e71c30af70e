package infer

import (
	"slices"

	"github.com/noren-privacy/noren/table"
)

// days are the layouts of days that are looked for, the more exact before
// those that read the same and more, and month before day where slashes stand
// and day before month where points or dashes do: of several that read a whole
// column the first is proposed.
var days = []table.Layout{
	"YYYY-MM-DD", "YYYY/MM/DD", "YYYY.MM.DD", "YYYYMMDD", "YYYY年MM月DD日",
	"YYYY-M-D", "YYYY/M/D", "YYYY.M.D", "YYYY年M月D日",
	"DD.MM.YYYY", "D.M.YYYY",
	"MM/DD/YYYY", "DD/MM/YYYY", "M/D/YYYY", "D/M/YYYY",
	"DD-MM-YYYY", "MM-DD-YYYY", "D-M-YYYY", "M-D-YYYY",
}

// others are the layouts of Japanese eras, of months and of years, which no time
// follows.
var others = []table.Layout{
	"GE年M月D日", "gEE.MM.DD", "gE.M.D", "gEE/MM/DD", "gE/M/D", "gE-M-D",
	"YYYY-MM", "YYYY/MM", "YYYY年MM月", "YYYY年M月", "GE年M月", "YYYY年", "GE年",
}

// times follow a day.
var times = []table.Layout{" hh:mm:ss", " hh:mm", "Thh:mm:ss", "Thh:mm", "Thh:mm:ssZ", " hh:mm:ssZ", " h:mm:ss", " h:mm"}

// Layouts are the layouts of dates that are looked for in texts.
func Layouts() []table.Layout { return layouts() }

// layouts are all that are looked for.
func layouts() []table.Layout {
	all := slices.Concat(days, others)
	for _, d := range days {
		if d == "YYYYMMDD" {
			continue
		}
		for _, t := range times {
			all = append(all, d+t)
		}
	}
	return append(all, "YYYYMMDDhhmmss", "YYYYMMDDhhmm", "YYYYMMDD hh:mm:ss", "YYYYMMDD hh:mm")
}

// dating is a layout that has read nearly all values so far.
type dating struct {
	layout             table.Layout
	smallest, largest  int64
	smallText, bigText string
	odds               odds // values that it does not read
}

// take shows a value and where it stands to the layout.
func (d *dating) take(text []byte, at odd) {
	v, ok := d.layout.Match(text)
	if !ok {
		d.odds.add(at)
		return
	}
	if d.smallText == "" || v < d.smallest {
		d.smallest, d.smallText = v, string(text)
	}
	if d.bigText == "" || v > d.largest {
		d.largest, d.bigText = v, string(text)
	}
}

// humanYears tells that the years are such as people live in.
func (d *dating) humanYears() bool {
	return year(d.layout, d.smallest) >= 1850 && year(d.layout, d.largest) <= 2150
}

// narrow keeps the layouts that read text, the n-th value, too, or all but a few of the values.
func narrow(all []dating, text []byte, at odd, n int64) []dating {
	kept := all[:0]
	for _, d := range all {
		if d.take(text, at); !tooMany(d.odds.n, n) {
			kept = append(kept, d)
		}
	}
	return kept
}

// different drops the layouts that read nothing otherwise than one before
// (a number with a leading zero or without). What is left of two or more
// leaves it open which number is the day.
func different(all []dating) []dating {
	var kept []dating
	for _, d := range all {
		same := func(k dating) bool {
			return k.smallest == d.smallest && k.largest == d.largest && sameOrder(k.layout, d.layout)
		}
		if !slices.ContainsFunc(kept, same) {
			kept = append(kept, d)
		}
	}
	return kept
}

// sameOrder reports whether two layouts name year, month and day in the same
// order.
func sameOrder(a, b table.Layout) bool {
	order := func(l table.Layout) string {
		var o []byte
		for i := range len(l) {
			if c := l[i]; (c == 'Y' || c == 'E' || c == 'M' || c == 'D') && (len(o) == 0 || o[len(o)-1] != c) {
				o = append(o, c)
			}
		}
		return string(o)
	}
	return order(a) == order(b)
}
