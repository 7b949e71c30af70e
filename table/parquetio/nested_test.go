package parquetio

import (
	"bytes"
	"context"
	"encoding/base64"
	"errors"
	"io"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/parquet-go/parquet-go"
	"pgregory.net/rapid"

	"github.com/noren-privacy/noren/internal/meter/metertest"
	"github.com/noren-privacy/noren/table"
)

// texts reads a file whole, as text by columns; a null is "<null>".
func texts(t testing.TB, path string) map[string][]string {
	t.Helper()
	src, err := Open(path, Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = src.Close() }()
	r, err := src.Open(context.Background(), nil)
	if err != nil {
		t.Fatal(err)
	}
	found := map[string][]string{}
	for {
		c, err := r.Next()
		if errors.Is(err, io.EOF) {
			return found
		}
		if err != nil {
			t.Fatal(err)
		}
		for j := range c.Cols {
			s := &src.Columns()[j]
			for i := range c.Rows {
				text := "<null>"
				if !c.Cols[j].IsNull(i) {
					text = string(table.AppendText(nil, s, &c.Cols[j], i))
				}
				found[s.Name] = append(found[s.Name], text)
			}
		}
	}
}

// The files are written by pyarrow, pandas and polars (testdata/make.py).
func TestTextsOfOtherTools(t *testing.T) {
	arrow := texts(t, "testdata/arrow.parquet")
	for name, want := range map[string][]string{
		"dictionary": {"a", "b", "a", "<null>"},
		"large":      {"x", "y", "z", "<null>"},
		"tokyo":      {"1970-01-01T00:00:00.000001Z", "1969-12-31T23:59:59.999998Z", "1970-01-01T00:00:00.000003Z", "<null>"},
		"duration":   {"1", "-2", "3", "<null>"},
		"decimal":    {"1.25", "-0.05", "<null>", "99999999.99"},
		"decimal256": {"1.250", "<null>", "-3.000", "4.125"},
		"unsigned":   {"1", "9223372036854775813", "18446744073709551615", "<null>"},
		"float":      {"NaN", "+Inf", "-Inf", "<null>"},
		"null":       {"<null>", "<null>", "<null>", "<null>"},
		"list":       {"[1]", "[2,null]", "[]", "<null>"},
		"deep":       {`[["a"],[]]`, "<null>", `[null,["b",null]]`, "[[]]"},
		"struct":     {`{"a":1,"b":"x"}`, `{"a":null,"b":"q\"y"}`, "<null>", `{"a":4,"b":null}`},
		"map":        {`[{"key":"k","value":1}]`, "[]", `[{"key":"l","value":2},{"key":"m","value":null}]`, "<null>"},
	} {
		if got := arrow[name]; !reflect.DeepEqual(got, want) {
			t.Errorf("%s: got %q, want %q", name, got, want)
		}
	}
}

// Types and values of all columns are the same in a copy, and so is what the
// Arrow schema says of them.
func TestCopiesOfOtherTools(t *testing.T) {
	for _, name := range []string{"arrow", "pandas", "polars"} {
		from, to := "testdata/"+name+".parquet", filepath.Join(t.TempDir(), "out.parquet")
		if err := copyTable(from, to); err != nil {
			t.Fatal(err)
		}
		if a, b := texts(t, from), texts(t, to); !reflect.DeepEqual(a, b) {
			t.Errorf("%s: values changed", name)
		}
		schema, _, columns, err := rawRead(from)
		if err != nil {
			t.Fatal(err)
		}
		copied, meta, values, err := rawRead(to)
		if err != nil {
			t.Fatal(err)
		}
		for i := range schema[1:] {
			if a, b := schema[i+1], copied[i+1]; a.Name != b.Name || a.LogicalType.String() != b.LogicalType.String() || a.Type != b.Type ||
				a.RepetitionType != b.RepetitionType || a.NumChildren != b.NumChildren {
				t.Errorf("%s: %v became %v", name, a, b)
			}
		}
		for i := range columns {
			for j := range columns[i] {
				if a, b := columns[i][j], values[i][j]; a.String() != b.String() || a.DefinitionLevel() != b.DefinitionLevel() ||
					a.RepetitionLevel() != b.RepetitionLevel() {
					t.Errorf("%s: value %d of leaf %d: %v became %v", name, j, i, a, b)
				}
			}
		}
		if a, b := arrowOf(t, from), arrowOf(t, to); len(a) == 0 || !reflect.DeepEqual(a, b) {
			t.Errorf("%s: the Arrow schema changed", name)
		}
		for _, kv := range meta.KeyValueMetadata {
			if kv.Key != arrowKey {
				t.Errorf("%s: metadata %s was copied", name, kv.Key)
			}
		}
	}
}

