package publish_test

import (
	"math"
	"slices"
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/noren-privacy/noren/internal/meter/metertest"
	"github.com/noren-privacy/noren/kanon/publish"
	"github.com/noren-privacy/noren/table"
)

func TestShares(t *testing.T) {
	category, number, date := table.Field{Type: table.Category}, table.Field{Type: table.Integer}, table.Field{Type: table.Date}
	ordered := table.Field{Type: table.Ordered, Levels: []string{"low", "mid", "high"}}
	for _, c := range []struct {
		f     table.Field
		texts []string
		want  string
	}{
		{category, []string{"a", "b", "a", "b", "a"}, "{a 0.60, b 0.40}"},
		{category, []string{"a", "a"}, "a"},
		{category, []string{"a", "NA", "b"}, "{a 0.50, b 0.50}"},
		{category, []string{"NA", "NA"}, ""},
		{ordered, []string{"high", "low", "low", "mid"}, "{low 0.50, mid 0.25, high 0.25}"},
		{number, []string{"17", "25", "21", "22", "20"}, "[17-25] mean 21"},
		{number, []string{"17", "25", "21", "22"}, "[17-25]"},             // four: the two in the middle give each other away
		{number, []string{"17", "17", "17", "17", "25"}, "[17-25]"},       // the mean would tell all five
		{number, []string{"17", "18", "17", "18", "17", "18"}, "[17-18]"}, // a whole mean says nothing
		{number, []string{"17", "17", "17", "17", "17"}, "17"},
		{date, []string{"2024-01-01", "2024-01-09", "2024-01-05", "2024-01-04", "2024-01-06"}, "[2024-01-01-2024-01-09] mean 2024-01-05"},
		{table.Field{Type: table.Decimal}, []string{"1.00", "2.00", "1.50", "1.57", "1.40"}, "[1-2] mean 1.49"},
		{table.Field{Type: table.Integer, Round: round(1)}, []string{"17", "25", "21", "22", "20"}, "[17-25] mean 21.0"},
	} {
		words(t, one(t, c.f, publish.Shares, c.texts...), c.want, c.texts)
	}
	many := slices.Repeat([]string{"a"}, 299)
	words(t, one(t, category, publish.Shares, append(many, "b")...), "{a 0.997, b 0.003}", nil)
}

// With the mean beside its range every value of the range is still possible for
// every record: the statement of meanBeside is tried out.
func TestMeanLeavesValuesOpen(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		values := rapid.SliceOfN(rapid.IntRange(0, 7), 5, 7).Draw(t, "values")
		var texts []string
		for _, v := range values {
			texts = append(texts, strconv.Itoa(v))
		}
		f := table.Field{Type: table.Integer}
		cell := one(t, f, publish.Shares, texts...)
		lo, hi := slices.Min(values), slices.Max(values)
		if lo == hi {
			return
		}
		// All classes of as many records that show the same cell.
		possible := map[int]bool{}
		tried := make([]int, len(values))
		var walk func(at int)
		walk = func(at int) {
			if at == len(tried) {
				if slices.Min(tried) == lo && slices.Max(tried) == hi && !possible[tried[0]] && cellOf(t, tried) == cell {
					possible[tried[0]] = true
				}
				return
			}
			for v := lo; v <= hi; v++ {
				if at > 1 && v < tried[at-1] {
					continue // the others in ascending order
				}
				tried[at] = v
				walk(at + 1)
			}
		}
		walk(0)
		for v := lo; v <= hi; v++ {
			if !possible[v] {
				t.Fatalf("%s of %d records excludes %d", cell, len(values), v)
			}
		}
	})
}

func cellOf(t fataler, values []int) string {
	var texts []string
	for _, v := range values {
		texts = append(texts, strconv.Itoa(v))
	}
	return one(t, table.Field{Type: table.Integer}, publish.Shares, texts...)
}

func TestParseShares(t *testing.T) {
	known := map[string]bool{"a": true, "b, c": true, "b": true, "d 0.5": true}
	for _, c := range []struct {
		text string
		want []publish.Share
	}{
		{"{a 0.60, b 0.40}", []publish.Share{{Value: "a", Share: .6}, {Value: "b", Share: .4}}},
		{"{a 0.25, b, c 0.75}", []publish.Share{{Value: "a", Share: .25}, {Value: "b, c", Share: .75}}},
		{"{a 0.50, d 0.5 0.50}", []publish.Share{{Value: "a", Share: .5}, {Value: "d 0.5", Share: .5}}},
		{"{a, b}", nil},
		{"{a 0.60, x 0.40}", nil},
		{"a 0.60", nil},
		{"{}", nil},
		{"{a 7.00}", nil},
		{"{a 0.00}", nil},
	} {
		got, ok := publish.ParseShares(c.text, func(v string) bool { return known[v] })
		if ok != (c.want != nil) || !slices.EqualFunc(got, c.want,
			func(a, b publish.Share) bool { return a.Value == b.Value && math.Abs(a.Share-b.Share) < 1e-12 }) {
			t.Errorf("%s: %v, want %v", c.text, got, c.want)
		}
	}
}

// What is written is read back.
func TestSharesAreReadBack(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		words := []string{"a", "b", "a, b", "a 0.50", "c d", "{", "0.10"}
		texts := rapid.SliceOfN(rapid.SampledFrom(words), 2, 60).Draw(t, "texts")
		cell := one(t, table.Field{Type: table.Category}, publish.Shares, texts...)
		if !strings.HasSuffix(cell, "}") {
			return
		}
		got, ok := publish.ParseShares(cell, func(v string) bool { return slices.Contains(words, v) })
		if !ok {
			t.Fatalf("%s is not read", cell)
		}
		sum := 0.0
		for _, s := range got {
			sum += s.Share
		}
		if math.Abs(sum-1) > 1e-9 {
			t.Fatalf("%s: shares add up to %g", cell, sum)
		}
	})
}

func FuzzParseShares(f *testing.F) {
	f.Add("{a 0.60, b 0.40}")
	f.Add("{a, b 0.50, a 0.50}")
	f.Fuzz(func(t *testing.T, text string) {
		metertest.Hold(t, len(text))
		got, ok := publish.ParseShares(text, func(v string) bool { return len(v) == 1 })
		if ok == (len(got) == 0) {
			t.Errorf("%q: %v, %v", text, got, ok)
		}
	})
}

func TestParseSpan(t *testing.T) {
	f := table.Field{Type: table.Integer}
	for text, want := range map[string]publish.Span{
		"17":               {Lo: 17, Hi: 17},
		"[17-25]":          {Lo: 17, Hi: 25, Range: true},
		"[17-25] mean 21":  {Lo: 17, Hi: 25, Range: true, Mean: 21, HasMean: true},
		"[-9--3] mean -4":  {Lo: -9, Hi: -3, Range: true, Mean: -4, HasMean: true},
		"[17-25] mean 30":  {Lo: 17, Hi: 25, Range: true, Mean: 25, HasMean: true},
		"[17-25] mean 2.5": {Lo: 17, Hi: 25, Range: true, Mean: 17, HasMean: true},
	} {
		if got, ok := publish.ParseSpan(text, &f); !ok || got != want {
			t.Errorf("%s: %+v, %v, want %+v", text, got, ok, want)
		}
	}
	for _, text := range []string{"[17-25] mean", "[17-25] mean x", "mean 17", "[17-25] mean 1 2"} {
		if _, ok := publish.ParseSpan(text, &f); ok {
			t.Errorf("%s is read", text)
		}
	}
}
