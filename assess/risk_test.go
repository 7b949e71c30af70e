package assess_test

import (
	"encoding/json"
	"math"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/noren-privacy/noren"
	"github.com/noren-privacy/noren/assess"
	"github.com/noren-privacy/noren/table"
)

func near(a, b float64) bool {
	return math.Abs(a-b) <= 1e-12*math.Max(1, math.Max(math.Abs(a), math.Abs(b)))
}

// Figures by hand: classes of 1, 1, 2, 5 and 11 records.
func TestRiskByHand(t *testing.T) {
	r, err := assess.NewRisk([]uint32{2, 1, 0, 11, 1, 5}, 0)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name      string
		got, want float64
	}{
		{"records", float64(r.Records), 20},
		{"classes", float64(r.Classes), 5},
		{"smallest", float64(r.SmallestClass), 1},
		{"largest", float64(r.LargestClass), 11},
		{"average", r.AverageClass, 4},
		{"C_avg for k=2", r.AverageClassRatio(2), 2},
		{"prosecutor max", r.Prosecutor.Max, 1},
		{"prosecutor mean", r.Prosecutor.Mean, 0.25},
		{"marketer", r.Marketer, 0.25},
		{"above 0.2", float64(r.Prosecutor.RecordsAbove), 4}, // the class of 5 is at 0.2, not above
		{"share above", r.Prosecutor.ShareAbove, 0.2},
		{"uniques", float64(r.UniqueRecords), 2},
		{"unique share", r.UniqueShare, 0.1},
		{"discernibility", r.Discernibility, 1 + 1 + 4 + 25 + 121},
		{"below 3", float64(r.Below[1].Records), 4},
		{"below 10", float64(r.Below[3].Records), 9},
		{"below 10, classes", float64(r.Below[3].Classes), 4},
		{"below 20", r.Below[4].Share, 1},
	} {
		if !near(c.got, c.want) {
			t.Errorf("%s: %v, want %v", c.name, c.got, c.want)
		}
	}
	want := []assess.SizeBin{{1, 1, 2, 2}, {2, 2, 1, 2}, {3, 3, 0, 0}, {4, 4, 0, 0}, {5, 9, 1, 5}, {10, 19, 1, 11}}
	if len(r.Distribution) != len(want) {
		t.Fatalf("bins %v", r.Distribution)
	}
	for i, b := range r.Distribution {
		if b != want[i] {
			t.Errorf("bin %d: %v, want %v", i, b, want[i])
		}
	}
}

func TestRiskThresholdIsExact(t *testing.T) {
	// 1/f > 1/f is false for every f, whatever the division's last bit.
	for f := 1; f < 5000; f++ {
		r, err := assess.NewRisk([]int{f}, 1/float64(f))
		if err != nil {
			t.Fatal(err)
		}
		if r.Prosecutor.RecordsAbove != 0 {
			t.Fatalf("a class of %d is above a threshold of 1/%d", f, f)
		}
		if f == 1 {
			continue
		}
		r, _ = assess.NewRisk([]int{f - 1}, 1/float64(f))
		if r.Prosecutor.RecordsAbove != int64(f-1) {
			t.Fatalf("a class of %d is not above 1/%d", f-1, f)
		}
	}
}

func TestRiskRefuses(t *testing.T) {
	for _, c := range []struct {
		sizes     []int64
		threshold float64
		kind      noren.Kind
	}{
		{nil, 0, noren.BadData},
		{[]int64{0, 0}, 0, noren.BadData},
		{[]int64{1, -1}, 0, noren.Usage},
		{[]int64{1}, 1.5, noren.Usage},
		{[]int64{1}, -0.1, noren.Usage},
		{[]int64{1}, math.NaN(), noren.Usage},
		{[]int64{1 << 53}, 0, noren.Usage},
	} {
		if _, err := assess.NewRisk(c.sizes, c.threshold); err == nil || noren.KindOf(err) != c.kind {
			t.Errorf("%v at %v: %v, want kind %v", c.sizes, c.threshold, err, c.kind)
		}
	}
}

func TestRiskBounds(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		sizes := rapid.SliceOfN(rapid.Uint32Range(1, 3000), 1, 60).Draw(t, "sizes")
		r, err := assess.NewRisk(sizes, 0)
		if err != nil {
			t.Fatal(err)
		}
		var n, dm, classes int64
		for _, b := range r.Distribution {
			n += b.Records
			classes += b.Classes
			if b.Classes > 0 && (b.Records < b.Low*b.Classes || b.Records > b.High*b.Classes) {
				t.Fatalf("bin %+v holds classes of another size", b)
			}
		}
		for _, s := range sizes {
			dm += int64(s) * int64(s)
		}
		if n != r.Records || classes != int64(len(sizes)) || float64(dm) != r.Discernibility {
			t.Fatalf("%d of %d records in bins, %d classes, DM %v of %d", n, r.Records, classes, r.Discernibility, dm)
		}
		if !(r.Marketer <= r.Prosecutor.Max && r.Marketer > 0 && r.Prosecutor.Max <= 1 && r.UniqueShare <= r.Marketer) {
			t.Fatalf("risks out of order: %+v", r)
		}
		for i := 1; i < len(r.Below); i++ {
			if r.Below[i].Records < r.Below[i-1].Records {
				t.Fatal("records below k fall with k")
			}
		}
	})
}

