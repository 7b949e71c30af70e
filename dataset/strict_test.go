package dataset

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/noren-privacy/noren"
)

// Definitions read the strict form alone: what table/csvio reads besides is
// refused by them, so that existing definitions read what they read.
func TestStrictForm(t *testing.T) {
	for _, e := range []string{"utf-16le", "utf-16be", "euc-jp", "iso-2022-jp", "latin-1", "windows-1252"} {
		d := &Definition{File: File{Encoding: e}, Columns: []Column{{Name: "a"}}}
		if err := d.Validate(); noren.KindOf(err) != noren.Usage || !strings.Contains(err.Error(), "expected utf-8 or shift_jis, got "+e) {
			t.Errorf("%s: got %v", e, err)
		}
	}
	d, err := (&Definition{File: File{Delimiter: ";"}, Columns: []Column{{Name: "a"}, {Name: "b"}}}).Complete()
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{
		"sep": "sep=;\na;b\n1;2\n", "trailing": "a;b;\n1;2;\n", "CR": "a;b\r1;2\r", "UTF-16": "\xff\xfea\x00;\x00b\x00\n\x00",
	} {
		path := filepath.Join(t.TempDir(), "in.csv")
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		f, err := os.Open(path)
		if err != nil {
			t.Fatal(err)
		}
		src, err := Open(context.Background(), f, "in.csv", d)
		if err == nil {
			_ = src.Close()
			t.Errorf("%s was opened", name)
			continue
		}
		if noren.CodeOf(err) != "structure" {
			t.Errorf("%s: got %v, want the code structure", name, err)
		}
	}
}
