package cli

import (
	"github.com/spf13/cobra"

	"github.com/noren-privacy/noren/internal/server"
	"github.com/noren-privacy/noren/lang"
)

func newServeCalibrate(t *terminal) *cobra.Command {
	var dir string
	c := &cobra.Command{
		Use:   "calibrate --dir DIR",
		Short: "Measure how long answers take on this machine",
		Long: `Measure how long answers take on this machine, on made-up tables, and store that in DIR.
Paid answers leave at fixed times (0.5, 2, 8, 32 s) that follow from public parameters and
this measurement, so that their time does not depend on the data. Without it they leave
after 2 s at the earliest. A server that runs uses it from its next start on.`,
		Example: "  noren serve calibrate --dir /var/lib/noren",
		Args:    exactly(),
		RunE: func(c *cobra.Command, _ []string) error {
			return onHost(c.Context(), dir, func(h *server.Host) error {
				found, err := h.Calibrate(c.Context())
				if err != nil {
					return err
				}
				if more := found.Record["count"] * 1e9; more > 0 {
					lang.Fprintf(t.stdout, "an answer takes %.3g ms, and %.2g ms more for each million records of a count\n", found.Base*1e3, more)
				} else {
					lang.Fprintf(t.stdout, "an answer takes %.3g ms; what a record of a count adds was too short to be measured\n", found.Base*1e3)
				}
				return nil
			})
		},
	}
	dirFlag(c, &dir)
	return c
}
