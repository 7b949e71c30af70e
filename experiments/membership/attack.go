package membership

import (
	"context"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/noren-privacy/noren"
	"github.com/noren-privacy/noren/kanon/publish"
	"github.com/noren-privacy/noren/table"
)

// attack is a release, ready to score records against.
type attack struct {
	values  []map[string]int // by column and text of a value: its number
	cells   [][]cell         // by column: the different cells
	classes []class
	spans   bool // cells show ranges, sets or shares
}

// class is the records of a release that show the same.
type class struct {
	cell []int // by column
	size float64
}

// cell is what a cell says of each value of the column's domain.
type cell struct {
	probability []float64
	distance    []float64
}

// domain is the different values of a column.
type domain struct {
	texts   []string
	numbers []float64 // nil for categories; ascending, as texts are
}

func newAttack(members, outsiders *Table, release [][]string) (*attack, error) {
	a := &attack{}
	keys := map[string]int{}
	for _, row := range release {
		key := strings.Join(row, "\x00")
		at, ok := keys[key]
		if !ok {
			at = len(a.classes)
			keys[key] = at
			a.classes = append(a.classes, class{cell: make([]int, len(row))})
		}
		a.classes[at].size++
	}
	for j := range members.Fields {
		d, err := domainOf(members, outsiders, j)
		if err != nil {
			return nil, err
		}
		values := make(map[string]int, len(d.texts))
		for v, text := range d.texts {
			values[text] = v
		}
		var cells []cell
		number := map[string]int{}
		for _, row := range release {
			at, ok := number[row[j]]
			if !ok {
				at = len(cells)
				number[row[j]] = at
				c, spans, err := d.read(row[j], &members.Fields[j])
				if err != nil {
					return nil, err
				}
				cells, a.spans = append(cells, c), a.spans || spans
			}
			a.classes[keys[strings.Join(row, "\x00")]].cell[j] = at
		}
		a.values, a.cells = append(a.values, values), append(a.cells, cells)
	}
	return a, nil
}

func domainOf(members, outsiders *Table, j int) (*domain, error) {
	d := &domain{}
	for _, t := range []*Table{members, outsiders} {
		for _, row := range t.Rows {
			d.texts = append(d.texts, row[j])
		}
	}
	slices.Sort(d.texts)
	d.texts = slices.Compact(d.texts)
	if !members.Fields[j].Type.IsNumber() {
		return d, nil
	}
	number := make(map[string]float64, len(d.texts))
	for _, text := range d.texts {
		v, err := strconv.ParseFloat(text, 64)
		if err != nil {
			return nil, &noren.Error{Kind: noren.BadData, Where: noren.Textf("column %s", members.Fields[j].Name), What: "expected numbers"}
		}
		number[text] = v
	}
	slices.SortStableFunc(d.texts, func(x, y string) int {
		switch {
		case number[x] < number[y]:
			return -1
		case number[x] > number[y]:
			return 1
		}
		return 0
	})
	for _, text := range d.texts {
		d.numbers = append(d.numbers, number[text])
	}
	return d, nil
}

// read reads a cell; spans tells that it is a range, a set, shares or any value.
func (d *domain) read(text string, f *table.Field) (c cell, spans bool, err error) {
	n := len(d.texts)
	c = cell{probability: make([]float64, n), distance: make([]float64, n)}
	if text == "*" {
		for v := range n {
			c.probability[v] = 1 / float64(n)
		}
		return c, true, nil
	}
	if d.numbers != nil {
		span, ok := publish.ParseSpan(text, f)
		if !ok {
			return c, false, &noren.Error{Kind: noren.BadData, Where: noren.Textf("column %s", f.Name), What: "expected a number or a range"}
		}
		d.span(&c, span)
		return c, span.Range, nil
	}
	known := func(value string) bool { _, ok := slices.BinarySearch(d.texts, value); return ok }
	shares := []publish.Share{{Value: text, Share: 1}}
	if !known(text) {
		var ok bool
		shares, ok = publish.ParseShares(text, known)
		if !ok {
			shares, ok = setOf(text, known)
			if !ok {
				return c, false, &noren.Error{Kind: noren.BadData, Where: noren.Textf("column %s", f.Name), What: "expected a value, a set or shares"}
			}
		}
		spans = true
	}
	for v := range n {
		c.distance[v] = 1
	}
	for _, s := range shares {
		v, _ := slices.BinarySearch(d.texts, s.Value)
		c.probability[v], c.distance[v] = s.Share, 0
	}
	return c, spans, nil
}

