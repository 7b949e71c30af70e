package service_test

import (
	"bytes"
	"database/sql"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/xuri/excelize/v2"
	_ "modernc.org/sqlite"

	"github.com/noren-privacy/noren"
	"github.com/noren-privacy/noren/api"
	"github.com/noren-privacy/noren/ledger"
	"github.com/noren-privacy/noren/release"
	"github.com/noren-privacy/noren/service"
	"github.com/noren-privacy/noren/spec"
)

// The bytes of a granted file are known whatever is read of them: another row of names, another
// sheet, delimiter or encoding, a query, standard input, and whatever the file is called.
func TestBytesOfGrantedFilesAreKnown(t *testing.T) {
	rows := [][]string{{"age", "sex", "ward"}}
	for i := range 40 {
		rows = append(rows, []string{string(rune('2' + i%5)), "FM"[i%2 : i%2+1], "あい"[i%2*3 : i%2*3+3]})
	}
	var text bytes.Buffer
	for _, row := range rows {
		text.WriteString(strings.Join(row, ",") + "\n")
	}
	book := excelize.NewFile()
	for i, row := range rows {
		at, err := excelize.CoordinatesToCellName(1, i+1)
		must(t, err)
		must(t, book.SetSheetRow("Sheet1", at, &row))
	}
	dir := t.TempDir()
	csv, xlsx, db := filepath.Join(dir, "v.csv"), filepath.Join(dir, "v.xlsx"), filepath.Join(dir, "v.db")
	must(t, os.WriteFile(csv, text.Bytes(), 0o600))
	must(t, book.SaveAs(xlsx))
	conn, err := sql.Open("sqlite", db)
	must(t, err)
	_, err = conn.ExecContext(t.Context(), "CREATE TABLE v (age INTEGER, sex TEXT, ward TEXT)")
	must(t, err)
	for _, row := range rows[1:] {
		_, err = conn.ExecContext(t.Context(), "INSERT INTO v VALUES (?, ?, ?)", row[0], row[1], row[2])
		must(t, err)
	}
	must(t, conn.Close())
	parts := filepath.Join(dir, "parts")
	must(t, os.Mkdir(parts, 0o700))
	must(t, os.WriteFile(filepath.Join(parts, "a.csv"), text.Bytes(), 0o600))

	sp := &spec.Spec{Version: spec.Version, Columns: map[string]spec.Column{
		"age": {Role: "quasi-identifier", Type: "integer"}, "sex": {Role: "quasi-identifier", Type: "category"}, "ward": {
			Role: "other", Type: "category",
		},
	}}
	for _, c := range []struct {
		name, granted, bytes string
		sharded              bool
		forms                []string     // in place of the file's name
		inputs               []spec.Input // that a caller states
		queries              []string     // of a database
	}{
		{"text", csv, csv, false, []string{"%"}, []spec.Input{
			{HeaderRow: 2},
			{Delimiter: ";"},
			{Encoding: "latin-1"},
			{Encoding: "utf-16le"},
			{HeaderRow: 3, Encoding: "windows-1252"},
		}, nil},
		{
			"workbook", xlsx, xlsx, false,
			[]string{"%", "%?header=2", "%?header=3&hidden=leave", "%?sheet=1&header=2&totals=leave"},
			[]spec.Input{{HeaderRow: 2}},
			nil,
		},
		{"folder", parts + "/", filepath.Join(parts, "a.csv"), false, []string{"%"}, []spec.Input{{HeaderRow: 2}}, nil},
		{"shards", parts + "/", filepath.Join(parts, "a.csv"), true, []string{"%"}, []spec.Input{{HeaderRow: 2}}, nil},
		{"database", "sqlite:" + db + "?table=v", db, false, nil, nil, []string{"SELECT age AS a, sex AS s FROM v", "SELECT sex FROM v"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := &service.Service{Ledger: filepath.Join(t.TempDir(), "l.db"), Note: func(api.Note) {}}
			must(t, s.LedgerCreate(t.Context()))
			_, err := s.LedgerGrant(t.Context(), &api.LedgerGrantRequest{
				Dataset: "v", Epsilon: "1",
				Table: &api.GrantTable{File: c.granted, Spec: sp, Sharded: c.sharded, Confirm: true, OtherPeople: true},
			})
			must(t, err)
			l, err := ledger.Open(t.Context(), s.Ledger, ledger.Options{})
			must(t, err)
			defer func() { _ = l.Close() }()
			whole, err := os.ReadFile(c.bytes)
			must(t, err)
			copied := filepath.Join(t.TempDir(), "copy"+filepath.Ext(c.bytes))
			must(t, os.WriteFile(copied, whole, 0o600))
			refused := func(what string, err error) {
				t.Helper()
				if noren.CodeOf(err) != release.CodePrivate {
					t.Errorf("%s: got %v", what, err)
				}
			}
			fit := func(input string, in spec.Input, query string) {
				t.Helper()
				if query != "" {
					in.Query = filepath.Join(t.TempDir(), "q.sql")
					must(t, os.WriteFile(in.Query, []byte(query), 0o600))
				}
				table := api.Table{Input: input, Spec: &spec.Spec{Version: spec.Version, Input: in}}
				_, err := s.CorrelatedFit(t.Context(), &api.CorrelatedFitRequest{Table: table, Column: "F", Length: 5, Source: "a test"})
				refused(input+" "+query, err)
			}
			for _, file := range []string{c.bytes, copied} {
				for _, form := range c.forms {
					name := strings.Replace(form, "%", file, 1)
					refused(form, release.Public(t.Context(), name, l))
					for _, in := range c.inputs {
						if strings.Contains(form, "?") {
							in = spec.Input{}
						}
						fit(name, in, "")
					}
				}
				for _, in := range c.inputs {
					s.Stdin = bytes.NewReader(whole)
					fit("-", in, "")
				}
				for _, query := range c.queries {
					fit("sqlite:"+file, spec.Input{}, query)
				}
			}
		})
	}
}
