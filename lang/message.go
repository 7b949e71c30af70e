package lang

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"github.com/noren-privacy/noren"
)

// MessageText is the text of a message that has a code and arguments by name, in each language.
//
// {name} is an argument, the same in every language; {#name} is one that is a number, with commas
// in it; {name:set} is a word of [messageWords], {name:text} a text of ours, and {name:sentence} one
// that begins a sentence; these are in English where they were stored.
// {name|one|other} is the word that fits a number. [name?text] is there where the argument is
// neither 0 nor "" nor absent, and [name?text|other] has another text otherwise; [#name?text]
// looks at an argument that is a number in a string. Parts may be within each other.
type MessageText struct{ Code, English, Japanese string }

// message is the text of a code in English. Its translation has the context "message", a space and
// the code.
type message struct{ code, english string }

// Messages returns the texts of all codes.
func Messages() []MessageText {
	var all []MessageText
	for _, m := range englishMessages() {
		all = append(all, MessageText{m.code, m.english, translationOf("message "+m.code, m.english)})
	}
	return all
}

// englishMessages are the texts of all codes in English.
func englishMessages() []message {
	return slices.Concat(tableMessages, releaseMessages, bookMessages, questionMessages, marginMessages())
}

// messages finds the parsed texts of a code, by language. Those of Japanese are read when they are
// first needed.
var messages = [2]func() map[string]template{
	English: sync.OnceValue(func() map[string]template {
		found := map[string]template{}
		for _, m := range englishMessages() {
			found[m.code] = parseTemplate(m.english)
		}
		return found
	}),
	Japanese: sync.OnceValue(func() map[string]template {
		found := map[string]template{}
		for _, m := range Messages() {
			found[m.Code] = parseTemplate(m.Japanese)
		}
		return found
	}),
}

// Message is the text of a code with its arguments, which are strings and numbers; ok is false
// for a code that has none.
func (l Lang) Message(code string, args map[string]any) (text string, ok bool) {
	of, ok := messages[l]()[code]
	if !ok {
		return "", false
	}
	var b strings.Builder
	of.write(&b, l, args)
	return b.String(), true
}

// template is a text in its parts.
type template []templatePart

// templatePart is text of its own, or an argument, or a choice by one.
type templatePart struct {
	literal    string
	name, set  string
	numeric    bool     // the argument is a number
	plural     bool     // yes where the argument is one, otherwise no
	condition  bool     // yes where the argument is there, otherwise no
	yes, other template // of a choice
}

func (t template) write(b *strings.Builder, l Lang, args map[string]any) {
	for i := range t {
		p := &t[i]
		value, present := args[p.name]
		switch {
		case p.name == "":
			b.WriteString(p.literal)
		case p.plural && fmt.Sprint(value) == "1", p.condition && p.holds(value):
			p.yes.write(b, l, args)
		case p.plural || p.condition:
			p.other.write(b, l, args)
		case p.numeric:
			b.WriteString(Number(number(value)))
		case present:
			b.WriteString(l.messageArgument(p.set, value))
		}
	}
}

// messageArgument is an argument as it is shown. set is what its words are of; "" for an argument
// that is the same in every language.
func (l Lang) messageArgument(set string, value any) string {
	switch value := value.(type) {
	case string:
		if word, ok := messageWords[set+"."+value]; ok {
			if l == Japanese {
				return translationOf("word "+set, word)
			}
			return word
		}
		switch set {
		case "text":
			return l.Foreign(value)
		case "sentence":
			return l.Beginning(l.Foreign(value))
		}
		return value
	case noren.Text:
		if set == "sentence" {
			return l.Beginning(l.Shown(value))
		}
		return l.Shown(value)
	case float64: // as JSON has it
		return strconv.FormatFloat(value, 'f', -1, 64)
	}
	return fmt.Sprint(value)
}

// Beginning is a text with a capital letter where it begins a sentence of English. A file or a column
// that a text begins with keeps its name.
func (l Lang) Beginning(text string) string {
	first, size := utf8.DecodeRuneInString(text)
	if word, _, _ := strings.Cut(text, " "); l != English || size == 0 || strings.ContainsAny(word, "._:/\\") {
		return text
	}
	return string(unicode.ToUpper(first)) + text[size:]
}

// number is an argument as a number.
func number(value any) float64 {
	switch value := value.(type) {
	case int:
		return float64(value)
	case int64:
		return float64(value)
	case float64:
		return value
	}
	return math.NaN()
}

// holds reports whether an argument is there and not nothing.
func (p *templatePart) holds(value any) bool {
	n := number(value)
	if s, ok := value.(string); ok {
		if !p.numeric {
			return s != ""
		}
		n, _ = strconv.ParseFloat(s, 64)
	}
	return n != 0 && !math.IsNaN(n)
}

// parseTemplate takes a template apart.
func parseTemplate(text string) template {
	p := &templateParser{text: text}
	return p.parts("")
}

// templateParser takes a template apart.
type templateParser struct {
	text string
	at   int
}

// parts reads to the end of the text, or to one of the characters of end, which is not read.
func (p *templateParser) parts(end string) template {
	var out template
	literal := ""
	for p.at < len(p.text) && strings.IndexByte(end, p.text[p.at]) < 0 {
		open := p.text[p.at]
		if open != '{' && open != '[' {
			literal += p.text[p.at : p.at+1]
			p.at++
			continue
		}
		if literal != "" {
			out = append(out, templatePart{literal: literal})
			literal = ""
		}
		p.at++
		if open == '{' {
			out = append(out, p.argument())
		} else {
			out = append(out, p.choice())
		}
	}
	if literal != "" {
		out = append(out, templatePart{literal: literal})
	}
	return out
}

// argument reads the rest of an argument in braces.
func (p *templateParser) argument() templatePart {
	part := templatePart{numeric: p.read('#')}
	part.name, part.set, _ = strings.Cut(p.until("|}"), ":")
	if p.read('|') {
		part.plural = true
		part.yes = p.parts("|}")
		p.read('|')
		part.other = p.parts("}")
	}
	p.read('}')
	return part
}

// choice reads the rest of a choice in brackets.
func (p *templateParser) choice() templatePart {
	part := templatePart{condition: true, numeric: p.read('#')}
	part.name = p.until("?]")
	p.read('?')
	part.yes = p.parts("|]")
	if p.read('|') {
		part.other = p.parts("]")
	}
	p.read(']')
	return part
}

// until reads to one of the characters of end, which is not read.
func (p *templateParser) until(end string) string {
	from := p.at
	for p.at < len(p.text) && strings.IndexByte(end, p.text[p.at]) < 0 {
		p.at++
	}
	return p.text[from:p.at]
}

// read reads a character where it is the next.
func (p *templateParser) read(c byte) bool {
	if p.at < len(p.text) && p.text[p.at] == c {
		p.at++
		return true
	}
	return false
}

// MessageArguments are the names of the arguments that the texts of a code use, in one language.
func (l Lang) MessageArguments(code string) map[string]bool {
	found := map[string]bool{}
	messages[l]()[code].names(found)
	return found
}

func (t template) names(found map[string]bool) {
	for i := range t {
		if t[i].name != "" {
			found[t[i].name] = true
		}
		t[i].yes.names(found)
		t[i].other.names(found)
	}
}
