package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"runtime"
	"runtime/debug"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/noren-privacy/noren"
	"github.com/noren-privacy/noren/api"
	"github.com/noren-privacy/noren/internal/frames"
	"github.com/noren-privacy/noren/kanon/shard"
)

// workerMemory is about how much memory a stage takes.
const workerMemory = 150 << 20

// workerFlags are those of the stages of a release.
type workerFlags struct {
	job     string
	look    int
	shard   int
	buckets string
	attempt string
}

// workerRelease are the stages of a k-anonymous release in shards: see package
// kanon/shard.
func workerRelease(t *terminal) []*cobra.Command {
	return []*cobra.Command{
		newWorkerStart(t),
		newWorkerStage(t, "survey", "Look at one file", []string{"look", "shard"}, workerSurvey),
		newWorkerStage(t, "merge", "Put the looks at all files together", []string{"look"}, workerMerge),
		newWorkerStage(t, "route", "Pack the records of one file into blocks of buckets", []string{"shard"}, workerRoute),
		newWorkerStage(t, "release", "Make the groups of a bucket and write its file", []string{"buckets", "attempt"}, workerBucket),
		newWorkerStage(t, "check", "Verify the file of a bucket", nil, workerCheck),
		newWorkerStage(t, "commit", "Name the files of a release and write its manifest", nil, workerCommit),
		newWorkerVerifyStart(t),
		newWorkerVerify(t, "verify-part", "Verify one file of a release in shards", true, workerVerifyPart),
		newWorkerVerify(t, "verdict", "Put what was verified in all files together", false, workerVerdict),
		newWorkerStage(t, "abandon", "Remove what a job has made", nil, workerAbandon),
	}
}

// stage is one run of a stage.
type stage struct {
	t   *terminal
	f   *workerFlags
	job *shard.Job
	in  shard.Frames
	out *frames.Writer
}

// newWorkerStage is a command that reads frames, runs a stage on one core, and writes
// frames, the last one only after success.
func newWorkerStage(t *terminal, name, short string, needs []string, run func(ctx context.Context, s *stage) error) *cobra.Command {
	var f workerFlags
	c := &cobra.Command{
		Use:   name + " --job FOLDER",
		Short: short,
		Args:  exactly(),
		RunE: func(c *cobra.Command, _ []string) error {
			for _, flag := range append(needs, "job") {
				if !c.Flags().Changed(flag) {
					return noren.Usagef("--"+flag, "expected a value, got none")
				}
			}
			defer limitMemory(workerMemory)()
			defer debug.SetGCPercent(debug.SetGCPercent(50))
			defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
			s := &stage{t: t, f: &f, in: received{frames.NewReader(t.stdin)}}
			return t.answerFrames(func(w *frames.Writer) (err error) {
				s.out = w
				if s.job, err = shard.Open(f.job, buildText()); err != nil {
					return err
				}
				return run(c.Context(), s)
			})
		},
	}
	s := c.Flags()
	s.StringVar(&f.job, "job", "", "`FOLDER` of the job")
	s.IntVar(&f.look, "look", 0, "1 or 2")
	s.IntVar(&f.shard, "shard", 0, "`NUMBER` of a file, from 0")
	s.StringVar(&f.buckets, "buckets", "", "`NUMBERS` of neighbouring buckets, comma-separated")
	s.StringVar(&f.attempt, "attempt", "", "12 hexadecimal `DIGITS`, drawn for this attempt")
	return c
}

// buildText is the build that all processes of a job share.
func buildText() string { return versionText(buildInfo()) }

// received are the frames of standard input. Those that end without the last one come
// from a process that was ended: the stage can be tried again.
type received struct{ *frames.Reader }

// Next implements [shard.Frames].
func (r received) Next() ([]byte, error) {
	frame, err := r.Reader.Next()
	if errors.Is(err, frames.ErrCut) {
		return nil, &noren.Error{
			Where: noren.Phrase("standard input"), What: "ended before the last frame",
			Err: errors.New("the process that writes it was ended"),
		}
	}
	return frame, err
}

// writeJSON writes one frame that holds v as JSON.
func (s *stage) writeJSON(v any) error {
	text, err := json.Marshal(v)
	if err != nil {
		return &noren.Error{What: "cannot write the result", Err: err}
	}
	return s.out.Write(text)
}

// one is the only frame of the input.
func (s *stage) one() ([]byte, error) {
	frame, err := s.in.Next()
	if err != nil {
		if errors.Is(err, io.EOF) {
			err = &noren.Error{Where: noren.Phrase("standard input"), What: "expected one frame, got none", Err: io.ErrUnexpectedEOF}
		}
		return nil, err
	}
	frame = bytes.Clone(frame)
	if _, err := s.in.Next(); !errors.Is(err, io.EOF) {
		if err == nil {
			err = &noren.Error{Where: noren.Phrase("standard input"), What: "expected one frame, got more", Err: io.ErrShortBuffer}
		}
		return nil, err
	}
	return frame, nil
}

// newWorkerStart begins a job: it reads a frame with the seed, and writes one that lists the
// files.
func newWorkerStart(t *terminal) *cobra.Command {
	var f anonymizeFlags
	var job string
	var bucketRows int64
	c := &cobra.Command{
		Use:   "start INPUT -o FOLDER --job FOLDER",
		Short: "Begin a release in shards",
		Args:  exactly("INPUT"),
		RunE: func(c *cobra.Command, args []string) error {
			s := &stage{t: t, in: received{frames.NewReader(t.stdin)}}
			return t.answerFrames(func(w *frames.Writer) error {
				s.out = w
				return tableError(f.start(c, s, args[0], job, bucketRows))
			})
		},
	}
	f.registerRelease(c)
	c.Flags().StringVar(&job, "job", "", "`FOLDER` of the job")
	c.Flags().Int64Var(&bucketRows, "bucket-rows", 0, "about how many records a file of the release has, `N` (default 500000)")
	return c
}

