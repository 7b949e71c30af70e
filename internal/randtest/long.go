package randtest

import (
	"os"
	"testing"
)

// Long skips a long trial unless NOREN_TRIALS is 1. Names of long trials begin with
// TestLong, so that -run '^TestLong' finds them all; a smaller version of each is in
// the default run of the tests.
func Long(t testing.TB) {
	t.Helper()
	if os.Getenv("NOREN_TRIALS") != "1" {
		t.Skip("a long trial: set NOREN_TRIALS=1 to run it")
	}
}
