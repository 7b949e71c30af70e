// Package glossary says what the terms of results mean, in the languages of users. Its
// texts are en.md and ja.md, which docs/ holds as well.
package glossary

import (
	"embed"
	"strings"

	"github.com/noren-privacy/noren/lang"
)

//go:embed en.md ja.md
var files embed.FS

// Term is a word of a result and what it means.
type Term struct {
	ID      string   `json:"id" doc:"The term in English, the same in every language."`
	Name    string   `json:"name" doc:"The term."`
	Also    []string `json:"also,omitempty" doc:"Other words under which it is found."`
	Text    string   `json:"text" doc:"What it means; the first sentence says what it is."`
	Example string   `json:"example" doc:"An example in numbers."`
}

// Document is the glossary of a language as Markdown: a section for each term.
func Document(l lang.Lang) string {
	text, err := files.ReadFile(l.String() + ".md")
	if err != nil {
		return "" // every language has its file: a test reads them
	}
	return string(text)
}

// Terms are the terms in the order of the document.
func Terms(l lang.Lang) []Term {
	var all []Term
	for i, section := range strings.Split(Document(l), "\n## ") {
		if i > 0 {
			all = append(all, parse(l, section))
		}
	}
	return all
}

// parse reads a section: its heading, lines that begin with a label, and paragraphs.
func parse(l lang.Lang, section string) Term {
	name, body, _ := strings.Cut(section, "\n")
	t := Term{ID: name, Name: name}
	var text []string
	for paragraph := range strings.SplitSeq(strings.TrimSpace(body), "\n\n") {
		if id, ok := strings.CutPrefix(paragraph, labels[l].term); ok && labels[l].term != "" {
			t.ID = id
		} else if also, ok := strings.CutPrefix(paragraph, labels[l].also); ok {
			t.Also = strings.Split(also, ", ")
		} else if example, ok := strings.CutPrefix(paragraph, labels[l].example); ok {
			t.Example = join(l, example)
		} else {
			text = append(text, join(l, paragraph))
		}
	}
	t.Text = strings.Join(text, " ")
	return t
}

// labels are how paragraphs begin that are no text: the term in English, other words for it,
// and the example.
var labels = map[lang.Lang]struct{ term, also, example string }{
	lang.English:  {"", "Also: ", "Example: "},
	lang.Japanese: {"英語: ", "別名: ", "例: "},
}

// join puts the lines of a paragraph into one. Japanese has no blank between them.
func join(l lang.Lang, paragraph string) string {
	between := " "
	if l == lang.Japanese {
		between = ""
	}
	return strings.Join(strings.Split(strings.TrimSpace(paragraph), "\n"), between)
}

// Find finds a term in a language by its name in any language, or by another word for it.
func Find(l lang.Lang, word string) (Term, bool) {
	for _, in := range []func(t Term) []string{
		func(t Term) []string { return []string{t.ID, t.Name} },
		func(t Term) []string { return t.Also },
	} {
		for _, other := range append([]lang.Lang{l}, lang.All()...) {
			for _, t := range Terms(other) {
				if among(in(t), word) {
					return named(l, t.ID)
				}
			}
		}
	}
	return Term{}, false
}

// named is the term of an id.
func named(l lang.Lang, id string) (Term, bool) {
	for _, t := range Terms(l) {
		if t.ID == id {
			return t, true
		}
	}
	return Term{}, false
}

// Words are all words under which a term is found, in a language.
func Words(l lang.Lang) (all []string) {
	for _, t := range Terms(l) {
		all = append(append(all, t.Name), t.Also...)
	}
	return all
}

// among reports whether word is one of names, without regard to case and blanks.
func among(names []string, word string) bool {
	for _, name := range names {
		if plain(name) == plain(word) {
			return true
		}
	}
	return false
}

func plain(word string) string {
	return strings.ToLower(strings.Join(strings.Fields(strings.NewReplacer("-", " ", "　", " ").Replace(word)), " "))
}

// First is the first sentence of what a term means.
func (t Term) First() string {
	for i, r := range t.Text {
		rest := t.Text[i+len(string(r)):]
		if r == '。' || r == '.' && (rest == "" || strings.HasPrefix(rest, " ")) {
			return t.Text[:i+len(string(r))]
		}
	}
	return t.Text
}
