package kanon_test

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/noren-privacy/noren/internal/randtest"
	"github.com/noren-privacy/noren/kanon"
	"github.com/noren-privacy/noren/kanon/partition"
	"github.com/noren-privacy/noren/kanon/privacy"
	"github.com/noren-privacy/noren/kanon/publish"
	"github.com/noren-privacy/noren/kanon/refine"
	"github.com/noren-privacy/noren/kanon/space"
	"github.com/noren-privacy/noren/table"
	"github.com/noren-privacy/noren/table/csvio"
	"github.com/noren-privacy/noren/table/file"
)

// secretSeed is the seed of the releases here.
var secretSeed = []byte("0123456789abcdef")

// joined is how many records of two releases are in the same row.
func joined(a, b []string) int {
	n := 0
	for i := range min(len(a), len(b)) {
		if a[i] == b[i] {
			n++
		}
	}
	return n
}

// most is how many records of two releases are in the same row by chance: of two
// independent orders one on average, more than 12 with probability below 10^-10.
const most = 12

// ordered makes a release by a secret seed, and returns its keys in their order.
func ordered(t *testing.T, j kanon.Job, name string) []string {
	t.Helper()
	j.SecretSeed, j.Seed = secretSeed, nil
	j.Output.Path = filepath.Join(t.TempDir(), name)
	anonymize(t, j)
	return keys(t, read(t, j.Output.Path))
}

// Two releases by one seed cannot be joined row by row: another k, other columns, another
// table of as many records. By the order of the seed alone they were, row by row.
func TestReleasesOfOneSeedAreNotJoined(t *testing.T) {
	randtest.SkipShort(t)
	rows := makePeople(5000, 3)
	j := job(t, t.TempDir(), rows)
	j.Refine = refine.Off
	first := ordered(t, j, "five.csv")
	k := j
	k.K = 8
	if n := joined(first, ordered(t, k, "eight.csv")); n > most {
		t.Errorf("another k: %d of 5000 records are in the same row", n)
	}
	// Without the diagnosis, with the costs.
	costs := j
	costs.Schema.Fields = slices.Clone(costs.Schema.Fields)
	costs.Schema.Fields[slices.Index(names(people), "illness")].Role = table.Identifier
	if n := joined(first, ordered(t, costs, "costs.csv")); n > most {
		t.Errorf("another column: %d of 5000 records are in the same row", n)
	}
	// One cell is another.
	for _, column := range []string{"pay", "note", "name"} {
		changed := slices.Clone(rows)
		changed[4711] = slices.Clone(changed[4711])
		changed[4711][slices.Index(names(people), column)] = "77"
		c := job(t, t.TempDir(), changed)
		c.Refine = refine.Off
		if n := joined(first, ordered(t, c, "other.csv")); n > most {
			t.Errorf("another cell of %s: %d of 5000 records are in the same row", column, n)
		}
	}
	if n := joined(first, ordered(t, j, "again.csv")); n != 5000 {
		t.Errorf("the same release: %d of 5000 records are in the same row", n)
	}
}

