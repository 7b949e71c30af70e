package lang_test

import (
	"testing"

	"github.com/noren-privacy/noren"
	"github.com/noren-privacy/noren/lang"
)

// The unit record is a word of ours; another is a column, whose name stays even where it is a term.
func TestUnit(t *testing.T) {
	for name, want := range map[string]string{"record": "レコード", "mean": "mean", "患者": "患者"} {
		if got := lang.Japanese.Unit(name); got != want {
			t.Errorf("%s: got %q, want %q", name, got, want)
		}
		if got := lang.English.Unit(name); got != name {
			t.Errorf("%s in English: got %q", name, got)
		}
	}
}

// Brackets of Japanese hold their own space: none stands before them.
func TestNoSpaceBeforeBrackets(t *testing.T) {
	if got := lang.Japanese.Shown(noren.Textf(" (say --missing to decide otherwise)")); got != "（変えるには --missing を指定してください）" {
		t.Errorf("got %q", got)
	}
}
