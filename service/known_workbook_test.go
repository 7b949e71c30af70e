package service_test

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/xuri/excelize/v2"

	"github.com/noren-privacy/noren"
	"github.com/noren-privacy/noren/api"
	"github.com/noren-privacy/noren/ledger"
	"github.com/noren-privacy/noren/release"
	"github.com/noren-privacy/noren/service"
	"github.com/noren-privacy/noren/spec"
)

// A workbook of a data set is known whatever is said of its hidden rows and its rows of totals,
// also a copy of it: these decide what is read, and not whose records they are.
func TestWorkbookIsKnownHoweverItIsRead(t *testing.T) {
	f := excelize.NewFile()
	for row := 1; row <= 32; row++ {
		values := []any{20 + row, "F", row % 3}
		switch row {
		case 1:
			values = []any{"age", "sex", "ward"}
		case 32:
			values = []any{"合計", 30, nil}
		}
		at, err := excelize.CoordinatesToCellName(1, row)
		must(t, err)
		must(t, f.SetSheetRow("Sheet1", at, &values))
	}
	must(t, f.SetRowVisible("Sheet1", 7, false))
	_, err := f.NewSheet("Cover")
	must(t, err)
	must(t, f.MoveSheet("Cover", "Sheet1")) // the table is on the second sheet
	must(t, f.SetCellStr("Cover", "A1", "visits"))
	dir := t.TempDir()
	path, copied := filepath.Join(dir, "visits.xlsx"), filepath.Join(dir, "copy.xlsx")
	must(t, f.SaveAs(path))
	text, err := os.ReadFile(path)
	must(t, err)
	must(t, os.WriteFile(copied, text, 0o600))
	policies := []string{"read", "leave"}
	for _, hidden := range policies {
		for _, totals := range policies {
			if totals == "read" {
				continue // the row's text is no age
			}
			s := &service.Service{Ledger: filepath.Join(t.TempDir(), "l.db"), Note: func(api.Note) {}}
			must(t, s.LedgerCreate(t.Context()))
			sp := &spec.Spec{
				Version: spec.Version, Input: spec.Input{Sheet: "Sheet1", Hidden: hidden, Totals: totals},
				Columns: map[string]spec.Column{
					"age": {Role: "quasi-identifier", Type: "integer"}, "sex": {Role: "quasi-identifier", Type: "category"}, "ward": {
						Role: "other", Type: "category",
					},
				},
			}
			_, err := s.LedgerGrant(t.Context(), &api.LedgerGrantRequest{
				Dataset: "visits", Epsilon: "1",
				Table: &api.GrantTable{File: path, Spec: sp, Confirm: true, OtherPeople: true},
			})
			must(t, err)
			l, err := ledger.Open(t.Context(), s.Ledger, ledger.Options{})
			must(t, err)
			for _, file := range []string{path, copied} {
				names := []string{file + "?sheet=Sheet1"}
				for _, h := range policies {
					names = append(names, file+"?sheet=Sheet1&hidden="+h, file+"?totals="+h+"&sheet=Sheet1")
					for _, to := range policies {
						names = append(names, fmt.Sprintf("%s?hidden=%s&totals=%s&sheet=Sheet1", file, h, to),
							fmt.Sprintf("%s?sheet=Sheet1&totals=%s&header=1", file, to))
						stated := api.Table{Input: file, Spec: &spec.Spec{Version: spec.Version, Input: spec.Input{Sheet: "Sheet1", Hidden: h, Totals: to}}}
						fit := &api.CorrelatedFitRequest{Table: stated, Column: "sex", Length: 5, Source: "a test"}
						if _, err := s.CorrelatedFit(t.Context(), fit); noren.CodeOf(err) != release.CodePrivate {
							t.Errorf("granted with hidden %s and totals %s: a model of hidden %s and totals %s: got %v", hidden, totals, h, to, err)
						}
						s.Stdin = bytes.NewReader(text)
						fit.Input = "-"
						if _, err := s.CorrelatedFit(t.Context(), fit); noren.CodeOf(err) != release.CodePrivate {
							t.Errorf("granted with hidden %s and totals %s: standard input with hidden %s and totals %s: got %v", hidden, totals, h, to, err)
						}
					}
				}
				for _, name := range names {
					if err := release.Public(t.Context(), name, l); noren.CodeOf(err) != release.CodePrivate {
						t.Errorf("granted with hidden %s and totals %s: %s: got %v", hidden, totals, filepath.Base(name), err)
					}
				}
			}
			must(t, l.Close())
		}
	}
}
