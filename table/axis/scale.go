package axis

import (
	"math"
	"slices"
	"strconv"

	"github.com/noren-privacy/noren"
)

// Scale is a line of a scale file: the public unit of distance of a column, and
// its public bounds where the file has them.
type Scale struct {
	Low, High float64
	// Unit is how much of the column's unit is one unit of distance, above 0.
	Unit float64
	// Bounded says that Low and High were given.
	Bounded bool
}

// ParseScales reads the rows of a scale file: a header column,scale or
// column,low,high,scale, and one row for each column that it names. name is the
// file and above the number of lines before the header, for errors. Error:
// [noren.BadData].
func ParseScales(name string, rows [][]string, above int) (map[string]Scale, error) {
	bad := func(line int, what noren.Text) error {
		return &noren.Error{
			Kind: noren.BadData, Where: noren.Position{File: name, Line: int64(line)}, What: what.Format, Args: what.Args,
			Hint: "CSV with the header column,scale or column,low,high,scale",
		}
	}
	if len(rows) < 2 {
		return nil, bad(1, noren.Textf("expected a header and a line for each column"))
	}
	at := func(name string) int { return slices.Index(rows[0], name) }
	column, low, high, scale := at("column"), at("low"), at("high"), at("scale")
	if column < 0 || scale < 0 || (low < 0) != (high < 0) {
		return nil, bad(1+above, noren.Textf("the header lacks a required column")) // a file of another kind has values there
	}
	out := map[string]Scale{}
	for i, row := range rows[1:] {
		s := Scale{Bounded: low >= 0}
		for _, v := range []struct {
			at   int
			into *float64
		}{{scale, &s.Unit}, {low, &s.Low}, {high, &s.High}} {
			if v.at < 0 {
				continue
			}
			var err error
			if v.at >= len(row) {
				return nil, bad(i+2+above, noren.Textf("expected as many fields as the header has"))
			}
			if *v.into, err = strconv.ParseFloat(row[v.at], 64); err != nil || math.IsNaN(*v.into) || math.IsInf(*v.into, 0) {
				return nil, bad(i+2+above, noren.Textf("expected a number"))
			}
		}
		if !(s.Unit > 0) {
			return nil, bad(i+2+above, noren.Textf("a scale must be above 0"))
		}
		if column >= len(row) {
			return nil, bad(i+2+above, noren.Textf("expected as many fields as the header has"))
		}
		out[row[column]] = s
	}
	return out, nil
}
