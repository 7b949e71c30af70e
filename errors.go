package noren

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
)

// Kind says what sort of failure an error is. The program's exit code is
// decided by it alone.
type Kind uint8

const (
	// Internal is a failure that is not the caller's: a full disk, a bug.
	Internal Kind = iota
	// Usage is a request that cannot be meant: a wrong flag, a specification
	// that contradicts itself or the file.
	Usage
	// BadData is an input that is not what it must be: a ragged row, a word
	// where a number should stand.
	BadData
	// NotMet is a guarantee that was asked for and does not hold.
	NotMet
	// Refused is a privacy budget that does not cover what was asked.
	Refused
	// Interrupted is work that the caller's context ended.
	Interrupted
)

// ExitCode is the process exit code that stands for k: 1 internal, 2 usage,
// 3 bad data, 4 guarantee not met, 5 budget refused, 130 interrupted.
func (k Kind) ExitCode() int {
	switch k {
	case Usage:
		return 2
	case BadData:
		return 3
	case NotMet:
		return 4
	case Refused:
		return 5
	case Interrupted:
		return 130
	default:
		return 1
	}
}

// String names k as the JSON contract does: "internal", "usage", "bad-data",
// "not-met", "refused" or "interrupted".
func (k Kind) String() string {
	switch k {
	case Usage:
		return "usage"
	case BadData:
		return "bad-data"
	case NotMet:
		return "not-met"
	case Refused:
		return "refused"
	case Interrupted:
		return "interrupted"
	default:
		return "internal"
	}
}

// Error is a failure with a kind. Its text reads "where: what: cause (hint)";
// no part of it ever holds a cell's value.
//
// What and Hint are formats of package fmt where they have arguments, and otherwise the
// texts themselves. The arguments are those of a [Text].
type Error struct {
	Kind Kind
	// Code names the fault for programs, stable between versions, as in
	// "column-missing"; may be empty. It is one of [Codes], whose kind is Kind.
	Code string
	// Where is the file and position, the flag or the part of a specification: an argument of
	// a [Text]. A string is the name of a flag, field or column. It may be nil.
	Where    any
	What     Format // what is wrong, and what was expected
	Args     []any  // the arguments of What; may be nil
	Hint     Format // what to do about it; may be empty
	HintArgs []any  // the arguments of Hint; may be nil
	Err      error  // the cause; may be nil
}

// Error implements error.
func (e *Error) Error() string {
	var b strings.Builder
	if where := e.Place(); where != "" {
		b.WriteString(where)
		b.WriteString(": ")
	}
	b.WriteString(e.Said().String())
	if e.Err != nil {
		if e.What != "" {
			b.WriteString(": ")
		}
		b.WriteString(e.Err.Error())
	}
	if e.Hint != "" {
		b.WriteString(" (")
		b.WriteString(e.Advice().String())
		b.WriteString(")")
	}
	return b.String()
}

// Place is Where in English; "" for nowhere.
func (e *Error) Place() string {
	if e.Where == nil {
		return ""
	}
	return fmt.Sprint(e.Where)
}

// Said is what is wrong, with its arguments.
func (e *Error) Said() Text { return Text{e.What, e.Args} }

// Advice is what to do about it, with its arguments; zero for nothing.
func (e *Error) Advice() Text { return Text{e.Hint, e.HintArgs} }

// Saying sets what is wrong, and returns the error.
func (e *Error) Saying(format Format, args ...any) *Error {
	e.What, e.Args = plain(format, args), args
	return e
}

// SayingText is [Error.Saying] for a text.
func (e *Error) SayingText(t Text) *Error {
	e.What, e.Args = t.Format, t.Args
	return e
}

// Advising is [Error.Hinted] for a text.
func (e *Error) Advising(t Text) *Error {
	e.Hint, e.HintArgs = t.Format, t.Args
	return e
}

// plain is a format without arguments as the text that it stands for.
func plain(format Format, args []any) Format {
	if len(args) == 0 {
		return Format(strings.ReplaceAll(string(format), "%%", "%"))
	}
	return format
}

// Usagef returns an error of kind Usage about where: a field of a request, an
// option or a file. The format says what was expected and what was found.
func Usagef(where any, format Format, args ...any) *Error {
	return &Error{Kind: Usage, Where: where, What: plain(format, args), Args: args}
}

// Hinted sets what to do about the error, and returns the error.
func (e *Error) Hinted(format Format, args ...any) *Error {
	e.Hint, e.HintArgs = plain(format, args), args
	return e
}

// Coded sets the code, and with it the kind that [Codes] has for the code. It
// returns the error.
func (e *Error) Coded(code string) *Error {
	e.Code = code
	if kind, known := kindOfCode(code); known {
		e.Kind = kind
	}
	return e
}

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

// CodeOf returns the code of the outermost [*Error] in err's chain that has
// one; "" if none has.
func CodeOf(err error) string {
	var e *Error
	for errors.As(err, &e) {
		if e.Code != "" {
			return e.Code
		}
		err = e.Err
	}
	return ""
}

// KindOf returns the kind of the outermost [*Error] in err's chain: that of its
// code where it has one of [Codes], otherwise its own. A context error is
// Interrupted, any other error Internal.
func KindOf(err error) Kind {
	if errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return Interrupted
	}
	var e *Error
	if errors.As(err, &e) {
		if kind, known := kindOfCode(e.Code); known {
			return kind
		}
		return e.Kind
	}
	return Internal
}

// Position is a place in a table file.
type Position struct {
	File   any    // the name it was opened by, or the [Place] of a table in a file; may be nil
	Line   int64  // 1-based line of a text file; 0 where there are no lines
	Record int64  // 1-based record, not counting a header; 0 where unknown
	Row    int64  // 1-based row of a sheet; 0 where there are none
	Field  int    // 1-based column; 0 where the whole record is meant
	Column string // the column's name; may be empty
}

// Place is p from the outer to the inner: the file, and what is in it.
func (p Position) Place() Place {
	var row, column Text
	switch {
	case p.Line > 0:
		row = Textf("line %d", p.Line)
	case p.Record > 0:
		row = Textf("record %d", p.Record)
	case p.Row > 0:
		row = Textf("row %d", p.Row)
	}
	switch {
	case p.Field > 0 && p.Column != "":
		column = Textf("column %d (%s)", p.Field, p.Column)
	case p.Field > 0:
		column = Textf("column %d", p.Field)
	case p.Column != "":
		column = Textf("column %s", p.Column)
	}
	var place Place
	switch file := fileOf(p.File).(type) {
	case nil:
	case Place:
		place = slices.Clone(file)
	case string: // empty
	default:
		place = Place{file}
	}
	switch {
	case row.IsZero() && column.IsZero():
		return place
	case row.IsZero():
		return append(place, column)
	case column.IsZero():
		return append(place, row)
	}
	return append(place, Textf("%s, %s", row, column))
}

// String writes p as "visits.csv: line 17, column 3 (age)".
func (p Position) String() string { return p.Place().String() }
