package table_test

import (
	"fmt"
	"testing"

	"pgregory.net/rapid"

	"github.com/noren-privacy/noren/table"
)

// shown is what a record of a column is, in words.
func shown(c *table.Column, i int) string {
	switch {
	case c.IsMissing(i):
		return "missing"
	case c.Field.Type == table.Category, c.Field.Type == table.Ordered:
		return c.Dict[c.Codes[i]]
	}
	return fmt.Sprint(c.Number(i))
}

// A column that is built in pieces, and the records selected from a whole one,
// are those of the column that is built at once.
func TestPiecesOfAColumn(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		f := rapid.SampledFrom([]table.Field{
			{Name: "c", Type: table.Integer},
			{Name: "c", Type: table.Decimal},
			{Name: "c", Type: table.Category},
			{Name: "c", Type: table.Ordered, Levels: []string{"30", "4", "20", "1"}},
		}).Draw(t, "field")
		texts := rapid.SliceOfN(rapid.SampledFrom([]string{"1", "20", "30", "4", ""}), 0, 40).Draw(t, "texts")
		whole, err := table.NewBuilder(f, nil)
		if err != nil {
			t.Fatal(err)
		}
		pieces, err := table.NewBuilder(f, nil)
		if err != nil {
			t.Fatal(err)
		}
		var cuts []*table.Column
		for i, text := range texts {
			for _, b := range []*table.Builder{whole, pieces} {
				if err := b.Append([]byte(text)); err != nil {
					t.Fatal(err)
				}
			}
			if rapid.IntRange(0, 4).Draw(t, fmt.Sprint("cut after ", i)) == 0 {
				cuts = append(cuts, pieces.Cut())
			}
		}
		last := pieces.Cut()
		cuts = append(cuts, last)
		ranks := table.Ranks(last.Dict)
		head, want := pieces.Column(), whole.Column()
		if fmt.Sprint(head.Dict) != fmt.Sprint(want.Dict) || head.Places != want.Places || head.Len() != 0 {
			t.Fatalf("%v %d, want %v %d", head.Dict, head.Places, want.Dict, want.Places)
		}
		at := 0
		for _, c := range cuts {
			for i := range c.Len() {
				if got := shown(c, i); got != shown(want, at) {
					t.Fatalf("record %d is %s, want %s", at, got, shown(want, at))
				}
				if f.Type == table.Category && !c.IsMissing(i) && ranks[c.Codes[i]] != want.Codes[at] {
					t.Fatalf("record %d has rank %d, want %d", at, ranks[c.Codes[i]], want.Codes[at])
				}
				at++
			}
		}
		if at != want.Len() {
			t.Fatalf("%d records, want %d", at, want.Len())
		}
		if at == 0 {
			return
		}
		records := rapid.SliceOf(rapid.Uint32Range(0, uint32(at-1))).Draw(t, "records")
		some := want.Select(records)
		blank := want.Blank(len(records))
		for i, r := range records {
			if shown(some, i) != shown(want, int(r)) {
				t.Fatalf("selected %s, want %s", shown(some, i), shown(want, int(r)))
			}
			if want.IsMissing(int(r)) {
				blank.SetMissing(i)
			}
		}
		if some.Len() != len(records) || blank.Len() != len(records) || some.Missing() != blank.Missing() {
			t.Fatalf("%d and %d records of %d", some.Len(), blank.Len(), len(records))
		}
	})
}
