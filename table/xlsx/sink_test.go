package xlsx_test

import (
	"bytes"
	"errors"
	"io"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"runtime/metrics"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/noren-privacy/noren"
	"github.com/noren-privacy/noren/internal/randtest"
	"github.com/noren-privacy/noren/table"
	"github.com/noren-privacy/noren/table/csvio"
	"github.com/noren-privacy/noren/table/file"
	"github.com/noren-privacy/noren/table/tabletest"
	"github.com/noren-privacy/noren/table/xlsx"
)

func ptr[T any](v T) *T { return &v }

// What is written shows the same when it is read, whatever it is: numbers of all
// sizes, dates of all years, texts with all characters, missing values.
func TestWriteRead(t *testing.T) {
	days := table.Logical{Of: table.Day}
	columns := []table.StoredColumn{
		{Name: "int", Kind: table.Int, Nullable: true},
		{Name: "float", Kind: table.Float, Nullable: true},
		{Name: "text", Kind: table.Text, Nullable: true},
		{Name: "decimal", Kind: table.Text, Nullable: true, Proposed: ptr(table.Decimal)},
		{Name: "day", Kind: table.Int, Nullable: true, Logical: days, AppendText: days.Show()},
	}
	for _, l := range []table.Logical{
		{Of: table.Boolean},
		{Of: table.Instant, PerSecond: 1000},
		{Of: table.Instant, PerSecond: 1_000_000_000},
		{Of: table.UTCInstant, PerSecond: 1_000_000},
		{Of: table.Clock, PerSecond: 1_000_000},
	} {
		columns = append(columns, table.StoredColumn{
			Name: string(rune('A' + len(columns))), Kind: table.Int, Nullable: true, Logical: l,
			AppendText: l.Show(),
		})
	}
	texts := rapid.OneOf(rapid.String(), rapid.SampledFrom([]string{
		"=1+1", "+a", "-1", "@x", "_x0041_", "_x005F_", "_", "\r\n\t", " ",
		"\x00\x1f", "<&>\"'", "]]>", "\ufffe\uffff", "😀",
	}))
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 20).Draw(t, "rows")
		c := &table.Chunk{Rows: n, Cols: make([]table.Vector, len(columns))}
		for j := range columns {
			v := &c.Cols[j]
			v.Kind = columns[j].Kind
			for range n {
				v.Null = append(v.Null, rapid.IntRange(0, 4).Draw(t, "null") == 0)
				switch v.Kind {
				case table.Int:
					max := int64(1) << rapid.IntRange(0, 62).Draw(t, "bits")
					value := rapid.Int64Range(-max, max).Draw(t, "n")
					switch columns[j].Logical.Of {
					case table.Boolean:
						value &= 1
					case table.Day: // years that a date of four digits has
						value = rapid.Int64Range(-719162, 2932896).Draw(t, "day")
					case table.Instant, table.UTCInstant:
						value = rapid.Int64Range(-4e9, 9e9).Draw(t, "s")*columns[j].Logical.PerSecond + rapid.SampledFrom([]int64{0, 1, 500}).Draw(t, "part")
					case table.Clock:
						value = rapid.Int64Range(0, 86399_999_999).Draw(t, "us")
					}
					v.Ints = append(v.Ints, value)
				case table.Float:
					v.Floats = append(v.Floats, rapid.Float64().Draw(t, "f"))
				default:
					text := texts.Draw(t, "text")
					if columns[j].Proposed != nil {
						text = string(table.AppendFloat(nil, rapid.Float64Range(-1e18, 1e18).Draw(t, "decimal")+0)) // a workbook has one zero
					}
					v.Texts = append(v.Texts, []byte(text))
				}
			}
		}
		var b bytes.Buffer
		s, err := xlsx.NewSink(&b, "out.xlsx", columns)
		if err != nil {
			t.Fatal(err)
		}
		if err := errors.Join(s.Write(c), s.Close()); err != nil {
			t.Fatal(err)
		}
		src, err := openBytes(b.Bytes())
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = src.Close() }()
		var want [][]string
		for i := range n {
			var row []string
			for j := range columns {
				text := string(table.AppendText(nil, &columns[j], &c.Cols[j], i))
				if f := c.Cols[j].Floats; f != nil && f[i] == 0 && !c.Cols[j].IsNull(i) {
					text = "0" // a workbook has one zero
				}
				if l := columns[j].Logical.Of; text != "" && l == table.Instant || l == table.Clock {
					text = fraction(text)
				}
				if c.Cols[j].IsNull(i) || text == "" {
					text = "<null>"
				}
				row = append(row, text)
			}
			want = append(want, row)
		}
		got := tabletest.Texts(t, src)
		for i := range got {
			for j := range got[i] {
				if l := columns[j].Logical.Of; got[i][j] != "<null>" && (l == table.Instant || l == table.Clock) {
					got[i][j] = fraction(got[i][j])
				}
			}
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Fatal(diff)
		}
	})
}

// fraction drops the zeros at the end of the parts of a second, of which every
// unit shows another number.
func fraction(text string) string {
	if strings.Contains(text, ".") {
		text = strings.TrimRight(strings.TrimRight(text, "0"), ".")
	}
	return text
}

