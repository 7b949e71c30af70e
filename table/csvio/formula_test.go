package csvio

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/text/encoding/japanese"

	"github.com/noren-privacy/noren"
	"github.com/noren-privacy/noren/table"
	"github.com/noren-privacy/noren/table/formula"
)

var formulaRows = [][]string{
	{"=1+1", "-5", "東京"},
	{"\t@x", "'=1", "＝1"},
	{"", "''-a", "-"},
	{"'x", "+81-90", "a\n=1"},
}

// Formulas are counted, of keep they are written as they are, of text with a mark that the
// reader takes off again.
func TestFormulas(t *testing.T) {
	t.Parallel()
	names := []string{"=a", "'=b", "c"}
	for _, d := range []Dialect{{}, {Delimiter: '\t'}, {Encoding: ShiftJIS}, {Encoding: UTF16LE, BOM: true}, {Compression: Gzip}} {
		for _, choice := range []formula.Choice{formula.Keep, formula.Text} {
			d := d
			d.Formulas = choice
			t.Run(fmt.Sprintf("%q %s %s %s", d.Delimiter, d.Encoding.title(), d.Compression, choice), func(t *testing.T) {
				t.Parallel()
				path, found := writeCounted(t, d, names, formulaRows, 1)
				if diff := cmp.Diff(formula.Count{Cells: []int64{2, 1, 1}, Names: []bool{true, false, false}}, found); diff != "" {
					t.Error(diff)
				}
				gotNames, got, err := read(path, Options{Name: path, Formulas: choice})
				if err != nil {
					t.Fatal(err)
				}
				if diff := cmp.Diff(append([][]string{names}, formulaRows...), append([][]string{gotNames}, got...)); diff != "" {
					t.Error(diff)
				}
				_, plain, err := read(path, Options{Name: path})
				if err != nil {
					t.Fatal(err)
				}
				for _, row := range plain {
					for _, cell := range row {
						if choice == formula.Text && formula.Is([]byte(cell)) {
							t.Errorf("%q is a formula in the file", cell)
						}
					}
				}
			})
		}
	}
}

// Chunks whose lines are made side by side have the same counts and bytes as others, also
// where a run failed and the chunk is written record by record.
func TestFormulasOfLargeChunks(t *testing.T) {
	t.Parallel()
	d := Dialect{Formulas: formula.Text}
	one, few := writeCounted(t, d, []string{"a", "b", "c"}, formulaRows, 1)
	large, many := writeCounted(t, d, []string{"a", "b", "c"}, formulaRows, 2000)
	for i := range many.Cells {
		if many.Cells[i] != 2000*few.Cells[i] {
			t.Errorf("column %d: %d cells, expected 2,000 times %d", i, many.Cells[i], few.Cells[i])
		}
	}
	a, err := os.ReadFile(one)
	if err != nil {
		t.Fatal(err)
	}
	b, err := os.ReadFile(large)
	if err != nil {
		t.Fatal(err)
	}
	body := bytes.TrimPrefix(a, []byte("a,b,c\n"))
	if want := append([]byte("a,b,c\n"), bytes.Repeat(body, 2000)...); !bytes.Equal(b, want) {
		t.Error("the file of a large chunk is not that of small ones")
	}
}

func writeCounted(t *testing.T, d Dialect, names []string, rows [][]string, times int) (path string, found formula.Count) {
	t.Helper()
	var columns []table.StoredColumn
	chunk := table.Chunk{Rows: times * len(rows), Cols: make([]table.Vector, len(names))}
	for i, name := range names {
		columns = append(columns, table.StoredColumn{Name: name})
		for range times {
			for _, row := range rows {
				chunk.Cols[i].Texts = append(chunk.Cols[i].Texts, []byte(row[i]))
			}
		}
	}
	path = filepath.Join(t.TempDir(), "t.csv")
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = f.Close() }()
	s, err := NewSink(f, path, columns, d)
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Write(&chunk); err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	return path, s.Formulas()
}

// A file with a formula was not written with formulas as text. The error names the place,
// never the text.
func TestFormulaInTextForm(t *testing.T) {
	t.Parallel()
	sjis, err := japanese.ShiftJIS.NewEncoder().String("a,b\nx,＝秘密\n")
	if err != nil {
		t.Fatal(err)
	}
	for text, where := range map[string]string{
		"a,=b\n1,2\n": "line 1, column 2", "a,b\n1,2\n3,\"=secret\"\n": "line 3, column 2 (b)",
		"a,b\n\"\n\",\"\t@secret\"\n": "line 3, column 2 (b)", sjis: "line 2, column 2 (b)",
	} {
		path := put(t, "t.csv", text)
		_, _, err := read(path, Options{Name: "t.csv", Formulas: formula.Text})
		var e *noren.Error
		if !errors.As(err, &e) || e.Code != FormulaCode || e.Kind != noren.BadData || e.Place() != "t.csv: "+where {
			t.Errorf("%q: got %v, want a fault at %s", text, err, where)
		}
		if bytes.Contains([]byte(err.Error()), []byte("secret")) {
			t.Errorf("the error holds the text: %v", err)
		}
	}
}
