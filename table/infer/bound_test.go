package infer_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/noren-privacy/noren"
	"github.com/noren-privacy/noren/internal/meter"
	"github.com/noren-privacy/noren/table/file"
	"github.com/noren-privacy/noren/table/infer"
)

// lookWithin makes a table of that shape and looks at it within 16 MB.
func lookWithin(t *testing.T, columns, rows int, cell func(row, column int) string) (*infer.Report, error) {
	t.Helper()
	var b strings.Builder
	for row := -1; row < rows; row++ {
		for c := range columns {
			if c > 0 {
				b.WriteByte(',')
			}
			if row < 0 {
				fmt.Fprintf(&b, "c%d", c)
			} else {
				b.WriteString(cell(row, c))
			}
		}
		b.WriteByte('\n')
	}
	path := filepath.Join(t.TempDir(), "in.csv")
	if err := os.WriteFile(path, []byte(b.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	ctx := meter.With(context.Background(), meter.Limits{Held: 16e6})
	src, err := file.Open(ctx, path, file.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = src.Close() }()
	return infer.Infer(ctx, src, infer.Options{})
}

// Columns share one bound: exact counts are given up before a table is refused.
func TestColumnsShareMemory(t *testing.T) {
	words := func(row, column int) string { return fmt.Sprintf("w%dx%d", row, column) }
	r, err := lookWithin(t, 100, 2000, words)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range r.Columns {
		if d := c.Distinct; !c.Estimated || d < 1900 || d > 2100 {
			t.Errorf("%d distinct values, estimated %t, want about 2000", d, c.Estimated)
		}
	}
	if r, err = lookWithin(t, 3, 2000, words); err != nil || r.Columns[0].Estimated || r.Columns[0].Distinct != 2000 {
		t.Errorf("a table that fits: %v", err)
	}
	_, err = lookWithin(t, 15_000, 60, words)
	if noren.CodeOf(err) != meter.Code || !strings.Contains(err.Error(), "in.csv: line ") {
		t.Errorf("a table of too many columns: %v", err)
	}
	_, err = lookWithin(t, 40_000, 1, words)
	if noren.CodeOf(err) != meter.Code {
		t.Errorf("a table of far too many columns: %v", err)
	}
}
