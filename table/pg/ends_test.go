package pg_test

import (
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/noren-privacy/noren"
	"github.com/noren-privacy/noren/table"
	"github.com/noren-privacy/noren/table/pg"
	"github.com/noren-privacy/noren/table/tabletest"
)

// ends are values at the ends of the types of the server, and the texts by which a table
// shows them; an empty text stands for the server's own.
var ends = []struct {
	of     string
	values []string
	shown  []string
}{
	{"boolean", []string{"true", "false"}, []string{"true", "false"}},
	{"smallint", []string{"-32768", "32767"}, nil},
	{"integer", []string{"-2147483648", "2147483647"}, nil},
	{"bigint", []string{"-9223372036854775808", "9223372036854775807"}, nil},
	{
		"real",
		[]string{"NaN", "-Infinity", "Infinity", "3.4028235e+38", "1e-45", "-0"},
		[]string{"NaN", "-Inf", "+Inf", "3.4028235e+38", "1e-45", "-0"},
	},
	{
		"double precision",
		[]string{"NaN", "-Infinity", "Infinity", "1.7976931348623157e+308", "5e-324", "-0"},
		[]string{"NaN", "-Inf", "+Inf", "1.7976931348623157e+308", "5e-324", "-0"},
	},
	{"numeric", []string{"NaN", "-Infinity", "Infinity", "1" + strings.Repeat("0", 400), "0." + strings.Repeat("0", 400) + "1"}, nil},
	{"date", []string{"2024-02-29", "0001-01-01", "9999-12-31"}, nil},
	{"date", []string{"2024-02-29", "4714-11-24 BC", "0001-12-31 BC", "10000-01-01", "5874897-12-31", "infinity", "-infinity"}, nil},
	{
		"timestamp",
		[]string{"0001-01-01 00:00:00", "9999-12-31 23:59:59.999999"},
		[]string{"0001-01-01T00:00:00", "9999-12-31T23:59:59.999999"},
	},
	{"timestamp", []string{
		"4714-11-24 00:00:00 BC", "0044-03-15 12:00:00.5 BC", "0001-12-31 23:59:59.999999 BC", "10000-01-01 00:00:00",
		"294246-12-31 00:00:00", "294247-01-10 04:00:54.775808", "294276-12-31 23:59:59.999999", "infinity", "-infinity",
	}, nil},
	{"timestamp(0)", []string{"294276-12-31 00:00:00", "4714-11-24 00:00:00 BC"}, nil},
	{"timestamptz", []string{
		"4714-11-24 00:00:00+00 BC", "0044-03-15 12:00:00.5+00 BC", "10000-01-01 00:00:00+00",
		"294276-12-31 23:59:59.999999+00", "infinity", "-infinity",
	}, nil},
	{"time", []string{"00:00:00", "23:59:59.999999"}, nil},
	{"time", []string{"00:00:00", "23:59:59.999999", "24:00:00"}, nil},
	{"timetz", []string{"00:00:00+15:59:59", "24:00:00-15:59:59"}, nil},
	{"interval", []string{"-178000000 years", "178000000 years"}, nil},
	{"char(3)", []string{"a  ", "   "}, nil},
	{"varchar(3)", []string{"", "日本語"}, nil},
	{"text", []string{"", "a\\b", "\\N", "\\."}, nil},
	{"bytea", []string{`\x`, `\x00ff`}, nil},
	{"uuid", []string{"00000000-0000-0000-0000-000000000000"}, nil},
	{"jsonb", []string{"null", `{"a": [1e400]}`}, []string{"null", ""}},
	{"int4range", []string{"empty", "(,)", "[-2147483648,2147483647)"}, nil},
	{"daterange", []string{"(,)", `["4714-11-24 BC",5874897-12-31)`}, nil},
	{"timestamp[]", []string{"{}", `{"0044-03-15 00:00:00 BC",infinity}`}, nil},
	{"inet", []string{"0.0.0.0/0", "::/0"}, nil},
	{"bit(3)", []string{"000", "111"}, nil},
	{"money", []string{"-92233720368547758.08", "92233720368547758.07"}, []string{"", ""}},
	{"oid", []string{"0", "4294967295"}, nil},
	{"pg_lsn", []string{"0/0", "FFFFFFFF/FFFFFFFF"}, nil},
	{"xid8", []string{"0", "18446744073709551615"}, nil},
}

