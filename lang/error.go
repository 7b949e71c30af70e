package lang

import (
	"errors"
	"strings"

	"github.com/noren-privacy/noren"
)

// Error is the text of an error in the language: where, what, the cause, and in
// parentheses what to do.
func (l Lang) Error(err error) string {
	if l == English || err == nil {
		if err == nil {
			return ""
		}
		return err.Error()
	}
	switch e := err.(type) {
	case *noren.Error:
		var b strings.Builder
		if e.Place() != "" {
			where := l.argument(e.Where)
			b.WriteString(where + ": ")
		}
		b.WriteString(l.Said(e.Said()))
		if e.Err != nil {
			if e.What != "" {
				b.WriteString(": ")
			}
			b.WriteString(l.Error(e.Err))
		}
		if e.Hint != "" {
			b.WriteString("（" + l.hint(e.Advice()) + "）")
		}
		return b.String()
	case interface{ Text() noren.Text }:
		return l.Shown(e.Text())
	case interface{ Unwrap() []error }:
		var lines []string
		for _, one := range e.Unwrap() {
			lines = append(lines, l.Error(one))
		}
		return strings.Join(lines, "\n")
	}
	text := err.Error()
	if inner := errors.Unwrap(err); inner != nil {
		if before, ok := strings.CutSuffix(text, inner.Error()); ok {
			if where, ok := strings.CutSuffix(before, ": "); ok {
				return l.place(where) + ": " + l.Error(inner)
			}
			return l.Say(before) + l.Error(inner)
		}
	}
	return l.Say(text)
}

// Said is a text of an error in the language. One without arguments may be a sentence that was finished
// before.
func (l Lang) Said(t noren.Text) string {
	switch {
	case l == English:
		return t.String()
	case len(t.Args) == 0:
		return l.Say(string(t.Format))
	}
	return l.Shown(t)
}

// hint says what to do about an error: one of a list of names, or a text.
func (l Lang) hint(t noren.Text) string {
	if list, ok := strings.CutPrefix(string(t.Format), "one of "); ok && len(t.Args) == 0 {
		if said := l.Say(string(t.Format)); said != string(t.Format) {
			return said
		}
		return "次のどれか: " + list
	}
	return l.Said(t)
}
