package shard_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/noren-privacy/noren"
	"github.com/noren-privacy/noren/internal/randtest"
	"github.com/noren-privacy/noren/kanon"
	"github.com/noren-privacy/noren/kanon/partition"
	"github.com/noren-privacy/noren/kanon/privacy"
	"github.com/noren-privacy/noren/kanon/publish"
	"github.com/noren-privacy/noren/kanon/shard"
	"github.com/noren-privacy/noren/table"
)

// unnamed demands that nothing of a release is named.
func (c *cluster) unnamed(t testing.TB) {
	t.Helper()
	entries, err := os.ReadDir(c.Folder)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		t.Fatal(err)
	}
	for _, e := range entries {
		if e.Name() != shard.JobFolder && !strings.HasPrefix(e.Name(), shard.TempPrefix) {
			t.Errorf("%s is named", e.Name())
		}
	}
}

// wants demands an error of a kind, whose text holds some words.
func wants(t testing.TB, err error, kind noren.Kind, words string) {
	t.Helper()
	if err == nil {
		t.Fatalf("no error, want one about %q", words)
	}
	if noren.KindOf(err) != kind || !strings.Contains(err.Error(), words) {
		t.Fatalf("%v (kind %v), want kind %v about %q", err, noren.KindOf(err), kind, words)
	}
}

// prepared is a job whose buckets can be released.
func prepared(t testing.TB, s *setup, n int) (*cluster, [][][]byte, *rand.Rand) {
	t.Helper()
	c, err := begin(t, s, split(t, s.text, n))
	if err != nil {
		t.Fatal(err)
	}
	rng := rand.New(rand.NewPCG(9, 9))
	if err := c.survey(rng); err != nil {
		t.Fatal(err)
	}
	blocks, err := c.route(rng)
	if err != nil {
		t.Fatal(err)
	}
	return c, blocks, rng
}

// The release does not depend on the order of frames, nor on how often a stage runs: the
// records of each file are the same, and with a seed its bytes.
func TestAnyOrderAndRetries(t *testing.T) {
	randtest.SkipShort(t)
	for _, n := range []int{1, 2, 7} {
		s := small(t, 5)
		s.options.SecretSeed = []byte("0123456789abcdef")
		var want map[string]string
		for run := range uint64(2) {
			c, _ := execute(t, s, n, run)
			got := map[string]string{}
			for _, path := range c.released(t) {
				text, err := os.ReadFile(path)
				if err != nil {
					t.Fatal(err)
				}
				got[filepath.Base(path)] = string(text)
			}
			if want == nil {
				want = got
			}
			if len(got) < 3 || fmt.Sprint(got) != fmt.Sprint(want) {
				t.Errorf("%d files: run %d is another", n, run)
			}
		}
	}
	// A file is released twice, as after a lost task: the first attempt's file stays unnamed and
	// is removed.
	s := small(t, 5)
	c, blocks, rng := prepared(t, s, 2)
	first, err := c.releaseAll(blocks, rng)
	if err != nil {
		t.Fatal(err)
	}
	again, err := c.releaseAll(blocks, rng)
	if err != nil {
		t.Fatal(err)
	}
	made := slices.Concat(first[:1], again[1:])
	checked, err := c.check(made)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := c.Commit(context.Background(), c.plan, c.dir, frames(slices.Concat(first, again, checked)), nil); err == nil {
		t.Error("two results of a bucket are committed")
	}
	c.unnamed(t)
	if _, err := c.Commit(context.Background(), c.plan, c.dir, frames(slices.Concat(made, checked)), nil); err != nil {
		t.Fatal(err)
	}
	if err := shard.Clear(c.Folder, c.dir); err != nil {
		t.Fatal(err)
	}
	if left, _ := filepath.Glob(filepath.Join(c.Folder, shard.TempPrefix+"*")); len(left) > 0 {
		t.Errorf("%d files are left", len(left))
	}
	if left, _ := os.ReadDir(c.dir); len(left) > 0 {
		t.Errorf("%d files of the job are left", len(left))
	}
}