// Each parameter changed alone gives another order.
func TestEachParameterGivesAnotherOrder(t *testing.T) {
	randtest.SkipShort(t)
	round := 1
	field := func(name string, change func(f *table.Field)) func(j *kanon.Job) {
		return func(j *kanon.Job) { change(&j.Schema.Fields[slices.Index(names(people), name)]) }
	}
	nothing := func(*kanon.Job) {}
	persons := func(j *kanon.Job) { j.Unit = "name" }
	generalize := func(j *kanon.Job) { j.Publish = publish.Generalize }
	diverse := func(j *kanon.Job) { j.Diversity = &privacy.Diversity{Model: privacy.Recursive, L: 2, C: 5} }
	base := job(t, t.TempDir(), makePeople(400, 4))
	for name, c := range map[string]struct{ first, then func(j *kanon.Job) }{
		"K":           {nothing, func(j *kanon.Job) { j.K = 6 }},
		"Unit":        {nothing, persons},
		"Linkage":     {persons, func(j *kanon.Job) { j.Linkage = kanon.LinkAll }},
		"Pseudonym":   {func(j *kanon.Job) { persons(j); j.Linkage = kanon.LinkAll }, func(j *kanon.Job) { j.Pseudonym = true }},
		"Diversity":   {nothing, diverse},
		"Diversity.L": {diverse, func(j *kanon.Job) { j.Diversity = &privacy.Diversity{Model: privacy.Recursive, L: 1, C: 5} }},
		"Diversity.C": {diverse, func(j *kanon.Job) { j.Diversity = &privacy.Diversity{Model: privacy.Recursive, L: 2, C: 6} }},
		"Diversity.CountMissing": {diverse, func(j *kanon.Job) {
			j.Diversity = &privacy.Diversity{Model: privacy.Recursive, L: 2, C: 5, CountMissing: true}
		}},
		"Closeness": {nothing, func(j *kanon.Job) { j.Closeness = &privacy.Closeness{T: 0.9} }},
		"Scale":     {nothing, func(j *kanon.Job) { j.Scale = space.ZScore }},
		"Method":    {nothing, func(j *kanon.Job) { j.Partition.Method = partition.MDAV }},
		"Gamma":     {nothing, func(j *kanon.Job) { j.Partition.Gamma = 0.3 }},
		"M":         {nothing, func(j *kanon.Job) { j.Partition.M = 4 }},
		"Coarse":    {nothing, func(j *kanon.Job) { j.Partition.Coarse = 100 }},
		"Refine":    {nothing, func(j *kanon.Job) { j.Refine = refine.Off }},
		"Suppress":  {nothing, func(j *kanon.Job) { j.Suppress = kanon.Suppression{Share: 0.001} }},
		"Publish":   {nothing, generalize},
		"Ranges":    {generalize, func(j *kanon.Job) { j.Ranges = publish.Fixed }},
		"Block":     {nothing, func(j *kanon.Job) { j.Block = 100 }},
		"Missing":   {nothing, func(j *kanon.Job) { j.Missing = []string{"?", "never"} }},
		"Round":     {nothing, field("income", func(f *table.Field) { f.Round = &round })},
		"Role":      {nothing, field("pay", func(f *table.Field) { f.Role = table.Identifier })},
		"Type":      {nothing, field("pay", func(f *table.Field) { f.Type = table.Category })},
		"Levels":    {nothing, field("level", func(f *table.Field) { f.Levels = []string{"mild", "none", "severe"} })},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			release := func(changes ...func(*kanon.Job)) []string {
				j := base
				j.Source = open(t, base.Source.Name())
				j.Schema.Fields = slices.Clone(base.Schema.Fields)
				for _, change := range changes {
					change(&j)
				}
				return ordered(t, j, "out.csv")
			}
			if n := joined(release(c.first), release(c.first, c.then)); n > most {
				t.Errorf("%d of 400 records are in the same row", n)
			}
		})
	}
}