func TestWriteFaults(t *testing.T) {
	text := []table.StoredColumn{{Name: "a"}, {Name: "b"}}
	for name, columns := range map[string][]table.StoredColumn{
		"none": nil, "no name": {{Name: " "}}, "same name": {{Name: "a"}, {Name: "a"}},
	} {
		if _, err := xlsx.NewSink(io.Discard, "out.xlsx", columns); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
	for name, cell := range map[string]string{"not valid UTF-8": "\xff", "longer than the 32767 characters": strings.Repeat("😀", 16384)} {
		path := filepath.Join(t.TempDir(), "out.xlsx")
		s, err := file.Create(path, text, csvio.Dialect{})
		if err != nil {
			t.Fatal(err)
		}
		err = s.Write(&table.Chunk{Rows: 1, Cols: []table.Vector{{Texts: [][]byte{[]byte("a")}}, {Texts: [][]byte{[]byte(cell)}}}})
		if noren.KindOf(err) != noren.BadData || !strings.Contains(err.Error(), "out.xlsx: record 1, column 2 (b): a text is "+name) {
			t.Errorf("%s: %v", name, err)
		}
		if e := s.Close(); e == nil {
			t.Errorf("%s: the workbook was completed", name)
		}
		if _, err := os.Stat(path); err == nil {
			t.Errorf("%s: the workbook is there", name)
		}
	}
}

// A full disk is an error with the system's reason, and nothing is left.
func TestDiskFull(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("needs /dev/full")
	}
	full, err := os.OpenFile("/dev/full", os.O_WRONLY, 0)
	if err != nil {
		t.Skip("needs /dev/full")
	}
	defer func() { _ = full.Close() }()
	s, err := xlsx.NewSink(full, "out.xlsx", []table.StoredColumn{{Name: "a", Kind: table.Float}})
	if err != nil {
		t.Fatal(err)
	}
	c := &table.Chunk{Rows: 4096, Cols: []table.Vector{{Kind: table.Float, Floats: make([]float64, 4096)}}}
	for i := range c.Rows {
		c.Cols[0].Floats[i] = math.Sqrt(float64(i))
	}
	for range 200 {
		if err = s.Write(c); err != nil {
			break
		}
	}
	err = errors.Join(err, s.Close())
	if !errors.Is(err, syscall.ENOSPC) || !strings.Contains(err.Error(), "out.xlsx: cannot be written") {
		t.Errorf("got %v", err)
	}
}

// A workbook of many records is read and written in memory that does not grow
// with them.
func TestMemory(t *testing.T) {
	randtest.SkipShort(t)
	testMemory(t, 160_000, 16<<20)
}

func TestLongMemory(t *testing.T) {
	randtest.Long(t)
	testMemory(t, 500_000, 48<<20)
}

func testMemory(t *testing.T, rows, limit int64) {
	path := filepath.Join(t.TempDir(), "large.xlsx")
	columns := []table.StoredColumn{
		{Name: "id", Kind: table.Int},
		{Name: "name"},
		{Name: "fee", Kind: table.Float},
		{Name: "day", Kind: table.Int, Logical: table.Logical{Of: table.Day}},
	}
	peak := func() uint64 {
		heap := []metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}}
		metrics.Read(heap)
		return heap[0].Value.Uint64()
	}
	runtime.GC()
	before, most := peak(), uint64(0)
	s, err := file.Create(path, columns, csvio.Dialect{})
	if err != nil {
		t.Fatal(err)
	}
	const chunk = 4000
	c := &table.Chunk{Rows: chunk, Cols: []table.Vector{
		{Kind: table.Int, Ints: make([]int64, chunk)},
		{Texts: make([][]byte, chunk)},
		{Kind: table.Float, Floats: make([]float64, chunk)},
		{Kind: table.Int, Ints: make([]int64, chunk)},
	}}
	for from := int64(0); from < rows; from += chunk {
		for i := range int64(chunk) {
			c.Cols[0].Ints[i], c.Cols[2].Floats[i], c.Cols[3].Ints[i] = from+i, float64(from+i)/4, (from+i)%20000
			c.Cols[1].Texts[i] = []byte("a name of some length")
		}
		if err := s.Write(c); err != nil {
			t.Fatal(err)
		}
		most = max(most, peak())
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	done := make(chan struct{})
	watched := make(chan uint64)
	go func() {
		seen := uint64(0)
		for {
			select {
			case <-done:
				watched <- seen
				return
			default:
				seen = max(seen, peak())
				time.Sleep(100 * time.Microsecond)
			}
		}
	}()
	src, err := open(t, path, xlsx.Options{})
	close(done)
	most = max(most, <-watched)
	if err != nil {
		t.Fatal(err)
	}
	if src.Rows() != rows {
		t.Errorf("%d records", src.Rows())
	}
	if grown := int64(most) - int64(before); grown > limit {
		t.Errorf("the heap grew by %d MiB", grown>>20)
	} else {
		t.Logf("the heap grew by %d MiB", grown>>20)
	}
}
