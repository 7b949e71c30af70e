package service_test

import (
	"io"
	"strings"
	"testing"

	bounds "github.com/noren-privacy/noren/internal/meter"
	"github.com/noren-privacy/noren/internal/meter/metertest"
	"github.com/noren-privacy/noren/internal/randtest"
	"github.com/noren-privacy/noren/service"
)

// repeated is a text many times, of which little is in memory.
func repeated(text string, n int) io.Reader {
	const at = 1 << 10
	block := strings.Repeat(text, at)
	var all []io.Reader
	for range n / at {
		all = append(all, strings.NewReader(block))
	}
	return io.MultiReader(all...)
}

// Lines of an export that state much take no more memory than what the meter allows: they took
// up to 8.6 GB.
func TestLongHostileExports(t *testing.T) {
	randtest.Long(t)
	first := `{"format":"noren.ledger.export/2","ledger":"00","tool":{"name":"noren","version":"1"}}` + "\n"
	for name, text := range map[string]io.Reader{
		"a first line of characters that are escaped": io.MultiReader(strings.NewReader(`{"format":"`), repeated("<", 40<<20),
			strings.NewReader("\"}\n")),
		"an entry of characters that are escaped": io.MultiReader(strings.NewReader(first+`{"entry":2,"kind":"`), repeated("<", 40<<20),
			strings.NewReader("\"}\n")),
		"an entry of bytes that are no text": io.MultiReader(strings.NewReader(first+`{"entry":2,"kind":"`), repeated("\xff", 40<<20),
			strings.NewReader("\"}\n")),
		"an entry of escapes": io.MultiReader(strings.NewReader(first+`{"entry":2,"kind":"grant","body":"`),
			repeated(`\u0001`, 7<<20), strings.NewReader(`","prev":"","hash":""}`+"\n")),
		"a body": io.MultiReader(strings.NewReader(first+`{"entry":2,"kind":"grant","body":"`),
			repeated(`a`, 46<<20), strings.NewReader(`","prev":"","hash":""}`+"\n")),
		"columns": io.MultiReader(
			strings.NewReader(first+`{"entry":2,"kind":"grant","body":"{\\"columns\\":[`), repeated(`{},`, 14<<20),
			strings.NewReader(`{}]}","prev":"`+strings.Repeat("0", 64)+`","hash":"`+strings.Repeat("0", 64)+"\"}\n")),
		"a longer line": io.MultiReader(strings.NewReader(first+`{"entry":2,"kind":"grant","body":"`),
			repeated(`a`, 200<<20), strings.NewReader(`","prev":"","hash":""}`+"\n")),
		"nesting": io.MultiReader(strings.NewReader(first), repeated("[", 46<<20), strings.NewReader("\n")),
		"objects": io.MultiReader(strings.NewReader(first+`{"end":[`), repeated("{},", 15<<20),
			strings.NewReader("{}]}\n")),
	} {
		most := metertest.Peak(t, func() {
			if out, err := service.CheckExport(t.Context(), text); err != nil || out.Sound {
				t.Errorf("%s: %v", name, err)
			}
		})
		t.Logf("%s: %d MB", name, most/1e6)
		if most > bounds.DefaultHeld {
			t.Errorf("%s: took %d MB", name, most/1e6)
		}
	}
}
