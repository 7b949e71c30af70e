package table

import (
	"math"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// build makes a column of texts and fails on the first that is refused.
func build(t testing.TB, f Field, missing []string, texts ...string) *Column {
	t.Helper()
	b, err := NewBuilder(f, missing)
	if err != nil {
		t.Fatal(err)
	}
	for i, text := range texts {
		if err := b.Append([]byte(text)); err != nil {
			t.Fatalf("text %d: %v", i, err)
		}
	}
	return b.Column()
}

func TestBuilderCategory(t *testing.T) {
	c := build(t, Field{Name: "sex"}, []string{"NA"}, "M", "F", "", "M", "NA", "F", "日")
	if d := cmp.Diff([]string{"F", "M", "日"}, c.Dict); d != "" {
		t.Error("the words are not in byte order", d)
	}
	if d := cmp.Diff([]uint32{1, 0, 0, 1, 0, 0, 2}, c.Codes); d != "" {
		t.Error(d)
	}
	if c.Len() != 7 || c.Missing() != 2 || !c.IsMissing(2) || !c.IsMissing(4) || c.IsMissing(5) {
		t.Errorf("%d records, %d missing", c.Len(), c.Missing())
	}
	if c.Number(6) != 2 {
		t.Errorf("number of record 6: %g", c.Number(6))
	}
}

// Codes depend on the values alone, not on their order.
func TestCategoryCodes(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		texts := rapid.SliceOf(rapid.SampledFrom([]string{"a", "b", "B", "ab", "", "é", "日本"})).Draw(t, "texts")
		b, err := NewBuilder(Field{}, nil)
		if err != nil {
			t.Fatal(err)
		}
		for _, text := range texts {
			if err := b.Append([]byte(text)); err != nil {
				t.Fatal(err)
			}
		}
		c := b.Column()
		for i, text := range texts {
			switch {
			case text == "" != c.IsMissing(i):
				t.Fatalf("record %d: missing is %v", i, c.IsMissing(i))
			case text != "" && c.Dict[c.Codes[i]] != text:
				t.Fatalf("record %d is %q, want %q", i, c.Dict[c.Codes[i]], text)
			}
		}
		for i := 1; i < len(c.Dict); i++ {
			if c.Dict[i-1] >= c.Dict[i] {
				t.Fatalf("%q is not in order", c.Dict)
			}
		}
	})
}

func TestBuilderOrdered(t *testing.T) {
	f := Field{Type: Ordered, Levels: []string{"low", "medium", "high"}}
	c := build(t, f, nil, "high", "low", "", "medium")
	if d := cmp.Diff([]uint32{2, 0, 0, 1}, c.Codes); d != "" {
		t.Error(d)
	}
	if d := cmp.Diff(f.Levels, c.Dict); d != "" {
		t.Error(d)
	}
}

func TestBuilderNumbers(t *testing.T) {
	ints := build(t, Field{Type: Integer}, []string{"-9", "?"}, "0", "-9", "007", "+5", "-12", "?", "9223372036854775807",
		"-9223372036854775808", "0000000000000000000001")
	if d := cmp.Diff([]int64{0, 0, 7, 5, -12, 0, math.MaxInt64, math.MinInt64, 1}, ints.Ints); d != "" {
		t.Error(d)
	}
	if ints.Missing() != 2 {
		t.Errorf("%d missing, want 2", ints.Missing())
	}
	floats := build(t, Field{Type: Decimal}, nil, "1.50", "-2", ".5", "5.", "1e3", "1.25e-3", "-0", "123456789012345678.5", "")
	if d := cmp.Diff([]float64{1.5, -2, 0.5, 5, 1000, 0.00125, math.Copysign(0, -1), 123456789012345678.5, 0}, floats.Floats); d != "" {
		t.Error(d)
	}
	if floats.Places != 5 {
		t.Errorf("%d places, want 5", floats.Places)
	}
	dates := build(t, Field{Type: Date, Layout: "DD.MM.YYYY"}, nil, "29.02.2024", "", "31.12.1969")
	if d := cmp.Diff([]int64{19782, 0, -1}, dates.Ints); d != "" {
		t.Error(d)
	}
	if dates.Number(0) != 19782 || floats.Number(0) != 1.5 || (&Column{}).Number(0) != 0 {
		t.Error("a number is another")
	}
}

