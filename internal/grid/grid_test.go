package grid

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
	"text/tabwriter"

	"pgregory.net/rapid"
)

func printed(width int, text string) string {
	var out bytes.Buffer
	w := NewWidth(&out, width)
	fmt.Fprint(w, text)
	if err := w.Flush(); err != nil {
		panic(err)
	}
	return out.String()
}

// TestLikeTabwriter compares plain ASCII tables with text/tabwriter.
func TestLikeTabwriter(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.StringMatching(`([a-z 0-9]{0,6}\t?){0,4}(\n([a-z 0-9]{0,6}\t?){0,4}){0,6}\n`).Draw(t, "text")
		var out bytes.Buffer
		w := tabwriter.NewWriter(&out, 0, 0, gap, ' ', 0)
		fmt.Fprint(w, text)
		_ = w.Flush()
		if got, want := trimmed(printed(0, text)), trimmed(out.String()); got != want {
			t.Fatalf("%q:\n%q\nwant\n%q", text, got, want)
		}
	})
}

// trimmed cuts spaces at the ends of lines: text/tabwriter prints columns of empty cells
// without a gap.
func trimmed(text string) string {
	lines := strings.Split(text, "\n")
	for i := range lines {
		lines[i] = strings.TrimRight(lines[i], " ")
	}
	return strings.Join(lines, "\n")
}

func TestJapanese(t *testing.T) {
	got := printed(0, "列\t型\t役割\n年齢\tinteger\t準識別子\n性別\tcategory\tother\nが\tx\ty\n")
	want := "列    型        役割\n年齢  integer   準識別子\n性別  category  other\nが    x         y\n"
	if got != want {
		t.Errorf("got\n%swant\n%s", got, want)
	}
}

func TestNarrow(t *testing.T) {
	const text = "column\tvalues\trole\treason\n" +
		"a column of a very long name indeed\t1234567890\tquasi-identifier\tothers may know it from papers and from talk at work\n" +
		"住所\t12\tidentifier\t他の人が知りうる列なので、公開の前に落とします。確かめてください\n"
	for _, width := range []int{40, 60, 80, 120} {
		for line := range strings.Lines(printed(width, text)) {
			if n := Width(strings.TrimSuffix(line, "\n")); n > width && width > 40 {
				t.Errorf("width %d: a line of %d cells: %s", width, n, line)
			}
		}
		if out := printed(width, text); !strings.Contains(out, "1234567890") {
			t.Errorf("width %d: a number was cut:\n%s", width, out)
		}
	}
	if got, want := printed(60, "name\tplain\nx\tone two three four five six seven eight nine ten eleven twelve\n"),
		"name  plain\nx     one two three four five six seven eight nine ten\n      eleven twelve\n"; got != want {
		t.Errorf("got\n%swant\n%s", got, want)
	}
}

func TestCut(t *testing.T) {
	for _, c := range []struct {
		text string
		n    int
		want string
	}{
		{"abc", 3, "abc"},
		{"abcd", 3, "ab…"},
		{"漢字だ", 4, "漢…"},
		{"漢字", 4, "漢字"},
		{"e\u0301e\u0301e\u0301", 2, "e\u0301…"},
		{"abc", 0, ""},
		{"👨‍👩‍👧x", 2, "…"},
	} {
		if got := Cut(c.text, c.n); got != c.want {
			t.Errorf("Cut(%q, %d) = %q, want %q", c.text, c.n, got, c.want)
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		s, n := rapid.String().Draw(t, "text"), rapid.IntRange(1, 20).Draw(t, "n")
		if got := Cut(s, n); Width(got) > n {
			t.Fatalf("Cut(%q, %d) = %q takes %d cells", s, n, got, Width(got))
		}
	})
}
