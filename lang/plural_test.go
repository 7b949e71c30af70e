package lang_test

import (
	"strings"
	"testing"

	"github.com/noren-privacy/noren"
	"github.com/noren-privacy/noren/lang"
)

// A format that chooses words by a number is said in every language, with a number of 1 or another.
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
		if shown := lang.Japanese.Shown(text); !strings.Contains(shown, c.want) || strings.Contains(shown, "|") {
			t.Errorf("shown as %q", shown)
		}
	}
	if got, want := lang.Japanese.Text("%d such {file|files} of none", 1), "1 such file of none"; got != want {
		t.Errorf("without a translation: got %q, want %q", got, want)
	}
}
