package publish_test

import (
	"context"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/parquet-go/parquet-go"

	"github.com/noren-privacy/noren/kanon/publish"
	"github.com/noren-privacy/noren/table"
	"github.com/noren-privacy/noren/table/file"
)

// patient is a record of a file whose columns have types of their own. -9 and
// -1 stand for missing values, as such files have them.
type patient struct {
	Age    int16    `parquet:"age"`
	Born   int32    `parquet:"born,date"`
	Code   int64    `parquet:"code"`
	Fee    int32    `parquet:"fee,decimal(2:9)"`
	Level  string   `parquet:"level"`
	Lost   string   `parquet:"lost"`
	Maybe  *int32   `parquet:"maybe,optional"`
	Seen   int32    `parquet:"seen,date"`
	Smokes bool     `parquet:"smokes"`
	UUID   [16]byte `parquet:"uuid,uuid"`
	Weight float32  `parquet:"weight"`
	Wide   float64  `parquet:"wide"`
}

func ptr[T any](v T) *T { return &v }

// patients are two groups of two.
var patients = []patient{
	{30, 0, 7, 1250, "low", "a", ptr[int32](4), 3, true, [16]byte{1}, 60.3, 1e300},
	{33, 5, -9, 1255, "high", "-9", nil, 4, true, [16]byte{1}, 60.6, -1e300},
	{50, -1, -9, -5, "high", "-9", nil, 40, false, [16]byte{2}, 0.1, 0.1},
	{51, -1, -9, -5, "high", "-9", nil, 40, true, [16]byte{2}, 0.1, 0.2},
}

var patientFields = []table.Field{
	{Name: "age", Type: table.Integer},
	{Name: "born", Type: table.Date, Layout: "DD.MM.YYYY"},
	{Name: "code", Type: table.Integer},
	{Name: "fee", Type: table.Decimal},
	{Name: "level", Type: table.Ordered, Levels: []string{"low", "high"}},
	{Name: "lost"},
	{Name: "maybe", Type: table.Integer},
	{Name: "seen", Type: table.Date},
	{Name: "smokes"},
	{Name: "uuid"},
	{Name: "weight", Type: table.Decimal, Round: round(1)},
	{Name: "wide", Type: table.Decimal},
}

func writePatients(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "in.parquet")
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = f.Close() }()
	w := parquet.NewGenericWriter[patient](f)
	if _, err := w.Write(patients); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return path
}

func open(t *testing.T, path string) file.Source {
	t.Helper()
	src, err := file.Open(context.Background(), path, file.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = src.Close() })
	return src
}

// release publishes the patients in groups of two and writes what each shows.
func release(t *testing.T, mode publish.Mode, name string) (string, []publish.Column) {
	t.Helper()
	ctx := context.Background()
	src := open(t, writePatients(t))
	in, err := table.Read(ctx, src, patientFields, table.ReadOptions{Missing: []string{"-9", "1969-12-31"}})
	if err != nil {
		t.Fatal(err)
	}
	group := []uint32{0, 0, 1, 1}
	columns, err := publish.Publish(ctx, in.Columns, src.Columns(), group, 2, publish.Options{Mode: mode})
	if err != nil {
		t.Fatal(err)
	}
	chunk := &table.Chunk{Rows: 4, Cols: make([]table.Vector, len(columns))}
	stored := make([]table.StoredColumn, len(columns))
	for i := range columns {
		stored[i] = columns[i].Stored
		columns[i].Fill(&chunk.Cols[i], group)
	}
	path := filepath.Join(t.TempDir(), name)
	sink, err := file.Create(path, stored, file.DialectFor(path, nil))
	if err != nil {
		t.Fatal(err)
	}
	if err := sink.Write(chunk); err != nil {
		t.Fatal(err)
	}
	if err := sink.Close(); err != nil {
		t.Fatal(err)
	}
	return path, columns
}

