package release

import (
	"context"

	"noren"
	"noren/account"
	"noren/noise"
	"noren/table"
)

// Mechanism is a question with its noise. All methods but Answer depend on
// public parameters alone.
type Mechanism interface {
	// Name says what it is, as in "query.mean".
	Name() string
	// Parameters are the public parameters, all of them: what makes a JSON
	// object. Two mechanisms of one name and equal parameters ask the same.
	Parameters() any
	// Cost is its price for neighbours of that relation and unit, or an error
	// of kind Usage where it promises nothing there.
	Cost(n account.Neighbours, unit string) (account.Cost, error)
	// Guarantee states what Cost pays for.
	Guarantee(n account.Neighbours, unit string) (noren.Guarantee, error)
	// Columns describes the columns that Answer reads, in the order in which it
	// gets them.
	Columns() []table.Field
	// Answer computes on the private table and adds noise from src. What it
	// returns is handed out as JSON. What its errors and panics say is not told;
	// a goroutine that it starts must not panic, as nobody could catch that.
	Answer(ctx context.Context, t *table.Table, src *noise.Source) (any, error)
}
