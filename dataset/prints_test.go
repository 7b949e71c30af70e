package dataset

import (
	"bytes"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"maps"
	"math/big"
	"reflect"
	"slices"
	"testing"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
	"golang.org/x/text/encoding/japanese"
	"pgregory.net/rapid"

	"github.com/noren-privacy/noren"
	"github.com/noren-privacy/noren/table/csvio"
)

// definitionOf is a definition under which g is a table of texts.
func definitionOf(t fataler, g *grid, form File) *Definition {
	d := Definition{File: form}
	for _, name := range g.names {
		d.Columns = append(d.Columns, Column{Name: name})
	}
	return complete(t, d)
}

func tablePrint(t fataler, content []byte, d *Definition, k Keys) string {
	t.Helper()
	prints, err := TablePrint(bg, openBytes(t, content, d), []Keys{k})
	if err != nil {
		t.Fatal(err)
	}
	return prints[0]
}

func columnPrints(t fataler, content []byte, d *Definition) map[string]string {
	t.Helper()
	prints, err := Prints(bg, openBytes(t, content, d), d, nil, testKeys)
	if err != nil {
		t.Fatal(err)
	}
	return prints
}

func packed(t fataler, content []byte, with string) []byte {
	t.Helper()
	var out bytes.Buffer
	var err error
	switch with {
	case "gzip":
		w := gzip.NewWriter(&out)
		_, err = w.Write(content)
		if e := w.Close(); err == nil {
			err = e
		}
	case "zstd":
		var w *zstd.Encoder
		if w, err = zstd.NewWriter(&out); err == nil {
			_, err = w.Write(content)
			if e := w.Close(); err == nil {
				err = e
			}
		}
	}
	if err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// shiftJIS are the cells that Shift_JIS can hold.
var shiftJIS = slices.DeleteFunc(slices.Clone(cellTexts), func(s string) bool {
	_, err := japanese.ShiftJIS.NewEncoder().String(s)
	return err != nil
})

// One table in every form has one table print, and its column prints depend on the
// order of the records alone.
func TestOneTableOnePrint(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		names := []string{"b", "a", "姓"}[:rapid.IntRange(1, 3).Draw(t, "columns")]
		g := &grid{names: names}
		for range rapid.IntRange(0, 12).Draw(t, "rows") {
			row := make([]*string, len(names))
			for i := range row {
				row[i] = ptr(rapid.SampledFrom(shiftJIS).Draw(t, "cell"))
			}
			g.rows = append(g.rows, row)
		}
		plain := definitionOf(t, g, File{})
		text := g.write(t, "in.csv", csvio.Dialect{})
		want, columns := tablePrint(t, text, plain, testKeys), columnPrints(t, text, plain)
		review, err := Inspect(bg, openBytes(t, text, plain), plain, InspectOptions{Keys: testKeys})
		if err != nil || review.Print != want || !maps.Equal(review.Prints, columns) {
			t.Fatalf("inspected: %+v, %v; want %s, %v", review, err, want, columns)
		}
		type form struct {
			content []byte
			file    File
			ordered bool // the records are in the same order
		}
		index := func(n int) []int {
			all := make([]int, n)
			for i := range all {
				all[i] = i
			}
			return all
		}
		rows := rapid.Permutation(index(len(g.rows))).Draw(t, "order of rows")
		order := rapid.Permutation(index(len(names))).Draw(t, "order of columns")
		for name, f := range map[string]form{
			"gzip":      {packed(t, text, "gzip"), File{}, true},
			"zstd":      {packed(t, text, "zstd"), File{}, true},
			"CRLF":      {g.write(t, "in.csv", csvio.Dialect{CRLF: true}), File{}, true},
			"BOM":       {g.write(t, "in.csv", csvio.Dialect{BOM: true}), File{}, true},
			"Shift_JIS": {g.write(t, "in.csv", csvio.Dialect{Encoding: csvio.ShiftJIS}), File{Encoding: "shift_jis"}, true},
			"tabs":      {g.write(t, "in.csv", csvio.Dialect{Delimiter: '\t'}), File{Delimiter: "\t"}, true},
			"Parquet":   {g.write(t, "in.parquet", csvio.Dialect{}), File{Kind: "parquet"}, true},
			"columns":   {g.permuted(order, index(len(g.rows))).write(t, "in.csv", csvio.Dialect{}), File{}, true},
			"rows":      {g.permuted(index(len(names)), rows).write(t, "in.csv", csvio.Dialect{}), File{}, slices.IsSorted(rows)},
			"both":      {g.permuted(order, rows).write(t, "in.parquet", csvio.Dialect{}), File{Kind: "parquet"}, slices.IsSorted(rows)},
		} {
			d := definitionOf(t, g, f.file)
			if got := tablePrint(t, f.content, d, testKeys); got != want {
				t.Fatalf("%s: %s, want %s", name, got, want)
			}
			if got := columnPrints(t, f.content, d); f.ordered && !maps.Equal(got, columns) {
				t.Fatalf("%s: %v, want %v", name, got, columns)
			}
		}
	})
}

