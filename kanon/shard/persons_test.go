package shard_test

import (
	"context"
	"encoding/csv"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/noren-privacy/noren"
	"github.com/noren-privacy/noren/internal/randtest"
	"github.com/noren-privacy/noren/kanon/publish"
	"github.com/noren-privacy/noren/table"
	"github.com/noren-privacy/noren/table/csvio"
	"github.com/noren-privacy/noren/table/file"
)

// visits is a table of visits: of 400 persons from one to many, and in one region of the
// space all visits but three are of one person. whose repeats the person, to be kept.
func visits(n int) *setup {
	rng := rand.New(rand.NewPCG(4, 4))
	var b strings.Builder
	b.WriteString("person,age,place,cost,whose\n")
	for i := range n {
		person := fmt.Sprintf("p%d", rng.IntN(20+rng.IntN(380)))
		if rng.IntN(40) == 0 {
			person = ""
		}
		age := 20 + rng.IntN(60)
		if i%4 == 0 {
			age = 500 + rng.IntN(50) // far from all others
			person = "one"
			if i/4 < 3 {
				person = fmt.Sprintf("other%d", i)
			}
		}
		cost := ""
		if rng.IntN(10) > 0 {
			cost = fmt.Sprintf("%.2f", 100*rng.Float64())
		}
		fmt.Fprintf(&b, "%s,%d,place %d,%s,%s\n", person, age, rng.IntN(6), cost, person)
	}
	return &setup{text: []byte(b.String()), bucket: 300, options: defaults(4), schema: &table.Schema{Fields: []table.Field{
		{Name: "person", Role: table.Identifier, Type: table.Category},
		{Name: "age", Role: table.Quasi, Type: table.Integer},
		{Name: "place", Role: table.Quasi, Type: table.Category},
		{Name: "cost", Role: table.Quasi, Type: table.Decimal},
		{Name: "whose", Role: table.Other, Type: table.Category},
	}}}
}

// With a unit every class of every file has records of k persons, and a bucket of fewer
// persons goes with its neighbour.
func TestPersons(t *testing.T) {
	randtest.SkipShort(t)
	for _, mode := range []publish.Mode{publish.Aggregate, publish.Generalize} {
		s := visits(2_000)
		s.options.Unit, s.options.Publish = "person", mode
		s.options.Partition.Coarse, s.options.Block = 100, 100
		c, blocks, rng := prepared(t, s, 3)
		made, err := c.releaseAll(blocks, rng)
		if err != nil {
			t.Fatal(err)
		}
		if len(made) == len(blocks) {
			t.Error("no bucket was short: the test tests nothing")
		}
		checked, err := c.check(made)
		if err != nil {
			t.Fatal(err)
		}
		r, err := c.Commit(context.Background(), c.plan, c.dir, frames(append(made, checked...)), nil)
		if err != nil {
			t.Fatal(err)
		}
		if r.AchievedK < 4 || r.Guarantee.Unit != "person" {
			t.Errorf("%d persons, %v", r.AchievedK, r.Guarantee)
		}
		for _, path := range c.released(t) {
			f, err := os.Open(path)
			if err != nil {
				t.Fatal(err)
			}
			all, err := csv.NewReader(f).ReadAll()
			_ = f.Close()
			if err != nil {
				t.Fatal(err)
			}
			if fmt.Sprint(all[0]) != "[age place cost whose]" {
				t.Fatalf("columns %v", all[0])
			}
			classes := map[string]map[string]bool{}
			for _, row := range all[1:] {
				key := strings.Join(row[:3], "\x00")
				if classes[key] == nil {
					classes[key] = map[string]bool{}
				}
				if row[3] != "" {
					classes[key][row[3]] = true
				}
			}
			for _, persons := range classes {
				if len(persons) < 4 {
					t.Fatalf("%s: a class of %d persons", path, len(persons))
				}
			}
		}
		// In one bucket the release is that of one process.
		s.bucket = 1 << 40
		out, _ := whole(t, s)
		one, _ := execute(t, s, 1, 1)
		if fmt.Sprint(rows(t, out)) != fmt.Sprint(rows(t, one.released(t)...)) {
			t.Error("the records of one bucket are not those of one process")
		}
	}
}

