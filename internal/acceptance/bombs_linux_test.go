package acceptance

import (
	"bytes"
	"compress/gzip"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/klauspost/compress/zstd"
	"github.com/parquet-go/parquet-go/format"

	"github.com/noren-privacy/noren/internal/meter/bombs"
)

// A bomb is a small file that states much more than it holds.
type bomb struct {
	name  string // of the file
	code  string // of the refusal; "" where the table is read
	write func(w io.Writer) error
}

func repeated(name, code, before, text string, times int, after string) bomb {
	return bomb{name, code, bombs.Repeated{Before: before, Text: text, Times: times, After: after}.Write}
}

// packed is a bomb whose bytes are packed as its name says, with a window of zstd.
func packed(b bomb, window int) bomb {
	inner := b.write
	b.write = func(w io.Writer) error {
		var to io.WriteCloser = gzip.NewWriter(w)
		if strings.HasSuffix(b.name, ".zst") {
			var err error
			if to, err = zstd.NewWriter(w, zstd.WithWindowSize(window), zstd.WithEncoderConcurrency(1),
				zstd.WithEncoderLevel(zstd.SpeedFastest)); err != nil {
				return err
			}
		}
		if err := inner(to); err != nil {
			return err
		}
		return to.Close()
	}
	return b
}

func workbook(name, code string, parts map[string]bombs.Repeated, empty int) bomb {
	return bomb{name + ".xlsx", code, func(w io.Writer) error { return bombs.Workbook(w, parts, empty) }}
}

func parquet(name, code string, file func() *bombs.Parquet) bomb {
	return bomb{name + ".parquet", code, func(w io.Writer) error {
		text, err := file().Bytes()
		if err == nil {
			_, err = w.Write(text)
		}
		return err
	}}
}

// indices is a page of indices into a dictionary of one number.
func indices(of []byte) func() *bombs.Parquet {
	return func() *bombs.Parquet {
		return &bombs.Parquet{
			Kind: format.Int32, Dictionary: make([]byte, 4), Terms: 1, Data: append([]byte{0}, of...), Values: 10,
			Encoding: format.RLEDictionary, Rows: 10,
		}
	}
}

// zeros is one text of 100 MiB that a codec packs.
func zeros(codec format.CompressionCodec) func() *bombs.Parquet {
	return func() *bombs.Parquet {
		return &bombs.Parquet{Kind: format.ByteArray, Codec: codec, Data: bombs.Text(100 << 20), Values: 1, Encoding: format.Plain, Rows: 1}
	}
}

// one is a map of one part.
func one(part string, is bombs.Repeated) map[string]bombs.Repeated {
	return map[string]bombs.Repeated{part: is}
}

