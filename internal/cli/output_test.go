package cli

import (
	"bytes"
	"errors"
	"io/fs"
	"strings"
	"testing"
)

// lost is a standard output on a full disk.
type lost struct{}

func (lost) Write([]byte) (int, error) {
	return 0, &fs.PathError{Op: "write", Path: "/dev/full", Err: errFull}
}

var errFull = errors.New("no space left on device")

// A result that cannot be printed is a failure, in words and in JSON.
func TestLostOutput(t *testing.T) {
	for _, args := range [][]string{{"version"}, {"explain"}, {"--help"}, {"query", "--help"}, {"demo"}, {"init", "--schema"}} {
		var stderr bytes.Buffer
		code := Run(t.Context(), args, strings.NewReader(""), lost{}, &stderr)
		if said := stderr.String(); code != 1 || !strings.Contains(said, "standard output: cannot be written: no space left on device") {
			t.Errorf("%v: exit code %d, %s", args, code, said)
		}
	}
}
