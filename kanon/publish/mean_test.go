package publish_test

import (
	"fmt"
	"math"
	"math/big"
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/noren-privacy/noren/kanon/publish"
	"github.com/noren-privacy/noren/table"
)

const (
	largest  = "9223372036854775807"
	smallest = "-9223372036854775808"
)

func TestMeanOfIntegers(t *testing.T) {
	for _, c := range []struct {
		round *int
		texts []string
		want  string
	}{
		{nil, []string{"5"}, "5"},
		{nil, []string{"1", "2"}, "2"}, // 1.5: to the even neighbour
		{nil, []string{"2", "3"}, "2"}, // 2.5
		{nil, []string{"-1", "-2"}, "-2"},
		{nil, []string{"-2", "-3"}, "-2"},
		{nil, []string{"0", "1"}, "0"},
		{nil, []string{"0", "-1"}, "0"}, // -0.5, and no "-0"
		{nil, []string{"-1", "-1", "1"}, "0"},
		{nil, []string{"1", "1", "2"}, "1"},
		{nil, []string{"1", "2", "2"}, "2"},
		{nil, []string{"+7", "007"}, "7"},
		{nil, []string{largest, largest, largest}, largest},     // 128 bits
		{nil, []string{smallest, smallest, smallest}, smallest}, // and below
		{nil, []string{largest, smallest}, "0"},                 // -0.5
		{nil, []string{largest, smallest, smallest}, "-3074457345618258603"},
		{nil, []string{largest, "9223372036854775806"}, "9223372036854775806"}, // ...6.5
		{nil, []string{smallest, "-9223372036854775807"}, smallest},            // ...7.5
		{nil, []string{largest, largest, "9223372036854775806"}, largest},      // ...6.67
		{round(0), []string{"2", "3"}, "2"},
		{round(2), []string{"1", "2"}, "1.50"},
		{round(2), []string{"1", "1", "2"}, "1.33"},
		{round(2), []string{"-1", "0", "0"}, "-0.33"},
		{round(2), []string{"-1", "1"}, "0.00"},
		{round(1), []string{"0", "0", "0", "1"}, "0.2"},   // 0.25
		{round(1), []string{"1", "1", "1", "0"}, "0.8"},   // 0.75
		{round(1), []string{"-1", "0", "0", "0"}, "-0.2"}, // -0.25
		// -0.048, and no sign
		{round(1), []string{"-1", "0", "0", "0", "0", "0", "0", "0", "0", "0", "0", "0", "0", "0", "0", "0", "0", "0", "0", "0", "0"}, "0.0"},
		{round(2), []string{largest, largest}, largest + ".00"},
		{round(2), []string{largest, "9223372036854775806"}, "9223372036854775806.50"},
		{round(2), []string{smallest}, smallest + ".00"},
		{round(18), []string{smallest}, smallest + ".000000000000000000"},
		{round(18), []string{"1", "0", "0"}, "0.333333333333333333"},
		{round(-1), []string{"15"}, "20"},
		{round(-1), []string{"25"}, "20"},
		{round(-1), []string{"25", "26"}, "30"},
		{round(-1), []string{"-25"}, "-20"},
		{round(-1), []string{"-5"}, "0"},
		{round(-1), []string{"4", "-4"}, "0"},
		{round(-2), []string{"149", "151"}, "200"}, // 150: 2 is even
		{round(-3), []string{"1499"}, "1000"},
		{round(-2), []string{largest}, "9223372036854775800"},
		{round(-1), []string{largest}, "9223372036854775810"}, // more than 64 bits hold
		{round(-18), []string{largest}, "9000000000000000000"},
		{round(-18), []string{largest, smallest}, "0"},
		{round(-18), []string{smallest}, "-9000000000000000000"},
		{nil, []string{"NA", "5", "", "7"}, "6"}, // of those who have one
		{nil, []string{"NA", ""}, ""},
	} {
		f := table.Field{Type: table.Integer, Round: c.round}
		words(t, one(t, f, publish.Aggregate, c.texts...), c.want, c.texts)
	}
}

