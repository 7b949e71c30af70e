package report

import (
	"io"
	"math"
	"strings"

	"github.com/noren-privacy/noren"
	"github.com/noren-privacy/noren/lang"
)

// Width is how wide pictures are drawn, in pixels; a page scales them down to
// the space there is.
const Width = 720

// Series is a named run of values, one for each label or point.
type Series struct {
	Name   noren.Text
	Values []float64
	// Low and High bound the values, where they are not known exactly: each of
	// a horizontal bar gets a whisker from one to the other. Optional.
	Low, High []float64
}

// whisker is the interval of one value.
func (s *Series) whisker(label int) (low, high float64, ok bool) {
	if label >= len(s.Low) || label >= len(s.High) {
		return 0, 0, false
	}
	low, high = max(0, s.Low[label]), s.High[label]
	return low, high, low <= high && !math.IsInf(high, 0)
}

// Bars is a bar chart: for each label one bar of each series. Values must be 0
// or more; others (NaN, say) have no bar.
type Bars struct {
	Title  noren.Text
	Labels []noren.Text
	Series []Series
	// Horizontal lays the bars to the right of their labels, with the values
	// at their ends; it suits long labels.
	Horizontal bool
	// Axis says what the values are; Across what the labels are (only
	// where they stand below the bars).
	Axis   noren.Text
	Across noren.Text
	// Format writes a value. Defaults to Number.
	Format func(float64) string
}

func (b *Bars) format() func(float64) string {
	if b.Format == nil {
		return Number
	}
	return b.Format
}

// saidBars are bars with their texts in a language.
type saidBars struct {
	*Bars
	title, axis, across, readOut string
	labels, names                []string
}

func (b *Bars) say(l lang.Lang) *saidBars {
	names := make([]noren.Text, len(b.Series))
	for i, s := range b.Series {
		names[i] = s.Name
	}
	said := &saidBars{b, l.Shown(b.Title), l.Shown(b.Axis), l.Shown(b.Across), "", words(l, b.Labels), words(l, names)}
	said.readOut = l.Text("%s. %d {group|groups} of bars for %s. The table beside it has the numbers.",
		entitled(noren.Textf("Bar chart"), said.title), len(b.Labels), strings.Join(said.names, ", "))
	return said
}

func (b *Bars) value(s, label int) (float64, bool) {
	if label >= len(b.Series[s].Values) {
		return 0, false
	}
	v := b.Series[s].Values[label]
	return v, v >= 0 && !math.IsInf(v, 0)
}

func (b *Bars) largest() float64 {
	top := 0.0
	for s := range b.Series {
		for l := range b.Labels {
			if v, ok := b.value(s, l); ok {
				top = max(top, v)
			}
			if _, high, ok := b.Series[s].whisker(l); ok && b.Horizontal {
				top = max(top, high)
			}
		}
	}
	if top == 0 {
		return 1
	}
	return top
}

// WriteSVG implements [Chart].
func (b *Bars) WriteSVG(w io.Writer, l lang.Lang) error {
	if b.Horizontal {
		return b.say(l).horizontal().writeTo(w)
	}
	return b.say(l).vertical().writeTo(w)
}

func (b *saidBars) horizontal() *drawing {
	const size, thick, between = 12.5, 13.0, 10.0
	labels := 0.0
	for _, l := range b.labels {
		labels = max(labels, textWidth(l, size))
	}
	labels = min(labels, 230)
	group := thick*float64(len(b.Series)) + between
	format := b.format()
	valueRoom := 0.0
	for s := range b.Series {
		for l := range b.Labels {
			if v, ok := b.value(s, l); ok {
				valueRoom = max(valueRoom, textWidth(format(v), 11.5))
			}
		}
	}
	head := 0.0
	if b.title != "" {
		head = 28
	}
	if len(b.Series) > 1 {
		head += legendHeight(0, Width, b.names)
	}
	height := head + 8 + group*float64(len(b.Labels)) + 6
	if b.axis != "" {
		height += 18
	}
	d := newDrawing(Width, height, b.readOut)
	y := d.title(b.title, Width)
	if len(b.Series) > 1 {
		y += d.legend(0, y, Width, b.names, d.square)
	}
	y += 8
	x := axis{lo: 0, hi: b.largest(), from: labels + 12, to: Width - valueRoom - 10}
	top := y - 2
	for l, name := range b.labels {
		middleY := y + thick*float64(len(b.Series))/2
		d.text(labels, middleY+4.5, right, size, "ink", fit(name, size, labels+1)) // whole in the table of the picture
		for s := range b.Series {
			at := y + thick*float64(s)
			end := x.from
			v, ok := b.value(s, l)
			if ok {
				end = x.at(v)
				d.bar(x.from, at, end-x.from, thick-2, s)
			}
			if low, high, ok := b.Series[s].whisker(l); ok {
				from, to, at := x.at(low), x.at(high), at+thick/2-1
				d.line(from, at, to, at, "axis")
				d.line(from, at-3, from, at+3, "axis")
				d.line(to, at-3, to, at+3, "axis")
				end = max(end, to)
			}
			if ok {
				d.text(end+5, at+thick-4, left, 11.5, "muted", format(v))
			}
		}
		y += group
	}
	d.line(x.from, top, x.from, y-between+2, "axis")
	if b.axis != "" {
		d.fitted(x.from, y+10, left, 12, "muted", b.axis, Width-x.from)
	}
	return d
}

