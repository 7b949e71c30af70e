package lang_test

import (
	"testing"

	"github.com/noren-privacy/noren"
	"github.com/noren-privacy/noren/lang"
)

func TestSay(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"others may know it: published as the median of its class", "他人が知りえます: クラスの中央値として公開"},
		{"it tells persons apart: persons were counted by it", "人を区別します: これで人を数えました"},
		{"the file has no column age", "ファイルに列 age がありません"},
		{"k is 0: it must be at least 1", "k が 0 です。1 以上にします"},
		{"ward", "ward"},
		{"no such text as this", "no such text as this"},
	} {
		if got := lang.Japanese.Say(c.text); got != c.want {
			t.Errorf("%q: got %q, want %q", c.text, got, c.want)
		}
		if got := lang.English.Say(c.text); got != c.text {
			t.Errorf("%q in English: %q", c.text, got)
		}
	}
}

func TestErrorInJapanese(t *testing.T) {
	err := (&noren.Error{Kind: noren.Usage, Where: "--k", What: "expected 1 or more", Hint: "for instance 5,10,50"})
	if got, want := lang.Japanese.Error(err), "--k: 1 以上が必要です（例: 5,10,50）"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if got := lang.English.Error(err); got != err.Error() {
		t.Errorf("got %q", got)
	}
}

func TestLanguages(t *testing.T) {
	for text, want := range map[string]lang.Lang{"ja_JP.UTF-8": lang.Japanese, "ja": lang.Japanese, "en_US.UTF-8": lang.English, "C": lang.English, "C.UTF-8": lang.English, "fr_FR": lang.English} {
		got := lang.FromEnvironment(func(name string) string {
			if name == "LANG" {
				return text
			}
			return ""
		})
		if got != want {
			t.Errorf("%s: %s", text, got)
		}
	}
}