func TestMeanOfDecimals(t *testing.T) {
	for _, c := range []struct {
		round *int
		texts []string
		want  string
	}{
		{nil, []string{"1", "2"}, "2"}, // the places of the input
		{nil, []string{"0.1", "0.2"}, "0.2"},
		{nil, []string{"0.1", "0.2", "0.3"}, "0.2"}, // 0.6000000000000001 / 3 in floating point
		{nil, []string{"0.03", "1"}, "0.52"},
		{nil, []string{"-0.1", "0.1"}, "0.0"},
		{nil, []string{"-0.0"}, "0.0"},
		{nil, []string{"1e2", "1.7E1"}, "58"}, // 1.7E1 is a whole number
		{nil, []string{"0.05", "1"}, "0.50"},  // multiples of 0.05
		{nil, []string{"1e-3"}, "0.001"},
		{round(0), []string{"0.5"}, "0"},
		{round(0), []string{"1.5"}, "2"},
		{round(0), []string{"-0.5"}, "0"},
		{round(0), []string{"-0.4", "-0.4"}, "0"},
		{round(1), []string{"0.15"}, "0.2"}, // 0.15 as it is written, and not 0.1499999999999999944
		{round(1), []string{"0.25"}, "0.2"},
		{round(1), []string{"0.35"}, "0.4"},
		{round(2), []string{"1.005"}, "1.00"},
		{round(2), []string{"1.015"}, "1.02"},
		{round(2), []string{"3"}, "3.00"},
		{round(3), []string{"-0.0004"}, "0.000"},
		{round(-1), []string{"15.0"}, "20"},
		{round(-1), []string{"25.0"}, "20"},
		{round(-1), []string{"25.1"}, "30"},
		{round(-2), []string{"49.99"}, "0"},
		{nil, []string{"0.1", "NA"}, "0.1"},
		{nil, []string{"NA", "NA"}, ""},
	} {
		f := table.Field{Type: table.Decimal, Round: c.round}
		words(t, one(t, f, publish.Aggregate, c.texts...), c.want, c.texts)
	}
}

// roundRat rounds r to places, half to even, and writes all places: a second
// way to do what publish does, by rational numbers alone.
func roundRat(r *big.Rat, places int) string {
	scale := new(big.Rat).SetInt(new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(max(places, -places))), nil))
	if places < 0 {
		scale.Inv(scale)
	}
	scaled := new(big.Rat).Mul(r, scale)
	two := big.NewInt(2)
	// floor(x + 1/2), and one less where x + 1/2 is an odd whole number.
	half := new(big.Rat).Add(scaled, big.NewRat(1, 2))
	n := new(big.Int)
	rest := new(big.Int)
	n.DivMod(half.Num(), half.Denom(), rest)
	if rest.Sign() == 0 && new(big.Int).Mod(n, two).Sign() != 0 {
		n.Sub(n, big.NewInt(1))
	}
	back := new(big.Rat).Quo(new(big.Rat).SetInt(n), scale)
	return back.FloatString(max(places, 0))
}

