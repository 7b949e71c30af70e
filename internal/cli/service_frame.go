package cli

import (
	"crypto/ed25519"
	"errors"
	"strings"

	"github.com/noren-privacy/noren"
	"github.com/noren-privacy/noren/account"
	"github.com/noren-privacy/noren/api"
	"github.com/noren-privacy/noren/certificate"
	"github.com/noren-privacy/noren/service"
)

// newService is the service of this user: the signing key, the terminal and a ledger.
func newService(t *terminal, path string) *service.Service {
	return &service.Service{
		Ledger: path, Signer: signingKey, Trusted: ownKey, Tool: tool(), Stdin: t.stdin, Progress: t.progress.report,
		Note: t.told,
	}
}

// told prints a note or a warning of an operation.
func (t *terminal) told(n api.Note) {
	text := n.Text
	if hint, known := hints[n.Code]; known {
		text += " (" + hint + ")"
	}
	if n.Level == api.Warning {
		t.warn("%s", text)
	} else {
		t.note("%s", text)
	}
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

// flagged is err with the name of a flag in place of a field of a request.
func flagged(err error) error {
	var e *noren.Error
	if !errors.As(err, &e) || e.Kind != noren.Usage {
		return err
	}
	field, _, _ := strings.Cut(e.Where, " ")
	switch field {
	case "epsilon", "delta", "analyst", "neighbours", "unit", "records", "at-most", "replace", "file", "model", "model-column", "delimiter", "encoding", "header-row":
		out := *e
		out.Where = "--" + e.Where
		return &out
	}
	return err
}

type costJSON = api.Cost

func toCostJSON(c account.Cost) costJSON { return api.CostOf(c) }
