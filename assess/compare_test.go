package assess_test

import (
	"context"
	"encoding/json"
	"errors"
	"math"
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/noren-privacy/noren"
	"github.com/noren-privacy/noren/assess"
	"github.com/noren-privacy/noren/table"
)

func compare(t testing.TB, original, release *table.Table, rows bool) *assess.Utility {
	t.Helper()
	u, err := assess.Compare(context.Background(), original, release, assess.CompareOptions{Corresponding: rows, Means: true})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := json.Marshal(u); err != nil {
		t.Fatalf("not for JSON: %v", err)
	}
	return u
}

func wantFigure(t *testing.T, name string, got *float64, want float64) {
	t.Helper()
	switch {
	case got == nil:
		t.Errorf("%s: absent, want %v", name, want)
	case math.Abs(*got-want) > 1e-12*math.Max(1, math.Abs(want)):
		t.Errorf("%s: %v, want %v", name, *got, want)
	}
}

// 1 3 | 6 10 published as 2 2 8 8: mean 5, SST 16+4+1+25 = 46, SSE 1+1+4+4 = 10.
// Sample variance 46/3. Quartiles (type 7) of 1 3 6 10: 2.5, 4.5, 7.
func TestCompareNumbersByHand(t *testing.T) {
	f := table.Field{Name: "x", Type: table.Integer}
	original := tableOf(column(t, f, "1", "3", "6", "10"))
	shuffled := tableOf(column(t, f, "8", "2", "8", "2"))
	u := compare(t, original, shuffled, false)
	x := u.Numbers[0]
	wantFigure(t, "mean", x.Original.Mean, 5)
	wantFigure(t, "sd", x.Original.SD, math.Sqrt(46.0/3))
	wantFigure(t, "release sd", x.Release.SD, math.Sqrt(36.0/3))
	wantFigure(t, "sd ratio", x.SDRatio, math.Sqrt(36.0/46))
	wantFigure(t, "mean change", x.MeanChange, 0)
	wantFigure(t, "min", x.Original.Min, 1)
	wantFigure(t, "q1", x.Original.Q1, 2.5)
	wantFigure(t, "median", x.Original.Median, 4.5)
	wantFigure(t, "q3", x.Original.Q3, 7)
	wantFigure(t, "max", x.Original.Max, 10)
	wantFigure(t, "loss", x.Loss.Value, 10.0/46)
	// The step is 1, so that sqrt(SSA) = 6, give or take sqrt(4)/2 = 1, and
	// rounding itself adds at most 4/4: 46 - 25 + 1.
	wantFigure(t, "loss, low", x.Loss.Low, 0)
	wantFigure(t, "loss, high", x.Loss.High, 22.0/46)
	if x.NCP.Value != nil || x.NCP.Reason.IsZero() || u.NCP.Value != nil {
		t.Errorf("NCP without correspondence: %+v", x.NCP)
	}
	if u.Loss.Method != "decomposition" {
		t.Error(u.Loss.Method)
	}

	inOrder := tableOf(column(t, f, "2", "2", "8", "8"))
	u = compare(t, original, inOrder, true)
	x = u.Numbers[0]
	wantFigure(t, "exact loss", x.Loss.Value, 10.0/46)
	if x.Loss.Low != nil || u.Loss.Method != "rows" {
		t.Errorf("exact loss has bounds: %+v", x.Loss)
	}
	wantFigure(t, "NCP", x.NCP.Value, (2.0/9+2.0/9+4.0/9+4.0/9)/4)
	// Four distinct values, two by two indistinct: 1 of 2 bits is gone.
	wantFigure(t, "entropy loss", x.EntropyLoss.Value, 0.5)
	wantFigure(t, "min-max", u.Loss.MinMax.Value, 10.0/46)
}

