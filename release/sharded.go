package release

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"os"
	"path/filepath"
	"slices"

	"github.com/noren-privacy/noren"
	"github.com/noren-privacy/noren/dataset"
	"github.com/noren-privacy/noren/ledger"
	"github.com/noren-privacy/noren/query"
	"github.com/noren-privacy/noren/release/shards"
	"github.com/noren-privacy/noren/table/file"
	"github.com/noren-privacy/noren/table/parts"
)

// A sharded data set is a folder or a pattern of files of one form, all of which are read
// where they lie, each in a task of its own. Its table print is that of all records
// together, so that the ledger knows them in any other form. The ledger keeps the print of
// each column in each file, and a query compares those of its columns together for each
// file ([dataset.SameFiles]): exchanging a column between two files is seen.

// shardFiles are the files of a sharded data set, with their sizes and times.
func shardFiles(ctx context.Context, path string) ([]shards.File, error) {
	if !file.IsParts(path) {
		return nil, &noren.Error{
			Kind: noren.Usage, Code: "file-missing", Where: noren.File(path),
			What: "expected a folder or a pattern of files",
		}
	}
	paths, err := file.Parts(ctx, path)
	if err != nil {
		return nil, err
	}
	out := make([]shards.File, len(paths))
	for i, p := range paths {
		if p, err = filepath.Abs(p); err != nil {
			return nil, &noren.Error{Where: noren.File(path), What: "cannot be found", Err: err}
		}
		info, err := os.Stat(p)
		if err != nil || !info.Mode().IsRegular() {
			return nil, &noren.Error{
				Kind: noren.Usage, Code: "file-missing", Where: noren.File(p), What: "cannot be opened",
				Hint: "does the file exist, and may this user read it?",
			}
		}
		out[i] = shards.File{Path: p, Size: info.Size(), Mtime: info.ModTime().UnixNano()}
	}
	return out, nil
}

// stampOf is the total size, and a number that changes with any name, size or time.
func stampOf(files []shards.File) stamp {
	var s stamp
	var text []byte
	for _, f := range files {
		s.size += f.Size
		text = binary.AppendUvarint(text, uint64(len(f.Path)))
		text = append(text, f.Path...)
		text = binary.BigEndian.AppendUint64(binary.BigEndian.AppendUint64(text, uint64(f.Size)), uint64(f.Mtime))
	}
	sum := sha256.Sum256(text)
	s.mtime = int64(binary.BigEndian.Uint64(sum[:]) >> 1)
	return s
}

// openShard opens a file of a sharded data set.
func openShard(ctx context.Context, path string, d *dataset.Definition) (file.Source, error) {
	f, err := openFile(path)
	if err != nil {
		return nil, err
	}
	return dataset.Open(ctx, f, path, d)
}

// shardPrints are the column prints of a sharded data set, and those of each file. done is
// called after each file; it may be nil.
func shardPrints(ctx context.Context, l *ledger.Ledger, path string, d *dataset.Definition, done func(i, n int)) (prints map[string]string,
	all []map[string]string, err error,
) {
	files, err := shardFiles(ctx, path)
	if err != nil {
		return nil, nil, err
	}
	keys := dataset.ShardKeysOf(l.Key)
	all = make([]map[string]string, len(files))
	for i, f := range files {
		src, err := openShard(ctx, f.Path, d)
		if err != nil {
			return nil, nil, err
		}
		all[i], err = dataset.Prints(ctx, src, d, nil, keys.File)
		if e := src.Close(); err == nil {
			err = e
		}
		if err != nil {
			return nil, nil, err
		}
		if done != nil {
			done(i+1, len(files))
		}
	}
	return dataset.ShardPrints(keys, all), all, nil
}

// openShards opens all files of a sharded data set as one table.
func openShards(ctx context.Context, path string, d *dataset.Definition) (file.Source, stamp, error) {
	files, err := shardFiles(ctx, path)
	if err != nil {
		return nil, stamp{}, err
	}
	paths := make([]string, len(files))
	for i := range files {
		paths[i] = files[i].Path
	}
	src, err := parts.Open(ctx, path, paths, func(ctx context.Context, path string) (parts.File, error) {
		src, err := openShard(ctx, path, d)
		if err != nil {
			return nil, err // no typed nil
		}
		return src, nil
	})
	if err != nil {
		return nil, stamp{}, err // no typed nil
	}
	return src, stampOf(files), nil
}