// sample classes 2, 1, 1 in a population of 4, 1, 10, and one class of 5 that
// was not drawn.
func TestJournalistByHand(t *testing.T) {
	j, err := assess.NewJournalist([]int{2, 0, 1, 1}, []int{4, 5, 1, 10}, 0)
	if err != nil {
		t.Fatal(err)
	}
	marketer := (2.0/4 + 1 + 1.0/10) / 4
	if j.PopulationRecords != 20 || j.SmallestClass != 1 || j.Max != 1 || j.RecordsAbove != 3 || j.PopulationUniques != 1 ||
		!near(j.Marketer, marketer) || !near(j.Mean, max(3.0/15, marketer)) || j.ShareAbove != 0.75 {
		t.Errorf("%+v", j)
	}
}

func TestJournalistInconsistent(t *testing.T) {
	_, err := assess.NewJournalist([]int{2, 3, 1}, []int{0, 2, 1}, 0)
	if noren.KindOf(err) != noren.BadData || !strings.Contains(err.Error(), "1 of its classes (2 records)") ||
		!strings.Contains(err.Error(), "1 class (3 records) has") {
		t.Errorf("%v", err)
	}
}

func TestJournalistOfThePopulationItself(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		sizes := rapid.SliceOfN(rapid.Uint32Range(1, 50), 1, 40).Draw(t, "sizes")
		r, err := assess.NewRisk(sizes, 0)
		if err != nil {
			t.Fatal(err)
		}
		j, err := assess.NewJournalist(sizes, sizes, 0)
		if err != nil {
			t.Fatal(err)
		}
		if j.Max != r.Prosecutor.Max || !near(j.Marketer, r.Marketer) || j.RecordsAbove != r.Prosecutor.RecordsAbove {
			t.Fatalf("journalist %+v, prosecutor %+v", j, r.Prosecutor)
		}
	})
}

func column(t testing.TB, f table.Field, values ...string) *table.Column {
	t.Helper()
	b, err := table.NewBuilder(f, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, v := range values {
		if err := b.Append([]byte(v)); err != nil {
			t.Fatal(err)
		}
	}
	return b.Column()
}

func tableOf(columns ...*table.Column) *table.Table {
	return &table.Table{Rows: columns[0].Len(), Columns: columns}
}

func TestClassifyTogether(t *testing.T) {
	sample := tableOf(
		column(t, table.Field{Name: "age", Type: table.Integer}, "30", "30", "", "41"),
		column(t, table.Field{Name: "sex"}, "f", "f", "m", "m"),
	)
	// Other codes, another order of columns, a number written as a decimal.
	population := tableOf(
		column(t, table.Field{Name: "sex"}, "a", "f", "m", "f", "m", "f", "m"),
		column(t, table.Field{Name: "age", Type: table.Decimal}, "30", "30.0", "41", "30", "", "30", "0"),
	)
	c, err := assess.Classify(sample, population)
	if err != nil {
		t.Fatal(err)
	}
	s, p := c[0], c[1]
	if s.Of[0] != s.Of[1] || s.Size[s.Of[0]] != 2 || s.Size[s.Of[2]] != 1 || s.Size[s.Of[3]] != 1 {
		t.Errorf("sample %+v", s)
	}
	if p.Size[s.Of[0]] != 3 || p.Size[s.Of[2]] != 1 || p.Size[s.Of[3]] != 1 {
		t.Errorf("population %+v: a missing age must meet a missing one, not zero", p)
	}
	if _, err := assess.NewJournalist(s.Size, p.Size, 0); err != nil {
		t.Error(err)
	}
}

func TestClassifyRefuses(t *testing.T) {
	a := tableOf(column(t, table.Field{Name: "x", Type: table.Integer}, "1"))
	for _, b := range []*table.Table{
		tableOf(column(t, table.Field{Name: "y"}, "1")),
		tableOf(column(t, table.Field{Name: "x"}, "1")),
	} {
		if _, err := assess.Classify(a, b); noren.KindOf(err) != noren.Usage {
			t.Errorf("%v", err)
		}
	}
}

// Two records share a class exactly when they agree in every column.
func TestClassifyIsEquality(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 40).Draw(t, "n")
		d := rapid.IntRange(1, 3).Draw(t, "d")
		columns := make([]*table.Column, d)
		for j := range columns {
			b, err := table.NewBuilder(table.Field{Name: string(rune('a' + j)), Type: table.Integer}, nil)
			if err != nil {
				t.Fatal(err)
			}
			for range n {
				if v := rapid.Int64Range(-1, 2).Draw(t, "v"); v == 2 {
					b.AppendMissing()
				} else {
					b.AppendInt(v << 61) // neighbours that a float64 would confuse as well
				}
			}
			columns[j] = b.Column()
		}
		c, err := assess.Classify(tableOf(columns...))
		if err != nil {
			t.Fatal(err)
		}
		for i := range n {
			for k := range i {
				same := true
				for _, col := range columns {
					same = same && col.IsMissing(i) == col.IsMissing(k) && col.Ints[i] == col.Ints[k]
				}
				if same != (c[0].Of[i] == c[0].Of[k]) {
					t.Fatalf("records %d and %d", i, k)
				}
			}
		}
	})
}

// Every figure must survive JSON, which knows no NaN.
func TestJSON(t *testing.T) {
	u, err := assess.EstimateUniqueness([]int{1, 1, 1}, 0.1)
	if err != nil {
		t.Fatal(err)
	}
	b, err := json.Marshal(assess.Assessment{Schema: assess.Schema, OriginalUniqueness: u})
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(b), `"pitman":{"uniques":null,"share":null,"reason":"every record`) ||
		!strings.Contains(string(b), `"schema":"noren.assess/1"`) {
		t.Errorf("%s", b)
	}
}
