package csvio_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/noren-privacy/noren"
	"github.com/noren-privacy/noren/internal/meter/metertest"
	"github.com/noren-privacy/noren/table/csvio"
)

func openText(t testing.TB, text string, h csvio.Header) (*csvio.Source, error) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "in.csv")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	src, err := csvio.Open(context.Background(), path, csvio.Options{Name: "in.csv", Delimiter: ',', Header: h})
	if err == nil {
		t.Cleanup(func() { _ = src.Close() })
	}
	return src, err
}

func TestFirstLineThatLooksLikeData(t *testing.T) {
	for name, c := range map[string]struct {
		text string
		data bool
	}{
		"adult without names": {"39,State-gov,s3cr3t\n50,Private,x\n", true},
		"a date":              {"s3cr3t,2024-01-05\na,2024-02-06\n", true},
		"a Japanese date":     {"s3cr3t,令和6年1月5日\n", true},
		"an address":          {"s3cr3t@example.org,x\n", true},
		"a telephone":         {"s3cr3t,090-1234-5678\n", true},
		"words that recur":    {"s3cr3t,Nara,flu\nKim,Nara,cold\nLee,Kobe,flu\n", true},
		"one column":          {"Nara\nKobe\nNara\n", true},
		"negative":            {"-1,a\n", true},
		"two numbers":         {"5,17,s3cr3t\n", true},

		"names":                {"age,sex,city\n30,f,Nara\n31,m,Kobe\n", false},
		"Japanese names":       {"氏名,年齢,住所\n佐藤,30,奈良\n", false},
		"years as names":       {"country,2019,2020,2021\nA,1,2,3\n", false},
		"places as names":      {"1,2,3\n7,8,9\n", false},
		"a value like a name":  {"id,smoker,age\n1,smoker,30\n2,no,31\n", false},
		"the header once more": {"a,b\n1,2\na,b\n3,4\n", false},
		"no records":           {"age,sex\n", false},
		"one name":             {"age\n30\n31\n", false},
		"numbered names":       {"V1,V2,V3\n1,2,3\n", false},
		"a code with digits":   {"icd10,x2024\nE11,1\n", false},
		"ragged below":         {"a,b\n1\n", false},
	} {
		_, err := openText(t, c.text, csvio.HeaderChecked)
		if refused := noren.CodeOf(err) == csvio.FirstLineCode; refused != c.data || !refused && err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if err != nil && (strings.Contains(err.Error(), "s3cr3t") || strings.Contains(err.Error(), "Nara") || noren.KindOf(err) != noren.Usage) {
			t.Errorf("%s: %v", name, err)
		}
		if _, err := openText(t, c.text, csvio.HeaderNames); err != nil {
			t.Errorf("%s, taken for names: %v", name, err)
		}
	}
}

// Without a header every line is a record, and columns are numbered.
func TestHeaderAbsent(t *testing.T) {
	src, err := openText(t, "39,x\n\n50,y\n", csvio.HeaderAbsent)
	if err != nil {
		t.Fatal(err)
	}
	if c := src.Columns(); len(c) != 2 || c[0].Name != "c1" || c[1].Name != "c2" {
		t.Errorf("columns %+v", c)
	}
	for range 2 { // it can be read twice
		r, err := src.Open(context.Background(), nil)
		if err != nil {
			t.Fatal(err)
		}
		chunk, err := r.Next()
		if err != nil || chunk.Rows != 2 || string(chunk.Cols[0].Texts[0]) != "39" || string(chunk.Cols[1].Texts[1]) != "y" {
			t.Errorf("%+v, %v", chunk, err)
		}
		if at := r.Position(1, 0).String(); !strings.Contains(at, "line 3, column 1 (c1)") {
			t.Error(at)
		}
		_ = r.Close()
	}
	src, err = openText(t, "a,a\n1,2,3\n", csvio.HeaderAbsent)
	if err != nil {
		t.Fatal(err)
	}
	r, err := src.Open(context.Background(), nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, err = r.Next(); err == nil {
		_, err = r.Next()
	}
	if noren.KindOf(err) != noren.BadData || !strings.Contains(err.Error(), "line 2: 3 fields, expected 2") {
		t.Error(err)
	}
}

// No file's first line gets into an error, and a file that passes the check opens
// as one whose first line is taken for names.
func FuzzFirstLine(f *testing.F) {
	for _, text := range []string{"a,b\n1,2\n", "39,x\n", "\"a\nb\",c\n", "a@b.example,c\n", "2019,2020\n", "x\nx\n", ",\n", "\xff,a\n"} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		metertest.Hold(t, len(text))
		checked, err := openText(t, string(text), csvio.HeaderChecked)
		names, err2 := openText(t, string(text), csvio.HeaderNames)
		if err == nil {
			if err2 != nil || len(checked.Columns()) != len(names.Columns()) {
				t.Fatalf("checked it opens, unchecked not: %v", err2)
			}
			return
		}
		if noren.CodeOf(err) == csvio.FirstLineCode && names != nil {
			for _, c := range names.Columns() {
				if len(c.Name) > 8 && strings.Contains(err.Error(), c.Name) &&
					!strings.Contains("expected the names of the columns, got what looks like a record: of fields are numbers, dates, addresses or "+
						"values of their own column say whether the first line holds", c.Name) {
					t.Fatalf("the error holds a field: %v", err)
				}
			}
		}
	})
}