// reviewShards is ReviewGrant for a sharded data set. It reads all files twice: as one
// table, and each for its own prints. Files that change meanwhile are refused.
func reviewShards(ctx context.Context, l *ledger.Ledger, c Candidate) (*Reviewed, error) {
	d := c.Definition
	src, seen, err := openShards(ctx, c.Path, d)
	if err != nil {
		return nil, err
	}
	defer func() { _ = src.Close() }()
	out := &Reviewed{definition: d, path: c.Path, size: seen.size, mtime: seen.mtime}
	keys := dataset.KeysOf(l.Key)
	if out.Review, err = dataset.Inspect(ctx, src, d, dataset.InspectOptions{Keys: keys, Progress: c.Progress}); err != nil {
		return nil, err
	}
	if out.Prints, out.files, err = shardPrints(ctx, l, c.Path, d,
		func(i, n int) { c.Progress.Report("fingerprint", int64(i), int64(n)) }); err != nil {
		return nil, err
	}
	files, err := shardFiles(ctx, c.Path)
	if err == nil && stampOf(files) != seen {
		err = &noren.Error{
			Kind: noren.BadData, Where: noren.File(c.Path), What: "was changed while it was read",
			Hint: "grant it when nothing writes to it",
		}
	}
	if err != nil {
		return nil, err
	}
	return out, nil
}

// inParts is the mechanism as a query that is answered from sums over parts.
func (q *Request) inParts() (*query.Query, error) {
	m, ok := q.Mechanism.(*query.Query)
	if !ok {
		return nil, noren.Usagef(noren.Textf("data set %s", q.Dataset.Name), "it is sharded, and %s needs all records at once",
			q.Mechanism.Name()).Hinted("count, sum, mean, variance and histogram are answered")
	}
	if err := m.InParts(); err != nil {
		return nil, &noren.Error{Kind: noren.Usage, Where: noren.Textf("data set %s", q.Dataset.Name), What: "it is sharded", Err: err}
	}
	return m, nil
}

// computeShards runs the job of a sharded data set, makes sure that its files are those of
// the version that was charged, and adds noise once to the sums of all parts.
//
// The exact sums are those of the whole table (package shards), so that the answer has the
// distribution of [query.Query.Answer] on it, and the guarantee is the same.
func (r *run) computeShards(ctx context.Context) (any, error) {
	d := r.q.Dataset
	m, err := r.q.inParts()
	if err != nil {
		return nil, err
	}
	if d.ledger == nil {
		return nil, noren.Reasonf("a sharded data set is one of a ledger")
	}
	files, err := shardFiles(ctx, d.Path)
	if err != nil {
		return nil, err
	}
	jobs := r.source(jobStream)
	keys := dataset.ShardKeysOf(d.ledger.Key)
	job := shards.Job{
		Tool: r.q.Tool.Name + " " + r.q.Tool.Version, Files: files, Definition: d.Definition, Query: m, Keys: keys.File,
		Buckets: r.q.Buckets,
	}
	for range 4 {
		word, err := jobs.Uint64()
		if err != nil {
			return nil, err
		}
		job.JobKey = binary.BigEndian.AppendUint64(job.JobKey, word)
	}
	plan, err := shards.New(ctx, job)
	if err != nil {
		return nil, err
	}
	collect := r.q.Collect
	if collect == nil {
		collect = func(ctx context.Context, p *shards.Plan) ([][]byte, error) { return p.Collect(ctx) }
	}
	found, err := collect(ctx, plan)
	if err != nil {
		return nil, err
	}
	total, err := plan.Merge(found)
	if err != nil {
		return nil, err
	}
	granted, err := d.ledger.Files(ctx, d.Name, d.Version)
	if err != nil {
		return nil, err
	}
	if !dataset.SameFiles(granted, total.Prints) {
		return nil, errChanged
	}
	// The lease is renewed all the while: an answer after it was lost would not be settled.
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	return m.AnswerPartial(total.Sums, r.source(answerStream))
}

// Shards are the files of a folder or pattern that is to be granted as sharded. Every file
// must be a CSV or Parquet file.
func Shards(ctx context.Context, path string) ([]string, error) {
	files, err := shardFiles(ctx, path)
	if err != nil {
		return nil, err
	}
	paths := make([]string, len(files))
	for i, f := range files {
		src, err := file.Open(ctx, f.Path, file.Options{Plain: true})
		if err != nil {
			return nil, err
		}
		in := file.InPlace(src)
		_ = src.Close()
		if !in {
			return nil, noren.Usagef(noren.File(f.Path), "a sharded data set is of CSV or Parquet files")
		}
		paths[i] = f.Path
	}
	return slices.Clip(paths), nil
}
