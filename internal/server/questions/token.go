package questions

import (
	"crypto/hkdf"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"strings"

	"github.com/noren-privacy/noren/certificate"
)

// errToken is the cause of errors about a token that this server did not make.
var errToken = errors.New("questions: expected the token of a quote of this server")

// sealer makes tokens: documents that clients keep and cannot change. A token holds
// nothing that its reader may not know: it is signed and not encrypted.
type sealer struct{ key []byte }

// tokenPurpose separates the key of tokens from other uses of the secret.
const tokenPurpose = "noren.server.quote/1"

func newSealer(secret []byte) (*sealer, error) {
	key, err := hkdf.Key(sha256.New, secret, nil, tokenPurpose, sha256.Size)
	if err != nil {
		return nil, err
	}
	return &sealer{key}, nil
}

// seal is the token of a document: its canonical JSON and an HMAC-SHA256 of it.
func (s *sealer) seal(v any) (string, error) {
	plain, err := json.Marshal(v)
	if err != nil {
		return "", err
	}
	text, err := certificate.Canonical(plain)
	if err != nil {
		return "", err
	}
	return encode(text) + "." + encode(s.mac(text)), nil
}

// open reads a token. All tokens that were not made under this key give one error.
func (s *sealer) open(token string, v any) error {
	first, second, _ := strings.Cut(token, ".")
	text, err := base64.RawURLEncoding.Strict().DecodeString(first)
	if err != nil || encode(text) != first { // the decoder skips line ends
		return errToken
	}
	mac, err := base64.RawURLEncoding.Strict().DecodeString(second)
	if err != nil || encode(mac) != second || !hmac.Equal(mac, s.mac(text)) {
		return errToken
	}
	if json.Unmarshal(text, v) != nil {
		return errToken
	}
	return nil
}

func (s *sealer) mac(text []byte) []byte {
	h := hmac.New(sha256.New, s.key)
	h.Write(text)
	return h.Sum(nil)
}

func encode(b []byte) string { return base64.RawURLEncoding.EncodeToString(b) }
