package shard_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/csv"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/noren-privacy/noren/internal/randtest"
	"github.com/noren-privacy/noren/kanon/publish"
	"github.com/noren-privacy/noren/kanon/shard"
	"github.com/noren-privacy/noren/table"
)

// inOrder are the kept values of each released file, row by row.
func inOrder(t testing.TB, c *cluster) [][]string {
	t.Helper()
	var out [][]string
	for _, path := range c.released(t) {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		all, err := csv.NewReader(bytes.NewReader(text)).ReadAll()
		if err != nil {
			t.Fatal(err)
		}
		var of []string
		for _, row := range all[1:] {
			var own []string
			for i, name := range all[0] {
				if f := c.Fields[slices.IndexFunc(c.Fields, func(f shard.Field) bool { return f.Name == name })]; f.Role != table.Quasi {
					own = append(own, row[i])
				}
			}
			of = append(of, strings.Join(own, "\x00"))
		}
		out = append(out, of)
	}
	return out
}

// inOneRow is how many rows of the files of two releases hold the same kept values.
func inOneRow(a, b [][]string) (same, all int) {
	for n := range a {
		all += len(a[n])
		if n >= len(b) {
			continue
		}
		for i := range min(len(a[n]), len(b[n])) {
			if a[n][i] == b[n][i] {
				same++
			}
		}
	}
	return same, all
}

// A release in shards by one seed has the same rows in the same order whatever its folder,
// the names of its files and the key of its job; one of another request, or of a table with
// another cell, has the rows of every file in an independent order.
func TestOrderOfShards(t *testing.T) {
	randtest.SkipShort(t)
	s := small(t, 5)
	s.options.SecretSeed = []byte("0123456789abcdef")
	rand := uint64(1)
	release := func(change func(s *setup, j *shard.Job)) [][]string {
		t.Helper()
		s := *s
		s.text = bytes.Clone(s.text)
		change(&s, &shard.Job{})
		s.alter = func(j *shard.Job) { change(&setup{text: s.text}, j) }
		rand++
		c, err := begin(t, &s, split(t, s.text, 3))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := c.run(rand); err != nil {
			t.Fatal(err)
		}
		return inOrder(t, c)
	}
	nothing := func(*setup, *shard.Job) {}
	base := release(nothing)
	for name, change := range map[string]func(s *setup, j *shard.Job){
		"nothing": nothing,
		"another key": func(_ *setup, j *shard.Job) {
			key := sha256.Sum256([]byte("another key"))
			j.Key = key[:]
		},
		"other names": func(_ *setup, j *shard.Job) {
			j.Input, j.Output, j.Notes = "x", "y", []string{"a note"}
		},
	} {
		if in, all := inOneRow(base, release(change)); in != all {
			t.Errorf("%s: %d of %d records are in the same row", name, in, all)
		}
	}
	for name, change := range map[string]func(s *setup, j *shard.Job){
		"k":       func(s *setup, _ *shard.Job) { s.options.K = 6 },
		"missing": func(_ *setup, j *shard.Job) { j.Missing = []string{"never"} },
		"publish": func(s *setup, _ *shard.Job) { s.options.Publish = publish.Shares },
		"seed":    func(s *setup, _ *shard.Job) { s.options.SecretSeed = []byte("0123456789abcdeg") },
		"cell":    func(s *setup, _ *shard.Job) { s.text = withLastCell(t, s, "changed") },
	} {
		if in, all := inOneRow(base, release(change)); in > all/20 {
			t.Errorf("another %s: %d of %d records are in the same row", name, in, all)
		}
	}
}

// withLastCell is the text of a table with another value in the last column, which is kept,
// of a record.
func withLastCell(t testing.TB, s *setup, value string) []byte {
	t.Helper()
	if s.schema == nil { // of a job: the table was changed before
		return s.text
	}
	if s.schema.Fields[len(s.schema.Fields)-1].Role == table.Quasi {
		t.Fatal("the last column is not kept")
	}
	lines := bytes.Split(s.text, []byte("\n"))
	lines[7] = append(bytes.Clone(lines[7][:bytes.LastIndexByte(lines[7], ',')+1]), value...)
	return bytes.Join(lines, []byte("\n"))
}

// Every field of a job and of its options changes what the order depends on, or is listed
// with a reason.
func TestOrderOfShardsDependsOnEveryField(t *testing.T) { shard.CheckOrderFields(t) }
