package shard_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/csv"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/noren-privacy/noren/examples/bigtable"
	"github.com/noren-privacy/noren/kanon"
	"github.com/noren-privacy/noren/kanon/gate"
	"github.com/noren-privacy/noren/kanon/publish"
	"github.com/noren-privacy/noren/kanon/refine"
	"github.com/noren-privacy/noren/kanon/shard"
	"github.com/noren-privacy/noren/kanon/space"
	"github.com/noren-privacy/noren/table"
	"github.com/noren-privacy/noren/table/csvio"
)

// The reference executor runs the stages one after the other in this process, with
// bytes between them as an engine passes them on.

const build = "test"

// list is the frames of a stage.
type list struct {
	frames [][]byte
	at     int
}

func (l *list) Next() ([]byte, error) {
	if l.at == len(l.frames) {
		return nil, io.EOF
	}
	l.at++
	return l.frames[l.at-1], nil
}

func frames(all [][]byte) *list { return &list{frames: all} }

// collect gathers what a stage passes on.
func collect(into *[][]byte) func([]byte) error {
	return func(frame []byte) error {
		*into = append(*into, bytes.Clone(frame))
		return nil
	}
}

// setup is a table in files and how it is to be released.
type setup struct {
	schema  *table.Schema
	text    []byte // CSV, with names
	options kanon.Options
	bucket  int64
	alter   func(j *shard.Job) // of the job before it begins, nil for nothing
	within  bool               // the folder of the job lies in that of the release
	folder  string             // of the release, a new one where it is empty
}

// bigTable is a table of n synthetic people.
func bigTable(t testing.TB, n int64, extra bool) (*table.Schema, []byte) {
	t.Helper()
	var b bytes.Buffer
	o := bigtable.Options{Rows: n, Seed: 7, Extra: extra}
	if err := bigtable.Write(context.Background(), &b, o); err != nil {
		t.Fatal(err)
	}
	return bigtable.Schema(o), b.Bytes()
}

func defaults(k int) kanon.Options {
	return kanon.Options{K: k, Refine: refine.Fast, Scale: space.ZScore, Publish: publish.Aggregate}
}

// split writes a table as n files of the same header.
func split(t testing.TB, text []byte, n int) []string {
	t.Helper()
	dir := t.TempDir()
	head, rest, _ := bytes.Cut(text, []byte("\n"))
	lines := bytes.SplitAfter(rest, []byte("\n"))
	if len(lines[len(lines)-1]) == 0 {
		lines = lines[:len(lines)-1]
	}
	var paths []string
	for i := range n {
		path := filepath.Join(dir, fmt.Sprintf("in-%02d.csv", i))
		some := bytes.Join(lines[len(lines)*i/n:len(lines)*(i+1)/n], nil)
		if err := os.WriteFile(path, append(append(bytes.Clone(head), '\n'), some...), 0o600); err != nil {
			t.Fatal(err)
		}
		paths = append(paths, path)
	}
	return paths
}

// cluster is a job under way.
type cluster struct {
	*shard.Job
	dir   string
	plan  *shard.Plan
	parts int // of the first look
}

// begin begins a job about files.
func begin(t testing.TB, s *setup, paths []string) (*cluster, error) {
	t.Helper()
	folder := s.folder
	if folder == "" {
		folder = filepath.Join(t.TempDir(), "out")
	}
	c := &cluster{dir: shard.Beside(folder)}
	if s.within {
		c.dir = filepath.Join(folder, shard.JobFolder)
	}
	if err := os.MkdirAll(c.dir, 0o700); err != nil {
		t.Fatal(err)
	}
	options, err := shard.OptionsOf(&s.options)
	if err != nil {
		return nil, err
	}
	key := sha256.Sum256([]byte("the key of a test"))
	j := &shard.Job{
		Protocol: shard.Protocol, Build: build, Version: build, Input: "in", Output: "out", Fields: shard.FieldsOf(s.schema.Fields),
		Options: options,
		Folder:  folder, Before: "part-", After: ".csv", Dialect: csvio.Dialect{Delimiter: ','}, BucketRows: s.bucket, Key: key[:],
		Form: shard.Form{Delimiter: ','},
	}
	for _, f := range s.schema.Fields {
		j.Fates = append(j.Fates, gate.Fate{Column: f.Name, Role: f.Role.String()})
	}
	for _, path := range paths {
		stamp, err := shard.StampOf(path)
		if err != nil {
			return nil, err
		}
		j.Shards = append(j.Shards, stamp)
	}
	if s.alter != nil {
		s.alter(j)
	}
	if err := j.Begin(c.dir); err != nil {
		return nil, err
	}
	c.Job, err = shard.Open(c.dir, build)
	return c, err
}

