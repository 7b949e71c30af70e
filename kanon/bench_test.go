package kanon_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"testing"

	"github.com/noren-privacy/noren/kanon"
	"github.com/noren-privacy/noren/kanon/partition"
	"github.com/noren-privacy/noren/kanon/refine"
	"github.com/noren-privacy/noren/table"
	"github.com/noren-privacy/noren/table/file"
)

// BenchmarkAnonymize releases 20,000 records x 5 quasi-identifiers, from the
// file to the verified file. The figures for 1,000,000 records are those of the
// program (internal/cli).
func BenchmarkAnonymize(b *testing.B) {
	const n = 20_000
	dir := b.TempDir()
	writeCSV(b, filepath.Join(dir, "in.csv"), people, makePeople(n, 1))
	src, err := file.Open(context.Background(), filepath.Join(dir, "in.csv"), file.Options{})
	if err != nil {
		b.Fatal(err)
	}
	defer func() { _ = src.Close() }()
	j := kanon.Job{
		Kept:   []string{"key", "note"},
		Source: src, Schema: table.Schema{Fields: people}, Missing: []string{"?"},
		Output:  kanon.Output{Path: filepath.Join(dir, "out.csv"), Force: true},
		Options: kanon.Options{K: 5},
	}
	for _, c := range []struct {
		name   string
		method partition.Method
		effort refine.Effort
	}{{"mondrian", partition.Mondrian, refine.Off}, {"auto, fast", partition.Auto, refine.Fast}} {
		b.Run(c.name, func(b *testing.B) {
			j.Partition.Method, j.Refine = c.method, c.effort
			for b.Loop() {
				anonymize(b, j)
			}
		})
	}
}

// BenchmarkPersons releases records of persons who have three or four each, as
// records, by persons and with all records of a person linked: what counting
// persons costs. With -short 20,000 records, otherwise 1,000,000.
func BenchmarkPersons(b *testing.B) {
	n := 1_000_000
	if testing.Short() {
		n = 20_000
	}
	rng := rand.New(rand.NewPCG(10, 3))
	persons := n * 3 / 10
	age, area := make([]int, persons), make([]int, persons)
	for p := range persons {
		age[p], area[p] = rng.IntN(96), rng.IntN(200)
	}
	fields := []table.Field{
		{Name: "who", Role: table.Identifier},
		{Name: "age", Role: table.Quasi, Type: table.Integer},
		{Name: "sex", Role: table.Quasi, Type: table.Category},
		{Name: "area", Role: table.Quasi, Type: table.Category},
		{Name: "day", Role: table.Quasi, Type: table.Integer},
		{Name: "department", Role: table.Quasi, Type: table.Category},
	}
	rows := make([][]string, n)
	for i := range rows {
		p := i % persons
		if i >= persons {
			p = rng.IntN(persons)
		}
		rows[i] = []string{
			fmt.Sprint("P", p), fmt.Sprint(age[p]), []string{"F", "M"}[p%2], fmt.Sprint("a", area[p]), fmt.Sprint(rng.IntN(730)),
			fmt.Sprint("d", rng.IntN(8)),
		}
	}
	dir := b.TempDir()
	writeCSV(b, filepath.Join(dir, "in.csv"), fields, rows)
	src, err := file.Open(context.Background(), filepath.Join(dir, "in.csv"), file.Options{})
	if err != nil {
		b.Fatal(err)
	}
	defer func() { _ = src.Close() }()
	for _, c := range []struct {
		name    string
		unit    string
		linkage kanon.Linkage
	}{{"records", "", kanon.LinkOne}, {"persons", "who", kanon.LinkOne}, {"linked", "who", kanon.LinkAll}} {
		b.Run(c.name, func(b *testing.B) {
			j := kanon.Job{
				Source: src, Schema: table.Schema{Fields: fields}, Output: kanon.Output{Path: filepath.Join(dir, "out.csv"), Force: true},
				Options: kanon.Options{K: 5, Refine: refine.Fast, Unit: c.unit, Linkage: c.linkage},
			}
			for b.Loop() {
				r := anonymize(b, j)
				b.ReportMetric(r.Loss, "loss")
			}
		})
	}
}
