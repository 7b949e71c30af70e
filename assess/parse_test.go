package assess

import (
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/noren-privacy/noren/internal/meter/metertest"
	"github.com/noren-privacy/noren/kanon/publish"
	"github.com/noren-privacy/noren/table"
)

func TestParseRange(t *testing.T) {
	number := &table.Field{Type: table.Decimal}
	date := &table.Field{Type: table.Date, Layout: "YYYY-MM-DD"}
	for _, c := range []struct {
		word        string
		f           *table.Field
		lo, hi      float64
		isRange, ok bool
	}{
		{"5", number, 5, 5, false, true},
		{"-5", number, -5, -5, false, true},
		{"[1-2]", number, 1, 2, true, true},
		{"[-5-10]", number, -5, 10, true, true},
		{"[-5--3]", number, -5, -3, true, true},
		{"[1e-3-2e-3]", number, 0.001, 0.002, true, true},
		{"[1.5 - 2.5]", number, 1.5, 2.5, true, true},
		{"[7-7]", number, 7, 7, true, true},
		{"[2-1]", number, 0, 0, true, false},
		{"[3]", number, 0, 0, true, false},
		{"[-]", number, 0, 0, true, false},
		{"[]", number, 0, 0, true, false},
		{"[", number, 0, 0, false, false},
		{"", number, 0, 0, false, false},
		{"*", number, 0, 0, false, false},
		{"NaN", number, 0, 0, false, false},
		{"[-Inf-5]", number, 0, 0, true, false},
		{"0x10", number, 0, 0, false, false},
		{"[1970-01-02-1970-01-11]", date, 1, 10, true, true},
		{"1970-01-02", date, 1, 1, false, true},
		{"[1970-01-02]", date, 0, 0, true, false},
	} {
		lo, hi, isRange, ok := publish.ParseRange(c.word, c.f)
		if ok != c.ok || isRange != c.isRange || ok && (lo != c.lo || hi != c.hi) {
			t.Errorf("%q: %v %v %v %v", c.word, lo, hi, isRange, ok)
		}
	}
}

func FuzzParseRange(f *testing.F) {
	for _, s := range []string{"[1-2]", "[-1--1]", "[1970-01-01-1971-01-01]", "[", "[-]", "[1e-9-1]"} {
		f.Add(s)
	}
	fields := []*table.Field{{Type: table.Decimal}, {Type: table.Date}}
	f.Fuzz(func(t *testing.T, s string) {
		metertest.Hold(t, len(s))
		for _, field := range fields {
			if lo, hi, _, ok := publish.ParseRange(s, field); ok && !(lo <= hi) {
				t.Errorf("%q reads as %v to %v", s, lo, hi)
			}
		}
	})
}

func codes(values ...string) map[string]uint32 {
	m := map[string]uint32{}
	for i, v := range values {
		m[v] = uint32(i)
	}
	return m
}

func TestReadSet(t *testing.T) {
	for _, c := range []struct {
		body   string
		values []string
		want   []uint32
	}{
		{"a, b", []string{"a", "b", "c"}, []uint32{0, 1}},
		{"b, a, a", []string{"a", "b"}, []uint32{0, 1}},
		{"a", []string{"a"}, []uint32{0}},
		{"a, b, c", []string{"a", "b, c"}, []uint32{0, 1}},
		{"a, b, c", []string{"a, b", "c"}, []uint32{0, 1}},
		{"a,, b", []string{"a,", "b"}, []uint32{0, 1}},
		{", , x", []string{", ", "x"}, []uint32{0, 1}},
		{", x", []string{", ", "x"}, nil}, // between them stands no separator
		{"a, z", []string{"a"}, nil},
		{"a, ", []string{"a"}, nil},
		{"", []string{"a"}, nil},
		{"", []string{""}, []uint32{0}},
	} {
		got, ok := readSet(c.body, codes(c.values...))
		if ok != (c.want != nil) || !slices.Equal(got, c.want) {
			t.Errorf("%q of %q: %v %v, want %v", c.body, c.values, got, ok, c.want)
		}
	}
}

// What was joined can be read, and stands for the same values unless values
// that hold separators make it ambiguous.
func TestReadSetReadsWhatWasWritten(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		values := rapid.SliceOfNDistinct(rapid.StringMatching(`[ab, ]{1,4}`), 1, 8, rapid.ID[string]).Draw(t, "values")
		n := rapid.IntRange(1, len(values)).Draw(t, "n")
		got, ok := readSet(strings.Join(values[:n], ", "), codes(values...))
		if !ok {
			t.Fatalf("%q cannot be read", values[:n])
		}
		ambiguous := false
		for _, v := range values {
			ambiguous = ambiguous || strings.ContainsAny(v, ", ")
		}
		if !ambiguous && len(got) != n {
			t.Fatalf("%q: %v", values[:n], got)
		}
	})
}

func FuzzReadSet(f *testing.F) {
	f.Add("a, b, c", "a")
	f.Add(", , ,", ",")
	f.Fuzz(func(t *testing.T, body, value string) {
		metertest.Hold(t, len(body)+len(value))
		if members, ok := readSet(body, codes(value, "a", "b, c")); ok && len(members) == 0 {
			t.Errorf("%q is a set of nothing", body)
		}
	})
}

func TestRoundingStep(t *testing.T) {
	for _, c := range []struct {
		values []string
		kind   table.Type
		want   float64
	}{
		{[]string{"1.5", "2.25"}, table.Decimal, 0.01},
		{[]string{"1.50", "2"}, table.Decimal, 0.01},
		{[]string{"100", "2500"}, table.Decimal, 100},
		{[]string{"100", "-2501"}, table.Integer, 1},
		{[]string{"0", "0"}, table.Integer, 1},
		{[]string{"", "30"}, table.Integer, 10},
	} {
		b, err := table.NewBuilder(table.Field{Type: c.kind}, nil)
		if err != nil {
			t.Fatal(err)
		}
		for _, v := range c.values {
			if err := b.Append([]byte(v)); err != nil {
				t.Fatal(err)
			}
		}
		if got := roundingStep(b.Column()); got != c.want {
			t.Errorf("%v: %v, want %v", c.values, got, c.want)
		}
	}
}

// Numbers that were never text show no rounding.
func TestRoundingStepOfBinaryNumbers(t *testing.T) {
	b, err := table.NewBuilder(table.Field{Type: table.Decimal}, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, v := range []float64{1, 1.0 / 3} {
		if err := b.AppendFloat(v); err != nil {
			t.Fatal(err)
		}
	}
	if got := roundingStep(b.Column()); got != 0 {
		t.Errorf("%v, want 0", got)
	}
}

// The two-pass sums must not be fooled by a large offset: the variance of
// 1e15, 1e15+1, 1e15+2 is 1, where the sum of squares has no digit of it.
func TestSpreadFarFromZero(t *testing.T) {
	x := &numbers{lo: []float64{1e15, 1e15 + 1, 1e15 + 2}, present: []bool{true, true, true}}
	x.hi = x.lo
	if s := x.spread(); s.mean != 1e15+1 || s.ss != 2 {
		t.Errorf("mean %v, sum of squares %v", s.mean, s.ss)
	}
}