func TestBuilderRefuses(t *testing.T) {
	for _, c := range []struct {
		f    Field
		text string
		want string
	}{
		{Field{Type: Integer}, "s3cr3t", "expected an integer"},
		{Field{Type: Integer}, "1.0", "expected an integer"},
		{Field{Type: Integer}, " 1", "expected an integer"},
		{Field{Type: Integer}, "1_000", "expected an integer"},
		{Field{Type: Integer}, "-", "expected an integer"},
		{Field{Type: Integer}, "１", "expected an integer"},
		{Field{Type: Integer}, "9223372036854775808", "at most 64 bits"},
		{Field{Type: Integer}, "99999999999999999999999", "at most 64 bits"},
		{Field{Type: Decimal}, "s3cr3t", "expected a number"},
		{Field{Type: Decimal}, "1,5", "expected a number"},
		{Field{Type: Decimal}, "0x1p4", "expected a number"},
		{Field{Type: Decimal}, "1_0.5", "expected a number"},
		{Field{Type: Decimal}, ".", "expected a number"},
		{Field{Type: Decimal}, "1.2.3", "expected a number"},
		{Field{Type: Decimal}, "1e999", "64-bit floating point"},
		{Field{Type: Decimal}, "NaN", "finite"},
		{Field{Type: Decimal}, "-inf", "finite"},
		{Field{Type: Date}, "s3cr3t", "expected a date like YYYY-MM-DD"},
		{Field{Type: Date, Layout: "D.M.YYYY"}, "2024-01-01", "expected a date like D.M.YYYY"},
		{Field{Type: Ordered, Levels: []string{"low", "high"}}, "s3cr3t", "expected one of the 2 levels"},
	} {
		b, err := NewBuilder(c.f, nil)
		if err != nil {
			t.Fatal(err)
		}
		err = b.Append([]byte(c.text))
		if err == nil || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "s3cr3t") {
			t.Errorf("%s %q: got %v, want %q", c.f.Type, c.text, err, c.want)
		}
		if got := b.Column().Len(); got != 0 {
			t.Errorf("%s %q: %d records after the refusal", c.f.Type, c.text, got)
		}
	}
	b, err := NewBuilder(Field{Type: Decimal}, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, v := range []float64{math.NaN(), math.Inf(1)} {
		if err := b.AppendFloat(v); err == nil {
			t.Errorf("%g was taken", v)
		}
	}
	if err := b.AppendFloat(1.5); err != nil {
		t.Error(err)
	}
}

// A total builder has a value or a missing one for every text: the value that a
// strict builder has for it, and missing where that refuses.
func TestBuilderTotal(t *testing.T) {
	fields := []Field{
		{Type: Integer},
		{Type: Decimal},
		{Type: Date},
		{Type: Date, Layout: "D.M.YYYY hh:mm"},
		{Type: Ordered, Levels: []string{"low", "high"}},
		{},
	}
	rapid.Check(t, func(t *rapid.T) {
		f := rapid.SampledFrom(fields).Draw(t, "field")
		texts := rapid.SliceOf(rapid.OneOf(rapid.Map(rapid.SliceOf(rapid.Byte()), func(b []byte) string { return string(b) }),
			rapid.SampledFrom([]string{
				"", "NA", "1", "1.5", "1e999", "NaN", "99999999999999999999", "2024-02-29", "2023-02-29", "1.2.2024 23:59",
				"low", "Low", "high",
			}))).Draw(t, "texts")
		total, err := NewBuilder(f, []string{"NA"})
		if err != nil {
			t.Fatal(err)
		}
		total.Total()
		misfits := int64(0)
		for i, text := range texts {
			if err := total.Append([]byte(text)); err != nil {
				t.Fatalf("text %d: %v", i, err)
			}
		}
		c := total.Column()
		if c.Len() != len(texts) {
			t.Fatalf("%d records of %d texts", c.Len(), len(texts))
		}
		for i, text := range texts {
			strict, err := NewBuilder(f, []string{"NA"})
			if err != nil {
				t.Fatal(err)
			}
			if strict.Append([]byte(text)) != nil {
				misfits++
				if !c.IsMissing(i) || c.Number(i) != 0 {
					t.Fatalf("record %d does not fit and is %g", i, c.Number(i))
				}
				continue
			}
			want := strict.Column()
			switch {
			case c.IsMissing(i) != want.IsMissing(0):
				t.Fatalf("record %d: missing is %v", i, c.IsMissing(i))
			case f.Type == Category && !c.IsMissing(i):
				if c.Dict[c.Codes[i]] != text {
					t.Fatalf("record %d is another text", i)
				}
			case c.Number(i) != want.Number(0):
				t.Fatalf("record %d is %g, want %g", i, c.Number(i), want.Number(0))
			}
		}
		if total.Misfits() != misfits {
			t.Fatalf("%d misfits, want %d", total.Misfits(), misfits)
		}
	})
	b, err := NewBuilder(Field{Type: Decimal}, nil)
	if err != nil {
		t.Fatal(err)
	}
	b.Total()
	if err := b.AppendFloat(math.Inf(-1)); err != nil || b.Misfits() != 1 || !b.Column().IsMissing(0) {
		t.Errorf("an infinite number: %v", err)
	}
}

