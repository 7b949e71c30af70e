package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/noren-privacy/noren"
	"github.com/noren-privacy/noren/internal/atomicfile"
	"github.com/noren-privacy/noren/internal/frames"
	"github.com/noren-privacy/noren/query"
	"github.com/noren-privacy/noren/release/shards"
)

// planName is the file of the plan in a job folder.
const planName = "plan"

// queryJob runs the job of a query by the driver at the other end of standard input and
// output. This process prices, reserves and holds the lease; the driver only moves parts.
type queryJob struct {
	t       *terminal
	folder  string
	buckets int
	out     *frames.Writer
}

// jobFrame is what the driver must know of a job.
type jobFrame struct {
	// Kind is "job" for this frame and "answer" for the last, which is the text of the answer.
	Kind string `json:"kind"`
	// Plan is the file of the plan.
	Plan string `json:"plan"`
	// Shards is the number of files, and Buckets that of buckets: 0 where the files are summed
	// one by one.
	Shards  int `json:"shards"`
	Buckets int `json:"buckets"`
}

// collect writes the plan, asks the driver to run the job, and reads its parts. Parts that
// end without the last frame are of a job that failed.
func (j *queryJob) collect(ctx context.Context, p *shards.Plan) (parts [][]byte, err error) {
	text, err := p.Encode()
	if err != nil {
		return nil, err
	}
	path := filepath.Join(j.folder, planName)
	f, err := atomicfile.CreatePrivate(path, false)
	if err != nil {
		return nil, err
	}
	defer f.Discard()
	if _, err := f.Write(text); err != nil {
		return nil, err
	}
	if err := f.Commit(); err != nil {
		return nil, err
	}
	defer func() { _ = os.Remove(path) }()
	job, err := json.Marshal(jobFrame{Kind: "job", Plan: path, Shards: len(p.Files), Buckets: p.Buckets})
	if err == nil {
		err = j.out.Write(job)
	}
	if err == nil {
		err = j.out.Flush()
	}
	if err != nil {
		return nil, err
	}
	type read struct {
		parts [][]byte
		err   error
	}
	done := make(chan read, 1)
	go func() { // it ends with standard input, or with the process
		var all [][]byte
		in := frames.NewReader(j.t.stdin)
		for {
			part, err := in.Next()
			if err == io.EOF {
				done <- read{all, nil}
				return
			}
			if err != nil {
				done <- read{nil, err}
				return
			}
			all = append(all, bytes.Clone(part))
		}
	}()
	select {
	case r := <-done:
		return r.parts, r.err
	case <-ctx.Done(): // the lease was lost, or the user interrupted
		return nil, context.Cause(ctx)
	}
}

// newWorkerQuery is noren query for a sharded data set whose parts a driver computes. Its
// output is a frame with the job, where one is run, and a frame with the printed answer.
func newWorkerQuery(t *terminal) *cobra.Command {
	c := &cobra.Command{
		Use:   "query",
		Short: "Query a sharded data set, with parts from a driver",
		Args:  cobra.NoArgs,
		RunE:  func(c *cobra.Command, _ []string) error { return c.Help() },
	}
	for _, k := range queryKinds() {
		if k.kind == query.Quantile {
			continue // it is not made of sums
		}
		j := &queryJob{t: t}
		var printed bytes.Buffer
		own := *t
		own.stdout = &printed
		q := newQueryKind(&own, k.kind, k.short, k.example, j)
		q.Flags().StringVar(&j.folder, "job", "", "the job folder: private, and seen by all tasks")
		q.Flags().IntVar(&j.buckets, "buckets", 0, "number of buckets of persons (default: one for each 1,048,576 records of the public bound)")
		run := q.RunE
		q.RunE = func(c *cobra.Command, args []string) error {
			if err := j.check(); err != nil {
				return err
			}
			return t.answerFrames(func(w *frames.Writer) error {
				j.out = w
				if err := run(c, args); err != nil {
					return err
				}
				return w.Write([]byte(`{"kind":"answer"}`+"\n"), printed.Bytes())
			})
		}
		c.AddCommand(q)
	}
	return c
}

// check refuses a job folder that other users may read, and what was not cleared away.
func (j *queryJob) check() error {
	info, err := os.Stat(j.folder)
	switch {
	case err != nil || !info.IsDir():
		return &noren.Error{Kind: noren.Usage, Where: "--job", What: "expected a folder"}
	case info.Mode().Perm()&0o077 != 0:
		return &noren.Error{
			Kind: noren.Usage, Where: "--job",
			What: "expected a folder that its owner alone may read: it holds the keys of the job",
		}
	case j.buckets < 0 || j.buckets > shards.MostBuckets:
		return noren.Usagef("--buckets", "expected at most %d, got %d", shards.MostBuckets, j.buckets)
	}
	return nil
}

// newWorkerQueryPart is a task of the job of a query: it routes a file to blocks, or makes
// a part of a file or of the blocks of a bucket. What fails about private data has one text,
// as in the answer.
func newWorkerQueryPart(t *terminal) *cobra.Command {
	var path string
	var shard, bucket int
	c := &cobra.Command{
		Use:   "query-part --plan PLAN {--shard N | --bucket N}",
		Short: "Compute the exact sums of a part",
		Long: `Compute the exact sums of a part of a table, for the process that made the plan. That
process charges the ledger and adds noise; this one does neither. The output is private:
do not release it.`,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			if (shard < 0) == (bucket < 0) {
				return &noren.Error{Kind: noren.Usage, What: "expected one of --shard and --bucket"}
			}
			f, err := os.Open(path)
			if err != nil {
				return &noren.Error{Kind: noren.Usage, Where: "--plan", What: "cannot be opened", Hint: "do all machines see the job folder?"}
			}
			defer func() { _ = f.Close() }()
			of := tool()
			plan, err := shards.Read(c.Context(), f, of.Name+" "+of.Version)
			if err != nil {
				return err
			}
			return t.answerFrames(func(w *frames.Writer) error { return t.queryPart(c.Context(), plan, shard, bucket, w) })
		},
	}
	s := c.Flags()
	s.StringVar(&path, "plan", "", "the `FILE` of the plan")
	s.IntVar(&shard, "shard", -1, "the file to read")
	s.IntVar(&bucket, "bucket", -1, "the bucket whose blocks come in")
	return c
}

// queryPart runs a task. A failure to read frames or to write them is the engine's, and
// every other one is of the data.
func (t *terminal) queryPart(ctx context.Context, p *shards.Plan, shard, bucket int, w *frames.Writer) (err error) {
	var broken error
	emit := func(b []byte) error {
		broken = w.Write(b)
		return broken
	}
	defer func() {
		if recover() != nil || err != nil && broken == nil && ctx.Err() == nil {
			err = &noren.Error{Kind: noren.BadData, What: "a part is withheld: its file could not be read as granted"}
		}
	}()
	if shard >= 0 && p.Shuffled() {
		return p.Route(ctx, shard, emit)
	}
	var part []byte
	if shard >= 0 {
		part, err = p.SumFile(ctx, shard)
	} else {
		in := frames.NewReader(t.stdin)
		part, err = p.Sum(ctx, bucket, func() ([]byte, error) {
			b, err := in.Next()
			if err != nil && err != io.EOF {
				broken = err
			}
			return b, err
		})
	}
	if err != nil {
		return err
	}
	return emit(part)
}
