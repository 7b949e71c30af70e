package server

import (
	"bytes"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/xuri/excelize/v2"

	"github.com/noren-privacy/noren/internal/server/jobs"
	"github.com/noren-privacy/noren/internal/server/tables"
)

// titled is a workbook with a second sheet of a title, names in the third row, 20 records and
// a row of totals.
func titled(t *testing.T) []byte {
	t.Helper()
	f := excelize.NewFile()
	if _, err := f.NewSheet("入院"); err != nil {
		t.Fatal(err)
	}
	rows := [][]any{{"入院患者一覧"}, {"作成: 医事課"}, {"年齢", "市", "在院日数"}}
	for i := range 20 {
		rows = append(rows, []any{20 + i, []string{"奈良", "神戸"}[i%2], 1 + i%5})
	}
	rows = append(rows, []any{"合計", nil, 60})
	for sheet, rows := range map[string][][]any{"Sheet1": {{"a", "b"}, {1, 2}}, "入院": rows} {
		for i := range rows {
			if err := f.SetSheetRow(sheet, fmt.Sprintf("A%d", i+1), &rows[i]); err != nil {
				t.Fatal(err)
			}
		}
	}
	var out bytes.Buffer
	if err := f.Write(&out); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

func columnNames(x *tables.Table) string {
	var out []string
	for _, c := range x.ColumnsDetail {
		out = append(out, c.Name)
	}
	return strings.Join(out, " ")
}

// read sends a request that begins to read a table, and returns the table when the job has ended.
func (s *steward) read(t *testing.T, path string, body any, change func(*http.Request)) *tables.Table {
	t.Helper()
	var begun struct {
		Table tables.Table
		Job   jobs.Job
	}
	s.do(t, 202, "POST", path, body, change).decode(t, &begun)
	s.wait(t, begun.Job.ID)
	return s.table(t, begun.Table.ID)
}

// The form of a file is shown as it was understood, and can be changed after reading.
func TestFormOfAWorkbook(t *testing.T) {
	t.Parallel()
	s := start(t, nil).steward(t)
	table := s.add(t, tables.Source{Kind: "upload", Upload: s.upload(t, "list.xlsx", titled(t))})
	if r := table.Read; r == nil || r.Sheet != "Sheet1" || !slices.Equal(r.Sheets, []string{"Sheet1", "入院"}) || columnNames(table) != "a b" {
		t.Fatalf("added: %+v", table.Read)
	}
	again := func(form tables.Form) {
		t.Helper()
		table = s.read(t, "/tables/"+table.ID+"/read", &form, match(etag(table.Version)))
	}
	again(tables.Form{Sheet: "入院"})
	if r := table.Read; table.State != "proposed" || columnNames(table) != "年齢 市 在院日数" || r.HeaderRow != 3 || r.Totals != 1 ||
		r.TotalsPolicy != "" || table.Rows != 21 {
		t.Fatalf("another sheet: %s, %s, %+v, %d", table.State, columnNames(table), table.Read, table.Rows)
	}
	confirm := func(status int) *answer {
		t.Helper()
		body := stated(table)
		body.Unit, body.Confirm = "", true
		for i := range body.Columns {
			body.Columns[i].Role, body.Columns[i].Type = "quasi-identifier", "category"
		}
		return s.do(t, status, "PUT", "/tables/"+table.ID+"/columns", body, match(etag(table.Version)))
	}
	if a := confirm(422); a.code() != "totals" {
		t.Errorf("a total without a decision: %s", a.body)
	}
	for _, c := range table.ColumnsDetail {
		if text := c.TypeReason.Text; strings.Contains(text, "/") {
			t.Errorf("a reason names a folder of the server: %s", text)
		}
	}
	again(tables.Form{Sheet: "入院", Totals: "leave"})
	if table.Rows != 20 || table.Read.TotalsPolicy != "leave" || table.Form.Totals != "leave" {
		t.Errorf("left out: %d, %+v", table.Rows, table.Read)
	}
	confirm(200)
	table = s.table(t, table.ID)
	if table.State != "confirmed" || table.Rows != 20 {
		t.Errorf("confirmed: %+v", table.Line)
	}
	// A form that does not fit leaves a table that can be read again.
	again(tables.Form{Sheet: "入院", HeaderRow: 2})
	if table.State != "failed" || table.Read != nil || table.Confirmed != nil || table.Rows != 0 || len(table.ColumnsDetail) != 0 {
		t.Errorf("a title for names: %+v", table.Line)
	}
	if a := confirm(409); a.code() != "conflict" {
		t.Errorf("columns of a table that failed: %s", a.body)
	}
	again(tables.Form{Sheet: "入院", Totals: "leave"})
	if table.State != "proposed" || table.Rows != 20 || len(table.Failure) != 0 {
		t.Errorf("read again: %+v", table.Line)
	}
	for _, bad := range []tables.Form{{Totals: "drop"}, {Encoding: "klingon"}, {HeaderRow: -1}, {Delimiter: "ab"}} {
		s.do(t, 422, "POST", "/tables/"+table.ID+"/read", &bad, match(etag(table.Version)))
	}
	s.do(t, 412, "POST", "/tables/"+table.ID+"/read", &tables.Form{}, match(etag(table.Version-1)))
}

// A text file that could not be read is read again by what the steward states.
func TestFormOfAFailedUpload(t *testing.T) {
	t.Parallel()
	s := start(t, nil).steward(t)
	text := "age,ward\n"
	for i := range 20 {
		text += fmt.Sprintf("%d,%s\n", 20+i, string(rune('A'+i%3)))
	}
	source := func(name string) tables.Source {
		return tables.Source{Kind: "upload", Upload: s.upload(t, name, []byte(text))}
	}
	untitled := text
	text = "患者一覧\n2026年4月\n" + untitled
	if found := s.read(t, "/tables", map[string]any{"source": source("w.csv")}, nil); found.State != "proposed" || found.Read.HeaderRow != 3 {
		t.Fatalf("names below a title: %s, %+v", found.State, found.Read)
	}
	text = strings.Repeat("患者一覧\n", 25) + untitled // more than are searched
	table := s.read(t, "/tables", map[string]any{"source": source("x.csv")}, nil)
	if table.State != "failed" {
		t.Fatalf("titles in a text file: %s, %s", table.State, columnNames(table))
	}
	table = s.read(t, "/tables/"+table.ID+"/read", &tables.Form{HeaderRow: 26, Missing: []string{"C"}}, match(etag(table.Version)))
	if r := table.Read; table.State != "proposed" || columnNames(table) != "age ward" || r.HeaderRow != 26 || r.Delimiter != "," ||
		r.Encoding != "utf-8" || !slices.Contains(table.Missing, "C") {
		t.Errorf("read again: %s, %+v, %s", table.State, table.Read, table.Failure)
	}
	// The same form, stated when the table is added.
	table = s.read(t, "/tables", map[string]any{"source": source("y.csv"), "form": tables.Form{HeaderRow: 26, Missing: []string{"9999", "-"}}},
		nil)
	if table.State != "proposed" || table.Form.HeaderRow != 26 || !slices.Equal(table.Missing, []string{"-", "9999"}) {
		t.Errorf("added with its form: %s, %+v, missing %q", table.State, table.Form, table.Missing)
	}
}
