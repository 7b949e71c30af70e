package server_test

import (
	"context"
	"os"
	"testing"

	"github.com/noren-privacy/noren/internal/cli"
)

// TestMain lets the program of the tests be the command noren, which a test then need not
// build: it is where NOREN_TEST_COMMAND is set.
func TestMain(m *testing.M) {
	if os.Getenv("NOREN_TEST_COMMAND") != "" {
		os.Exit(cli.Run(context.Background(), os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
	}
	os.Exit(m.Run())
}
