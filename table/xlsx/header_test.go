package xlsx_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/xuri/excelize/v2"

	"github.com/noren-privacy/noren"
	"github.com/noren-privacy/noren/table/tabletest"
	"github.com/noren-privacy/noren/table/xlsx"
)

// The row of the names is found below titles, and no record is taken for names.
func TestHeaderIsFound(t *testing.T) {
	long := [][]any{{"a", "b"}}
	for i := range 200 {
		long = append(long, []any{i, i})
	}
	for name, c := range map[string]struct {
		rows [][]any
		want string // the names, or a part of the error
		row  int
	}{
		"no title": {[][]any{{"age", "sex"}, {20, "F"}}, "age sex", 1},
		"a title":  {[][]any{{"入院患者一覧"}, {}, {"患者番号", "年齢", "病名"}, {"p1", 70, "肺炎"}}, "患者番号 年齢 病名", 3},
		"a title and a date": {
			[][]any{{"入院患者一覧", nil, nil, "2026-04-01"}, {"作成: 医事課"}, {"患者番号", "年齢", "病名", "病棟"}, {"p1", 70, "肺炎", "A"}},
			"患者番号 年齢 病名 病棟", 3,
		},
		"two levels of names":    {[][]any{{"患者", nil, "入院", nil}, {"番号", "年齢", "病名", "病棟"}, {"p1", 70, "肺炎", "A"}}, "番号 年齢 病名 病棟", 2},
		"numbers, not names":     {[][]any{{"Report"}, {1, 2}, {3, 4}}, "row 2, column B: holds a value beside the table", 0},
		"dates, not names":       {[][]any{{"Report"}, {"x", "2026-04-01"}, {"y", "2026-04-02"}}, "beside the table", 0},
		"addresses, not names":   {[][]any{{"Report"}, {"x", "a@example.org"}, {"y", "b@example.org"}}, "beside the table", 0},
		"a value far below":      {append(long, []any{1, 2, 3}), "row 202, column C: holds a value beside the table", 0},
		"names that occur twice": {[][]any{{"Report"}, {"a", "a"}, {1, 2}}, "beside the table", 0},
	} {
		src, err := open(t, write(t, c.rows, nil), xlsx.Options{})
		if err != nil {
			if !strings.Contains(err.Error(), c.want) || noren.KindOf(err) != noren.BadData {
				t.Errorf("%s: %v", name, err)
			}
			continue
		}
		var names []string
		for _, column := range src.Columns() {
			names = append(names, column.Name)
		}
		if got := strings.Join(names, " "); got != c.want || src.Header != c.row {
			t.Errorf("%s: row %d names %s, want row %d and %s", name, src.Header, got, c.row, c.want)
		}
		if note := src.HeaderNote(); !note.IsZero() != (c.row > 1) {
			t.Errorf("%s: the note is %q", name, note)
		}
	}
}

// Rows of totals are refused while nothing was decided about them, and read or left out as
// it was decided.
func TestTotals(t *testing.T) {
	names := []any{"id", "ward", "stay"}
	for i, c := range []struct {
		row  []any
		is   bool
		also func(f *excelize.File)
	}{
		{[]any{"合計", nil, 12}, true, nil},
		{[]any{nil, " 総 計 ", 12}, true, nil},
		{[]any{"計："}, true, nil},
		{[]any{"Grand Total", nil, 12}, true, nil},
		{[]any{"合計", nil, 12}, true, func(f *excelize.File) {
			if err := f.MergeCell("Sheet1", "A4", "B4"); err != nil {
				t.Fatal(err)
			}
		}},
		{[]any{"合計", "A", 12}, false, nil}, // a record whose id is a word
		{[]any{"合計額", nil, 12}, false, nil},
		{[]any{nil, nil, 12}, true, nil}, // no record follows
		{[]any{"※単位は円"}, true, func(f *excelize.File) {
			if err := f.MergeCell("Sheet1", "A4", "C5"); err != nil {
				t.Fatal(err)
			}
		}},
		{[]any{"以上"}, true, nil},
		{[]any{"注1)", "単位は円"}, true, nil},
		{[]any{"p3", "B"}, false, nil},
		{[]any{"", "", ""}, true, nil}, // formulas that yield no text
	} {
		t.Run(fmt.Sprint(c.row), func(t *testing.T) {
			path := write(t, [][]any{names, {"p1", "A", 4}, {"p2", "B", 8}, c.row}, c.also)
			_, err := open(t, path, xlsx.Options{})
			if refused := noren.CodeOf(err) == xlsx.CodeTotals; refused != c.is || !refused && err != nil {
				t.Fatalf("%d: refused: %v", i, err)
			}
			for policy, want := range map[xlsx.Policy]int{xlsx.Look: 3, xlsx.Read: 3, xlsx.Leave: 2} {
				src, err := open(t, path, xlsx.Options{Totals: policy})
				if c.also != nil && policy == xlsx.Read {
					if noren.KindOf(err) != noren.BadData { // its cells would be missing values
						t.Errorf("merged cells are read: %v", err)
					}
					continue
				}
				if err != nil {
					t.Fatal(err)
				}
				if !c.is {
					want = 3
				}
				if rows := tabletest.Texts(t, src); len(rows) != want || (src.Totals() > 0) != c.is {
					t.Errorf("%v: %d records, want %d; %d totals", policy, len(rows), want, src.Totals())
				}
			}
		})
	}
	two, err := open(t, write(t, [][]any{{"ward", "beds"}, {"A", 4}, {"合計", 4}}, nil), xlsx.Options{})
	if err != nil || two.Totals() != 0 {
		t.Errorf("a table of two columns: %v", err) // its records look no different
	}
}
