package ldp

import (
	"bytes"
	"strings"
	"testing"

	"github.com/noren-privacy/noren"
	"github.com/noren-privacy/noren/internal/randtest"
)

// Every row has a place in a table, and the page shows them all.
func TestTablesAndFigures(t *testing.T) {
	randtest.SkipShort(t)
	rows := collect(t, Options{Repeats: 2})
	tables := Tables(rows)
	want := []struct {
		caption string
		lines   int
	}{
		{"Table 1:", 30},
		{"Table 2:", 6},
		{"Table 3:", 8},
		{"Table 4:", 6},
		{"Table 5:", 6},
		{"Table 6:", 6},
		{"Table 7:", 8},
		{"Table 8:", 6},
		{"Table 9:", 6},
		{"Table 10:", 6},
		{"Figure 2:", 9},
		{"Figure 3:", 6},
		{"Figure 4:", 6},
		{"Figure 5:", 6},
		{"Figure 6:", 9},
		{"The improvement:", 15},
	}
	if len(tables) != len(want) {
		t.Fatalf("%d tables, want %d", len(tables), len(want))
	}
	for i, w := range want {
		if got := tables[i]; !strings.HasPrefix(got.Caption.String(), w.caption) || len(got.Rows) != w.lines {
			t.Errorf("%q with %d lines, want %q with %d", got.Caption, len(got.Rows), w.caption, w.lines)
		}
		for _, line := range tables[i].Rows {
			if len(line) != len(tables[i].Header) || strings.Contains(inRow(line[:len(line)-1]), "||") && !strings.Contains(w.caption, "Table") {
				t.Errorf("%s: line %q under %q", w.caption, line, tables[i].Header)
			}
		}
	}
	if notes := Notes(rows); len(notes) != 5 {
		t.Errorf("notes %q", notes)
	}
	var page bytes.Buffer
	if err := Figures(rows).Write(&page); err != nil {
		t.Fatal(err)
	}
	if n := strings.Count(page.String(), "<svg"); n != 6 {
		t.Errorf("%d pictures, want Figures 2 to 6 and the improvement", n)
	}
	for _, w := range want[10:] {
		if !strings.Contains(page.String(), w.caption) {
			t.Errorf("the page does not show %s", w.caption)
		}
	}
}

// inRow are cells with marks between them.
func inRow(cells []noren.Text) string {
	out := make([]string, len(cells))
	for i, c := range cells {
		out[i] = c.String()
	}
	return strings.Join(out, "|")
}
