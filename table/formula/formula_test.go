package formula_test

import (
	"bytes"
	"testing"

	"pgregory.net/rapid"

	"github.com/noren-privacy/noren/table/formula"
)

func TestIs(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]bool{
		"=1+1": true, "=cmd|' /C calc'!A0": true, "@SUM(1)": true, "+81-90-1234": true, "-5-3": true, "-abc": true, "--": true, "-1/2": true,
		"\t=1": true, "\r=1": true, "\n=1": true, " =1": true, "\u00a0=1": true, "\u3000＝1": true, "\ufeff=1": true, "\u200b=1": true,
		"\x7f=1": true,
		"＝1+1":   true, "＋abc": true, "－５－３": true, "＠a": true, "-1e5x": true, "+1 2": true, "-1..2": true, "-Inf": true, "-e5": true, "-%": true,
		"": false, "abc": false, "-": false, "+": false, "=": false, "@": false, "- ": false, "＝": false, "-5": false, "+5": false,
		"-5.25": false, "-1,234.5": false, "-1.234,5": false,
		"-.5": false, "+1e10": false, "-1E-5": false, "-12%": false, "－５": false, "-5 ": false, "'=1": false, "a=1": false, "1-5": false,
		"東京": false, "\t": false, "−5-3": false,
	} {
		if got := formula.Is([]byte(text)); got != want {
			t.Errorf("Is(%q) = %v, want %v", text, got, want)
		}
	}
}

// texts are short texts of the characters that matter.
var texts = rapid.SliceOfN(rapid.SampledFrom([]string{
	"=", "+", "-", "@", "'", "＝", "－", " ", "\t", "\u3000", "5", ".", "e", "a", "東",
	"\x7f", "\u200b", "%",
}), 0, 6)

func joined(t *rapid.T, label string) []byte {
	var b []byte
	for _, s := range texts.Draw(t, label) {
		b = append(b, s...)
	}
	return b
}

// written is a text as the choice Text writes it.
func written(text []byte) []byte {
	if formula.Needs(text) {
		return append([]byte{formula.Mark}, text...)
	}
	return text
}

// No written text is a formula, no two texts become the same, and each is read back.
func TestMarksAreUndone(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		a, b := joined(t, "a"), joined(t, "b")
		if formula.Is(a) && !formula.May(a[0]) {
			t.Fatalf("%q is a formula that May does not see", a)
		}
		if formula.Is(written(a)) {
			t.Fatalf("%q is written as a formula", a)
		}
		if bytes.Equal(written(a), written(b)) && !bytes.Equal(a, b) {
			t.Fatalf("%q and %q are written as the same text", a, b)
		}
		if back, ok := formula.Unmark(written(a)); !ok || !bytes.Equal(back, a) {
			t.Fatalf("%q is read back as %q, %v", a, back, ok)
		}
		// What can be read back at all is read back to different texts.
		ra, oka := formula.Unmark(a)
		rb, okb := formula.Unmark(b)
		if oka && okb && bytes.Equal(ra, rb) && !bytes.Equal(a, b) {
			t.Fatalf("%q and %q are read as the same text", a, b)
		}
	})
}

func TestParse(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]formula.Choice{"": formula.Keep, "keep": formula.Keep, "text": formula.Text} {
		if got, err := formula.Parse(text); err != nil || got != want {
			t.Errorf("Parse(%q) = %v, %v", text, got, err)
		}
	}
	if _, err := formula.Parse("Text"); err == nil {
		t.Error("Parse accepts another name")
	}
}
