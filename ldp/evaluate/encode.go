package evaluate

import (
	"math"
	"slices"

	"github.com/noren-privacy/noren"
	"github.com/noren-privacy/noren/ldp"
	"github.com/noren-privacy/noren/learn"
	"github.com/noren-privacy/noren/table"
)

// coded is one attribute as labels and as features. A label l stands at
// point[l], as wide as the attribute has features:
//
//	a number     its z-score, that of a bin being its midpoint's, and where values
//	             are missing an indicator of it beside the mean;
//	an order     the z-score of the rank;
//	a category   an indicator for each value.
type coded struct {
	info  AttributeInfo
	label []int       // one each record
	raw   [][]float64 // features x records; nil where raw records are the labels' points
	point [][]float64 // labels x features
}

// features is the width of the attribute.
func (c *coded) features() int { return len(c.point[0]) }

// encode puts the records at rows of an attribute into labels. A reason means
// that nothing can be learned from it.
func encode(a Attribute, rows []int, o *Options) (c *coded, reason noren.Text, err error) {
	f := a.Column.Field
	c = &coded{info: AttributeInfo{Name: f.Name, Type: f.Type.String()}, label: make([]int, len(rows))}
	switch {
	case f.Type.IsNumber():
		err = c.number(a, rows, o)
	case f.Type == table.Ordered:
		c.ordered(a, rows)
	default:
		reason = c.category(a, rows, o)
		if !reason.IsZero() {
			return nil, reason, nil
		}
	}
	if err != nil {
		return nil, noren.Text{}, err
	}
	c.info.Labels = len(c.point)
	if len(c.point) < 2 {
		return nil, noren.Textf("it is the same in all records"), nil
	}
	return c, noren.Text{}, nil
}

// number bins a number. The label after the last bin is that of missing values,
// where there are any.
func (c *coded) number(a Attribute, rows []int, o *Options) error {
	var present []float64
	for _, r := range rows {
		if a.Column.IsMissing(r) {
			c.info.Missing++
			continue
		}
		present = append(present, a.Column.Number(r))
	}
	if len(present) == 0 {
		c.point = [][]float64{nil}
		return nil
	}
	bins, err := c.bins(a, present, o)
	if err != nil {
		return &noren.Error{Kind: noren.KindOf(err), Where: noren.Textf("column %s", c.info.Name), Err: err}
	}
	shift, scale := zscore(present)
	width := 1
	if c.info.Missing > 0 {
		width = 2
	}
	for l := range bins.Len() {
		p := make([]float64, width)
		p[0] = (bins.Midpoint(l) - shift) / scale
		c.point = append(c.point, p)
	}
	if c.info.Missing > 0 {
		c.point = append(c.point, []float64{0, 1})
	}
	c.raw = make([][]float64, width)
	for j := range c.raw {
		c.raw[j] = make([]float64, len(rows))
	}
	for i, r := range rows {
		if a.Column.IsMissing(r) {
			c.label[i], c.raw[1][i] = bins.Len(), 1
			continue
		}
		v := a.Column.Number(r)
		if c.label[i], err = bins.Label(v); err != nil {
			return err
		}
		c.raw[0][i] = (v - shift) / scale
	}
	return nil
}

// bins are public where bounds are, else fitted.
func (c *coded) bins(a Attribute, present []float64, o *Options) (b *ldp.Bins, err error) {
	switch {
	case a.Bounds != nil:
		b, err = ldp.EqualWidth(a.Bounds[0], a.Bounds[1], o.Bins)
	case o.EqualWidth:
		b, err = ldp.FitEqualWidth(present, o.Bins)
	default:
		b, err = ldp.FitEqualFrequency(present, o.Bins)
	}
	if err == nil {
		c.info.Origin = b.Origin().String()
	}
	return b, err
}

// zscore is the shift and the scale to mean 0 and variance 1.
func zscore(values []float64) (shift, scale float64) {
	for _, v := range values {
		shift += v / float64(len(values))
	}
	for _, v := range values {
		scale += (v - shift) * (v - shift) / float64(len(values))
	}
	scale = math.Sqrt(scale)
	if scale == 0 {
		scale = 1
	}
	return shift, scale
}

// ordered takes levels as they are declared, which is public.
func (c *coded) ordered(a Attribute, rows []int) {
	c.info.Origin = ldp.Public.String()
	levels := a.Column.Dict
	var ranks []float64
	for i, r := range rows {
		if a.Column.IsMissing(r) {
			c.info.Missing++
			c.label[i] = len(levels)
			continue
		}
		c.label[i] = int(a.Column.Codes[r])
		ranks = append(ranks, float64(c.label[i]))
	}
	if len(ranks) == 0 {
		c.point = [][]float64{nil}
		return
	}
	shift, scale := zscore(ranks)
	width := 1
	if c.info.Missing > 0 {
		width = 2
	}
	for l := range levels {
		p := make([]float64, width)
		p[0] = (float64(l) - shift) / scale
		c.point = append(c.point, p)
	}
	if c.info.Missing > 0 {
		c.point = append(c.point, []float64{0, 1})
	}
}

// category numbers the keys, or the values that occur among rows.
func (c *coded) category(a Attribute, rows []int, o *Options) (reason noren.Text) {
	missing := -1
	number := make(map[uint32]int)
	if len(a.Keys) > 0 {
		c.info.Origin = ldp.Public.String()
		for code, word := range a.Column.Dict {
			if at := slices.Index(a.Keys, word); at >= 0 {
				number[uint32(code)] = at
			}
		}
	} else {
		c.info.Origin = ldp.Fitted.String()
		for _, r := range rows {
			if !a.Column.IsMissing(r) {
				number[a.Column.Codes[r]] = 0
			}
		}
		codes := make([]uint32, 0, len(number))
		for code := range number {
			codes = append(codes, code)
		}
		slices.Sort(codes)
		for at, code := range codes {
			number[code] = at
		}
	}
	labels := max(len(number), len(a.Keys))
	if labels > o.MaxCategories {
		return noren.Textf("it has %d different {value|values}, more than %d: too many to learn from", labels, o.MaxCategories)
	}
	for i, r := range rows {
		l, known := number[a.Column.Codes[r]]
		if a.Column.IsMissing(r) || !known {
			missing = labels
			c.info.Missing++
			l = labels
		}
		c.label[i] = l
	}
	if missing >= 0 {
		labels++
	}
	for l := range labels {
		p := make([]float64, labels)
		p[l] = 1
		c.point = append(c.point, p)
	}
	return noren.Text{}
}

// fill writes the attribute's features of every record from the points of labels
// into x, from column at.
func (c *coded) fill(x *learn.Matrix, at int, label []int) {
	for i, l := range label {
		copy(x.Row(i)[at:], c.point[l])
	}
}

// fillRaw writes the features of raw records.
func (c *coded) fillRaw(x *learn.Matrix, at int) {
	if c.raw == nil {
		c.fill(x, at, c.label)
		return
	}
	for j, column := range c.raw {
		for i, v := range column {
			x.Set(i, at+j, v)
		}
	}
}

// matrix lays the attributes side by side; fill writes one of them.
func matrix(all []*coded, n int, fill func(c *coded, x *learn.Matrix, at int) error) (*learn.Matrix, error) {
	width := 0
	for _, c := range all {
		width += c.features()
	}
	x := learn.NewMatrix(n, width)
	at := 0
	for _, c := range all {
		if err := fill(c, x, at); err != nil {
			return nil, err
		}
		at += c.features()
	}
	return x, nil
}