// texts reads a file: by column what its records show, <null> for a null.
func texts(t *testing.T, path string) map[string][]string {
	t.Helper()
	src := open(t, path)
	r, err := src.Open(context.Background(), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = r.Close() }()
	c, err := r.Next()
	if err != nil {
		t.Fatal(err)
	}
	out := map[string][]string{}
	for j, stored := range src.Columns() {
		for i := range c.Rows {
			text := "<null>"
			if !c.Cols[j].IsNull(i) {
				text = string(table.AppendText(nil, &stored, &c.Cols[j], i))
			}
			out[stored.Name] = append(out[stored.Name], text)
		}
	}
	return out
}

func pairs(first, second string) []string { return []string{first, first, second, second} }

// What a Parquet file holds as a number or a day is one in the release, of the
// same type where a mean of such values is such a value.
func TestParquetKeepsTypes(t *testing.T) {
	path, _ := release(t, publish.Aggregate, "out.parquet")
	want := map[string][]string{
		"age":    pairs("32", "50"),
		"born":   pairs("1970-01-03", "<null>"), // (0 + 5)/2
		"code":   pairs("7", "<null>"),
		"fee":    pairs("12.5", "-0.05"),
		"level":  pairs("low", "high"),
		"lost":   pairs("a", ""),
		"maybe":  pairs("4", "<null>"),
		"seen":   pairs("1970-01-05", "1970-02-10"), // 3.5 to the even day
		"smokes": pairs("true", "true"),             // a tie goes to the more frequent
		"uuid":   pairs("01000000-0000-0000-0000-000000000000", "02000000-0000-0000-0000-000000000000"),
		"weight": pairs("60.4", "0.1"), // 60.45 as it is shown, to the even tenth
		"wide":   pairs("0", "0.2"),
	}
	if d := cmp.Diff(want, texts(t, path)); d != "" {
		t.Errorf("(-want +got)\n%s", d)
	}
	// The schema by the library itself.
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = f.Close() }()
	info, err := f.Stat()
	if err != nil {
		t.Fatal(err)
	}
	p, err := parquet.OpenFile(f, info.Size())
	if err != nil {
		t.Fatal(err)
	}
	types := map[string]string{}
	for _, c := range p.Schema().Fields() {
		need := "required"
		if c.Optional() {
			need = "optional"
		}
		types[c.Name()] = need + " " + c.Type().String()
	}
	wantTypes := map[string]string{
		"age":    "required INT(16,true)",
		"born":   "optional DATE", // a day stood for a missing value and a null does now
		"code":   "optional INT(64,true)",
		"fee":    "required DOUBLE", // a mean has more places than the type
		"level":  "required STRING",
		"lost":   "required STRING",
		"maybe":  "optional INT(32,true)",
		"seen":   "required DATE",
		"smokes": "required STRING",
		"uuid":   "required STRING",
		"weight": "required FLOAT",
		"wide":   "required DOUBLE",
	}
	if d := cmp.Diff(wantTypes, types); d != "" {
		t.Errorf("(-want +got)\n%s", d)
	}
}

func TestParquetToText(t *testing.T) {
	path, _ := release(t, publish.Aggregate, "out.csv")
	got, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	const first = "32,1970-01-03,7,12.5,low,a,4,1970-01-05,true,01000000-0000-0000-0000-000000000000,60.4,0\n"
	const second = "50,,,-0.05,high,,,1970-02-10,true,02000000-0000-0000-0000-000000000000,0.1,0.2\n"
	want := "age,born,code,fee,level,lost,maybe,seen,smokes,uuid,weight,wide\n" + first + first + second + second
	if d := cmp.Diff(want, string(got)); d != "" {
		t.Errorf("(-want +got)\n%s", d)
	}
}

