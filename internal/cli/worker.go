package cli

import (
	"github.com/spf13/cobra"

	"github.com/noren-privacy/noren/internal/frames"
)

// newWorker is the parent of the stages that tasks of a cluster run, and of the operations of a server's
// jobs. A driver or the server starts them; they are not for people, and no page lists them. Standard input and output are
// package frames, errors are text on stderr, and the exit code is that of every command.
func newWorker(t *terminal) *cobra.Command {
	c := &cobra.Command{
		Use:    "worker",
		Short:  "Run a stage of a job on a cluster",
		Hidden: true,
		Args:   cobra.NoArgs,
		RunE:   func(c *cobra.Command, _ []string) error { return c.Help() },
	}
	c.AddCommand(newWorkerLDPCount(t), newWorkerLDPSum(t), newWorkerQuery(t), newWorkerQueryPart(t), newWorkerOperation(t))
	c.AddCommand(workerRelease(t)...)
	return c
}

// answerFrames writes frames to standard output; the last one only where no error
// occurred, so that a part is never taken for the whole.
func (t *terminal) answerFrames(write func(w *frames.Writer) error) error {
	w := frames.NewWriter(t.stdout)
	if err := write(w); err != nil {
		return err
	}
	return w.Close()
}
