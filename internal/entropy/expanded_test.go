package entropy

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/hkdf"
	"crypto/sha256"
	"encoding/binary"
	"testing"
)

// The stream is what its documentation says, and any other secret, identity or name gives
// another one.
func TestExpanded(t *testing.T) {
	words := func(secret, about byte, stream string) (out [400]uint64) {
		src := Expanded([32]byte{secret}, [32]byte{about}, stream)
		for i := range out {
			w, err := src.Uint64()
			if err != nil {
				t.Fatal(err)
			}
			out[i] = w
		}
		return out
	}
	first := words(1, 2, "answer")
	if again := words(1, 2, "answer"); again != first {
		t.Error("a stream is not repeated")
	}
	salt := append([]byte{2}, make([]byte, 31)...)
	key, err := hkdf.Key(sha256.New, append([]byte{1}, make([]byte, 31)...), salt, "noren.noise/1\x00answer", 32)
	if err != nil {
		t.Fatal(err)
	}
	block, err := aes.NewCipher(key)
	if err != nil {
		t.Fatal(err)
	}
	want := make([]byte, 8*len(first))
	cipher.NewCTR(block, make([]byte, 16)).XORKeyStream(want, want)
	seen := map[uint64]bool{}
	for i, w := range first {
		if w != binary.LittleEndian.Uint64(want[8*i:]) {
			t.Fatalf("word %d is another", i)
		}
		seen[w] = true
	}
	for _, other := range [][400]uint64{words(3, 2, "answer"), words(1, 3, "answer"), words(1, 2, "job"), words(2, 1, "answer")} {
		for _, w := range other {
			if seen[w] {
				t.Fatal("two streams share a word")
			}
		}
	}
}
