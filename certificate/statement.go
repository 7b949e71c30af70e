package certificate

import (
	"crypto/ed25519"
	"encoding/base64"
	"encoding/json"

	"github.com/noren-privacy/noren"
)

// SignStatement signs a statement that is no certificate: the signature covers its
// format, a zero byte, and v in canonical JSON. The format must not be one of this
// package. A statement that cannot be written in canonical JSON is an error of kind
// BadData.
func SignStatement(key ed25519.PrivateKey, format string, v any) (Signature, error) {
	if len(key) != ed25519.PrivateKeySize {
		return Signature{}, &noren.Error{Kind: noren.Usage, Where: "statement", What: "the signing key is not an Ed25519 key"}
	}
	message, err := statement(format, v)
	if err != nil {
		return Signature{}, err
	}
	public := key.Public().(ed25519.PublicKey)
	return Signature{
		Algorithm: "ed25519", KeyID: KeyID(public), PublicKey: base64.StdEncoding.EncodeToString(public),
		Value: base64.StdEncoding.EncodeToString(ed25519.Sign(key, message)),
	}, nil
}

// CheckStatement checks a signature of [SignStatement] over v, by the key that it
// states. Failures are of kind NotMet.
func CheckStatement(s Signature, format string, v any) error {
	fail := func(what noren.Format) error {
		return &noren.Error{Kind: noren.NotMet, Where: "statement", What: what}
	}
	public, err := DecodeBase64(s.PublicKey)
	if err != nil || len(public) != ed25519.PublicKeySize || s.Algorithm != "ed25519" {
		return fail("its signature is not an Ed25519 signature with its key")
	}
	if weakKey(public) {
		return fail("its key is of small order: one signature under it fits many statements")
	}
	if s.KeyID != KeyID(public) {
		return fail("its key does not have the id it gives")
	}
	value, err := DecodeBase64(s.Value)
	if err != nil || len(value) != ed25519.SignatureSize {
		return fail("its signature is not 64 bytes in base64")
	}
	message, err := statement(format, v)
	if err != nil {
		return fail("it cannot be brought to the canonical form")
	}
	if !ed25519.Verify(public, message, value) {
		return fail("its signature does not hold")
	}
	return nil
}

// statement is what the signature of a statement covers.
func statement(format string, v any) ([]byte, error) {
	if format == "" || format == Format || format == Format1 {
		return nil, &noren.Error{Kind: noren.Usage, Where: "statement", What: "its format is not one of its own"}
	}
	text, err := json.Marshal(v)
	if err != nil {
		return nil, &noren.Error{Kind: noren.BadData, Where: "statement", What: "cannot be written as JSON"}
	}
	body, err := Canonical(text)
	if err != nil {
		return nil, err
	}
	return append([]byte(format+"\x00"), body...), nil
}
