package kanon_test

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strings"
	"testing"

	"github.com/noren-privacy/noren"
	"github.com/noren-privacy/noren/internal/randtest"
	"github.com/noren-privacy/noren/kanon"
	"github.com/noren-privacy/noren/kanon/partition"
	"github.com/noren-privacy/noren/kanon/privacy"
	"github.com/noren-privacy/noren/kanon/publish"
	"github.com/noren-privacy/noren/kanon/refine"
	"github.com/noren-privacy/noren/table"
	"github.com/noren-privacy/noren/table/file"
)

func TestFewerThanK(t *testing.T) {
	for _, n := range []int{0, 1, 4} {
		dir := t.TempDir()
		j := job(t, dir, makePeople(n, 31))
		_, err := kanon.Anonymize(context.Background(), j)
		want := noren.Textf("in.csv: the table has %d {record|records}, fewer than k = 5", n).String()
		if noren.KindOf(err) != noren.BadData || !strings.Contains(err.Error(), want) || list(t, dir) != "in.csv" {
			t.Errorf("%d records: %v; the folder holds %s", n, err, list(t, dir))
		}
	}
}

// A job that contradicts itself is refused before anything is read, with all
// that is wrong with it.
func TestJobsThatContradictThemselves(t *testing.T) {
	for name, c := range map[string]struct {
		change func(*kanon.Job)
		want   []string
	}{
		"no source":    {func(j *kanon.Job) { j.Source = nil }, []string{"a job needs a source"}},
		"no k":         {func(j *kanon.Job) { j.K = 0 }, []string{"k must be 1 at least"}},
		"a negative k": {func(j *kanon.Job) { j.K = -5 }, []string{"k must be 1 at least"}},
		"fewer fields": {
			func(j *kanon.Job) { j.Schema.Fields = j.Schema.Fields[:5] },
			[]string{"the schema has 5 fields for 11 columns"},
		},
		"no quasi-identifier": {
			func(j *kanon.Job) { j.Schema.Fields = slices.Clone(people); setRoles(j, table.Other) },
			[]string{"no column is a quasi-identifier"},
		},
		"identifiers alone": {
			func(j *kanon.Job) { setRoles(j, table.Identifier) },
			[]string{"every column is dropped", "no column is a quasi-identifier"},
		},
		"diversity of nothing": {
			func(j *kanon.Job) { setRoles(j, table.Quasi); j.Diversity = &privacy.Diversity{L: 2} },
			[]string{"l-diversity and t-closeness are about sensitive columns"},
		},
		"closeness of nothing": {
			func(j *kanon.Job) { setRoles(j, table.Quasi); j.Closeness = &privacy.Closeness{T: .2} },
			[]string{"l-diversity and t-closeness are about sensitive columns"},
		},
		"an impossible l":    {func(j *kanon.Job) { j.Diversity = &privacy.Diversity{L: 0.5} }, []string{"l"}},
		"an impossible t":    {func(j *kanon.Job) { j.Closeness = &privacy.Closeness{T: -1} }, []string{"t"}},
		"no output":          {func(j *kanon.Job) { j.Output.Path = "" }, []string{"no output is named"}},
		"no standard output": {func(j *kanon.Job) { j.Output.Path = "-" }, []string{"standard output is asked for"}},
		"everything": {
			func(j *kanon.Job) { *j = kanon.Job{Source: j.Source} },
			[]string{"k must be", "the schema has 0 fields", "no column is a quasi-identifier", "no output is named"},
		},
		"levels that are none": {
			func(j *kanon.Job) { j.Schema.Fields[8].Levels = nil },
			[]string{"column level: an ordered column needs its levels"},
		},
		"a column not there":      {func(j *kanon.Job) { j.Schema.Fields[2].Name = "years" }, []string{`no column "years"`}},
		"a coarse cell too small": {func(j *kanon.Job) { j.Partition.Coarse = 2 }, []string{"coarse"}},
	} {
		dir := t.TempDir()
		j := job(t, dir, makePeople(20, 32))
		c.change(&j)
		r, err := kanon.Anonymize(context.Background(), j)
		if r != nil || noren.KindOf(err) != noren.Usage || list(t, dir) != "in.csv" {
			t.Errorf("%s: %v; the folder holds %s", name, err, list(t, dir))
			continue
		}
		for _, want := range c.want {
			if !strings.Contains(err.Error(), want) {
				t.Errorf("%s: %v does not say %q", name, err, want)
			}
		}
	}
}

