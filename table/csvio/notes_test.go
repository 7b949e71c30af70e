package csvio

import (
	"strings"
	"testing"

	"github.com/noren-privacy/noren"
	"github.com/noren-privacy/noren/table"
)

// Rows below a table with a single value are notes, and so are those that begin as notes do
// wherever they are: they are refused, read or left out by the choice for totals.
func TestNotes(t *testing.T) {
	const head, record = "id,ward,stay\n", "p1,A,4\n"
	for tail, notes := range map[string]int{
		"※単位は円,,\n":                       1,
		"注) 2024 年度,,\n出典: 医療課,,\n":       2,
		"Note: rounded,,\n\nSource: us,,": 2,
		"合計,,12\n\n単位なし,,\n":              2,
		"東病棟,,\np9,,\n":                   2, // no record follows
		",,以上\n":                          1,
		"p9,,\np2,B,8\n":                  0, // a record follows
		"注射,,\np2,B,8\n":                  0,
		"※,,\np2,B,8\n":                   1,
		"注射,,\n":                          1,
		",,\nthe ward is coded,,\n,,\n":   3, // as spreadsheets write blank rows
		",,\n,,\n":                        2,
		",,\np2,B,8\n":                    0,
		"注1),単位は円,\n※2,,2024 年度\n":        2,
		"※2,2024 年度,\np2,B,8\n":           0,
		"p2,B,\n":                         0,
	} {
		rest := strings.Count(strings.ReplaceAll(tail, "\n\n", "\n")+"\n", "\n") - strings.Count(tail[len(tail)-1:], "\n")
		for policy, want := range map[Totals]int{TotalsRead: 1 + rest, TotalsLeft: 1 + rest - notes, TotalsRefused: 0} {
			if notes == 0 {
				want = 1 + rest
			}
			src, err := openDetected(t, head+record+tail, Options{Totals: policy})
			if err != nil {
				t.Fatal(err)
			}
			for _, columns := range [][]int{nil, {2}} {
				_, rows, err := readSource(src, columns)
				if refused := noren.CodeOf(err) == table.CodeTotals; refused != (want == 0) || !refused && err != nil {
					t.Fatalf("%q: %v: %v", tail, policy, err)
				}
				if want > 0 && len(rows) != want {
					t.Errorf("%q: %v: %d records, want %d", tail, policy, len(rows), want)
				}
			}
			if n, err := src.CountTotals(t.Context()); err != nil || n != int64(notes) || n != src.Totals() || src.TotalsNote().
				IsZero() != (notes == 0) {
				t.Errorf("%q: %d notes, want %d: %v", tail, n, notes, err)
			}
		}
	}
}

// A note that a text editor wrote below a table has no delimiters: it is left out or refused
// as the others, and is no record.
func TestNotesOfOneField(t *testing.T) {
	for _, note := range []string{"※単位は円", "以上", "※ 1\n以上\n"} {
		for policy, code := range map[Totals]string{TotalsRead: "note-line", TotalsLeft: "", TotalsRefused: table.CodeTotals} {
			src, err := openDetected(t, "id,ward,stay\np1,A,4\np2,B,5\n"+note, Options{Totals: policy})
			if err != nil {
				t.Fatal(err)
			}
			_, rows, err := readSource(src, nil)
			if (err == nil) != (policy == TotalsLeft) || noren.CodeOf(err) != code || err == nil && len(rows) != 2 {
				t.Errorf("%q: %v: %d records, %v", note, policy, len(rows), err)
			}
		}
	}
}

// A table of two columns has notes where they begin as such, and its other short rows are records.
func TestNotesOfTwoColumns(t *testing.T) {
	src, err := openDetected(t, "ward,beds\nA,4\nB,\n※ as of May,\n", Options{Totals: TotalsLeft})
	if err != nil {
		t.Fatal(err)
	}
	if _, rows, err := readSource(src, nil); err != nil || len(rows) != 2 || src.Totals() != 1 {
		t.Errorf("%d records, %d notes, %v", len(rows), src.Totals(), err)
	}
}

// A table whose rows all have one value has records: none of more values is above them.
func TestRowsOfOneValueAreRecords(t *testing.T) {
	src, err := openDetected(t, "id,ward,stay\np1,,\np2,,\n", Options{Totals: TotalsRefused})
	if err != nil {
		t.Fatal(err)
	}
	if _, rows, err := readSource(src, nil); err != nil || len(rows) != 2 || src.Totals() != 0 {
		t.Errorf("%d records, %d notes, %v", len(rows), src.Totals(), err)
	}
	if n, err := src.CountTotals(t.Context()); err != nil || n != 0 {
		t.Errorf("%d notes, %v", n, err)
	}
}
