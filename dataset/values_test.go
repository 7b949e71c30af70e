package dataset

import (
	"bytes"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"math"
	"math/big"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"

	"golang.org/x/text/encoding/japanese"
	"pgregory.net/rapid"

	"github.com/noren-privacy/noren/internal/meter/metertest"
	"github.com/noren-privacy/noren/table"
	"github.com/noren-privacy/noren/table/csvio"
	"github.com/noren-privacy/noren/table/infer"
)

// valuesOf are the values of the one column of a table of texts.
func valuesOf(t fataler, c Column, missing []string, cells ...string) Values {
	t.Helper()
	if c.Name == "" {
		c.Name = "a"
	}
	d := complete(t, Definition{Columns: []Column{c, {Name: "other"}}, Missing: missing})
	g := &grid{names: []string{c.Name, "other"}}
	for _, text := range cells {
		g.rows = append(g.rows, []*string{ptr(text), ptr("x")})
	}
	id, err := Identify(bg, openBytes(t, g.write(t, "in.csv", csvio.Dialect{}), d), d, testKeys)
	if err != nil {
		t.Fatal(err)
	}
	return id.Values[c.Name]
}

// same reports whether two columns share a print.
func same(a, b Values) bool {
	return slices.ContainsFunc(a.Prints, func(p string) bool { return slices.Contains(b.Prints, p) })
}

