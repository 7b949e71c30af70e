package report

import (
	"encoding/xml"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"

	"github.com/noren-privacy/noren"
	"github.com/noren-privacy/noren/lang"
)

// Chart is a picture: [Bars], [Overlay], [Lines] or [HeatMap].
type Chart interface {
	// WriteSVG writes the picture as an SVG document of its own, in a language. Colours are
	// attributes, so that it looks right in any program; within a page, the
	// page's style takes their place.
	WriteSVG(w io.Writer, l lang.Lang) error
}

// The colours of series (Okabe and Ito's palette, told apart by people with any
// colour vision, in an order in which neighbours differ in lightness too) and
// of what is around them.
var palette = [...]string{"#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#5a5a5a"}

const (
	ink   = "#1f2328"
	muted = "#59636e"
	rule  = "#d8dee4"
)

// A drawing builds an SVG document.
type drawing struct {
	b strings.Builder
}

// words are texts in a language, each on a line.
func words(l lang.Lang, texts []noren.Text) []string {
	out := make([]string, len(texts))
	for i, t := range texts {
		out[i] = plain(l.Shown(t))
	}
	return out
}

// entitled is a kind of chart with its title.
func entitled(kind noren.Text, title string) noren.Text {
	if title == "" {
		return kind
	}
	return noren.Textf("%s: %s", kind, plain(title))
}

// newDrawing starts a picture; label is what it is read out as.
func newDrawing(width, height float64, label string) *drawing {
	d := &drawing{}
	fmt.Fprintf(&d.b,
		`<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %s %s" width="%s" height="%s" role="img" aria-label="%s" font-family="system-ui, -apple-system, 'Segoe UI', Roboto, 'Noto Sans', 'Noto Sans CJK JP', sans-serif">`,
		coord(width), coord(height), coord(width), coord(height), escape(label))
	d.b.WriteByte('\n')
	return d
}

func (d *drawing) writeTo(w io.Writer) error {
	d.b.WriteString("</svg>\n")
	_, err := io.WriteString(w, d.b.String())
	return err
}

// coord writes a coordinate to a tenth of a pixel.
func coord(v float64) string {
	if math.IsNaN(v) || math.IsInf(v*10, 0) {
		v = 0
	}
	return strconv.FormatFloat(math.Round(v*10)/10+0, 'f', -1, 64)
}

// escape makes text safe within an element or a double-quoted attribute.
// Characters that XML forbids become U+FFFD.
func escape(s string) string {
	var b strings.Builder
	_ = xml.EscapeText(&b, []byte(s)) // a strings.Builder takes everything
	return b.String()
}

type anchor string

const (
	left   anchor = "start"
	middle anchor = "middle"
	right  anchor = "end"
)

// text sets s with its baseline at y. class ink or muted says its colour.
func (d *drawing) text(x, y float64, at anchor, size float64, class, s string) {
	d.inked(x, y, at, size, class, escape(s))
}

// fitted is text that is cut to a width: see [label].
func (d *drawing) fitted(x, y float64, at anchor, size float64, class, s string, width float64) {
	d.inked(x, y, at, size, class, label(s, size, width))
}

func (d *drawing) inked(x, y float64, at anchor, size float64, class, content string) {
	fill := ink
	if class == "muted" {
		fill = muted
	}
	fmt.Fprintf(&d.b, `<text x="%s" y="%s" text-anchor="%s" font-size="%s" class="nr-%s" fill="%s">%s</text>`+"\n",
		coord(x), coord(y), at, coord(size), class, fill, content)
}

// label is the content of a text that is no wider than width. One that is cut has the name as its title, which
// browsers and screen readers show.
func label(s string, size, width float64) string {
	shown := fit(s, size, width)
	if whole := plain(s); shown != whole {
		return escape(shown) + "<title>" + escape(whole) + "</title>"
	}
	return escape(shown)
}

func (d *drawing) turned(x, y, size float64, s string, width float64) {
	fmt.Fprintf(&d.b,
		`<text transform="translate(%s %s) rotate(-90)" text-anchor="middle" font-size="%s" class="nr-muted" fill="%s">%s</text>`+"\n",
		coord(x), coord(y), coord(size), muted, label(s, size, width))
}

