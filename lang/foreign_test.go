package lang_test

import (
	"strings"
	"testing"

	"github.com/noren-privacy/noren/lang"
)

// A finished text is found as a whole, the names in it stay as they are, and one that is not known is marked.
func TestForeign(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"permission denied", "権限がありません"},
		{"expected length >= 3", "3 文字以上が必要です"},
		{`unknown command "none" for "noren"`, `"noren" に知られていないコマンドです: "none"`},
		{"unknown flag: --cannot be written", "知られていないフラグです: --cannot be written"},
		{"permission denied; permission denied", "permission denied; permission denied（原文）"},
		{"no text that is known", "no text that is known（原文）"},
		{"", ""},
	} {
		if got := lang.Japanese.Foreign(c.text); got != c.want {
			t.Errorf("%q: %q, want %q", c.text, got, c.want)
		}
		if got := lang.English.Foreign(c.text); got != c.text {
			t.Errorf("%q in English: %q", c.text, got)
		}
	}
}

// The list of finished texts is closed: texts of Noren keep their arguments instead.
func TestForeignIsClosed(t *testing.T) {
	n := 0
	for _, e := range lang.Catalogue() {
		if e.Context == lang.Foreign && strings.Contains(string(e.Key), "%") {
			n++
		}
	}
	if n > lang.MostForeign {
		t.Errorf("there are %d formats of finished texts, at most %d", n, lang.MostForeign)
	}
}