// Decimals of 0 to 17 places against rational arithmetic. Up to 15 digits the
// mean is that of the numbers as they are written; beyond, of the numbers that
// 64-bit floating point took them for.
func TestMeanOfDecimalsIsExact(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		most := rapid.IntRange(0, 17).Draw(t, "places")
		n := rapid.IntRange(1, 9).Draw(t, "n")
		digits := rapid.IntRange(1, 15).Draw(t, "digits")
		var rounding *int
		if rapid.Bool().Draw(t, "rounded") {
			rounding = round(rapid.IntRange(-18, 18).Draw(t, "round"))
		}
		limit := int64(math.Pow10(digits))
		texts := make([]string, n)
		found := 0
		written, taken := new(big.Rat), new(big.Rat)
		short := true
		for i := range texts {
			places := rapid.IntRange(0, most).Draw(t, "p")
			units := rapid.Int64Range(-limit+1, limit-1).Draw(t, "units")
			value := new(big.Rat).SetFrac(big.NewInt(units), new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(places)), nil))
			texts[i] = value.FloatString(places)
			found = max(found, places)
			written.Add(written, value)
			f, err := strconv.ParseFloat(texts[i], 64)
			if err != nil {
				t.Fatal(err)
			}
			taken.Add(taken, new(big.Rat).SetFloat64(f))
		}
		for _, text := range texts {
			f, _ := strconv.ParseFloat(text, 64)
			short = short && found <= 15 && math.Abs(f)*math.Pow10(found) < 1<<50
		}
		sum := taken
		if short {
			sum = written
		}
		places := found
		if rounding != nil {
			places = *rounding
		}
		mean := new(big.Rat).Quo(sum, new(big.Rat).SetInt64(int64(n)))
		want := roundRat(mean, places)
		if unit := coarsest(t, texts); rounding == nil && unit != nil {
			if !short {
				return // which numbers the texts write is not all that counts
			}
			if sum.Sign() == 0 && written.Sign() == 0 && strings.Trim(strings.Join(texts, ""), "-0.") == "" {
				unit = roundedTo(places)
			}
			at, _ := new(big.Rat).SetString(roundRat(mean.Quo(mean, unit), 0))
			want = at.Mul(at, unit).FloatString(placesOf(unit))
		}
		if got := one(t, table.Field{Type: table.Decimal, Round: rounding}, publish.Aggregate, texts...); got != want {
			t.Fatalf("%v, round %v: got %s, want %s", texts, rounding, got, want)
		}
	})
}

func roundedTo(places int) *big.Rat {
	return new(big.Rat).SetFrac(big.NewInt(1), new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(places)), nil))
}

// placesOf is how many decimal places a number has.
func placesOf(r *big.Rat) int {
	places := 0
	for !new(big.Rat).Quo(r, roundedTo(places)).IsInt() {
		places++
	}
	return places
}

// The largest and the smallest numbers of 64-bit floating point.
func TestMeanOfExtremeDecimals(t *testing.T) {
	for _, texts := range [][]string{
		{"1.7976931348623157e308", "1.7976931348623157e308", "1.7976931348623157e308"},
		{"-1.7976931348623157e308", "1e-320", "1.7976931348623157e308"},
		{"5e-324", "5e-324", "1e-323"},
		{"1e300", "1"},
		{"1125899906842624.5", "0.1"}, // 2^50 and more
	} {
		for _, places := range []int{-18, -2, 0, 2, 330} {
			sum := new(big.Rat)
			for _, text := range texts {
				v, err := strconv.ParseFloat(text, 64)
				if err != nil {
					t.Fatal(err)
				}
				sum.Add(sum, new(big.Rat).SetFloat64(v))
			}
			want := roundRat(sum.Quo(sum, new(big.Rat).SetInt64(int64(len(texts)))), places)
			got := one(t, table.Field{Type: table.Decimal, Round: &places}, publish.Aggregate, texts...)
			words(t, got, want, texts)
		}
	}
}

func TestMeanOfIntegersIsExact(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		values := rapid.SliceOfN(rapid.OneOf(rapid.Int64(), rapid.Int64Range(-20, 20), rapid.SampledFrom([]int64{math.MaxInt64, math.MinInt64})),
			1, 12).Draw(t, "values")
		places := rapid.IntRange(-18, 18).Draw(t, "round")
		sum, texts := new(big.Rat), make([]string, len(values))
		for i, v := range values {
			sum.Add(sum, new(big.Rat).SetInt64(v))
			texts[i] = strconv.FormatInt(v, 10)
		}
		want := roundRat(sum.Quo(sum, new(big.Rat).SetInt64(int64(len(values)))), places)
		if got := one(t, table.Field{Type: table.Integer, Round: &places}, publish.Aggregate, texts...); got != want {
			t.Fatalf("%v, round %d: got %s, want %s", texts, places, got, want)
		}
	})
}

