package lang_test

import (
	"strings"
	"testing"

	"github.com/noren-privacy/noren"
	"github.com/noren-privacy/noren/lang"
)

// A format that chooses words by a number is said in every language, and is found again where it is said
// already, with a number of 1 or another.
func TestChoicesInTexts(t *testing.T) {
	const format = "%d of its %d different {value|values} {1|has|have} no line in the hierarchy %s"
	for _, c := range []struct {
		args    []any
		english string
		want    string
	}{
		{[]any{1, 7, "h.csv"}, "1 of its 7 different values has no line in the hierarchy h.csv", "7 種類"},
		{[]any{2, 7, "h.csv"}, "2 of its 7 different values have no line in the hierarchy h.csv", "7 種類"},
		{[]any{1, 1, "h.csv"}, "1 of its 1 different value has no line in the hierarchy h.csv", "1 種類"},
	} {
		text := noren.Textf(format, c.args...)
		if got := text.String(); got != c.english {
			t.Errorf("got %q, want %q", got, c.english)
		}
		if got := lang.English.Text(format, c.args...); got != c.english {
			t.Errorf("got %q, want %q", got, c.english)
		}
		shown, found := lang.Japanese.Shown(text), lang.Japanese.Say(c.english)
		if shown != found || !strings.Contains(shown, c.want) || strings.Contains(shown, "|") {
			t.Errorf("shown as %q, found as %q", shown, found)
		}
	}
	if got, want := lang.Japanese.Text("%d such {file|files} of none", 1), "1 such file of none"; got != want {
		t.Errorf("without a translation: got %q, want %q", got, want)
	}
}

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
		{"%d {%d row|rows}", "%d %d 行", "has a choice that is not"},
	} {
		fault := lang.Entry{Key: lang.Key(c.english), Japanese: c.japanese}.Fault()
		if c.want == "" && fault != "" || !strings.Contains(fault, c.want) {
			t.Errorf("%q, %q: %q", c.english, c.japanese, fault)
		}
	}
}