// Without a seed two runs write the same records in another order.
func TestOrderIsDrawn(t *testing.T) {
	randtest.SkipShort(t)
	s := small(t, 5)
	var texts [2]string
	for run := range texts {
		c, _ := execute(t, s, 1, 3)
		text, err := os.ReadFile(c.released(t)[0])
		if err != nil {
			t.Fatal(err)
		}
		texts[run] = string(text)
	}
	// Hundreds of records n have the same order twice with probability 1/n!.
	if texts[0] == texts[1] {
		t.Error("two runs have one order")
	}
}

func TestLostAndRepeatedFrames(t *testing.T) {
	randtest.SkipShort(t)
	ctx := context.Background()
	s := small(t, 5)
	c, blocks, rng := prepared(t, s, 2)
	largest := 0
	for b := range blocks {
		if len(blocks[b]) > len(blocks[largest]) {
			largest = b
		}
	}
	release := func(in [][]byte) error {
		_, err := c.Release(ctx, c.plan, []int{largest}, fmt.Sprintf("%012x", rng.Uint64()>>16), c.dir, frames(in))
		return err
	}
	in := blocks[largest]
	wants(t, release(slices.Concat(in, in[:1])), noren.Internal, "once")
	other := (largest + 1) % len(blocks)
	wants(t, release(slices.Concat(in, blocks[other][:1])), noren.Internal, "of another")
	made, err := c.releaseAll(blocks, rng)
	if err != nil {
		t.Fatal(err)
	}
	checked, err := c.check(made)
	if err != nil {
		t.Fatal(err)
	}
	commit := func(all ...[][]byte) error {
		_, err := c.Commit(ctx, c.plan, c.dir, frames(slices.Concat(all...)), nil)
		return err
	}
	wants(t, commit(made[1:], checked), noren.Internal, "each bucket once")
	wants(t, commit(made[:len(made)-1], checked), noren.Internal, "each bucket once")
	wants(t, commit(made, made[:1], checked), noren.Internal, "each bucket once")
	wants(t, commit(made, checked[1:]), noren.Internal, "a check of each file")
	c.unnamed(t)
	// A block that is lost on the way: its records are missing at the end.
	short := slices.Clone(blocks)
	short[largest] = slices.DeleteFunc(slices.Clone(in), func(b []byte) bool { return binary.LittleEndian.Uint32(b[4:]) == 1 })
	if made, err = c.releaseAll(short, rng); err != nil {
		t.Fatal(err)
	}
	if checked, err = c.check(made); err != nil {
		t.Fatal(err)
	}
	wants(t, commit(made, checked), noren.Internal, "3000 records")
	c.unnamed(t)
	// The frames of another job.
	d, others, _ := prepared(t, s, 1)
	_, err = d.Release(ctx, d.plan, []int{0}, "0123456789ab", d.dir, frames(blocks[0]))
	wants(t, err, noren.Internal, "a block of this job")
	if len(others) == 0 {
		t.Error("no blocks")
	}
}

