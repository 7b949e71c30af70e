package shard

import (
	"encoding/binary"
	"errors"
	"math"

	"github.com/noren-privacy/noren"
)

// What processes pass to each other is little-endian, begins with a byte that says what it
// is and a byte of the version, and has no bytes behind its end.

// version is that of all binary forms.
const version = 1

// The first bytes of binary forms. The driver sees those of [Made] and [Checked].
const (
	kindMade    = 1
	kindChecked = 2
	kindPart    = 3
	kindLook    = 4
	kindPlan    = 5
)

// idBytes is the length of the number of a job.
const idBytes = 16

// CodeForm is the code of errors about bytes that are not of the form that is expected.
const CodeForm = "shard-form"

// begin begins the form of a kind, for a job.
func begin(kind byte, job [idBytes]byte) []byte { return append([]byte{kind, version}, job[:]...) }

// malformed is the error about bytes that are no what.
func malformed(what noren.Phrase) error {
	return &noren.Error{
		Code: CodeForm, What: "expected %s of this version of noren, got other bytes", Args: []any{what},
		Err: errors.New("bytes between processes were changed, or come from another program"),
	}
}

// source takes values from bytes. After the first value that is not there it gives zeros
// and is bad.
type source struct {
	b   []byte
	bad bool
}

func (s *source) take(n int) []byte {
	if n < 0 || n > len(s.b) {
		s.bad, s.b = true, nil
		return nil
	}
	out := s.b[:n:n]
	s.b = s.b[n:]
	return out
}

func (s *source) u8() uint8 {
	if b := s.take(1); b != nil {
		return b[0]
	}
	return 0
}

func (s *source) u16() uint16 {
	if b := s.take(2); b != nil {
		return binary.LittleEndian.Uint16(b)
	}
	return 0
}

func (s *source) u32() uint32 {
	if b := s.take(4); b != nil {
		return binary.LittleEndian.Uint32(b)
	}
	return 0
}

func (s *source) u64() uint64 {
	if b := s.take(8); b != nil {
		return binary.LittleEndian.Uint64(b)
	}
	return 0
}

func (s *source) f64() float64 { return math.Float64frombits(s.u64()) }

func (s *source) flag() bool {
	v := s.u8()
	if v > 1 {
		s.bad = true
	}
	return v == 1
}

// begins reports whether the form of a kind, for a job, begins here.
func (s *source) begins(kind byte, job [idBytes]byte) bool { return s.u8() == kind && s.versionOf(job) }

// versionOf reports whether the version of all forms follows, then the job.
func (s *source) versionOf(job [idBytes]byte) bool {
	return s.u8() == version && string(s.take(idBytes)) == string(job[:])
}

// number is a whole number that is no larger than most.
func (s *source) number(most uint64) int {
	v, n := binary.Uvarint(s.b)
	if n <= 0 || v > most || v > math.MaxInt64 {
		s.bad, s.b = true, nil
		return 0
	}
	s.b = s.b[n:]
	return int(v)
}

// count is the number of things that follow, each of at least that many bytes.
func (s *source) count(least int) int {
	return s.number(uint64(len(s.b) / least))
}

func (s *source) text() []byte { return s.take(s.count(1)) }

// ended reports whether all bytes were taken, and all were there.
func (s *source) ended() bool { return !s.bad && len(s.b) == 0 }

func appendText(dst, text []byte) []byte {
	return append(binary.AppendUvarint(dst, uint64(len(text))), text...)
}

func appendFloat(dst []byte, v float64) []byte {
	return binary.LittleEndian.AppendUint64(dst, math.Float64bits(v))
}

func appendFlag(dst []byte, is bool) []byte {
	if is {
		return append(dst, 1)
	}
	return append(dst, 0)
}
