package assess_test

import (
	"context"
	"math"
	"slices"
	"testing"

	"github.com/noren-privacy/noren"
	"github.com/noren-privacy/noren/assess"
	"github.com/noren-privacy/noren/table"
)

func TestSensitive(t *testing.T) {
	illness := column(t, table.Field{Name: "illness", Type: table.Category}, "flu", "flu", "flu", "cold", "flu", "", "flu", "cold")
	classes := assess.Classes{Of: []uint32{0, 0, 1, 1, 1, 2, 2, 1}, Size: []uint32{2, 4, 2}}
	s, err := assess.NewSensitive(context.Background(), classes, illness)
	if err != nil {
		t.Fatal(err)
	}
	// Classes: flu flu; flu cold flu cold; nothing and flu.
	if s.Homogeneous != 2 || s.HomogeneousRecords != 3 || s.Classes != 3 || s.DistinctL != 1 || s.WorstShare != 1 || s.WorstSize != 2 {
		t.Errorf("%+v", s)
	}
	// The table is 5/8 flu, 2/8 cold, 1/8 missing: the last class is 1/2 flu, 1/2
	// missing.
	if math.Abs(s.T-3./8) > 1e-12 || math.Abs(s.EntropyL-1) > 1e-12 {
		t.Errorf("t %g, entropy l %g, want .375 and 1", s.T, s.EntropyL)
	}
	if _, err := assess.NewSensitive(context.Background(), assess.Classes{}, illness); noren.KindOf(err) != noren.BadData {
		t.Errorf("classes of another table: %v", err)
	}
}

func TestAssociate(t *testing.T) {
	f, g := table.Field{Name: "job", Type: table.Category}, table.Field{Name: "illness", Type: table.Category}
	job := column(t, f, slices.Repeat([]string{"a", "a", "b", "b"}, 50)...)
	same := column(t, g, slices.Repeat([]string{"x", "x", "y", "y"}, 50)...)
	none := column(t, g, slices.Repeat([]string{"x", "y", "x", "y"}, 50)...)
	sets := column(t, f, slices.Repeat([]string{"{a, b}"}, 200)...)
	shares := column(t, f, slices.Repeat([]string{"{a 0.90, b 0.10}", "{a 0.90, b 0.10}", "{a 0.10, b 0.90}", "{a 0.10, b 0.90}"}, 50)...)
	for _, c := range []struct {
		name             string
		sensitive, shown *table.Column
		before, after    float64
	}{
		{"kept", same, job, 1, 1},
		{"unrelated", none, job, 0, 0},
		{"all in one set", same, sets, 1, 0},
		{"shares", same, shares, 1, .8},
	} {
		a := assess.Associate(job, c.sensitive, c.shown, c.sensitive)
		if math.Abs(a.Original-c.before) > .01 || math.Abs(a.Release-c.after) > .01 {
			t.Errorf("%s: %.3f and %.3f, want %g and %g", c.name, a.Original, a.Release, c.before, c.after)
		}
	}
	age := column(t, table.Field{Name: "age", Type: table.Integer}, slices.Repeat([]string{"20", "21", "60", "61"}, 50)...)
	ranges := column(t, table.Field{Name: "age", Type: table.Category}, slices.Repeat([]string{"[20-21]", "[20-21]", "[60-61]", "[60-61]"},
		50)...)
	if a := assess.Associate(age, same, ranges, same); a.Original < .99 || a.Release < .99 {
		t.Errorf("ranges: %+v", a)
	}
}
