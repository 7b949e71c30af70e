package kanon_test

import (
	"bytes"
	"context"
	"encoding/csv"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/noren-privacy/noren/kanon"
	"github.com/noren-privacy/noren/kanon/refine"
	"github.com/noren-privacy/noren/table"
	"github.com/noren-privacy/noren/table/file"
)

// fataler is a test or a rapid check.
type fataler interface {
	Helper()
	Fatal(args ...any)
	Fatalf(format string, args ...any)
}

// people is a table of every type and role: name and phone are identifiers,
// key is unique and kept, and from age to level are quasi-identifiers.
var people = []table.Field{
	{Name: "name", Role: table.Identifier},
	{Name: "key"},
	{Name: "age", Role: table.Quasi, Type: table.Integer},
	{Name: "note"},
	{Name: "sex", Role: table.Quasi},
	{Name: "day", Role: table.Quasi, Type: table.Date, Layout: "DD.MM.YYYY"},
	{Name: "phone", Role: table.Identifier},
	{Name: "income", Role: table.Quasi, Type: table.Decimal},
	{Name: "level", Role: table.Quasi, Type: table.Ordered, Levels: []string{"none", "mild", "severe"}},
	{Name: "illness", Role: table.Sensitive},
	{Name: "pay", Role: table.Sensitive, Type: table.Integer},
}

// notes are texts that a careless writer changes.
var notes = []string{"", "NA", " blank ", `"quoted"`, "a,b;c\td", "two\nlines", "1.0", "007", "-0", "日本", "=1+1", "'"}

// makePeople draws n records of people; the empty text and ? are missing.
func makePeople(n int, seed uint64) [][]string {
	rng := rand.New(rand.NewPCG(seed, 7))
	sometimes := func(text string) string {
		if rng.IntN(12) == 0 {
			return []string{"", "?"}[rng.IntN(2)]
		}
		return text
	}
	rows := make([][]string, n)
	for i := range rows {
		rows[i] = []string{
			fmt.Sprintf("IDENT-%d", i),
			fmt.Sprintf("k%04d", i),
			sometimes(fmt.Sprint(rng.IntN(90))),
			notes[rng.IntN(len(notes))],
			sometimes([]string{"F", "M", "X"}[rng.IntN(3)]),
			sometimes(table.Layout("DD.MM.YYYY").Format(rng.Int64N(20000))),
			fmt.Sprintf("IDENT+81-%d", i),
			sometimes(fmt.Sprintf("%.2f", 1e4*rng.Float64())),
			sometimes([]string{"none", "mild", "severe"}[rng.IntN(3)]),
			[]string{"flu", "asthma", "gout", "?"}[rng.IntN(4)],
			sometimes(fmt.Sprint(1000 * rng.IntN(9))),
		}
	}
	return rows
}

func names(fields []table.Field) []string {
	out := make([]string, len(fields))
	for i, f := range fields {
		out[i] = f.Name
	}
	return out
}

// writeCSV writes a table by the standard library's writer.
func writeCSV(t fataler, path string, fields []table.Field, rows [][]string) {
	t.Helper()
	var b bytes.Buffer
	w := csv.NewWriter(&b)
	if err := w.Write(names(fields)); err != nil {
		t.Fatal(err)
	}
	if err := w.WriteAll(rows); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, b.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
}

// readCSV reads a table by the standard library's reader.
func readCSV(t fataler, text []byte) (header []string, rows [][]string) {
	t.Helper()
	all, err := csv.NewReader(bytes.NewReader(text)).ReadAll()
	if err != nil || len(all) == 0 {
		t.Fatalf("the release does not read: %v", err)
	}
	return all[0], all[1:]
}

// job is a release of a table of people that was written to dir.
func job(t *testing.T, dir string, rows [][]string) kanon.Job {
	t.Helper()
	path := filepath.Join(dir, "in.csv")
	writeCSV(t, path, people, rows)
	return kanon.Job{
		Kept:   []string{"key", "note"},
		Source: open(t, path), Schema: table.Schema{Fields: slices.Clone(people)}, Missing: []string{"?"},
		Output:  kanon.Output{Path: filepath.Join(dir, "out.csv")},
		Options: kanon.Options{K: 5, Refine: refine.Fast},
	}
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

func anonymize(t fataler, j kanon.Job) *kanon.Result {
	t.Helper()
	r, err := kanon.Anonymize(context.Background(), j)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func read(t fataler, path string) []byte {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// list names the files of a folder.
func list(t *testing.T, dir string) string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var all []string
	for _, e := range entries {
		all = append(all, e.Name())
	}
	return strings.Join(all, " ")
}

// classes are the records of a release by their quasi-identifiers.
func classes(header []string, rows [][]string, fields []table.Field) map[string][][]string {
	out := map[string][][]string{}
	for _, row := range rows {
		key := ""
		for _, f := range fields {
			if f.Role == table.Quasi {
				key += fmt.Sprintf("%q ", row[slices.Index(header, f.Name)])
			}
		}
		out[key] = append(out[key], row)
	}
	return out
}

// check holds a release against its source by itself: every class has k
// records, identifiers are gone, and every column that is no quasi-identifier
// is as it was, joined by the column key. It returns the classes.
func check(t fataler, k int, fields []table.Field, source [][]string, release []byte) map[string][][]string {
	t.Helper()
	header, rows := readCSV(t, release)
	var want []string
	for _, f := range fields {
		if f.Role != table.Identifier {
			want = append(want, f.Name)
		}
	}
	if !slices.Equal(header, want) {
		t.Fatalf("the release has the columns %q, want %q", header, want)
	}
	if bytes.Contains(release, []byte("IDENT")) {
		t.Fatal("an identifier is in the release")
	}
	if len(rows) != len(source) {
		t.Fatalf("%d records, want %d", len(rows), len(source))
	}
	keyed := map[string][]string{}
	for _, row := range source {
		keyed[row[slices.Index(names(fields), "key")]] = row
	}
	for _, row := range rows {
		key := row[slices.Index(header, "key")]
		from, ok := keyed[key]
		if !ok {
			t.Fatalf("record %q is in the release twice, or was not in the source", key)
		}
		delete(keyed, key)
		for j, f := range fields {
			if f.Role != table.Identifier && f.Role != table.Quasi && row[slices.Index(header, f.Name)] != from[j] {
				t.Fatalf("record %s: %s was %q and is %q", key, f.Name, from[j], row[slices.Index(header, f.Name)])
			}
		}
	}
	all := classes(header, rows, fields)
	for key, class := range all {
		if len(class) < k {
			t.Fatalf("class %s has %d records", key, len(class))
		}
	}
	return all
}

func ptr[T any](v T) *T { return &v }
