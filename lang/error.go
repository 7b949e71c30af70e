package lang

import (
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
		if e.Where != "" {
			b.WriteString(l.place(e.Where) + ": ")
		}
		b.WriteString(l.Say(e.What))
		if e.Err != nil {
			if e.What != "" {
				b.WriteString(": ")
			}
			b.WriteString(l.Error(e.Err))
		}
		if e.Hint != "" {
			b.WriteString("（" + l.Say(e.Hint) + "）")
		}
		return b.String()
	case interface{ Unwrap() []error }:
		var lines []string
		for _, one := range e.Unwrap() {
			lines = append(lines, l.Error(one))
		}
		return strings.Join(lines, "\n")
	}
	return l.Say(err.Error())
}

// place says where an error is: names are as they are.
func (l Lang) place(where string) string {
	file, column, found := strings.Cut(where, "column ")
	if !found || file != "" && !strings.HasSuffix(file, ": ") {
		return l.Say(where)
	}
	if said := l.Say(where); said != where {
		return said
	}
	return file + "列 " + column
}
