package service_test

import (
	"bytes"
	"context"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/noren-privacy/noren"
	"github.com/noren-privacy/noren/api"
	"github.com/noren-privacy/noren/kanon/shard"
	"github.com/noren-privacy/noren/spec"
)

// frameList passes on frames.
type frameList struct{ frames [][]byte }

func (l *frameList) Next() ([]byte, error) {
	if len(l.frames) == 0 {
		return nil, io.EOF
	}
	frame := l.frames[0]
	l.frames = l.frames[1:]
	return frame, nil
}

func (l *frameList) add(frame []byte) error {
	l.frames = append(l.frames, bytes.Clone(frame))
	return nil
}

// stages runs what is between the begin and the commit of a release in shards that has one
// bucket.
func stages(ctx context.Context, t *testing.T, dir, build string) *frameList {
	t.Helper()
	j, err := shard.Open(dir, build)
	must(t, err)
	look := func(l *shard.Look) *frameList {
		in := &frameList{}
		for n := range j.Shards {
			must(t, j.Survey(ctx, n, l, in.add))
		}
		return in
	}
	first, err := j.MergeFirst(ctx, look(nil))
	must(t, err)
	plan, err := j.MergeSecond(ctx, first, look(first))
	must(t, err)
	if _, err := j.PutPlan(dir, plan); err != nil || plan.Buckets() != 1 {
		t.Fatalf("%d buckets, %v", plan.Buckets(), err)
	}
	blocks := &frameList{}
	for n := range j.Shards {
		must(t, j.Route(ctx, plan, n, blocks.add))
	}
	made, err := j.Release(ctx, plan, []int{0}, "0123456789ab", dir, blocks)
	must(t, err)
	checked, err := j.Check(ctx, made, dir)
	must(t, err)
	text, err := checked.Encode(j)
	must(t, err)
	return &frameList{frames: [][]byte{made.Encode(j), text}}
}

func TestReleaseInShards(t *testing.T) {
	table, dir := visits(t)
	text, err := os.ReadFile(table.SpecFile)
	must(t, err)
	write(t, table.SpecFile, strings.Replace(string(text), "{k: 3, l: 2}", "{k: 3, publish: generalize}", 1))
	out := filepath.Join(dir, "out")
	request := func() *api.BeginShardsRequest {
		return &api.BeginShardsRequest{
			AnonymizeRequest: api.AnonymizeRequest{Table: table, Output: out, Certificate: filepath.Join(dir, "certificate.json")},
			Job:              shard.Beside(out), Build: "b",
		}
	}
	s := bare(t)
	begun, err := s.BeginShards(t.Context(), request())
	must(t, err)
	if len(begun.Shards) != 1 || begun.Shards[0].Path != table.Input || begun.K != 3 || begun.Output != out {
		t.Errorf("%+v", begun)
	}
	if info, err := os.Stat(filepath.Join(shard.Beside(out), "job")); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the job has mode %v, %v", info.Mode(), err)
	}
	results := stages(t.Context(), t, request().Job, "b")
	made, err := s.CommitShards(t.Context(), &api.CommitShardsRequest{Job: request().Job, Build: "b", Results: results})
	must(t, err)
	if made.Rows != 60 || made.AchievedK < 3 || made.Unit != "person" || made.Guarantee.Unit != "person" {
		t.Errorf("%+v", made)
	}
	s.Note = nil
	must(t, os.Remove(request().Job)) // as a driver does
	check, err := s.CertificateCheck(t.Context(), &api.CertificateCheckRequest{File: out, Certificate: request().Certificate})
	if err != nil || !check.Valid {
		t.Errorf("%+v, %v", check, err)
	}
	verified, err := s.Verify(t.Context(), &api.VerifyRequest{Table: api.Table{Input: out, Spec: &spec.Spec{
		Version: 1, Columns: map[string]spec.Column{"age": {Role: "quasi"}, "city": {Role: "quasi"}}, Anonymize: spec.Anonymize{K: 3},
	}}})
	if err != nil || !verified.Met || verified.Rows != 60 {
		t.Errorf("%+v, %v", verified, err)
	}
	for _, c := range []struct {
		words string
		alter func(r *api.BeginShardsRequest)
	}{
		{"output: expected a folder", func(r *api.BeginShardsRequest) { r.Output = "-" }},
		{"input: expected files that every process", func(r *api.BeginShardsRequest) { r.Input = "pg:visits" }},
		{"report: needs a release in one file", func(r *api.BeginShardsRequest) { r.Report = "page.html" }},
		{"split-rows: a release in shards has one file", func(r *api.BeginShardsRequest) { r.SplitRows = 5 }},
		{"bucket-rows: expected at least 1", func(r *api.BeginShardsRequest) { r.BucketRows = -1 }},
		{"job: expected a folder", func(r *api.BeginShardsRequest) { r.Job = "" }},
		{"certificate: expected a file outside", func(r *api.BeginShardsRequest) { r.Certificate = filepath.Join(out, "c.json") }},
		{"the folder is not empty", func(r *api.BeginShardsRequest) { r.Certificate = "" }},
		{"an input of the same run", func(r *api.BeginShardsRequest) { r.Output = dir }},
		{"got matched", func(r *api.BeginShardsRequest) { r.Spec = &spec.Spec{Anonymize: spec.Anonymize{Publish: "matched"}} }},
		{"expected 32 hexadecimal digits", func(r *api.BeginShardsRequest) { r.Seed = "short" }},
		{"got none for age", func(r *api.BeginShardsRequest) {
			r.SpecFile, r.Spec = "", &spec.Spec{
				Version: 1, Columns: map[string]spec.Column{"age": {Role: "quasi"}},
				Anonymize: spec.Anonymize{K: 3, Publish: "aggregate"},
			}
		}},
		{"illness (no process of a cluster looks at all of its values)", func(r *api.BeginShardsRequest) {
			r.SpecFile, r.Spec = "", &spec.Spec{
				Version: 1, Anonymize: spec.Anonymize{K: 3, Publish: "aggregate"},
				Columns: map[string]spec.Column{
					"age": {Role: "quasi", Type: "integer"}, "person": {Role: "identifier"}, "name": {Role: "identifier"}, "city": {Role: "identifier"},
				},
			}
		}},
	} {
		r := request()
		c.alter(r)
		_, err := bare(t).BeginShards(t.Context(), r)
		if noren.KindOf(err) != noren.Usage || !strings.Contains(err.Error(), c.words) {
			t.Errorf("%v, want %s", err, c.words)
		}
	}
}
