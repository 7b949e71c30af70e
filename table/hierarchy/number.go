package hierarchy

import (
	"fmt"
	"math/big"
	"strconv"
	"strings"

	"github.com/noren-privacy/noren"
	"github.com/noren-privacy/noren/table"
)

// groupsOfFirst bounds the number of intervals of the finest grid.
const groupsOfFirst = 40

// numbers makes grids [a,b) that begin at multiples of their widths. The widths
// are steps, or round ones (1, 5, 10, 50, ... times a power of ten) by the range of
// the values; for whole numbers from 5 on. Arithmetic is exact.
func numbers(values, steps []string) (path, noren.Texts, error) {
	widths, err := parseSteps(steps)
	if err != nil {
		return nil, nil, err
	}
	if widths == nil {
		widths = roundWidths(values)
	}
	levels := make(noren.Texts, len(widths))
	for i, w := range widths {
		levels[i] = noren.Textf("steps of %s", decimal(w))
	}
	return func(value string) []string {
		v := parseNumber(value)
		if v == nil {
			return nil
		}
		above := make([]string, len(widths))
		for i, w := range widths {
			from := new(big.Rat).SetInt(floor(new(big.Rat).Quo(v, w)))
			from.Mul(from, w)
			above[i] = fmt.Sprintf("[%s,%s)", decimal(from), decimal(new(big.Rat).Add(from, w)))
		}
		return above
	}, levels, nil
}

// parseNumber reads a number; nil for none. What ParseDecimal takes is small
// enough for exact arithmetic.
func parseNumber(text string) *big.Rat {
	if _, _, err := table.ParseDecimal([]byte(text)); err != nil {
		return nil
	}
	v, ok := new(big.Rat).SetString(text)
	if !ok {
		return nil
	}
	return v
}

func parseSteps(steps []string) ([]*big.Rat, error) {
	var widths []*big.Rat
	for i, text := range steps {
		w := parseNumber(text)
		if w == nil || w.Sign() <= 0 || i > 0 && (!new(big.Rat).Quo(w, widths[i-1]).IsInt() || w.Cmp(widths[i-1]) <= 0) {
			return nil, &noren.Error{Kind: noren.Usage, Where: noren.Textf("step %d", i+1), What: stepsFault, Hint: "for instance 5,10,50"}
		}
		widths = append(widths, w)
	}
	return widths, nil
}

// roundWidths are the widths for values from the least to the largest.
func roundWidths(values []string) []*big.Rat {
	var least, largest *big.Rat
	whole := true
	for _, text := range values {
		v := parseNumber(text)
		if v == nil {
			continue
		}
		whole = whole && v.IsInt()
		if least == nil || v.Cmp(least) < 0 {
			least = v
		}
		if largest == nil || v.Cmp(largest) > 0 {
			largest = v
		}
	}
	span := new(big.Rat)
	if least != nil {
		span.Sub(largest, least)
	}
	w, five := big.NewRat(5, 1), true
	grow := func() {
		if five {
			w = new(big.Rat).Mul(w, big.NewRat(2, 1))
		} else {
			w = new(big.Rat).Mul(w, big.NewRat(5, 1))
		}
		five = !five
	}
	if !whole && span.Sign() > 0 {
		// Down by powers of ten to a width that is too fine, then up again.
		for fine := big.NewRat(10*groupsOfFirst, 1); new(big.Rat).Quo(span, w).Cmp(fine) < 0; {
			w = new(big.Rat).Quo(w, big.NewRat(10, 1))
		}
	}
	for new(big.Rat).Quo(span, w).Cmp(big.NewRat(groupsOfFirst, 1)) > 0 {
		grow()
	}
	widths := []*big.Rat{w}
	for new(big.Rat).Quo(span, w).Cmp(big.NewRat(4, 1)) > 0 {
		grow()
		widths = append(widths, w)
	}
	return widths
}

// floor rounds down.
func floor(v *big.Rat) *big.Int {
	q := new(big.Int)
	return q.Div(v.Num(), v.Denom()) // Euclidean: the denominator is positive
}

// decimal writes a number whose denominator divides a power of ten.
func decimal(v *big.Rat) string {
	places, _ := v.FloatPrec()
	text := v.FloatString(places)
	if strings.Contains(text, ".") {
		text = strings.TrimRight(strings.TrimRight(text, "0"), ".")
	}
	return text
}

// most bounds the values of a public range.
const most = 1_000_000

// Range lists all whole numbers, or days in the form of layout, from low to high:
// the values of a hierarchy that is made without any data.
func Range(kind Kind, layout table.Layout, low, high string) ([]string, error) {
	parse := func(text string) (int64, error) { return table.ParseInteger([]byte(text)) }
	show := func(v int64) string { return strconv.FormatInt(v, 10) }
	switch kind {
	case Number:
	case Month, Week, Fiscal:
		if layout == "" {
			layout = table.ISODate
		}
		if layout.HasTime() {
			return nil, &noren.Error{Kind: noren.Usage, What: "expected a layout of days for a range, got one of instants"}
		}
		parse, show = layout.Parse, layout.Format
	default:
		return nil, &noren.Error{Kind: noren.Usage, What: "expected a kind of numbers or dates for a range"}
	}
	from, err := parse(low)
	if err != nil {
		return nil, &noren.Error{Kind: noren.Usage, Where: noren.Phrase("low end of the range"), Err: err}
	}
	to, err := parse(high)
	if err != nil {
		return nil, &noren.Error{Kind: noren.Usage, Where: noren.Phrase("high end of the range"), Err: err}
	}
	if to < from || uint64(to)-uint64(from) >= most {
		return nil, &noren.Error{Kind: noren.Usage, What: "expected a range from low to high of at most %d values", Args: []any{most}}
	}
	var values []string
	for v := from; v <= to && len(values) <= most; v++ {
		values = append(values, show(v))
		if v == to {
			break
		}
	}
	return values, nil
}