// A file that is not what was written, and one with a class below k.
func TestSpoiledFile(t *testing.T) {
	randtest.SkipShort(t)
	ctx := context.Background()
	for _, c := range []struct {
		name  string
		spoil func(path string) error
	}{
		{"a row is changed", func(path string) error {
			text, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			at := bytes.IndexByte(text, '\n') + 1
			text[at] = '1' + (text[at]-'0')%9
			return os.WriteFile(path, text, 0o600)
		}},
		{"a row is lost", func(path string) error {
			text, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			return os.WriteFile(path, text[:bytes.LastIndexByte(text[:len(text)-1], '\n')+1], 0o600)
		}},
		{"the file is lost", os.Remove},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := small(t, 5)
			job, blocks, rng := prepared(t, s, 2)
			made, err := job.releaseAll(blocks, rng)
			if err != nil {
				t.Fatal(err)
			}
			m, err := shard.DecodeMade(job.Job, made[1])
			if err != nil {
				t.Fatal(err)
			}
			if err := c.spoil(filepath.Join(job.dir, m.Name)); err != nil {
				t.Fatal(err)
			}
			checked, err := job.check(made)
			if err != nil {
				t.Fatal(err)
			}
			_, err = job.Commit(ctx, job.plan, job.dir, frames(slices.Concat(made, checked)), nil)
			wants(t, err, noren.NotMet, "is not the file that was written")
			job.unnamed(t)
		})
	}
	// A file whose release was wrong from the start: its digest is that of the result, and a
	// class of it is too small.
	s := small(t, 5)
	job, blocks, rng := prepared(t, s, 2)
	made, err := job.releaseAll(blocks, rng)
	if err != nil {
		t.Fatal(err)
	}
	m, err := shard.DecodeMade(job.Job, made[0])
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(job.dir, m.Name)
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	at := bytes.IndexByte(text, '\n') + 1
	text[at] = '1' + (text[at]-'0')%9
	if err := os.WriteFile(path, text, 0o600); err != nil {
		t.Fatal(err)
	}
	m.Resign(text)
	made[0] = m.Encode(job.Job)
	checked, err := job.check(made)
	if err != nil {
		t.Fatal(err)
	}
	_, err = job.Commit(ctx, job.plan, job.dir, frames(slices.Concat(made, checked)), nil)
	wants(t, err, noren.NotMet, "k = 5")
	job.unnamed(t)
}

// A file of the table that changes while the job runs ends it, at each stage.
func TestChangedInput(t *testing.T) {
	ctx := context.Background()
	s := small(t, 5)
	c, blocks, rng := prepared(t, s, 2)
	path := c.Shards[1].Path
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	later := info.ModTime().Add(time.Second)
	touch := func(when time.Time) {
		t.Helper()
		if err := os.Chtimes(path, when, when); err != nil {
			t.Fatal(err)
		}
	}
	made, err := c.releaseAll(blocks, rng)
	if err != nil {
		t.Fatal(err)
	}
	checked, err := c.check(made)
	if err != nil {
		t.Fatal(err)
	}
	touch(later)
	none := func([]byte) error { return nil }
	look, err := c.GetLook(c.dir)
	if err != nil {
		t.Fatal(err)
	}
	wants(t, c.Survey(ctx, 1, nil, none), noren.BadData, "has changed since the job began")
	wants(t, c.Survey(ctx, 1, look, none), noren.BadData, "has changed since the job began")
	wants(t, c.Route(ctx, c.plan, 1, none), noren.BadData, "has changed since the job began")
	_, err = c.Commit(ctx, c.plan, c.dir, frames(slices.Concat(made, checked)), nil)
	wants(t, err, noren.BadData, "has changed since the job began")
	c.unnamed(t)
	// A change that leaves size and time as they were.
	touch(info.ModTime())
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	at := bytes.Index(text, []byte("female"))
	copy(text[at:], "femals")
	if err := os.WriteFile(path, text, 0o600); err != nil {
		t.Fatal(err)
	}
	touch(info.ModTime())
	wants(t, c.Route(ctx, c.plan, 1, none), noren.BadData, "has changed since the job began")
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	wants(t, c.Route(ctx, c.plan, 1, none), noren.BadData, "cannot be read")
}

