package privacy_test

import (
	"strings"
	"testing"

	"github.com/noren-privacy/noren"
	"github.com/noren-privacy/noren/kanon/privacy"
)

// What a missing value counts for in diversity differs by records and by persons.
func TestGuaranteeSaysWhatAMissingValueIs(t *testing.T) {
	const none, wild = "a missing value of a sensitive column is none of its values",
		"A missing value of a sensitive column may be any of the values"
	attrs := []*privacy.Attribute{{Name: "illness"}}
	has := func(assumptions noren.Texts, part string) bool {
		return strings.Contains(assumptions.Join("\n"), part)
	}
	for _, c := range []struct {
		count      bool
		none, wild bool // by persons, wild takes the place of none
	}{{false, true, true}, {true, false, false}} {
		g := privacy.Guarantee([]string{"age"}, privacy.Requirement{K: 2, Diversity: &privacy.Diversity{L: 2, CountMissing: c.count}}, attrs)
		if has(g.Assumptions, none) != c.none || has(g.Assumptions, wild) {
			t.Errorf("by records, missing counted %t: %q", c.count, g.Assumptions)
		}
		p := privacy.OfPersons(g, "who", false, false)
		if has(p.Assumptions, none) || has(p.Assumptions, wild) != c.wild {
			t.Errorf("by persons, missing counted %t: %q", c.count, p.Assumptions)
		}
	}
}
