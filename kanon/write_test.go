package kanon_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/klauspost/compress/zstd"
	"github.com/parquet-go/parquet-go"
	"golang.org/x/text/encoding/japanese"

	"noren"
	"noren/kanon"
	"noren/kanon/publish"
	"noren/table"
	"noren/table/csvio"
	"noren/table/file"
)

// keys are the values of the column key in the order of the release.
func keys(t fataler, release []byte) []string {
	t.Helper()
	header, rows := readCSV(t, release)
	at := slices.Index(header, "key")
	var out []string
	for _, row := range rows {
		out = append(out, row[at])
	}
	return out
}

func sorted(s []string) []string {
	s = slices.Clone(s)
	slices.Sort(s)
	return s
}

func TestOrder(t *testing.T) {
	rows := makePeople(150, 11)
	j := job(t, t.TempDir(), rows)
	dir := t.TempDir()
	release := func(name string, change func(*kanon.Job)) []byte {
		j := j
		j.Output.Path = filepath.Join(dir, name)
		change(&j)
		anonymize(t, j)
		text := read(t, j.Output.Path)
		check(t, 5, people, rows, text)
		return text
	}
	first := release("seed 1.csv", func(j *kanon.Job) { j.Seed = ptr[uint64](1) })
	for name, change := range map[string]func(*kanon.Job){
		"one worker.csv":     func(j *kanon.Job) { j.Workers = 1 },
		"three workers.csv":  func(j *kanon.Job) { j.Workers = 3 },
		"little memory.csv":  func(j *kanon.Job) { j.Memory = 1 },
		"another folder.csv": func(j *kanon.Job) { j.Output.Path = filepath.Join(t.TempDir(), "out.csv") },
	} {
		again := release(name, func(j *kanon.Job) {
			j.Seed = ptr[uint64](1)
			change(j)
		})
		if !bytes.Equal(first, again) {
			t.Errorf("%s: the same seed gives another release", name)
		}
	}
	source := keys(t, release("kept.csv", func(j *kanon.Job) { j.KeepOrder = true }))
	if !slices.IsSorted(source) {
		t.Error("the order was to be kept")
	}
	seen := map[string]string{fmt.Sprint(source): "the source"}
	for name, change := range map[string]func(*kanon.Job){
		"seed 1 again.csv": func(j *kanon.Job) { j.Seed = ptr[uint64](1) },
		"seed 0.csv":       func(j *kanon.Job) { j.Seed = ptr[uint64](0) },
		"seed 2.csv":       func(j *kanon.Job) { j.Seed = ptr[uint64](2) },
		"drawn.csv":        func(*kanon.Job) {},
		"drawn again.csv":  func(*kanon.Job) {},
	} {
		order := keys(t, release(name, change))
		if was, known := seen[fmt.Sprint(order)]; known {
			t.Errorf("%s has the order of %s", name, was)
		}
		seen[fmt.Sprint(order)] = name
		if !slices.Equal(sorted(order), source) {
			t.Errorf("%s has other records", name)
		}
	}
}

func TestExistingOutput(t *testing.T) {
	dir := t.TempDir()
	j := job(t, dir, makePeople(30, 12))
	if err := os.WriteFile(j.Output.Path, []byte("precious"), 0o600); err != nil {
		t.Fatal(err)
	}
	_, err := kanon.Anonymize(context.Background(), j, nil)
	if noren.KindOf(err) != noren.Usage || !strings.Contains(err.Error(), "exists already") || string(read(t, j.Output.Path)) != "precious" || list(t, dir) != "in.csv out.csv" {
		t.Errorf("%v; the folder holds %s", err, list(t, dir))
	}
	j.Output.Force = true
	anonymize(t, j)
	if _, rows := readCSV(t, read(t, j.Output.Path)); len(rows) != 30 || list(t, dir) != "in.csv out.csv" {
		t.Errorf("%d records; the folder holds %s", len(rows), list(t, dir))
	}
	// A failure leaves what was there, force or not.
	before := read(t, j.Output.Path)
	j.K = 31
	if _, err := kanon.Anonymize(context.Background(), j, nil); noren.KindOf(err) != noren.BadData || !bytes.Equal(before, read(t, j.Output.Path)) {
		t.Errorf("%v, and the file was touched", err)
	}
	// A release may take the place of its source.
	rows := makePeople(30, 13)
	j = job(t, dir, rows)
	j.Output = kanon.Output{Path: filepath.Join(dir, "in.csv"), Force: true}
	anonymize(t, j)
	check(t, 5, people, rows, read(t, j.Output.Path))
}

