package records

import (
	"slices"
	"testing"

	"github.com/noren-privacy/noren/api"
	"github.com/noren-privacy/noren/kanon/gate"
)

// A count of unique records that is known to be 0 is not among what a release does not guarantee;
// an estimate of 0 is, as is every count above it.
func TestNotCoveredHasNoZero(t *testing.T) {
	columns := []gate.UniqueColumn{{Column: "age"}, {Column: "sex"}}
	for _, c := range []struct {
		unique gate.Unique
		want   int
	}{
		{gate.Unique{Records: 90, Columns: columns}, 0},
		{gate.Unique{Records: 90, Columns: columns, InPairs: 3}, 2}, // and what it means
		{gate.Unique{Records: 90, Columns: columns, Estimated: true}, 2},
		{gate.Unique{Records: 90, Columns: columns[:1]}, 0},
		{gate.Unique{Records: 90, Columns: columns[:1], Estimated: true}, 1},
		{gate.Unique{Records: 90, Columns: []gate.UniqueColumn{{Column: "age", Unique: 2}, {Column: "sex"}}, Alone: 2, InPairs: 5}, 4},
	} {
		c.unique.Paired = len(c.unique.Columns)
		rel := &api.Release{}
		rel.Unique = &c.unique
		said := slices.DeleteFunc(notCovered(rel), func(m Message) bool { return m.Code != "unique" })
		if len(said) != c.want {
			t.Errorf("%+v: %d sentences, want %d: %v", c.unique, len(said), c.want, said)
		}
	}
}
