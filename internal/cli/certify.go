package cli

import (
	"crypto/ed25519"

	"github.com/noren-privacy/noren/certificate"
)

// tool is this program as certificates name it.
func tool() certificate.Tool { return certificate.Tool{Name: "noren", Version: Version()} }

// signingKey is this user's key, made on first use.
func signingKey() (ed25519.PrivateKey, error) {
	path, err := certificate.KeyPath()
	if err != nil {
		return nil, err
	}
	return certificate.LoadOrCreateKey(path)
}

// noiseKey is the key to the noise of answers with a request key, beside the signing key.
func noiseKey() ([]byte, error) {
	path, err := certificate.KeyPath()
	if err != nil {
		return nil, err
	}
	return certificate.LoadOrCreateNoiseKey(path)
}