// A copy of a column has a print of the column, however it is written and defined.
func TestCopiesShareAPrint(t *testing.T) {
	integer, decimal, text := Column{Type: "integer"}, Column{Type: "decimal"}, Column{}
	date := func(layout string) Column { return Column{Type: "date", Layout: layout} }
	for name, of := range map[string]struct {
		a, b               Column
		missingA, missingB []string
		cellsA, cellsB     []string
	}{
		"another name":      {a: Column{Name: "id"}, b: Column{Name: "ID"}, cellsA: []string{"x", "y"}, cellsB: []string{"y", "x"}},
		"numbers":           {a: integer, b: integer, cellsA: []string{"5", "7", "-3", "0"}, cellsB: []string{"05", "+7", "-03", "-0"}},
		"numbers and texts": {a: integer, b: text, cellsA: []string{"5", "7", "1000"}, cellsB: []string{"5.0", "7.00", "1e3"}},
		"decimals":          {a: decimal, b: text, cellsA: []string{"0.5", "1234.5"}, cellsB: []string{".50", "1,234.5"}},
		"floating point":    {a: decimal, b: decimal, cellsA: []string{"0.1234567890123456789"}, cellsB: []string{"0.12345678901234568"}},
		"decimal commas": {
			a: decimal, b: text, cellsA: []string{"0.5", "1234.5", "7", "unknown"},
			cellsB: []string{"0,50", "1.234,5", "7", "unknown"},
		},
		"long texts": {
			a: text, b: text, cellsA: []string{strings.Repeat("long ", 40), "x"},
			cellsB: []string{"X", strings.Repeat("LONG ", 40)},
		},
		"full width":             {a: integer, b: text, cellsA: []string{"12", "34"}, cellsB: []string{"１２", " ３４"}},
		"whole numbers, 19 long": {a: integer, b: text, cellsA: []string{"1000000000000000001"}, cellsB: []string{"1000000000000000001.0"}},
		"texts":                  {a: text, b: text, cellsA: []string{"Tokyo", "ｶﾅ", "Straße"}, cellsB: []string{" TOKYO", "カナ ", "STRASSE"}},
		"dates": {
			a: date("YYYY-MM-DD"), b: date("DD.MM.YYYY"), cellsA: []string{"2024-02-29", "2023-01-02"},
			cellsB: []string{"29.02.2024", "02.01.2023"},
		},
		"dates and texts": {
			a: date("YYYY-MM-DD"), b: text, cellsA: []string{"2024-02-29", "2023-01-02"},
			cellsB: []string{"2024/2/29", "2023/1/2"},
		},
		"texts and dates":       {a: text, b: text, cellsA: []string{"2024-02-29", "2023-01-02"}, cellsB: []string{"2/29/2024", "1/2/2023"}},
		"dates that may be two": {a: text, b: text, cellsA: []string{"2023-02-01", "2023-03-02"}, cellsB: []string{"1/2/2023", "2/3/2023"}},
		"dates and instants": {
			a: date("YYYY-MM-DD"), b: text, cellsA: []string{"2024-02-29", "2023-01-02"},
			cellsB: []string{"2024-02-29 00:00:00", "2023-01-02 00:00:00"},
		},
		"dates of an era": {
			a: date("YYYY-MM-DD"), b: text, cellsA: []string{"2019-05-01", "2023-01-02"},
			cellsB: []string{"令和元年5月1日", "令和5年1月2日"},
		},
		"digits as dates": {
			a: date("YYYYMMDD"), b: integer, cellsA: []string{"20240229", "20230102"},
			cellsB: []string{"20240229", "20230102"},
		},
		"digits for dates": {
			a: date("YYYY-MM-DD"), b: integer, cellsA: []string{"2024-02-29", "2023-01-02"},
			cellsB: []string{"20240229", "20230102"},
		},
		"dates with words": {
			a: date("YYYY-MM-DD"), b: text, cellsA: []string{"2024-02-29", "unknown"},
			cellsB: []string{"29/02/2024", "unknown"},
		},
		"words before dates": {
			a: date("YYYY-MM-DD"), b: text, cellsA: []string{"unknown", "2024-02-29"},
			cellsB: []string{"unknown", "29/02/2024"},
		},
		"misfits of dates": {
			a: date("YYYY-MM-DD"), b: date("DD/MM/YYYY"), cellsA: []string{"2024-02-29", "7"},
			cellsB: []string{"29/02/2024", "7"},
		},
		"ordered": {
			a: Column{Type: "ordered", Levels: []string{"low", "high"}}, b: text, cellsA: []string{"low", "high", "x"},
			cellsB: []string{"LOW", "high", "x"},
		},
		"a missing text, said": {
			a: integer, b: integer, missingA: []string{"999"}, cellsA: []string{"5", "999"},
			cellsB: []string{"5", "999"},
		},
		"a missing text, emptied": {a: integer, b: integer, missingA: []string{"999"}, cellsA: []string{"5", "999"}, cellsB: []string{"5", ""}},
		"another missing text": {
			a: integer, b: integer, missingA: []string{"999"}, missingB: []string{"none"}, cellsA: []string{"5", "999"},
			cellsB: []string{"none", "5"},
		},
		"a usual missing text": {
			a: integer, b: integer, missingA: []string{"999"}, cellsA: []string{"5", "999"},
			cellsB: []string{"5", "N/A"},
		},
		"missing dates": {
			a: date("YYYY-MM-DD"), b: text, missingA: []string{"9999"}, cellsA: []string{"9999", "2024-02-29"},
			cellsB: []string{"", "2/29/2024"},
		},
		"a missing date, said": {
			a: date("YYYY-MM-DD"), b: date("YYYY/MM/DD"), missingA: []string{"9999-12-31"},
			cellsA: []string{"2024-02-29", "9999-12-31"}, cellsB: []string{"2024/02/29", "9999/12/31"},
		},
		"two missing texts": {
			a: integer, b: integer, missingA: []string{"999"}, cellsA: []string{"5", "999", "-"},
			cellsB: []string{"5", "999", ""},
		},
		"no date, both ways": {
			a: date("YYYY-MM-DD"), b: date("YYYY/MM/DD"), cellsA: []string{"2024-02-29", "2023-01-02", "0000-00-00"},
			cellsB: []string{"0000/00/00", "2024/02/29", "2023/01/02"},
		},
		"no date, emptied": {
			a: text, b: text, cellsA: []string{"0000-00-00", "2024-02-29", "2023-01-02"},
			cellsB: []string{"2024/02/29", "2023/01/02", ""},
		},
		"a range of numbers": {
			a: text, b: text, cellsA: []string{"0.5", "1234.5", "7", "5-6"},
			cellsB: []string{"0,50", "1.234,5", "7", "5-6"},
		},
		"fractions of seconds": {
			a: text, b: text, cellsA: []string{"2024-02-29T13:05:09.500", "2024-02-29T13:05:10"},
			cellsB: []string{"2024-02-29 13:05:09.5", "2024-02-29 13:05:10.000"},
		},
		"distances from UTC": {
			a: text, b: text, cellsA: []string{"2024-02-29T13:05:09Z", "2024-02-29T23:30:10.250Z"},
			cellsB: []string{"2024-02-29 22:05:09+09", "2024-03-01 08:30:10.25+09:00"},
		},
		"signs of two encodings": {a: text, b: text, cellsA: []string{"1−2", "3〜4", "‖", "—"}, cellsB: []string{"1－2", "3～4", "∥", "―"}},
		"yen and per cent": {
			a: text, b: decimal, cellsA: []string{"￥1,200", "12.5％", "△3", "1,200円"},
			cellsB: []string{"1200", "12.5", "-3", "1200"},
		},
		"blanks and commas": {
			a: text, b: decimal, cellsA: []string{"1 234,5", "7\u00a0000 000", "0,25"},
			cellsB: []string{"1234.5", "7000000", "0.25"},
		},
		"a minus of full width":   {a: integer, b: text, cellsA: []string{"-5", "7"}, cellsB: []string{"−5", "7"}},
		"records without a value": {a: text, b: text, cellsA: []string{"x", "", "y"}, cellsB: []string{"x", "y", " ", "　"}},
	} {
		a, b := valuesOf(t, of.a, of.missingA, of.cellsA...), valuesOf(t, of.b, of.missingB, of.cellsB...)
		if !same(a, b) {
			t.Errorf("%s: no common print: %v, %v", name, a, b)
		}
	}
}

