package cli

import (
	"github.com/spf13/cobra"
)

// newLDP is data that is private before it leaves: the parent of the commands
// over package ldp.
func newLDP(t *terminal) *cobra.Command {
	c := &cobra.Command{
		Use:   "ldp",
		Short: "Data that is private before it leaves: randomise at the source, collect, estimate",
		Long: `Local differential privacy: every person's own device randomises the value
before it is sent, and nobody need be trusted with the data. From the reports of
many the shares of labels, means and distributions are estimated, with errors.

  noren ldp design --size 5 --epsilon 1 --n 10000        which mechanism, and what error
  noren ldp simulate --size 5 --mechanism grr --epsilon 1 --n 10000      true against estimated
  noren ldp randomize table.csv --column radius --spec ldp.yaml -o reports.csv
  noren ldp estimate reports.csv --spec ldp.yaml --report page.html`,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error { return c.Help() },
	}
	c.AddCommand(newLDPDesign(t), newLDPEdges(t), newLDPRandomize(t), newLDPEstimate(t), newLDPSimulate(t), newLDPEvaluate(t))
	return c
}
