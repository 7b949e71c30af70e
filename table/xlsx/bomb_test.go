package xlsx

import (
	"archive/zip"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/noren-privacy/noren"
	"github.com/noren-privacy/noren/internal/meter"
	"github.com/noren-privacy/noren/internal/randtest"
)

// peak is the most heap that f takes, beside what there is before.
func peak(t *testing.T, f func()) int64 {
	t.Helper()
	defer debug.SetGCPercent(debug.SetGCPercent(20)) // garbage is little of what is measured
	runtime.GC()
	now := func() int64 {
		s := []metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}}
		metrics.Read(s)
		return int64(s[0].Value.Uint64())
	}
	before := now()
	var most atomic.Int64
	stop, stopped := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(stopped)
		for {
			most.Store(max(most.Load(), now()))
			select {
			case <-stop:
				return
			case <-time.After(time.Millisecond):
			}
		}
	}()
	f()
	close(stop)
	<-stopped
	return max(most.Load(), now()) - before
}

// repeated is a text many times, between two others.
type repeated struct {
	before, text string
	times        int
	after        string
}

func (r repeated) write(w io.Writer) error {
	_, err := io.WriteString(w, r.before)
	block := min(max(1, r.times), 1000)
	some := strings.Repeat(r.text, block)
	for i := r.times; i > 0 && err == nil; i -= block {
		_, err = io.WriteString(w, some[:min(i, block)*len(r.text)])
	}
	if err == nil {
		_, err = io.WriteString(w, r.after)
	}
	return err
}

// bombBook is a workbook of one sheet with the given parts instead of ordinary ones.
func bombBook(t *testing.T, parts map[string]repeated, empty int) string {
	t.Helper()
	all := map[string]repeated{
		"xl/workbook.xml": {before: `<workbook xmlns:r="` + relations + `"><sheets><sheet name="Sheet1" sheetId="1" r:id="r1"/></sheets></workbook>`},
		"xl/_rels/workbook.xml.rels": {before: `<Relationships><Relationship Id="r1" Type="` + relations + `/worksheet" Target="worksheets/sheet1.xml"/>` +
			`<Relationship Id="r2" Type="` + relations + `/styles" Target="styles.xml"/>` +
			`<Relationship Id="r3" Type="` + relations + `/sharedStrings" Target="sharedStrings.xml"/></Relationships>`},
		"xl/styles.xml":            {before: `<styleSheet/>`},
		"xl/sharedStrings.xml":     {before: `<sst/>`},
		"xl/worksheets/sheet1.xml": {before: `<worksheet><sheetData><row><c t="str"><v>name</v></c></row><row><c><v>1</v></c></row></sheetData></worksheet>`},
	}
	for name, p := range parts {
		all[name] = p
	}
	path := filepath.Join(t.TempDir(), "a.xlsx")
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	z := zip.NewWriter(f)
	for name, p := range all {
		w, err := z.Create(name)
		if err != nil {
			t.Fatal(err)
		}
		if err := p.write(w); err != nil {
			t.Fatal(err)
		}
	}
	for i := range empty {
		if _, err := z.CreateRaw(&zip.FileHeader{Name: fmt.Sprint(i)}); err != nil {
			t.Fatal(err)
		}
	}
	if err := errors.Join(z.Close(), f.Close()); err != nil {
		t.Fatal(err)
	}
	return path
}

// through reads a workbook whole and keeps nothing.
func through(path string, limits meter.Limits) (rows int, err error) {
	f, err := os.Open(path)
	if err != nil {
		return 0, err
	}
	src, err := OpenFile(context.Background(), f, Options{Name: "a.xlsx", Limits: limits})
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, src.Close()) }()
	r, err := src.Open(context.Background(), nil)
	if err != nil {
		return 0, err
	}
	for {
		c, err := r.Next()
		if err == io.EOF {
			return rows, r.Close()
		}
		if err != nil {
			return rows, err
		}
		rows += c.Rows
	}
}

// Small workbooks that unpack to much: each is read, or refused with the code, within 256
// MiB.
func TestBombs(t *testing.T) {
	randtest.SkipShort(t)
	sheet := func(text string, times int) map[string]repeated {
		return map[string]repeated{"xl/worksheets/sheet1.xml": {`<worksheet><sheetData><row><c t="str"><v>name</v></c></row>`, text, times, `</sheetData></worksheet>`}}
	}
	shared := func(size, rows int) map[string]repeated {
		m := sheet(`<row><c t="s"><v>0</v></c></row>`, rows)
		m["xl/sharedStrings.xml"] = repeated{"<sst><si><t>", "a", size, "</t></si></sst>"}
		return m
	}
	wide := shared(2<<20, 0)
	wide["xl/worksheets/sheet1.xml"] = repeated{`<worksheet><sheetData><row>`, `<c t="s"><v>0</v></c>`, 1000, `</row></sheetData></worksheet>`}
	wideRow := shared(2<<20, 0)
	names := ""
	for i := range 1000 {
		names += fmt.Sprintf(`<c t="str"><v>n%d</v></c>`, i)
	}
	wideRow["xl/worksheets/sheet1.xml"] = repeated{`<worksheet><sheetData><row>` + names + `</row><row>`, `<c t="s"><v>0</v></c>`, 1000, `</row></sheetData></worksheet>`}
	for _, c := range []struct {
		name    string
		parts   map[string]repeated
		empty   int
		rows    int // 0: refused
		refusal string
	}{
		{"empty shared texts", map[string]repeated{"xl/sharedStrings.xml": {"<sst>", "<si/>", 60_000_000, "</sst>"}}, 0, 0, "a.xlsx: part xl/sharedStrings.xml"},
		{"shared text", shared(2<<20, 300), 0, 300, ""},
		{"shared text, more in all than the limit", shared(2<<20, 3000), 0, 0, "a.xlsx: sheet Sheet1, row"},
		{"shared text in a row", wideRow, 0, 0, "a.xlsx: sheet Sheet1, row 2, column"},
		{"shared text in the names", wide, 0, 0, "a.xlsx: sheet Sheet1, row 1, column"},
		{"styles", map[string]repeated{"xl/styles.xml": {"<styleSheet><cellXfs>", "<xf/>", 20_000_000, "</cellXfs></styleSheet>"}}, 0, 0, "a.xlsx: part xl/styles.xml"},
		{"nesting", sheet("<nest>", 1_000_000), 0, 0, "a.xlsx: part xl/worksheets/sheet1.xml"},
		{"one cell of many texts", sheet(`<row><c t="inlineStr"><is>`+strings.Repeat(`<t>`+strings.Repeat("a", 1<<20)+`</t>`, 20)+`</is></c></row>`, 1), 0, 0, "a.xlsx: part xl/worksheets/sheet1.xml"},
		{"parts", nil, 300_000, 0, "a.xlsx: its directory"},
	} {
		t.Run(c.name, func(t *testing.T) {
			path := bombBook(t, c.parts, c.empty)
			var rows int
			var err error
			most := peak(t, func() { rows, err = through(path, meter.Limits{Unpacked: 1 << 30}) })
			t.Logf("%d MiB, %v", most>>20, err)
			if most > 256<<20 {
				t.Errorf("it takes %d MiB", most>>20)
			}
			switch {
			case c.rows > 0 && (err != nil || rows != c.rows):
				t.Errorf("%d rows, %v", rows, err)
			case c.rows == 0 && (noren.CodeOf(err) != meter.Code || !strings.HasPrefix(err.Error(), c.refusal)):
				t.Errorf("got %v, want the code %s at %s", err, meter.Code, c.refusal)
			}
		})
	}
}