func TestOutputThatCannotBe(t *testing.T) {
	for name, path := range map[string]string{"a folder that is not there": "none/out.csv", "no ending": "out", "an ending of another format": "out.xlsx", "a folder": "."} {
		dir := t.TempDir()
		j := job(t, dir, makePeople(20, 14))
		j.Output.Path = filepath.Join(dir, path)
		if _, err := kanon.Anonymize(context.Background(), j, nil); noren.KindOf(err) != noren.Usage || list(t, dir) != "in.csv" {
			t.Errorf("%s: %v; the folder holds %s", name, err, list(t, dir))
		}
	}
}

func TestStdout(t *testing.T) {
	rows := makePeople(40, 15)
	dir := t.TempDir()
	j := job(t, dir, rows)
	var out bytes.Buffer
	j.Output = kanon.Output{Path: "-", Stdout: &out}
	r := anonymize(t, j)
	check(t, 5, people, rows, out.Bytes())
	if r.Output != "-" || r.Verified.File != "standard output" || list(t, dir) != "in.csv" {
		t.Errorf("%+v; the folder holds %s", r, list(t, dir))
	}
	// Nothing goes out that was not verified, and nothing stays open.
	defer nothingStaysOpen(t)()
	out.Reset()
	j.Diversity = hard
	if _, err := kanon.Anonymize(context.Background(), j, nil); noren.KindOf(err) != noren.NotMet || out.Len() > 0 {
		t.Errorf("%v, and %d bytes went out", err, out.Len())
	}
	// A pipe that breaks is told.
	j.Diversity, j.Output.Stdout = nil, broken{}
	if _, err := kanon.Anonymize(context.Background(), j, nil); err == nil || !strings.HasPrefix(err.Error(), "standard output: ") {
		t.Errorf("got %v", err)
	}
}

type broken struct{}

func (broken) Write([]byte) (int, error) { return 0, errors.New("the pipe is broken") }

