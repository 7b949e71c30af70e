package lang

import (
	"errors"
	"io/fs"
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
			b.WriteString(l.argument(e.Where) + ": ")
		}
		b.WriteString(l.Shown(e.Said()))
		if e.Err != nil {
			if e.What != "" {
				b.WriteString(": ")
			}
			b.WriteString(l.Error(e.Err))
		}
		if e.Hint != "" {
			b.WriteString("（" + l.Shown(e.Advice()) + "）")
		}
		return b.String()
	case noren.Bug:
		return e.Error()
	case *fs.PathError:
		return e.Op + " " + e.Path + ": " + l.Error(e.Err)
	case interface{ Text() noren.Text }:
		return l.Shown(e.Text())
	case interface{ Unwrap() []error }:
		var lines []string
		for _, one := range e.Unwrap() {
			lines = append(lines, l.Error(one))
		}
		return strings.Join(lines, "\n")
	}
	if inner := errors.Unwrap(err); inner != nil && inner.Error() == err.Error() { // err adds no text
		return l.Error(inner)
	}
	return l.Foreign(err.Error())
}