func setRoles(j *kanon.Job, r table.Role) {
	for i := range j.Schema.Fields {
		j.Schema.Fields[i].Role = r
	}
}

// Damage in the file is reported by its place, also where it is in a column that is
// only copied and so is met late; nothing is left and no value is shown.
func TestDamagedSource(t *testing.T) {
	rows := makePeople(30, 33)
	var good bytes.Buffer
	path := filepath.Join(t.TempDir(), "in.csv")
	writeCSV(t, path, people, rows)
	good.Write(read(t, path))
	for name, c := range map[string]struct{ text, want string }{
		"a word for a number": {
			strings.Replace(good.String(), "IDENT-0,k0000,", "IDENT-0,k0000,s3cr3t", 1),
			"line 2, column 3 (age): expected an integer",
		},
		"no number": {
			good.String() + "IDENT,k9,1,,F,01.01.2000,IDENT,NaN,none,flu,1\n",
			"column 8 (income): expected a finite number",
		},
		"no date": {
			good.String() + "IDENT,k9,1,,F,31.02.2000,IDENT,1,none,flu,1\n",
			"column 6 (day): expected a date like DD.MM.YYYY",
		},
		"no level": {
			good.String() + "IDENT,k9,1,,F,01.01.2000,IDENT,1,s3cr3t,flu,1\n",
			"column 9 (level): expected one of the 3 levels",
		},
		"a ragged record":       {good.String() + "s3cr3t,k9\n", "line "},
		"a quote never closed":  {good.String() + "IDENT,k9,1,\"s3cr3t,F,01.01.2000,IDENT,1,none,flu,1\n", "line "},
		"bytes of no character": {good.String() + "IDENT,k9,1,s3cr3t\xff,F,01.01.2000,IDENT,1,none,flu,1\n", "line "},
	} {
		dir := t.TempDir()
		if err := os.WriteFile(filepath.Join(dir, "in.csv"), []byte(c.text), 0o600); err != nil {
			t.Fatal(err)
		}
		src, err := file.Open(context.Background(), filepath.Join(dir, "in.csv"), file.Options{Delimiter: ',', Encoding: 1})
		if err == nil {
			j := job(t, t.TempDir(), nil)
			j.Source, j.Output.Path = src, filepath.Join(dir, "out.csv")
			_, err = kanon.Anonymize(context.Background(), j)
			_ = src.Close()
		}
		if noren.KindOf(err) != noren.BadData || !strings.Contains(err.Error(), "in.csv: ") || !strings.Contains(err.Error(), c.want) ||
			strings.Contains(err.Error(), "s3cr3t") || list(t, dir) != "in.csv" {
			t.Errorf("%s: %v; the folder holds %s", name, err, list(t, dir))
		}
	}
}

// changing is a source that is another one when it is read again.
type changing struct {
	table.Source
	then  table.Source
	opens int
}

func (c *changing) Open(ctx context.Context, columns []int) (table.Reader, error) {
	c.opens++
	if c.opens > 1 {
		return c.then.Open(ctx, columns)
	}
	return c.Source.Open(ctx, columns)
}

// A source that grows or shrinks between the readings leaves no release.
func TestSourceThatChanges(t *testing.T) {
	for _, c := range []struct {
		before, after int
		keep          bool
	}{{30, 31, false}, {30, 31, true}, {30, 9000, false}, {30, 29, false}, {30, 29, true}, {30, 0, true}} {
		dir, other := t.TempDir(), t.TempDir()
		rows := makePeople(max(c.before, c.after), 34)
		j := job(t, dir, rows[:c.before])
		writeCSV(t, filepath.Join(other, "then.csv"), people, rows[:c.after])
		j.Source = &changing{Source: j.Source, then: open(t, filepath.Join(other, "then.csv"))}
		j.KeepOrder = c.keep
		_, err := kanon.Anonymize(context.Background(), j)
		if err == nil || list(t, dir) != "in.csv" {
			t.Errorf("%+v: %v; the folder holds %s", c, err, list(t, dir))
			continue
		}
		how := "grown"
		if c.after < c.before {
			how = "shrunk"
		}
		if noren.KindOf(err) != noren.BadData || !strings.Contains(err.Error(), "in.csv: the file has "+how) {
			t.Errorf("%+v: got %v, want an error of kind bad-data that names the file", c, err)
		}
	}
}