// Columns of other values share none.
func TestOthersShareNoPrint(t *testing.T) {
	seen := map[string]string{}
	for name, cells := range map[string][]string{
		"the column": {"1", "2", "2024-02-29"}, "one more": {"1", "2", "2", "2024-02-29"}, "twice": {
			"1", "2", "2024-02-29", "1", "2", "2024-02-29",
		},
		"a sum": {"3", "2024-02-29"}, "another": {"1", "3", "2024-02-29"}, "negative": {"-1", "2", "2024-02-29"}, "a tenth": {
			"0.1", "2", "2024-02-29",
		},
		"texts": {"a", "b"}, "joined": {"ab"}, "other dates": {"2024-02-28"}, "a day": {"2024-02-29"}, "an hour": {"2024-02-29 01:00"},
		"seconds":       {"1709164800"},
		"a long number": {"12345678901234567890"}, "the next": {"12345678901234567891"}, "half a second": {"2024-02-29 00:00:00.5"},
		"a tenth of a second": {"2024-02-29 00:00:00.05"}, "east": {"2024-02-29 00:00:00+01"}, "a fraction": {"0.123456789012345"},
		"the next fraction": {"0.123456789012346"},
	} {
		for _, p := range valuesOf(t, Column{}, nil, cells...).Prints {
			if other, known := seen[p]; known && other != name {
				t.Errorf("%s has a print of %s", name, other)
			}
			seen[p] = name
		}
	}
}

// More than ten values are many, by value and without usual missing texts. What a definition
// calls missing counts: it could hide the values of a copy.
func TestManyValues(t *testing.T) {
	numbers := func(n int) (out []string) {
		for i := range n {
			out = append(out, strconv.Itoa(i), "0"+strconv.Itoa(i), strconv.Itoa(i)+".0")
		}
		return out
	}
	for n, many := range map[int]bool{0: false, 10: false, 11: true, 500: true} {
		if got := valuesOf(t, Column{}, nil, append(numbers(n), "NA", "", "-", "?")...); got.Many != many {
			t.Errorf("%d values: %v", n, got.Many)
		}
		if got := valuesOf(t, Column{}, numbers(n), numbers(n)...); got.Many != many {
			t.Errorf("%d values that are said to be missing: %v", n, got.Many)
		}
	}
}

