package certificate

import (
	"crypto/ed25519"
	"errors"
	"io/fs"
	"os"

	"github.com/noren-privacy/noren"
	"github.com/noren-privacy/noren/internal/meter"
)

// LoadPublicKeys reads the public keys in PEM at paths. A file that cannot be read or
// holds no Ed25519 key is an error of kind Usage.
func LoadPublicKeys(paths ...string) ([]ed25519.PublicKey, error) {
	var keys []ed25519.PublicKey
	for _, p := range paths {
		key, err := loadPublicKey(p)
		if err != nil {
			return nil, err
		}
		keys = append(keys, key)
	}
	return keys, nil
}

func loadPublicKey(path string) (ed25519.PublicKey, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, publicKeyError(path, err)
	}
	defer f.Close()
	text, err := meter.ReadAll(f, maxSize, noren.File(path))
	switch {
	case meter.Refused(err) != nil:
		return nil, err
	case err != nil:
		return nil, publicKeyError(path, err)
	}
	key, err := ParsePublicKey(text)
	if err != nil {
		return nil, &noren.Error{Kind: noren.Usage, Where: noren.File(path), Err: err}
	}
	return key, nil
}

func publicKeyError(path string, err error) error {
	return &noren.Error{
		Kind: noren.Usage, Code: "public-key", Where: noren.File(path), What: "the public key cannot be read",
		Err: reason(err),
	}
}

// PublicKeyOf returns the public key of the private key at path; nil where there is
// no file. It never makes a key.
func PublicKeyOf(path string) (ed25519.PublicKey, error) {
	if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	key, err := LoadKey(path)
	if err != nil {
		return nil, err
	}
	return key.Public().(ed25519.PublicKey), nil
}

// SignedBy checks the signature alone and reports whether one of keys made it. A
// signature that does not hold is an error of kind NotMet; a key that is none of keys
// is not.
func (s *Signed) SignedBy(keys ...ed25519.PublicKey) (bool, error) {
	if _, err := s.VerifySignature(); err != nil {
		return false, err
	}
	if len(keys) == 0 {
		return false, nil
	}
	_, err := s.VerifySignature(keys...)
	return err == nil, nil
}
