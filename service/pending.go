package service

import (
	"context"

	"github.com/noren-privacy/noren"
	"github.com/noren-privacy/noren/release"
)

// Pending reports whether the request that an analyst made under a request key is charged
// and waits for its answer, which can be computed again. It charges nothing.
func (k *Kept) Pending(ctx context.Context, analyst, key string) (bool, error) {
	return k.ledger.Pending(ctx, analyst, key)
}

// GiveUp forfeits a request that waits and can never be answered.
func (k *Kept) GiveUp(ctx context.Context, analyst, key string) error {
	return k.ledger.ForfeitPending(ctx, analyst, key, "its data set is another")
}

// IsOutdated reports whether a request that waits can never be answered: its data set has
// another version or schema, or a public table that it reads has changed.
func IsOutdated(err error) bool {
	switch noren.CodeOf(err) {
	case release.CodeChanged, "conflict", "no-dataset", "no-schema":
		return true
	}
	return false
}
