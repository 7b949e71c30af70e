package kanon_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/noren-privacy/noren"
	"github.com/noren-privacy/noren/kanon"
	"github.com/noren-privacy/noren/kanon/gate"
	"github.com/noren-privacy/noren/kanon/space"
	"github.com/noren-privacy/noren/table"
)

// A kept column without a decision leaves no release, and the result says what
// became of every column.
func TestGate(t *testing.T) {
	dir := t.TempDir()
	j := job(t, dir, makePeople(60, 3))
	j.Kept = nil
	_, err := kanon.Anonymize(context.Background(), j)
	if noren.CodeOf(err) != gate.Code || noren.KindOf(err) != noren.Usage || list(t, dir) != "in.csv" {
		t.Errorf("got %v; the folder holds %s", err, list(t, dir))
	}
	j.Kept = []string{"key", "note"}
	r, err := kanon.Anonymize(context.Background(), j)
	if err != nil {
		t.Fatal(err)
	}
	fates := map[string]string{}
	for _, f := range r.Columns {
		fates[f.Column] = f.Fate
		if f.Why.IsZero() {
			t.Errorf("%s: no reason", f.Column)
		}
	}
	for _, f := range people {
		want := map[table.Role]string{
			table.Identifier: gate.Dropped, table.Quasi: gate.Transformed, table.Sensitive: gate.Untouched,
			table.Other: gate.Untouched,
		}[f.Role]
		if fates[f.Name] != want {
			t.Errorf("%s is %s, want %s", f.Name, fates[f.Name], want)
		}
	}
	if u := r.Unique; u == nil || u.Records != 60 || u.Alone != 60 {
		t.Errorf("%+v: the keys of all records are unique", u)
	}
}

// A secret seed fixes the release, any other gives another order, and a short one
// is refused.
func TestSecretSeed(t *testing.T) {
	dir := t.TempDir()
	rows := makePeople(60, 4)
	made := func(name, seed string) string {
		j := job(t, dir, rows)
		j.SecretSeed = []byte(seed)
		j.Output.Path = filepath.Join(dir, name)
		if _, err := kanon.Anonymize(context.Background(), j); err != nil {
			t.Fatal(err)
		}
		return string(read(t, j.Output.Path))
	}
	if a := made("a.csv", "0123456789abcdef"); a != made("b.csv", "0123456789abcdef") || a == made("c.csv", "0123456789abcdeg") {
		t.Error("the seed does not decide the order")
	}
	j := job(t, dir, rows)
	j.SecretSeed, j.Seed = []byte("0123456789abcde"), ptr[uint64](1)
	_, err := kanon.Anonymize(context.Background(), j)
	if noren.KindOf(err) != noren.Usage || !strings.Contains(err.Error(), "15 bytes, expected 16") ||
		!strings.Contains(err.Error(), "contradict") {
		t.Errorf("got %v", err)
	}
}

// A release never replaces its source, whatever the path, even by force.
func TestOutputIsNotTheSource(t *testing.T) {
	dir := t.TempDir()
	rows := makePeople(30, 5)
	for _, name := range []string{"in.csv", "link.csv", "hard.csv"} {
		j := job(t, dir, rows)
		_ = os.Remove(filepath.Join(dir, "link.csv"))
		_ = os.Remove(filepath.Join(dir, "hard.csv"))
		if err := os.Symlink("in.csv", filepath.Join(dir, "link.csv")); err != nil {
			t.Skip("no links here")
		}
		if err := os.Link(filepath.Join(dir, "in.csv"), filepath.Join(dir, "hard.csv")); err != nil {
			t.Skip("no links here")
		}
		before := string(read(t, filepath.Join(dir, "in.csv")))
		j.Output.Path, j.Output.Force = filepath.Join(dir, name), true
		_, err := kanon.Anonymize(context.Background(), j)
		if noren.KindOf(err) != noren.Usage || !strings.Contains(err.Error(), "the output is the input") ||
			string(read(t, filepath.Join(dir, "in.csv"))) != before {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// Numbers whose squares overflow are refused by their column's name, whatever the
// scaling and whether the table is worked on as a whole or block by block.
func TestNumbersThatOverflow(t *testing.T) {
	for _, block := range []int{0, 20} {
		for scale := range 3 {
			for _, far := range []string{"1e155", "-1e154", "1.7e308"} {
				dir := t.TempDir()
				rows := makePeople(60, 6)
				rows[7][7] = far
				j := job(t, dir, rows)
				j.Scale = []space.Scaling{space.MinMax, space.ZScore, space.None}[scale]
				if block > 0 {
					j.Block, j.Partition.Coarse = block, 10
				}
				_, err := kanon.Anonymize(context.Background(), j)
				if noren.KindOf(err) != noren.BadData || !strings.Contains(err.Error(), "column income") || strings.Contains(err.Error(), far) ||
					list(t, dir) != "in.csv" {
					t.Errorf("%s, scale %s, block %d: %v; the folder holds %s", far, j.Scale, block, err, list(t, dir))
				}
			}
		}
	}
}
