package file

import (
	"context"
	"strings"
	"testing"

	"github.com/noren-privacy/noren"
	"github.com/noren-privacy/noren/table"
	"github.com/noren-privacy/noren/table/csvio"
)

func TestWithNumbers(t *testing.T) {
	open := func(text string) (Source, []table.Field) {
		t.Helper()
		src, err := OpenStdin(context.Background(), strings.NewReader(text), Options{Name: "in.csv", Encoding: csvio.UTF8})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = src.Close() })
		return src, []table.Field{{Name: "a", Type: table.Decimal, Number: "1.234,5"}, {Name: "b"}}
	}
	src, fields := open("a;b\n1.234,5;1.234,5\nNA;x\n7;y\n")
	plain, fields, err := WithNumbers(src, fields)
	if err != nil {
		t.Fatal(err)
	}
	got, err := table.Read(context.Background(), plain, fields, table.ReadOptions{Missing: []string{"NA"}})
	if err != nil {
		t.Fatal(err)
	}
	if a := got.Columns[0]; a.Floats[0] != 1234.5 || !a.IsMissing(1) || a.Floats[2] != 7 || a.Places != 1 {
		t.Errorf("got %v, %d places", a.Floats, a.Places)
	}
	if b := got.Columns[1]; b.Dict[0] != "1.234,5" {
		t.Errorf("a column without a format was rewritten: %q", b.Dict)
	}
	if d := DialectFor("out.csv", plain); d.Delimiter != ';' {
		t.Errorf("the dialect of the source is lost: %q", d.Delimiter)
	}
	if same, _, err := WithNumbers(src, []table.Field{{Name: "a"}, {Name: "b"}}); err != nil || same != src {
		t.Errorf("without formats: got %v, %v", same, err)
	}
	src, fields = open("a;b\n1,5;x\n1.5;y\n")
	if plain, fields, err = WithNumbers(src, fields); err != nil {
		t.Fatal(err)
	}
	_, err = table.Read(context.Background(), plain, fields, table.ReadOptions{})
	if noren.KindOf(err) != noren.BadData || !strings.Contains(err.Error(), "line 3, column 1 (a)") || strings.Contains(err.Error(), "1.5") {
		t.Errorf("two formats in a column: got %v", err)
	}
}
