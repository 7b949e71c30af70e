package table

import (
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestNearest(t *testing.T) {
	for _, c := range []struct {
		name  string
		among []string
		want  string
	}{
		{"agee", []string{"sex", "age"}, "age"},
		{"AGE", []string{"sex", "age"}, "age"},
		{"ward", []string{"word", "ward"}, "ward"},
		{"wbrd", []string{"word", "ward"}, "word"},
		{"wxyd", []string{"ward"}, "ward"},
		{"wxyz", []string{"ward"}, ""},
		{"age", nil, ""},
		{"outcome", []string{"out"}, ""},
		{"生年月曰", []string{"氏名", "生年月日"}, "生年月日"},
		{"年齢", []string{"性別", "住所"}, ""},
		{"id", []string{"no"}, ""},
	} {
		if got := Nearest(c.name, c.among); got != c.want {
			t.Errorf("Nearest(%q, %q) = %q, want %q", c.name, c.among, got, c.want)
		}
	}
}

// The distance is the length of the shortest path of edits: a definition by
// recursion agrees with the table of the program.
func TestEditDistance(t *testing.T) {
	var slow func(a, b string) int
	slow = func(a, b string) int {
		if a == "" || b == "" {
			return len(a) + len(b)
		}
		if a[0] == b[0] {
			return slow(a[1:], b[1:])
		}
		return 1 + min(slow(a[1:], b), slow(a, b[1:]), slow(a[1:], b[1:]))
	}
	word := rapid.StringMatching("[abc]{0,6}")
	rapid.Check(t, func(t *rapid.T) {
		a, b, limit := word.Draw(t, "a"), word.Draw(t, "b"), rapid.IntRange(1, 8).Draw(t, "limit")
		if got, want := editDistance([]rune(a), []rune(b), limit), min(slow(a, b), limit); got != want {
			t.Fatalf("editDistance(%q, %q, %d) = %d, want %d", a, b, limit, got, want)
		}
	})
	if got := Nearest(strings.Repeat("a", 4), []string{"aaab", "aaaa"}); got != "aaaa" {
		t.Errorf("got %q", got)
	}
}
