package lang_test

import (
	"testing"

	"github.com/noren-privacy/noren/lang"
)

func TestAccepted(t *testing.T) {
	for header, want := range map[string]lang.Lang{
		"": lang.English, "ja": lang.Japanese, "JA-jp": lang.Japanese, "en": lang.English, "fr": lang.English, "*": lang.English,
		"ja,en-US;q=0.9,en;q=0.8": lang.Japanese, "en-US,en;q=0.9,ja;q=0.8": lang.English, "ja, en": lang.Japanese,
		"ja;q=0.5, *": lang.English, "ja;q=0.5, fr": lang.Japanese, "ja;q=0": lang.English, "en;q=0, ja;q=0.1": lang.Japanese,
		"ja;q=two": lang.English, "ja; q=0.7, en;q=0.6": lang.Japanese, "japanese": lang.English, "ja;q=7": lang.English, ",,;": lang.English,
	} {
		if got := lang.Accepted(header); got != want {
			t.Errorf("%q: %s", header, got)
		}
	}
}
