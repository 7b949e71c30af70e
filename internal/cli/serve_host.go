package cli

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/noren-privacy/noren"
	"github.com/noren-privacy/noren/certificate"
	"github.com/noren-privacy/noren/internal/grid"
	"github.com/noren-privacy/noren/internal/server"
	"github.com/noren-privacy/noren/internal/server/audit"
	"github.com/noren-privacy/noren/internal/server/auth"
	"github.com/noren-privacy/noren/lang"
)

// onHost runs an act on the folder of a server.
func onHost(ctx context.Context, dir string, act func(*server.Host) error) error {
	if dir == "" {
		running, err := runningDemo(ctx)
		if err != nil {
			return err
		}
		return noren.Usagef("--dir", "expected the folder of the server, got none").
			Hinted("a demonstration of yours is running: --dir %s", noren.File(running))
	}
	h, err := server.OpenHost(ctx, dir)
	if err != nil {
		return err
	}
	if err := act(h); err != nil {
		_ = h.Close()
		return err
	}
	return h.Close()
}

func newServeLoginLink(t *terminal) *cobra.Command {
	var dir, name string
	c := &cobra.Command{
		Use:   "login-link --dir DIR --name NAME",
		Short: "Make a sign-in link of one use",
		Long: `Make a link that signs a principal in. It works once, within 10 minutes. A person who
has the link is that principal: send it by a way that only that person reads.

Without --dir the link is for the demonstration that runs on this machine, and without
--name for its steward.`,
		Example: `  noren serve login-link --dir /var/lib/noren --name "M. Ito"`,
		Args:    exactly(),
		RunE: func(c *cobra.Command, _ []string) error {
			if dir == "" {
				var err error
				if dir, err = runningDemo(c.Context()); err != nil {
					return err
				}
				if name == "" {
					name = server.DemoSteward
				}
			}
			return onHost(c.Context(), dir, func(h *server.Host) error {
				link, err := h.LoginLink(c.Context(), name)
				if err == nil {
					fmt.Fprintln(t.stdout, link.URL)
				}
				return err
			})
		},
	}
	dirFlag(c, &dir)
	c.Flags().StringVar(&name, "name", "", "the `NAME` of the principal")
	return c
}

func newServePrincipal(t *terminal) *cobra.Command {
	c := &cobra.Command{
		Use:   "principal",
		Short: "Manage who may sign in",
		Long:  "Manage principals: people and programs that may sign in to a server.",
		Example: "  noren serve principal add --dir /var/lib/noren --name \"M. Ito\" --role steward\n  noren serve principal list --dir " +
			"/var/lib/noren",
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error { return c.Help() },
	}
	c.AddCommand(newServePrincipalAdd(t), newServePrincipalEnd(t), newServePrincipalList(t))
	return c
}

// roleFlags are a role and its object.
type roleFlags struct{ role, object string }

func (f *roleFlags) register(c *cobra.Command) {
	c.Flags().StringVar(&f.role, "role", "", "the `ROLE`: steward, analyst or auditor")
	c.Flags().StringVar(&f.object, "object", auth.Everything, "the `ID` of the table, or * for all")
}

func newServePrincipalAdd(t *terminal) *cobra.Command {
	var dir, name string
	var grant roleFlags
	c := &cobra.Command{
		Use:     "add --dir DIR --name NAME --role ROLE",
		Short:   "Create a principal with a role",
		Example: `  noren serve principal add --dir /var/lib/noren --name "K. Sato" --role auditor`,
		Args:    exactly(),
		RunE: func(c *cobra.Command, _ []string) error {
			return onHost(c.Context(), dir, func(h *server.Host) error {
				p, err := h.AddPrincipal(c.Context(), name, auth.Role(grant.role), grant.object)
				if err == nil {
					fmt.Fprintln(t.stdout, p.ID)
				}
				return err
			})
		},
	}
	dirFlag(c, &dir)
	c.Flags().StringVar(&name, "name", "", "the `NAME` of the principal")
	grant.register(c)
	return c
}

