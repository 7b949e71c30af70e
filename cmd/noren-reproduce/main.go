// Command noren-reproduce repeats the experiments of the papers that Noren's methods come
// from, and compares the figures. See "noren-reproduce --help".
package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"

	"github.com/noren-privacy/noren/internal/reproduce"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	code := reproduce.Run(ctx, os.Args[1:], os.Stdout, os.Stderr)
	stop()
	os.Exit(code)
}
