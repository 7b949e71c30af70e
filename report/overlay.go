package report

import (
	"fmt"
	"io"
	"math"
	"strings"

	"github.com/noren-privacy/noren"
	"github.com/noren-privacy/noren/lang"
	"github.com/noren-privacy/noren/table"
)

// Overlay is a pair of histograms over the same bins, drawn over one another
// as shares: the first filled, the second as an outline.
type Overlay struct {
	Title noren.Text
	// Edges are the ends of the bins, one more than there are counts.
	Edges         []float64
	First, Second Series
	// Layout is set for dates: Edges then count days, or seconds, since 1970.
	Layout table.Layout
	// Across says what is on the axis below.
	Across noren.Text
}

// WriteSVG implements [Chart].
func (o *Overlay) WriteSVG(w io.Writer, l lang.Lang) error {
	const plot = 180.0
	names := words(l, []noren.Text{o.First.Name, o.Second.Name})
	title, across := l.Shown(o.Title), l.Shown(o.Across)
	head := 0.0
	if title != "" {
		head = 28
	}
	head += legendHeight(0, Width, names)
	foot := 26.0
	if across != "" {
		foot += 20
	}
	label := entitled(noren.Textf("Two histograms over each other, %s and %s", names[0], names[1]), title)
	d := newDrawing(Width, head+12+plot+foot, l.Text("%s. The table beside it has the numbers.", label))
	y := d.title(title, Width)
	y += d.legend(0, y, Width, names, func(x, y float64, s int) {
		box := fmt.Sprintf("M%s %sh12v12h-12z", coord(x), coord(y))
		if s == 0 {
			d.path(box, 0, 1, 0.45, "")
		} else {
			d.path(box, 1, 2, 0, "")
		}
	}) + 12
	first, second := shares(o.First.Values), shares(o.Second.Values)
	top := 0.0
	for i := range first {
		top = max(top, first[i])
	}
	for i := range second {
		top = max(top, second[i])
	}
	if top == 0 {
		top = 1
	}
	v := axis{from: y + plot, to: y}
	v.lo, v.hi = extent(0, top, Linear, 4)
	x := d.leftAxis(&v, Width, l.Text("share of records"), v.ticks(4), Percent)
	if len(o.Edges) > 1 {
		h := axis{lo: o.Edges[0], hi: o.Edges[len(o.Edges)-1], from: x + 4, to: Width - 6}
		d.path(steps(&h, &v, o.Edges, first, true), 0, 1, 0.45, "")
		d.path(steps(&h, &v, o.Edges, second, false), 1, 2, 0, "")
		ticks, format := h.ticks(8), Number
		if o.Layout != "" {
			ticks = dateTicks(h.lo, h.hi, 7, o.Layout)
			format = func(t float64) string { return o.Layout.Format(int64(math.Round(t))) }
		} else if h.hi < 10000 && h.lo > -10000 && niceStep(h.hi-h.lo, 8) >= 1 {
			// Years and the like read better without a comma.
			format = func(t float64) string { return strings.ReplaceAll(Number(t), ",", "") }
		}
		d.bottomAxis(&h, v.from, across, ticks, format)
	}
	d.line(x, v.from, Width, v.from, "axis")
	return d.writeTo(w)
}

func shares(counts []float64) []float64 {
	total := 0.0
	for _, c := range counts {
		total += c
	}
	s := make([]float64, len(counts))
	for i, c := range counts {
		if total > 0 {
			s[i] = c / total
		}
	}
	return s
}

// steps is the outline of a histogram; closed follows the ground as well, so
// that it can be filled.
func steps(h, v *axis, edges, values []float64, closed bool) string {
	var b strings.Builder
	fmt.Fprintf(&b, "M%s %s", coord(h.at(edges[0])), coord(v.from))
	for i, value := range values {
		if i+1 >= len(edges) {
			break
		}
		fmt.Fprintf(&b, "V%sH%s", coord(v.at(value)), coord(h.at(edges[i+1])))
	}
	fmt.Fprintf(&b, "V%s", coord(v.from))
	if closed {
		b.WriteByte('z')
	}
	return b.String()
}
