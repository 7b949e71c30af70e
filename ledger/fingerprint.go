package ledger

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"hash"
	"io"
	"os"

	"noren"
)

// FileHash computes a private file's fingerprint from its bytes, written to it
// in order: HMAC-SHA256 under the ledger's secret. Whoever reads the file for an
// answer writes what is read through one and compares [FileHash.Sum] with
// [Book.Fingerprint]: the file that was answered from is then the one that was
// charged, even if it is replaced in between.
type FileHash struct{ mac hash.Hash }

// NewFileHash starts a fingerprint.
func (l *Ledger) NewFileHash() *FileHash {
	mac := hmac.New(sha256.New, l.secret)
	mac.Write([]byte("noren.ledger.file/1\x00"))
	return &FileHash{mac}
}

// Write adds bytes of the file; it never fails.
func (f *FileHash) Write(p []byte) (int, error) { return f.mac.Write(p) }

// Sum returns the fingerprint of what was written: "hmac-sha256:" and 64
// hexadecimal digits.
func (f *FileHash) Sum() string { return "hmac-sha256:" + hex.EncodeToString(f.mac.Sum(nil)) }

// fingerprint reads the file at path once.
func (l *Ledger) fingerprint(ctx context.Context, path string) (string, error) {
	f, err := os.Open(path)
	if err != nil {
		return "", fileError(path, "cannot be opened", err)
	}
	defer f.Close()
	if info, err := f.Stat(); err == nil && info.IsDir() {
		return "", usage(path, "is a folder", "name the data set's file")
	}
	h := l.NewFileHash()
	for buf := make([]byte, 1<<18); ; {
		if err := ctx.Err(); err != nil {
			return "", &noren.Error{Kind: noren.Interrupted, Where: path, What: "interrupted while reading", Err: err}
		}
		n, err := f.Read(buf)
		h.mac.Write(buf[:n])
		if errors.Is(err, io.EOF) {
			return h.Sum(), nil
		}
		if err != nil {
			return "", fileError(path, "cannot be read", err)
		}
	}
}

// Key derives a secret of 32 bytes for a purpose from the ledger's own: the same
// for the same purpose, and telling nothing of any other.
func (l *Ledger) Key(purpose string) []byte {
	mac := hmac.New(sha256.New, l.secret)
	mac.Write([]byte("noren.ledger.key/1\x00" + purpose))
	return mac.Sum(nil)
}
