package kanon_test

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/parquet-go/parquet-go"

	"github.com/noren-privacy/noren/kanon"
	"github.com/noren-privacy/noren/kanon/publish"
	"github.com/noren-privacy/noren/table"
)

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
			Stamp: int64(i) * 1234567891, Raw: []byte{0, byte(i), 0xff}, Flag: i%3 == 0, Ratio: 0.1 * float32(i), Illness: []string{
				"flu", "gout",
			}[i%2],
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
		Kept:   []string{"key", "stamp", "raw", "flag", "maybe", "note"},
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
		want := released{
			Key: v.Key, Age: o.Age, Day: o.Day, Weight: o.Weight, Stamp: v.Stamp, Raw: v.Raw, Flag: v.Flag, Ratio: v.Ratio,
			Maybe: v.Maybe, Illness: v.Illness,
		}
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
	for _, mode := range []publish.Mode{publish.Aggregate, publish.Generalize, publish.Matched, publish.Shares} {
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
			Kept:   names(kept),
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
	for _, mode := range []publish.Mode{publish.Aggregate, publish.Generalize, publish.Matched, publish.Shares} {
		j := kanon.Job{
			Kept:   []string{"key", "stamp", "raw", "flag", "maybe", "note"},
			Source: open(t, filepath.Join(dir, "in.parquet")), Schema: table.Schema{Fields: visitFields},
			Output: kanon.Output{Path: filepath.Join(dir, mode.String()+" of Parquet.csv")}, Options: kanon.Options{K: 4, Publish: mode},
		}
		anonymize(t, j)
		check(t, 4, visitFields, source, read(t, j.Output.Path))
	}
}