// The prints follow their definition, computed here from it alone.
func TestValuesByDefinition(t *testing.T) {
	got := valuesOf(t, Column{Type: "integer"}, []string{"x"}, "05", "x", "120", "5.0")
	tag := func(form string) *big.Int {
		sum := sha256.Sum256([]byte(string(testKeys.Value) + string(rune(len(form))) + form))
		return new(big.Int).SetBytes(sum[:])
	}
	print := func(n byte, tags ...*big.Int) string {
		sum := new(big.Int)
		for _, v := range tags {
			sum.Add(sum, v)
		}
		sum.And(sum, new(big.Int).Sub(new(big.Int).Lsh(big.NewInt(1), 256), big.NewInt(1)))
		mac := hmac.New(sha256.New, testKeys.Values)
		mac.Write(append([]byte{0, 0, 0, 0, 0, 0, 0, n}, sum.FillBytes(make([]byte, 32))...))
		return hex.EncodeToString(mac.Sum(nil))
	}
	five, other := tag("n5e0"), tag("n12e1")
	// The reading by a decimal comma does not read 5.0.
	want := []string{
		print(3, five, five, other), print(4, five, five, other, tag("tx")), print(2, five, other),
		print(3, five, other, tag("tx")),
	}
	slices.Sort(want)
	if !slices.Equal(got.Prints, want) {
		t.Errorf("%v, want %v", got.Prints, want)
	}
}

// Whatever order, chunks, repetitions and files, the values of a table are those of its
// cells: any table, in the forms that tables are kept in.
func TestValuesOfAnyForm(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		cells := rapid.SliceOfN(rapid.SampledFrom(slices.Concat(shiftJIS, []string{
			"1.50", "2024-02-29", "2024-03-01", "07", "NA", "1,000",
			"-",
		})), 0, 40).Draw(t, "cells")
		sorted := slices.Clone(cells)
		slices.Sort(sorted)
		column := rapid.SampledFrom([]Column{{}, {Type: "integer"}, {Type: "decimal"}, {Type: "date"}}).Draw(t, "column")
		want := valuesOf(t, column, nil, cells...)
		if got := valuesOf(t, column, nil, sorted...); !reflect.DeepEqual(got, want) {
			t.Fatalf("another order: %v, want %v", got, want)
		}
		if plain := valuesOf(t, Column{}, nil, sorted...); len(want.Prints) > 0 && !same(plain, want) {
			t.Fatalf("as %s and as texts: %v, %v", column.Type, want, plain)
		}
		g := &grid{names: []string{"b"}}
		for _, text := range sorted {
			g.rows = append(g.rows, []*string{ptr(text)})
		}
		for path, form := range map[string]File{"in.parquet": {Kind: "parquet"}, "in.csv": {Encoding: "shift_jis", Delimiter: ";"}} {
			dialect := csvio.Dialect{}
			if path == "in.csv" {
				dialect = csvio.Dialect{Encoding: csvio.ShiftJIS, Delimiter: ';'}
			}
			column.Name = "b"
			d := complete(t, Definition{File: form, Columns: []Column{column}})
			id, err := Identify(bg, openBytes(t, g.write(t, path, dialect), d), d, testKeys)
			if err != nil {
				t.Fatal(err)
			}
			if !reflect.DeepEqual(id.Values["b"], want) {
				t.Fatalf("%s: %v, want %v", path, id.Values["b"], want)
			}
		}
	})
}

// A column of dates shares a print with itself in each layout that infer knows.
func TestDatesInEveryLayout(t *testing.T) {
	var days []string
	for i := range 40 {
		days = append(days, table.ISODate.Format(int64(19000+17*i)))
	}
	want := valuesOf(t, Column{Type: "date"}, nil, days...)
	for _, layout := range infer.Layouts() {
		if !strings.Contains(string(layout), "D") {
			continue // a month
		}
		var cells []string
		for i := range 40 {
			v := int64(19000 + 17*i)
			if layout.HasTime() {
				v *= 24 * 60 * 60
			}
			cells = append(cells, layout.Format(v))
		}
		for _, c := range []Column{{}, {Type: "date", Layout: string(layout)}} {
			if got := valuesOf(t, c, nil, cells...); !same(got, want) {
				t.Errorf("%s as %q shares no print", layout, c.Type)
			}
		}
	}
}

