package cli

import (
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/noren-privacy/noren/account"
	"github.com/noren-privacy/noren/api"
	"github.com/noren-privacy/noren/certificate"
	"github.com/noren-privacy/noren/internal/grid"
	"github.com/noren-privacy/noren/lang"
	words "github.com/noren-privacy/noren/report/text"
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
	w := grid.New(out)
	name := c.Released.Name
	if name == "" {
		name = lang.Of(w).Text("(no name)")
	}
	lang.Fprintf(w, "released\t%s %s, %d {byte|bytes}\n\tsha256 %s\n", lang.Of(w).Term(string(c.Released.Kind)), name, c.Released.Size,
		c.Released.SHA256)
	lang.Fprintf(w, "by\t%s %s\n", c.Mechanism.Name, c.Mechanism.Parameters)
	lang.Fprintf(w, "guarantee\t%s\n", words.Statement(lang.Of(w), &c.Guarantee))
	for _, a := range c.Guarantee.Assumptions {
		lang.Fprintf(w, "assuming\t%s\n", lang.Of(w).Shown(a))
	}
	printSource(w, c)
	switch {
	case c.Charge != nil:
		cost := account.Cost{Epsilon: c.Charge.EpsilonNano, Delta: c.Charge.DeltaAtto}
		if c.Charge.Accounting == account.ZCDP {
			cost = account.Cost{Rho: c.Charge.RhoFemto}
		}
		lang.Fprintf(w, "charged\t%s, entry %d of ledger %s\n", cost, c.Charge.Link, c.Charge.Ledger)
	case c.Accounting == certificate.Unaccounted:
		lang.Fprintf(w, "charged\tNOT charged to any ledger: the guarantee covers this answer only and does not compose with others\n")
	}
	for _, n := range c.Notes {
		lang.Fprintf(w, "note\t%s\n", lang.Of(w).Foreign(n))
	}
	lang.Fprintf(w, "made\t%s by %s %s\n", c.Time, c.Tool.Name, c.Tool.Version)
	lang.Fprintf(w, "signed\t%s (not checked here: noren certificate check)\n", s.Signature.KeyID)
	return w.Flush()
}

// printSource says which table was read, and how.
func printSource(w io.Writer, c *certificate.Certificate) {
	s := c.Source
	if s == nil {
		return
	}
	if s.Dataset != "" {
		lang.Fprintf(w, "of\t%s", s.Dataset)
		if s.Version > 0 {
			lang.Fprintf(w, ", version %d", s.Version)
		}
		fmt.Fprintln(w)
	}
	if !c.StatesSchema() {
		lang.Fprintln(w, "read\tstates no schema: the guarantee holds for the column types that the query declared")
		return
	}
	lang.Fprintf(w, "read\t%s\n", s.Reading)
	lang.Fprintf(w, "\tdefinition sha256 %s\n", s.DefinitionSHA256)
	if s.ModelSHA256 != "" {
		lang.Fprintf(w, "\tmodel sha256 %s\n", s.ModelSHA256)
	}
	if a := c.Analyst; a != nil {
		lang.Fprintf(w, "asked by\t%s, as %s\n", a.Name, lang.Of(w).Term(string(a.Identity)))
	}
	lang.Fprintf(w, "request\tsha256 %s\n", c.RequestSHA256)
}
