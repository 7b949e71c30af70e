package kanon

import (
	"context"
	"io"

	"github.com/noren-privacy/noren"
	"github.com/noren-privacy/noren/kanon/gate"
	"github.com/noren-privacy/noren/kanon/publish"
	"github.com/noren-privacy/noren/table"
)

// Plan says what a job would release. It is private: it holds the numbers of records and
// persons of the source.
type Plan struct {
	// Input is the table as named in the request.
	Input string `json:"input"`
	// Output is the release as named in the request; absent where none is named.
	Output string `json:"output,omitempty"`
	// Rows is the number of records.
	Rows int `json:"rows"`
	// Unit is the column that tells persons apart; absent where records are counted.
	Unit string `json:"unit,omitempty"`
	// Persons is the number of persons, where there is a unit.
	Persons int `json:"persons,omitempty"`
	// K is the smallest allowed number of records of a class, or of persons where there is a
	// unit.
	K int `json:"k"`
	// Method is the method that would make the groups.
	Method string `json:"method"`
	// MethodReason is the reason why the method would be chosen; absent where the request
	// states the method.
	MethodReason noren.Text `json:"method_reason,omitzero"`
	// Block is the least number of records of a block, where the table would be released block
	// by block; absent where the table would be released as a whole.
	Block int `json:"block,omitempty"`
	// Refine is the local search after the method.
	Refine string `json:"refine"`
	// Scale is how columns are weighed against each other.
	Scale string `json:"scale"`
	// Publish is what a class shows.
	Publish string `json:"publish"`
	// Columns are the columns, in order, each with what would be done with it and why.
	Columns []gate.Fate `json:"columns"`
	// Undecided are the kept columns that need a decision of the steward: with one of
	// them the release is refused.
	Undecided []gate.Refusal `json:"undecided"`
	// FreeText are the kept columns that are free text.
	FreeText []string `json:"free_text"`
}

// Outline reads the table and says what [Anonymize] would do with it. It makes no groups
// and writes nothing; the output may be left out of the job. Errors are those that
// Anonymize returns before it makes groups, but for columns without a decision, which
// are listed.
func Outline(ctx context.Context, job Job) (*Plan, error) {
	named := job.Output.Path
	if named == "" {
		job.Output.Path, job.Output.Stdout = "-", io.Discard // nothing is written
	}
	if err := job.Validate(); err != nil {
		return nil, err
	}
	r := newRun(&job)
	found, err := job.gated(ctx)
	if err != nil {
		return nil, err
	}
	r.result.Columns, r.result.Unique = found.Fates, found.Unique
	in, err := r.read(ctx)
	if err != nil {
		return nil, err
	}
	defer in.Close()
	_, chosen, err := job.Method(in.Rows)
	if err != nil {
		return nil, err
	}
	size := job.blockSize(in.Rows, chosen)
	if size >= in.Rows {
		size = 0
	}
	shows, err := publish.NewPlan(in.Columns[:len(r.quasi)], r.storedQuasi(), r.publishing())
	if err != nil {
		return nil, err
	}
	if err := in.Runs(ctx, func(_ int, columns []*table.Column) error {
		shows.Look(columns[:len(r.quasi)])
		return nil
	}); err != nil {
		return nil, err
	}
	r.transformed(in, in.Rows/job.K, shows.Grid) // at most so many groups
	p := &Plan{
		Input: job.Source.Name(), Output: named, Rows: in.Rows, Unit: job.Unit, K: job.K,
		Method: chosen.Method.String(), MethodReason: chosen.Reason, Block: size,
		Refine: job.Refine.String(), Scale: job.Scale.String(), Publish: job.Publish.String(),
		Columns: r.result.Columns, Undecided: append([]gate.Refusal{}, found.Refused...), FreeText: append([]string{}, found.FreeText...),
	}
	if job.Unit != "" {
		p.Persons = r.persons(in)
	}
	for i := range p.Columns { // what is undecided is not kept
		for _, u := range p.Undecided {
			if p.Columns[i].Column == u.Column {
				p.Columns[i].Fate, p.Columns[i].Why = Undecided, u.Why
			}
		}
	}
	return p, nil
}

// Undecided is the fate of a column without a decision: it refuses the release.
const Undecided = "undecided"
