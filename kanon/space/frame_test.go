package space_test

import (
	"math"
	"testing"

	"pgregory.net/rapid"

	"github.com/noren-privacy/noren/kanon/space"
	"github.com/noren-privacy/noren/table"
)

// A table that is surveyed and placed run by run comes to stand where it does as
// a whole, and its SST is that of the whole.
func TestFrameOfRuns(t *testing.T) {
	h, err := table.NewHierarchy("h", [][]string{{"1", "low", "*"}, {"2", "low", "*"}, {"30", "high", "*"}}, nil)
	if err != nil {
		t.Fatal(err)
	}
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 30).Draw(t, "n")
		fields := []table.Field{
			{Name: "i", Type: table.Integer},
			{Name: "d", Type: table.Decimal},
			{Name: "c", Type: table.Category},
			{Name: "h", Type: table.Category, Hierarchy: h},
			{Name: "o", Type: table.Ordered, Levels: []string{"2", "30", "1"}},
		}
		columns := make([]*table.Column, len(fields))
		for a, f := range fields {
			b, err := table.NewBuilder(f, nil)
			if err != nil {
				t.Fatal(err)
			}
			for range n {
				if err := b.Append([]byte(rapid.SampledFrom([]string{"1", "2", "30", ""}).Draw(t, "text"))); err != nil {
					t.Fatal(err)
				}
			}
			columns[a] = b.Column()
		}
		scaling := rapid.SampledFrom([]space.Scaling{space.MinMax, space.ZScore, space.None}).Draw(t, "scaling")
		whole, err := space.FromTable(columns, scaling)
		if err != nil {
			t.Fatal(err)
		}
		run := func(from, to int) []*table.Column {
			var ids []uint32
			for i := from; i < to; i++ {
				ids = append(ids, uint32(i))
			}
			out := make([]*table.Column, len(columns))
			for a, c := range columns {
				out[a] = c.Select(ids)
			}
			return out
		}
		cut := rapid.IntRange(0, n).Draw(t, "cut")
		survey, err := space.NewSurvey(fields, scaling)
		if err != nil {
			t.Fatal(err)
		}
		survey.Look(run(0, cut))
		survey.Look(run(cut, n))
		if survey.Twice() != (scaling == space.ZScore) {
			t.Fatalf("%v is looked at twice: %v", scaling, survey.Twice())
		}
		if survey.Twice() {
			survey.Again()
			survey.Look(run(0, cut))
			survey.Look(run(cut, n))
		}
		frame, err := survey.Frame(columns)
		if err != nil {
			t.Fatal(err)
		}
		sst := frame.NewSST()
		for _, r := range [][2]int{{0, cut}, {cut, n}} {
			s, err := frame.Space(run(r[0], r[1]))
			if err != nil {
				t.Fatal(err)
			}
			sst.Add(s)
			for a, x := range s.Numbers() {
				for i, v := range x {
					if want := whole.Numbers()[a][r[0]+i]; v != want {
						t.Fatalf("number %d of record %d is %v, want %v", a, r[0]+i, v, want)
					}
				}
			}
			if len(s.Words()) != len(whole.Words()) {
				t.Fatalf("%d categorical axes, want %d", len(s.Words()), len(whole.Words()))
			}
			for a, w := range s.Words() {
				want := whole.Words()[a]
				if w.Weight != want.Weight || w.Cardinality != want.Cardinality {
					t.Fatalf("axis %d is %v/%d, want %v/%d", a, w.Weight, w.Cardinality, want.Weight, want.Cardinality)
				}
				for i, c := range w.Codes {
					if c != want.Codes[r[0]+i] {
						t.Fatalf("code %d of record %d is %d, want %d", a, r[0]+i, c, want.Codes[r[0]+i])
					}
				}
			}
		}
		if got, want := sst.Sum(), whole.SST(); math.Abs(got-want) > 1e-9*(1+want) {
			t.Fatalf("SST %v, want %v", got, want)
		}
	})
}
