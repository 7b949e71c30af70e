package release

import (
	"context"

	"github.com/noren-privacy/noren"
	"github.com/noren-privacy/noren/account"
	"github.com/noren-privacy/noren/noise"
	"github.com/noren-privacy/noren/table"
)

// Mechanism is a query with its noise. All methods but Answer depend on public
// parameters alone.
type Mechanism interface {
	// Name says what it is, as in "query.mean".
	Name() string
	// Parameters are the public parameters, all of them, with defaults resolved.
	// They make a JSON object. Two mechanisms of one name and equal parameters ask
	// the same.
	Parameters() any
	// Cost is the privacy cost for neighbours of that relation and unit, or an
	// error of kind Usage where the mechanism guarantees nothing there.
	Cost(n account.Neighbours, unit string) (account.Cost, error)
	// Guarantee states what Cost is charged for.
	Guarantee(n account.Neighbours, unit string) (noren.Guarantee, error)
	// Covers returns an error of kind Usage where the mechanism cannot answer
	// every table of at most atMost records (exactly records of them, where
	// records is above 0).
	Covers(atMost, records int64) error
	// Columns describes the columns that Answer reads, in the order in which it
	// gets them. They are fields of the data set's definition.
	Columns() []table.Field
	// Answer computes on the private table and adds noise from src. It answers
	// every table that Covers admits: a failure would be an answer of its own.
	// What it returns is released as JSON. Its errors and panics are not shown;
	// a goroutine that it starts must not panic.
	Answer(ctx context.Context, t *table.Table, src *noise.Source) (any, error)
}

// Concentrated is a mechanism whose loss in zCDP is known. A budget in zCDP charges
// it that loss. It charges any other mechanism the loss of its epsilon
// ([account.PureLoss]), and refuses one with a delta.
type Concentrated interface {
	Mechanism
	// Loss is the privacy loss for neighbours of that relation and unit, or an error of
	// kind Usage where the mechanism guarantees nothing there or has no loss in zCDP
	// (code not-zcdp). Its Pure part is the sum of the epsilons of the parts that are
	// private without a delta.
	Loss(n account.Neighbours, unit string) (account.Loss, error)
}

// Dependent is a mechanism whose cost is calibrated to a model of dependent
// records. Only a data set under that model answers it.
type Dependent interface {
	Mechanism
	// ModelHash identifies the model ([correlated.ModelFile.Hash]).
	ModelHash() string
	// Column is the column that the model covers.
	Column() string
}