// Values at the ends of every type are read as they are, and a table that is written from
// what was read has the same types and values.
func TestEnds(t *testing.T) {
	conn, schema := server(t)
	run(t, conn, "SET TimeZone = 'UTC'")
	for _, c := range ends {
		t.Run(c.of, func(t *testing.T) {
			from, to := pg.Name{Schema: schema, Table: "from"}, pg.Name{Schema: schema, Table: "to"}
			run(t, conn, "DROP TABLE IF EXISTS "+from.String()+", "+to.String()+"; CREATE TABLE "+from.String()+" (n serial, v "+c.of+")")
			for _, v := range append(c.values, "<null>") {
				literal := "E'" + strings.ReplaceAll(v, `\`, `\\`) + "'"
				if v == "<null>" {
					literal = "NULL"
				}
				run(t, conn, "INSERT INTO "+from.String()+" (v) VALUES ("+literal+")")
			}
			src, err := pg.Open(t.Context(), pg.Options{Query: "SELECT v FROM " + from.String() + " ORDER BY n", QueryName: "q"})
			if err != nil {
				t.Fatal(err)
			}
			defer func() { _ = src.Close() }()
			rows, err := conn.Exec(t.Context(), "SELECT v::text FROM "+from.String()+" ORDER BY n").ReadAll()
			if err != nil {
				t.Fatal(err)
			}
			var want [][]string
			for i, row := range rows[0].Rows {
				text := "<null>"
				if row[0] != nil {
					text = string(row[0])
				}
				if c.of == "char(3)" && i < len(c.values) {
					text = c.values[i] // the server drops the blanks of a char in its text
				}
				if c.shown != nil && i < len(c.shown) && c.shown[i] != "" {
					text = c.shown[i]
				}
				want = append(want, []string{text})
			}
			if diff := cmp.Diff(want, tabletest.Texts(t, src)); diff != "" {
				t.Errorf("read: %s", diff)
			}
			target := pg.NewTarget(pg.TargetOptions{Table: to})
			defer target.Discard()
			if err := pour(t.Context(), src, target); err != nil {
				t.Fatal(err)
			}
			back, err := target.ReadBack(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			defer func() { _ = back.Close() }()
			if diff := cmp.Diff(want, tabletest.Texts(t, back)); diff != "" {
				t.Errorf("read back: %s", diff)
			}
			if err := target.Commit(t.Context()); err != nil {
				t.Fatal(err)
			}
			if n := ask(t, conn, "SELECT count(*) FROM (SELECT v::text FROM "+from.String()+" EXCEPT ALL SELECT v::text FROM "+to.String()+
				") x")[0][0]; n != "0" {
				t.Errorf("%s values differ", n)
			}
			of := "SELECT format_type(atttypid, atttypmod) FROM pg_attribute WHERE attname = 'v' AND attrelid = '"
			if a, b := ask(t, conn, of+from.String()+"'::regclass"), ask(t, conn, of+to.String()+"'::regclass"); a[0][0] != b[0][0] {
				t.Errorf("%s was written as %s", a[0][0], b[0][0])
			}
		})
	}
}

// A column of another format that counts days, instants or times of day is written in the
// server's notation, and what the server cannot hold is an error with column and record.
func TestMoments(t *testing.T) {
	conn, schema := server(t)
	nano := func(of table.LogicalType) table.Logical { return table.Logical{Of: of, PerSecond: 1e9} }
	for _, c := range []struct {
		name  string
		of    table.Logical
		value int64
		want  string // the server's text, or what an error says
	}{
		{"day", table.Logical{Of: table.Day}, 19782, "2024-02-29"},
		{"before Christ", table.Logical{Of: table.Day}, -719163, "0001-12-31 BC"},
		{"first day", table.Logical{Of: table.Day}, -2440588, "4714-11-24 BC"},
		{"a day too early", table.Logical{Of: table.Day}, -2440589, "cannot hold"},
		{"last day", table.Logical{Of: table.Day}, 2145042905, "5874897-12-31"},
		{"a day too late", table.Logical{Of: table.Day}, 2145042906, "cannot hold"},
		{"instant", nano(table.Instant), 1_500_000_000, "1970-01-01 00:00:01.5"},
		{"earliest nanosecond", nano(table.Instant), math.MinInt64, "part of a microsecond"},
		{"early nanosecond", nano(table.Instant), math.MinInt64 / 1000 * 1000, "1677-09-21 00:12:43.145225"},
		{"seconds", table.Logical{Of: table.Instant, PerSecond: 1}, -62135596801, "0001-12-31 23:59:59 BC"},
		{"milliseconds", table.Logical{Of: table.UTCInstant, PerSecond: 1000}, 9224318102399999, "cannot hold"},
		{"late milliseconds", table.Logical{Of: table.UTCInstant, PerSecond: 1000}, 9224318015999999, "294276-12-31 23:59:59.999+00"},
		{"clock", nano(table.Clock), 86_399_999_999_000, "23:59:59.999999"},
		{"midnight", nano(table.Clock), 86_400_000_000_000, "24:00:00"},
		{"past midnight", nano(table.Clock), 86_400_000_001_000, "between 00:00 and 24:00"},
		{"before midnight", nano(table.Clock), -1000, "between 00:00 and 24:00"},
	} {
		t.Run(c.name, func(t *testing.T) {
			to := pg.Name{Schema: schema, Table: "out"}
			target := pg.NewTarget(pg.TargetOptions{Table: to, Replace: true})
			defer target.Discard()
			columns := []table.StoredColumn{{Name: "when", Kind: table.Int, Logical: c.of, AppendText: c.of.Show()}}
			sink, err := target.Create(t.Context(), columns)
			if err != nil {
				t.Fatal(err)
			}
			chunk := &table.Chunk{Rows: 2, Cols: []table.Vector{{Kind: table.Int, Ints: []int64{0, c.value}}}}
			if err = sink.Write(chunk); err == nil {
				err = sink.Close()
			} else {
				sink.Abort()
			}
			if err != nil {
				if noren.KindOf(err) != noren.BadData || !strings.Contains(err.Error(), c.want) ||
					!strings.Contains(err.Error(), "record 2, column 1 (when)") {
					t.Errorf("got %v, want an error about %q in record 2", err, c.want)
				}
				return
			}
			if err := target.Commit(t.Context()); err != nil {
				t.Fatal(err)
			}
			run(t, conn, "SET TimeZone = 'UTC'")
			if got := ask(t, conn, `SELECT "when"::text FROM `+to.String())[1][0]; got != c.want {
				t.Errorf("got %s, want %s", got, c.want)
			}
		})
	}
}

// An error of the server names column and record, and not the value.
func TestRefusedValue(t *testing.T) {
	_, schema := server(t)
	src, err := pg.Open(t.Context(), pg.Options{
		Query:     "SELECT 1 AS n, time '24:00:00' AS at UNION ALL SELECT 2, '01:00:00' ORDER BY n",
		QueryName: "q",
	})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = src.Close() }()
	target := pg.NewTarget(pg.TargetOptions{Table: pg.Name{Schema: schema, Table: "out"}})
	defer target.Discard()
	sink, err := target.Create(t.Context(), src.Columns())
	if err != nil {
		t.Fatal(err)
	}
	chunk := &table.Chunk{Rows: 2, Cols: []table.Vector{
		{Kind: table.Int, Ints: []int64{1, 2}},
		{Kind: table.Text, Texts: [][]byte{[]byte("\x0801:00:00"), []byte("\x08secret")}},
	}}
	if err = sink.Write(chunk); err == nil {
		err = sink.Close()
	}
	if err == nil || !strings.Contains(err.Error(), "record 2, column 2 (at)") || strings.Contains(err.Error(), "secret") {
		t.Errorf("got %v, want an error at record 2, column 2 (at)", err)
	}
}
