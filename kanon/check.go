package kanon

import (
	"context"
	"errors"
	"os"
	"time"

	"github.com/noren-privacy/noren"
	"github.com/noren-privacy/noren/kanon/verify"
	"github.com/noren-privacy/noren/table"
	"github.com/noren-privacy/noren/table/file"
	"github.com/noren-privacy/noren/table/xlsx"
)

// check has the written file verified.
func (r *run) check(ctx context.Context, written *os.File, m *made, whose *owners) error {
	d := r.dialect()
	src, err := file.OpenFile(ctx, borrowed{written}, file.Options{
		Name: r.outputName(), Delimiter: d.Delimiter, Encoding: d.Encoding,
		Formulas: d.Formulas, Plain: true, Totals: xlsx.Look, Exact: r.quasiNames(),
	})
	if err != nil {
		return noren.Reasonf("reading the release back: %s", err)
	}
	defer func() { _ = src.Close() }()
	return r.checkSource(ctx, src, m, whose)
}

// checkSource has the written table verified and takes over what was found. The
// verifier gets the names of columns and what they must hold, and no more.
func (r *run) checkSource(ctx context.Context, src table.Source, m *made, whose *owners) error {
	defer timed(&r.result.Seconds.Verify, time.Now())
	o := verify.Options{
		Requirement: r.job.Requirement(), Missing: r.job.Missing, Memory: r.job.memory() / classShare,
		Progress: r.job.Progress,
	}
	o.Quasi = r.quasiNames()
	for _, i := range r.sensitive {
		o.Sensitive = append(o.Sensitive, r.job.Schema.Fields[i])
	}
	whose.into(&o, r.job)
	v, err := verify.Verify(ctx, src, o)
	if err != nil {
		return noren.Reasonf("reading the release back: %s", err)
	}
	if err := v.Err(); err != nil {
		return err
	}
	if v.Rows != int64(r.result.Rows) {
		return &noren.Error{
			Where: r.outputName(), What: "the release that was read back has another number of records than the source",
			Err: errors.New("this is a fault in noren"),
		}
	}
	r.result.Verified = v
	r.result.Classes, r.result.AchievedK = int(v.Classes), int(v.AchievedK)
	r.result.Guarantee = r.job.States(o.Quasi, m.attributes)
	r.result.Repeated = mostRepeated(v.Suspected)
	if len(v.Suspected) < len(o.Suspected) {
		for _, suspected := range o.Suspected {
			r.result.Uncounted = append(r.result.Uncounted, suspected.Column)
		}
	}
	return nil
}

func (r *run) quasiNames() []string {
	var names []string
	for _, i := range r.quasi {
		names = append(names, r.job.Schema.Fields[i].Name)
	}
	return names
}

// borrowed is a file that its reader must not close.
type borrowed struct{ *os.File }

func (borrowed) Close() error { return nil }

func (r *run) outputName() string {
	if r.job.Output.Path == "-" {
		return "standard output"
	}
	return r.job.Output.Path
}