func (d *drawing) line(x1, y1, x2, y2 float64, class string) {
	stroke := rule
	if class == "axis" {
		stroke = muted
	}
	fmt.Fprintf(&d.b, `<line x1="%s" y1="%s" x2="%s" y2="%s" class="nr-%s" stroke="%s"/>`+"\n", coord(x1), coord(y1), coord(x2), coord(y2),
		class, stroke)
}

// bar is a filled rectangle in the colour of a series.
func (d *drawing) bar(x, y, w, h float64, series int) {
	fmt.Fprintf(&d.b, `<rect x="%s" y="%s" width="%s" height="%s" rx="1.5" class="nr-s%d" fill="%s"/>`+"\n",
		coord(x), coord(y), coord(max(0, w)), coord(max(0, h)), series%len(palette), palette[series%len(palette)])
}

// path is an outline in the colour of a series; fill is the opacity of the area
// within, 0 for none. dash sets series apart without colour.
func (d *drawing) path(data string, series int, width, fill float64, dash string) {
	colour := palette[series%len(palette)]
	class := fmt.Sprintf("nr-l%d", series%len(palette))
	inside := `fill="none"`
	if fill > 0 {
		class += fmt.Sprintf(" nr-a%d", series%len(palette))
		inside = fmt.Sprintf(`fill="%s" fill-opacity="%s"`, colour, strconv.FormatFloat(fill, 'g', -1, 64))
	}
	if dash != "" {
		inside += fmt.Sprintf(` stroke-dasharray="%s"`, dash)
	}
	stroke := fmt.Sprintf(`stroke="%s" stroke-width="%s" stroke-linejoin="round"`, colour, coord(width))
	if width == 0 {
		class = strings.TrimPrefix(class, fmt.Sprintf("nr-l%d ", series%len(palette)))
		stroke = `stroke="none"`
	}
	fmt.Fprintf(&d.b, `<path d="%s" class="%s" %s %s/>`+"\n", data, class, stroke, inside)
}

// dot marks a point; every series has a form of its own.
func (d *drawing) dot(x, y float64, series int) {
	const r = 3.2
	i := series % len(palette)
	style := fmt.Sprintf(`class="nr-s%d" fill="%s"`, i, palette[i])
	switch series % 4 {
	case 0:
		fmt.Fprintf(&d.b, `<circle cx="%s" cy="%s" r="%s" %s/>`+"\n", coord(x), coord(y), coord(r), style)
	case 1:
		fmt.Fprintf(&d.b, `<rect x="%s" y="%s" width="%s" height="%s" %s/>`+"\n", coord(x-r+.3), coord(y-r+.3), coord(2*r-.6), coord(2*r-.6),
			style)
	case 2:
		fmt.Fprintf(&d.b, `<path d="M%s %sl%s %sh%sz" %s/>`+"\n", coord(x), coord(y-r-.6), coord(r+.6), coord(2*r), coord(-2*r-1.2), style)
	default:
		fmt.Fprintf(&d.b, `<path d="M%s %sl%s %sl%s %sl%s %sz" %s/>`+"\n", coord(x), coord(y-r-.8), coord(r+.8), coord(r+.8), coord(-r-.8),
			coord(r+.8), coord(-r-.8), coord(-r-.8), style)
	}
}

// legend sets the names of the series in a row from x on, in as many lines as
// it takes to stay left of limit, and returns the height it took.
func (d *drawing) legend(x, y, limit float64, names []string, mark func(x, y float64, series int)) float64 {
	const size, box, gap, lineHeight = 12.5, 12, 20, 20
	cx, height := x, float64(lineHeight)
	for i, name := range names {
		most := limit - x - box - 6
		w := box + 6 + textWidth(fit(name, size, most), size)
		if cx > x && cx+w > limit {
			cx = x
			y += lineHeight
			height += lineHeight
		}
		mark(cx, y, i)
		d.fitted(cx+box+6, y+10, left, size, "ink", name, most)
		cx += w + gap
	}
	return height
}

func (d *drawing) square(x, y float64, series int) { d.bar(x, y, 12, 12, series) }

// title sets the picture's heading and returns the height it took.
func (d *drawing) title(s string, width float64) float64 {
	if s == "" {
		return 0
	}
	d.fitted(0, 15, left, 15, "ink", s, width)
	return 28
}
