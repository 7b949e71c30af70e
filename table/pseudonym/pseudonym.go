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
