package cli

import (
	"github.com/spf13/cobra"

	"github.com/noren-privacy/noren"
)

// newMoved says where noren reproduce went, with exit code 2. It goes with the next version.
func newMoved() *cobra.Command {
	return &cobra.Command{
		Use:                "reproduce",
		Short:              "Show where the experiments of the papers are",
		Hidden:             true,
		DisableFlagParsing: true,
		RunE: func(*cobra.Command, []string) error {
			return &noren.Error{
				Kind: noren.Usage, Where: "reproduce", What: "the experiments of the papers are a program of their own: noren-reproduce",
				Hint: "it takes the same arguments; in the source of Noren: go run ./cmd/noren-reproduce",
			}
		},
	}
}
