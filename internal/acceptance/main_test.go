package acceptance

import (
	"context"
	"os"
	"os/signal"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/noren-privacy/noren/internal/cli"
)

// TestMain puts the command noren on the path: this binary runs as noren under that name.
func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){
		"noren": func() {
			ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
			defer stop()
			os.Exit(cli.Run(ctx, os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
		},
	})
}
