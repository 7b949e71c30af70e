package records

import (
	"testing"

	"github.com/noren-privacy/noren"
	"github.com/noren-privacy/noren/api"
	"github.com/noren-privacy/noren/kanon/verify"
)

// The page shows the guarantee from the message "promise", and persons from theirs: each line
// must be found among those of text.Release, with the arguments that the page writes.
func TestStatement(t *testing.T) {
	rel := &api.Release{}
	rel.K, rel.Classes = 5, 816
	rel.Guarantee = noren.Guarantee{Model: "k-anonymity", K: 5, Quasi: []string{"age", "sex"}, Unit: "person_id", Linkage: "all"}
	rel.Unit = "person_id"
	rel.Verified = &verify.Result{}
	rel.Verified.Unit = &verify.Persons{Column: "person_id", Persons: 1387, Linked: true, Sequences: &verify.Sequences{Pseudonyms: 7, Min: 6}}
	rel.Verified.Unit.Fit.Min = 6
	got := map[string]map[string]any{}
	for _, m := range statement(rel) {
		if m.Text == "" {
			t.Errorf("%s: expected a text", m.Code)
		}
		got[m.Code] = m.Args
	}
	for code, want := range map[string]map[string]any{
		"promise":    {"k": 5, "columns": "age, sex", "unit": "person_id", "linked": 1},
		"classes":    {"classes": 816},
		"persons":    {"persons": int64(1387), "column": "person_id", "unassigned": int64(0)},
		"intersect":  {"least": int64(6), "asked": 1, "k": 5},
		"pseudonyms": {"pseudonyms": int64(7), "least": int64(6)},
	} {
		for name, value := range want {
			if got[code][name] != value {
				t.Errorf("%s: got %s = %v (%T), want %v (%T)", code, name, got[code][name], got[code][name], value, value)
			}
		}
	}
	if len(got) != len(stated) {
		t.Errorf("got %d messages, want %d: %v", len(got), len(stated), got)
	}
}
