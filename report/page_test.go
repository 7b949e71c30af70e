package report_test

import (
	"encoding/xml"
	"errors"
	"io"
	"regexp"
	"strings"
	"testing"

	"github.com/noren-privacy/noren"
	"github.com/noren-privacy/noren/lang"
	"github.com/noren-privacy/noren/report"
)

var styled = regexp.MustCompile(`(?s)<style>.*?</style>`)

// checkPage holds a page to what every page guarantees: of bounded size, without
// scripts, without anything fetched, with every picture well formed and named
// and every element closed.
func checkPage(t *testing.T, page string) {
	t.Helper()
	if len(page) > sizeMost {
		t.Errorf("%d bytes, at most %d", len(page), sizeMost)
	}
	for _, no := range []string{"<script", "javascript:", "@import", "url(", "NaN", "Inf", "%!", "<nil>", "ZgotmplZ"} {
		if strings.Contains(page, no) {
			t.Errorf("the page holds %q", no)
		}
	}
	// The page is written in the XML form but for its void elements.
	text := styled.ReplaceAllString(page, "")
	text = regexp.MustCompile(`<meta([^>]*)>`).ReplaceAllString(text, "<meta$1/>")
	text = strings.Replace(text, "<!doctype html>", "", 1)
	dec := xml.NewDecoder(strings.NewReader(text))
	ids, pictures := map[string]bool{}, 0
	for {
		token, err := dec.Token()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatalf("not well formed: %v", err)
		}
		start, ok := token.(xml.StartElement)
		if !ok {
			continue
		}
		values := map[string]string{}
		for _, a := range start.Attr {
			values[a.Name.Local] = a.Value
			name := a.Name.Local
			if strings.HasPrefix(name, "on") || name == "src" || name == "style" || name == "href" && !strings.HasPrefix(a.Value, "#") {
				t.Errorf("<%s> has %s=%q", start.Name.Local, name, a.Value)
			}
		}
		if id := values["id"]; id != "" {
			if ids[id] {
				t.Errorf("id %s stands twice", id)
			}
			ids[id] = true
		}
		if start.Name.Local == "svg" {
			pictures++
			if values["role"] != "img" || values["aria-label"] == "" {
				t.Errorf("a picture has no name to be read out")
			}
		}
	}
	if pictures == 0 {
		t.Error("no picture")
	}
}

const hostile = `"><script>alert(1)</script>'` + "\x00\x1b\u202e]]>&amp;\xff\n{{.}}"

// Whatever text comes from data, the page is the same but for that text.
func TestHostileNames(t *testing.T) {
	v := 0.5
	values := [][]*float64{{&v, nil}, {nil, &v}}
	names := []string{hostile, hostile}
	numbers := []float64{1, 2}
	table := &report.Table{
		Caption: report.Verbatim(hostile), Header: report.Verbatims(names...),
		Rows: [][]noren.Text{report.Verbatims(names...)},
	}
	charts := []report.Chart{
		&report.Bars{
			Title: report.Verbatim(hostile), Labels: report.Verbatims(names...),
			Series: []report.Series{{Name: report.Verbatim(hostile), Values: numbers}}, Axis: report.Verbatim(hostile),
			Across: report.Verbatim(hostile),
		},
		&report.Bars{
			Title: report.Verbatim(hostile), Labels: report.Verbatims(names...),
			Series: []report.Series{{Name: report.Verbatim(hostile), Values: numbers}}, Axis: report.Verbatim(hostile), Horizontal: true,
		},
		&report.Overlay{
			Title: report.Verbatim(hostile), Edges: []float64{0, 1, 2},
			First: report.Series{Name: report.Verbatim(hostile), Values: numbers}, Second: report.Series{
				Name: report.Verbatim(hostile), Values: numbers,
			}, Across: report.Verbatim(hostile),
		},
		&report.Lines{
			Title: report.Verbatim(hostile), Curves: []report.Curve{{Name: report.Verbatim(hostile), X: numbers, Y: numbers}},
			Across: report.Verbatim(hostile), Axis: report.Verbatim(hostile),
		},
		&report.HeatMap{Title: report.Verbatim(hostile), Names: names, Panels: []report.Panel{{Name: report.Verbatim(hostile), Values: values}}},
	}
	p := &report.Page{
		Title: report.Verbatim(hostile), Lead: report.Verbatim(hostile), Private: true, Footer: report.Verbatim(hostile),
		Glossary: []report.Term{{Name: report.Verbatim(hostile), Meaning: report.Verbatim(hostile)}},
	}
	blocks := []report.Block{
		{Text: report.Verbatim(hostile)},
		{Note: report.Verbatim(hostile)},
		{Heading: report.Verbatim(hostile)},
		{Table: table},
		{Figures: []report.Figure{{
			Value: report.Verbatim(hostile), Name: report.Verbatim(hostile), Explain: report.Verbatim(hostile),
			Tone: hostile,
		}}},
	}
	for _, c := range charts {
		blocks = append(blocks, report.Block{Picture: &report.Picture{Chart: c, Caption: report.Verbatim(hostile), Table: table}})
	}
	p.Sections = []report.Section{{Title: report.Verbatim(hostile), Blocks: blocks}}
	page := write(t, p)
	if strings.Contains(page, "<script") || strings.Contains(page, "alert(1)</script>") {
		t.Error("a name became markup")
	}
	if strings.ContainsAny(page, "\u202e\x00\x1b") {
		t.Error("a mark that turns the direction of writing, or a control character, got through")
	}
	checkPage(t, page)
	for _, c := range charts {
		checkSVG(t, c)
	}
}

// checkSVG parses a picture on its own.
func checkSVG(t testing.TB, c report.Chart) string {
	t.Helper()
	var b strings.Builder
	if err := c.WriteSVG(&b, lang.English); err != nil {
		t.Fatal(err)
	}
	dec := xml.NewDecoder(strings.NewReader(b.String()))
	for {
		token, err := dec.Token()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatalf("not well formed: %v\n%s", err, b.String())
		}
		if start, ok := token.(xml.StartElement); ok && start.Name.Local == "script" {
			t.Fatal("a script")
		}
	}
	if strings.Contains(b.String(), "NaN") || strings.Contains(b.String(), "Inf") {
		t.Errorf("a coordinate is no number:\n%s", b.String())
	}
	return b.String()
}
