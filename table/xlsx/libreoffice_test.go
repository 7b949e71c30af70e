package xlsx_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/noren-privacy/noren/table/tabletest"
	"github.com/noren-privacy/noren/table/xlsx"
)

// A workbook that LibreOffice 7.4 wrote, which counts days from 1904: made by
// soffice --headless --convert-to xlsx testdata/libreoffice.fods.
func TestLibreOffice(t *testing.T) {
	src, err := open(t, "testdata/libreoffice.xlsx", xlsx.Options{Sheet: "2024 visits"})
	if err != nil {
		t.Fatal(err)
	}
	want := [][]string{
		{"20", "F", "1992-07-15", "2003-02-12T04:13:40", "02:23:53", "169.08", "0", "007", "40", "Fx", "line one\nline two"},
		{"21", "M", "2001-04-14", "2020-08-13T09:53:15", "06:38:02", "581.2", "1", "+1", "42", "Mx", tabletest.Null},
		{"22", "F", "2009-04-27", "2021-09-21T15:29:39", "12:51:46", "860.24", "1", "a", "44", "Fx", tabletest.Null},
	}
	if diff := cmp.Diff(want, tabletest.Texts(t, src)); diff != "" {
		t.Error(diff)
	}
}
