package ledger

import (
	"os"
	"strings"
	"testing"

	"github.com/noren-privacy/noren"
	"github.com/noren-privacy/noren/internal/meter"
	"github.com/noren-privacy/noren/internal/meter/metertest"
)

// A head file or an anchor with a line that no ledger writes seals the ledger, and is not
// taken into memory.
func TestLinesOfAnyLength(t *testing.T) {
	for name, of := range map[string]func(f *fixture, anchor string) string{
		"its head file has a line of more than 16 MiB": func(f *fixture, _ string) string { return headPath(f.path) },
		"its anchor has a line of more than 16 MiB":    func(_ *fixture, anchor string) string { return anchor },
	} {
		f, anchor := anchoredFixture(t)
		if err := os.Truncate(of(f, anchor), 1<<30); err != nil {
			t.Fatal(err)
		}
		most := metertest.Peak(t, func() {
			l, err := Open(t.Context(), f.path, Options{Anchor: anchor})
			if err == nil {
				err = l.Sealed()
				defer l.Close()
			}
			if err == nil || !strings.Contains(err.Error(), name) {
				t.Errorf("%s: %v", name, err)
			}
			if l == nil {
				return
			}
			if err := l.eachHeadLine(t.Context(), func([]byte) error { return nil }); strings.Contains(name, "head") &&
				noren.CodeOf(err) != meter.Code {
				t.Error(err)
			}
		})
		if most > 200e6 {
			t.Errorf("%s: took %d MB", name, most/1e6)
		}
	}
}
