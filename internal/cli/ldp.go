package cli

import (
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/noren-privacy/noren"
	"github.com/noren-privacy/noren/lang"
	"github.com/noren-privacy/noren/ldp/survey"
)

// newLDP is the parent of the commands over package ldp.
func newLDP(t *terminal) *cobra.Command {
	c := &cobra.Command{
		Use:   "ldp",
		Short: "Collect data with local differential privacy",
		Args:  cobra.NoArgs,
		RunE:  func(c *cobra.Command, _ []string) error { return c.Help() },
	}
	c.AddCommand(newLDPDesign(t), newLDPEdges(t), newLDPRandomize(t), newLDPEstimate(t), newLDPSimulate(t), newLDPEvaluate(t))
	return c
}

// printPrivacy prints the guarantee of reports.
func printPrivacy(w io.Writer, p *survey.Privacy) {
	printLine(w, "guarantee", lang.Of(w).Shown(p.Loss().Text()))
	for i, line := range p.NotProtected {
		head := noren.Term("not covered")
		if i > 0 {
			head = ""
		}
		printLine(w, head, lang.Of(w).Shown(line))
	}
}

// printReasons prints the reasons of a plan below its choice.
func printReasons(w io.Writer, why noren.Texts) {
	for i, reason := range why {
		head := noren.Term("because")
		if i > 0 {
			head = ""
		}
		printLine(w, head, lang.Of(w).Shown(reason))
	}
}

// listOf reads a list of numbers where one is given.
func listOf(flag, text string) ([]float64, error) {
	if strings.TrimSpace(text) == "" {
		return nil, nil
	}
	return floats(flag, text)
}
