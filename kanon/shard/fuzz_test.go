package shard_test

import (
	"bytes"
	"context"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	"github.com/noren-privacy/noren/internal/meter/metertest"
	"github.com/noren-privacy/noren/kanon/publish"
	"github.com/noren-privacy/noren/kanon/shard"
	"github.com/noren-privacy/noren/table"
)

// What a process is passed is read whole or refused: no bytes make it fail or take more
// memory than a multiple of their length, and what is read is written as it was.

// sample is a job with its frames.
type sample struct {
	c                   *cluster
	job, look, plan     []byte
	parts, blocks, made [][]byte
	checked             [][]byte
}

func fuzzed(f *testing.F) *sample {
	f.Helper()
	schema, text := bigTable(f, 120, true)
	s := &setup{schema: schema, text: text, options: defaults(3), bucket: 40}
	s.options.Partition.Coarse, s.options.Block, s.options.Unit, s.options.Publish = 20, 20, "id", publish.Generalize
	schema.Fields[schema.Index("id")].Type = table.Category
	c, err := begin(f, s, split(f, text, 2))
	if err != nil {
		f.Fatal(err)
	}
	out := &sample{c: c}
	rng := rand.New(rand.NewPCG(1, 1))
	if err := c.survey(rng); err != nil {
		f.Fatal(err)
	}
	look, err := c.GetLook(c.dir)
	if err != nil {
		f.Fatal(err)
	}
	out.look = look.Encode(c.Job)
	for _, l := range []*shard.Look{nil, look} {
		for n := range c.Shards {
			if err := c.Survey(context.Background(), n, l, collect(&out.parts)); err != nil {
				f.Fatal(err)
			}
		}
	}
	if out.plan, err = c.plan.Encode(c.Job); err != nil {
		f.Fatal(err)
	}
	blocks, err := c.route(rng)
	if err != nil {
		f.Fatal(err)
	}
	for _, b := range blocks {
		out.blocks = append(out.blocks, b...)
	}
	if out.made, err = c.releaseAll(blocks, rng); err != nil {
		f.Fatal(err)
	}
	if out.checked, err = c.check(out.made); err != nil {
		f.Fatal(err)
	}
	if out.job, err = c.Encode(); err != nil {
		f.Fatal(err)
	}
	return out
}

func FuzzJob(f *testing.F) {
	s := fuzzed(f)
	f.Add(s.job)
	f.Add([]byte(`{"protocol":1,"build":"test"}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		metertest.Hold(t, len(text))
		if j, err := shard.DecodeJob(text, build); err == nil {
			if _, err := j.Encode(); err != nil {
				t.Fatal(err)
			}
		}
	})
}

func FuzzPart(f *testing.F) {
	s := fuzzed(f)
	for _, p := range s.parts {
		f.Add(p)
	}
	look, err := shard.DecodeLook(s.c.Job, s.look)
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, frame []byte) {
		metertest.Hold(t, len(frame))
		// Alone it is never complete, and beside the others it is there twice or spoils them.
		for _, in := range [][][]byte{{frame}, append([][]byte{frame}, s.parts...)} {
			if _, err := s.c.MergeFirst(context.Background(), frames(in)); err == nil {
				t.Fatal("a table of a part")
			}
			if _, err := s.c.MergeSecond(context.Background(), look, frames(in)); err == nil {
				t.Fatal("a plan of a part")
			}
		}
	})
}

func FuzzLook(f *testing.F) {
	s := fuzzed(f)
	f.Add(s.look)
	f.Fuzz(func(t *testing.T, text []byte) {
		metertest.Hold(t, len(text))
		if l, err := shard.DecodeLook(s.c.Job, text); err == nil {
			again, err := shard.DecodeLook(s.c.Job, l.Encode(s.c.Job))
			if err != nil || again.Rows() != l.Rows() {
				t.Fatal("another look", err)
			}
		}
	})
}

func FuzzPlan(f *testing.F) {
	s := fuzzed(f)
	f.Add(s.plan)
	f.Fuzz(func(t *testing.T, text []byte) {
		metertest.Hold(t, len(text))
		p, err := shard.DecodePlan(s.c.Job, text)
		if err != nil {
			return
		}
		again, err := p.Encode(s.c.Job)
		if err != nil {
			t.Fatal(err)
		}
		if p, err = shard.DecodePlan(s.c.Job, again); err != nil {
			t.Fatal(err)
		}
		// Records find a bucket of it, whatever its cuts are.
		if err := s.c.Route(context.Background(), p, 0, func([]byte) error { return nil }); err != nil {
			t.Skip(err) // the words are others than the file's
		}
	})
}

func FuzzBlock(f *testing.F) {
	s := fuzzed(f)
	for _, b := range s.blocks {
		f.Add(b)
	}
	f.Fuzz(func(t *testing.T, frame []byte) {
		metertest.Hold(t, len(frame))
		buckets := make([]int, s.c.plan.Buckets())
		for b := range buckets {
			buckets[b] = b
		}
		m, err := s.c.Release(context.Background(), s.c.plan, buckets, "0123456789ab", s.c.dir, frames([][]byte{frame}))
		if err != nil {
			return
		}
		if m.Kind == shard.MadeFile {
			if err := shard.Clear(s.c.Folder, t.TempDir()); err != nil {
				t.Fatal(err)
			}
		}
	})
}

func FuzzMade(f *testing.F) {
	s := fuzzed(f)
	for _, m := range s.made {
		f.Add(m)
	}
	f.Fuzz(func(t *testing.T, frame []byte) {
		metertest.Hold(t, len(frame))
		if m, err := shard.DecodeMade(s.c.Job, frame); err == nil {
			again, err := shard.DecodeMade(s.c.Job, m.Encode(s.c.Job))
			if err != nil || again.Rows != m.Rows || again.Name != m.Name {
				t.Fatal("another result", err)
			}
		}
	})
}

func FuzzChecked(f *testing.F) {
	s := fuzzed(f)
	for _, c := range s.checked {
		f.Add(c)
	}
	f.Fuzz(func(t *testing.T, frame []byte) {
		metertest.Hold(t, len(frame))
		c, err := shard.DecodeChecked(s.c.Job, frame)
		if err != nil {
			return
		}
		text, err := c.Encode(s.c.Job)
		if err != nil {
			t.Fatal(err)
		}
		if again, err := shard.DecodeChecked(s.c.Job, text); err != nil || !bytes.Equal(again.SHA256, c.SHA256) {
			t.Fatal("another check", err)
		}
	})
}

func FuzzVerification(f *testing.F) {
	f.Add([]byte(
		`{"protocol":1,"build":"test","input":"out","folder":"/out","k":5,"quasi_identifiers":["age"],"files":[{"name":"part-00001.csv","size":1,"rows":1,"sha256":""}]}`))
	dir := f.TempDir()
	f.Fuzz(func(t *testing.T, text []byte) {
		metertest.Hold(t, len(text))
		if err := os.WriteFile(filepath.Join(dir, "verify"), text, 0o600); err != nil {
			t.Fatal(err)
		}
		v, err := shard.OpenVerification(dir, build)
		if err != nil {
			return
		}
		if _, err := v.Verdict(context.Background(), frames(nil)); err == nil {
			t.Fatal("a verdict on no file")
		}
	})
}
