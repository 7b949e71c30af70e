package ratio

import (
	"math"
	"slices"

	"github.com/noren-privacy/noren"
	"github.com/noren-privacy/noren/table"
	"github.com/noren-privacy/noren/table/axis"
)

// Numbers are the values of a column for [Weights.Mean] and its siblings, NaN where missing.
func Numbers(c *table.Column) []float64 {
	out := make([]float64, c.Len())
	for i := range out {
		out[i] = c.Number(i)
		if c.IsMissing(i) {
			out[i] = math.NaN()
		}
	}
	return out
}

// Categorical reports whether the values of a column are categories or ordered levels.
func Categorical(f table.Field) bool { return f.Type == table.Category || f.Type == table.Ordered }

// Indicator is 1 where a column holds category number l of its dictionary, 0 where it holds
// another, and NaN where its value is missing.
func Indicator(c *table.Column, l int) []float64 {
	out := make([]float64, c.Len())
	for i := range out {
		switch {
		case c.IsMissing(i):
			out[i] = math.NaN()
		case int(c.Codes[i]) == l:
			out[i] = 1
		}
	}
	return out
}

// CategoryBins are the bins of [Weights.Histogram] for a column of categories: the place of
// each record's category in categories, -1 for none of them.
func CategoryBins(c *table.Column, categories []string) []int {
	place := make([]int, len(c.Dict))
	for code, name := range c.Dict {
		place[code] = slices.Index(categories, name)
	}
	bin := make([]int, c.Len())
	for i := range bin {
		bin[i] = -1
		if !c.IsMissing(i) {
			bin[i] = place[c.Codes[i]]
		}
	}
	return bin
}

// NumberBins are the bins of [Weights.Histogram] for a column of numbers and rising edges:
// bin k is [edge k, edge k+1), and -1 is none.
func NumberBins(c *table.Column, edges []float64) []int {
	bin := make([]int, c.Len())
	for i := range bin {
		bin[i] = -1
		if c.IsMissing(i) {
			continue
		}
		at, found := slices.BinarySearch(edges, c.Number(i))
		if !found {
			at--
		}
		if at < len(edges)-1 {
			bin[i] = at
		}
	}
	return bin
}

// Design lays out the features of [Weights.Regression], N x columns, and names its terms: a
// column of numbers as it is, and for categories an indicator of each but the first. Error:
// [noren.Usage].
func Design(features []*table.Column) (x *Points, terms []string, err error) {
	var columns [][]float64
	for _, c := range features {
		name := c.Field.Name
		if !Categorical(c.Field) {
			terms, columns = append(terms, name), append(columns, Numbers(c))
			continue
		}
		if len(c.Dict) > maxCategories {
			return nil, nil, noren.Usagef(name, "the column has more than 256 categories").Hinted("leave it out, or declare its type")
		}
		for l := 1; l < len(c.Dict); l++ {
			terms, columns = append(terms, name+" = "+c.Dict[l]), append(columns, Indicator(c, l))
		}
	}
	rows := 0
	if len(features) > 0 {
		rows = features[0].Len()
	}
	x = axis.NewPoints[float64](rows, len(columns))
	for i := range rows {
		for j, column := range columns {
			x.Row(i)[j] = column[i]
		}
	}
	return x, terms, nil
}

// Question is a mean over the public records, to plan for ([Mechanism.Plan]).
type Question struct {
	// Name says what is asked, as "mean of age".
	Name noren.Text
	// Values has one number for each public record, NaN where missing.
	Values []float64
	// SD is the standard deviation of the values among the public records.
	SD float64
}

// Typical is a typical question about a column: its mean, or the share of its most frequent
// category.
func Typical(c *table.Column) Question {
	q := Question{Name: noren.Textf("mean of %s", c.Field.Name)}
	if c.Field.Type == table.Category {
		count := make([]int, len(c.Dict))
		for i := range c.Len() {
			if !c.IsMissing(i) {
				count[c.Codes[i]]++
			}
		}
		most := 0
		for l, n := range count {
			if n > count[most] {
				most = l
			}
		}
		q.Values = Indicator(c, most)
		of := c.Field.Name
		if len(c.Dict) > 0 {
			of += " = " + c.Dict[most]
		}
		q.Name = noren.Textf("share of %s", of)
	} else {
		q.Values = Numbers(c)
	}
	var n, sum, square float64
	for _, v := range q.Values {
		if !math.IsNaN(v) {
			n++
			sum += v
			square += v * v
		}
	}
	q.SD = math.Sqrt(max(0, square/n-sum/n*sum/n))
	return q
}
