// Package pseudonym replaces labels of persons by pseudonyms that cannot be
// computed again: keyed hashes under a key that is drawn for one release and kept
// nowhere.
//
//	p := pseudonym.New()
//	text := p.Of([]byte("P-00017")) // 32 hexadecimal digits
//
// # Guarantee
//
// Equal labels have equal pseudonyms under one [Pseudonyms], and different
// labels have different ones except with a probability below n²/2^129 for n
// labels. Without the key a pseudonym tells nothing of its label beyond that
// equality, under the assumption that HMAC-SHA256 is a pseudorandom function
// (Bellare 2006): the labels cannot be tried out, and two releases of the same
// persons share no pseudonym.
package pseudonym

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"hash"
)

// Pseudonyms makes the pseudonyms of one release. It is not for several
// goroutines at a time.
type Pseudonyms struct {
	mac hash.Hash
	sum [sha256.Size]byte
}

// New draws a key from the system's secure source.
func New() *Pseudonyms {
	var key [32]byte
	rand.Read(key[:]) // never fails
	return &Pseudonyms{mac: hmac.New(sha256.New, key[:])}
}

// Len is the length of a pseudonym.
const Len = 32

// Of is the pseudonym of a label.
func (p *Pseudonyms) Of(label []byte) []byte {
	p.mac.Reset()
	p.mac.Write(label)
	return hex.AppendEncode(nil, p.mac.Sum(p.sum[:0])[:Len/2])
}

// Key is the secret of one release that is made in several processes: each has the same
// digests of labels by it. It is drawn by [NewKey] and must be kept no longer than the
// release is made.
type Key [32]byte

// NewKey draws a key from the system's secure source.
func NewKey() (k Key) {
	rand.Read(k[:]) // never fails
	return k
}

// Digest is a number of 128 bits that stands for a label while a release is made.
type Digest [Len / 2]byte

// Digests makes the digests of labels under a key. It is not for several goroutines at a
// time.
type Digests struct {
	mac hash.Hash
	sum [sha256.Size]byte
}

// Digests returns the digests of k. Equal labels have equal digests, so that labels
// with different digests are different: a number of digests is never above that of labels.
func (k Key) Digests() *Digests { return &Digests{mac: hmac.New(sha256.New, k[:])} }

// Of is the digest of a label.
func (d *Digests) Of(label []byte) Digest {
	d.mac.Reset()
	d.mac.Write(label)
	return Digest(d.mac.Sum(d.sum[:0])[:Len/2])
}

// Derive is a key for one use of k: uses tell nothing of each other.
func (k Key) Derive(use string) [32]byte {
	mac := hmac.New(sha256.New, k[:])
	mac.Write([]byte(use))
	return [32]byte(mac.Sum(nil))
}
