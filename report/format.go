package report

import (
	"strings"
	"unicode/utf8"

	"github.com/noren-privacy/noren"
	"github.com/noren-privacy/noren/report/text"
)

// Number writes v for people: see [text.Number].
func Number(v float64) string { return text.Number(v) }

// Integer writes n with thousands separated by commas.
func Integer[C ~int | ~int64](n C) string { return text.Integer(n) }

// Percent writes a share in [0,1] as a percentage: see [text.Percent].
func Percent(share float64) string { return text.Percent(share) }

// optional writes *v with f, or a dash when there is none.
func optional(v *float64, f func(float64) string) string {
	if v == nil {
		return "–"
	}
	return f(*v)
}

// Share writes a share that may not be known as a percentage, or a dash.
func Share(share *float64) string { return optional(share, Percent) }

// textWidth estimates how wide s is set in a sans-serif font of that size. It
// errs on the wide side, so that what is placed by it does not overlap.
func textWidth(s string, size float64) float64 {
	em := 0.0
	for _, r := range s {
		switch {
		case r >= 0x1100:
			em++
		case strings.ContainsRune("iljtf.,:;|!'()[]- ", r):
			em += 0.4
		case r >= 'A' && r <= 'Z' || strings.ContainsRune("mw%MW@", r):
			em += 0.78
		default:
			em += 0.635
		}
	}
	return em * size
}

// fit shortens s with an ellipsis until it is no wider than width. Characters
// that would break a line or turn its direction are replaced first.
func fit(s string, size, width float64) string {
	s = plain(s)
	if textWidth(s, size) <= width {
		return s
	}
	for len(s) > 0 && textWidth(s, size)+0.8*size > width {
		_, n := utf8.DecodeLastRuneInString(s)
		s = s[:len(s)-n]
	}
	return strings.TrimRight(s, " ") + "…"
}

// nameMost is how many characters of a name or a value from data are shown.
const nameMost = 60

// plain makes a name or a value from data fit for a line: it is made
// visible and, when very long, cut.
func plain(s string) string {
	if len(s) > nameMost {
		n := 0
		for at := range s {
			if n++; n > nameMost {
				s = s[:at] + "…"
				break
			}
		}
	}
	s = visible(s)
	if s == "" {
		return "(empty)"
	}
	return s
}

// place is where a table is, with its names fit for a line.
func place(where noren.Place) noren.Place { return noren.Place(fitting(where)) }

func fitting(args []any) []any {
	out := make([]any, len(args))
	for i, arg := range args {
		switch arg := arg.(type) {
		case string:
			out[i] = plain(arg)
		case noren.File:
			out[i] = noren.File(plain(string(arg)))
		case noren.Text:
			out[i] = noren.Text{Format: arg.Format, Args: fitting(arg.Args)}
		default:
			out[i] = arg
		}
	}
	return out
}

// visible turns control characters and the marks that reverse the direction of
// writing into visible blanks.
func visible(s string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r < ' ' || r >= 0x7f && r < 0xa0, r >= 0x202a && r <= 0x202e, r >= 0x2066 && r <= 0x2069, r == 0x2028, r == 0x2029:
			return '␣'
		}
		return r
	}, strings.ToValidUTF8(s, "\ufffd"))
}
