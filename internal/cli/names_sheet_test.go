package cli_test

import (
	"fmt"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/xuri/excelize/v2"

	"github.com/noren-privacy/noren/internal/randtest"
)

// sheetSession are commands that name the sheet of a workbook, in results, notes, errors and pages.
const sheetSession = `
cp $BOOKS/book.xlsx book.xlsx
cp $BOOKS/empty.xlsx empty.xlsx
noren inspect book.xlsx
noren inspect book.xlsx --json
noren verify book.xlsx --k 2 --quasi age,sex
noren verify book.xlsx --k 5 --quasi age,sex
noren verify book.xlsx --k 2 --quasi age --json
noren verify book.xlsx --k 2 --quasi age --unit none
noren verify empty.xlsx --k 2 --quasi age
noren assess book.xlsx --quasi age,sex --report assess.html
noren assess empty.xlsx --quasi age,sex
noren assess curve book.xlsx --quasi age,sex --k 2,100
noren anonymize book.xlsx --dry-run --k 2 --quasi age
noren anonymize book.xlsx -o out.csv --k 2 --quasi age
noren anonymize book.xlsx -o out.csv --k 2 --quasi age,sex --other ill --report page.html
noren anonymize book.xlsx -o no.csv --k 100 --quasi age,sex --other ill
noren anonymize book.xlsx -o no.csv --k 20 --quasi age --unit ill --other sex
noren anonymize book.xlsx -o no.csv --k 2 --quasi age,sex --other ill --hierarchy sex=lacks.csv
noren anonymize book.xlsx -o book.xlsx --k 2 --quasi age,sex --other ill
noren ledger create
noren ledger grant visits --file book.xlsx --epsilon 1
noren ledger grant visits --file book.xlsx --epsilon 1 --yes
-- lacks.csv --
f,*
`

// A sheet is said in the language of the reader, and its name comes out as it went in, whatever it reads like.
func TestSheetNames(t *testing.T) {
	randtest.SkipShort(t)
	run := func(l, sheet string) []recorded {
		books := t.TempDir()
		writeBook(t, filepath.Join(books, "book.xlsx"), sheet, 12)
		writeBook(t, filepath.Join(books, "empty.xlsx"), sheet, 0)
		t.Setenv("BOOKS", books)
		return (&recorder{t: t, lang: l, numbered: true}).record([]byte(sheetSession))
	}
	const plain = "bikorjax"
	for _, l := range []string{"en", "ja"} {
		want := run(l, plain)
		said, hashed := 0, false
		for _, one := range want {
			said += strings.Count(one.printed, plain)
			hashed = hashed || hashOfBook.MatchString(one.printed)
			if l == "ja" && strings.Contains(sheetInJSON.ReplaceAllString(one.printed, ""), "sheet "+plain) {
				t.Errorf("%s: a sheet is not said in Japanese: %s", one.command, one.printed)
			}
		}
		if said < 12 {
			t.Errorf("%s: the sheet is named %d times", l, said)
		}
		if !hashed {
			t.Errorf("%s: the page does not say the hash of the workbook", l)
		}
		for _, name := range []string{"%d rows", "none", "sheet Visits", "%!d(BADVERB)", "行 2"} {
			for i, got := range run(l, name) {
				w, g := unmeasuredSheet(strings.ReplaceAll(want[i].printed, plain, name)), unmeasuredSheet(got.printed)
				if w != g {
					t.Errorf("%s: %s: want\n%s\ngot\n%s", l, got.command, w, g)
				}
			}
		}
	}
}

// hashOfBook is what a page says of the bytes of the workbook.
var hashOfBook = regexp.MustCompile(`SHA-256 of book\.xlsx|book\.xlsx の SHA-256`)

// sheetInJSON is a member of JSON, which is in English.
var sheetInJSON = regexp.MustCompile(`"file": "[^"]*"`)

// unmeasuredSheet is a text without sizes and times, and without the widths of a table.
func unmeasuredSheet(text string) string {
	return regexp.MustCompile(`[-\s─—]+`).ReplaceAllString(regexp.MustCompile(`\d+(\.\d+)?`).ReplaceAllString(text, "0"), " ")
}

// writeBook writes a workbook of one sheet with n records.
func writeBook(t *testing.T, path, sheet string, n int) {
	t.Helper()
	book := excelize.NewFile()
	defer func() { _ = book.Close() }()
	rows := [][]any{{"age", "sex", "ill"}}
	for i := range n {
		rows = append(rows, []any{20 + i/4, "fm"[i%2 : i%2+1], []string{"flu", "cold", "gout"}[i%3]})
	}
	err := book.SetSheetName("Sheet1", sheet)
	for i, row := range rows {
		if err == nil {
			err = book.SetSheetRow(sheet, fmt.Sprintf("A%d", i+1), &row)
		}
	}
	if err == nil {
		err = book.SaveAs(path)
	}
	if err != nil {
		t.Fatal(err)
	}
}
