// Package identity makes the names by which things are found again: an answer that a
// ledger stores, a column or a result that a process keeps, a public table, the definition
// of a data set, a part of a job.
//
// # The rule
//
// Two things have one identity only if nothing that either depends on differs. So an
// identity covers all that determines a thing:
//
//   - a public file: all of its bytes, by SHA-256, and what was read of it;
//   - a private table: ledger, data set, version and definition; in memory also the keyed
//     prints of the version, which follow from these;
//   - a request: every field, with defaults filled in;
//   - the version of an algorithm, where it is not the first.
//
// What an identity covers is one value. [Of] makes the identity of its canonical JSON, [Data]
// that of lists that are too long for JSON, and [OfFields] that of a value in Go with all
// its fields, for keys that stay in a process. The kind names the form: values of two kinds
// have no identity in common.
//
// # Privacy
//
// Certificates state the hash of a request, and are public: nothing private goes into it, and
// no hash of private bytes but under a secret key (an HMAC). An identity that stays
// in the memory of a process may cover keyed prints.
package identity

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"hash"
	"math"

	"github.com/noren-privacy/noren/certificate"
)

// ID identifies a thing.
type ID [sha256.Size]byte

// String is the identity as 64 hexadecimal digits.
func (id ID) String() string { return hex.EncodeToString(id[:]) }

// Of is the identity of a value: SHA-256(kind, a zero byte, canonical JSON of v). Errors are
// those of [Form].
func Of(kind string, v any) (ID, error) {
	form, err := Form(v)
	if err != nil {
		return ID{}, err
	}
	return sha256.Sum256(append([]byte(kind+"\x00"), form...)), nil
}

// Form is the canonical JSON of a value (package certificate). It is an error where v has
// none: of two texts that are not UTF-8, for which the encoder writes one sign, neither has.
func Form(v any) (json.RawMessage, error) {
	text, err := json.Marshal(v)
	if err != nil {
		return nil, err
	}
	return certificate.Canonical(text)
}

// Data is the SHA-256 of data that are too large for JSON. Each list is written with its
// length, so that different sequences of lists have different bytes.
type Data struct{ sum hash.Hash }

// NewData begins a sequence of lists. kind is as for [Of].
func NewData(kind string) *Data {
	d := &Data{sha256.New()}
	d.Text(kind)
	return d
}

func (d *Data) size(n int) { d.sum.Write(binary.BigEndian.AppendUint64(nil, uint64(n))) }

// Text adds a text.
func (d *Data) Text(s string) {
	d.size(len(s))
	d.sum.Write([]byte(s))
}

// Floats adds a list of numbers by their bits. All values that are no numbers are one.
func (d *Data) Floats(values []float64) {
	d.size(len(values))
	block := make([]byte, 0, 8<<10)
	for _, v := range values {
		if math.IsNaN(v) {
			v = math.NaN()
		}
		block = binary.BigEndian.AppendUint64(block, math.Float64bits(v))
		if len(block) == cap(block) {
			d.sum.Write(block)
			block = block[:0]
		}
	}
	d.sum.Write(block)
}

// Bools adds a list of truth values.
func (d *Data) Bools(values []bool) {
	d.size(len(values))
	block := make([]byte, len(values))
	for i, v := range values {
		if v {
			block[i] = 1
		}
	}
	d.sum.Write(block)
}

// Int adds a number.
func (d *Data) Int(n int) { d.size(n) }

// ID is the identity of all that was added.
func (d *Data) ID() (id ID) {
	d.sum.Sum(id[:0])
	return id
}
