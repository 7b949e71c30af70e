package xlsx_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/xuri/excelize/v2"

	"github.com/noren-privacy/noren"
	"github.com/noren-privacy/noren/table/tabletest"
	"github.com/noren-privacy/noren/table/xlsx"
)

var hiddenRows = [][]any{{"id", "age", "note", "sex"}, {1, 20, "a", "F"}, {2, 30, "b", "M"}, {3, 40, "c", "F"}}

// Rows and columns that are hidden, by whatever means, are refused while nothing was
// decided about them, and read or left out as it was decided.
func TestHidden(t *testing.T) {
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []struct {
		name    string
		hide    func(f *excelize.File)
		rows    int64
		columns []string
		left    [][]string // with names
	}{
		{
			"a row", func(f *excelize.File) { must(f.SetRowVisible("Sheet1", 3, false)) }, 1, nil,
			[][]string{{"id", "age", "note", "sex"}, {"1", "20", "a", "F"}, {"3", "40", "c", "F"}},
		},
		{
			"a row without height", func(f *excelize.File) { must(f.SetRowHeight("Sheet1", 2, 0)) }, 1, nil,
			[][]string{{"id", "age", "note", "sex"}, {"2", "30", "b", "M"}, {"3", "40", "c", "F"}},
		},
		{"a filtered row", func(f *excelize.File) {
			must(f.AutoFilter("Sheet1", "A1:D4", []excelize.AutoFilterOptions{{Column: "D", Expression: "x == F"}}))
			must(f.SetRowVisible("Sheet1", 3, false))
		}, 1, nil, [][]string{{"id", "age", "note", "sex"}, {"1", "20", "a", "F"}, {"3", "40", "c", "F"}}},
		{
			"a column", func(f *excelize.File) { must(f.SetColVisible("Sheet1", "C", false)) }, 0,
			[]string{"note"},
			[][]string{{"id", "age", "sex"}, {"1", "20", "F"}, {"2", "30", "M"}, {"3", "40", "F"}},
		},
		{"the first and the last column", func(f *excelize.File) {
			must(f.SetColVisible("Sheet1", "A", false))
			must(f.SetColVisible("Sheet1", "D:Z", false))
		}, 0, []string{"id", "sex"}, [][]string{{"age", "note"}, {"20", "a"}, {"30", "b"}, {"40", "c"}}},
		{"rows and columns", func(f *excelize.File) {
			must(f.SetColVisible("Sheet1", "B:C", false))
			must(f.SetRowVisible("Sheet1", 2, false))
			must(f.SetRowVisible("Sheet1", 4, false))
		}, 2, []string{"age", "note"}, [][]string{{"id", "sex"}, {"2", "M"}}},
		{
			"the names", func(f *excelize.File) { must(f.SetRowVisible("Sheet1", 1, false)) }, 1, nil,
			[][]string{{"1", "20", "a", "F"}, {"2", "30", "b", "M"}, {"3", "40", "c", "F"}},
		},
		{"rows without values", func(f *excelize.File) {
			must(f.SetRowVisible("Sheet1", 9, false))
			must(f.SetColVisible("Sheet1", "F", false))
		}, 0, nil, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			path := write(t, hiddenRows, c.hide)
			_, err := open(t, path, xlsx.Options{})
			if c.rows == 0 && c.columns == nil {
				if err != nil {
					t.Errorf("nothing of the table is hidden: %v", err)
				}
				return
			}
			if noren.CodeOf(err) != xlsx.CodeHidden || noren.KindOf(err) != noren.Usage {
				t.Fatalf("undecided: got %v", err)
			}
			for _, name := range c.columns {
				if !strings.Contains(err.Error(), name) {
					t.Errorf("%v does not name column %s", err, name)
				}
			}
			for _, policy := range []xlsx.Policy{xlsx.Read, xlsx.Look} {
				src, err := open(t, path, xlsx.Options{Hidden: policy})
				if err != nil {
					t.Fatal(err)
				}
				if got := tabletest.Texts(t, src); len(got) != 3 || len(got[0]) != 4 {
					t.Errorf("read: got %v", got)
				}
				if diff := cmp.Diff(xlsx.Hidden{Rows: c.rows, Columns: c.columns}, src.Hidden); diff != "" {
					t.Error(diff)
				}
				if len(src.FileNotes()) != 1 {
					t.Errorf("notes %q", src.FileNotes())
				}
			}
			src, err := open(t, path, xlsx.Options{Hidden: xlsx.Leave})
			if err != nil {
				t.Fatal(err)
			}
			var names []string
			for _, column := range src.Columns() {
				names = append(names, column.Name)
			}
			if diff := cmp.Diff(c.left, append([][]string{names}, tabletest.Texts(t, src)...)); diff != "" {
				t.Errorf("left: %s", diff)
			}
			if diff := cmp.Diff(xlsx.Hidden{Rows: c.rows, Columns: c.columns}, src.Hidden); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// A row that was said to hold the names does, hidden or not; and formulas without a value,
// merged cells and values beside the table do not matter where they are left out.
func TestHiddenNames(t *testing.T) {
	path := write(t, append([][]any{{"a title"}}, hiddenRows...), func(f *excelize.File) {
		_ = f.SetRowVisible("Sheet1", 2, false)
		_ = f.SetColVisible("Sheet1", "C", false)
		_ = f.SetRowVisible("Sheet1", 5, false)
		_ = f.MergeCell("Sheet1", "C3", "C4")
		_ = f.SetCellFormula("Sheet1", "C4", "1+1")
		_ = f.SetCellValue("Sheet1", "F5", "beside")
	})
	src, err := open(t, path, xlsx.Options{HeaderRow: 2, Hidden: xlsx.Leave})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([][]string{{"1", "20", "F"}, {"2", "30", "M"}}, tabletest.Texts(t, src)); diff != "" {
		t.Error(diff)
	}
}

// The first visible sheet is the default; a hidden one is read by its name.
func TestHiddenSheet(t *testing.T) {
	path := write(t, hiddenRows, func(f *excelize.File) {
		for _, name := range []string{"very", "seen"} {
			_, _ = f.NewSheet(name)
			_ = f.SetCellValue(name, "A1", "n")
			_ = f.SetCellValue(name, "A2", name)
		}
		f.SetActiveSheet(2)
		_ = f.SetSheetVisible("Sheet1", false)
		_ = f.SetSheetVisible("very", false, true)
	})
	for sheet, want := range map[string]string{"": "seen", "very": "very", "2": "very"} {
		src, err := open(t, path, xlsx.Options{Sheet: sheet})
		if err != nil {
			t.Fatal(err)
		}
		if got := tabletest.Texts(t, src)[0][0]; got != want {
			t.Errorf("sheet %q: got %s, want %s", sheet, got, want)
		}
		if noted := len(src.FileNotes()) == 1; noted != (sheet == "") {
			t.Errorf("sheet %q: notes %q", sheet, src.FileNotes())
		}
	}
}
