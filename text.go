package noren

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Format is a format of package fmt in English, by which its translations are found. One
// that is shown without arguments is the text itself: its percent signs stand alone. It may choose
// words by a number, as in "%d {row|rows}": [Format.Fill] says more.
type Format string

// Phrase is a text of Noren without arguments, which is an argument of another text.
type Phrase string

// Term is a word of Noren that stands alone, such as a role, a label or a stored word of a closed list, which is an
// argument of a text. One that is not known is the same in every language.
type Term string

// File is a file, folder or table, as it was named. What shows a text may show the last part
// of it alone, as a server does, whose readers are not to learn the folders of the host.
type File string

// Place is where something is, from the outer to the inner, such as a file, a sheet and a column.
// Its parts are arguments of texts; ": " stands between them.
type Place []any

// String is the place in English.
func (p Place) String() string {
	parts := make([]string, len(p))
	for i, part := range p {
		parts[i] = fmt.Sprint(part)
	}
	return strings.Join(parts, ": ")
}

// MarshalText is the place in English: the form of JSON, which programs read.
func (p Place) MarshalText() ([]byte, error) { return []byte(p.String()), nil }

// UnmarshalText takes a place from its English, whose parts cannot be told any more.
func (p *Place) UnmarshalText(text []byte) error {
	*p = nil
	if len(text) > 0 {
		*p = Place{File(text)}
	}
	return nil
}

// Foreign is a text of another program or library. It is translated where it is known,
// and otherwise shown as it is.
type Foreign string

// Text is a text that people read: a format and its arguments.
//
// Arguments keep their types until the text is shown. A string, such as the name of a
// column or a value, is the same in every language, even where it reads like a text of
// Noren. A Text, [Texts], [Commas], [Lines], a [Phrase], a [Term], a [Sentence], a [Paragraph],
// [Names], a [Place], a [Position], a [Foreign] and an error are shown in
// the language of the reader, and so is what has a method Text that returns a Text. A [File] is one wherever it is.
type Text struct {
	Format Format
	Args   []any
}

// Textf is the text of a format and its arguments.
func Textf(format Format, args ...any) Text { return Text{format, args} }

// String is the text in English.
func (t Text) String() string {
	if len(t.Args) == 0 {
		return string(t.Format)
	}
	return t.Format.Fill(t.Args...)
}

// MarshalText is the text in English: the form of JSON, which programs read.
func (t Text) MarshalText() ([]byte, error) { return []byte(t.String()), nil }

// UnmarshalText takes a text from its English, whose arguments cannot be told any more.
func (t *Text) UnmarshalText(text []byte) error {
	*t = Text{}
	if len(text) > 0 {
		*t = Text{"%s", []any{Foreign(text)}}
	}
	return nil
}

// IsZero reports whether there is no text.
func (t Text) IsZero() bool { return t.Format == "" }

// Equal reports whether both are the same text.
func (t Text) Equal(other Text) bool { return t.String() == other.String() }

// Sentences are texts without arguments.
func Sentences(formats ...Format) Texts {
	out := make(Texts, len(formats))
	for i, f := range formats {
		out[i] = Text{Format: f}
	}
	return out
}

// Texts are texts in a row, such as faults, between which "; " stands.
type Texts []Text

// String is the texts in English.
func (t Texts) String() string { return t.Join("; ") }

// Text is the texts as one, with "; " between them, and no text where there are none.
func (t Texts) Text() Text {
	switch len(t) {
	case 0:
		return Text{}
	case 1:
		return t[0]
	}
	return Text{"%s", []any{t}}
}

// Join is the texts in English with between between them.
func (t Texts) Join(between string) string {
	parts := make([]string, len(t))
	for i, one := range t {
		parts[i] = one.String()
	}
	return strings.Join(parts, between)
}

// Paragraph is sentences one after the other.
type Paragraph []Text

// String is the paragraph in English.
func (p Paragraph) String() string { return Texts(p).Join(" ") }

// Commas are texts in a row with commas between them.
type Commas []Text

// String is the texts in English.
func (c Commas) String() string { return Texts(c).Join(", ") }

// Names are names in a row, such as those of columns, with "and" before the last one.
type Names []string

// String is the names in English.
func (n Names) String() string {
	if len(n) < 2 {
		return strings.Join(n, "")
	}
	return strings.Join(n[:len(n)-1], ", ") + " and " + n[len(n)-1]
}

// Lines are texts of which each begins a line, two blanks in.
type Lines []Text

// String is the texts in English.
func (t Lines) String() string { return Texts(t).Join("\n  ") }

// Sentence is a text as a sentence: it begins with a capital letter, where its format begins with a
// letter, and ends with a full stop.
type Sentence Text

// String is the sentence in English.
func (s Sentence) String() string {
	shown := Text(s).String()
	if first, size := utf8.DecodeRuneInString(s.beginning()); unicode.IsLower(first) {
		shown = string(unicode.ToUpper(first)) + shown[size:]
	}
	return shown + "."
}

// beginning is the format that the sentence begins with.
func (s Sentence) beginning() string {
	if len(s.Args) > 0 && strings.HasPrefix(string(s.Format), "%s") {
		switch first := s.Args[0].(type) {
		case Text:
			return Sentence(first).beginning()
		case Foreign:
			return string(first)
		case Texts:
			if len(first) > 0 {
				return Sentence(first[0]).beginning()
			}
		}
	}
	return string(s.Format)
}

// TextOf is what an error says, as a text: that of its method Text where it has one, and
// otherwise its words.
func TextOf(err error) Text {
	if t, ok := err.(interface{ Text() Text }); ok {
		return t.Text()
	}
	if _, ours := err.(*Error); ours {
		return Text{"%s", []any{err}}
	}
	return Text{"%s", []any{Foreign(err.Error())}}
}
