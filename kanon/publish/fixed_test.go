package publish_test

import (
	"context"
	"strconv"
	"testing"

	"pgregory.net/rapid"

	"github.com/noren-privacy/noren/kanon/publish"
	"github.com/noren-privacy/noren/table"
)

func fixed(t fataler, f table.Field, texts ...string) string {
	t.Helper()
	c := column(t, f, texts...)
	out, err := publish.Publish(context.Background(), []*table.Column{c}, stored(c), make([]uint32, len(texts)), 1,
		publish.Options{Mode: publish.Generalize, Ranges: publish.Fixed})
	if err != nil {
		t.Fatalf("%v", err)
	}
	return shown(&out[0], 0)[0]
}

func TestFixedRanges(t *testing.T) {
	number, decimal, date := table.Field{Type: table.Integer}, table.Field{Type: table.Decimal}, table.Field{Type: table.Date}
	ordered := table.Field{Type: table.Ordered, Levels: []string{"a", "b", "c", "d", "e"}}
	for _, c := range []struct {
		f     table.Field
		texts []string
		want  string
	}{
		{number, []string{"17"}, "[15-19]"},
		{number, []string{"19", "20"}, "[15-24]"},
		{number, []string{"17", "33"}, "[0-39]"},
		{number, []string{"-3", "2"}, "[-5-4]"},
		{number, []string{"41000", "58500"}, "[40000-59999]"},
		{table.Field{Type: table.Integer, Round: round(-2)}, []string{"17"}, "[0-99]"},
		{number, []string{"9223372036854775807"}, "*"},
		{decimal, []string{"1.52", "1.54"}, "[1.50-1.55]"},
		{decimal, []string{"1.5", "2.1"}, "[1.5-2.5]"},
		{decimal, []string{"1e30", "1.5e30"}, "[1000000000000000000000000000000-2000000000000000000000000000000]"},
		{date, []string{"2024-02-05"}, "[2024-02-01-2024-02-29]"},
		{date, []string{"2023-12-30", "2024-02-05"}, "[2023-10-01-2024-03-31]"},
		{date, []string{"1994-05-05", "2024-02-05"}, "[1950-01-01-2049-12-31]"},
		{ordered, []string{"a", "c"}, "[a-d]"},
		{ordered, []string{"e"}, "e"},
		{table.Field{Type: table.Category}, []string{"x", "y"}, "*"},
		{table.Field{Type: table.Category}, []string{"x", "x"}, "x"},
	} {
		words(t, fixed(t, c.f, c.texts...), c.want, c.texts)
	}
}

// A fixed range holds its values, and begins and ends on a grid that does not
// depend on them: moving values within the range does not move its ends far.
func TestFixedRangesHoldTheirValues(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		values := rapid.SliceOfN(rapid.Int64Range(-1e9, 1e9), 1, 5).Draw(t, "values")
		var texts []string
		for _, v := range values {
			texts = append(texts, strconv.FormatInt(v, 10))
		}
		f := table.Field{Type: table.Integer}
		cell := fixed(t, f, texts...)
		lo, hi, isRange, ok := publish.ParseRange(cell, &f)
		if !ok || !isRange {
			t.Fatalf("%s is no range", cell)
		}
		for _, v := range values {
			if float64(v) < lo || float64(v) > hi {
				t.Fatalf("%s does not hold %d", cell, v)
			}
		}
		// Every value of the range alone, and both ends, lie on the same grid.
		if width := int64(hi-lo) + 1; int64(lo)%5 != 0 || width%5 != 0 {
			t.Fatalf("%s is not of a grid of fives", cell)
		}
	})
}

// Fixed ranges exclude fewer who are not in the table.
func TestExcluded(t *testing.T) {
	cols, group, groups := people(t, 3000, 5, 8)
	e, err := publish.CountExcluded(context.Background(), cols, group, groups,
		publish.Options{Mode: publish.Generalize, Ranges: publish.Fixed})
	if err != nil {
		t.Fatal(err)
	}
	if e.Sampled != 1000 || !(e.Shown < e.Tight) || e.Tight <= 0 || e.Tight >= 1 {
		t.Errorf("%+v: want fewer excluded by fixed ranges", e)
	}
	// One group of all records excludes only those at its ends.
	e, err = publish.CountExcluded(context.Background(), cols, make([]uint32, len(group)), 1, publish.Options{Mode: publish.Shares})
	if err != nil || e.Tight > .02 || e.Shown != e.Tight {
		t.Errorf("%+v, %v: want next to none", e, err)
	}
}
