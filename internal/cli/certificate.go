package cli

import (
	"context"
	"crypto/ed25519"
	"fmt"
	"io"
	"os"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/noren-privacy/noren"
	"github.com/noren-privacy/noren/account"
	"github.com/noren-privacy/noren/certificate"
)

func newCertificate(t *terminal) *cobra.Command {
	c := &cobra.Command{
		Use:   "certificate",
		Short: "Show and check release certificates",
		Long: `A certificate states what was released, how, under which promise and at what
charge, and is signed (Ed25519). This user's key is made on first use, in $NOREN_KEY
or the user's configuration directory, readable by its owner alone.`,
		Example: `  noren certificate show out.cert.json
  noren certificate check out.csv out.cert.json
  noren certificate check out.csv out.cert.json --trust office.pem
  noren certificate key > office.pem`,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error { return c.Help() },
	}
	c.AddCommand(newCertificateShow(t), newCertificateCheck(t), newCertificateKey(t))
	return c
}

func newCertificateShow(t *terminal) *cobra.Command {
	var asJSON bool
	c := &cobra.Command{
		Use:     "show CERTIFICATE",
		Short:   "Show what a certificate states, without vouching for it",
		Example: "  noren certificate show out.cert.json",
		Args:    exactly("CERTIFICATE"),
		RunE: func(c *cobra.Command, args []string) error {
			s, err := certificate.Load(args[0])
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
	fmt.Fprintf(w, "promise\t%s\n", c.Guarantee)
	for _, a := range c.Guarantee.Assumptions {
		fmt.Fprintf(w, "assuming\t%s\n", a)
	}
	printSource(w, c)
	switch {
	case c.Charge != nil:
		cost := account.Cost{Epsilon: c.Charge.EpsilonNano, Delta: c.Charge.DeltaAtto}
		fmt.Fprintf(w, "charged\t%s, link %d of ledger %s\n", cost, c.Charge.Link, c.Charge.Ledger)
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

func newCertificateCheck(t *terminal) *cobra.Command {
	var trusted []string
	var asJSON bool
	c := &cobra.Command{
		Use:   "check FILE CERTIFICATE",
		Short: "Check that a certificate is whole, signed, and speaks of this very file",
		Long: `Succeeds only if the signature holds over exactly what the certificate says and
FILE is, byte for byte, the one it speaks of. Exit code 4 when either was tampered
with.

A signature says who speaks. Keys to trust are this user's own and those of --trust;
with --trust, a certificate by any other key fails. Without it, one by an unknown key
passes with a warning.`,
		Example: `  noren certificate check out.csv out.cert.json
  noren certificate check out.csv out.cert.json --trust office.pem --json`,
		Args: exactly("FILE", "CERTIFICATE"),
		RunE: func(c *cobra.Command, args []string) error {
			return runCertificateCheck(c.Context(), t, args[0], args[1], trusted, asJSON)
		},
	}
	c.Flags().StringArrayVar(&trusted, "trust", nil, "a public key `FILE` (noren certificate key); may be repeated")
	c.Flags().BoolVar(&asJSON, "json", false, "print one JSON object, noren.certificate.check/1")
	return c
}

func runCertificateCheck(ctx context.Context, t *terminal, file, path string, trust []string, asJSON bool) error {
	s, err := certificate.Load(path)
	if err != nil {
		return err
	}
	keys, err := trustedKeys(trust)
	if err != nil {
		return err
	}
	known, err := verifySignature(s, keys)
	if err != nil {
		return &noren.Error{Kind: noren.KindOf(err), Where: path, Err: err}
	}
	if len(trust) > 0 && !known {
		return &noren.Error{Kind: noren.NotMet, Where: path, What: "it is signed by a key that is none of those trusted (" + s.Signature.KeyID + ")"}
	}
	if _, err := certificate.CheckFile(ctx, s, file); err != nil {
		return &noren.Error{Kind: noren.KindOf(err), Where: file, Err: err}
	}
	if asJSON {
		return printJSON(t.stdout, map[string]any{
			"schema": "noren.certificate.check/1", "file": file, "certificate": path, "valid": true, "trusted": known,
			"key_id": s.Signature.KeyID, "guarantee": s.Certificate.Guarantee, "accounting": s.Certificate.Accounting,
		})
	}
	fmt.Fprintf(t.stdout, "%s: is what %s certifies\n  promise  %s\n  signed   %s, %s\n", file, path, s.Certificate.Guarantee, s.Signature.KeyID, s.Certificate.Time)
	if c := &s.Certificate; c.Format == certificate.Format1 && c.Accounting != certificate.NoBudget {
		t.note("the certificate states no schema: its guarantee holds for the column types that its query declared")
	}
	if !known {
		t.warn("that key is unknown here: ask the publisher of the file for it (noren certificate key) and give it with --trust")
	}
	return nil
}

func newCertificateKey(t *terminal) *cobra.Command {
	var private bool
	c := &cobra.Command{
		Use:   "key",
		Short: "Print this user's public key, for others to check certificates with",
		Long: `Prints the public key as PEM. The private key is made on first use, with mode
0600, at $NOREN_KEY or in the user's configuration directory; --path prints where.`,
		Example: "  noren certificate key > office.pem\n  noren certificate key --path",
		Args:    exactly(),
		RunE: func(*cobra.Command, []string) error {
			path, err := certificate.KeyPath()
			if err != nil {
				return err
			}
			if private {
				fmt.Fprintln(t.stdout, path)
				return nil
			}
			key, err := certificate.LoadOrCreateKey(path)
			if err != nil {
				return err
			}
			text, err := certificate.EncodePublicKey(key.Public().(ed25519.PublicKey))
			if err != nil {
				return err
			}
			_, err = t.stdout.Write(text)
			return err
		},
	}
	c.Flags().BoolVar(&private, "path", false, "print where the private key lies instead")
	return c
}

// trustedKey is a public key whose certificates count.
type trustedKey = ed25519.PublicKey

// trustedKeys reads the keys named, and where none is this user's own, if there
// is one already.
func trustedKeys(paths []string) ([]trustedKey, error) {
	var keys []trustedKey
	for _, p := range paths {
		text, err := os.ReadFile(p)
		if err != nil {
			return nil, &noren.Error{Kind: noren.Usage, Where: p, What: "the public key cannot be read", Hint: "noren certificate key prints one"}
		}
		key, err := certificate.ParsePublicKey(text)
		if err != nil {
			return nil, &noren.Error{Kind: noren.Usage, Where: p, Err: err}
		}
		keys = append(keys, key)
	}
	if len(keys) > 0 {
		return keys, nil
	}
	path, err := certificate.KeyPath()
	if err != nil {
		return nil, err
	}
	if _, err := os.Stat(path); err != nil {
		return nil, nil
	}
	own, err := certificate.LoadKey(path)
	if err != nil {
		return nil, err
	}
	return []trustedKey{own.Public().(ed25519.PublicKey)}, nil
}

// verifySignature checks the signature alone and tells whether one of keys made
// it.
func verifySignature(s *certificate.Signed, keys []trustedKey) (known bool, err error) {
	if _, err := s.VerifySignature(); err != nil {
		return false, err
	}
	if len(keys) == 0 {
		return false, nil
	}
	_, err = s.VerifySignature(keys...)
	return err == nil, nil
}
