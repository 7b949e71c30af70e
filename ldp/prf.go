package ldp

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/binary"
	"hash"
)

// prf is an endless stream of words that is a function of a secret and a
// message: HMAC-SHA256(secret, message || counter) for counter 0, 1, 2, ... Who
// does not know the secret cannot tell it from random bits (HMAC as a
// pseudo-random function). A device that keeps its secret gives the same
// permanent answer to the same question without remembering it.
type prf struct {
	mac     hash.Hash
	message []byte // with 4 bytes for the counter at the end
	counter uint32
	block   [sha256.Size]byte
	used    int
}

func newPRF(secret []byte, message ...[]byte) *prf {
	p := &prf{mac: hmac.New(sha256.New, secret), used: sha256.Size}
	for _, m := range message {
		// Lengths go in as well: no two lists of parts make one message.
		p.message = binary.BigEndian.AppendUint32(p.message, uint32(len(m)))
		p.message = append(p.message, m...)
	}
	p.message = append(p.message, 0, 0, 0, 0)
	return p
}

// Uint64 implements words.
func (p *prf) Uint64() (uint64, error) {
	if p.used == len(p.block) {
		binary.BigEndian.PutUint32(p.message[len(p.message)-4:], p.counter)
		p.counter++
		p.mac.Reset()
		p.mac.Write(p.message)
		p.mac.Sum(p.block[:0])
		p.used = 0
	}
	v := binary.LittleEndian.Uint64(p.block[p.used:])
	p.used += 8
	return v, nil
}
