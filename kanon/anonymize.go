package kanon

import (
	"context"
	"time"

	"github.com/noren-privacy/noren"
	"github.com/noren-privacy/noren/kanon/gate"
	"github.com/noren-privacy/noren/kanon/privacy"
	"github.com/noren-privacy/noren/kanon/publish"
	"github.com/noren-privacy/noren/kanon/records"
	"github.com/noren-privacy/noren/kanon/space"
	"github.com/noren-privacy/noren/table"
)

// Anonymize makes a release. Errors are of kind Usage (a job that contradicts
// itself or the file, or a kept column without a decision: code [gate.Code]),
// BadData (the file), NotMet (diversity or closeness that no grouping reaches),
// Internal, or the context's; after an error no output exists.
func Anonymize(ctx context.Context, job Job) (*Result, error) {
	if err := job.Validate(); err != nil {
		return nil, err
	}
	began := time.Now()
	r := newRun(&job)
	if err := r.gate(ctx); err != nil {
		return nil, err
	}
	m, err := r.make(ctx)
	if err != nil {
		return nil, err
	}
	if err := r.write(ctx, m); err != nil {
		return nil, err
	}
	r.result.Seconds.Total = time.Since(began).Seconds()
	return r.result, nil
}

// run is a job under way. A step takes what the steps before it have made, returns what it
// makes, and writes its figures into the result.
type run struct {
	job       *Job
	result    *Result
	quasi     []int               // positions in the schema
	sensitive []int               // of those that something is asked of
	source    [table.SumSize]byte // sum of the source, where the order depends on it
}

func newRun(job *Job) *run {
	r := &run{job: job, result: job.NewResult(job.Source.Name(), job.Output.Path), quasi: job.Schema.WithRole(table.Quasi)}
	if job.Diversity != nil || job.Closeness != nil {
		r.sensitive = job.Schema.WithRole(table.Sensitive)
	}
	return r
}

// made are the groups of the records that are released, and what they publish.
type made struct {
	groups     space.Partition
	published  []publish.Column
	left       []bool               // by record of the source: whether it is left out; nil for none
	persons    []uint32             // of each record that is released; nil without a unit, and block by block
	attributes []*privacy.Attribute // sensitive columns of which something is asked
}

// timed adds the time since start to a step's seconds.
func timed(seconds *float64, start time.Time) { *seconds += time.Since(start).Seconds() }

// gate refuses columns that would be kept without a decision.
func (r *run) gate(ctx context.Context) error {
	defer timed(&r.result.Seconds.Check, time.Now())
	found, err := r.job.gated(ctx)
	if err != nil {
		return err
	}
	if err := found.Err(table.PlaceOf(r.job.Source)); err != nil {
		return err
	}
	r.result.Columns, r.result.Unique, r.result.FreeText = found.Fates, found.Unique, found.FreeText
	return nil
}

// gated is what the gate finds.
func (j *Job) gated(ctx context.Context) (*gate.Report, error) {
	return gate.Check(ctx, gate.Request{
		Source: j.Source, Schema: &j.Schema, Missing: j.Missing, Kept: j.Kept, Open: j.Open, Looked: j.Looked, Progress: j.Progress,
	})
}

// read reads the quasi-identifiers, then the sensitive columns where anything is asked of
// them, then the unit. The caller closes the table.
func (r *run) read(ctx context.Context) (*records.Table, error) {
	defer timed(&r.result.Seconds.Read, time.Now())
	var fields []table.Field
	for _, positions := range [][]int{r.quasi, r.sensitive} {
		for _, i := range positions {
			fields = append(fields, r.job.Schema.Fields[i])
		}
	}
	if r.job.Unit != "" {
		fields = append(fields, r.job.unitField())
	}
	in, err := r.summing(ctx, func() (*records.Table, error) {
		return records.Read(ctx, r.job.Source, fields, r.job.Missing,
			records.Options{Memory: r.job.memory() / columnShare, Dir: r.job.Output.dir(), Progress: r.job.Progress})
	})
	if err != nil {
		return nil, err
	}
	r.result.Rows = in.Rows
	if err := r.enough(in); err != nil {
		in.Close()
		return nil, err
	}
	return in, nil
}

// enough refuses a table that has changed since the gate looked at it, one without k records
// or persons, and values without a leaf in their hierarchy.
func (r *run) enough(in *records.Table) error {
	where := table.PlaceOf(r.job.Source)
	if checked := r.result.Unique; checked != nil && checked.Records > 0 {
		if err := gate.Same(where, checked.Records, int64(in.Rows)); err != nil {
			return err
		}
	}
	if err := EnoughRecords(where, int64(in.Rows), r.job.K); err != nil {
		return err
	}
	if r.job.Unit != "" {
		if err := EnoughPersons(where, int64(r.persons(in)), r.job.K); err != nil {
			return err
		}
	}
	for _, c := range in.Columns[:len(r.quasi)] {
		if err := CheckHierarchy(where, c); err != nil {
			return err
		}
	}
	return nil
}

// persons is the number of persons, where there is a unit.
func (r *run) persons(in *records.Table) int { return len(in.Columns[len(in.Columns)-1].Dict) }

// make reads the table, and makes the groups and what they publish: block by block where the
// table is large, otherwise as a whole. The records are given up in the end: their memory is
// wanted for writing.
func (r *run) make(ctx context.Context) (*made, error) {
	in, err := r.read(ctx)
	if err != nil {
		return nil, err
	}
	defer in.Close()
	how, chosen, err := r.job.Method(in.Rows)
	if err != nil {
		return nil, err
	}
	r.result.Method, r.result.MethodReason = chosen.Method.String(), chosen.Reason
	r.result.Coarse = max(chosen.Coarse, 0)
	var m *made
	if size := r.job.blockSize(in.Rows, chosen); size > 0 {
		m, err = r.blocks(ctx, in, size, how, chosen)
	} else {
		m, err = r.whole(ctx, in, how)
	}
	if err != nil {
		return nil, err
	}
	r.describe(in, m)
	return m, nil
}

// needs refuses what cannot be done in the memory allowed: it takes bytes for each of n
// records.
func (o *Options) needs(n, bytes int, hint noren.Text) error {
	need := int64(n) * int64(bytes)
	if need <= o.memory() {
		return nil
	}
	return &noren.Error{
		Kind: noren.Usage, Code: "memory", What: "%d {record needs|records need} about %d MiB of memory, %d more than is allowed", Args: []any{
			n, need >> 20, (need-o.memory())>>20 + 1,
		},
		Hint: hint.Format, HintArgs: hint.Args,
	}
}
