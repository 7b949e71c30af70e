package shard

import (
	"encoding/binary"
	"math"
	"strings"

	"github.com/noren-privacy/noren/kanon/partition"
	"github.com/noren-privacy/noren/table/formula"
)

// What became of a bucket.
const (
	// MadeFile: its records are in a file that has no part in a release yet.
	MadeFile = 1
	// MadeShort: it has too few records or persons, and was not released. It must be
	// released together with a neighbour.
	MadeShort = 2
	// MadeEmpty: it has no records.
	MadeEmpty = 3
)

// Made is what became of a bucket, or of neighbouring ones that were released together. It is
// private.
type Made struct {
	Kind    uint8
	Buckets []int
	Rows    int64
	// Persons is the number of persons of a short bucket, where there is a unit.
	Persons int64
	// Name, Size and SHA256 are of the file, PersonsSHA256 of the file of its persons.
	Name          string
	Size          int64
	SHA256        [32]byte
	PersonsSHA256 [32]byte

	groups        int64
	least, most   int64 // records of a group
	before, after float64
	squares       []float64 // by numeric axis, about the centre of the table
	penalty       float64
	missing       []int64 // by quasi-identifier: groups that show a value that looks missing
	inside        [][]bool
	formulas      formula.Count
}

// Encode is what the driver passes on to [Job.Check] and [Job.Commit]. It begins with
//
//	u8 1 | u8 kind | u16 0 | u32 first bucket | u64 rows
func (m *Made) Encode(j *Job) []byte {
	dst := []byte{kindMade, m.Kind, 0, 0}
	dst = binary.LittleEndian.AppendUint32(dst, uint32(m.Buckets[0]))
	dst = binary.LittleEndian.AppendUint64(dst, uint64(m.Rows))
	dst = append(dst, version)
	dst = append(dst, j.id[:]...)
	dst = binary.AppendUvarint(dst, uint64(len(m.Buckets)))
	dst = binary.AppendUvarint(dst, uint64(m.Persons))
	if m.Kind != MadeFile {
		return dst
	}
	dst = appendText(dst, []byte(m.Name))
	dst = binary.AppendUvarint(dst, uint64(m.Size))
	dst = append(append(dst, m.SHA256[:]...), m.PersonsSHA256[:]...)
	for _, n := range []int64{m.groups, m.least, m.most} {
		dst = binary.AppendUvarint(dst, uint64(n))
	}
	dst = appendFloat(appendFloat(appendFloat(dst, m.before), m.after), m.penalty)
	dst = binary.AppendUvarint(dst, uint64(len(m.squares)))
	for _, q := range m.squares {
		dst = appendFloat(dst, q)
	}
	dst = binary.AppendUvarint(dst, uint64(len(m.missing)))
	for _, n := range m.missing {
		dst = binary.AppendUvarint(dst, uint64(n))
	}
	dst = binary.AppendUvarint(dst, uint64(len(m.inside)))
	for _, way := range m.inside {
		dst = binary.AppendUvarint(dst, uint64(len(way)))
		for _, is := range way {
			dst = appendFlag(dst, is)
		}
	}
	dst = binary.AppendUvarint(dst, uint64(len(m.formulas.Cells)))
	for i, n := range m.formulas.Cells {
		dst = appendFlag(binary.AppendUvarint(dst, uint64(n)), m.formulas.Names[i])
	}
	return dst
}

// DecodeMade reads what [Made.Encode] wrote for a job.
func DecodeMade(j *Job, frame []byte) (*Made, error) {
	s := &source{b: frame}
	kind := s.u8()
	m := &Made{Kind: s.u8()}
	zero, first := s.u16(), s.u32()
	m.Rows = int64(s.u64())
	if kind != kindMade || zero != 0 || !s.versionOf(j.id) || m.Kind < MadeFile || m.Kind > MadeEmpty ||
		m.Rows < 0 || m.Rows > partition.SampleMost {
		return nil, malformed("the result of a bucket of this job")
	}
	n := s.number(1 << 20)
	for b := range n {
		m.Buckets = append(m.Buckets, int(first)+b)
	}
	m.Persons = int64(s.number(partition.SampleMost))
	if m.Kind == MadeFile {
		m.take(s)
	}
	if !s.ended() || n == 0 || m.Kind == MadeFile && !m.holds(j) {
		return nil, malformed("the result of a bucket of this job")
	}
	return m, nil
}

// take takes what is known of a file.
func (m *Made) take(s *source) {
	m.Name = string(s.text())
	m.Size = int64(s.number(math.MaxInt64))
	copy(m.SHA256[:], s.take(32))
	copy(m.PersonsSHA256[:], s.take(32))
	m.groups, m.least, m.most = int64(s.number(partition.SampleMost)), int64(s.number(partition.SampleMost)),
		int64(s.number(partition.SampleMost))
	m.before, m.after, m.penalty = s.f64(), s.f64(), s.f64()
	for range s.count(8) {
		m.squares = append(m.squares, s.f64())
	}
	for range s.count(1) {
		m.missing = append(m.missing, int64(s.number(partition.SampleMost)))
	}
	for range s.count(1) {
		way := make([]bool, s.count(1))
		for at := range way {
			way[at] = s.flag()
		}
		m.inside = append(m.inside, way)
	}
	for range s.count(2) {
		m.formulas.Cells = append(m.formulas.Cells, int64(s.number(partition.SampleMost)))
		m.formulas.Names = append(m.formulas.Names, s.flag())
	}
}

// holds reports whether a file is one that a bucket of the job is written to.
func (m *Made) holds(j *Job) bool {
	attempt, ok := strings.CutPrefix(m.Name, strings.TrimSuffix(j.tempName(m.Buckets[0], ""), j.After))
	attempt, after := strings.CutSuffix(attempt, j.After)
	return ok && after && isAttempt(attempt) && m.Rows > 0 && m.groups > 0 && m.groups <= m.Rows && m.least > 0 && m.least <= m.most &&
		m.most <= m.Rows && len(m.missing) == len(j.quasi()) &&
		(len(m.formulas.Cells) == 0 || len(m.formulas.Cells) == len(j.written()))
}

// attemptDigits is the number of hexadecimal digits of the name of an attempt.
const attemptDigits = 12

func isAttempt(s string) bool {
	return len(s) == attemptDigits && strings.Trim(s, "0123456789abcdef") == ""
}
