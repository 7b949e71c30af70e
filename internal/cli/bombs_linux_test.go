package cli_test

import (
	"bytes"
	"compress/gzip"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/klauspost/compress/zstd"
	_ "modernc.org/sqlite"

	"github.com/noren-privacy/noren/internal/meter/bombs"
)

// mostResident is what a command on a bomb may take, in KiB: 256 MB are held at once, and Go's
// collector lets as much garbage be beside it.
const mostResident = 450 << 10

// bomb is a small file, made of a text between two others.
type bomb struct {
	name                string
	before, text, after string
	times               int
}

func (b bomb) write(w io.Writer) error {
	return bombs.Repeated{Before: b.before, Text: b.text, Times: b.times, After: b.after}.Write(w)
}

func bombFile(t *testing.T, dir string, b bomb) {
	t.Helper()
	f, err := os.Create(filepath.Join(dir, b.name))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var w io.WriteCloser = f
	switch {
	case strings.HasSuffix(b.name, ".gz"):
		w = gzip.NewWriter(f)
	case strings.HasSuffix(b.name, ".zst"):
		if w, err = zstd.NewWriter(f, zstd.WithWindowSize(1<<20)); err != nil {
			t.Fatal(err)
		}
	}
	err = b.write(w)
	if w != f {
		err = errors.Join(err, w.Close())
	}
	if err != nil {
		t.Fatal(err)
	}
}

func bombBook(t *testing.T, dir, name string, parts map[string]bombs.Repeated) {
	t.Helper()
	var out bytes.Buffer
	if err := bombs.Workbook(&out, parts, 0); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, name), out.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
}

// Files that state more than a command may take are refused with exit code 3, the place and
// the limit, in little memory, whatever reads them.
func TestBombs(t *testing.T) {
	if testing.Short() {
		t.Skip("makes files of many sizes")
	}
	dir := t.TempDir()
	for _, b := range []bomb{
		{"small.csv", "age,zip\n", "1,2\n", "", 50},
		{"quote.csv.gz", "a,b\n1,\"", "xxxxxxxxxx", "", 1_700_000},
		{"line.csv.zst", "a,b\n", "yyyyyyyyyy", "", 1_700_000},
		{"columns.csv", "", "a,", "b\n", 1_000_000},
		{"deep.yaml", "version: 1\ncolumns: ", "[", "", 100_000},
		{"deep.json", "", `{"a":`, "", 200_000},
		{"long.json", `{"`, "aaaaaaaaaa", `":1}`, 120_000},
		{"fields.csv", "", ",", "", 8_000_000},
		{"levels.csv", "2,", "1,", "*\n", 2_000_000},
	} {
		bombFile(t, dir, b)
	}
	alias := "version: 1\na0: &a0 [x, x, x, x, x, x, x, x, x]\n"
	for i := 1; i < 12; i++ {
		alias += fmt.Sprintf("a%d: &a%[1]d [%s*a%d]\n", i, strings.Repeat(fmt.Sprintf("*a%d, ", i-1), 8), i-1)
	}
	bombFile(t, dir, bomb{name: "alias.yaml", before: alias})
	bombBook(t, dir, "styles.xlsx", map[string]bombs.Repeated{
		"xl/styles.xml": {Before: "<styleSheet><cellXfs>", Text: "<xf/>", Times: 4_100_000, After: "</cellXfs></styleSheet>"},
	})
	bombBook(t, dir, "formats.xlsx", map[string]bombs.Repeated{
		"xl/styles.xml": {
			Before: "<styleSheet><numFmts>", Text: `<numFmt numFmtId="1" formatCode="` + strings.Repeat("yyyy", 2000) + `"/>`,
			Times: 17_000, After: "</numFmts></styleSheet>",
		},
	})
	bombBook(t, dir, "sheets.xlsx", map[string]bombs.Repeated{
		"xl/workbook.xml": {
			Before: `<workbook xmlns:r="http://schemas.openxmlformats.org/officeDocument/2006/relationships"><sheets>`,
			Text:   `<sheet name="S" sheetId="1" r:id="r1"/>`, Times: 1_010_000, After: `</sheets></workbook>`,
		},
	})
	bombBook(t, dir, "attribute.xlsx", map[string]bombs.Repeated{"xl/worksheets/sheet1.xml": bombs.Sheet("aaaaaaaaaa", 1_700_000)})
	db, err := sql.Open("sqlite", filepath.Join(dir, "a.db"))
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range []string{
		"CREATE TABLE t (x)", "INSERT INTO t VALUES (zeroblob(40000000))",
		"CREATE VIEW v AS SELECT hex(zeroblob(400000000)) AS x",
	} {
		if _, err := db.Exec(s); err != nil {
			t.Fatal(err)
		}
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ command, want string }{
		{"inspect quote.csv.gz", "line 2, column 2 (b): a field is longer than 16 MiB"},
		{"verify quote.csv.gz --k 2 --quasi a", "a field is longer than 16 MiB"},
		{"anonymize quote.csv.gz --k 2 --quasi a -o out.csv", "a field is longer than 16 MiB"},
		{"inspect line.csv.zst", "line 2"},
		{"inspect columns.csv", "line 1: more than 65535 fields"},
		{"inspect formats.xlsx", "part xl/styles.xml: needs more than 256 MB"},
		{"inspect sheets.xlsx", "part xl/workbook.xml: needs more than 256 MB"},
		{"verify styles.xlsx --k 2 --quasi name", "part xl/styles.xml: needs more than 256 MB"},
		{"anonymize attribute.xlsx --k 2 --quasi name -o out.csv", "part xl/worksheets/sheet1.xml: a text or tag is longer than 16 MiB"},
		{"inspect sqlite:a.db?table=t", "table t: holds a record, value or statement of more than 32 MB"},
		{"verify sqlite:a.db?table=v --k 2 --quasi x", "table v: holds a record, value or statement of more than 32 MB"},
		{"anonymize small.csv --k 2 --spec deep.yaml -o out.csv", "deep.yaml: line 2"},
		{"anonymize small.csv --k 2 --spec alias.yaml -o out.csv", "alias.yaml: holds more than 500000 values"},
		{"anonymize small.csv --k 2 --quasi age,zip --hierarchy zip=fields.csv -o out.csv", "fields.csv: needs more than 256 MB"},
		{
			"anonymize small.csv --k 2 --quasi age,zip --hierarchy zip=levels.csv -o out.csv",
			"levels.csv: line 1, column 257: expected at most 256 levels, found 2000002",
		},
		{`correlated leakage deep.json --query {"count":"on"} --scale 20`, "nests more than 32 levels"},
		{"certificate show long.json", "long.json: is larger than 1 MiB"},
	} {
		t.Run(c.command, func(t *testing.T) {
			t.Parallel()
			out := filepath.Join(t.TempDir(), "out.csv")
			run := exec.CommandContext(t.Context(), "noren", strings.Fields(strings.ReplaceAll(c.command, "out.csv", out))...)
			run.Dir = dir
			var said bytes.Buffer
			run.Stderr = &said
			err := run.Run()
			if run.ProcessState == nil {
				t.Fatal(err)
			}
			if run.ProcessState.ExitCode() != 3 || !strings.Contains(said.String(), c.want) {
				t.Errorf("exit code %d, %s", run.ProcessState.ExitCode(), said.String())
			}
			if used, ok := run.ProcessState.SysUsage().(*syscall.Rusage); ok && used.Maxrss > mostResident {
				t.Errorf("took %d MB", used.Maxrss>>10)
			}
			if _, err := os.Stat(out); err == nil {
				t.Error("there is a release")
			}
		})
	}
}
