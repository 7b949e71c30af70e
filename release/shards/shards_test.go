package shards

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/noren-privacy/noren"
	"github.com/noren-privacy/noren/account"
	"github.com/noren-privacy/noren/dataset"
	"github.com/noren-privacy/noren/internal/meter/metertest"
	"github.com/noren-privacy/noren/query"
)

var bg = context.Background()

const header = "person,ward,age,cost,day\n"

// visits are rows of a table in some files, with missing and misfitting cells.
func visits(t *rapid.T) [][]string {
	cell := func(name string, of ...string) string { return rapid.SampledFrom(of).Draw(t, name) }
	files := make([][]string, rapid.IntRange(1, 5).Draw(t, "files"))
	for i := range files {
		for range rapid.IntRange(0, 12).Draw(t, "rows") {
			files[i] = append(files[i], strings.Join([]string{
				cell("person", "", "p1", "p2", "p3", "p4", "p5"), cell("ward", "", "low", "high", "other"),
				cell("age", "", "7", "31", "200", "x"), cell("cost", "", "0.25", "-3", "8.5", "1e9"),
				cell("day", "", "2024-02-29", "2023-01-01", "soon"),
			}, ",")+"\n")
		}
	}
	return files
}

// definition is that of visits, for a unit.
func definition(t interface{ Fatal(...any) }, unit string) *dataset.Definition {
	d, err := (&dataset.Definition{
		File: dataset.File{Sharded: true}, Unit: unit, AtMost: 1000,
		Columns: []dataset.Column{
			{Name: "person"},
			{Name: "ward", Type: "ordered", Levels: []string{"low", "high"}},
			{Name: "age", Type: "integer"},
			{Name: "cost", Type: "decimal"},
			{Name: "day", Type: "date"},
		},
	}).Complete()
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// options are queries of every kind that is made of sums.
func options(d *dataset.Definition) []query.Options {
	o := query.Options{Fields: d.Fields(), Unit: d.Unit, Cost: account.Cost{Epsilon: account.EpsilonUnits}}
	if d.Unit != account.Record {
		o.MaxRows, o.Key = 2, []byte("0123456789abcdef")
	}
	with := func(change func(o *query.Options)) query.Options {
		out := o
		change(&out)
		return out
	}
	return []query.Options{
		with(func(o *query.Options) { o.Kind = query.Count }),
		with(func(o *query.Options) {
			o.Kind, o.By, o.Keys, o.Where = query.Count, []string{"ward"}, [][]string{{"low"}, {"high"}, {""}}, "age >= 30"
		}),
		with(func(o *query.Options) {
			o.Kind, o.Column, o.Bounds = query.Sum, "cost", &query.Bounds{Lo: -1, Hi: 5}
		}),
		with(func(o *query.Options) {
			o.Kind, o.Column, o.Bounds, o.By, o.Keys = query.Mean, "age", &query.Bounds{Lo: 0, Hi: 100}, []string{"ward"}, [][]string{{"high"}}
		}),
		with(func(o *query.Options) {
			o.Kind, o.Column, o.Bounds = query.Variance, "cost", &query.Bounds{Lo: -5, Hi: 10}
		}),
		with(func(o *query.Options) {
			o.Kind, o.Column, o.Bins = query.Histogram, "age", []float64{0, 10, 50, 300}
		}),
		with(func(o *query.Options) {
			o.Kind, o.Column, o.Values = query.Histogram, "person", []string{"p1", "p2", "p9"}
		}),
		with(func(o *query.Options) {
			o.Kind, o.Column, o.Bounds = query.Mean, "day", &query.Bounds{Lo: 19000, Hi: 20000}
		}),
	}
}

func write(t interface{ Fatal(...any) }, dir string, files [][]string) (out []File) {
	for i, rows := range files {
		path := filepath.Join(dir, fmt.Sprintf("%d.csv", i))
		if err := os.WriteFile(path, []byte(header+strings.Join(rows, "")), 0o600); err != nil {
			t.Fatal(err)
		}
		info, err := os.Stat(path)
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, File{path, info.Size(), info.ModTime().UnixNano()})
	}
	return out
}

