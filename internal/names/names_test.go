package names_test

import (
	"strings"
	"testing"
	"unicode"

	"github.com/noren-privacy/noren/internal/names"
)

func TestSeen(t *testing.T) {
	for _, name := range []string{
		"visits.csv", "来院 2026（１月）", "é", "e\u0301",
		"نمی\u200cخواهم", "क्\u200dष", "👩\u200d⚕️", "👍🏽", "葛\U000e0100城", "10 %",
	} {
		if !names.Seen(name) {
			t.Errorf("%q is refused", name)
		}
	}
	for _, name := range []string{
		"", " ", "\u3000\u00a0", "a\u202evsc.exe", "a\u2066b", "a\u200eb", "a\ufeff", "a\u00adb", "a\nb", "a\u0085b", "a\u2028b",
		"a\x00", "a\xff", "\ue000",
		"a\u200db", "a\u200cb", "\u200d", "来\u200d院", "a\u034fb", "\u3164",
		"a\u115fb", "a\uffa0b", "a\ufe0fb", "a\U000e0100b", "\u2800", "a\u17b4b", "a\ufffeb",
	} {
		if names.Seen(name) {
			t.Errorf("%q is taken", name)
		}
	}
}

// Of all characters, none that draws nothing is taken between two letters.
func TestEachCharacterIsSeen(t *testing.T) {
	nothing := []*unicode.RangeTable{
		unicode.Cc, unicode.Cf, unicode.Zl, unicode.Zp, unicode.Co, unicode.Cs,
		unicode.Bidi_Control, unicode.Join_Control, unicode.Variation_Selector,
		unicode.Other_Default_Ignorable_Code_Point, unicode.Noncharacter_Code_Point,
	}
	for r := rune(0); r <= unicode.MaxRune; r++ {
		name := "a" + string(r) + "b"
		if strings.ContainsRune(name, unicode.ReplacementChar) {
			continue // no character of its own
		}
		if unicode.In(r, nothing...) == names.Seen(name) && r != 0x2800 {
			t.Errorf("%U: taken is %v", r, names.Seen(name))
		}
	}
}
