package space_test

import (
	"math"
	"testing"

	"pgregory.net/rapid"

	"github.com/noren-privacy/noren/kanon/space"
	"github.com/noren-privacy/noren/table"
)

// Surveys of two parts, put together, make the frame of the whole.
func TestSurveysOfParts(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(2, 40).Draw(t, "n")
		number := &table.Column{Field: table.Field{Name: "x", Type: table.Integer}}
		number = number.Blank(n)
		word := (&table.Column{Field: table.Field{Name: "w", Type: table.Category}, Dict: []string{"a", "b", "c"}}).Blank(n)
		for i := range n {
			number.Ints[i] = rapid.Int64Range(-50, 50).Draw(t, "x")
			word.Codes[i] = rapid.Uint32Range(0, 2).Draw(t, "w")
			if rapid.IntRange(0, 9).Draw(t, "gap") == 0 {
				number.Ints[i] = 0
				number.SetMissing(i)
			}
		}
		whole := []*table.Column{number, word}
		cut := rapid.IntRange(0, n).Draw(t, "cut")
		var parts [2][]*table.Column
		ids := make([]uint32, n)
		for i := range ids {
			ids[i] = uint32(i)
		}
		for p, of := range [][]uint32{ids[:cut], ids[cut:]} {
			parts[p] = []*table.Column{number.Select(of), word.Select(of)}
		}
		fields := []table.Field{number.Field, word.Field}
		begin := func() *space.Survey {
			v, err := space.NewSurvey(fields, space.ZScore)
			if err != nil {
				t.Fatal(err)
			}
			return v
		}
		all := begin()
		for _, p := range parts {
			v := begin()
			if p[0].Len() > 0 {
				v.Look(p)
			}
			all.Take(v.Rows(), v.Seen())
		}
		second := begin()
		for _, p := range parts {
			v := begin()
			v.Take(all.Rows(), all.Seen())
			v.Again()
			if p[0].Len() > 0 {
				v.Look(p)
			}
			seen := v.Seen()
			squares := make([]space.Seen, len(seen))
			for a := range seen {
				squares[a] = space.Seen{Lo: math.Inf(1), Hi: math.Inf(-1), Squares: seen[a].Squares}
			}
			second.Take(0, squares)
		}
		all.Take(0, second.Seen())
		got, err := all.Frame(whole)
		if err != nil {
			t.Fatal(err)
		}
		want, err := space.FrameOf(whole, space.ZScore)
		if err != nil {
			t.Fatal(err)
		}
		a, err := got.Space(whole)
		if err != nil {
			t.Fatal(err)
		}
		b, err := want.Space(whole)
		if err != nil {
			t.Fatal(err)
		}
		for i := range n {
			for j := range i {
				if x, y := a.Distance2(i, j), b.Distance2(i, j); math.Abs(x-y) > 1e-9*(1+y) {
					t.Fatalf("records %d and %d are %v apart, want %v", i, j, x, y)
				}
			}
		}
		sum, parted := want.NewSST(), got.NewSST()
		sum.Add(b)
		for _, p := range parts {
			if p[0].Len() == 0 {
				continue
			}
			s, err := got.Space(p)
			if err != nil {
				t.Fatal(err)
			}
			one := got.NewSST()
			one.Add(s)
			parted.Take(one.Squares())
		}
		if x, y := parted.Sum(), sum.Sum(); math.Abs(x-y) > 1e-9*(1+y) {
			t.Fatalf("sum of squares %v, want %v", x, y)
		}
	})
}