// A column that was made of numbers, and not of texts, says nothing of places:
// its means must be of the numbers all the same.
func TestMeanOfFloatsThatWereNeverWritten(t *testing.T) {
	b, err := table.NewBuilder(table.Field{Name: "x", Type: table.Decimal, Round: round(3)}, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, v := range []float64{0.5, 0.25, 1e-3} {
		if err := b.AppendFloat(v); err != nil {
			t.Fatal(err)
		}
	}
	if got := shown(publishOne(t, b.Column(), []uint32{0, 0, 1}, 2, publish.Aggregate), 0, 1); fmt.Sprint(got) != "[0.375 0.001]" {
		t.Errorf("got %v", got)
	}
}

func TestMeanOfDates(t *testing.T) {
	for _, c := range []struct {
		layout table.Layout
		round  *int
		texts  []string
		want   string
	}{
		{"", nil, []string{"2024-02-28", "2024-03-01"}, "2024-02-29"},
		{"", nil, []string{"1969-12-31", "1970-01-01"}, "1970-01-01"}, // -0.5: day 0 is even
		{"", nil, []string{"1970-01-02", "1970-01-03"}, "1970-01-03"}, // 1.5
		{"", round(2), []string{"1970-01-02", "1970-01-03"}, "1970-01-03"},
		{"", round(-1), []string{"1970-01-15"}, "1970-01-11"}, // day 14
		{"", round(-1), []string{"1970-01-17"}, "1970-01-21"}, // day 16
		{"", nil, []string{"0000-01-01", "9999-12-31"}, "4999-12-31"},
		{"DD.MM.YYYY", nil, []string{"31.12.1999", "02.01.2000"}, "01.01.2000"},
		{"YYYY年M月D日", nil, []string{"2024年3月1日", "2024年3月3日"}, "2024年3月2日"},
		{"YYYY-MM", nil, []string{"2024-01", "2024-03"}, "2024-02"},
		{"YYYY", nil, []string{"2000", "2003"}, "2002"}, // 2001.5
		{"YYYY-MM-DD hh:mm", nil, []string{"2024-01-01 10:00", "2024-01-01 10:03"}, "2024-01-01 10:02"},
		{"YYYY-MM-DDThh:mm:ss", nil, []string{"2024-01-01T00:00:01", "2024-01-02T00:00:01"}, "2024-01-01T12:00:01"},
		{"YYYY-MM-DDThh:mm:ss", nil, []string{"1969-12-31T23:59:58", "1969-12-31T23:59:59"}, "1969-12-31T23:59:58"}, // -1.5 -> -2
		{"YYYY-MM-DDThh:mm:ss", round(-2), []string{"1970-01-01T00:04:00"}, "1970-01-01T00:03:20"},                  // 240 -> 200
		{"", nil, []string{"NA", "2024-02-29"}, "2024-02-29"},
		{"", nil, []string{"NA"}, ""},
	} {
		f := table.Field{Type: table.Date, Layout: c.layout, Round: c.round}
		words(t, one(t, f, publish.Aggregate, c.texts...), c.want, c.texts)
	}
}

// The mean of a class does not tell its sum: on the grid of the values, m
// sums are possible for odd m, and m-1 or m+1 for even m.
func TestMeanHidesTheSum(t *testing.T) {
	for m := 2; m <= 12; m++ {
		of := map[string]int{}
		for sum := 0; sum < 40*m; sum++ { // tenths
			texts := make([]string, m)
			for i := range texts {
				part := sum / m
				if i < sum%m {
					part++
				}
				texts[i] = fmt.Sprintf("%d.%d", part/10, part%10)
			}
			// Another class shows that tenths are the grid.
			c := column(t, table.Field{Type: table.Decimal}, append(texts, "0.1", "0.3", "0.7")...)
			of[shown(publishOne(t, c, append(make([]uint32, m), 1, 1, 1), 2, publish.Aggregate), 0)[0]]++
		}
		for mean, sums := range of {
			if mean == "0.0" || mean == "3.9" || mean == "4.0" {
				continue // sums beyond what was tried
			}
			if m%2 == 1 && sums != m || m%2 == 0 && sums != m-1 && sums != m+1 {
				t.Errorf("%d records with mean %s: %d sums are possible", m, mean, sums)
			}
		}
	}
}
