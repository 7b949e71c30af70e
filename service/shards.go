package service

import (
	"bytes"
	"context"
	"os"
	"path/filepath"

	"github.com/noren-privacy/noren"
	"github.com/noren-privacy/noren/api"
	"github.com/noren-privacy/noren/internal/atomicfile"
	"github.com/noren-privacy/noren/kanon"
	"github.com/noren-privacy/noren/kanon/gate"
	"github.com/noren-privacy/noren/kanon/shard"
	"github.com/noren-privacy/noren/spec"
	"github.com/noren-privacy/noren/table"
	"github.com/noren-privacy/noren/table/file"
	"github.com/noren-privacy/noren/table/pseudonym"
)

// BeginShards begins a k-anonymous release in shards: it lists the files, refuses what
// shards cannot do, and writes the job to its folder. The stages of package kanon/shard
// follow, and [Service.CommitShards] at last.
//
// No value but those of the first file is looked at: types of quasi-identifiers must be
// stated, and so must be the role of each column that is kept. Errors are of kind Usage or
// those of reading the first file.
func (s *Service) BeginShards(ctx context.Context, r *api.BeginShardsRequest) (*api.ShardsBegun, error) {
	if err := s.checkShards(r); err != nil {
		return nil, err
	}
	sp, err := specOf(&r.Table)
	if err != nil {
		return nil, err
	}
	options, err := sp.Options()
	if err != nil {
		return nil, err
	}
	if err := setSeed(&r.AnonymizeRequest, options); err != nil {
		return nil, err
	}
	j, err := s.shardsJob(ctx, r, sp, options)
	if err != nil {
		return nil, err
	}
	if err := j.Vacant(); err != nil {
		return nil, err
	}
	if err := os.MkdirAll(r.Job, 0o700); err != nil {
		return nil, noren.Usagef(r.Job, "expected a folder that can be made").Hinted("%v", atomicfile.Reason(err))
	}
	if err := j.Begin(r.Job); err != nil {
		return nil, err
	}
	out := &api.ShardsBegun{Protocol: shard.Protocol, Output: j.Folder, K: j.Options.K, Notes: []string{}}
	for n, f := range j.Shards {
		out.Shards = append(out.Shards, api.ShardFile{Shard: n, Path: f.Path, Bytes: f.Size})
	}
	return out, nil
}

// checkShards refuses what a release in shards does not have.
func (s *Service) checkShards(r *api.BeginShardsRequest) error {
	switch {
	case r.Output == "" || r.Output == "-" || file.IsDatabase(r.Output):
		return noren.Usagef("output", "expected a folder")
	case r.Input == "-" || file.IsDatabase(r.Input):
		return noren.Usagef("input", "expected files that every process of the job can open")
	case r.Report != "" || r.Previous != "" || r.PreviousSource != "" || r.Assess:
		return noren.Usagef("report", "needs a release in one file").Hinted("assess the folder after the release")
	case r.SplitRows != 0:
		return noren.Usagef("split-rows", "a release in shards has one file for each bucket").Hinted("state the number of records of a bucket")
	case r.BucketRows < 0:
		return noren.Usagef("bucket-rows", "expected at least 1 record in a file, got %d", r.BucketRows)
	case r.Job == "":
		return noren.Usagef("job", "expected a folder, got no name")
	}
	return nil
}

// shardsJob is the job of a request.
func (s *Service) shardsJob(ctx context.Context, r *api.BeginShardsRequest, sp *spec.Spec, options *kanon.Options) (*shard.Job, error) {
	of, err := shard.OptionsOf(options)
	if err != nil {
		return nil, err
	}
	paths, err := file.Parts(ctx, r.Input)
	if err != nil {
		return nil, err
	}
	form, err := sp.CheckedForm()
	if err != nil {
		return nil, err
	}
	first, err := s.openForm(ctx, paths[0], form)
	if err != nil {
		return nil, err
	}
	defer closeTable(first)
	written, read, err := sp.ResolveStated(first, s.tableNotes())
	if err != nil {
		return nil, err
	}
	if _, err := read.QuasiNames(); err != nil {
		return nil, err
	}
	sp.NoteIndex(read.Source.Columns(), s.tableNotes())
	found, err := s.shardsGate(ctx, sp, read)
	if err != nil {
		return nil, err
	}
	pattern := file.SplitPath(r.Output, first)
	if err := file.Check(pattern); err != nil {
		return nil, err
	}
	dialect, err := outputDialect(&r.AnonymizeRequest, pattern, first)
	if err != nil {
		return nil, err
	}
	if dialect.Formulas, err = sp.ReleaseFormulas(); err != nil {
		return nil, err
	}
	j := &shard.Job{
		Protocol: shard.Protocol, Build: r.Build, Version: s.Tool.Version, Input: r.Input, Output: r.Output,
		Form: shard.Form{
			Delimiter: form.Delimiter, Encoding: form.Encoding, Header: form.Header, Sheet: form.Sheet, HeaderRow: form.HeaderRow,
			Hidden: form.Hidden, Totals: form.Totals,
		},
		Missing: read.Missing, Fields: shard.FieldsOf(written), Options: of, Fates: found.Fates, FreeText: found.FreeText, Force: r.Force,
		Dialect:    *dialect,
		BucketRows: r.BucketRows, Notes: r.Notes,
	}
	if j.BucketRows == 0 {
		j.BucketRows = shard.DefaultBucketRows
	}
	if err := j.SetPattern(pattern); err != nil {
		return nil, err
	}
	// Before anything is refused that a killed commit has left.
	if err := j.Recover(r.Job); err != nil {
		return nil, err
	}
	for _, path := range paths {
		if path, err = filepath.Abs(path); err != nil {
			return nil, &noren.Error{What: "the working folder cannot be found", Err: err}
		}
		stamp, err := shard.StampOf(path)
		if err != nil {
			return nil, err
		}
		j.Shards = append(j.Shards, stamp)
	}
	if err := s.shardsApart(ctx, r, sp, j, paths); err != nil {
		return nil, err
	}
	key := pseudonym.NewKey()
	j.Key = key[:]
	return j, j.Faults(read.Source, options)
}