// start begins a job by the flags.
func (f *anonymizeFlags) start(c *cobra.Command, s *stage, input, job string, bucketRows int64) error {
	frame, err := s.one()
	if err != nil {
		return err
	}
	var secret struct {
		Seed     string `json:"seed"`
		Insecure bool   `json:"seed_insecure"`
	}
	if json.Unmarshal(frame, &secret) != nil {
		return noren.Usagef(noren.Phrase("standard input"), "expected a JSON object with seed and seed_insecure")
	}
	sheet, err := f.merged()
	if err != nil {
		return err
	}
	if err := overlay(c, &sheet.Anonymize, &f.parameters); err != nil {
		return err
	}
	if c.Flags().Changed("bucket-rows") && bucketRows < 1 {
		return noren.Usagef("--bucket-rows", "expected at least 1 record in a file, got %d", bucketRows)
	}
	service := s.t.service(nil)
	var notes []string
	if sheet.Anonymize.Publish == "" { // the default elsewhere needs the whole table
		sheet.Anonymize.Publish = "aggregate"
		notes = append(notes,
			s.t.lang.Text("publish: aggregate, the default on a cluster: the values of matched are chosen from the whole table together"))
	}
	service.Note = func(n api.Note) { notes = append(notes, n.Text) }
	service.Progress = nil
	begun, err := service.BeginShards(c.Context(), &api.BeginShardsRequest{
		AnonymizeRequest: api.AnonymizeRequest{
			Table: api.Table{Input: input, Spec: sheet}, Output: f.output, OutputDelimiter: f.outputAs.delimiter,
			OutputEncoding: f.outputAs.encoding,
			Certificate:    f.certify, Force: f.force, Seed: secret.Seed, InsecureSeed: secret.Insecure,
		},
		Job: job, Build: buildText(), BucketRows: bucketRows,
	})
	if err != nil {
		return err
	}
	begun.Notes = append(begun.Notes, notes...)
	return s.writeJSON(begun)
}

// looked is what the first look found, nil for the first look itself.
func (s *stage) looked() (*shard.Look, error) {
	switch s.f.look {
	case 1:
		return nil, nil
	case 2:
		return s.job.GetLook(s.f.job)
	}
	return nil, noren.Usagef("look", "expected 1 or 2, got %d", s.f.look)
}

func workerSurvey(ctx context.Context, s *stage) error {
	look, err := s.looked()
	if err != nil {
		return err
	}
	return s.job.Survey(ctx, s.f.shard, look, func(frame []byte) error { return s.out.Write(frame) })
}

func workerMerge(ctx context.Context, s *stage) error {
	look, err := s.looked()
	if err != nil {
		return err
	}
	if look == nil {
		if look, err = s.job.MergeFirst(ctx, s.in); err != nil {
			return err
		}
		if err := s.job.PutLook(s.f.job, look); err != nil {
			return err
		}
		return s.writeJSON(map[string]any{"rows": look.Rows()})
	}
	plan, err := s.job.MergeSecond(ctx, look, s.in)
	if err != nil {
		return err
	}
	n, err := s.job.PutPlan(s.f.job, plan)
	if err != nil {
		return err
	}
	return s.writeJSON(map[string]any{"rows": plan.Rows(), "buckets": plan.Buckets(), "cells": plan.Cells(), "plan_bytes": n})
}

func workerRoute(ctx context.Context, s *stage) error {
	plan, err := s.job.GetPlan(s.f.job)
	if err != nil {
		return err
	}
	return s.job.Route(ctx, plan, s.f.shard, func(frame []byte) error { return s.out.Write(frame) })
}

func workerBucket(ctx context.Context, s *stage) error {
	var buckets []int
	for _, text := range strings.Split(s.f.buckets, ",") {
		b, err := strconv.Atoi(text)
		if err != nil {
			return noren.Usagef("buckets", "expected numbers of neighbouring buckets")
		}
		buckets = append(buckets, b)
	}
	plan, err := s.job.GetPlan(s.f.job)
	if err != nil {
		return err
	}
	made, err := s.job.Release(ctx, plan, buckets, s.f.attempt, s.f.job, s.in)
	if err != nil {
		return err
	}
	return s.out.Write(made.Encode(s.job))
}

func workerCheck(ctx context.Context, s *stage) error {
	frame, err := s.one()
	if err != nil {
		return err
	}
	made, err := shard.DecodeMade(s.job, frame)
	if err != nil {
		return err
	}
	checked, err := s.job.Check(ctx, made, s.f.job)
	if err != nil {
		return err
	}
	text, err := checked.Encode(s.job)
	if err != nil {
		return err
	}
	return s.out.Write(text)
}

func workerCommit(ctx context.Context, s *stage) error {
	service := s.t.service(nil)
	service.Progress = nil
	release, err := service.CommitShards(ctx, &api.CommitShardsRequest{Job: s.f.job, Build: buildText(), Results: s.in})
	if err != nil {
		return tableError(err)
	}
	if err := s.writeJSON(release); err != nil {
		return err
	}
	var text bytes.Buffer
	printRelease(&text, &release.Result)
	return s.out.Write(text.Bytes())
}

func workerAbandon(_ context.Context, s *stage) error { return s.job.Abandon(s.f.job) }