// setOf reads {a, b}, whose values may hold commas; each has the same share.
func setOf(text string, known func(string) bool) ([]publish.Share, bool) {
	if len(text) < 2 || text[0] != '{' || text[len(text)-1] != '}' {
		return nil, false
	}
	body := text[1 : len(text)-1]
	var out []publish.Share
	item := ""
	for _, part := range strings.Split(body, ", ") {
		if item != "" {
			item += ", "
		}
		item += part
		if known(item) {
			out = append(out, publish.Share{Value: item})
			item = ""
		}
	}
	for i := range out {
		out[i].Share = 1 / float64(len(out))
	}
	return out, item == "" && len(out) > 0
}

// span fills in a number or a range: even over the values of the domain in it, or with
// weights that rise or fall geometrically so that they have the mean.
func (d *domain) span(c *cell, s publish.Span) {
	least, most := d.numbers[0], d.numbers[len(d.numbers)-1]
	var inside []int
	for v, x := range d.numbers {
		out := max(s.Lo-x, x-s.Hi, 0)
		if most > least {
			out /= most - least
		}
		c.distance[v] = out * out
		if out == 0 {
			inside = append(inside, v)
		}
	}
	if len(inside) == 0 {
		return
	}
	tilt := 0.0
	if s.HasMean && s.Hi > s.Lo {
		low, high := -700.0, 700.0
		for range 60 {
			tilt = (low + high) / 2
			if d.mean(inside, s, tilt) < s.Mean {
				low = tilt
			} else {
				high = tilt
			}
		}
	}
	sum := 0.0
	for _, v := range inside {
		c.probability[v] = weight(d.numbers[v], s, tilt)
		sum += c.probability[v]
	}
	for _, v := range inside {
		c.probability[v] /= sum
	}
}

func weight(x float64, s publish.Span, tilt float64) float64 {
	if tilt == 0 {
		return 1
	}
	return math.Exp(tilt*(x-s.Lo)/(s.Hi-s.Lo) - max(tilt, 0))
}

func (d *domain) mean(inside []int, s publish.Span, tilt float64) float64 {
	sum, all := 0.0, 0.0
	for _, v := range inside {
		w := weight(d.numbers[v], s, tilt)
		sum += w * d.numbers[v]
		all += w
	}
	return sum / all
}

// scores scores records. With ranges a score is the density at the record, or below 0
// where no class spans it.
func (a *attack) scores(ctx context.Context, rows [][]string) ([]float64, error) {
	out := make([]float64, len(rows))
	known := map[string]float64{} // of equal records
	value := make([]int, len(a.values))
	for i, row := range rows {
		if i&63 == 0 && ctx.Err() != nil {
			return nil, ctx.Err()
		}
		key := strings.Join(row, "\x00")
		score, ok := known[key]
		if !ok {
			for j, text := range row {
				v, ok := a.values[j][text]
				if !ok {
					return nil, &noren.Error{What: "record %d has a value outside its domain", Args: []any{i}}
				}
				value[j] = v
			}
			score = a.score(value)
			known[key] = score
		}
		out[i] = score
	}
	return out, nil
}

func (a *attack) score(value []int) float64 {
	least, density := math.Inf(1), 0.0
	for _, c := range a.classes {
		distance := 0.0
		for j, at := range c.cell {
			distance += a.cells[j][at].distance[value[j]]
			if distance > least {
				break
			}
		}
		least = min(least, distance)
		if a.spans && distance == 0 {
			p := c.size
			for j, at := range c.cell {
				p *= a.cells[j][at].probability[value[j]]
			}
			density += p
		}
	}
	if a.spans && least == 0 {
		return density
	}
	return -least
}
