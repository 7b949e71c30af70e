package dataset

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/noren-privacy/noren/table"
)

const benchRows = 1_000_000

// benchTable is the table of 1,000,000 x 8 of package file's benchmark.
func benchTable() []byte {
	var w bytes.Buffer
	rng := rand.New(rand.NewPCG(1, 2))
	words := []string{"Private", "State-gov", "Self-emp-not-inc", "Local-gov", "Never-worked"}
	w.WriteString("id,age,sex,date,amount,class,code,zip\n")
	for i := range benchRows {
		fmt.Fprintf(&w, "%d,%d,%s,20%02d-%02d-%02d,%.2f,%s,%04d,z%d\n", i, rng.IntN(90), []string{"M", "F"}[rng.IntN(2)],
			rng.IntN(24), 1+rng.IntN(12), 1+rng.IntN(28), rng.Float64()*1000, words[rng.IntN(5)], rng.IntN(10000), rng.IntN(1000))
	}
	return w.Bytes()
}

var benchDefinition = Definition{Missing: []string{"NA", "?"}, Columns: []Column{
	{Name: "id", Type: "integer"},
	{Name: "age", Type: "integer"},
	{Name: "sex"},
	{Name: "date", Type: "date"},
	{Name: "amount", Type: "decimal"},
	{Name: "class"},
	{Name: "code"},
	{Name: "zip"},
}}

// BenchmarkRead compares reading by a definition, without prints and with those of
// all columns, to table.Read; BenchmarkRead/inspect is what a grant reads.
func BenchmarkRead(b *testing.B) {
	d := complete(b, benchDefinition)
	src := openBytes(b, benchTable(), d)
	fields := d.Fields()
	for name, read := range map[string]func() error{
		"file": func() error {
			_, err := table.Read(bg, src, fields, table.ReadOptions{Missing: d.Missing})
			return err
		},
		"total": func() error {
			_, _, err := Read(bg, src, d, fields, nil)
			return err
		},
		"prints": func() error {
			_, _, err := Read(bg, src, d, fields, &testKeys)
			return err
		},
		"three columns": func() error {
			_, _, err := Read(bg, src, d, fields[:3], &testKeys)
			return err
		},
		"inspect": func() error {
			_, err := Inspect(bg, src, d, InspectOptions{Keys: testKeys})
			return err
		},
	} {
		b.Run(name, func(b *testing.B) {
			before := cpu()
			for b.Loop() {
				if err := read(); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric((cpu()-before).Seconds()/float64(b.N), "cpu-s/op")
		})
	}
}