// A release is written as its source is, and packed as its name says.
func TestDialects(t *testing.T) {
	rows := makePeople(40, 16)
	dir := t.TempDir()
	j := job(t, dir, rows)
	unpack := map[string]func([]byte) ([]byte, error){
		"out.csv": func(b []byte) ([]byte, error) { return b, nil },
		"out.csv.gz": func(b []byte) ([]byte, error) {
			r, err := gzip.NewReader(bytes.NewReader(b))
			if err != nil {
				return nil, err
			}
			return io.ReadAll(r)
		},
		"out.csv.zst": func(b []byte) ([]byte, error) {
			r, err := zstd.NewReader(bytes.NewReader(b))
			if err != nil {
				return nil, err
			}
			defer r.Close()
			return io.ReadAll(r)
		},
	}
	for name, unpack := range unpack {
		j.Output.Path = filepath.Join(dir, name)
		r := anonymize(t, j)
		text, err := unpack(read(t, j.Output.Path))
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		check(t, 5, people, rows, text)
		if r.Verified.Rows != 40 {
			t.Errorf("%s: %+v", name, r.Verified)
		}
	}
	// A dialect that is asked for.
	j.Output = kanon.Output{Path: filepath.Join(dir, "semicolons.csv"), Dialect: &csvio.Dialect{Delimiter: ';', CRLF: true, BOM: true}}
	anonymize(t, j)
	text := read(t, j.Output.Path)
	if !bytes.HasPrefix(text, []byte("\xef\xbb\xbfkey;age;note;sex;day;income;level;illness;pay\r\n")) {
		t.Errorf("got %.80q", text)
	}
	// And one that the source has.
	semicolons := filepath.Join(dir, "in2.csv")
	if err := os.WriteFile(semicolons, []byte("age;town\r\n"+strings.Repeat("30;Ulm\r\n31;Ulm, upper\r\n", 5)), 0o600); err != nil {
		t.Fatal(err)
	}
	j = kanon.Job{
		Source: open(t, semicolons), Schema: table.Schema{Fields: []table.Field{{Name: "age", Role: table.Quasi, Type: table.Integer}, {Name: "town", Role: table.Quasi}}},
		Output: kanon.Output{Path: filepath.Join(dir, "out2.csv")}, Options: kanon.Options{K: 5, Publish: publish.Generalize, KeepOrder: true},
	}
	anonymize(t, j)
	if got, want := string(read(t, j.Output.Path)), "age;town\r\n"+strings.Repeat("30;Ulm\r\n31;Ulm, upper\r\n", 5); got != want {
		t.Errorf("got %q", got)
	}
	j.Output.Path = filepath.Join(dir, "out2.tsv")
	anonymize(t, j)
	if got := string(read(t, j.Output.Path)); !strings.HasPrefix(got, "age\ttown\r\n30\tUlm\r\n31\tUlm, upper\r\n") {
		t.Errorf("got %q", got)
	}
}

// The release is read back as it was written, and not as it looks: the only
// column of this one looks like two.
func TestReadBackAsWritten(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "in.csv")
	text := "a;b\n" + strings.Repeat("1;2\n", 6)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	src, err := file.Open(context.Background(), path, file.Options{Delimiter: ','})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = src.Close() }()
	j := kanon.Job{
		Source: src, Schema: table.Schema{Fields: []table.Field{{Name: "a;b", Role: table.Quasi}}},
		Output: kanon.Output{Path: filepath.Join(dir, "out.csv")}, Options: kanon.Options{K: 3},
	}
	if r := anonymize(t, j); r.AchievedK != 6 || string(read(t, j.Output.Path)) != text {
		t.Errorf("got %q, %+v", read(t, j.Output.Path), r)
	}
}

// A table in Shift_JIS stays one: names, values and what is made of them.
func TestShiftJIS(t *testing.T) {
	fields := []table.Field{{Name: "key"}, {Name: "年齢", Role: table.Quasi, Type: table.Integer}, {Name: "都市", Role: table.Quasi}, {Name: "備考"}}
	var rows [][]string
	for i := range 24 {
		rows = append(rows, []string{fmt.Sprint("k", i), fmt.Sprint(20 + i), []string{"東京", "大阪", "表示"}[i%3], "申し込み、㈱能登 ｱｲｳ"})
	}
	dir := t.TempDir()
	writeCSV(t, filepath.Join(dir, "utf8.csv"), fields, rows)
	coded, err := japanese.ShiftJIS.NewEncoder().Bytes(read(t, filepath.Join(dir, "utf8.csv")))
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "in.csv"), coded, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, mode := range []publish.Mode{publish.Aggregate, publish.Generalize} {
		j := kanon.Job{
			Source: open(t, filepath.Join(dir, "in.csv")), Schema: table.Schema{Fields: fields},
			Output: kanon.Output{Path: filepath.Join(dir, mode.String()+".csv")}, Options: kanon.Options{K: 4, Publish: mode},
		}
		anonymize(t, j)
		text, err := japanese.ShiftJIS.NewDecoder().Bytes(read(t, j.Output.Path))
		if err != nil {
			t.Fatal(err)
		}
		check(t, 4, fields, rows, text)
	}
}

