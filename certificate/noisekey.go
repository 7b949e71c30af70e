package certificate

import (
	"crypto/hkdf"
	"crypto/sha256"
	"path/filepath"

	"github.com/noren-privacy/noren"
)

// NoiseKeyName is the name of the file of the key to the noise of answers, beside the signing
// key.
const NoiseKeyName = "noise.pem"

// LoadOrCreateNoiseKey returns the 32 bytes that encrypt the secrets from which noise is
// expanded (package release). They follow from a private key of the form of a signing key,
// in a file of its own beside the one at signing; it is made with mode 0600 where there is
// none yet. It signs nothing. Without it the answers cannot be computed again that a crash
// kept from being stored; no stored answer needs it.
func LoadOrCreateNoiseKey(signing string) ([]byte, error) {
	key, err := LoadOrCreateKey(filepath.Join(filepath.Dir(signing), NoiseKeyName))
	if err != nil {
		return nil, err
	}
	out, err := hkdf.Key(sha256.New, key.Seed(), nil, "noren.noise-key/1", 32)
	if err != nil {
		return nil, &noren.Error{Where: NoiseKeyName, What: "the key to the noise cannot be derived", Err: err}
	}
	return out, nil
}