// Two columns with different weights: x as above with width 9, y = 0 0 0 2
// published as its mean 0.5: SST 3, SSE 3.
func TestCompareTotalLossByHand(t *testing.T) {
	x, y := table.Field{Name: "x", Type: table.Integer}, table.Field{Name: "y", Type: table.Decimal}
	original := tableOf(column(t, x, "1", "3", "6", "10"), column(t, y, "0", "0", "0", "2"))
	release := tableOf(column(t, x, "2", "2", "8", "8"), column(t, y, "0.5", "0.5", "0.5", "0.5"))
	u := compare(t, original, release, true)
	wantFigure(t, "min-max", u.Loss.MinMax.Value, (10.0/81+3.0/4)/(46.0/81+3.0/4))
	wantFigure(t, "z-score", u.Loss.ZScore.Value, (10.0/46+1)/2)
	if u.Correlations.Release[0][1] != nil || u.Correlations.Largest != nil {
		t.Error("the correlation with a constant column is not defined")
	}
	// r of (1 3 6 10) and (0 0 0 2): cov sum 7.5 + ... = (5*1.5 + 4*.5+2*.5-1*.5) = 10.
	wantFigure(t, "r", u.Correlations.Original[1][0], 10/math.Sqrt(46*3))
}

func TestCompareCategoriesByHand(t *testing.T) {
	f := table.Field{Name: "c"}
	original := tableOf(column(t, f, "a", "a", "a", "b", "b", "c", "", "d"))
	release := tableOf(column(t, f, "a", "a", "a", "a", "b", "b", "b", "b"))
	u := compare(t, original, release, false)
	c := u.Categories[0]
	// a 3->4, b 2->4, c 1->0, d 1->0, missing 1->0: (1+2+1+1+1)/2/8.
	wantFigure(t, "total variation", &c.TotalVariation, 3.0/8)
	wantFigure(t, "at least changed", c.Changed.Low, 3.0/8)
	if c.Changed.Value != nil || c.Values != 4 || c.Lost != 2 || c.New != 0 || c.OriginalMissing != 1 || c.ReleaseMissing != 0 {
		t.Errorf("%+v", c)
	}
	u = compare(t, original, release, true)
	c = u.Categories[0]
	wantFigure(t, "changed", c.Changed.Value, 4.0/8) // b, c, missing and d of rows 4, 6, 7 and 8
}

func TestCompareSets(t *testing.T) {
	f := table.Field{Name: "c"}
	original := tableOf(column(t, f, "a", "b", "c, d", "e", "a"))
	release := tableOf(column(t, f, "{a, c, d}", "{b, e}", "{a, c, d}", "{b, e}", "a"))
	c := compare(t, original, release, false).Categories[0]
	if !c.Sets || c.New != 0 {
		t.Fatalf("%+v: the sets were not understood", c)
	}
	// Four values; all sets have two of them ("c, d" is one value).
	wantFigure(t, "NCP", c.NCP.Value, (4*2.0/4)/5)
	// a 2 -> 1 + 1, b 1 -> 1, "c, d" 1 -> 1, e 1 -> 1.
	wantFigure(t, "total variation", &c.TotalVariation, 0)
	// Published as such: a 2 -> 1, b, c and e 1 -> 0, sets 0 -> 4: (1+3+4)/2/5.
	wantFigure(t, "at least changed", c.Changed.Low, 4.0/5)
	if c.Lost != 3 {
		t.Errorf("lost %d", c.Lost)
	}
	c = compare(t, original, release, true).Categories[0]
	wantFigure(t, "changed", c.Changed.Value, 4.0/5)
}

