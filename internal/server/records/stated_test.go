package records

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/noren-privacy/noren"
	"github.com/noren-privacy/noren/api"
	"github.com/noren-privacy/noren/internal/server/tables"
	"github.com/noren-privacy/noren/kanon"
	"github.com/noren-privacy/noren/kanon/gate"
	"github.com/noren-privacy/noren/kanon/verify"
	"github.com/noren-privacy/noren/lang"
	"github.com/noren-privacy/noren/report/text"
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

// What a check of a preview says of a file has no folder of the host, wherever the file lies, and a column is named as it is.
func TestChecksShowNoFolder(t *testing.T) {
	rel := &api.Release{}
	rel.Verified = &verify.Result{}
	file := filepath.Join("/srv", `Patient files (2026) "x"`, "a.csv")
	p := &preview{release: rel, held: &tables.Held{}, notes: []api.Note{
		{Code: "text-form", Whole: noren.Textf("%s: %s", noren.Place{noren.File(file)}, noren.Textf("column %s", "none"))},
		{Code: "looks-missing", Whole: text.LooksMissing(&kanon.Result{Input: file}, kanon.LooksMissing{Column: "none"})},
	}}
	for _, l := range lang.All() {
		for _, c := range checks(p)[1:] {
			said := c.Message.In(l).Text
			if strings.Contains(said, "Patient") || !strings.Contains(said, "a.csv") || !strings.Contains(said, "none") {
				t.Errorf("%s: %s", l, said)
			}
		}
	}
}
