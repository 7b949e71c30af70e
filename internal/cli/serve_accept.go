package cli

import (
	"github.com/spf13/cobra"

	"github.com/noren-privacy/noren"
	"github.com/noren-privacy/noren/internal/server"
	"github.com/noren-privacy/noren/lang"
)

func newServeAccept(t *terminal) *cobra.Command {
	var dir string
	c := &cobra.Command{
		Use:   "accept --dir DIR",
		Short: "Make a folder serve whose server.db, audit log or key is older than the rest",
		Long: `Make a folder serve again of which server.db, the audit log or the signing key is older than
the rest, or missing, where no newer copy exists. Stop the server first. All sessions, sign-in links and
tokens end: some of them may have been ended after the older copy was made. Paid questions
that the audit log has and the ledger cannot know are charged. Look at the principals and
their roles before anyone signs in again.`,
		Example: `  noren serve accept --dir /var/lib/noren`,
		Args:    exactly(),
		RunE: func(c *cobra.Command, _ []string) error {
			if dir == "" {
				return noren.Usagef("--dir", "expected the folder of the server, got none")
			}
			if err := server.Accept(c.Context(), dir); err != nil {
				return err
			}
			lang.Fprintln(t.stdout, "accepted: all sessions, sign-in links and tokens have ended")
			return nil
		},
	}
	dirFlag(c, &dir)
	return c
}
