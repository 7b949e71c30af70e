package entropy

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/hkdf"
	"crypto/sha256"
)

// expandedInfo begins the label of every expanded stream.
const expandedInfo = "noren.noise/1\x00"

// Expanded returns a source over a stream of AES-256 in counter mode. Its key is HKDF-SHA256
// of a secret, with the identity of all that is computed with the stream as its salt and the
// name of the stream as its label: equal secrets, identities and names give equal bits, and
// streams that differ in one of them are independent of each other.
//
// Guarantee: computational. A person without the secret, which holds 256 uniform bits,
// cannot tell the bits from uniform ones, as far as HKDF-SHA256 and AES-256 keep what is
// believed of them.
func Expanded(secret, about [32]byte, stream string) *Source {
	key, err := hkdf.Key(sha256.New, secret[:], about[:], expandedInfo+stream, 32)
	var block cipher.Block
	if err == nil {
		block, err = aes.NewCipher(key)
	}
	if err != nil {
		return FromReader(unfit{err})
	}
	// A key has one stream: its counter begins at 0.
	return FromReader(&counter{cipher.NewCTR(block, make([]byte, aes.BlockSize))})
}

// counter reads the key stream of a cipher.
type counter struct{ of cipher.Stream }

// Read implements [io.Reader].
func (c *counter) Read(p []byte) (int, error) {
	clear(p)
	c.of.XORKeyStream(p, p)
	return len(p), nil
}

// unfit fails every draw.
type unfit struct{ err error }

// Read implements [io.Reader].
func (f unfit) Read([]byte) (int, error) { return 0, f.err }