// visit is a record of a typed file.
type visit struct {
	Name    string   `parquet:"name"`
	Key     string   `parquet:"key"`
	Age     int16    `parquet:"age"`
	Day     int32    `parquet:"day,date"`
	Weight  *float64 `parquet:"weight,optional"`
	Stamp   int64    `parquet:"stamp,timestamp(microsecond)"`
	Raw     []byte   `parquet:"raw"`
	Flag    bool     `parquet:"flag"`
	Ratio   float32  `parquet:"ratio"`
	Maybe   *string  `parquet:"maybe,optional"`
	Illness string   `parquet:"illness,enum"`
}

// released is what is left of a visit.
type released struct {
	Key     string   `parquet:"key"`
	Age     int16    `parquet:"age"`
	Day     int32    `parquet:"day,date"`
	Weight  *float64 `parquet:"weight,optional"`
	Stamp   int64    `parquet:"stamp,timestamp(microsecond)"`
	Raw     []byte   `parquet:"raw"`
	Flag    bool     `parquet:"flag"`
	Ratio   float32  `parquet:"ratio"`
	Maybe   *string  `parquet:"maybe,optional"`
	Illness string   `parquet:"illness,enum"`
}

var visitFields = []table.Field{
	{Name: "name", Role: table.Identifier},
	{Name: "key"},
	{Name: "age", Role: table.Quasi, Type: table.Integer},
	{Name: "day", Role: table.Quasi, Type: table.Date},
	{Name: "weight", Role: table.Quasi, Type: table.Decimal},
	{Name: "stamp"},
	{Name: "raw"},
	{Name: "flag"},
	{Name: "ratio"},
	{Name: "maybe"},
	{Name: "illness", Role: table.Sensitive},
}

func makeVisits() []visit {
	var all []visit
	for i := range 47 {
		v := visit{
			Name: fmt.Sprint("IDENT", i), Key: fmt.Sprintf("k%03d", i), Age: int16(i * 37 % 90), Day: int32(i*i%5000) - 1000,
			Stamp: int64(i) * 1234567891, Raw: []byte{0, byte(i), 0xff}, Flag: i%3 == 0, Ratio: 0.1 * float32(i), Illness: []string{"flu", "gout"}[i%2],
		}
		if i%5 != 0 {
			v.Weight = ptr(40 + float64(i*i%61)/2)
		}
		if i%4 != 0 {
			v.Maybe = ptr(notes[i%len(notes)])
		}
		all = append(all, v)
	}
	return all
}

func TestParquetToParquet(t *testing.T) {
	dir := t.TempDir()
	visits := makeVisits()
	if err := parquet.WriteFile(filepath.Join(dir, "in.parquet"), visits); err != nil {
		t.Fatal(err)
	}
	j := kanon.Job{
		Source: open(t, filepath.Join(dir, "in.parquet")), Schema: table.Schema{Fields: visitFields},
		Output: kanon.Output{Path: filepath.Join(dir, "out.parquet")}, Options: kanon.Options{K: 4},
	}
	r := anonymize(t, j)
	out, err := parquet.ReadFile[released](j.Output.Path)
	if err != nil {
		t.Fatal(err)
	}
	if bytes.Contains(read(t, j.Output.Path), []byte("IDENT")) {
		t.Error("an identifier is in the release")
	}
	f, err := os.Open(j.Output.Path)
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
	types := func(s *parquet.Schema) (out []string) {
		for _, f := range s.Fields() {
			out = append(out, fmt.Sprint(f.Name(), " ", f.Optional(), " ", f.Type()))
		}
		return out
	}
	if d := cmp.Diff(types(parquet.SchemaOf(released{})), types(p.Schema())); d != "" {
		t.Errorf("(-want +got)\n%s", d)
	}
	byKey := map[string]visit{}
	for _, v := range visits {
		byKey[v.Key] = v
	}
	sizes, ages, means := map[string]int{}, map[string][2]int16{}, map[string]int16{}
	for _, o := range out {
		v, ok := byKey[o.Key]
		if !ok {
			t.Fatalf("record %q is there twice, or was not in the source", o.Key)
		}
		delete(byKey, o.Key)
		want := released{Key: v.Key, Age: o.Age, Day: o.Day, Weight: o.Weight, Stamp: v.Stamp, Raw: v.Raw, Flag: v.Flag, Ratio: v.Ratio, Maybe: v.Maybe, Illness: v.Illness}
		if d := cmp.Diff(want, o); d != "" {
			t.Errorf("(-want +got)\n%s", d)
		}
		weight := "null"
		if o.Weight != nil {
			weight = fmt.Sprint(*o.Weight)
		}
		class := fmt.Sprint(o.Age, " ", o.Day, " ", weight)
		if sizes[class] == 0 {
			ages[class] = [2]int16{v.Age, v.Age}
		}
		sizes[class]++
		ages[class] = [2]int16{min(ages[class][0], v.Age), max(ages[class][1], v.Age)}
		means[class] = o.Age
	}
	for class, a := range ages {
		if m := means[class]; m < a[0] || m > a[1] {
			t.Errorf("a mean age of %d of ages from %d to %d", m, a[0], a[1])
		}
	}
	for class, n := range sizes {
		if n < 4 {
			t.Errorf("class %s has %d records", class, n)
		}
	}
	if len(byKey) > 0 || len(sizes) != r.Classes || len(sizes) < 2 || list(t, dir) != "in.parquet out.parquet" {
		t.Errorf("%d records are missing, %d classes, %+v; the folder holds %s", len(byKey), len(sizes), r, list(t, dir))
	}
}

