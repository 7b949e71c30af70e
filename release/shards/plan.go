package shards

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"os"
	"slices"

	"github.com/noren-privacy/noren"
	"github.com/noren-privacy/noren/account"
	"github.com/noren-privacy/noren/dataset"
	"github.com/noren-privacy/noren/internal/meter"
	"github.com/noren-privacy/noren/query"
	"github.com/noren-privacy/noren/table"
)

// Format names the format of plans.
const Format = "noren.shards/1"

// maxPlan is the longest plan that is read, in bytes.
const maxPlan = 64 << 20

// MostBuckets is the largest number of buckets.
const MostBuckets = 1 << 16

// bucketRecords is how many records a bucket should have at most.
const bucketRecords = 1 << 20

// File is a file of the data set, and what it was when the job began.
type File struct {
	Path  string `json:"path"`
	Size  int64  `json:"size"`
	Mtime int64  `json:"mtime"`
}

// Plan is what the tasks of a job must know. It is private: it holds keys.
type Plan struct {
	Format string `json:"format"`
	// Tool is the build that made the plan; another one refuses it.
	Tool string `json:"tool"`
	// Files are those of the data set.
	Files []File `json:"files"`
	// Definition is that of the data set, and Query the query with its key.
	Definition json.RawMessage `json:"definition"`
	Query      query.Options   `json:"query"`
	// PrintKey is for the column prints of files, JobKey for the buckets of persons.
	PrintKey []byte `json:"print_key"`
	JobKey   []byte `json:"job_key"`
	// Buckets is the number of buckets, 0 where the unit is one record.
	Buckets int `json:"buckets"`

	definition *dataset.Definition
	query      *query.Query
	names      []string // of the columns that are read, sorted
}

// Job is what a plan is made of.
type Job struct {
	// Tool is the build of the program.
	Tool string
	// Files are those of the data set.
	Files []File
	// Definition is that of the data set.
	Definition *dataset.Definition
	// Query is one of which [query.Query.InParts] returns no error.
	Query *query.Query
	// Keys are those of the prints of single files, and JobKey a secret of this job.
	Keys   dataset.Keys
	JobKey []byte
	// Buckets is the number of buckets of persons. Defaults to one for each 2^20 records of
	// the definition's public bound.
	Buckets int
}

// New makes a plan.
func New(ctx context.Context, j Job) (*Plan, error) {
	text, err := j.Definition.Canonical()
	if err != nil {
		return nil, err
	}
	p := &Plan{
		Format: Format, Tool: j.Tool, Files: j.Files, Definition: text, Query: j.Query.Options(),
		PrintKey: j.Keys.Column, JobKey: j.JobKey, Buckets: j.Buckets,
	}
	if j.Definition.Unit == account.Record {
		p.Buckets = 0
	} else if p.Buckets == 0 {
		p.Buckets = int(min(MostBuckets, (j.Definition.AtMost+bucketRecords-1)/bucketRecords))
	}
	return p, p.complete(ctx)
}

// Encode is the plan as text.
func (p *Plan) Encode() ([]byte, error) { return json.Marshal(p) }

// Read reads a plan that the same build of the program made.
func Read(ctx context.Context, in io.Reader, tool string) (*Plan, error) {
	text, err := meter.ReadAll(in, maxPlan, "plan")
	switch {
	case meter.Refused(err) != nil:
		return nil, err
	case err != nil:
		return nil, &noren.Error{Where: "plan", What: "cannot be read", Err: err}
	}
	return decode(ctx, text, tool)
}

func decode(ctx context.Context, text []byte, tool string) (*Plan, error) {
	bad := func(what noren.Format, args ...any) (*Plan, error) {
		return nil, &noren.Error{Kind: noren.Usage, Where: "plan", What: what, Args: args, Hint: "use one binary for all machines"}
	}
	if err := meter.Document(text, "plan"); err != nil {
		return nil, err
	}
	p := &Plan{}
	d := json.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields()
	switch err := d.Decode(p); {
	case err != nil:
		return bad("expected JSON in the format %s", Format)
	case p.Format != Format:
		return bad("it is of another format")
	case p.Tool != tool:
		return bad("another build of the program made it")
	}
	return p, p.complete(ctx)
}

// complete checks the plan and compiles its query.
func (p *Plan) complete(ctx context.Context) error {
	bad := func(what noren.Format) error {
		return &noren.Error{Kind: noren.Usage, Where: "plan", What: what}
	}
	if len(p.Files) == 0 {
		return bad("it names no file")
	}
	if len(p.PrintKey) < 16 || len(p.JobKey) < 16 {
		return bad("its keys are too short")
	}
	var err error
	if p.definition, err = dataset.Parse(p.Definition); err != nil {
		return err
	}
	if p.query, err = query.New(ctx, p.Query); err != nil {
		return err
	}
	if err := p.query.InParts(); err != nil {
		return err
	}
	if p.Query.Unit != p.definition.Unit {
		return bad("its query is for another unit than its data set")
	}
	if record := p.definition.Unit == account.Record; record != (p.Buckets == 0) || p.Buckets < 0 || p.Buckets > MostBuckets {
		return bad("its number of buckets does not go with its unit")
	}
	for _, f := range p.query.Columns() {
		p.names = append(p.names, f.Name)
	}
	if u := p.definition.Unit; u != account.Record && !slices.Contains(p.names, u) {
		p.names = append(p.names, u)
	}
	if len(p.names) == 0 {
		// A count of all records reads a column too: its prints verify the files.
		p.names = []string{p.definition.Columns[0].Name}
	}
	slices.Sort(p.names)
	return nil
}

// Shuffled reports whether files are routed to buckets; otherwise each is a part.
func (p *Plan) Shuffled() bool { return p.Buckets > 0 }

// read reads the columns of the query and the labels of a file, which must be what it was
// when the job began. The print is the column prints, one after the other by name.
func (p *Plan) read(ctx context.Context, shard int) (*table.Table, []byte, error) {
	if shard < 0 || shard >= len(p.Files) {
		return nil, nil, noren.Usagef("shard", "expected a number below %d, got %d", len(p.Files), shard)
	}
	of := p.Files[shard]
	f, err := os.Open(of.Path)
	if err != nil {
		return nil, nil, &noren.Error{Kind: noren.BadData, Where: noren.File(of.Path), What: "cannot be opened"}
	}
	if info, err := f.Stat(); err != nil || info.Size() != of.Size || info.ModTime().UnixNano() != of.Mtime {
		_ = f.Close()
		return nil, nil, &noren.Error{Kind: noren.BadData, Where: noren.File(of.Path), What: "was changed after the job began"}
	}
	src, err := dataset.Open(ctx, f, of.Path, p.definition)
	if err != nil {
		return nil, nil, err
	}
	defer func() { _ = src.Close() }()
	fields := p.query.Columns()
	n := len(fields)
	if n == 0 && p.definition.Unit == account.Record {
		fields = p.definition.Fields()[:1]
	}
	t, prints, err := dataset.Read(ctx, src, p.definition, fields, &dataset.Keys{Column: p.PrintKey})
	if err != nil {
		return nil, nil, err
	}
	t.Columns = slices.Clip(t.Columns[:n])
	print, err := packPrints(p.names, prints)
	return t, print, err
}
