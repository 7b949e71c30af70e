package service_test

import (
	"path/filepath"
	"testing"

	"github.com/xuri/excelize/v2"

	"github.com/noren-privacy/noren/api"
	"github.com/noren-privacy/noren/service"
	"github.com/noren-privacy/noren/spec"
)

// The specification of a source may leave out its rows of totals, its notes and its hidden rows. Of a
// release each row is verified, whatever it looks like.
func TestVerifyReadsEachRow(t *testing.T) {
	dir := t.TempDir()
	text, book := filepath.Join(dir, "out.csv"), filepath.Join(dir, "out.xlsx")
	write(t, text, "age,ward,stay\n40,A,1\n40,A,2\n41,B,4\n41,B,5\n44,,\n")
	f := excelize.NewFile()
	for j, row := range []string{"A1", "A2", "A3", "A4"} {
		must(t, f.SetSheetRow("Sheet1", row, &[][]any{{"age", "ward", "stay"}, {40, "A", 1}, {40, "A", 2}, {44, "C", 3}}[j]))
	}
	must(t, f.SetRowVisible("Sheet1", 4, false))
	must(t, f.SaveAs(book))
	for path, rows := range map[string]int64{text: 5, book: 3} {
		found, err := (&service.Service{}).Verify(t.Context(), &api.VerifyRequest{Table: api.Table{Input: path, Spec: &spec.Spec{
			Version: spec.Version, Input: spec.Input{Totals: "leave", Hidden: "leave"}, Anonymize: spec.Anonymize{K: 2},
			Columns: map[string]spec.Column{"age": {Role: "quasi-identifier"}, "ward": {Role: "quasi-identifier"}, "stay": {Role: "other"}},
		}}})
		if err != nil {
			t.Fatal(err)
		}
		if found.Met || found.Rows != rows {
			t.Errorf("%s: %d records of %d are verified, met: %v", filepath.Base(path), found.Rows, rows, found.Met)
		}
	}
}