// legendHeight is what drawing.legend will take.
func legendHeight(x, limit float64, names []string) float64 {
	scratch := &drawing{}
	return scratch.legend(x, 0, limit, names, func(float64, float64, int) {})
}

func (b *saidBars) vertical() *drawing {
	const size, plot = 12.0, 220.0
	format := b.format()
	head := 0.0
	if b.title != "" {
		head = 28
	}
	if len(b.Series) > 1 {
		head += legendHeight(0, Width, b.names)
	}
	foot := 24.0
	if b.across != "" {
		foot += 20
	}
	d := newDrawing(Width, head+14+plot+foot, b.readOut)
	y := d.title(b.title, Width)
	if len(b.Series) > 1 {
		y += d.legend(0, y, Width, b.names, d.square)
	}
	y += 14
	v := axis{from: y + plot, to: y}
	v.lo, v.hi = extent(0, b.largest(), Linear, 5)
	x := d.leftAxis(&v, Width, b.axis, v.ticks(5), format)
	slot := (Width - x) / float64(max(1, len(b.Labels)))
	wide := min(46, slot*0.8/float64(max(1, len(b.Series))))
	widest := 0.0
	for _, l := range b.labels {
		widest = max(widest, textWidth(l, size)+8)
	}
	skip := max(1, int(math.Ceil(min(widest, 120)/slot)))
	for l, name := range b.labels {
		centre := x + slot*(float64(l)+0.5)
		start := centre - wide*float64(len(b.Series))/2
		for s := range b.Series {
			if value, ok := b.value(s, l); ok && value > 0 {
				at := v.at(value)
				// A bar that is there is seen: one pixel at least.
				d.bar(start+wide*float64(s)+1, min(at, v.from-1), wide-2, max(1, v.from-at), s)
			}
		}
		if l%skip == 0 {
			d.text(centre, y+plot+17, middle, size, "muted", fit(name, size, slot*float64(skip)))
		}
	}
	d.line(x, v.from, Width, v.from, "axis")
	if b.across != "" {
		d.fitted((x+Width)/2, y+plot+38, middle, 12, "muted", b.across, Width-x)
	}
	return d
}

// leftAxis draws horizontal rules with their values and returns where the plot
// begins.
func (d *drawing) leftAxis(v *axis, width float64, name string, ticks []float64, format func(float64) string) float64 {
	const size = 11.5
	room := 0.0
	for _, t := range ticks {
		room = max(room, textWidth(format(t), size))
	}
	x := room + 8
	if name != "" {
		x += 20
		d.turned(11, (v.from+v.to)/2, 12, name, v.from-v.to+30)
	}
	for _, t := range ticks {
		y := v.at(t)
		d.line(x, y, width, y, "rule")
		d.text(x-6, y+4, right, size, "muted", format(t))
	}
	return x
}

// bottomAxis sets values below the plot, leaving out those that would overlap.
func (d *drawing) bottomAxis(h *axis, y float64, name string, ticks []float64, format func(float64) string) {
	const size = 11.5
	free := math.Inf(-1)
	for _, t := range ticks {
		s := format(t)
		w := textWidth(s, size)
		at := h.at(t)
		d.line(at, y, at, y+4, "axis")
		centre := min(max(at, w/2), Width-w/2)
		if centre-w/2 < free {
			continue
		}
		d.text(centre, y+17, middle, size, "muted", s)
		free = centre + w/2 + 8
	}
	if name != "" {
		d.fitted((h.from+h.to)/2, y+37, middle, 12, "muted", name, h.to-h.from)
	}
}
