package certificate

import (
	"bytes"
	"encoding/json"
	"math"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// The numbers of RFC 8785 appendix B that lie in the accepted language, and its
// rules for strings and key order (sections 3.2.2.2 and 3.2.3).
func TestCanonicalRFC8785(t *testing.T) {
	numbers := map[uint64]string{
		0x0000000000000000: "0", 0x8000000000000000: "0", 0x0000000000000001: "5e-324", 0x8000000000000001: "-5e-324",
		0x433fffffffffffff: "9007199254740991", 0x3eb0c6f7a0b5ed8c: "9.999999999999997e-7", 0x3eb0c6f7a0b5ed8d: "0.000001",
		0x41b3de4355555553: "333333333.3333332", 0x41b3de4355555554: "333333333.33333325", 0x41b3de4355555557: "333333333.33333343",
		0xbecbf647612f3696: "-0.0000033333333333333333",
	}
	for bits, want := range numbers {
		literal := json.Number(strings.ToLower(formatE(math.Float64frombits(bits))))
		if got, err := Canonical([]byte(literal)); err != nil || string(got) != want {
			t.Errorf("%s: %s, %v; want %s", literal, got, err, want)
		}
	}
	in := "{\"\u20ac\":1,\"\\r\":2,\"\ufb33\":3,\"1\":4,\"\U0001f600\":5,\"\u0080\":6,\"\u00f6\":7}"
	want := "{\"\\r\":2,\"1\":4,\"\u0080\":6,\"\u00f6\":7,\"\u20ac\":1,\"\U0001f600\":5,\"\ufb33\":3}"
	if got, err := Canonical([]byte(in)); err != nil || string(got) != want {
		t.Errorf("%s, %v", got, err)
	}
	in = `"\u20ac$\u000F\u000aA'\u0042\u0022\u005c\\\"\/\u2028<&>"`
	want = "\"\u20ac$\\u000f\\nA'B\\\"\\\\\\\\\\\"/\u2028<&>\""
	if got, err := Canonical([]byte(in)); err != nil || string(got) != want {
		t.Errorf("%s, %v", got, err)
	}
	for _, bad := range []string{"1e400", "9007199254740992", "-9007199254740992", "1e20", "1e22", "NaN", "01", "+1", "1 2", "\ufeff1"} {
		if got, err := Canonical([]byte(bad)); err == nil {
			t.Errorf("%s passes as %s", bad, got)
		}
	}
}

func formatE(f float64) string {
	text, err := json.Marshal(f)
	if err != nil {
		panic(err)
	}
	if !strings.ContainsAny(string(text), ".e") {
		return string(text) + ".0"
	}
	return string(text)
}

func TestCanonicalIsOneForm(t *testing.T) {
	leaf := rapid.OneOf(
		rapid.Map(rapid.Float64Range(-1e15, 1e15), func(f float64) any { return f }),
		rapid.Map(rapid.String(), func(s string) any { return strings.ReplaceAll(strings.ToValidUTF8(s, "?"), "\ufffd", "?") }),
		rapid.Map(rapid.Bool(), func(b bool) any { return b }),
	)
	rapid.Check(t, func(t *rapid.T) {
		tree := map[string]any{}
		for range rapid.IntRange(0, 6).Draw(t, "n") {
			key := strings.ReplaceAll(strings.ToValidUTF8(rapid.String().Draw(t, "key"), "?"), "\ufffd", "?")
			tree[key] = []any{leaf.Draw(t, "a"), map[string]any{"b": leaf.Draw(t, "b")}}
		}
		text, err := json.MarshalIndent(tree, " ", "\t")
		if err != nil {
			t.Fatal(err)
		}
		once, err := Canonical(text)
		if err != nil {
			t.Fatal(err)
		}
		twice, err := Canonical(once)
		if err != nil || !bytes.Equal(once, twice) {
			t.Fatalf("%s becomes %s, %v", once, twice, err)
		}
		var back map[string]any
		if err := json.Unmarshal(once, &back); err != nil {
			t.Fatal(err)
		}
		again, err := json.Marshal(back)
		if err != nil {
			t.Fatal(err)
		}
		if same, err := Canonical(again); err != nil || !bytes.Equal(same, once) {
			t.Fatalf("the meaning changed: %s, %s", same, once)
		}
	})
}
