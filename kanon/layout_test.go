package kanon

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/noren-privacy/noren/internal/randtest"
	"github.com/noren-privacy/noren/kanon/publish"
	"github.com/noren-privacy/noren/table"
	"github.com/noren-privacy/noren/table/file"
)

// A table of quasi-identifiers alone is written from the groups. It is the file that
// reading the table again gives, in order and in disorder, to every format and mode.
func TestPublishedAloneIsReadAgain(t *testing.T) {
	randtest.SkipShort(t)
	var text strings.Builder
	text.WriteString("age,town,pay\n")
	rng := rand.New(rand.NewPCG(3, 4))
	const n = 2*publishedRows + 17
	for range n {
		fmt.Fprintf(&text, "%d,%s,%.1f\n", rng.IntN(90), []string{"Ulm", "Bonn", "", "Köln"}[rng.IntN(4)], 100*rng.Float64())
	}
	source := func() *strings.Reader { return strings.NewReader(text.String()) }
	seed := uint64(5)
	for _, mode := range []publish.Mode{publish.Aggregate, publish.Matched, publish.Shares} {
		for _, keep := range []bool{false, true} {
			for _, name := range []string{"out.csv", "out.parquet"} {
				src, err := file.OpenStdin(context.Background(), source(), file.Options{})
				if err != nil {
					t.Fatal(err)
				}
				dir := t.TempDir()
				j := &Job{
					Source: src,
					Schema: table.Schema{Fields: []table.Field{
						{Name: "age", Role: table.Quasi, Type: table.Integer},
						{Name: "town", Role: table.Quasi},
						{Name: "pay", Role: table.Quasi, Type: table.Decimal},
					}},
					Output: Output{Path: filepath.Join(dir, name)}, Options: Options{K: 40, Publish: mode, KeepOrder: keep, Seed: &seed},
				}
				r, _, m := published(t, j)
				var files [2][]byte
				for again := range files {
					order, err := r.order(m)
					if err != nil {
						t.Fatal(err)
					}
					f, err := os.Create(filepath.Join(dir, fmt.Sprint(again)))
					if err != nil {
						t.Fatal(err)
					}
					l := r.layout(m, r.newOwners(m, order))
					if len(l.read) != 0 {
						t.Fatalf("columns %v are read again", l.read)
					}
					sink, err := file.NewSink(f, j.Output.Path, l.columns, r.dialect())
					if err != nil {
						t.Fatal(err)
					}
					if again == 1 {
						l.read = []int{0} // counts the records
						err = r.fillRead(context.Background(), l, order, sink)
					} else {
						err = r.fillPublished(context.Background(), l, order, sink)
					}
					if err == nil {
						err = sink.Close()
					}
					if err != nil {
						t.Fatal(err)
					}
					if files[again], err = os.ReadFile(f.Name()); err != nil {
						t.Fatal(err)
					}
					_ = f.Close()
				}
				if !bytes.Equal(files[0], files[1]) {
					t.Errorf("%v, %s, order kept %v: the files differ", mode, name, keep)
				}
				_ = src.Close()
			}
		}
	}
}
