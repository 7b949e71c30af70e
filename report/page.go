package report

import (
	"bytes"
	_ "embed"
	"fmt"
	"html/template"
	"io"
	"strings"

	"github.com/noren-privacy/noren"
	"github.com/noren-privacy/noren/lang"
	"github.com/noren-privacy/noren/report/text"
)

// Verbatim is a name, a value or a number, which is the same in every language.
func Verbatim(text string) noren.Text { return noren.Textf("%s", text) }

// Verbatims are names, values or numbers.
func Verbatims(words ...string) []noren.Text { return texts(words, Verbatim) }

// named is the name of a column, or a value of a table.
func named(text string) noren.Text {
	if text == "" {
		return noren.Textf("(empty)")
	}
	return Verbatim(plain(text))
}

// stated is a guarantee in one line.
func stated(g *noren.Guarantee) lang.Spoken {
	return func(l lang.Lang) string { return text.Statement(l, g) }
}

// texts are made of words, each by f.
func texts(words []string, f func(string) noren.Text) []noren.Text {
	out := make([]noren.Text, len(words))
	for i, s := range words {
		out[i] = f(s)
	}
	return out
}

// Page is a page for people.
type Page struct {
	Title noren.Text
	// Lead says in a sentence or two what the page is about.
	Lead noren.Text
	// Private puts a banner on top: the page holds statistics of an original
	// table and must not go out with a release.
	Private  bool
	Sections []Section
	Glossary []Term
	// Footer says what made the page. Optional.
	Footer noren.Text
	// Lang is the language in which the page is written. Defaults to English.
	Lang lang.Lang
}

// Section is a part of a page under a heading.
type Section struct {
	Title  noren.Text
	Blocks []Block
}

// Block is one of: a paragraph, a smaller heading, a remark set apart, a list,
// a row of key figures, a table or a picture. Exactly one of its fields is set.
type Block struct {
	Text    noren.Text
	Heading noren.Text // a smaller heading within the section
	Note    noren.Text
	List    []noren.Text
	Figures []Figure
	Table   *Table
	Picture *Picture
}

// Figure is one key figure.
type Figure struct {
	Value noren.Text
	Name  noren.Text
	// Explain says in one sentence what it means.
	Explain noren.Text
	// Tone colours the edge; the words carry the meaning all the same.
	Tone Tone
}

// Tone says whether a figure is good news.
type Tone string

const (
	Neutral Tone = ""        // neither
	Good    Tone = "good"    // what was hoped for
	Warning Tone = "warning" // to be looked at
)

// Picture is a chart with its caption, and the table of its numbers, which is
// folded away until asked for (and printed in full).
type Picture struct {
	Chart   Chart
	Caption noren.Text
	Table   *Table
}

// Term is an entry of the glossary.
type Term struct{ Name, Meaning noren.Text }

//go:embed page.html
var pageText string

// Write writes the page as one HTML file. Errors: those of w, and those of the
// template (kind Internal).
func (p *Page) Write(w io.Writer) error {
	t, err := template.New("page").Funcs(template.FuncMap{
		"svg":     func(c Chart) (template.HTML, error) { return inlineSVG(c, p.Lang) },
		"numeric": func(t *Table, i int) bool { return i < len(t.Numeric) && t.Numeric[i] },
		"say":     func(text noren.Text) string { return visible(p.Lang.Shown(text)) },
		"fixed":   func(text lang.Key) string { return p.Lang.Text(text) },
		"anchor":  func(i int) string { return fmt.Sprintf("section-%d", i+1) },
	}).Parse(pageText)
	if err != nil {
		return &noren.Error{What: "the page's template does not parse", Err: err}
	}
	var b bytes.Buffer
	if err := t.Execute(&b, p); err != nil {
		return &noren.Error{What: "the page cannot be made", Err: err}
	}
	_, err = w.Write(b.Bytes())
	return err
}

// inlineSVG is the chart as markup for the page. Every text in it went through
// escape, hence it is safe to pass on as it is.
func inlineSVG(c Chart, l lang.Lang) (template.HTML, error) {
	var b strings.Builder
	if err := c.WriteSVG(&b, l); err != nil {
		return "", err
	}
	return template.HTML(b.String()), nil
}

// In is the page in a language.
func (p *Page) In(l lang.Lang) *Page {
	p.Lang = l
	return p
}
