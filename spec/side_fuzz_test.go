package spec_test

import (
	"strings"
	"testing"

	"github.com/noren-privacy/noren/internal/meter/metertest"
	"github.com/noren-privacy/noren/spec"
)

// Whatever a side file holds, its records are read within the memory of the limits.
func FuzzSideRows(f *testing.F) {
	for _, text := range []string{
		"a;b;*\n", "value,group,*\na,b,*\n", strings.Repeat(",", 60_000), "\"" + strings.Repeat("a\n", 20_000),
		"\xef\xbb\xbf\xef\xbb\xbfa\n", "\xff\xfea\x00\n\x00",
	} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		metertest.Hold(t, len(text))
		rows, _, err := spec.SideRows("h.csv", text)
		if err != nil {
			return
		}
		_, _ = rows.ReadAll() // faults are for the caller to say
	})
}