// folderOfBombs are files that a steward may upload.
func folderOfBombs() []bomb {
	const sheet, far = "xl/worksheets/sheet1.xml", 300_000_000
	shared := func(size int, sheet bombs.Repeated) map[string]bombs.Repeated {
		return map[string]bombs.Repeated{
			"xl/worksheets/sheet1.xml": sheet,
			"xl/sharedStrings.xml":     {Before: "<sst><si><t>", Text: "a", Times: size, After: "</t></si></sst>"},
		}
	}
	nested := repeated("nested.csv.gz", "unfit", "a\n", "0", 40_000_000, "\n")
	for range 3 {
		nested = packed(nested, 0)
	}
	return []bomb{
		packed(repeated("quote.csv.gz", "too-large", "a,b\n1,\"", "xxxxxxxxxx", 4_000_000, ""), 0),
		packed(repeated("line.csv.zst", "too-large", "a,b\n", "yyyyyyyyyy", 4_000_000, ""), 1<<20),
		packed(repeated("window.csv.zst", "too-large", "a,b\n", "1,2\n", 40_000_000, ""), 256<<20),
		nested,
		repeated("columns.csv", "too-large", "", "a,", 1_000_000, "b\n"),
		repeated("fields.csv", "too-large", "", ",", 8_000_000, ""),
		packed(bomb{"rows.csv.gz", "too-large", func(w io.Writer) error {
			for i := range 30_000 {
				if _, err := fmt.Fprintf(w, "a%d,", i); err != nil {
					return err
				}
			}
			return bombs.Repeated{Before: "b\n", Text: strings.Repeat("123456789,", 30_000) + "1\n", Times: 40}.Write(w)
		}}, 0),
		packed(bomb{"values.csv.zst", "", func(w io.Writer) error {
			if _, err := io.WriteString(w, "a\n"); err != nil {
				return err
			}
			tail := strings.Repeat("x", 20_000)
			for i := range 2000 {
				if _, err := fmt.Fprintf(w, "%d%s\n", i, tail); err != nil {
					return err
				}
			}
			return nil
		}}, 1<<20),
		parquet("shared", "", func() *bombs.Parquet { return bombs.SharedText(1<<20, 60) }),
		parquet("shared-long", "too-large", func() *bombs.Parquet { return bombs.SharedText(100<<20, 2) }),
		parquet("run", "too-large", indices(bombs.Run(far))),
		parquet("packed", "too-large", indices(binary.AppendUvarint(nil, far/8<<1|1))),
		parquet("stated", "too-large", func() *bombs.Parquet {
			return &bombs.Parquet{Kind: format.ByteArray, Data: bombs.Text(1), Values: far, Encoding: format.Plain, Rows: 10}
		}),
		parquet("differences", "too-large", func() *bombs.Parquet {
			return &bombs.Parquet{Kind: format.Int64, Data: bombs.Differences(128, 4, far), Values: 10, Encoding: format.DeltaBinaryPacked, Rows: 10}
		}),
		parquet("gzip", "too-large", zeros(format.Gzip)),
		parquet("zstd", "too-large", zeros(format.Zstd)),
		parquet("snappy", "too-large", zeros(format.Snappy)),
		parquet("brotli", "too-large", zeros(format.Brotli)),
		parquet("lz4", "too-large", zeros(format.Lz4Raw)),
		parquet("columns", "too-large", func() *bombs.Parquet {
			return &bombs.Parquet{
				Kind: format.Int32, Data: make([]byte, 4), Values: 1, Rows: 1,
				Footer: func(m *format.FileMetaData) { m.Schema = append(m.Schema, bombs.Columns(300_000)...) },
			}
		}),
		parquet("groups", "", func() *bombs.Parquet {
			return &bombs.Parquet{Kind: format.Int32, Data: make([]byte, 4), Values: 1, Rows: 1, Groups: 5000}
		}),
		workbook("si", "too-large", one("xl/sharedStrings.xml", bombs.Repeated{
			Before: "<sst>", Text: "<si/>", Times: 20_000_000,
			After: "</sst>",
		}), 0),
		workbook("shared", "", shared(1<<20, bombs.Sheet(`<row><c t="s"><v>0</v></c></row>`, 100)), 0),
		workbook("wide", "too-large", shared(2<<20, bombs.Repeated{
			Before: `<worksheet><sheetData><row>`, Text: `<c t="s"><v>0</v></c>`,
			Times: 1000, After: `</row></sheetData></worksheet>`,
		}), 0),
		workbook("styles", "too-large", one("xl/styles.xml", bombs.Repeated{
			Before: "<styleSheet><cellXfs>", Text: "<xf/>", Times: 3_000_000,
			After: "</cellXfs></styleSheet>",
		}), 0),
		workbook("formats", "too-large", one("xl/styles.xml",
			bombs.Repeated{
				Before: "<styleSheet><numFmts>", Text: `<numFmt numFmtId="1" formatCode="` + strings.Repeat("yyyy", 2000) + `"/>`,
				Times: 7_000, After: "</numFmts></styleSheet>",
			}), 0),
		workbook("merged", "", one(sheet, bombs.Repeated{
			Before: `<worksheet><sheetData><row><c t="str"><v>name</v></c></row><row><c><v>1</v></c></row></sheetData><mergeCells>`,
			Text:   `<mergeCell ref="A5:XFD1048576"/>`, Times: 500_000, After: `</mergeCells></worksheet>`,
		}), 0),
		workbook("sheets", "too-large", one("xl/workbook.xml",
			bombs.Repeated{
				Before: `<workbook xmlns:r="http://schemas.openxmlformats.org/officeDocument/2006/relationships"><sheets>`,
				Text:   `<sheet name="S" sheetId="1" r:id="r1"/>`, Times: 600_000, After: `</sheets></workbook>`,
			}), 0),
		workbook("nesting", "too-large", one(sheet, bombs.Sheet("<nest>", 1_000_000)), 0),
		workbook("cell", "too-large",
			one(sheet, bombs.Sheet(`<row><c t="inlineStr"><is>`+strings.Repeat(`<t>`+strings.Repeat("a", 1<<20)+`</t>`, 20)+`</is></c></row>`, 1)),
			0),
		workbook("attribute", "too-large", one(sheet, bombs.Sheet("aaaaaaaaaa", 1_700_000)), 0),
		workbook("parts", "too-large", nil, 300_000),
	}
}