// From Parquet to text and from text to Parquet, by both ways to publish.
func TestBetweenFormats(t *testing.T) {
	dir := t.TempDir()
	rows := makePeople(60, 17)
	for _, mode := range []publish.Mode{publish.Aggregate, publish.Generalize} {
		j := job(t, dir, rows)
		j.Output.Path, j.Publish = filepath.Join(dir, mode.String()+".parquet"), mode
		anonymize(t, j)
		// Back: the release of the release, at k = 1 and with all columns kept.
		kept := slices.DeleteFunc(slices.Clone(people), func(f table.Field) bool { return f.Role == table.Identifier })
		for i := range kept {
			kept[i] = table.Field{Name: kept[i].Name}
		}
		kept[0].Role = table.Quasi // the key; its groups at k = 1 are its records
		back := kanon.Job{
			Source: open(t, j.Output.Path), Schema: table.Schema{Fields: kept},
			Output: kanon.Output{Path: filepath.Join(dir, mode.String()+".csv")}, Options: kanon.Options{K: 1},
		}
		anonymize(t, back)
		check(t, 5, people, rows, read(t, back.Output.Path))
	}
	if err := parquet.WriteFile(filepath.Join(dir, "in.parquet"), makeVisits()); err != nil {
		t.Fatal(err)
	}
	var source [][]string
	for i, v := range makeVisits() {
		maybe := ""
		if v.Maybe != nil {
			maybe = *v.Maybe
		}
		source = append(source, []string{
			v.Name, v.Key, "", "", "", table.Layout("YYYY-MM-DDThh:mm:ss").Format(v.Stamp/1e6) + fmt.Sprintf(".%06dZ", v.Stamp%1e6),
			fmt.Sprintf("%x", v.Raw), fmt.Sprint(v.Flag), fmt.Sprint(v.Ratio), maybe, v.Illness,
		})
		source[i][5] = strings.Replace(source[i][5], ".000000Z", "Z", 1)
	}
	for _, mode := range []publish.Mode{publish.Aggregate, publish.Generalize} {
		j := kanon.Job{
			Source: open(t, filepath.Join(dir, "in.parquet")), Schema: table.Schema{Fields: visitFields},
			Output: kanon.Output{Path: filepath.Join(dir, mode.String()+" of Parquet.csv")}, Options: kanon.Options{K: 4, Publish: mode},
		}
		anonymize(t, j)
		check(t, 4, visitFields, source, read(t, j.Output.Path))
	}
}
