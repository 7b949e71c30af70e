package service_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/xuri/excelize/v2"

	"github.com/noren-privacy/noren/api"
	"github.com/noren-privacy/noren/service"
	"github.com/noren-privacy/noren/spec"
)

// Rows of totals and notes are counted in a file and in a folder of files, and are a warning, which a front
// end adds a hint to, until they are decided on.
func TestTotalsAreAWarningUntilDecided(t *testing.T) {
	dir := t.TempDir()
	folder, file := filepath.Join(dir, "parts"), filepath.Join(dir, "one.csv")
	must(t, os.Mkdir(folder, 0o700))
	const text = "ward,age,cost\nA,1,3\nB,2,4\nA,5,4\n合計,,11\n"
	write(t, file, text)
	write(t, filepath.Join(folder, "a.csv"), text)
	write(t, filepath.Join(folder, "b.csv"), text)
	books, noted := filepath.Join(dir, "books"), filepath.Join(dir, "noted.csv")
	must(t, os.Mkdir(books, 0o700))
	for i, name := range []string{"a.xlsx", "b.xlsx"} {
		f := excelize.NewFile()
		for j, row := range [][]any{{"ward", "age", "cost"}, {"A", i + 1, 3}, {"B", 2, 4}, {"合計", nil, 7}, {"※単位は円"}} {
			must(t, f.SetSheetRow("Sheet1", fmt.Sprintf("A%d", j+1), &row))
		}
		must(t, f.SaveAs(filepath.Join(books, name)))
	}
	write(t, noted, text+"\n出典: 医療課,,\n以上,,\n")
	for input, rows := range map[string]string{file: "1 row", folder: "2 rows", books: "4 rows", noted: "3 rows"} {
		for policy, code := range map[string]string{"": "totals", "read": "totals-decided", "leave": "totals-decided"} {
			var notes []api.Note
			s := &service.Service{Note: func(n api.Note) { notes = append(notes, n) }}
			made, err := s.Propose(t.Context(), &api.ProposeRequest{
				Table: api.Table{Input: input, Spec: &spec.Spec{Input: spec.Input{Totals: policy}}},
			})
			must(t, err)
			said := 0
			for _, n := range notes {
				if strings.HasPrefix(n.Code, "totals") {
					said++
					if n.Code != code || !strings.Contains(n.Text, rows) || (n.Level == api.Warning) != (policy == "") {
						t.Errorf("%s, %q: %+v", input, policy, n)
					}
				}
			}
			if said != 1 {
				t.Errorf("%s, %q: said %d times: %+v", input, policy, said, notes)
			}
			if asks := strings.Contains(string(made.Specification), "# totals: leave"); asks != (policy == "") {
				t.Errorf("%s, %q: the specification asks: %v\n%s", input, policy, asks, made.Specification)
			}
		}
	}
}