// A file on disk that is written to between the readings is noticed as well.
func TestFileThatIsWrittenTo(t *testing.T) {
	for name, change := range map[string]func(text []byte) []byte{
		"longer":      func(text []byte) []byte { return append(text, "IDENT,k9,1,,F,01.01.2000,IDENT,1,none,flu,1\n"...) },
		"as long":     func(text []byte) []byte { return bytes.Replace(text, []byte("k0003"), []byte("k9999"), 1) },
		"cut short":   func(text []byte) []byte { return text[:len(text)/2] },
		"empty":       func([]byte) []byte { return nil },
		"other names": func(text []byte) []byte { return bytes.Replace(text, []byte("sex"), []byte("box"), 1) },
	} {
		dir := t.TempDir()
		j := job(t, dir, makePeople(40, 35))
		path := filepath.Join(dir, "in.csv")
		changed := false
		j.Progress = func(stage string, _, _ int64) {
			if stage != "publishing" || changed {
				return
			}
			changed = true
			if err := os.WriteFile(path, change(read(t, path)), 0o600); err != nil {
				t.Error(err)
			}
		}
		_, err := kanon.Anonymize(context.Background(), j)
		if !changed || noren.KindOf(err) != noren.BadData || list(t, dir) != "in.csv" {
			t.Errorf("%s: %v; the folder holds %s", name, err, list(t, dir))
		}
	}
}

// Whenever the context ends, nothing is left.
func TestCancelled(t *testing.T) {
	randtest.SkipShort(t)
	dir := t.TempDir()
	rows := makePeople(400, 36)
	in := job(t, dir, rows)
	start := func(mode publish.Mode, keep bool) kanon.Job {
		j := in
		j.Publish, j.KeepOrder = mode, keep
		j.Partition = partition.Options{Method: partition.MDAV, Coarse: partition.CoarseOff}
		j.Refine = refine.Fast
		j.Diversity = &privacy.Diversity{L: 3}
		return j
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := kanon.Anonymize(ctx, start(publish.Aggregate, false)); noren.KindOf(err) != noren.Interrupted || list(t, dir) != "in.csv" {
		t.Errorf("%v; the folder holds %s", err, list(t, dir))
	}
	defer nothingStaysOpen(t)()
	for _, keep := range []bool{false, true} {
		// The stages that there are.
		var stages []string
		j := start(publish.Generalize, keep)
		j.Progress = func(stage string, _, _ int64) {
			if !slices.Contains(stages, stage) {
				stages = append(stages, stage)
			}
		}
		if _, err := kanon.Anonymize(context.Background(), j); err != nil {
			t.Fatal(err)
		}
		want := []string{"reading", "partition", "enforce", "publishing", "writing", "verifying"}
		for _, stage := range want {
			if !slices.Contains(stages, stage) {
				t.Errorf("stages %q, without %s", stages, stage)
			}
		}
		if err := os.Remove(j.Output.Path); err != nil {
			t.Fatal(err)
		}
		for _, end := range stages {
			ctx, cancel := context.WithCancel(context.Background())
			j := start(publish.Generalize, keep)
			j.Progress = func(stage string, _, _ int64) {
				if stage == end {
					cancel()
				}
			}
			_, err := kanon.Anonymize(ctx, j)
			cancel()
			if noren.KindOf(err) != noren.Interrupted || list(t, dir) != "in.csv" {
				t.Errorf("cancelled while %s: %v; the folder holds %s", end, err, list(t, dir))
			}
		}
	}
}

// nothingStaysOpen counts the files that the process has open, where the system
// tells; what it returns counts again. The collector closes files too, and has
// to wait.
func nothingStaysOpen(t *testing.T) func() {
	count := func() int {
		open, _ := os.ReadDir("/proc/self/fd")
		return len(open)
	}
	percent := debug.SetGCPercent(-1)
	before := count()
	return func() {
		if after := count(); after > before {
			t.Errorf("%d files are open, and were %d", after, before)
		}
		debug.SetGCPercent(percent)
	}
}

// A name that is taken while the work goes on is not taken away.
func TestOutputThatComesIntoBeing(t *testing.T) {
	dir := t.TempDir()
	j := job(t, dir, makePeople(30, 37))
	j.Progress = func(stage string, _, _ int64) {
		if stage == "verifying" {
			_ = os.WriteFile(j.Output.Path, []byte("precious"), 0o600)
		}
	}
	_, err := kanon.Anonymize(context.Background(), j)
	if noren.KindOf(err) != noren.Usage || string(read(t, j.Output.Path)) != "precious" || list(t, dir) != "in.csv out.csv" {
		t.Errorf("%v; the folder holds %s", err, list(t, dir))
	}
}