// Blank lines between records are none where there are several columns; trailing
// ones change nothing.
func TestBlankLinesAndPrints(t *testing.T) {
	d := complete(t, Definition{Columns: []Column{{Name: "a"}, {Name: "b"}}})
	if tablePrint(t, []byte("a,b\n1,2\n"), d, testKeys) != tablePrint(t, []byte("a,b\r\n\r\n\"1\",2\n\n\n"), d, testKeys) {
		t.Error("blank lines of a table of two columns count")
	}
	one := complete(t, Definition{Columns: []Column{{Name: "a"}}})
	if tablePrint(t, []byte("a\n1\n"), one, testKeys) == tablePrint(t, []byte("a\n1\n\n"), one, testKeys) {
		t.Error("a blank line of a table of one column is a record")
	}
	tab, _, err := Read(bg, openString(t, "a\n\n1\n\n", one), one, one.Fields(), nil)
	if err != nil || tab.Rows != 3 || tab.Columns[0].Missing() != 2 {
		t.Errorf("%+v, %v", tab, err)
	}
}

// Other tables have other prints.
func TestOtherTablesOtherPrints(t *testing.T) {
	parquet := File{Kind: "parquet"}
	base := func() *grid {
		return newGrid([]string{"a", "b"}, []string{"1", "23"}, []string{"x", ""}, []string{"1", "23"}, []string{"y", "z"})
	}
	seen := map[string]string{}
	for name, change := range map[string]func(g *grid){
		"the table":           func(*grid) {},
		"a changed cell":      func(g *grid) { g.rows[3][1] = ptr("Z") },
		"null for empty":      func(g *grid) { g.rows[1][1] = nil },
		"a moved border":      func(g *grid) { g.rows[0] = []*string{ptr("12"), ptr("3")} },
		"a doubled row":       func(g *grid) { g.rows = append(g.rows, g.rows[3]) },
		"a row less":          func(g *grid) { g.rows = g.rows[:3] },
		"one of two the same": func(g *grid) { g.rows = slices.Delete(g.rows, 0, 1) },
		"swapped cells":       func(g *grid) { g.rows[0][0], g.rows[1][0] = g.rows[1][0], g.rows[0][0] },
		"swapped columns":     func(g *grid) { g.names = []string{"b", "a"} },
		"another name":        func(g *grid) { g.names = []string{"a", "c"} },
		"trailing blank":      func(g *grid) { g.rows[3][1] = ptr("z ") },
		"no rows":             func(g *grid) { g.rows = nil },
	} {
		g := base()
		change(g)
		p := tablePrint(t, g.write(t, "in.parquet", csvio.Dialect{}), definitionOf(t, g, parquet), testKeys)
		if other, known := seen[p]; known {
			t.Errorf("%s has the print of %s", name, other)
		}
		seen[p] = name
	}
	// Column prints: order, borders, null and name.
	prints := map[string]string{}
	for name, column := range map[string]*grid{
		"the column":     {[]string{"a"}, [][]*string{{ptr("12")}, {ptr("3")}, {ptr("")}}},
		"swapped":        {[]string{"a"}, [][]*string{{ptr("3")}, {ptr("12")}, {ptr("")}}},
		"a moved border": {[]string{"a"}, [][]*string{{ptr("1")}, {ptr("23")}, {ptr("")}}},
		"null":           {[]string{"a"}, [][]*string{{ptr("12")}, {ptr("3")}, {nil}}},
		"shorter":        {[]string{"a"}, [][]*string{{ptr("12")}, {ptr("3")}}},
		"another name":   {[]string{"b"}, [][]*string{{ptr("12")}, {ptr("3")}, {ptr("")}}},
		"a NUL for null": {[]string{"a"}, [][]*string{{ptr("12")}, {ptr("3")}, {ptr("\x00")}}},
	} {
		p := columnPrints(t, column.write(t, "in.parquet", csvio.Dialect{}), definitionOf(t, column, parquet))[column.names[0]]
		if other, known := prints[p]; known {
			t.Errorf("%s has the column print of %s", name, other)
		}
		prints[p] = name
	}
}

