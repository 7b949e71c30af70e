// Package lang says the texts of Noren in the languages of its users.
//
// English texts are written where they are needed: in the errors of a library, in the
// sentences of a report. Their formats are the keys of one catalogue, with a translation
// of each ([Lang.Text]). A text that reaches a front end, such as an error,
// keeps its format and arguments ([Lang.Shown]); a finished text of another program is
// found as a whole ([Lang.Foreign]). lang/check reads the sources and counts formats
// without a translation, translations without a format, and those whose verbs are others.
package lang

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/noren-privacy/noren"
)

// Lang is a language. The zero Lang is English.
type Lang uint8

// The languages.
const (
	English Lang = iota
	Japanese
)

// All are all languages.
func All() []Lang { return []Lang{English, Japanese} }

// Key is a format of package fmt in English, by which its translations are found.
type Key string

// String is the code of a language: en or ja.
func (l Lang) String() string {
	if l == Japanese {
		return "ja"
	}
	return "en"
}

// Parse reads the code of a language, as in "ja", "en" or a locale such as
// "ja_JP.UTF-8"; the locales C and POSIX are English. ok is false for another language.
func Parse(text string) (l Lang, ok bool) {
	code, _, _ := strings.Cut(strings.ToLower(text), ".")
	code, _, _ = strings.Cut(strings.ReplaceAll(code, "-", "_"), "_")
	switch code {
	case "ja":
		return Japanese, true
	case "en", "c", "posix", "":
		return English, true
	}
	return English, false
}

// FromEnvironment is the language of the first of LC_ALL, LC_MESSAGES and LANG that get
// returns a text for; English for a language that Noren does not speak.
func FromEnvironment(get func(name string) string) Lang {
	for _, name := range []string{"LC_ALL", "LC_MESSAGES", "LANG"} {
		if text := get(name); text != "" {
			l, _ := Parse(text)
			return l
		}
	}
	return English
}

// Text is a text in the language: the translation of its key with the arguments in it.
//
// Arguments are taken over as they are: they may be names of columns, values or files,
// which are the same in every language. Texts, such as a [noren.Text], are shown in the language.
//
// Space around a key is kept and is no part of what is looked up. Without arguments only
// %% is replaced.
func (l Lang) Text(key Key, args ...any) string {
	format := string(key)
	if l == Japanese {
		format, _ = translated(format)
	}
	if len(args) == 0 {
		return strings.ReplaceAll(format, "%%", "%")
	}
	if l != English {
		args = l.sayWords(args)
	}
	return noren.Format(format).Fill(args...)
}

// Spoken is an argument that is made in the language in which it is shown.
type Spoken func(l Lang) string

// String is the argument in English.
func (s Spoken) String() string { return s(English) }

// Shown is a text in the language. Its arguments that are texts too are shown in it.
func (l Lang) Shown(t noren.Text) string {
	if len(t.Args) == 0 {
		return l.phrase(string(t.Format))
	}
	format := t.Format
	if marked, ok := marks[format]; ok && l == Japanese {
		format = marked
	}
	return l.Text(Key(format), t.Args...)
}

// marks are formats without words, with the marks of Japanese.
var marks = map[noren.Format]noren.Format{"%s (%s)": "%s（%s）", "%s, %s": "%s、%s", "%s. %s": "%s。%s", "%s.": "%s。"}

// phrase is a text without arguments in the language.
func (l Lang) phrase(text string) string {
	if said, ok := l.fixed(text); ok {
		return said
	}
	return l.Term(text)
}

// fixed is a text without arguments in the language, where it is known. Its percent signs stand alone, in the catalogue
// alone or twice.
func (l Lang) fixed(text string) (string, bool) {
	if l == English {
		return text, true
	}
	for _, format := range []string{text, strings.ReplaceAll(text, "%", "%%")} {
		if said, ok := translated(format); ok {
			return strings.ReplaceAll(said, "%%", "%"), true
		}
	}
	return text, false
}

// sayWords says the arguments that are texts.
func (l Lang) sayWords(args []any) []any {
	out := slices.Clone(args)
	for i, arg := range out {
		out[i] = l.shown(arg)
	}
	return out
}

// shown is an argument in the language: a string where it is a text, and otherwise itself.
func (l Lang) shown(arg any) any {
	switch arg := arg.(type) {
	case noren.Phrase:
		return l.phrase(string(arg))
	case noren.Term:
		return l.phrase(string(arg))
	case noren.Place:
		parts := make([]string, len(arg))
		for i, part := range arg {
			parts[i] = l.argument(part)
		}
		return strings.Join(parts, ": ")
	case noren.Position:
		return l.shown(arg.Place())
	case noren.Foreign:
		return l.Foreign(string(arg))
	case noren.Text:
		return l.Shown(arg)
	case noren.Paragraph:
		if l == English {
			return arg.String()
		}
		return l.inRow(noren.Texts(arg), "")
	case noren.Names:
		if l == English {
			return arg.String()
		}
		return strings.Join(arg, "、")
	case noren.Sentence:
		if l == English {
			return arg.String()
		}
		return l.Shown(noren.Text(arg)) + "。"
	case noren.Commas:
		if l == English {
			return arg.String()
		}
		return l.inRow(noren.Texts(arg), "、")
	case noren.Texts:
		return l.inRow(arg, "; ")
	case noren.Lines:
		return l.inRow(noren.Texts(arg), "\n  ")
	case Spoken:
		return arg(l)
	case interface{ Text() noren.Text }:
		return l.Shown(arg.Text())
	case interface{ Texts() noren.Texts }:
		return l.inRow(arg.Texts(), "; ")
	case error:
		return l.Error(arg)
	}
	return arg
}

// argument is an argument of a text in the language.
func (l Lang) argument(arg any) string { return fmt.Sprint(l.shown(arg)) }

// inRow shows texts with between between them.
func (l Lang) inRow(texts noren.Texts, between string) string {
	parts := make([]string, len(texts))
	for i, t := range texts {
		parts[i] = l.Shown(t)
	}
	return strings.Join(parts, between)
}

// Speaker is a writer whose reader has a language.
type Speaker interface {
	io.Writer
	Lang() Lang
}

// Of is the language of a writer: its own if it is a [Speaker], otherwise that of what it
// writes to where it has a method Unwrap; English where no language is found.
func Of(w io.Writer) Lang {
	for {
		if s, ok := w.(Speaker); ok {
			return s.Lang()
		}
		inner, ok := w.(interface{ Unwrap() io.Writer })
		if !ok {
			return English
		}
		w = inner.Unwrap()
	}
}

// Fprintf writes a text to w in the language of w.
func Fprintf(w io.Writer, key Key, args ...any) {
	_, _ = io.WriteString(w, Of(w).Text(key, args...))
}

// Fprintln writes a text and a new line to w in the language of w.
func Fprintln(w io.Writer, key Key, args ...any) {
	_, _ = io.WriteString(w, Of(w).Text(key, args...)+"\n")
}