// Names, places, formats, memory and workers change nothing of the order.
func TestOrderDoesNotDependOn(t *testing.T) {
	randtest.SkipShort(t)
	rows := makePeople(400, 5)
	base := job(t, t.TempDir(), rows)
	first := ordered(t, base, "first.csv")
	elsewhere := filepath.Join(t.TempDir(), "elsewhere.csv")
	writeCSV(t, elsewhere, people, rows)
	old := time.Now().Add(-time.Hour)
	if err := os.Chtimes(elsewhere, old, old); err != nil {
		t.Fatal(err)
	}
	for name, change := range map[string]func(j *kanon.Job){
		"another file":     func(j *kanon.Job) { j.Source = open(t, elsewhere) },
		"one worker":       func(j *kanon.Job) { j.Workers = 1 },
		"three workers":    func(j *kanon.Job) { j.Workers = 3 },
		"little memory":    func(j *kanon.Job) { j.Memory = 1 },
		"another decision": func(j *kanon.Job) { j.Kept = append(slices.Clone(j.Kept), "note", "pay") },
		"a bound":          func(j *kanon.Job) { j.Gap = time.Millisecond },
		"another form": func(j *kanon.Job) {
			j.Output.Dialect = &csvio.Dialect{Delimiter: ',', Encoding: csvio.ShiftJIS, CRLF: true}
		},
		"the classes":           func(j *kanon.Job) { j.Output.Classes = true },
		"a source without sums": func(j *kanon.Job) { j.Source = &plainSource{j.Source} },
	} {
		j := base
		change(&j)
		got := ordered(t, j, "other.csv")
		same := joined(first, got) == len(first)
		// A source that this package does not know is summed by its rows.
		if want := name != "a source without sums"; same != want {
			t.Errorf("%s: the same order: %t", name, same)
		}
	}
	split, err := file.NewSplitTarget(filepath.Join(t.TempDir(), "parts"), file.SplitOptions{Rows: 90, Like: base.Source})
	if err != nil {
		t.Fatal(err)
	}
	j := base
	j.SecretSeed, j.Output.Path, j.Output.Target = secretSeed, split.Folder(), split
	anonymize(t, j)
	var several []string
	paths, err := filepath.Glob(filepath.Join(split.Folder(), "*.csv"))
	if err != nil || len(paths) != 5 {
		t.Fatalf("%v, %v", paths, err)
	}
	for _, path := range paths {
		several = append(several, keys(t, read(t, path))...)
	}
	if joined(first, several) != len(first) {
		t.Error("in several files the order is another")
	}
	parquet := base
	parquet.SecretSeed, parquet.Output.Path = secretSeed, filepath.Join(t.TempDir(), "out.parquet")
	anonymize(t, parquet)
	var of []string
	src := open(t, parquet.Output.Path)
	at := slices.IndexFunc(src.Columns(), func(c table.StoredColumn) bool { return c.Name == "key" })
	r, err := src.Open(context.Background(), []int{at})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = r.Close() }()
	for {
		c, err := r.Next()
		if err != nil {
			break
		}
		for _, text := range c.Cols[0].Texts {
			of = append(of, string(text))
		}
	}
	if joined(first, of) != len(first) {
		t.Error("in another format the order is another")
	}
}

// plainSource is a source that has no sum of its own.
type plainSource struct{ table.Source }

// A source without a sum of its own is summed by its rows: the same rows, the same order.
func TestOrderOfPlainSource(t *testing.T) {
	rows := makePeople(60, 6)
	a := job(t, t.TempDir(), rows)
	a.Source = &plainSource{a.Source}
	b := job(t, t.TempDir(), rows)
	b.Source = &plainSource{b.Source}
	if first := ordered(t, a, "a.csv"); joined(first, ordered(t, b, "b.csv")) != len(first) {
		t.Error("the same rows have two orders")
	}
	rows[59][1] = "last"
	c := job(t, t.TempDir(), rows)
	c.Source = &plainSource{c.Source}
	if n := joined(ordered(t, a, "a.csv"), ordered(t, c, "c.csv")); n > most {
		t.Errorf("another cell: %d of 60 records are in the same row", n)
	}
}

// The order of a release without a seed is drawn each time.
func TestDrawnOrders(t *testing.T) {
	j := job(t, t.TempDir(), makePeople(400, 7))
	release := func(name string) []byte {
		j := j
		j.Output.Path = filepath.Join(t.TempDir(), name)
		anonymize(t, j)
		return read(t, j.Output.Path)
	}
	a, b := release("a.csv"), release("b.csv")
	if n := joined(keys(t, a), keys(t, b)); n > most || bytes.Equal(a, b) {
		t.Errorf("%d of 400 records are in the same row of two unseeded releases", n)
	}
	if !slices.Equal(sorted(strings.Split(string(a), "\n")), sorted(strings.Split(string(b), "\n"))) {
		t.Error("two unseeded releases have other records")
	}
}