func newServePrincipalEnd(*terminal) *cobra.Command {
	var dir, name string
	c := &cobra.Command{
		Use:     "end --dir DIR --name NAME",
		Short:   "Close a principal's sessions, links and tokens",
		Long:    "Close the sessions, links and tokens of a principal, which cannot sign in any more.",
		Example: `  noren serve principal end --dir /var/lib/noren --name "K. Sato"`,
		Args:    exactly(),
		RunE: func(c *cobra.Command, _ []string) error {
			return onHost(c.Context(), dir, func(h *server.Host) error { return h.EndPrincipal(c.Context(), name) })
		},
	}
	dirFlag(c, &dir)
	c.Flags().StringVar(&name, "name", "", "the `NAME` of the principal")
	return c
}

func newServePrincipalList(t *terminal) *cobra.Command {
	var dir string
	c := &cobra.Command{
		Use:     "list --dir DIR",
		Short:   "Show principals and their roles",
		Example: "  noren serve principal list --dir /var/lib/noren",
		Args:    exactly(),
		RunE: func(c *cobra.Command, _ []string) error {
			return onHost(c.Context(), dir, func(h *server.Host) error {
				all, err := h.Principals(c.Context())
				if err != nil {
					return err
				}
				w := grid.New(t.stdout)
				lang.Fprintln(w, "id\tname\troles\tlast seen")
				for _, p := range all {
					var roles []string
					for _, g := range p.Grants {
						roles = append(roles, t.lang.Text("%s on %s", g.Role, h.ObjectName(c.Context(), g.Object)))
					}
					seen := p.SeenDay
					if seen == "" {
						seen = t.lang.Text("never")
					}
					lang.Fprintf(w, "%s\t%s\t%s\t%s\n", p.ID, p.Name, strings.Join(roles, ", "), seen)
				}
				return w.Flush()
			})
		},
	}
	dirFlag(c, &dir)
	return c
}

func newServeGrant(*terminal) *cobra.Command {
	var dir, name string
	var end bool
	var grant roleFlags
	c := &cobra.Command{
		Use:     "grant --dir DIR --name NAME --role ROLE",
		Short:   "Grant a principal a role on a table or on all",
		Long:    "Grant a principal a role on a table or on all objects, or end the grant with --end.",
		Example: "  noren serve grant --dir /var/lib/noren --name \"K. Sato\" --role analyst --object tb_abcdefgh23456777",
		Args:    exactly(),
		RunE: func(c *cobra.Command, _ []string) error {
			return onHost(c.Context(), dir, func(h *server.Host) error {
				return h.Grant(c.Context(), name, auth.Role(grant.role), grant.object, end)
			})
		},
	}
	dirFlag(c, &dir)
	c.Flags().StringVar(&name, "name", "", "the `NAME` of the principal")
	c.Flags().BoolVar(&end, "end", false, "end the grant")
	grant.register(c)
	return c
}

func newServeToken(t *terminal) *cobra.Command {
	var dir, principal, name string
	var days int
	var networks []string
	c := &cobra.Command{
		Use:   "token --dir DIR --principal NAME --name TEXT",
		Short: "Create a bearer token for a program",
		Long: `Create a bearer token, by which a program uses the interface as a principal. It is
printed once, and only its hash is stored.`,
		Example: `  noren serve token --dir /var/lib/noren --principal "M. Ito" --name "nightly import" --days 90`,
		Args:    exactly(),
		RunE: func(c *cobra.Command, _ []string) error {
			return onHost(c.Context(), dir, func(h *server.Host) error {
				secret, ends, err := h.Token(c.Context(), principal, name, days, networks)
				if err == nil {
					fmt.Fprintln(t.stdout, secret)
					t.note("it ends %s", ends.Format(time.DateOnly))
				}
				return err
			})
		},
	}
	dirFlag(c, &dir)
	c.Flags().StringVar(&principal, "principal", "", "the `NAME` of the principal")
	c.Flags().StringVar(&name, "name", "", "a `TEXT` that says what the token is for")
	c.Flags().IntVar(&days, "days", 90, "how many `DAYS` it lives, at most 365")
	c.Flags().StringSliceVar(&networks, "networks", nil, "`NETWORKS` that it may be used from, such as 10.0.0.0/8; all where none is named")
	return c
}

