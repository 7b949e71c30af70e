package cli

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/noren-privacy/noren"
	"github.com/noren-privacy/noren/query"
	"github.com/noren-privacy/noren/ratio"
	"github.com/noren-privacy/noren/table"
	"github.com/noren-privacy/noren/table/axis"
)

// count is of the records that meet --where, or of all.
func (f *ratioAnswerFlags) count(a *asked, v *weighted) (err error) {
	in := v.among
	if in == nil {
		in = slices.Repeat([]bool{true}, len(v.weights.W))
	}
	share := make([]float64, len(in))
	for i, holds := range in {
		if holds {
			share[i] = 1
		}
	}
	a.of = "count"
	if a.one, err = v.weights.Count(in); err != nil {
		return err
	}
	a.share, err = v.weights.Mean(share)
	return err
}

// number is a mean or a quantile.
func (f *ratioAnswerFlags) number(a *asked, w *ratio.Weights, c *table.Column) (err error) {
	if c.Field.Type == table.Category || c.Field.Type == table.Ordered && a.kind == "mean" {
		return &noren.Error{Kind: noren.Usage, Where: "--column " + f.column, What: "the column is of words, which have no " + a.kind, Hint: "ask for a count --where, or a histogram; or declare it: --type " + f.column + "=decimal"}
	}
	a.field = c.Field
	if a.kind == "mean" {
		a.of = "mean of " + f.column
		a.one, err = w.Mean(numbersOf(c))
		return err
	}
	a.of = fmt.Sprintf("%g-quantile of %s", f.rank, f.column)
	if a.one, err = w.Quantile(numbersOf(c), f.rank); err != nil {
		return at("--rank", err)
	}
	return nil
}

// numbersOf are a column's numbers, NaN where missing.
func numbersOf(c *table.Column) []float64 {
	out := make([]float64, c.Len())
	for i := range out {
		if out[i] = c.Number(i); c.IsMissing(i) {
			out[i] = math.NaN()
		}
	}
	return out
}

func (f *ratioAnswerFlags) histogram(a *asked, w *ratio.Weights, c *table.Column) error {
	a.of, a.field = "histogram of "+f.column, c.Field
	words := c.Field.Type == table.Category || c.Field.Type == table.Ordered
	bin := make([]int, c.Len())
	switch {
	case f.bins != "" && len(f.values) > 0:
		return &noren.Error{Kind: noren.Usage, Where: "--bins", What: "goes without --values"}
	case words && f.bins != "":
		return &noren.Error{Kind: noren.Usage, Where: "--bins", What: "the column is of words", Hint: "--values, or declare it: --type " + f.column + "=decimal"}
	case !words && f.bins == "":
		return &noren.Error{Kind: noren.Usage, Where: "--bins", What: "say where the bins of a column of numbers end", Hint: "--bins 0,20,40,60,80"}
	case words:
		if a.labels = f.values; len(a.labels) == 0 {
			a.labels = c.Dict
		}
		for i := range bin {
			bin[i] = -1
			if !c.IsMissing(i) {
				bin[i] = slices.Index(a.labels, c.Dict[c.Codes[i]])
			}
		}
	default:
		var edges []float64
		texts := splitList(f.bins)
		for _, text := range texts {
			edge, err := query.ParseBound(c.Field, text)
			if err != nil {
				return at("--bins", err)
			}
			if len(edges) > 0 && edge <= edges[len(edges)-1] {
				return &noren.Error{Kind: noren.Usage, Where: "--bins", What: "the edges must rise"}
			}
			edges = append(edges, edge)
		}
		if len(edges) < 2 {
			return &noren.Error{Kind: noren.Usage, Where: "--bins", What: "at least two edges are needed"}
		}
		for i := range edges[1:] {
			a.labels = append(a.labels, "["+texts[i]+", "+texts[i+1]+")")
		}
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
	}
	var err error
	a.several, err = w.Histogram(bin, len(a.labels))
	return err
}

// regression lays out target and features; of words all but the first are columns.
func (f *ratioAnswerFlags) regression(a *asked, w *ratio.Weights, tab *table.Table) error {
	a.of = "regression of " + f.target + " on " + strings.Join(f.features, ", ")
	a.labels = []string{"(intercept)"}
	target := tab.Column(f.target)
	a.field = target.Field
	y := numbersOf(target)
	words := func(c *table.Column) bool { return c.Field.Type == table.Category || c.Field.Type == table.Ordered }
	switch {
	case words(target) && f.equals == "":
		return &noren.Error{Kind: noren.Usage, Where: "--target " + f.target, What: "the column is of words", Hint: "--equals WORD: 1 where it is that word, 0 where it is another"}
	case !words(target) && f.equals != "":
		return &noren.Error{Kind: noren.Usage, Where: "--equals", What: "the target is of numbers"}
	case f.equals != "":
		a.of = "regression of " + f.target + " = " + f.equals + " on " + strings.Join(f.features, ", ")
		word := slices.Index(target.Dict, f.equals)
		if word < 0 {
			return &noren.Error{Kind: noren.Usage, Where: "--equals", What: "the public table has no such word in the target"}
		}
		for i := range y {
			if y[i] = 0; target.IsMissing(i) {
				y[i] = math.NaN()
			} else if int(target.Codes[i]) == word {
				y[i] = 1
			}
		}
	}
	var columns [][]float64
	for _, name := range f.features {
		c := tab.Column(name)
		if !words(c) {
			a.labels, columns = append(a.labels, name), append(columns, numbersOf(c))
			continue
		}
		if len(c.Dict) > 256 {
			return &noren.Error{Kind: noren.Usage, Where: "--features " + name, What: "the column has more than 256 words", Hint: "leave it out, or declare it: --type " + name + "=decimal"}
		}
		for l := 1; l < len(c.Dict); l++ {
			column := make([]float64, c.Len())
			for i := range column {
				if c.IsMissing(i) {
					column[i] = math.NaN()
				} else if int(c.Codes[i]) == l {
					column[i] = 1
				}
			}
			a.labels, columns = append(a.labels, name+" = "+c.Dict[l]), append(columns, column)
		}
	}
	x := axis.NewPoints[float64](len(y), len(columns))
	for i := range y {
		for j, column := range columns {
			x.Row(i)[j] = column[i]
		}
	}
	r, err := w.Regression(x, y)
	if err != nil {
		return err
	}
	a.several, a.r2, a.also = r.Coefficients, &r.R2, r.Warnings
	return nil
}