func planOf(t interface{ Fatal(...any) }, o query.Options, d *dataset.Definition, files []File, buckets int) *Plan {
	q, err := query.New(bg, o)
	if err != nil {
		t.Fatal(err)
	}
	p, err := New(bg, Job{
		Tool: "test", Files: files, Definition: d, Query: q, Keys: dataset.Keys{Column: []byte("fedcba9876543210")},
		JobKey: []byte("a key of this job"), Buckets: buckets,
	})
	if err != nil {
		t.Fatal(err)
	}
	text, err := p.Encode()
	if err != nil {
		t.Fatal(err)
	}
	if p, err = Read(bg, bytes.NewReader(text), "test"); err != nil { // as tasks read it
		t.Fatal(err)
	}
	return p
}

// sumsOf are the sums without the number of records, in which records without a label are.
func sumsOf(p *query.Partial) []byte { return p.AppendBinary(nil)[12:] }

// The sums of parts are exactly those of the whole, for every kind of query, both units and
// 1, 4 and 16 buckets.
func TestPartsAreTheWhole(t *testing.T) {
	dir := t.TempDir()
	rapid.Check(t, func(t *rapid.T) {
		files := visits(t)
		d := definition(t, rapid.SampledFrom([]string{account.Record, "person"}).Draw(t, "unit"))
		o := rapid.SampledFrom(options(d)).Draw(t, "query")
		var all []string
		for _, rows := range files {
			all = append(all, rows...)
		}
		parts := write(t, dir, files)
		whole := planOf(t, o, d, write(t, mkdir(t, dir, "whole"), [][]string{all}), 0)
		tab, _, err := whole.read(bg, 0)
		if err != nil {
			t.Fatal(err)
		}
		want, err := whole.query.Partial(bg, tab)
		if err != nil {
			t.Fatal(err)
		}
		var prints []map[string]string
		for _, buckets := range []int{1, 4, 16} {
			p := planOf(t, o, d, parts, buckets)
			found, err := p.Collect(bg)
			if err != nil {
				t.Fatal(err)
			}
			total, err := p.Merge(found)
			if err != nil {
				t.Fatal(err)
			}
			if !bytes.Equal(sumsOf(total.Sums), sumsOf(want)) {
				t.Fatalf("%d buckets: other sums than of the whole", buckets)
			}
			if prints != nil && !reflect.DeepEqual(prints, total.Prints) {
				t.Fatal("the prints of files depend on the buckets")
			}
			prints = total.Prints
		}
	})
}

func mkdir(t interface{ Fatal(...any) }, dir, name string) string {
	path := filepath.Join(dir, name)
	if err := os.MkdirAll(path, 0o700); err != nil {
		t.Fatal(err)
	}
	return path
}

// example is a plan over three files for persons, with all blocks of its files.
func example(t testing.TB) (*Plan, [][]byte) {
	t.Helper()
	d := definition(t, "person")
	files := write(t, t.TempDir(), [][]string{
		{"p1,low,7,0.25,2024-02-29\n", "p2,high,31,8.5,\n", ",low,7,1,\n", "p4,low,7,1,\n", "p5,low,7,1,\n", "p6,low,7,1,\n", "p7,low,7,1,\n"},
		{},
		{"p1,high,x,1,2023-01-01\n", "p3,,200,,soon\n"},
	})
	p := planOf(t, options(d)[3], d, files, 2)
	var blocks [][]byte
	for shard := range p.Files {
		if err := p.Route(bg, shard, func(b []byte) error {
			blocks = append(blocks, bytes.Clone(b))
			return nil
		}); err != nil {
			t.Fatal(err)
		}
	}
	return p, blocks
}

// partsOf sums blocks by bucket.
func partsOf(t testing.TB, p *Plan, blocks [][]byte) ([][]byte, error) {
	t.Helper()
	var parts [][]byte
	for bucket := range p.Buckets {
		i := 0
		part, err := p.Sum(bg, bucket, func() ([]byte, error) {
			for ; i < len(blocks); i++ {
				if int(blocks[i][0]) == bucket {
					i++
					return blocks[i-1], nil
				}
			}
			return nil, io.EOF
		})
		if err != nil {
			return nil, err
		}
		parts = append(parts, part)
	}
	return parts, nil
}

