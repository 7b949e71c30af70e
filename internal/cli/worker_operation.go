package cli

import (
	"context"
	"os"
	"os/exec"
	"os/signal"
	"runtime"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/noren-privacy/noren/internal/server/apart"
)

// newWorkerOperation runs one operation of a job of a server: see package apart.
func newWorkerOperation(t *terminal) *cobra.Command {
	return &cobra.Command{
		Use:   "operation",
		Short: "Run an operation of a job of a server",
		Args:  cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			// A signal to all processes of a terminal or service is for the server, which lets jobs end.
			signal.Ignore(os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
			return apart.Serve(context.WithoutCancel(c.Context()), t.stdin, t.stdout)
		},
	}
}

// workerOperation is the command of this program that runs an operation. It is the program that runs,
// also where its file was replaced meanwhile.
func workerOperation(ctx context.Context) *exec.Cmd {
	path, err := os.Executable()
	if _, e := os.Stat(self); err != nil || runtime.GOOS == "linux" && e == nil {
		path = self
	}
	cmd := exec.CommandContext(ctx, path)
	cmd.Args = []string{os.Args[0], "worker", "operation"}
	return cmd
}

// self is the file of the program that runs, on Linux.
const self = "/proc/self/exe"