func newServeKey(t *terminal) *cobra.Command {
	var dir string
	var id bool
	c := &cobra.Command{
		Use:   "key --dir DIR",
		Short: "Print the server's public key, for others to check with",
		Long: `Print the public key of the key that signs certificates, audit logs and exports of
ledgers, in PEM. An auditor compares with it: audit-check and certificate check take the
file by --trust, ledger check-export takes the id by --key. Send it by another way than
what it is to check. A server that runs shows its keys at /api/v1/keys too.`,
		Example: "  noren serve key --dir /var/lib/noren >office.pem\n  noren serve key --dir /var/lib/noren --id",
		Args:    exactly(),
		RunE: func(*cobra.Command, []string) error {
			if dir == "" {
				return noren.Usagef("--dir", "expected the folder of the server, got none")
			}
			path := filepath.Join(dir, "key", "key.pem")
			key, err := certificate.PublicKeyOf(path)
			switch {
			case err != nil:
				return err
			case key == nil:
				return noren.Usagef(noren.File(path), "no such file").Hinted("a server makes its key at its first start")
			case id:
				fmt.Fprintln(t.stdout, certificate.KeyID(key))
				return nil
			}
			text, err := certificate.EncodePublicKey(key)
			if err != nil {
				return err
			}
			_, err = t.stdout.Write(text)
			return err
		},
	}
	dirFlag(c, &dir)
	c.Flags().BoolVar(&id, "id", false, "print the id of the key instead")
	return c
}

func newServeAuditCheck(t *terminal) *cobra.Command {
	var trust []string
	var list bool
	c := &cobra.Command{
		Use:   "audit-check FILE",
		Short: "Check an exported audit log",
		Long: `Check an audit log that a server exported: that no entry was changed, left out or
added, and that the server's key signed its end. This needs no server. --list shows the
entries, with the names of people, tables and files as the server stated them at the export.`,
		Example: "  noren serve key --dir /var/lib/noren >office.pem\n  noren serve audit-check audit.jsonl --trust office.pem --list",
		Args:    exactly("FILE"),
		RunE: func(c *cobra.Command, args []string) error {
			keys, err := certificate.LoadPublicKeys(trust...)
			if err != nil {
				return err
			}
			f, err := os.Open(args[0])
			if err != nil {
				return &noren.Error{Kind: noren.Usage, Code: "file-missing", Where: args[0], What: "cannot be opened"}
			}
			defer f.Close()
			r, err := audit.Verify(c.Context(), f, nil, keys...)
			if err != nil {
				return err
			}
			by := t.lang.Text(
				"a key that was not compared: --trust KEY.pem compares it; on the server's machine noren serve key --dir DIR prints it")
			if r.Trusted {
				by = t.lang.Text("a trusted key")
			}
			lang.Fprintf(t.stdout, "sound: %d {entry|entries}, of which %d {is|are} shown, up to %s\nhead    %s\nsigned  %s, %s\n", r.Entries,
				r.Shown, r.At, r.Head, r.KeyID, by)
			if !list {
				return nil
			}
			return listAudit(c.Context(), t, f, r, keys)
		},
	}
	c.Flags().StringArrayVar(&trust, "trust", nil, "public key `FILE` that may have signed it; may be repeated")
	c.Flags().BoolVar(&list, "list", false, "list the entries, with names beside ids")
	return c
}
