// Package entropy is the cryptographic random source: buffered draws of words, bits and
// integers below a bound, each of which can fail.
//
// Guarantee: a [Source] returns the bits of its reader in order, each once. When the
// reader fails, the draw fails and so does every later one; there is no fallback.
//
// [Secret] is for noise that protects data. [Seeded] is deterministic, for tests,
// experiments and simulations only: a test of the module (imports_test.go) lists the
// packages that may import this one.
package entropy

import (
	crand "crypto/rand"
	"encoding/binary"
	"io"
	"math/bits"
	"math/rand/v2"

	"github.com/noren-privacy/noren"
)

// bufferSize is how many bytes are fetched at once: enough to make the system
// call cheap per draw, small enough that few unused secret bytes stay in memory.
const bufferSize = 1024

// Source is a buffered stream of uniform random bits. Make one with [Secret],
// [Seeded] or [FromReader]; the zero value fails on the first draw. A Source is
// not safe for concurrent use: give each goroutine its own.
type Source struct {
	pos    int // next unread byte of buf; bufferSize when it is used up
	buf    [bufferSize]byte
	spare  uint64 // spareN unread bits, the lowest first
	spareN uint
	filled bool // whether buf holds bytes of r: false in the zero value
	r      io.Reader
	err    error // the first failure, returned by every later draw
}

// Secret returns a source over crypto/rand.
//
// On systems that Go calls legacy, crypto/rand ends the process rather than
// return an error when the kernel has no randomness.
func Secret() *Source { return FromReader(crand.Reader) }

// Seeded returns a source that repeats itself for a seed (ChaCha8). It protects
// nothing: it is for tests and experiments.
func Seeded(seed uint64) *Source {
	var key [32]byte
	copy(key[:], "noren seeded, protects nothing")
	// The seed comes last and over the text: two seeds never share a key.
	binary.LittleEndian.PutUint64(key[24:], seed)
	return FromReader(rand.NewChaCha8(key))
}

// FromReader returns a source over the bytes of r. A read that fails or ends
// early makes the source fail for good.
func FromReader(r io.Reader) *Source {
	return &Source{r: r, pos: bufferSize, filled: true}
}

// Err returns the failure that has stopped the source, nil while it works.
func (s *Source) Err() error { return s.err }

// refill fetches the next bufferSize bytes.
func (s *Source) refill() error {
	if s.err != nil {
		return s.err
	}
	if !s.filled {
		s.err = failed(noren.Bug("the source was never made"))
		return s.err
	}
	if _, err := io.ReadFull(s.r, s.buf[:]); err != nil {
		// What was read before the failure is not used.
		clear(s.buf[:])
		s.pos = bufferSize
		s.spare, s.spareN = 0, 0
		s.err = failed(err)
		return s.err
	}
	s.pos = 0
	return nil
}

func failed(err error) error {
	return &noren.Error{
		Kind: noren.Internal,
		What: "the source of randomness failed, and no answer was made",
		Hint: "see whether the system's random generator works, and ask again",
		Err:  err,
	}
}

// Uint64 draws 64 bits.
func (s *Source) Uint64() (uint64, error) {
	if s.pos > bufferSize-8 || !s.filled {
		return s.uint64Slow()
	}
	v := binary.LittleEndian.Uint64(s.buf[s.pos:])
	s.pos += 8
	return v, nil
}

func (s *Source) uint64Slow() (uint64, error) {
	if err := s.refill(); err != nil {
		return 0, err
	}
	s.pos = 8
	return binary.LittleEndian.Uint64(s.buf[:]), nil
}

// Bits draws n bits, 0 <= n <= 64, as the low bits of the result. It draws from
// the reader one word at a time and keeps what is left for the next call.
func (s *Source) Bits(n uint) (uint64, error) {
	if n > 64 {
		return 0, &noren.Error{What: "more than 64 bits asked of one draw"}
	}
	if n <= s.spareN {
		v := s.spare & mask(n)
		s.spare >>= n
		s.spareN -= n
		return v, nil
	}
	w, err := s.Uint64()
	if err != nil {
		return 0, err
	}
	have := s.spareN
	v := (s.spare | w<<have) & mask(n)
	used := n - have // of w, at least 1
	s.spare = w >> used
	s.spareN = 64 - used
	return v, nil
}

// mask is n ones, n <= 64.
func mask(n uint) uint64 {
	return 1<<n - 1 // a shift by 64 gives 0, and 0-1 all ones
}

// Bool draws a fair coin.
func (s *Source) Bool() (bool, error) {
	b, err := s.Bits(1)
	return b == 1, err
}

// Uint64n draws an integer uniform on [0, n), without bias: the multiply and
// reject method of Lemire (2019, "Fast Random Integer Generation in an
// Interval", algorithm 5). n = 0 is an error.
func (s *Source) Uint64n(n uint64) (uint64, error) {
	if n == 0 {
		return 0, &noren.Error{What: "a uniform draw below 0 was asked for"}
	}
	w, err := s.Uint64()
	if err != nil {
		return 0, err
	}
	hi, lo := bits.Mul64(w, n)
	if lo >= n {
		return hi, nil
	}
	// Of the 2^64 words, those whose low half is under 2^64 mod n are too many.
	for excess := -n % n; lo < excess; {
		if w, err = s.Uint64(); err != nil {
			return 0, err
		}
		hi, lo = bits.Mul64(w, n)
	}
	return hi, nil
}
