package certificate

import (
	"crypto/ed25519"
	"crypto/rand"
	"crypto/sha256"
	"crypto/x509"
	"encoding/hex"
	"encoding/pem"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"

	"github.com/noren-privacy/noren"
	"github.com/noren-privacy/noren/internal/tempfile"
)

// KeyPath is where the signing key lives: $NOREN_KEY, else noren/key.pem in the
// user's configuration directory ([os.UserConfigDir]).
func KeyPath() (string, error) {
	if p := os.Getenv("NOREN_KEY"); p != "" {
		return p, nil
	}
	dir, err := os.UserConfigDir()
	if err != nil {
		return "", &noren.Error{
			Kind: noren.Usage, Where: noren.Phrase("signing key"), What: "this user has no configuration directory",
			Hint: "set NOREN_KEY to the path of the key file", Err: err,
		}
	}
	return filepath.Join(dir, "noren", "key.pem"), nil
}

// KeyIDPrefix is what the id of a key begins with.
const KeyIDPrefix = "ed25519:"

// KeyID names a public key: "ed25519:" and the first 16 bytes of its SHA-256
// in hexadecimal.
func KeyID(public ed25519.PublicKey) string {
	sum := sha256.Sum256(public)
	return KeyIDPrefix + hex.EncodeToString(sum[:16])
}

// LoadKey reads the private key at path: PEM, PKCS #8, readable and writable
// by its owner alone. A key that others may read is refused (kind Usage): what
// it signed proves nothing.
func LoadKey(path string) (ed25519.PrivateKey, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, fileError(path, noren.Textf("the signing key cannot be opened"), err)
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, fileError(path, noren.Textf("the signing key cannot be examined"), err)
	}
	if mode := info.Mode().Perm(); runtime.GOOS != "windows" && mode&0o077 != 0 {
		return nil, &noren.Error{
			Kind: noren.Usage, Where: noren.File(path),
			What: "the signing key has mode %04o: others than its owner can use it", Args: []any{mode},
			Hint: "chmod 600 the file, or make a new key if others may have read it",
		}
	}
	text, err := readSmall(f, path, "the signing key cannot be read")
	if err != nil {
		return nil, err
	}
	block, rest := pem.Decode(text)
	bad := &noren.Error{Kind: noren.BadData, Where: noren.File(path), What: "is not an Ed25519 private key in PEM (PKCS #8)"}
	if len(text) == 0 {
		bad = bad.Hinted("it is empty, as a program that was ended while it made the key leaves it: remove the file, and a key is made")
	}
	if block == nil || block.Type != "PRIVATE KEY" || len(rest) > 0 {
		return nil, bad
	}
	parsed, err := x509.ParsePKCS8PrivateKey(block.Bytes)
	if err != nil {
		return nil, bad
	}
	key, ok := parsed.(ed25519.PrivateKey)
	if !ok {
		return nil, bad
	}
	return key, nil
}

// LoadOrCreateKey is [LoadKey], and makes a new key with mode 0600 where there
// is no file at path yet. Of several processes that do so at once one makes the
// key and all get the same.
func LoadOrCreateKey(path string) (ed25519.PrivateKey, error) {
	key, err := LoadKey(path)
	if !errors.Is(err, fs.ErrNotExist) {
		return key, err
	}
	_, key, err = ed25519.GenerateKey(rand.Reader)
	if err != nil {
		return nil, &noren.Error{Where: noren.Phrase("signing key"), What: "cannot read random bytes", Err: err}
	}
	der, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		return nil, &noren.Error{Where: noren.Phrase("signing key"), What: "cannot be written", Err: err}
	}
	if err := writeNew(path, pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der})); err != nil {
		return nil, err
	}
	return LoadKey(path)
}

// writeNew writes a file of mode 0600 that appears whole. A file that has the name
// already stays.
func writeNew(path string, text []byte) error {
	dir := filepath.Dir(path)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return fileError(dir, noren.Textf("cannot be made"), err)
	}
	f, err := tempfile.CreateNamed(dir)
	if err != nil {
		return fileError(path, noren.Textf("the signing key cannot be written"), err)
	}
	defer os.Remove(f.Name())
	_, err = f.Write(text)
	if err == nil {
		err = f.Sync()
	}
	if closeErr := f.Close(); err == nil {
		err = closeErr
	}
	if err != nil {
		return fileError(path, noren.Textf("the signing key cannot be written"), err)
	}
	err = tempfile.Publish(f.Name(), path)
	if err != nil && !errors.Is(err, fs.ErrExist) {
		return fileError(path, noren.Textf("the signing key cannot be written"), err)
	}
	return nil
}

// EncodePublicKey writes public as PEM (SubjectPublicKeyInfo), which others
// need to check certificates.
func EncodePublicKey(public ed25519.PublicKey) ([]byte, error) {
	der, err := x509.MarshalPKIXPublicKey(public)
	if err != nil {
		return nil, &noren.Error{Kind: noren.Usage, Where: noren.Phrase("public key"), What: "is not an Ed25519 key"}
	}
	return pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: der}), nil
}

// ParsePublicKey reads what [EncodePublicKey] wrote.
func ParsePublicKey(text []byte) (ed25519.PublicKey, error) {
	bad := &noren.Error{Kind: noren.BadData, Where: noren.Phrase("public key"), What: "is not an Ed25519 public key in PEM"}
	block, rest := pem.Decode(text)
	if block == nil || block.Type != "PUBLIC KEY" || len(rest) > 0 {
		return nil, bad
	}
	parsed, err := x509.ParsePKIXPublicKey(block.Bytes)
	if err != nil {
		return nil, bad
	}
	public, ok := parsed.(ed25519.PublicKey)
	if !ok {
		return nil, bad
	}
	return public, nil
}
