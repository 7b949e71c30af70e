package report

import (
	"bytes"
	_ "embed"
	"fmt"
	"html"
	"html/template"
	"io"
	"regexp"
	"slices"
	"strings"

	"github.com/noren-privacy/noren"
	"github.com/noren-privacy/noren/lang"
)

// Page is a page for people.
type Page struct {
	Title string
	// Lead says in a sentence or two what the page is about.
	Lead string
	// Private puts a banner on top: the page holds statistics of an original
	// table and must not go out with a release.
	Private  bool
	Sections []Section
	Glossary []Term
	// Footer says what made the page. Optional.
	Footer string
	// Lang is the language in which the page is written. Its texts are English ones, which
	// are found in the catalogue of package lang. Defaults to English.
	Lang lang.Lang
	// Keep are names of columns and values in titles and texts, which are the same in
	// every language.
	Keep []string
}

// Section is a part of a page under a heading.
type Section struct {
	Title  string
	Blocks []Block
}

// Block is one of: a paragraph, a smaller heading, a remark set apart, a list,
// a row of key figures, a table or a picture. Exactly one of its fields is set.
type Block struct {
	Text    string
	Heading string // a smaller heading within the section
	Note    string
	List    []string
	Figures []Figure
	Table   *Table
	Picture *Picture
}

// Figure is one key figure.
type Figure struct {
	Value string
	Name  string
	// Explain says in one sentence what it means.
	Explain string
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

// Table is a table of text. Its first column names the row.
type Table struct {
	Caption string
	Header  []string
	Rows    [][]string
	// Numeric[i] sets column i to the right. May be shorter than Header.
	Numeric []bool
	// Names says that the first column holds names of columns or values of a table, which
	// are the same in every language. Otherwise it holds texts of ours.
	Names bool
	// Keep are names of columns and values in other places of the table, which are the
	// same in every language.
	Keep []string
}

// In is the table in a language.
func (t *Table) In(l lang.Lang) *Table {
	if l == lang.English {
		return t
	}
	out := *t
	say := func(text string) string {
		if slices.Contains(t.Keep, text) {
			return text
		}
		if before, after, found := strings.Cut(text, " → "); found {
			return sayLabel(l, before, t.Keep) + " → " + sayLabel(l, after, t.Keep)
		}
		return sayLabel(l, text, t.Keep)
	}
	out.Caption, out.Header, out.Rows = say(t.Caption), make([]string, len(t.Header)), make([][]string, len(t.Rows))
	for i, head := range t.Header {
		out.Header[i] = sayLabel(l, l.Term(head), t.Keep)
	}
	for i, row := range t.Rows {
		out.Rows[i] = make([]string, len(row))
		for j, cell := range row {
			if j == 0 && t.Names {
				out.Rows[i][j] = cell
			} else {
				out.Rows[i][j] = say(cell)
			}
		}
	}
	return &out
}

// Picture is a chart with its caption, and the table of its numbers, which is
// folded away until asked for (and printed in full).
type Picture struct {
	Chart   Chart
	Caption string
	Table   *Table
}

// Term is an entry of the glossary.
type Term struct{ Name, Meaning string }

//go:embed page.html
var pageText string

// Write writes the page as one HTML file. Errors: those of w, and those of the
// template (kind Internal).
func (p *Page) Write(w io.Writer) error {
	t, err := template.New("page").Funcs(template.FuncMap{
		"svg":     func(c Chart) (template.HTML, error) { return inlineSVG(c, p.Lang, p.Keep) },
		"numeric": func(t *Table, i int) bool { return i < len(t.Numeric) && t.Numeric[i] },
		"visible": visible,
		"say":     func(text string) string { return visible(p.Lang.SayKeeping(text, p.Keep...)) },
		"label":   func(text string) string { return visible(sayLabel(p.Lang, text, p.Keep)) },
		"fixed":   func(text string) string { return p.Lang.Text(lang.Key(text)) },
		"in":      func(t *Table) *Table { return t.In(p.Lang) },
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
func inlineSVG(c Chart, l lang.Lang, keep []string) (template.HTML, error) {
	var b strings.Builder
	if err := c.WriteSVG(&b); err != nil {
		return "", err
	}
	text := b.String()
	if l != lang.English {
		keep = append(keep, names(c)...)
		text = svgTexts.ReplaceAllStringFunc(text, func(found string) string {
			m := svgTexts.FindStringSubmatch(found)
			said := sayLabel(l, html.UnescapeString(m[2]), keep)
			if strings.HasPrefix(m[1], "aria") {
				said = sides(l, keep).Replace(said)
			}
			return m[1] + escape(said) + m[3]
		})
	}
	return template.HTML(text), nil
}

// sayLabel says a heading, or the name of a figure or curve, which may end in what it is of.
func sayLabel(l lang.Lang, label string, keep []string) string {
	if l == lang.English || slices.Contains(keep, label) {
		return label
	}
	for _, of := range []lang.Key{"%s, original", "%s, release", "%s, expected"} {
		if name, found := strings.CutSuffix(label, strings.TrimPrefix(string(of), "%s")); found {
			return l.Text(of, l.SayKeeping(l.Term(name), keep...))
		}
	}
	return l.SayKeeping(l.Term(label), keep...)
}

// sides replaces the names of the two tables in what a picture is read out as, where no
// column or value has such a name.
func sides(l lang.Lang, keep []string) *strings.Replacer {
	var pairs []string
	for _, side := range []string{"original", "release"} {
		if !slices.Contains(keep, side) {
			pairs = append(pairs, side, l.Term(side))
		}
	}
	return strings.NewReplacer(pairs...)
}

// names are the names of columns and values in a picture.
func names(c Chart) []string {
	switch c := c.(type) {
	case *Bars:
		return slices.Clone(c.Labels[:max(0, len(c.Labels)-c.Ours)])
	case *HeatMap:
		return slices.Clone(c.Names)
	}
	return nil
}

// svgTexts finds the texts of a picture: its own texts, and what it is read out as.
var svgTexts = regexp.MustCompile(`(>|aria-label=")([^<>"]*[A-Za-z]{2}[^<>"]*)(</text>|")`)

// In is the page in a language.
func (p *Page) In(l lang.Lang) *Page {
	p.Lang = l
	return p
}
