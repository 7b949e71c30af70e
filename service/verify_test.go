package service_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/xuri/excelize/v2"

	"github.com/noren-privacy/noren"
	"github.com/noren-privacy/noren/api"
	"github.com/noren-privacy/noren/spec"
	"github.com/noren-privacy/noren/table/parts"
)

// Dates and numbers of workbooks are compared as they are stored: a change by less than a
// millisecond is found, and one of the last digit of a long number.
func TestVerifyComparesWhatWorkbooksStore(t *testing.T) {
	for name, c := range map[string]struct {
		cells [2]any
		met   bool
	}{
		"the same time":       {[2]any{45292.5, 45292.5}, true},
		"half a millisecond":  {[2]any{45292.5, 45292.500000005}, false},
		"a microsecond":       {[2]any{45292.5, 45292.500000000012}, false},
		"the same day":        {[2]any{45292, 45292.0}, true},
		"a day, nearly":       {[2]any{45292, 45292.000000000007}, false},
		"two first days":      {[2]any{59, 60}, false}, // 29 February 1900 counts
		"the same number":     {[2]any{int64(12345678901234567), int64(12345678901234567)}, true},
		"a long number":       {[2]any{int64(12345678901234567), int64(12345678901234568)}, false},
		"a number and a text": {[2]any{5, "5"}, false},
		"the same text":       {[2]any{"a b", "a b"}, true},
	} {
		t.Run(name, func(t *testing.T) {
			f := excelize.NewFile()
			code := "yyyy-mm-dd hh:mm:ss"
			style, err := f.NewStyle(&excelize.Style{CustomNumFmt: &code})
			must(t, err)
			must(t, f.SetSheetRow("Sheet1", "A1", &[]string{"when"}))
			must(t, f.SetCellValue("Sheet1", "A2", c.cells[0]))
			must(t, f.SetCellValue("Sheet1", "A3", c.cells[1]))
			if _, long := c.cells[0].(int64); !long {
				must(t, f.SetCellStyle("Sheet1", "A2", "A3", style))
			}
			path := filepath.Join(t.TempDir(), "book.xlsx")
			must(t, f.SaveAs(path))
			s := bare(t)
			r, err := s.Verify(t.Context(), &api.VerifyRequest{Table: api.Table{Input: path, Spec: &spec.Spec{
				Columns: map[string]spec.Column{"when": {Role: "quasi"}}, Anonymize: spec.Anonymize{K: 2},
			}}})
			must(t, err)
			if r.Met != c.met || r.Rows != 2 {
				t.Errorf("%+v", r)
			}
		})
	}
}

// A folder with a file that is not read is not said to keep what its other files keep.
func TestVerifyNamesUnreadFiles(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "out")
	must(t, os.Mkdir(dir, 0o700))
	must(t, os.WriteFile(filepath.Join(dir, "part-1.csv"), []byte("age\n30\n30\n"), 0o600))
	must(t, os.WriteFile(filepath.Join(dir, "_SUCCESS"), nil, 0o600))
	s := bare(t)
	request := &api.VerifyRequest{
		Table: api.Table{Input: dir, Spec: &spec.Spec{
			Columns:   map[string]spec.Column{"age": {Role: "quasi", Type: "integer"}},
			Anonymize: spec.Anonymize{K: 2},
		}},
	}
	r, err := s.Verify(t.Context(), request)
	must(t, err)
	if !r.Met {
		t.Fatal(r.Failures)
	}
	must(t, os.WriteFile(filepath.Join(dir, "_part-2.csv"), []byte("age\n31\n"), 0o600))
	if _, err := s.Verify(t.Context(), request); noren.CodeOf(err) != parts.CodeUnread || noren.KindOf(err) != noren.NotMet {
		t.Errorf("got %v, want code %s", err, parts.CodeUnread)
	}
	request.Input = filepath.Join(dir, "part-*.csv") // names what is read
	r, err = s.Verify(t.Context(), request)
	must(t, err)
	if !r.Met || r.Rows != 2 {
		t.Errorf("%+v", r)
	}
}
