package publish_test

import (
	"fmt"
	"testing"

	"github.com/noren-privacy/noren/internal/meter/metertest"
	"github.com/noren-privacy/noren/kanon/publish"
	"github.com/noren-privacy/noren/table"
)

func TestRanges(t *testing.T) {
	integer, decimal := table.Field{Type: table.Integer}, table.Field{Type: table.Decimal}
	tens := table.Field{Type: table.Integer, Round: round(-1)}
	date := table.Field{Type: table.Date}
	for _, c := range []struct {
		field table.Field
		texts []string
		want  string
	}{
		{integer, []string{"7", "7"}, "7"},
		{integer, []string{"9", "-3", "4"}, "[-3-9]"},
		{integer, []string{"-3", "-9"}, "[-9--3]"},
		{integer, []string{largest, smallest}, "[" + smallest + "-" + largest + "]"},
		{integer, []string{"NA", "4", "5"}, "[4-5]"},
		{integer, []string{"NA", "5"}, "5"},
		{integer, []string{"NA"}, ""},
		{table.Field{Type: table.Integer, Round: round(2)}, []string{"1", "2"}, "[1-2]"},
		{tens, []string{"11", "39"}, "[10-40]"}, // outwards
		{tens, []string{"-11", "-39"}, "[-40--10]"},
		{tens, []string{"-1", "1"}, "[-10-10]"},
		{tens, []string{"20", "20"}, "20"},
		{tens, []string{"21", "21"}, "[20-30]"},
		{tens, []string{"20", "30"}, "[20-30]"},
		{tens, []string{smallest, largest}, "[" + smallest + "-" + largest + "]"}, // no further tens in 64 bits
		{tens, []string{"9223372036854775799"}, "[9223372036854775790-9223372036854775800]"},
		{table.Field{Type: table.Integer, Round: round(-18)}, []string{"1", "-1"}, "[-1000000000000000000-1000000000000000000]"},
		{decimal, []string{"1.50", "1.5"}, "1.5"},
		{decimal, []string{"0.1", "-0.25"}, "[-0.25-0.1]"},
		{decimal, []string{"-0.0", "0"}, "0"},
		{decimal, []string{"-0.0", "2"}, "[0-2]"},
		{decimal, []string{"1e-7", "1e21"}, "[0.0000001-1000000000000000000000]"},
		{table.Field{Type: table.Decimal, Round: round(1)}, []string{"0.15", "0.31"}, "[0.1-0.4]"},
		{table.Field{Type: table.Decimal, Round: round(1)}, []string{"-0.15", "-0.31"}, "[-0.4--0.1]"},
		{table.Field{Type: table.Decimal, Round: round(1)}, []string{"-0.05", "0.05"}, "[-0.1-0.1]"},
		{table.Field{Type: table.Decimal, Round: round(1)}, []string{"0.25", "0.5"}, "[0.2-0.5]"},
		{table.Field{Type: table.Decimal, Round: round(1)}, []string{"0.5"}, "0.5"},
		{table.Field{Type: table.Decimal, Round: round(1)}, []string{"0.3", "0.7"}, "[0.3-0.7]"}, // 0.3 is less than that in floating point
		{table.Field{Type: table.Decimal, Round: round(1)}, []string{"0.30000000000000004"}, "[0.3-0.4]"},
		{table.Field{Type: table.Decimal, Round: round(2)}, []string{"0.5"}, "0.50"},
		{table.Field{Type: table.Decimal, Round: round(0)}, []string{"-0.5"}, "[-1-0]"},
		{table.Field{Type: table.Decimal, Round: round(-1)}, []string{"1.5", "12"}, "[0-20]"},
		{date, []string{"2024-02-29", "2023-12-31"}, "[2023-12-31-2024-02-29]"},
		{date, []string{"2024-02-29"}, "2024-02-29"},
		{table.Field{Type: table.Date, Layout: "YYYY-MM"}, []string{"2024-02", "2024-11"}, "[2024-02-2024-11]"},
		{table.Field{Type: table.Date, Round: round(-1)}, []string{"1970-01-15"}, "[1970-01-11-1970-01-21]"}, // days 10 and 20
		{table.Field{Type: table.Date, Layout: "YYYY-MM", Round: round(-1)}, []string{"1970-03"}, "[1970-02-1970-03]"},
		{table.Field{Type: table.Date, Layout: "YYYY", Round: round(-1)}, []string{"1971"}, "[1970-1971]"}, // days 360 and 370
		{
			table.Field{Type: table.Date, Layout: "DD.MM.YYYY hh:mm"},
			[]string{"01.02.2024 10:00", "01.02.2024 09:00"},
			"[01.02.2024 09:00-01.02.2024 10:00]",
		},
	} {
		words(t, one(t, c.field, publish.Generalize, c.texts...), c.want, c.texts)
	}
}