// Other keys, other prints; no keys, none.
func TestValuesOfOtherKeys(t *testing.T) {
	d := complete(t, Definition{Columns: []Column{{Name: "a"}}})
	of := func(k Keys) Values {
		id, err := Identify(bg, openBytes(t, []byte("a\n1\n2\n"), d), d, k)
		if err != nil {
			t.Fatal(err)
		}
		return id.Values["a"]
	}
	other := KeysOf(func(purpose string) []byte { return []byte("another secret for " + purpose) })
	if same(of(testKeys), of(other)) {
		t.Error("one print under two keys")
	}
	other = testKeys
	other.Value = nil
	if got := of(other); len(got.Prints) > 0 {
		t.Error(got)
	}
}

// The form of a number is one for equal numbers, and another for others.
func TestNumberForms(t *testing.T) {
	for text, want := range map[string]string{
		"0": "0", "-0.0": "0", "0e9": "0", "5": "5e0", "500": "5e2", "-0.050": "-5e-2", "5.": "5e0", "1,234,000": "1234e3", "1e-3": "1e-3",
		"1E+2":   "1e2",
		"¥1,234": "1234e0", "-¥5": "-5e0", "¥ -5": "-5e0", "△1,200": "-12e2", "▲5": "-5e0", "12.50%": "125e-1", "1,200 円": "12e2",
		"1 234 500.5": "12345005e-1", "1'234": "1234e0", "1’234": "1234e0",
		"¥¥1": "", "+-1": "", "¥": "", "%": "", "1%%": "", "1,234 567": "", "12 34": "", "1 234,567": "", "5 ": "", "%5": "",
		"": "", "-": "", ".": "", "e5": "", "1,23": "", ",123": "", "1234,567": "", "1,234,5": "", "1e": "", "1e+-2": "", "1e12345": "",
		"0x1": "", "1_0": "", "1.2.3": "", "--1": "", "1 2": "", "NaN": "", "Inf": "",
	} {
		got, ok := appendNumber(nil, []byte(text))
		if string(got) != want || ok != (want != "") {
			t.Errorf("%q: %q, %v; want %q", text, got, ok, want)
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		f := rapid.Float64().Draw(t, "number")
		forms := map[string]bool{}
		for _, text := range []string{
			strconv.FormatFloat(f, 'g', -1, 64), strconv.FormatFloat(f, 'e', -1, 64),
			strconv.FormatFloat(f, 'e', 17, 64),
		} {
			form, ok := appendNumber(nil, []byte(text))
			if !ok {
				t.Fatalf("%s is no number", text)
			}
			if v, err := strconv.ParseFloat(string(form), 64); err != nil || v != f {
				t.Fatalf("%s has the form %s", text, form)
			}
			forms[string(form)] = true
		}
		if len(forms) > 1 && math.Abs(f) < 1e15 { // whole numbers beyond are as written
			t.Fatalf("%v has the forms %v", f, forms)
		}
	})
}

// No bytes make a panic, and what is a number is the number that it is read as.
func FuzzNumber(f *testing.F) {
	for _, text := range []string{"1,234.5", "-0.00e-3", "12345678901234567890.12345", "９", "△¥1’234円", "- 1 000%"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		metertest.Hold(t, len(text))
		form, ok := appendNumber(nil, []byte(text))
		want, _, err := table.ParseDecimal(bytes.ReplaceAll([]byte(text), []byte(","), nil))
		if !ok || err != nil {
			return
		}
		if v, err := strconv.ParseFloat(string(form), 64); err != nil || v != want {
			t.Fatalf("%q is read as %v, its form is %s", text, want, form)
		}
	})
}

// The encodings of one text are one value.
func TestEncodings(t *testing.T) {
	text, err := japanese.ShiftJIS.NewEncoder().String("姓,b\n高橋,1\n山田,2\n")
	if err != nil {
		t.Fatal(err)
	}
	d := complete(t, Definition{File: File{Encoding: "shift_jis"}, Columns: []Column{{Name: "姓"}, {Name: "b"}}})
	id, err := Identify(bg, openBytes(t, []byte(text), d), d, testKeys)
	if err != nil {
		t.Fatal(err)
	}
	if !same(id.Values["姓"], valuesOf(t, Column{}, nil, "山田", "高橋")) {
		t.Error(id.Values)
	}
}