// The prints follow their definitions, computed here from these alone.
func TestPrintsByDefinition(t *testing.T) {
	d := complete(t, Definition{Columns: []Column{{Name: "a"}, {Name: "b"}}})
	text := []byte("b,a\nx,1\n,\"2\"\n")
	mac := func(key []byte, parts ...string) []byte {
		h := hmac.New(sha256.New, key)
		for _, p := range parts {
			h.Write([]byte(p))
		}
		return h.Sum(nil)
	}
	sum := new(big.Int)
	for _, row := range []string{"\x021\x02x", "\x022\x01"} {
		sum.Add(sum, new(big.Int).SetBytes(mac(testKeys.Row, row)))
	}
	sum.And(sum, new(big.Int).Sub(new(big.Int).Lsh(big.NewInt(1), 256), big.NewInt(1)))
	want := "hmac-sha256:" + hex.EncodeToString(mac(testKeys.Table, "\x02\x01a\x01b\x00\x00\x00\x00\x00\x00\x00\x02",
		string(sum.FillBytes(make([]byte, 32)))))
	if got := tablePrint(t, text, d, testKeys); got != want {
		t.Errorf("%s, want %s", got, want)
	}
	columns := columnPrints(t, text, d)
	if want := "hmac-sha256:" + hex.EncodeToString(mac(testKeys.Column, "\x01b\x02x\x01")); columns["b"] != want {
		t.Errorf("%s, want %s", columns["b"], want)
	}
	// Several keys in one pass; other keys, other prints.
	other := KeysOf(func(purpose string) []byte { return []byte("another secret for " + purpose) })
	both, err := TablePrint(bg, openBytes(t, text, d), []Keys{other, testKeys})
	if err != nil || both[1] != want || both[0] == want {
		t.Errorf("%v, %v", both, err)
	}
	if bytes.Equal(other.Row, other.Table) || bytes.Equal(other.Row, other.Column) {
		t.Error("two purposes have one key")
	}
	some, err := Prints(bg, openBytes(t, text, d), d, []string{"b", "b"}, testKeys)
	if err != nil || len(some) != 1 || some["b"] != columns["b"] {
		t.Errorf("%v, %v", some, err)
	}
	if _, err := Prints(bg, openBytes(t, text, d), d, []string{"c"}, testKeys); err == nil {
		t.Error("a column that does not exist has a print")
	}
}