// resident is a line of the memory of the server's process, in bytes.
func (s *served) resident(t *testing.T, line string) int64 {
	t.Helper()
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", s.cmd.Process.Pid))
	if err != nil {
		t.Fatal(err)
	}
	_, after, _ := strings.Cut(string(text), line+":")
	kB, err := strconv.ParseInt(strings.Fields(after)[0], 10, 64)
	if err != nil {
		t.Fatal(err)
	}
	return kB << 10
}

// ended waits until a job ends in whatever way.
func (u *user) ended(t *testing.T, id string) job {
	t.Helper()
	for range 6000 {
		var j job
		u.must(t, 200, "GET", "/jobs/"+id, nil, &j)
		if j.State != "queued" && j.State != "running" {
			return j
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Fatal("the job does not end")
	return job{}
}

// bombMemory is the value of --memory, and bombCeiling the most that the process may take beyond
// what it took before: two jobs of half as much, as much again that Go's collector has not yet
// taken back, and 64 MB of the program itself, such as its buffers and caches.
const bombMemory, bombCeiling = 128e6, 2*bombMemory + 64e6

// A server to which two stewards upload a folder of bombs at once refuses each with its code,
// or reads it, and lives on within its memory.
func TestUploadedBombs(t *testing.T) {
	s := serve(t, "--memory", fmt.Sprintf("%dMB", int(bombMemory/1e6)))
	first := s.steward(t)
	second := noren(t, "serve", "principal", "add", "--dir", s.dir, "--name", "Second", "--role", "steward")
	stewards := []*user{first, {served: s, id: second, name: "Second", secret: s.token(t, "Second")}}
	before := s.resident(t, "VmRSS")
	t.Run("uploads", func(t *testing.T) {
		all := folderOfBombs()
		for i, u := range stewards {
			t.Run(u.name, func(t *testing.T) {
				t.Parallel()
				for j, b := range all {
					if j%len(stewards) == i {
						u.explode(t, b)
					}
				}
			})
		}
	})
	if most := s.resident(t, "VmHWM") - before; most > bombCeiling {
		t.Errorf("the server took %d MB beside the %d MB of before", most/1e6, before/1e6)
	} else {
		t.Logf("%d MB beside %d MB", most/1e6, before/1e6)
	}
	added := first.add(t, "honest.csv", visits(1500, 1), nil)
	if b := first.book(t, added.book); b.Sealed {
		t.Error("the book is sealed")
	}
}

// explode uploads a bomb and adds it as a table.
func (u *user) explode(t *testing.T, b bomb) {
	t.Helper()
	var file bytes.Buffer
	if err := b.write(&file); err != nil {
		t.Fatal(err)
	}
	begun := time.Now()
	var added struct {
		Table struct{ ID string }
		Job   job
	}
	u.must(t, 202, "POST", "/tables", map[string]any{
		"name":   b.name,
		"source": map[string]any{"kind": "upload", "upload": u.upload(t, b.name, file.Bytes())},
	}, &added)
	j := u.ended(t, added.Job.ID)
	var p struct{ Code, Detail, Where string }
	if j.Problem != nil {
		if err := json.Unmarshal(j.Problem, &p); err != nil {
			t.Error(err)
		}
	}
	t.Logf("%s of %d bytes: %s in %v, at most %d MB: %s", b.name, file.Len(), j.State, time.Since(begun), u.resident(t, "VmHWM")/1e6,
		j.Problem)
	if want := map[bool]string{true: "done", false: "failed"}[b.code == ""]; j.State != want || p.Code != b.code {
		t.Errorf("%s: %s, %s %s", b.name, j.State, p.Code, j.Problem)
	}
}