// survey runs both looks and merges them, the frames in an order drawn by rng.
func (c *cluster) survey(rng *rand.Rand) error {
	ctx := context.Background()
	var look *shard.Look
	for range 2 {
		var all [][]byte
		for n := range c.Shards {
			if err := c.Survey(ctx, n, look, collect(&all)); err != nil {
				return err
			}
		}
		c.parts = len(all)
		rng.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
		var err error
		if look == nil {
			if look, err = c.MergeFirst(ctx, frames(all)); err != nil {
				return err
			}
			if err = c.PutLook(c.dir, look); err != nil {
				return err
			}
			look, err = c.GetLook(c.dir)
		} else {
			var plan *shard.Plan
			if plan, err = c.MergeSecond(ctx, look, frames(all)); err != nil {
				return err
			}
			if _, err = c.PutPlan(c.dir, plan); err != nil {
				return err
			}
			c.plan, err = c.GetPlan(c.dir)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// route gives the blocks of each bucket, in an order drawn by rng.
func (c *cluster) route(rng *rand.Rand) ([][][]byte, error) {
	buckets := make([][][]byte, c.plan.Buckets())
	for _, n := range rng.Perm(len(c.Shards)) {
		var all [][]byte
		if err := c.Route(context.Background(), c.plan, n, collect(&all)); err != nil {
			return nil, err
		}
		for _, frame := range all {
			b := binary.LittleEndian.Uint32(frame)
			buckets[b] = append(buckets[b], frame)
		}
	}
	for _, b := range buckets {
		rng.Shuffle(len(b), func(i, j int) { b[i], b[j] = b[j], b[i] })
	}
	return buckets, nil
}

// releaseAll releases all buckets, short ones together with the next, and passes results on
// as frames.
func (c *cluster) releaseAll(blocks [][][]byte, rng *rand.Rand) ([][]byte, error) {
	sets := make([][]int, len(blocks))
	for b := range sets {
		sets[b] = []int{b}
	}
	made := map[int][]byte{}
	for {
		var short []int
		for i, set := range sets {
			if made[set[0]] != nil {
				continue
			}
			var in [][]byte
			for _, b := range set {
				in = append(in, blocks[b]...)
			}
			attempt := fmt.Sprintf("%012x", rng.Uint64()>>16)
			m, err := c.Release(context.Background(), c.plan, set, attempt, c.dir, frames(in))
			if err != nil {
				return nil, err
			}
			made[set[0]] = m.Encode(c.Job)
			if made[set[0]][1] == shard.MadeShort {
				short = append(short, i)
			}
		}
		if len(short) == 0 || len(sets) == 1 {
			break
		}
		// The first short one goes with the next, the last with the one before.
		i := min(short[0], len(sets)-2)
		delete(made, sets[i][0])
		delete(made, sets[i+1][0])
		for _, s := range short {
			delete(made, sets[s][0])
		}
		sets = slices.Concat(sets[:i], [][]int{slices.Concat(sets[i], sets[i+1])}, sets[i+2:])
	}
	var out [][]byte
	for _, set := range sets {
		out = append(out, made[set[0]])
	}
	return out, nil
}

// check checks all files.
func (c *cluster) check(made [][]byte) ([][]byte, error) {
	var out [][]byte
	for _, frame := range made {
		m, err := shard.DecodeMade(c.Job, frame)
		if err != nil {
			return nil, err
		}
		if m.Kind != shard.MadeFile {
			continue
		}
		checked, err := c.Check(context.Background(), m, c.dir)
		if err != nil {
			return nil, err
		}
		text, err := checked.Encode(c.Job)
		if err != nil {
			return nil, err
		}
		out = append(out, text)
	}
	return out, nil
}

// ready runs a job up to its commit, and returns what that takes.
func (c *cluster) ready(seed uint64) ([][]byte, error) {
	rng := rand.New(rand.NewPCG(seed, 1))
	if err := c.survey(rng); err != nil {
		return nil, err
	}
	blocks, err := c.route(rng)
	if err != nil {
		return nil, err
	}
	made, err := c.releaseAll(blocks, rng)
	if err != nil {
		return nil, err
	}
	checked, err := c.check(made)
	if err != nil {
		return nil, err
	}
	all := slices.Concat(made, checked)
	rng.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
	return all, nil
}

// run runs a job to its end.
func (c *cluster) run(seed uint64) (*kanon.Result, error) {
	all, err := c.ready(seed)
	if err != nil {
		return nil, err
	}
	return c.Commit(context.Background(), c.plan, c.dir, frames(all), nil)
}

// execute runs a job about a table in n files.
func execute(t testing.TB, s *setup, n int, seed uint64) (*cluster, *kanon.Result) {
	t.Helper()
	c, err := begin(t, s, split(t, s.text, n))
	if err != nil {
		t.Fatal(err)
	}
	r, err := c.run(seed)
	if err != nil {
		t.Fatal(err)
	}
	return c, r
}

// rows are the records of CSV files without their headers, sorted.
func rows(t testing.TB, paths ...string) []string {
	t.Helper()
	var out []string
	for _, path := range paths {
		f, err := os.Open(path)
		if err != nil {
			t.Fatal(err)
		}
		all, err := csv.NewReader(f).ReadAll()
		_ = f.Close()
		if err != nil {
			t.Fatal(err)
		}
		for _, record := range all[1:] {
			out = append(out, strings.Join(record, "\x00"))
		}
	}
	slices.Sort(out)
	return out
}

// released lists the files of a release; it must have a manifest.
func (c *cluster) released(t testing.TB) []string {
	t.Helper()
	if _, err := os.Stat(filepath.Join(c.Folder, "_MANIFEST")); err != nil {
		t.Fatal(err)
	}
	paths, err := filepath.Glob(filepath.Join(c.Folder, "part-*"))
	if err != nil || len(paths) == 0 {
		t.Fatalf("%d files, %v", len(paths), err)
	}
	return paths
}