func arrowOf(t testing.TB, path string) []*arrowField {
	t.Helper()
	src, err := Open(path, Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = src.Close() }()
	text, _ := src.parquet.Lookup(arrowKey)
	fields, err := parseArrowSchema(text)
	if err != nil {
		t.Fatal(err)
	}
	return fields
}

func TestArrowSchema(t *testing.T) {
	fields := map[string]*arrowField{}
	for _, f := range arrowOf(t, "testdata/arrow.parquet") {
		fields[f.name] = f
	}
	if f := fields["tokyo"]; f.kind != arrowTimestamp || f.zone != "Asia/Tokyo" || f.params[0] != 2 {
		t.Errorf("tokyo: %+v", f)
	}
	if f := fields["dictionary"]; f.dictionary == nil || f.dictionary.bits != 32 || f.kind != arrowUtf8 {
		t.Errorf("dictionary: %+v", f)
	}
	if f := fields["duration"]; f.kind != 18 || f.params[0] != 2 {
		t.Errorf("duration: %+v", f)
	}
	if f := fields["deep"]; len(f.children) != 1 || len(f.children[0].children) != 1 {
		t.Errorf("deep: %+v", f)
	}
}

// polars keeps the categories of an Enum beside its column, also those that no
// record has: they do not go to a release.
func TestNotesOfColumnsAreLeftOut(t *testing.T) {
	out := filepath.Join(t.TempDir(), "out.parquet")
	if err := copyTable("testdata/polars.parquet", out); err != nil {
		t.Fatal(err)
	}
	src, err := Open("testdata/polars.parquet", Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = src.Close() }()
	text, _ := src.parquet.Lookup(arrowKey)
	if !strings.Contains(decoded(t, text), "unused") {
		t.Fatal("the source does not hold the category")
	}
	copied, err := Open(out, Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = copied.Close() }()
	text, _ = copied.parquet.Lookup(arrowKey)
	if strings.Contains(decoded(t, text), "unused") {
		t.Error("a category that no record has is in the copy")
	}
}

func TestIndexOfPandas(t *testing.T) {
	src, err := Open("testdata/pandas.parquet", Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = src.Close() }()
	for _, c := range src.Columns() {
		if c.Index != (c.Name == "__index_level_0__") {
			t.Errorf("%s: index %v", c.Name, c.Index)
		}
	}
	for _, text := range []string{"", "{", `{"index_columns": 3}`, `{"index_columns": [{"kind": "range"}, "patient"]}`} {
		if got := pandasIndex(text); len(got) > 0 {
			t.Errorf("%s: got %v", text, got)
		}
	}
}

func TestUnreadable(t *testing.T) {
	src, err := Open("testdata/arrow.parquet", Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = src.Close() }()
	for _, c := range src.Columns() {
		if got := Unreadable(&c); (!got.IsZero()) != (c.Name == "decimal256") {
			t.Errorf("%s: %q", c.Name, got)
		}
	}
}

type visit struct {
	Age   int64
	Tests []test `parquet:"tests,list"`
	Dose  *dose
	Codes map[string]int32
	Raw   []int64 `parquet:"raw"`
}

type test struct {
	Values []string `parquet:"values,list"`
}

type dose struct {
	Drug   *string
	Amount float64
	Times  []int32
}

