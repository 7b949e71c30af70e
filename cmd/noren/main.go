// Command noren is the command line of Noren, a privacy toolkit. See "noren help".
package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"

	"github.com/noren-privacy/noren/internal/cli"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	code := cli.Run(ctx, os.Args[1:], os.Stdin, os.Stdout, os.Stderr)
	stop()
	os.Exit(code)
}