// What is missing, twice there, or of a file that was changed makes no answer.
func TestFaults(t *testing.T) {
	p, blocks := example(t)
	whole, err := partsOf(t, p, blocks)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := p.Merge(whole); err != nil {
		t.Fatal(err)
	}
	merged := func(parts [][]byte, err error) error {
		if err == nil {
			_, err = p.Merge(parts)
		}
		return err
	}
	spoiled := bytes.Clone(blocks[0])
	spoiled[blockHead+8] ^= 1 // another print of the same file
	for name, err := range map[string]error{
		"a part twice":       merged([][]byte{whole[0], whole[1], whole[1]}, nil),
		"a part missing":     merged(whole[:1], nil),
		"a block missing":    merged(partsOf(t, p, blocks[1:])),
		"a block twice":      merged(partsOf(t, p, append([][]byte{blocks[0]}, blocks...))),
		"a changed file":     merged(partsOf(t, p, append([][]byte{spoiled}, blocks[1:]...))),
		"a part that is cut": merged([][]byte{whole[0], whole[1][:len(whole[1])-1]}, nil),
	} {
		if noren.KindOf(err) != noren.BadData {
			t.Errorf("%s: %v", name, err)
		}
	}
	if err := os.WriteFile(p.Files[0].Path, []byte(header+"p1,low,8,0.25,2024-02-29\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := p.Route(bg, 0, func([]byte) error { return nil }); noren.KindOf(err) != noren.BadData {
		t.Errorf("a file that was changed before it was read: %v", err)
	}
}

func TestPlanFaults(t *testing.T) {
	p, _ := example(t)
	text, err := p.Encode()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := decode(bg, text, "another build"); noren.KindOf(err) != noren.Usage {
		t.Errorf("of another build: %v", err)
	}
	for name, change := range map[string]func(p *Plan){
		"no file":        func(p *Plan) { p.Files = nil },
		"another format": func(p *Plan) { p.Format = "noren.shards/0" },
		"no key":         func(p *Plan) { p.JobKey = nil },
		"another unit":   func(p *Plan) { p.Query.Unit, p.Query.MaxRows, p.Query.Key = account.Record, 0, nil },
		"no buckets":     func(p *Plan) { p.Buckets = 0 },
		"a quantile":     func(p *Plan) { p.Query.Kind, p.Query.By, p.Query.Keys = query.Quantile, nil, nil },
	} {
		bad, err := decode(bg, text, "test")
		if err != nil {
			t.Fatal(err)
		}
		change(bad)
		spoiled, err := bad.Encode()
		if err != nil {
			t.Fatal(err)
		}
		if _, err := decode(bg, spoiled, "test"); noren.KindOf(err) != noren.Usage {
			t.Errorf("%s: %v", name, err)
		}
	}
	record := planOf(t, options(definition(t, account.Record))[0], definition(t, account.Record), p.Files, 0)
	for name, err := range map[string]error{
		"routing records":        record.Route(bg, 0, nil),
		"a bucket of records":    second(record.Sum(bg, 0, nil)),
		"a file of persons":      second(p.SumFile(bg, 0)),
		"a file that is not":     p.Route(bg, 3, nil),
		"a file below the first": second(record.SumFile(bg, -1)),
	} {
		if noren.KindOf(err) != noren.Usage {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func second(_ []byte, err error) error { return err }

// A part is found again in what it is written as, and no bytes make a panic.
func FuzzPart(f *testing.F) {
	p, blocks := example(f)
	parts, err := partsOf(f, p, blocks)
	if err != nil {
		f.Fatal(err)
	}
	for _, part := range parts {
		f.Add(part)
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		metertest.Hold(t, len(text))
		part, err := p.decodePart(text)
		if err != nil {
			return
		}
		if !bytes.Equal(part.append(nil), text) {
			t.Fatal("a part is written in another form")
		}
	})
}

// A block of any bytes has records of the table's form, or is refused.
func FuzzBlock(f *testing.F) {
	p, blocks := example(f)
	for _, b := range blocks {
		f.Add(b)
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		metertest.Hold(t, len(text))
		b, err := decodeBlock(text, len(p.names))
		if err != nil {
			return
		}
		c, err := newColumns("person", p.query.Columns())
		if err != nil {
			t.Fatal(err)
		}
		if c.add(b) != nil {
			return
		}
		tab := c.table()
		if tab.Rows != b.rows || tab.Unit.Len() != b.rows {
			t.Fatalf("%d records of %d", tab.Rows, b.rows)
		}
		if _, err := p.query.Partial(bg, tab); err != nil {
			t.Fatal(err)
		}
	})
}

func FuzzPlan(f *testing.F) {
	p, _ := example(f)
	text, err := p.Encode()
	if err != nil {
		f.Fatal(err)
	}
	f.Add(text)
	f.Fuzz(func(t *testing.T, text []byte) {
		metertest.Hold(t, len(text))
		if p, err := decode(bg, text, "test"); err == nil && len(p.Files) == 0 {
			t.Fatal("a plan without files")
		}
	})
}