// Days that a file holds as such may be shown by a layout that tells less: two
// ends that look the same are no range.
func TestRangeOfOneText(t *testing.T) {
	b, err := table.NewBuilder(table.Field{Name: "day", Type: table.Date, Layout: "YYYY-MM"}, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, day := range []int64{3, 17, 29, 40} {
		b.AppendInt(day)
	}
	got := shown(publishOne(t, b.Column(), []uint32{1, 1, 0, 0}, 2, publish.Generalize), 0, 1)
	if fmt.Sprint(got) != "[[1970-01-1970-02] 1970-01]" {
		t.Errorf("got %s", got)
	}
}

func TestParseRange(t *testing.T) {
	integer, date := table.Field{Type: table.Integer}, table.Field{Type: table.Date}
	months := table.Field{Type: table.Date, Layout: "YYYY-MM"}
	for _, c := range []struct {
		text    string
		field   table.Field
		lo, hi  float64
		isRange bool
		ok      bool
	}{
		{"5", integer, 5, 5, false, true},
		{"-5", integer, -5, -5, false, true},
		{"2.5", integer, 2.5, 2.5, false, true}, // a mean
		{"[3-5]", integer, 3, 5, true, true},
		{"[ 3 - 5 ]", integer, 3, 5, true, true},
		{"[-5-3]", integer, -5, 3, true, true},
		{"[-5--3]", integer, -5, -3, true, true},
		{"[0.5-1e3]", integer, .5, 1000, true, true},
		{"[1e-5-3]", integer, 1e-5, 3, true, true},
		{"[5-3]", integer, 0, 0, true, false},
		{"[5]", integer, 0, 0, true, false},
		{"[-5]", integer, 0, 0, true, false},
		{"[]", integer, 0, 0, true, false},
		{"[-]", integer, 0, 0, true, false},
		{"[a-b]", integer, 0, 0, true, false},
		{"[NaN-1]", integer, 0, 0, true, false},
		{"[1-Inf]", integer, 0, 0, true, false},
		{"[1-2", integer, 0, 0, false, false},
		{"[", integer, 0, 0, false, false},
		{"", integer, 0, 0, false, false},
		{"NA", integer, 0, 0, false, false},
		{"1970-01-11", date, 10, 10, false, true},
		{"[1970-01-11-1970-02-01]", date, 10, 31, true, true},
		{"[1970-02-01-1970-01-11]", date, 0, 0, true, false},
		{"[1970-01-1970-02]", months, 0, 31, true, true},
		{"[1970-02-30-1970-03-01]", date, 0, 0, true, false},
	} {
		lo, hi, isRange, ok := publish.ParseRange(c.text, &c.field)
		if !ok {
			lo, hi = 0, 0
		}
		if lo != c.lo || hi != c.hi || isRange != c.isRange || ok != c.ok {
			t.Errorf("%s (%s): got %v %v %v %v", c.text, c.field.Type, lo, hi, isRange, ok)
		}
	}
}

// FuzzParseRange holds ParseRange to what it says: no panic, ends in order, and
// a range that is written anew reads the same.
func FuzzParseRange(f *testing.F) {
	for _, s := range []string{
		"5", "[3-5]", "[-5--3]", "[1e-5-3]", "[2024-01-01-2024-02-01]", "[", "[]", "[--]", "[-0.0-0]",
		"[01.01.2024-02.01.2024]",
	} {
		f.Add(s)
	}
	fields := []table.Field{
		{Type: table.Integer},
		{Type: table.Decimal},
		{Type: table.Date},
		{Type: table.Date, Layout: "DD.MM.YYYY"},
		{Type: table.Date, Layout: "YYYY-MM-DD hh:mm"},
	}
	f.Fuzz(func(t *testing.T, text string) {
		metertest.Hold(t, len(text))
		for i := range fields {
			lo, hi, isRange, ok := publish.ParseRange(text, &fields[i])
			if !ok {
				continue
			}
			if !(lo <= hi) || !isRange && lo != hi {
				t.Fatalf("%q as %s: %v to %v", text, fields[i].Type, lo, hi)
			}
			again := fmt.Sprintf("[%f-%f]", lo, hi)
			if fields[i].Type == table.Date {
				again = "[" + fields[i].Layout.Format(int64(lo)) + "-" + fields[i].Layout.Format(int64(hi)) + "]"
			} else if lo2, hi2 := float(fmt.Sprintf("%f", lo)), float(fmt.Sprintf("%f", hi)); lo2 != lo || hi2 != hi {
				continue // six places do not hold it
			}
			lo2, hi2, _, ok := publish.ParseRange(again, &fields[i])
			if !ok || lo2 != lo || hi2 != hi {
				t.Fatalf("%q as %s: %v to %v, and %q: %v to %v, %v", text, fields[i].Type, lo, hi, again, lo2, hi2, ok)
			}
		}
	})
}

func float(s string) (v float64) {
	_, _ = fmt.Sscanf(s, "%g", &v)
	return v
}