// Records with lists, maps and groups of any form are the same in a copy.
func TestNestedUntouched(t *testing.T) {
	dir := t.TempDir()
	from, to := filepath.Join(dir, "from.parquet"), filepath.Join(dir, "to.parquet")
	rapid.Check(t, func(t *rapid.T) {
		visits := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) visit {
			v := visit{
				Age: rapid.Int64().Draw(t, "age"), Tests: rapid.SliceOfN(rapid.Custom(func(t *rapid.T) test {
					return test{rapid.SliceOfN(rapid.String(), 0, 3).Draw(t, "values")}
				}), 0, 3).Draw(t, "tests"),
				Codes: rapid.MapOfN(rapid.String(), rapid.Int32(), 0, 3).Draw(t, "codes"), Raw: rapid.SliceOfN(rapid.Int64(), 0, 600).Draw(t, "raw"),
			}
			if rapid.Bool().Draw(t, "dosed") {
				v.Dose = &dose{Amount: rapid.SampledFrom([]float64{0, 1.5, math.Inf(1)}).Draw(t, "amount"), Times: rapid.SliceOfN(rapid.Int32(), 0, 3).
					Draw(t, "times")}
				if rapid.Bool().Draw(t, "named") {
					drug := rapid.String().Draw(t, "drug")
					v.Dose.Drug = &drug
				}
			}
			return v
		}), 0, 20).Draw(t, "visits")
		var b bytes.Buffer
		w := parquet.NewGenericWriter[visit](&b)
		_, err := w.Write(visits)
		if err := errors.Join(err, w.Close(), os.WriteFile(from, b.Bytes(), 0o600)); err != nil {
			t.Fatal(err)
		}
		_ = os.Remove(to)
		if err := copyTable(from, to); err != nil {
			t.Fatal(err)
		}
		want, err := parquet.ReadFile[visit](from)
		if err != nil {
			t.Fatal(err)
		}
		got, err := parquet.ReadFile[visit](to)
		if err != nil {
			t.Fatal(err)
		}
		if !reflect.DeepEqual(got, want) {
			t.Fatalf("got %+v, want %+v", got, want)
		}
	})
}

// Bytes that no reader made are refused by a sink, and shown without a panic.
func FuzzNested(f *testing.F) {
	src, err := Open("testdata/arrow.parquet", Options{})
	if err != nil {
		f.Fatal(err)
	}
	f.Cleanup(func() { _ = src.Close() })
	r, err := src.Open(context.Background(), nil)
	if err != nil {
		f.Fatal(err)
	}
	c, err := r.Next()
	if err != nil {
		f.Fatal(err)
	}
	var columns []table.StoredColumn
	for j, s := range src.Columns() {
		if !s.Nested {
			continue
		}
		columns = append(columns, s)
		for _, text := range c.Cols[j].Texts {
			f.Add(bytes.Clone(text))
		}
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		metertest.Hold(t, len(data))
		for _, s := range columns {
			v := table.Vector{Kind: table.Text, Texts: [][]byte{data}}
			_ = table.AppendText(nil, &s, &v, 0)
			sink, err := NewSink(io.Discard, "out.parquet", []table.StoredColumn{s})
			if err != nil {
				t.Fatal(err)
			}
			_ = sink.Write(&table.Chunk{Rows: 1, Cols: []table.Vector{v}})
			sink.Abort()
		}
	})
}

// An Arrow schema that is damaged is an error; one that is read is written so
// that it reads the same.
func FuzzArrowSchema(f *testing.F) {
	for _, name := range []string{"arrow", "pandas", "polars"} {
		src, err := Open("testdata/"+name+".parquet", Options{})
		if err != nil {
			f.Fatal(err)
		}
		text, _ := src.parquet.Lookup(arrowKey)
		f.Add([]byte(decoded(f, text)))
		if err := src.Close(); err != nil {
			f.Fatal(err)
		}
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		metertest.Hold(t, len(data))
		fields, err := parseArrowSchema(encoded(data))
		if err != nil || len(fields) == 0 {
			return
		}
		var columns []table.StoredColumn
		var origins []*origin
		for _, f := range fields {
			if f == nil {
				return
			}
			columns = append(columns, table.StoredColumn{Name: f.name, Nullable: f.nullable})
			origins = append(origins, &origin{arrow: f})
		}
		again, err := parseArrowSchema(formatArrowSchema(columns, origins))
		if err != nil || !reflect.DeepEqual(fields, again) {
			t.Errorf("%v: read again as something else", err)
		}
	})
}

func decoded(t testing.TB, text string) string {
	t.Helper()
	b, err := base64.StdEncoding.DecodeString(text)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func encoded(b []byte) string { return base64.StdEncoding.EncodeToString(b) }
