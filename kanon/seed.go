package kanon

import (
	"crypto/sha256"
	"encoding/binary"
)

// SearchSeed is the seed of the search.
func (o *Options) SearchSeed() uint64 {
	switch {
	case o.SecretSeed != nil:
		key := o.derived("search")
		return binary.LittleEndian.Uint64(key[:])
	case o.Seed != nil:
		return *o.Seed
	}
	return 0
}

// derived is a key for one use of the secret seed: uses tell nothing of each
// other.
func (o *Options) derived(use string) [32]byte {
	return sha256.Sum256(append([]byte("noren/kanon/"+use+"\x00"), o.SecretSeed...))
}
