package service_test

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/xuri/excelize/v2"

	"github.com/noren-privacy/noren"
	"github.com/noren-privacy/noren/api"
	"github.com/noren-privacy/noren/service"
	"github.com/noren-privacy/noren/spec"
	"github.com/noren-privacy/noren/table/xlsx"
)

// workbook is a table of 70 records of which 40 are seen, with a hidden column.
func workbook(t *testing.T) string {
	t.Helper()
	f := excelize.NewFile()
	set := func(cell string, v any) {
		if err := f.SetCellValue("Sheet1", cell, v); err != nil {
			t.Fatal(err)
		}
	}
	for i, name := range []string{"age", "sex", "memo"} {
		at, _ := excelize.CoordinatesToCellName(i+1, 1)
		set(at, name)
	}
	for row := 2; row <= 71; row++ {
		for i, v := range []any{20 + row%40, []string{"F", "M"}[row%2], "memo " + string(rune('a'+row%3))} {
			at, _ := excelize.CoordinatesToCellName(i+1, row)
			set(at, v)
		}
		if row > 41 {
			if err := f.SetRowVisible("Sheet1", row, false); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := f.SetColVisible("Sheet1", "C", false); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "visits.xlsx")
	if err := f.SaveAs(path); err != nil {
		t.Fatal(err)
	}
	return path
}

// What a workbook hides is counted and named wherever it is looked at, and nothing of the
// table is released, granted or randomised before a decision on it.
func TestHiddenRows(t *testing.T) {
	path := workbook(t)
	var notes []string
	s := &service.Service{Ledger: filepath.Join(t.TempDir(), "l.db"), Note: func(n api.Note) { notes = append(notes, n.Text) }}
	stated := func(hidden string) api.Table {
		return api.Table{Input: path, Spec: &spec.Spec{Version: spec.Version, Input: spec.Input{Hidden: hidden}, Columns: map[string]spec.Column{
			"age": {Role: "quasi-identifier", Type: "integer"}, "sex": {Role: "quasi-identifier", Type: "category"}, "memo": {
				Role: "other", Type: "category",
			},
		}, Anonymize: spec.Anonymize{K: 5}}}
	}
	seen, err := s.Inspect(t.Context(), &api.InspectRequest{Table: api.Table{Input: path}})
	if err != nil {
		t.Fatal(err)
	}
	if h := seen.Hidden; h == nil || h.Rows != 30 || strings.Join(h.Columns, " ") != "memo" || h.Decided || h.Left {
		t.Errorf("inspect: got %+v", h)
	}
	if all := strings.Join(notes, "\n"); !strings.Contains(all, "30 hidden rows and 1 hidden column are read: memo") {
		t.Errorf("inspect: notes %q", all)
	}
	proposal, err := s.Propose(t.Context(), &api.ProposeRequest{Table: api.Table{Input: path}})
	if err != nil || !strings.Contains(proposal.Specification, "# hidden: leave") {
		t.Errorf("init: %v\n%v", err, proposal)
	}
	dir := t.TempDir()
	release := func(hidden string) (*api.Release, error) {
		at := stated(hidden)
		if hidden == "leave" {
			delete(at.Spec.Columns, "memo")
		}
		return s.Anonymize(t.Context(), &api.AnonymizeRequest{Table: at, Output: filepath.Join(dir, "out"+hidden+".csv")})
	}
	if _, err := release(""); noren.CodeOf(err) != xlsx.CodeHidden {
		t.Errorf("anonymize: got %v", err)
	}
	for hidden, records := range map[string]int64{"read": 70, "leave": 40} {
		out, err := release(hidden)
		if err != nil {
			t.Fatal(err)
		}
		if int64(out.Result.Rows) != records {
			t.Errorf("%s: %d records, want %d", hidden, out.Result.Rows, records)
		}
	}
	if err := s.LedgerCreate(t.Context()); err != nil {
		t.Fatal(err)
	}
	grant := func(hidden string) error {
		at := stated(hidden)
		if hidden == "leave" {
			delete(at.Spec.Columns, "memo")
		}
		_, err := s.LedgerGrant(t.Context(), &api.LedgerGrantRequest{
			Dataset: "visits" + hidden, Epsilon: "1",
			Table: &api.GrantTable{File: path, Spec: at.Spec, Confirm: true, OtherPeople: true},
		})
		return err
	}
	if err := grant(""); noren.CodeOf(err) != xlsx.CodeHidden {
		t.Errorf("grant: got %v", err)
	}
	if err := grant("leave"); err != nil {
		t.Errorf("grant: %v", err)
	}
}