// Where all buckets together have fewer than k persons no release is made.
func TestTooFewPersons(t *testing.T) {
	s := visits(300)
	s.options.Unit, s.options.K = "person", 290
	s.options.Partition.Coarse, s.options.Block = 290, 290
	s.bucket = 100
	c, err := begin(t, s, split(t, s.text, 2))
	if err != nil {
		t.Fatal(err)
	}
	_, err = c.run(1)
	wants(t, err, noren.BadData, "persons, fewer than k = 290")
	c.unnamed(t)
}

// Parquet keeps the types of its columns, and all files of a release have the same.
func TestParquet(t *testing.T) {
	ctx := context.Background()
	s := small(t, 5)
	paths := split(t, s.text, 3)
	dir := t.TempDir()
	for i, path := range paths {
		src, err := file.Open(ctx, path, file.Options{Delimiter: ','})
		if err != nil {
			t.Fatal(err)
		}
		fields := make([]table.Field, len(s.schema.Fields))
		copy(fields, s.schema.Fields)
		columns := make([]table.StoredColumn, len(fields))
		for j, c := range src.Columns() {
			columns[j] = c
			if fields[j].Type == table.Integer {
				columns[j] = table.StoredColumn{Name: c.Name, Kind: table.Int, Proposed: &fields[j].Type, Nullable: i == 1}
			}
		}
		out := filepath.Join(dir, fmt.Sprintf("in-%d.parquet", i))
		sink, err := file.Create(out, columns, csvio.Dialect{})
		if err != nil {
			t.Fatal(err)
		}
		whole, err := table.Read(ctx, src, fields, table.ReadOptions{})
		if err != nil {
			t.Fatal(err)
		}
		r, err := src.Open(ctx, nil)
		if err != nil {
			t.Fatal(err)
		}
		at := 0
		for {
			chunk, err := r.Next()
			if err != nil {
				break
			}
			for j := range fields {
				if fields[j].Type == table.Integer {
					v := table.Vector{Kind: table.Int, Ints: whole.Columns[j].Ints[at : at+chunk.Rows]}
					if i == 1 { // some are null
						v.Null = make([]bool, chunk.Rows)
						for n := range v.Null {
							v.Null[n] = n%9 == 0
						}
					}
					chunk.Cols[j] = v
				}
			}
			if err := sink.Write(chunk); err != nil {
				t.Fatal(err)
			}
			at += chunk.Rows
		}
		_ = r.Close()
		_ = src.Close()
		if err := sink.Close(); err != nil {
			t.Fatal(err)
		}
		paths[i] = out
	}
	c, err := begin(t, s, paths)
	if err != nil {
		t.Fatal(err)
	}
	c.After = ".parquet"
	r, err := c.run(1)
	if err != nil {
		t.Fatal(err)
	}
	if r.Rows != 3_000 {
		t.Errorf("%d records", r.Rows)
	}
	verified(t, c, s.schema.Names(table.Quasi), 5) // opens all files as one table
	src, err := file.Open(ctx, c.released(t)[0], file.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = src.Close() }()
	for _, column := range src.Columns() {
		if column.Name == "age" && (column.Kind != table.Int || !column.Nullable) {
			t.Errorf("%+v", column)
		}
		if column.Name == "id" {
			t.Error("an identifier is kept")
		}
	}
}

// A hierarchy and number formats go with the job, and nothing is read from the folder of the
// specification.
func TestFormatsGoWithTheJob(t *testing.T) {
	h, err := table.NewHierarchy("places", [][]string{
		{"place 0", "north", "*"},
		{"place 1", "north", "*"},
		{"place 2", "north", "*"},
		{"place 3", "south", "*"},
		{"place 4", "south", "*"},
		{"place 5", "south", "*"},
	}, nil)
	if err != nil {
		t.Fatal(err)
	}
	s := visits(600)
	s.text = []byte(strings.ReplaceAll(string(s.text), "place 5", "place 4"))
	s.schema.Fields[2].Hierarchy = h
	s.options.Publish = publish.Generalize
	s.bucket = 1 << 40
	out, _ := whole(t, s)
	c, _ := execute(t, s, 1, 1)
	if fmt.Sprint(rows(t, out)) != fmt.Sprint(rows(t, c.released(t)...)) {
		t.Error("the records of one bucket are not those of one process")
	}
	s.text = []byte(strings.ReplaceAll(string(s.text), "place 4", "place 9"))
	d, err := begin(t, s, split(t, s.text, 2))
	if err != nil {
		t.Fatal(err)
	}
	_, err = d.run(1)
	wants(t, err, noren.BadData, "1 of its 5 different values has no line in the hierarchy places")
}
