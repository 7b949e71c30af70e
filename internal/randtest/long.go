package randtest

import (
	"flag"
	"os"
	"strconv"
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

// SkipShort skips a test under -short. It is for tests that take more than a fifth of a
// second, of processor time or of waiting.
func SkipShort(t testing.TB) {
	t.Helper()
	if testing.Short() {
		t.Skip("takes more than a fifth of a second: not run under -short")
	}
}

// Size is the size of a trial: short under -short, else usual.
func Size(short, usual int) int {
	if testing.Short() {
		return short
	}
	return usual
}

// Fewer lets rapid draw one case in n of its usual number until t ends, unless
// NOREN_TRIALS is 1. It is for properties that take long to check, in tests that are not
// parallel; .ci/run draws all cases with the long trials. Outside of a test of rapid's it does nothing.
func Fewer(t testing.TB, n int) {
	t.Helper()
	f := flag.Lookup("rapid.checks")
	if f == nil || os.Getenv("NOREN_TRIALS") == "1" {
		return
	}
	was := f.Value.String()
	checks, err := strconv.Atoi(was)
	if err == nil {
		err = f.Value.Set(strconv.Itoa(max(1, checks/n)))
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := f.Value.Set(was); err != nil {
			t.Error(err)
		}
	})
}