func TestBuilderFields(t *testing.T) {
	h, err := NewHierarchy("h", [][]string{{"a", "*"}}, nil)
	if err != nil {
		t.Fatal(err)
	}
	for name, f := range map[string]Field{
		"no levels":                   {Type: Ordered},
		"a level twice":               {Type: Ordered, Levels: []string{"a", "b", "a"}},
		"a layout without year":       {Type: Date, Layout: "DD.MM."},
		"a hierarchy on a number":     {Type: Integer, Hierarchy: h},
		"a hierarchy beside an order": {Type: Ordered, Levels: []string{"a"}, Hierarchy: h},
	} {
		if _, err := NewBuilder(f, nil); err == nil {
			t.Errorf("%s is taken", name)
		}
	}
}

// Numbers are read as package strconv reads them.
func TestNumbersAgreeWithStrconv(t *testing.T) {
	digits := rapid.StringOf(rapid.SampledFrom([]rune("0123456789.-+e")))
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.OneOf(digits, rapid.Map(rapid.Float64(), func(f float64) string { return strconv.FormatFloat(f, 'g', -1, 64) }),
			rapid.Map(rapid.Int64(), func(n int64) string { return strconv.FormatInt(n, 10) }),
			rapid.Map(rapid.IntRange(-1e9, 1e9), func(n int) string { return strconv.FormatFloat(float64(n)/1e4, 'f', 4, 64) })).Draw(t, "text")
		want, wantErr := strconv.ParseInt(text, 10, 64)
		if got, err := ParseInteger([]byte(text)); (err == nil) != (wantErr == nil) || err == nil && got != want {
			t.Fatalf("%q: got %d, %v, want %d, %v", text, got, err, want, wantErr)
		}
		wantF, wantErr := strconv.ParseFloat(text, 64)
		if got, _, err := ParseDecimal([]byte(text)); (err == nil) != (wantErr == nil) || err == nil &&
			math.Float64bits(got) != math.Float64bits(wantF) {
			t.Fatalf("%q: got %g, %v, want %g, %v", text, got, err, wantF, wantErr)
		}
	})
}

func TestPlaces(t *testing.T) {
	for text, want := range map[string]int{
		"1": 0, "1.50": 2, "-0.125": 3, "5.": 0, ".5": 1, "1e-3": 3, "1.25e3": 0, "1.25e1": 1,
		"0.00000000000000000001": 20, "0e-99999999999999999999": 0,
	} {
		if _, got, err := ParseDecimal([]byte(text)); err != nil || got != want {
			t.Errorf("%q: got %d places, %v, want %d", text, got, err, want)
		}
	}
}

func TestTable(t *testing.T) {
	tab := Table{Rows: 1, Columns: []*Column{build(t, Field{Name: "a"}, nil, "x"), build(t, Field{Name: "b"}, nil, "y")}}
	if got := tab.Column("b"); got != tab.Columns[1] {
		t.Error("another column")
	}
	if tab.Column("c") != nil {
		t.Error("a column that is not there")
	}
}

func TestAppendText(t *testing.T) {
	own := func(dst []byte, v *Vector, i int) []byte { return append(dst, "own"...) }
	for _, c := range []struct {
		column StoredColumn
		v      Vector
		want   string
	}{
		{StoredColumn{}, Vector{Texts: [][]byte{[]byte("text")}}, "text"},
		{StoredColumn{}, Vector{Kind: Int, Ints: []int64{-5}}, "-5"},
		{StoredColumn{}, Vector{Kind: Float, Floats: []float64{1e6}}, "1000000"},
		{StoredColumn{}, Vector{Kind: Float, Floats: []float64{1e21}}, "1e+21"},
		{StoredColumn{}, Vector{Kind: Float, Floats: []float64{1e-7}}, "1e-07"},
		{StoredColumn{}, Vector{Kind: Float, Floats: []float64{0}}, "0"},
		{StoredColumn{AppendText: own}, Vector{Kind: Int, Ints: []int64{5}}, "own"},
		{StoredColumn{AppendText: own}, Vector{Kind: Int, Ints: []int64{5}, Null: []bool{true}}, ""},
	} {
		if got := string(AppendText([]byte(">"), &c.column, &c.v, 0)); got != ">"+c.want {
			t.Errorf("got %q, want %q", got, c.want)
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		f := rapid.Float64().Draw(t, "f")
		text := appendFloat(nil, f)
		if back, err := strconv.ParseFloat(string(text), 64); err != nil || back != f {
			t.Fatalf("%g is written %s", f, text)
		}
	})
}

func BenchmarkBuilder(b *testing.B) {
	for name, c := range map[string]struct {
		f    Field
		text string
	}{
		"integer":  {Field{Type: Integer}, "12345"},
		"decimal":  {Field{Type: Decimal}, "123.45"},
		"long":     {Field{Type: Decimal}, "0.12345678901234567"},
		"date":     {Field{Type: Date}, "2024-02-29"},
		"category": {Field{}, "Self-emp-not-inc"},
	} {
		text := []byte(c.text)
		b.Run(name, func(b *testing.B) {
			builder, err := NewBuilder(c.f, []string{"NA", "?"})
			if err != nil {
				b.Fatal(err)
			}
			for b.Loop() {
				if err := builder.Append(text); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
