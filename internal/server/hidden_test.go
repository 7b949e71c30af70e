package server

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/xuri/excelize/v2"

	"github.com/noren-privacy/noren/internal/server/tables"
)

// hiddenBook is a workbook of 20 records of which 12 are seen, with a hidden column.
func hiddenBook(t *testing.T) []byte {
	t.Helper()
	f := excelize.NewFile()
	for row := 1; row <= 21; row++ {
		cells := []any{"age", "city", "memo"}
		if row > 1 {
			cells = []any{20 + row, []string{"Nara", "Kobe"}[row%2], fmt.Sprint("m", row%3)}
		}
		if err := f.SetSheetRow("Sheet1", fmt.Sprintf("A%d", row), &cells); err != nil {
			t.Fatal(err)
		}
		if row > 13 {
			if err := f.SetRowVisible("Sheet1", row, false); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := f.SetColVisible("Sheet1", "C", false); err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	if err := f.Write(&out); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// A table whose workbook hides rows or columns says so, is confirmed only after a decision
// on them, and has the records that the decision leaves.
func TestHiddenCells(t *testing.T) {
	t.Parallel()
	s := start(t, nil).steward(t)
	table := s.add(t, tables.Source{Kind: "upload", Upload: s.upload(t, "visits.xlsx", hiddenBook(t))})
	if h := table.Hidden; h == nil || h.Rows != 8 || strings.Join(h.Columns, " ") != "memo" || h.Policy != "" || table.Rows != 20 {
		t.Fatalf("added: %+v, %d rows", table.Hidden, table.Rows)
	}
	said := false
	for _, h := range table.HealthList {
		said = said || h.Message.Code == "hidden-open"
	}
	if !said {
		t.Errorf("health: %+v", table.HealthList)
	}
	roles := func(b *tables.Stated) {
		b.Unit = ""
		for i := range b.Columns {
			b.Columns[i].Role = "quasi-identifier"
		}
	}
	put := func(status int, change func(*tables.Stated)) *answer {
		body := stated(table)
		roles(body)
		change(body)
		return s.do(t, status, "PUT", "/tables/"+table.ID+"/columns", body, match(etag(table.Version)))
	}
	if a := put(422, func(*tables.Stated) {}); a.code() != "hidden" {
		t.Errorf("undecided: %s", a.body)
	}
	put(422, func(b *tables.Stated) { b.Hidden = "show" })
	put(200, func(b *tables.Stated) { b.Hidden = "read" })
	table = s.table(t, table.ID)
	if table.State != "confirmed" || table.Rows != 20 || len(table.ColumnsDetail) != 3 {
		t.Errorf("read: %+v", table.Line)
	}
	put(200, func(b *tables.Stated) { b.Hidden, b.Columns, b.Confirm = "leave", []tables.StatedColumn{}, false })
	table = s.table(t, table.ID)
	if table.State != "proposed" || table.Rows != 12 || len(table.ColumnsDetail) != 2 || table.Hidden.Rows != 8 {
		t.Errorf("left: %+v, %+v", table.Line, table.Hidden)
	}
	put(200, func(*tables.Stated) {})
	table = s.table(t, table.ID)
	if table.State != "confirmed" || table.Rows != 12 {
		t.Errorf("left and confirmed: %+v", table.Line)
	}
	plain := s.add(t, tables.Source{Kind: "upload", Upload: s.upload(t, "x.csv", people(30, "x"))})
	body := stated(plain)
	body.Hidden = "leave"
	if a := s.do(t, 422, "PUT", "/tables/"+plain.ID+"/columns", body, match(etag(plain.Version))); a.code() != "invalid" {
		t.Errorf("a table that hides nothing: %s", a.body)
	}
}
