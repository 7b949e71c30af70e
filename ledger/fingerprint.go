package ledger

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"hash"
)

// FileHash computes the fingerprint of a file's bytes, written to it in order:
// HMAC-SHA256 under the ledger's secret. It identifies the files that a data set was read from
// ([Grant.Files]), and the file of a data set that was granted before data sets had schemas
// ([Grant.OldFingerprint]).
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

// Key derives a secret of 32 bytes for a purpose from the ledger's own. It is the
// same for the same purpose, and says nothing of any other.
func (l *Ledger) Key(purpose string) []byte {
	mac := hmac.New(sha256.New, l.secret)
	mac.Write([]byte("noren.ledger.key/1\x00" + purpose))
	return mac.Sum(nil)
}