// shardsApart refuses a folder of results that is, holds or lies in an input, or that
// would hold the certificate.
func (s *Service) shardsApart(ctx context.Context, r *api.BeginShardsRequest, sp *spec.Spec, j *shard.Job, paths []string) error {
	for _, input := range append(append(sp.Files(), paths...), r.Input) {
		if err := atomicfile.ApartFolder(j.Folder, input); err != nil {
			return err
		}
	}
	if r.Certificate == "" {
		return nil
	}
	if s.Signer == nil {
		return noren.Usagef("certificate", "expected a key to sign with, got none")
	}
	path, err := filepath.Abs(r.Certificate)
	if err != nil {
		return &noren.Error{What: "the working folder cannot be found", Err: err}
	}
	if atomicfile.ApartFolder(j.Folder, path) != nil {
		return noren.Usagef("certificate", "expected a file outside of the folder of the release")
	}
	j.Certificate = path
	return s.targets(ctx, append(sp.Files(), paths...), r.Force, path)
}

// shardsGate refuses columns that would be kept without a decision. No process looks at
// all values of a column, so that each kept column must be decided on; the detectors look
// at the first file.
func (s *Service) shardsGate(ctx context.Context, sp *spec.Spec, read *spec.Resolved) (*gate.Report, error) {
	undecided := &gate.Report{}
	for _, f := range read.Schema.Fields {
		if f.Role == table.Other && sp.Columns[f.Name].Role == "" {
			undecided.Refused = append(undecided.Refused,
				gate.Refusal{Column: f.Name, Why: noren.Textf("no process of a cluster looks at all of its values")})
		}
	}
	if err := undecided.Err(table.PlaceOf(read.Source)); err != nil {
		return nil, err
	}
	found, err := gate.Check(ctx, gate.Request{
		Source: read.Source, Schema: read.Schema, Missing: read.Missing, Kept: sp.Kept(),
		Open: sp.Open(), Progress: s.Progress,
	})
	if err != nil {
		return nil, err
	}
	return found, found.Err(table.PlaceOf(read.Source))
}

// CommitShards commits a release in shards, with a certificate where the job names one:
// see [shard.Job.Commit].
func (s *Service) CommitShards(ctx context.Context, r *api.CommitShardsRequest) (*api.Release, error) {
	j, err := shard.Open(r.Job, r.Build)
	if err != nil {
		return nil, err
	}
	plan, err := j.GetPlan(r.Job)
	if err != nil {
		return nil, err
	}
	var certified *certifier
	var with atomicfile.Together
	if j.Certificate != "" {
		if certified, err = s.newCertifier(j.Certificate, j.Force); err != nil {
			return nil, err
		}
		defer certified.file.Discard()
		certified.manifest, certified.notes = true, j.Notes
		with = append(with, certified.file)
	}
	made, err := j.Commit(ctx, plan, r.Job, r.Results, func(made *kanon.Result, manifest []byte) error {
		if certified == nil {
			return nil
		}
		if err := certified.verified(ctx, made, bytes.NewReader(manifest)); err != nil {
			return err
		}
		return with.Commit() // before the release: there is none without it
	})
	if err != nil {
		return nil, with.Retract(err, j.Output)
	}
	if err := shard.Clear(j.Folder, r.Job); err != nil {
		return nil, &noren.Error{
			Where: noren.File(j.Folder), What: "the release is complete; what its job has made cannot be removed",
			Hint: "it is private: remove %s, or let the next job of this release do it", HintArgs: []any{noren.File(r.Job)},
			Err: atomicfile.Reason(err),
		}
	}
	s.noteRelease(made)
	return &api.Release{Result: *made}, nil
}
