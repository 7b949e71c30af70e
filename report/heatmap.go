package report

import (
	"fmt"
	"io"
	"math"
	"strings"

	"github.com/noren-privacy/noren"
	"github.com/noren-privacy/noren/lang"
)

// HeatMap is one or two square matrices of numbers in [-1,1] side by side,
// correlations above all. A nil entry is not defined and shown as a
// dash on grey.
type HeatMap struct {
	Title  noren.Text
	Names  []string // of rows and columns
	Panels []Panel
}

// Panel is one matrix of a [HeatMap].
type Panel struct {
	Name   noren.Text
	Values [][]*float64
}

// WriteSVG implements [Chart].
func (m *HeatMap) WriteSVG(w io.Writer, l lang.Lang) error {
	const size, gap = 11.5, 28.0
	n := float64(max(1, len(m.Names)))
	names := 0.0
	for _, s := range m.Names {
		names = max(names, textWidth(plain(s), size))
	}
	names = min(names, 130) + 8
	panels := float64(max(1, len(m.Panels)))
	cell := min(44, (Width-names-gap*(panels-1))/panels/n)
	side := cell * n
	head := 0.0
	title := l.Shown(m.Title)
	if title != "" {
		head = 28
	}
	below := min(names, 90) // names stand on end below the matrix
	height := head + 22 + side + below + 34
	panelNames := make([]noren.Text, len(m.Panels))
	for i, p := range m.Panels {
		panelNames[i] = p.Name
	}
	titles := words(l, panelNames)
	d := newDrawing(Width, height, l.Text("Heat map of correlations between %d {column|columns}: %s. The table beside it has the largest "+
		"changes.", len(m.Names), strings.Join(titles, ", ")))
	y := d.title(title, Width) + 22
	for r, s := range m.Names {
		d.fitted(names-6, y+cell*(float64(r)+0.5)+4, right, size, "ink", s, names-6)
	}
	for p, panel := range m.Panels {
		x := names + float64(p)*(side+gap)
		d.fitted(x, y-8, left, 12.5, "ink", titles[p], side+gap)
		for r := range panel.Values {
			for c := range panel.Values[r] {
				m.cell(d, x+cell*float64(c), y+cell*float64(r), cell, panel.Values[r][c])
			}
		}
		for c, s := range m.Names { // whole at the rows
			if cell < size {
				continue
			}
			fmt.Fprintf(&d.b, `<text transform="translate(%s %s) rotate(-90)" text-anchor="end" font-size="%s" class="nr-muted" fill="%s">%s</text>`+
				"\n",
				coord(x+cell*(float64(c)+0.5)+4), coord(y+side+6), coord(size), muted, escape(fit(s, size, below-6)))
		}
	}
	m.key(d, l, names, y+side+below+8)
	return d.writeTo(w)
}

func (m *HeatMap) cell(d *drawing, x, y, size float64, v *float64) {
	fill, text := "#e6e6e6", "#59636e"
	if v != nil {
		fill, text = diverging(*v)
	}
	fmt.Fprintf(&d.b, `<rect x="%s" y="%s" width="%s" height="%s" fill="%s"/>`+"\n", coord(x), coord(y), coord(size-1), coord(size-1), fill)
	if size < 24 {
		return
	}
	s := "–"
	if v != nil {
		s = strings.Replace(fmt.Sprintf("%.2f", *v), "-", "−", 1)
		if s == "−0.00" {
			s = "0.00"
		}
	}
	fmt.Fprintf(&d.b, `<text x="%s" y="%s" text-anchor="middle" font-size="%s" fill="%s">%s</text>`+"\n",
		coord(x+(size-1)/2), coord(y+size/2+3.2), coord(min(11.5, size/3.1)), text, s)
}

// key draws the scale of colours.
func (m *HeatMap) key(d *drawing, l lang.Lang, x, y float64) {
	d.text(x-6, y+11, right, 11.5, "muted", "−1")
	const steps, wide = 21, 9.0
	for i := range steps {
		fill, _ := diverging(-1 + 2*float64(i)/(steps-1))
		fmt.Fprintf(&d.b, `<rect x="%s" y="%s" width="%s" height="12" fill="%s"/>`+"\n", coord(x+float64(i)*wide), coord(y+1), coord(wide), fill)
	}
	end := x + steps*wide
	d.text(end+6, y+11, left, 11.5, "muted", "+1")
	d.text(end+36, y+11, left, 11.5, "muted", l.Text("blue: opposite; white: not related; orange: together"))
}

// diverging maps [-1,1] from blue over near white to orange, and gives the
// colour of text that can be read upon it. Lightness falls on both sides, so
// that strength can be seen without colours.
func diverging(v float64) (fill, text string) {
	v = min(1, max(-1, v))
	end := [3]float64{0x00, 0x5a, 0x9c}
	if v > 0 {
		end = [3]float64{0xc2, 0x51, 0x00}
	}
	t := math.Pow(math.Abs(v), 0.8)
	var c [3]int
	for i, base := range [3]float64{0xf7, 0xf7, 0xf7} {
		c[i] = int(math.Round(base + (end[i]-base)*t))
	}
	text = "#1f2328"
	if t > 0.75 {
		text = "#ffffff"
	}
	return fmt.Sprintf("#%02x%02x%02x", c[0], c[1], c[2]), text
}
