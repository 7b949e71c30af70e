package server_test

import (
	"context"
	"flag"
	"os"
	"testing"

	"github.com/noren-privacy/noren/internal/cli"
	"github.com/noren-privacy/noren/internal/server/apart"
)

// TestMain lets the program of the tests be the command noren, which a test then need not
// build: it is where NOREN_TEST_COMMAND is set.
func TestMain(m *testing.M) {
	if os.Getenv("NOREN_TEST_COMMAND") != "" {
		os.Exit(cli.Run(context.Background(), os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
	}
	if os.Getenv("NOREN_TEST_APART") != "" {
		if err := apart.Serve(context.Background(), os.Stdin, os.Stdout); err != nil {
			os.Exit(1)
		}
		return
	}
	flag.Parse()
	if !given("test.parallel") { // most of them wait for time classes, deadlines and the disk
		if err := flag.Set("test.parallel", "8"); err != nil {
			panic(err)
		}
	}
	os.Exit(m.Run())
}

// given reports whether a flag was stated.
func given(name string) (is bool) {
	flag.Visit(func(f *flag.Flag) { is = is || f.Name == name })
	return is
}
