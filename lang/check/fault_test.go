package main

import (
	"strings"
	"testing"

	"github.com/noren-privacy/noren/lang"
)

// A choice in either text is by a number of that text, and in one of the forms that there are.
func TestFaultsOfChoices(t *testing.T) {
	for _, c := range []struct{ english, japanese, want string }{
		{"%d {row|rows} of %s", "%[2]s の %[1]d 行", ""},
		{"%d {row|rows} of %s", "%[2]s の %[1]d {行|つの行}", ""},
		{"{1|Is|Are} %d {row|rows} left out?", "%d 行を除きますか", ""},
		{"{row|rows} %d", "%d 行", "chooses by argument 0"},
		{"%d {3|row|rows} of %s", "%[2]s の %[1]d 行", "chooses by argument 3"},
		{"%.1f {row|rows}", "%.1f 行", "chooses by argument 1"},
		{"%d {row|rows}", "%d {2|行|つの行}", "translation chooses by argument 2"},
		{"%d {a|row|rows}", "%d 行", "has a choice that is not"},
		{"%.1f %% of %d", "%[2]d の %.1[1]f %%", ""},
		{"%.1f %% of %d", "%[2]d の %[1].1f %%", "leaves out argument 1"}, // package fmt cannot read it
		{"%d {%d row|rows}", "%d %d 行", "has a choice that is not"},
	} {
		fault := faultOf(lang.Entry{Key: lang.Key(c.english), Japanese: c.japanese})
		if c.want == "" && fault != "" || !strings.Contains(fault, c.want) {
			t.Errorf("%q, %q: %q", c.english, c.japanese, fault)
		}
	}
}
