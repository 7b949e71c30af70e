package refine_test

import (
	"context"
	"slices"
	"testing"

	"github.com/noren-privacy/noren/kanon/cost"
	"github.com/noren-privacy/noren/kanon/refine"
	"github.com/noren-privacy/noren/kanon/space"
	"github.com/noren-privacy/noren/table"
)

// A large group with one record of a value that every group needs is divided with
// records that groups far from it can spare, and stays where no group can.
func TestLargeGroupsBorrow(t *testing.T) {
	const n, k = 300, 5
	for _, c := range []struct {
		name   string
		scarce func(i int) bool // records of the scarce stratum
		larges int
	}{
		{"a group far from it can spare records", func(i int) bool { return i == 0 || i >= 200 && i%2 == 0 }, 0},
		{"no group can spare one", func(i int) bool { return i == 0 || i == 299 }, 2},
	} {
		for _, exact := range []bool{false, true} {
			columns := []*table.Column{(&table.Column{Field: table.Field{Name: "a", Type: table.Integer}}).Blank(n)}
			judge := balanced{k: k, exact: exact, of: make([]uint32, n)}
			p := space.Partition{Group: make([]uint32, n), Groups: 2}
			for i := range n {
				// Two heaps: 200 records around 100, and 100 records from 10,000 on.
				columns[0].Ints[i] = int64(i)
				if i >= 200 {
					columns[0].Ints[i], p.Group[i] = 10_000+int64(i), 1
				}
				if c.scarce(i) {
					judge.of[i] = 1
				}
			}
			frame, err := space.FrameOf(columns, space.ZScore)
			if err != nil {
				t.Fatal(err)
			}
			s, err := frame.Space(columns)
			if err != nil {
				t.Fatal(err)
			}
			for name, m := range map[string]cost.Measure{"squares": nil, "boxes": cost.Boxes(frame, columns)} {
				q, _, err := refine.Refine(context.Background(), s, p, refine.Options{K: k, Effort: refine.Fast, Measure: m, Judge: judge})
				if err != nil {
					t.Fatal(err)
				}
				if err := q.Validate(k); err != nil {
					t.Fatal(err)
				}
				list, start := q.Members()
				larges := 0
				for g := range q.Groups {
					members := list[start[g]:start[g+1]]
					if !judge.Holds(members) {
						t.Errorf("%s, %s: group %d does not hold", c.name, name, g)
					}
					if len(members) > refine.LargeGroup*k {
						larges++
					}
				}
				if larges != c.larges {
					t.Errorf("%s, %s: %d groups of more than %d records, want %d: sizes %v", c.name, name, larges, refine.LargeGroup*k, c.larges,
						slices.Sorted(slices.Values(q.Sizes())))
				}
			}
		}
	}
}
