//go:build !linux

package ledger

import "time"

// bootClock has nothing to offer here: the ledger's own time decides.
func bootClock() (string, func() time.Duration) { return "", nil }