func TestParquetRanges(t *testing.T) {
	path, columns := release(t, publish.Generalize, "out.parquet")
	for _, c := range columns {
		if c.Stored.Kind != table.Text || c.Stored.Origin != nil {
			t.Errorf("%s: a range is text and nothing else: kind %v", c.Stored.Name, c.Stored.Kind)
		}
	}
	want := map[string][]string{
		"age":    pairs("[30-33]", "[50-51]"),
		"born":   pairs("[01.01.1970-06.01.1970]", "<null>"),
		"code":   pairs("7", "<null>"),
		"fee":    pairs("[12.5-12.55]", "-0.05"),
		"level":  pairs("[low-high]", "high"),
		"lost":   pairs("a", ""),
		"maybe":  pairs("4", "<null>"),
		"seen":   pairs("[1970-01-04-1970-01-05]", "1970-02-10"),
		"smokes": pairs("true", "{false, true}"),
		"uuid":   pairs("01000000-0000-0000-0000-000000000000", "02000000-0000-0000-0000-000000000000"),
		"weight": pairs("[60.3-60.6]", "0.1"),
		"wide":   pairs("[-1"+strings.Repeat("0", 300)+"-1"+strings.Repeat("0", 300)+"]", "[0.1-0.2]"),
	}
	if d := cmp.Diff(want, texts(t, path)); d != "" {
		t.Errorf("(-want +got)\n%s", d)
	}
}

// Roundings of whole numbers, and days that are written with a time.
func TestTypedMeans(t *testing.T) {
	integer, date := table.Integer, table.Date
	for _, c := range []struct {
		field table.Field
		kind  table.Kind
		texts []string
		want  string
	}{
		{table.Field{Type: table.Integer}, table.Int, []string{"124", "127"}, "126"},
		{table.Field{Type: table.Integer, Round: round(0)}, table.Int, []string{"-124", "-127"}, "-126"},
		{table.Field{Type: table.Integer, Round: round(1)}, table.Float, []string{"124", "127"}, "125.5"},
		// more than 8 bits hold
		{table.Field{Type: table.Integer, Round: round(-1)}, table.Float, []string{"124", "127"}, "130"},
		// 29 February
		{table.Field{Type: table.Date, Layout: "YYYY-MM-DDThh:mm"}, table.Int, []string{"2024-02-28T10:00", "2024-03-01T20:00"}, "19782"},
		{table.Field{Type: table.Date, Layout: "YYYY-MM-DDThh:mm"}, table.Int, []string{"1969-12-31T23:00"}, "-1"},
		{table.Field{Type: table.Date, Layout: "DD.MM.YYYY"}, table.Int, []string{"29.02.2024"}, "19782"},
	} {
		proposed := &integer
		if c.field.Type == table.Date {
			proposed = &date
		}
		col := column(t, c.field, c.texts...)
		out, err := publish.Publish(context.Background(), []*table.Column{col},
			[]table.StoredColumn{{Name: "x", Kind: table.Int, Proposed: proposed, Origin: t}}, make([]uint32, len(c.texts)), 1, publish.Options{})
		if err != nil {
			t.Fatal(err)
		}
		if got := out[0].Stored; got.Kind != c.kind || (got.Origin != nil) != (c.kind == table.Int) {
			t.Errorf("%v: stored as %+v", c.texts, got)
		}
		words(t, shown(&out[0], 0)[0], c.want, c.texts)
	}
}

// A mean that is rounded to hundreds of powers of ten may be more than its type
// holds, though no value is.
func TestRoundingPastTheLargestNumber(t *testing.T) {
	c := column(t, table.Field{Type: table.Decimal, Round: round(-308)}, "1.7e308", "-1.7e308")
	kind := table.Decimal
	stored := []table.StoredColumn{{Name: "x", Kind: table.Float, Proposed: &kind}}
	out, err := publish.Publish(context.Background(), []*table.Column{c}, stored, []uint32{0, 1}, 2, publish.Options{})
	if err != nil {
		t.Fatal(err)
	}
	var v table.Vector
	out[0].Fill(&v, []uint32{0, 1})
	if math.IsInf(v.Floats[0], 0) || math.IsInf(v.Floats[1], 0) {
		t.Errorf("got %v", v.Floats)
	}
}
