package report

import (
	"fmt"
	"io"
	"math"
	"strings"

	"github.com/noren-privacy/noren"
	"github.com/noren-privacy/noren/lang"
)

// Curve is a named line through points, in the order in which they stand.
// Points that cannot be shown (NaN, or not positive on a Log axis) break it.
type Curve struct {
	Name noren.Text
	X, Y []float64
	// Low and High, where given, are drawn as a band around the line.
	Low, High []float64
}

// Lines is a line chart of several curves.
type Lines struct {
	Title    noren.Text
	Curves   []Curve
	Across   noren.Text // what is on the axis below
	Axis     noren.Text // what is on the axis at the left
	ScaleX   Scale
	ScaleY   Scale
	FromZero bool // begin the left axis at 0 (Linear only)
	// FormatX and FormatY write the values at the axes. Default to Number.
	FormatX, FormatY func(float64) string
	// Height is that of the plot itself. Defaults to 260.
	Height float64
}

// markersMost is how many points a curve may have for each to be marked.
const markersMost = 40

var dashes = [...]string{"", "7 4", "2 3", "9 3 2 3"}

// WriteSVG implements [Chart].
func (l *Lines) WriteSVG(w io.Writer, in lang.Lang) error {
	plot := l.Height
	if plot <= 0 {
		plot = 260
	}
	curves := make([]noren.Text, len(l.Curves))
	for i, c := range l.Curves {
		curves[i] = c.Name
	}
	names, title, across, axis := words(in, curves), in.Shown(l.Title), in.Shown(l.Across), in.Shown(l.Axis)
	head := 0.0
	if title != "" {
		head = 28
	}
	head += legendHeight(0, Width, names)
	foot := 26.0
	if across != "" {
		foot += 20
	}
	d := newDrawing(Width, head+12+plot+foot, in.Text("%s. Curves: %s.", entitled(noren.Textf("Line chart"), title),
		strings.Join(names, ", ")))
	y := d.title(title, Width)
	y += d.legend(0, y, Width, names, func(x, y float64, s int) {
		d.path(fmt.Sprintf("M%s %sh16", coord(x-2), coord(y+6)), s, 2, 0, dashes[s%len(dashes)])
		d.dot(x+6, y+6, s)
	}) + 12
	h, v := l.axes(y, plot)
	formatX, formatY := l.FormatX, l.FormatY
	if formatX == nil {
		formatX = Number
	}
	if formatY == nil {
		formatY = Number
	}
	h.from, h.to = d.leftAxis(&v, Width, axis, v.ticks(6), formatY)+6, Width-10
	for s, c := range l.Curves {
		if band := l.band(&c, &h, &v); band != "" {
			d.path(band, s, 0, 0.18, "")
		}
	}
	for s, c := range l.Curves {
		if data := l.outline(&c, &h, &v); data != "" {
			d.path(data, s, 2, 0, dashes[s%len(dashes)])
		}
		if len(c.X) <= markersMost {
			for i := range c.X {
				if l.shown(&c, i) {
					d.dot(h.at(c.X[i]), v.at(c.Y[i]), s)
				}
			}
		}
	}
	d.bottomAxis(&h, v.from, across, h.ticks(8), formatX)
	d.line(h.from-6, v.from, Width, v.from, "axis")
	return d.writeTo(w)
}

func showable(v float64, s Scale) bool {
	return !math.IsNaN(v) && !math.IsInf(v, 0) && (s == Linear || v > 0)
}

func (l *Lines) shown(c *Curve, i int) bool {
	return i < len(c.Y) && showable(c.X[i], l.ScaleX) && showable(c.Y[i], l.ScaleY)
}

// banded reports whether a point is shown with its interval. The axes span no others.
func (l *Lines) banded(c *Curve, i int) bool {
	return l.shown(c, i) && i < len(c.Low) && i < len(c.High) && showable(c.Low[i], l.ScaleY) && showable(c.High[i], l.ScaleY)
}

// axes spans all that is shown.
func (l *Lines) axes(y, plot float64) (h, v axis) {
	h = axis{scale: l.ScaleX, lo: math.Inf(1), hi: math.Inf(-1)}
	v = axis{scale: l.ScaleY, lo: math.Inf(1), hi: math.Inf(-1), from: y + plot, to: y}
	if l.FromZero && l.ScaleY == Linear {
		v.lo = 0
	}
	for _, c := range l.Curves {
		for i := range c.X {
			if !l.shown(&c, i) {
				continue
			}
			h.lo, h.hi = min(h.lo, c.X[i]), max(h.hi, c.X[i])
			v.lo, v.hi = min(v.lo, c.Y[i]), max(v.hi, c.Y[i])
			if l.banded(&c, i) {
				v.lo, v.hi = min(v.lo, c.Low[i], c.High[i]), max(v.hi, c.Low[i], c.High[i])
			}
		}
	}
	if math.IsInf(h.lo, 1) {
		h.lo, h.hi, v.lo, v.hi = 1, 10, 1, 10
	}
	if h.lo == h.hi {
		h.lo, h.hi = extent(h.lo, h.hi, l.ScaleX, 8)
	}
	if l.ScaleY == Log && v.hi/v.lo < 3 || l.ScaleY == Linear {
		v.lo, v.hi = extentWithin(v.lo, v.hi, l.ScaleY)
	} else {
		v.lo, v.hi = extent(v.lo, v.hi, l.ScaleY, 6)
	}
	return h, v
}

// extentWithin is extent, but for a narrow Log axis not by whole decades.
func extentWithin(lo, hi float64, s Scale) (float64, float64) {
	if s == Linear {
		return extent(lo, hi, s, 6)
	}
	return math.Pow10(int(math.Floor(math.Log10(lo)))), math.Pow10(int(math.Floor(math.Log10(hi))) + 1)
}

func (l *Lines) outline(c *Curve, h, v *axis) string {
	var b strings.Builder
	pen := "M"
	for i := range c.X {
		if !l.shown(c, i) {
			pen = "M"
			continue
		}
		b.WriteString(pen + coord(h.at(c.X[i])) + " " + coord(v.at(c.Y[i])))
		pen = "L"
	}
	return b.String()
}

func (l *Lines) band(c *Curve, h, v *axis) string {
	if len(c.Low) < len(c.X) || len(c.High) < len(c.X) || len(c.X) == 0 {
		return ""
	}
	var there, back strings.Builder
	pen := "M"
	for i := range c.X {
		if l.banded(c, i) {
			there.WriteString(pen + coord(h.at(c.X[i])) + " " + coord(v.at(c.High[i])))
			pen = "L"
		}
		if j := len(c.X) - 1 - i; l.banded(c, j) {
			back.WriteString("L" + coord(h.at(c.X[j])) + " " + coord(v.at(c.Low[j])))
		}
	}
	if pen == "M" {
		return ""
	}
	return there.String() + back.String() + "z"
}
