package table

import (
	"errors"
	"fmt"
	"strings"
	"time"
)

// Layout is how dates are written, in the tokens YYYY, MM, DD, hh, mm and ss;
// every other character stands for itself ("YYYY年MM月DD日"). M, D and h stand
// for numbers without a leading zero. A layout with hh is an instant and
// counted in seconds, any other a day.
type Layout string

// ISODate is the layout that stands where none is given.
const ISODate Layout = "YYYY-MM-DD"

var layoutTokens = []struct{ token, goform string }{
	{"YYYY", "2006"},
	{"MM", "01"},
	{"DD", "02"},
	{"hh", "15"},
	{"mm", "04"},
	{"ss", "05"},
	{"M", "1"},
	{"D", "2"},
}

// form is l as package time writes it. Letters that are no token would be
// taken by package time for layouts of its own, so only those that cannot be
// mistaken pass (T, Z and letters beyond ASCII).
func (l Layout) form() (string, error) {
	rest := string(l)
	if rest == "" {
		rest = string(ISODate)
	}
	var b strings.Builder
	seen := map[string]bool{}
next:
	for rest != "" {
		for _, t := range layoutTokens {
			if strings.HasPrefix(rest, t.token) {
				key := strings.ToUpper(t.token[:1])
				if t.token == "mm" {
					key = "m"
				}
				if seen[key] {
					return "", fmt.Errorf("date layout names %s twice", t.token)
				}
				seen[key] = true
				b.WriteString(t.goform)
				rest = rest[len(t.token):]
				continue next
			}
		}
		c := rest[0]
		switch {
		case c >= '0' && c <= '9', c >= 'a' && c <= 'z', c >= 'A' && c <= 'Y' && c != 'T', c == '_':
			return "", fmt.Errorf("date layout: %q is no token; use YYYY MM DD hh mm ss", string(c))
		}
		b.WriteByte(c)
		rest = rest[1:]
	}
	if !seen["Y"] {
		return "", errors.New("date layout names no year (YYYY)")
	}
	return b.String(), nil
}

// Validate reports whether l can be used.
func (l Layout) Validate() error {
	_, err := l.form()
	return err
}

// HasTime reports whether l tells the time of day, so that its values count
// seconds and not days.
func (l Layout) HasTime() bool { return strings.Contains(string(l), "hh") }

const secondsPerDay = 24 * 60 * 60

// Parse reads text and returns days (or, with a time of day, seconds) since
// 1 January 1970 UTC. The error does not repeat the text.
func (l Layout) Parse(text string) (int64, error) {
	form, err := l.form()
	if err != nil {
		return 0, err
	}
	return l.parseForm(form, text)
}

func (l Layout) parseForm(form, text string) (int64, error) {
	t, err := time.Parse(form, text)
	if err != nil {
		return 0, fmt.Errorf("expected a date like %s", l.orISO())
	}
	return l.units(t.Unix()), nil
}

// Format writes v, in the unit of [Layout.Parse].
func (l Layout) Format(v int64) string {
	form, err := l.form()
	if err != nil {
		form, _ = ISODate.form()
	}
	if !l.HasTime() {
		v *= secondsPerDay
	}
	return time.Unix(v, 0).UTC().Format(form)
}

func (l Layout) orISO() Layout {
	if l == "" {
		return ISODate
	}
	return l
}

func (l Layout) units(seconds int64) int64 {
	if l.HasTime() {
		return seconds
	}
	days := seconds / secondsPerDay
	if seconds%secondsPerDay < 0 {
		days--
	}
	return days
}
