package cli

import (
	"fmt"
	"io"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/noren-privacy/noren/account"
	"github.com/noren-privacy/noren/api"
	"github.com/noren-privacy/noren/certificate"
)

func newCertificate(t *terminal) *cobra.Command {
	c := &cobra.Command{
		Use:   "certificate",
		Short: "Show and check certificates of releases",
		Args:  cobra.NoArgs,
		RunE:  func(c *cobra.Command, _ []string) error { return c.Help() },
	}
	c.AddCommand(newCertificateShow(t), newCertificateCheck(t), newCertificateKey(t))
	return c
}

func newCertificateShow(t *terminal) *cobra.Command {
	var asJSON bool
	c := &cobra.Command{
		Use:   "show CERTIFICATE",
		Short: "Show what a certificate states, without checking it",
		Args:  exactly("CERTIFICATE"),
		RunE: func(c *cobra.Command, args []string) error {
			s, err := t.service(nil).CertificateShow(c.Context(), &api.CertificateShowRequest{Certificate: args[0]})
			if err != nil {
				return err
			}
			if asJSON {
				return printJSON(t.stdout, s)
			}
			return printCertificate(t.stdout, s)
		},
	}
	c.Flags().BoolVar(&asJSON, "json", false, "print the certificate as one JSON object")
	return c
}

func printCertificate(out io.Writer, s *certificate.Signed) error {
	c := &s.Certificate
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	name := c.Released.Name
	if name == "" {
		name = "(no name)"
	}
	fmt.Fprintf(w, "released\t%s %s, %d bytes\n\tsha256 %s\n", c.Released.Kind, name, c.Released.Size, c.Released.SHA256)
	fmt.Fprintf(w, "by\t%s %s\n", c.Mechanism.Name, c.Mechanism.Parameters)
	fmt.Fprintf(w, "guarantee\t%s\n", c.Guarantee)
	for _, a := range c.Guarantee.Assumptions {
		fmt.Fprintf(w, "assuming\t%s\n", a)
	}
	printSource(w, c)
	switch {
	case c.Charge != nil:
		cost := account.Cost{Epsilon: c.Charge.EpsilonNano, Delta: c.Charge.DeltaAtto}
		if c.Charge.Accounting == account.ZCDP {
			cost = account.Cost{Rho: c.Charge.RhoFemto}
		}
		fmt.Fprintf(w, "charged\t%s, entry %d of ledger %s\n", cost, c.Charge.Link, c.Charge.Ledger)
	case c.Accounting == certificate.Unaccounted:
		fmt.Fprintf(w, "charged\tNOT charged to any ledger: the guarantee covers this answer only and does not compose with others\n")
	}
	for _, n := range c.Notes {
		fmt.Fprintf(w, "note\t%s\n", n)
	}
	fmt.Fprintf(w, "made\t%s by %s %s\n", c.Time, c.Tool.Name, c.Tool.Version)
	fmt.Fprintf(w, "signed\t%s (not checked here: noren certificate check)\n", s.Signature.KeyID)
	return w.Flush()
}

// printSource says which table was read, and how.
func printSource(w io.Writer, c *certificate.Certificate) {
	s := c.Source
	if s == nil {
		return
	}
	if s.Dataset != "" {
		fmt.Fprintf(w, "of\t%s", s.Dataset)
		if s.Version > 0 {
			fmt.Fprintf(w, ", version %d", s.Version)
		}
		fmt.Fprintln(w)
	}
	if !c.StatesSchema() {
		fmt.Fprintln(w, "read\tstates no schema: the guarantee holds for the column types that the query declared")
		return
	}
	fmt.Fprintf(w, "read\t%s\n", s.Reading)
	fmt.Fprintf(w, "\tdefinition sha256 %s\n", s.DefinitionSHA256)
	if s.ModelSHA256 != "" {
		fmt.Fprintf(w, "\tmodel sha256 %s\n", s.ModelSHA256)
	}
	if a := c.Analyst; a != nil {
		fmt.Fprintf(w, "asked by\t%s, as %s\n", a.Name, a.Identity)
	}
	fmt.Fprintf(w, "request\tsha256 %s\n", c.RequestSHA256)
}