// A value of the original that has the name of a group, and no line, is refused: the
// name would be the value or the group.
func TestCompareRefusesGroupsAsValues(t *testing.T) {
	h, err := table.NewHierarchy("h.csv", [][]string{{"x", "A", "*"}, {"y", "A", "*"}, {"z", "B", "*"}}, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, group := range []string{"A", "B", "*"} {
		original := tableOf(column(t, table.Field{Name: "c", Hierarchy: h}, "x", "y", group))
		_, err = assess.Compare(t.Context(), original, tableOf(column(t, table.Field{Name: "c"}, "A", "A", "A")), assess.CompareOptions{})
		if noren.KindOf(err) != noren.BadData || !strings.Contains(err.Error(), "1 of its values have no line in the hierarchy h.csv") {
			t.Errorf("%s: %v", group, err)
		}
	}
}

func TestCompareHierarchy(t *testing.T) {
	h, err := table.NewHierarchy("h.csv", [][]string{{"a", "ab", "*"}, {"b", "ab", "*"}, {"c", "c", "*"}, {"x", "xy", "*"}, {"y", "xy", "*"}},
		nil)
	if err != nil {
		t.Fatal(err)
	}
	original := tableOf(column(t, table.Field{Name: "c", Hierarchy: h}, "a", "b", "c", "x"))
	release := tableOf(column(t, table.Field{Name: "c"}, "ab", "ab", "c", "*"))
	c := compare(t, original, release, false).Categories[0]
	// Five leaves: ab has 2 of them, c is alone, * has 5.
	wantFigure(t, "NCP", c.NCP.Value, (0.4+0.4+0+1)/4)
	// * in equal parts over a, b, c, x: a 1 -> 1.25, b 1.25, c 1.25, x 0.25.
	wantFigure(t, "total variation", &c.TotalVariation, (0.25*3+0.75)/2/4)
}

func TestCompareOrderedRanges(t *testing.T) {
	f := table.Field{Name: "c", Type: table.Ordered, Levels: []string{"low", "mid-low", "mid", "high"}}
	original := tableOf(column(t, f, "low", "mid-low", "mid", "high"))
	release := tableOf(column(t, table.Field{Name: "c"}, "[low-mid-low]", "[low-mid-low]", "mid", "{high, mid}"))
	c := compare(t, original, release, false).Categories[0]
	wantFigure(t, "NCP", c.NCP.Value, (0.5+0.5+0+0.5)/4)
	if c.New != 0 {
		t.Errorf("%+v", c)
	}
}

func TestCompareNumberRanges(t *testing.T) {
	f := table.Field{Name: "x", Type: table.Integer}
	original := tableOf(column(t, f, "-10", "-4", "2", "10"))
	release := tableOf(column(t, table.Field{Name: "x"}, "[-10--4]", "[-10--4]", "[2-10]", "[2-10]"))
	x := compare(t, original, release, false).Numbers[0]
	if !x.Ranges || x.Unread != 0 {
		t.Fatalf("%+v", x)
	}
	wantFigure(t, "NCP", x.NCP.Value, (0.3+0.3+0.4+0.4)/4)
	wantFigure(t, "mean of midpoints", x.Release.Mean, -0.5)
	if x.Loss.Value != nil || x.Loss.Reason.IsZero() {
		t.Error("the loss of ranges is not known without correspondence")
	}
	x = compare(t, original, release, true).Numbers[0]
	// Midpoints -7 and 6: 9+9+16+16 = 50; mean -0.5: SST 90.25+12.25+6.25+110.25.
	wantFigure(t, "loss", x.Loss.Value, 50.0/219)
	total := 0.0
	for _, v := range x.Histogram.Release {
		total += v
	}
	wantFigure(t, "records in the histogram", &total, 4)
}

func TestCompareDateRanges(t *testing.T) {
	original := tableOf(column(t, table.Field{Name: "d", Type: table.Date, Layout: "YYYY-MM-DD"}, "2020-01-01", "2020-01-11", "2020-01-21"))
	release := tableOf(column(t, table.Field{Name: "d"}, "[2020-01-01-2020-01-11]", "[2020-01-01-2020-01-11]", "2020-01-21"))
	d := compare(t, original, release, false).Numbers[0]
	wantFigure(t, "NCP", d.NCP.Value, (0.5+0.5+0)/3)
	wantFigure(t, "min", d.Release.Min, 18262+5)
	if d.Layout != "YYYY-MM-DD" {
		t.Error(d.Layout)
	}
}

// What is not understood is said, and nothing is made of it.
func TestCompareUnread(t *testing.T) {
	f := table.Field{Name: "x", Type: table.Integer}
	c := table.Field{Name: "c"}
	original := tableOf(column(t, f, "1", "2"), column(t, c, "a", "b"))
	release := tableOf(column(t, table.Field{Name: "x"}, "low", "[5-3]"), column(t, c, "{a, z}", "new"))
	u := compare(t, original, release, false)
	if x := u.Numbers[0]; x.Unread != 2 || x.Release.Count != 0 || x.Release.Mean != nil || x.NCP.Value != nil || x.Loss.Value != nil {
		t.Errorf("%+v", x)
	}
	if k := u.Categories[0]; k.New != 2 || k.NCP.Value != nil || k.TotalVariation != 1 {
		t.Errorf("%+v", k)
	}
}

func TestCompareMissing(t *testing.T) {
	f := table.Field{Name: "x", Type: table.Integer}
	original := tableOf(column(t, f, "1", "", "3", ""))
	release := tableOf(column(t, f, "1", "", "", ""))
	x := compare(t, original, release, false).Numbers[0]
	if x.Loss.Value != nil || x.Original.Missing != 2 || x.Release.MissingShare != 0.75 {
		t.Errorf("%+v", x)
	}
	// A value that is withheld is off by as much as the mean is: 1 of SST 2.
	x = compare(t, original, release, true).Numbers[0]
	wantFigure(t, "loss", x.Loss.Value, 0.5)
	wantFigure(t, "NCP", x.NCP.Value, 0.25)
}

func TestCompareMovedMean(t *testing.T) {
	f := table.Field{Name: "x", Type: table.Integer}
	original := tableOf(column(t, f, "1", "2", "30", "40"))
	release := tableOf(column(t, f, "5", "5", "35", "35"))
	if l := compare(t, original, release, false).Numbers[0].Loss; l.Value != nil {
		// Rounded to fives, the mean may move by at most 2.5; here the
		// step cannot be told from ones: 18.25 -> 20.
		t.Errorf("loss %v although the mean moved from 18.25 to 20", *l.Value)
	}
}

func TestCompareDegenerate(t *testing.T) {
	d := table.Field{Name: "x", Type: table.Decimal}
	for _, values := range [][]string{
		{"", ""},
		{"7", "7"},
		{"1.7e308", "-1.7e308"},
		{"1e-320", "0"},
		{"1e16", "10000000000000002"},
		{"9", ""},
	} {
		original := tableOf(column(t, d, values...), column(t, table.Field{Name: "y", Type: table.Decimal}, values...))
		for _, rows := range []bool{false, true} {
			u := compare(t, original, original, rows)
			if l := u.Numbers[0].Loss; l.Value != nil && *l.Value != 0 {
				t.Errorf("%v against itself loses %v", values, *l.Value)
			}
			if m := u.Numbers[0].Original; m.SD != nil && values[0] == "7" && *m.SD != 0 {
				t.Errorf("a constant column has spread %v", *m.SD)
			}
		}
	}
}

func TestCompareRefuses(t *testing.T) {
	x := table.Field{Name: "x", Type: table.Integer}
	a, b := tableOf(column(t, x, "1")), tableOf(column(t, x, "1", "2"))
	ctx := context.Background()
	if _, err := assess.Compare(ctx, a, b, assess.CompareOptions{Corresponding: true}); noren.KindOf(err) != noren.Usage {
		t.Errorf("rows that cannot correspond: %v", err)
	}
	if _, err := assess.Compare(ctx, a, tableOf(column(t, table.Field{Name: "y"}, "1")),
		assess.CompareOptions{}); noren.KindOf(err) != noren.Usage {
		t.Errorf("no common column: %v", err)
	}
	if _, err := assess.Compare(ctx, tableOf(column(t, table.Field{Name: "x"}, "secret")), a,
		assess.CompareOptions{}); noren.KindOf(err) != noren.Usage || strings.Contains(err.Error(), "secret") {
		t.Errorf("words against numbers: %v", err)
	}
	day := tableOf(column(t, table.Field{Name: "x", Type: table.Date}, "2020-01-01"))
	instant := tableOf(column(t, table.Field{Name: "x", Type: table.Date, Layout: "YYYY-MM-DD hh:mm"}, "2020-01-01 00:00"))
	for _, pair := range [][2]*table.Table{{day, instant}, {instant, day}, {day, a}, {a, day}} {
		if _, err := assess.Compare(ctx, pair[0], pair[1], assess.CompareOptions{}); noren.KindOf(err) != noren.Usage {
			t.Errorf("different units: %v", err)
		}
	}
	over, cancel := context.WithCancel(ctx)
	cancel()
	if _, err := assess.Compare(over, a, a, assess.CompareOptions{}); !errors.Is(err, context.Canceled) {
		t.Errorf("an ended context: %v", err)
	}
}

// For group means in any order, SST - SSA is the SSE that rows in order give;
// and when the means were rounded, the bounds hold it.
func TestDecomposition(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		groups := rapid.IntRange(1, 8).Draw(t, "groups")
		places := rapid.SampledFrom([]int{-1, 0, 2}).Draw(t, "places") // -1: not rounded
		b, err := table.NewBuilder(table.Field{Name: "x", Type: table.Decimal}, nil)
		if err != nil {
			t.Fatal(err)
		}
		r, err := table.NewBuilder(table.Field{Name: "x", Type: table.Decimal}, nil)
		if err != nil {
			t.Fatal(err)
		}
		n := 0
		for range groups {
			values := rapid.SliceOfN(rapid.Float64Range(-1000, 1000), 1, 6).Draw(t, "values")
			mean := 0.0
			for _, v := range values {
				if err := b.AppendFloat(v); err != nil {
					t.Fatal(err)
				}
				mean += v / float64(len(values))
				n++
			}
			for range values {
				if places < 0 {
					err = r.AppendFloat(mean)
				} else {
					err = r.Append([]byte(strconv.FormatFloat(mean, 'f', places, 64)))
				}
				if err != nil {
					t.Fatal(err)
				}
			}
		}
		original, release := tableOf(b.Column()), tableOf(r.Column())
		ctx := context.Background()
		byRows, err := assess.Compare(ctx, original, release, assess.CompareOptions{Corresponding: true})
		if err != nil {
			t.Fatal(err)
		}
		inBags, err := assess.Compare(ctx, original, release, assess.CompareOptions{Means: true})
		if err != nil {
			t.Fatal(err)
		}
		want, got := byRows.Loss.MinMax, inBags.Loss.MinMax
		if strings.HasPrefix(want.Reason.String(), "the values are so close together") && got.Reason.String() == want.Reason.String() {
			return
		}
		if want.Value == nil || got.Value == nil {
			t.Fatalf("absent: %q, %q", want.Reason, got.Reason)
		}
		const slack = 1e-9
		if got.Low == nil {
			if math.Abs(*got.Value-*want.Value) > slack {
				t.Fatalf("decomposition %v, rows %v", *got.Value, *want.Value)
			}
			return
		}
		if *want.Value < *got.Low-slack || *want.Value > *got.High+slack {
			t.Fatalf("rows %v outside [%v, %v]", *want.Value, *got.Low, *got.High)
		}
	})
}

func TestCompareIgnoresRowOrder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		values := rapid.SliceOfN(rapid.Int64Range(-50, 50), 2, 30).Draw(t, "values")
		order := rapid.Permutation(values).Draw(t, "order")
		make := func(values []int64) *table.Table {
			b, err := table.NewBuilder(table.Field{Name: "x", Type: table.Integer}, nil)
			if err != nil {
				t.Fatal(err)
			}
			for _, v := range values {
				b.AppendInt(v)
			}
			return tableOf(b.Column())
		}
		u, err := assess.Compare(context.Background(), make(values), make(order), assess.CompareOptions{Means: true})
		if err != nil {
			t.Fatal(err)
		}
		x := u.Numbers[0]
		if x.Loss.Value != nil && *x.Loss.Value > 1e-9 {
			t.Fatalf("a shuffle loses %v", *x.Loss.Value)
		}
		if *x.Original.Median != *x.Release.Median || math.Abs(*x.Original.Mean-*x.Release.Mean) > 1e-9 {
			t.Fatal("moments depend on the order of rows")
		}
	})
}
