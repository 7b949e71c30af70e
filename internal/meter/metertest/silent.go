package metertest

import (
	"bytes"
	"os"
	"os/exec"
	"testing"
)

// Silent runs tests of this binary in a process of their own, and fails where anything but their
// result is written to its standard output or error: a library that warns there tells about
// private files, and its caller cannot hold it back. The inputs of fuzz targets are tests
// too: their names begin with Fuzz.
func Silent(t *testing.T, tests string) {
	t.Helper()
	if testing.CoverMode() != "" {
		t.Skip("the coverage is printed")
	}
	child := exec.Command(os.Args[0], "-test.run=^("+tests+")$", "-test.short="+flag(testing.Short()))
	var out, errs bytes.Buffer
	child.Stdout, child.Stderr = &out, &errs
	err := child.Run()
	if err != nil || errs.Len() > 0 || out.String() != "PASS\n" {
		t.Errorf("%v: expected no output but the result, got\n%s%s", err, first(out.Bytes()), first(errs.Bytes()))
	}
}

func flag(on bool) string {
	if on {
		return "true"
	}
	return "false"
}

// first is the beginning of an output.
func first(b []byte) []byte { return b[:min(len(b), 2000)] }