// The print of a run of texts is the HMAC of their lengths and bytes, whatever their
// lengths are and wherever the buffer is written out.
func TestTapeOfTexts(t *testing.T) {
	key := []byte("0123456789abcdef")
	rapid.Check(t, func(rt *rapid.T) {
		short := rapid.IntRange(0, 20)
		lengths := rapid.SliceOfN(rapid.OneOf(short, short, short, rapid.IntRange(120, 135), rapid.IntRange(0, 3*tapeSize)), 0, 60).
			Draw(rt, "lengths")
		run := rapid.IntRange(1, 2000).Draw(rt, "repeated")
		var texts [][]byte
		for i, n := range lengths {
			text := make([]byte, n)
			for j := range text {
				text[j] = byte(i*31 + j*7 + 1)
			}
			texts = append(texts, text)
			if n <= 20 {
				for range run {
					texts = append(texts, text)
				}
			}
		}
		tape, mac := newTape(key, "name"), hmac.New(sha256.New, key)
		half := len(texts) / 2
		tape.texts(texts[:half])
		tape.texts(texts[half:])
		mac.Write([]byte("\x04name"))
		for _, text := range texts {
			mac.Write(binary.AppendUvarint(nil, uint64(len(text))+1))
			mac.Write(text)
		}
		if got, want := tape.print(), printOf(mac); got != want {
			rt.Fatalf("got %s, want %s", got, want)
		}
	})
}

// The prints of a data set in several files depend on the cells of each file, and on
// neither the order of the files nor which of two equal ones is which.
func TestShardPrints(t *testing.T) {
	k := ShardKeysOf(func(purpose string) []byte { return []byte(purpose + ", a secret of a ledger") })
	d := complete(t, Definition{File: File{Sharded: true}, Columns: []Column{{Name: "a"}, {Name: "b"}}})
	of := func(texts ...string) map[string]string {
		t.Helper()
		var files []map[string]string
		for _, text := range texts {
			p, err := Prints(bg, openString(t, "a,b\n"+text, d), d, nil, k.File)
			if err != nil {
				t.Fatal(err)
			}
			files = append(files, p)
		}
		return ShardPrints(k, files)
	}
	one := of("1,2\n", "3,4\n", "3,4\n")
	if again := of("3,4\n", "1,2\n", "3,4\n"); !reflect.DeepEqual(one, again) {
		t.Errorf("another order of files: %v, %v", one, again)
	}
	for name, other := range map[string]map[string]string{
		"a cell": of("1,2\n", "3,4\n", "3,5\n"), "a file less": of("1,2\n", "3,4\n"), "records in another file": of("1,2\n3,4\n", "3,4\n"),
		"another file twice": of("1,2\n", "1,2\n", "3,4\n"), "no file": of(),
	} {
		if reflect.DeepEqual(one, other) {
			t.Errorf("%s: the same prints", name)
		}
	}
	if other := of("1,2\n", "3,4\n", "3,5\n"); one["a"] != other["a"] || one["b"] == other["b"] {
		t.Error("the print of a column is not that of its cells")
	}
	swapped := ShardKeysOf(func(purpose string) []byte { return []byte(purpose + ", a secret of another ledger") })
	p, err := Prints(bg, openString(t, "a,b\n1,2\n", d), d, nil, k.File)
	if err != nil {
		t.Fatal(err)
	}
	if reflect.DeepEqual(ShardPrints(swapped, []map[string]string{p}), ShardPrints(k, []map[string]string{p})) {
		t.Error("prints under two keys are the same")
	}
	bad := Definition{
		File: File{Sharded: true}, Columns: []Column{{Name: "a"}}, Neighbours: "replace-one", Records: 3,
		Model: &Model{Column: "a", States: []string{"x", "y"}, Distribution: []byte("{}")},
	}
	if _, err := bad.Complete(); noren.KindOf(err) != noren.Usage {
		t.Errorf("a model of a sharded data set: %v", err)
	}
}
