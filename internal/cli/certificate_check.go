package cli

import (
	"crypto/ed25519"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/spf13/cobra"

	"github.com/noren-privacy/noren"
	"github.com/noren-privacy/noren/api"
	"github.com/noren-privacy/noren/certificate"
	"github.com/noren-privacy/noren/lang"
	words "github.com/noren-privacy/noren/report/text"
	"github.com/noren-privacy/noren/table/file"
)

func newCertificateCheck(t *terminal) *cobra.Command {
	var r api.CertificateCheckRequest
	var asJSON bool
	c := &cobra.Command{
		Use:   "check FILE CERTIFICATE",
		Short: "Check that a certificate is valid and states this file or table",
		Args:  exactly("FILE", "CERTIFICATE"),
		RunE: func(c *cobra.Command, args []string) error {
			s := t.service(nil)
			r.File, r.Certificate = args[0], args[1]
			out, err := s.CertificateCheck(c.Context(), &r)
			if err != nil && swapped(args) {
				return noren.Usagef("FILE CERTIFICATE", "%s is a certificate, and %s is none", args[0], args[1]).
					Hinted("the file comes first: noren certificate check FILE CERTIFICATE")
			}
			err = ofCheck(args, err)
			if out == nil {
				return err
			}
			if asJSON {
				if e := printJSON(t.stdout, out); e != nil || err == nil {
					return e
				}
				return &alreadySaid{err}
			}
			if err == nil {
				printCertificateCheck(t, out)
			}
			return err
		},
	}
	c.Flags().StringArrayVar(&r.Trust, "trust", nil, "a public key `FILE` (noren certificate key); may be repeated")
	c.Flags().BoolVar(&asJSON, "json", false, "print one JSON object, noren.certificate.check/1")
	return c
}

// ofCheck says which of the two files of a check cannot be used, and where it comes from.
func ofCheck(args []string, err error) error {
	var e *noren.Error
	if !errors.As(err, &e) {
		return err
	}
	for i, of := range []struct {
		name string
		hint noren.Format
	}{
		{"FILE", "the first file is the one that is certified: noren certificate check FILE CERTIFICATE"},
		{"CERTIFICATE", "the second file is the certificate of the first: its publisher sends it, and --certificate of the command that made " +
			"the first writes it"},
	} {
		_, absent := os.Stat(file.Place(args[i]))
		form := i == 1 && noren.KindOf(err) == noren.BadData
		if e.Place() == args[i] && (form || absent != nil && !file.IsDatabase(args[i]) && noren.KindOf(err) == noren.Usage) {
			return &noren.Error{Kind: noren.KindOf(err), Code: noren.CodeOf(err), Where: of.name, Err: err, Hint: of.hint}
		}
	}
	return err
}

// swapped reports whether the first of two files is a certificate and the second is none.
func swapped(args []string) bool {
	if _, err := certificate.Load(args[1]); noren.KindOf(err) != noren.BadData {
		return false
	}
	_, err := certificate.Load(args[0])
	return err == nil
}

func printCertificateCheck(t *terminal, r *api.CertificateCheck) {
	lang.Fprintf(t.stdout, "%s: is what %s certifies\n  guarantee  %s\n  signed     %s, %s\n", r.File, r.Certificate,
		words.Statement(t.lang, r.Guarantee), r.KeyID, r.Time)
}

func newCertificateKey(t *terminal) *cobra.Command {
	var private bool
	c := &cobra.Command{
		Use:   "key",
		Short: "Print this user's public key, for others to check certificates with",
		Args:  exactly(),
		RunE: func(c *cobra.Command, _ []string) error {
			if private {
				path, err := certificate.KeyPath()
				if err == nil {
					fmt.Fprintln(t.stdout, path)
				}
				return err
			}
			s := t.service(nil)
			key, err := s.CertificateKey(c.Context())
			if err != nil {
				return err
			}
			if _, err := io.WriteString(t.stdout, key.PEM); err != nil {
				return &noren.Error{What: "cannot write the result", Err: err}
			}
			return nil
		},
	}
	c.Flags().BoolVar(&private, "path", false, "print the path of the private key instead")
	return c
}

// ownKey is this user's public key, if there is one already.
func ownKey() ([]ed25519.PublicKey, error) {
	path, err := certificate.KeyPath()
	if err != nil {
		return nil, err
	}
	own, err := certificate.PublicKeyOf(path)
	if own == nil || err != nil {
		return nil, err
	}
	return []ed25519.PublicKey{own}, nil
}