// Files that are not of the table of the first.
func TestOtherFiles(t *testing.T) {
	s := small(t, 5)
	for _, c := range []struct {
		name  string
		alter func(text string) string
		kind  noren.Kind
		words string
	}{
		{
			"a column less", func(text string) string { return strings.ReplaceAll(text, ",note\n", "\n") }, noren.BadData,
			"expected 12 columns as in",
		},
		{
			"another name", func(text string) string { return strings.Replace(text, "region", "place", 1) }, noren.BadData,
			"expected the name region",
		},
		{
			"a cell that is no number", func(text string) string { return strings.Replace(text, "male,", "male,x", 1) }, noren.BadData,
			"expected one of the 9 levels",
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			paths := split(t, s.text, 2)
			text, err := os.ReadFile(paths[1])
			if err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(paths[1], []byte(c.alter(string(text))), 0o600); err != nil {
				t.Fatal(err)
			}
			job, err := begin(t, s, paths)
			if err != nil {
				t.Fatal(err)
			}
			err = job.survey(rand.New(rand.NewPCG(1, 1)))
			wants(t, err, c.kind, c.words)
			if !strings.Contains(err.Error(), paths[1]) {
				t.Errorf("the file is not named: %v", err)
			}
		})
	}
	// Too few records.
	schema, text := bigTable(t, 4, false)
	job, err := begin(t, &setup{schema: schema, text: text, options: defaults(5), bucket: 100}, split(t, text, 2))
	if err != nil {
		t.Fatal(err)
	}
	wants(t, job.survey(rand.New(rand.NewPCG(1, 1))), noren.BadData, "the table has 4 records, fewer than k = 5")
}

// What works on all records at once is refused.
func TestRefusedOptions(t *testing.T) {
	for _, c := range []struct {
		words string
		alter func(o *kanon.Options)
	}{
		{"a duration to refine", func(o *kanon.Options) { o.Refine.Duration = time.Second }},
		{"l-diversity", func(o *kanon.Options) { o.Diversity = &privacy.Diversity{L: 2} }},
		{"t-closeness", func(o *kanon.Options) { o.Closeness = &privacy.Closeness{T: .2} }},
		{"linkage of all records", func(o *kanon.Options) { o.Unit, o.Linkage = "id", kanon.LinkAll }},
		{"suppression", func(o *kanon.Options) { o.Suppress = kanon.Suppression{Share: .1} }},
		{"mondrian", func(o *kanon.Options) { o.Partition.Method = partition.Mondrian }},
		{"a release without coarse step", func(o *kanon.Options) { o.Partition.Coarse = partition.CoarseOff }},
		{"expected aggregate, generalize or shares, got matched", func(o *kanon.Options) { o.Publish = publish.Matched }},
		{"not in the order of the source", func(o *kanon.Options) { o.KeepOrder = true }},
		{"a lower bound", func(o *kanon.Options) { o.Gap = time.Second }},
	} {
		o := defaults(5)
		c.alter(&o)
		_, err := shard.OptionsOf(&o)
		wants(t, err, noren.Usage, c.words)
	}
	o := defaults(5)
	if _, err := shard.OptionsOf(&o); err != nil {
		t.Error(err)
	}
}

// A worker of another build refuses the job.
func TestOtherBuild(t *testing.T) {
	s := small(t, 5)
	c, err := begin(t, s, split(t, s.text, 1))
	if err != nil {
		t.Fatal(err)
	}
	_, err = shard.Open(c.dir, "other")
	wants(t, err, noren.Usage, "expected a worker of the build that began the job")
}

// An earlier release is replaced where that is asked for, and nothing else ever is.
func TestFolderInUse(t *testing.T) {
	randtest.SkipShort(t)
	s := small(t, 5)
	c, _ := execute(t, s, 1, 1)
	names := len(c.released(t))
	wants(t, c.Vacant(), noren.Usage, "the folder is not empty")
	c.Force = true
	if err := c.Vacant(); err != nil {
		t.Fatal(err)
	}
	if _, err := c.run(2); err != nil {
		t.Fatal(err)
	}
	if n := len(c.released(t)); n != names {
		t.Errorf("%d files, want %d", n, names)
	}
	verified(t, c, s.schema.Names(table.Quasi), 5)
	if err := os.WriteFile(filepath.Join(c.Folder, "notes.txt"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	wants(t, c.Vacant(), noren.Usage, "is not replaced")
}
