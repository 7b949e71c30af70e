package publish_test

import (
	"context"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/noren-privacy/noren/kanon/publish"
	"github.com/noren-privacy/noren/table"
)

// Groups that are published piece by piece show what they show when the table
// is published at once.
func TestPlanOfPieces(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		f := rapid.SampledFrom([]table.Field{
			{Type: table.Integer},
			{Type: table.Decimal},
			{Type: table.Category},
			{Type: table.Date},
			{Type: table.Ordered, Levels: []string{"b", "a", "", "1"}},
		}).Draw(t, "field")
		words := map[table.Type][]string{
			table.Integer: {"1", "7", "NA", "-3"}, table.Decimal: {"0.5", "1e300", "NA", "2.25", "1e-300"},
			table.Category: {"a", "b", "NA", "c"}, table.Date: {"2024-02-29", "NA", "1970-01-01"}, table.Ordered: {"a", "b", "NA", "1"},
		}[f.Type]
		if f.Type == table.Decimal && rapid.Bool().Draw(t, "even") {
			words = []string{"0.5", "NA", "2.25"}
		}
		texts := rapid.SliceOfN(rapid.SampledFrom(words), 1, 40).Draw(t, "texts")
		n := len(texts)
		groups := rapid.IntRange(1, n).Draw(t, "groups")
		group := make([]uint32, n)
		for i := range group {
			// Groups ascend, so that pieces of records are pieces of groups.
			group[i] = uint32(i * groups / n)
		}
		mode := rapid.SampledFrom([]publish.Mode{publish.Aggregate, publish.Generalize, publish.Shares}).Draw(t, "mode")
		kind := rapid.SampledFrom([]table.Kind{table.Text, table.Int, table.Float}).Draw(t, "stored as")
		col := column(t, f, texts...)
		as := []table.StoredColumn{{Name: "x", Kind: kind, Nullable: rapid.Bool().Draw(t, "nullable")}}
		whole, err := publish.Publish(context.Background(), []*table.Column{col}, as, group, groups, publish.Options{Mode: mode})
		if err != nil {
			t.Fatalf("%v", err)
		}

		plan, err := publish.NewPlan([]*table.Column{col.Blank(0)}, as, publish.Options{Mode: mode})
		if err != nil {
			t.Fatalf("%v", err)
		}
		for i := range n {
			plan.Look([]*table.Column{col.Select([]uint32{uint32(i)})})
		}
		var out []publish.Column
		for g := 0; g < groups; {
			upTo := rapid.IntRange(g+1, groups).Draw(t, "groups of a piece")
			var ids, inner []uint32
			for i, at := range group {
				if int(at) >= g && int(at) < upTo {
					ids, inner = append(ids, uint32(i)), append(inner, at-uint32(g))
				}
			}
			more, err := plan.Groups(context.Background(), []*table.Column{col.Select(ids)}, inner, upTo-g)
			if err != nil {
				t.Fatalf("%v", err)
			}
			out = publish.Append(out, more)
			g = upTo
		}
		if err := plan.Finish(context.Background(), out, group); err != nil {
			t.Fatal(err)
		}
		all := make([]uint32, groups)
		for g := range all {
			all[g] = uint32(g)
		}
		if got, want := shown(&out[0], all...), shown(&whole[0], all...); !slices.Equal(got, want) {
			t.Fatalf("%q, want %q", got, want)
		}
		a, b := &out[0].Stored, &whole[0].Stored
		if a.Kind != b.Kind || a.Nullable != b.Nullable || a.Name != b.Name {
			t.Fatalf("stored as %+v, want %+v", a, b)
		}
	})
}

// Many groups with long and short texts: what the arena holds comes out.
func TestManyGroups(t *testing.T) {
	const n = 20_000
	texts, group := make([]string, n), make([]uint32, n)
	for i := range texts {
		texts[i], group[i] = string(rune('a'+i%26))+"ä"[:i%2*2], uint32(i)
	}
	c := publishOne(t, column(t, table.Field{Type: table.Category}, texts...), group, n, publish.Generalize)
	if got := shown(c, group...); !slices.Equal(got, texts) {
		t.Error("the groups show other texts")
	}
}
