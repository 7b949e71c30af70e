package kanon

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/binary"

	"github.com/noren-privacy/noren/internal/identity"
	"github.com/noren-privacy/noren/kanon/publish"
	"github.com/noren-privacy/noren/kanon/records"
	"github.com/noren-privacy/noren/table"
	"github.com/noren-privacy/noren/table/shuffle"
)

// Ordered is all that the secret order of a seeded release depends on beside the seed.
type Ordered struct {
	// Source is the sum of the table as it was read ([table.Sum]).
	Source [table.SumSize]byte
	// Request is the sum of all parameters that the release depends on.
	Request [sha256.Size]byte
	// Made is the sum of the groups of the records and of what they publish ([MadeSum]).
	Made [sha256.Size]byte
	// Part names the part of a release in several files that are shuffled each by itself:
	// the numbers of its buckets. Empty for a release that is shuffled as a whole.
	Part []int
}

// Seeded reports whether a seed fixes the release.
func (o *Options) Seeded() bool { return o.SecretSeed != nil || o.Seed != nil }

// OrderKey is the key of the order of a seeded release, or of one part of it: the key of
// ChaCha8 in [shuffle.Keyed]. It is
//
//	purpose: the secret order of the rows of a release
//	key:     SHA-256("noren/kanon/order/2" NUL seed), of a whole number as the seed
//	         SHA-256("noren/kanon/order/2/insecure" NUL 8 bytes, lowest first)
//	message: "noren/kanon/order/2" NUL, 32 bytes each of Source, Request and Made,
//	         4 bytes of the number of parts and of each part, lowest first
//	stream:  HMAC-SHA256(key, message)
//
// Guarantee: releases that differ in anything of [Ordered] have independent orders to
// everybody without the seed, so that they cannot be joined line by line; releases that
// agree in all of it are the same release. Assumptions: the seed is secret and hard to
// guess (16 bytes from a random source; a whole number is not), HMAC-SHA256 is a
// pseudorandom function, ChaCha8 a pseudorandom generator, and SHA-256 has no collision
// among the releases. Proof: docs/k-anonymity.md, "The order of the rows".
//
// The message has one form only, so that two of them are equal exactly if their parts are.
// The label is in no other use of a seed: the search uses SHA-256("noren/kanon/search" NUL
// seed), and what follows from it protects nothing. Pseudonyms and the keys of jobs in
// shards follow from no seed.
func (o *Options) OrderKey(of *Ordered) (key [sha256.Size]byte) {
	var secret [sha256.Size]byte
	if o.SecretSeed != nil {
		secret = o.derived("order/2")
	} else {
		secret = sha256.Sum256(binary.LittleEndian.AppendUint64([]byte("noren/kanon/order/2/insecure\x00"), *o.Seed))
	}
	message := []byte("noren/kanon/order/2\x00")
	message = append(message, of.Source[:]...)
	message = append(message, of.Request[:]...)
	message = append(message, of.Made[:]...)
	message = binary.LittleEndian.AppendUint32(message, uint32(len(of.Part)))
	for _, n := range of.Part {
		message = binary.LittleEndian.AppendUint32(message, uint32(n))
	}
	mac := hmac.New(sha256.New, secret[:])
	mac.Write(message)
	return [sha256.Size]byte(mac.Sum(nil))
}

// requestSum is the sum of all of a job that its release depends on beside source and seed.
func (j *Job) requestSum() ([sha256.Size]byte, error) {
	return identity.OfFields("noren/kanon/release/1", j, unordered)
}

// RequestSum is the sum of what a release in shards depends on beside the source and the
// seed: its options, and what else its job has in further.
func (o *Options) RequestSum(further any, except identity.Except) ([sha256.Size]byte, error) {
	own, err := identity.OfFields("noren/kanon/options/1", o, unordered)
	if err != nil {
		return own, err
	}
	job, err := identity.OfFields("noren/kanon/shards/1", further, except)
	if err != nil {
		return own, err
	}
	return sha256.Sum256(append(own[:], job[:]...)), nil
}

// MadeSum is the sum of what was made of the records: the group of each, which records are
// left out, and the values that each group publishes. Two releases by the same request can
// differ in it where a clock limits the search or where the program is another one; their
// orders are then independent as well.
func MadeSum(groups []uint32, n int, left []bool, published []publish.Column) [sha256.Size]byte {
	h := sha256.New()
	buf := append(make([]byte, 0, sumRows*4+64), "noren/kanon/made/1\x00"...)
	for _, size := range []int{len(groups), n, len(left), len(published)} {
		buf = binary.LittleEndian.AppendUint64(buf, uint64(size))
	}
	for from := 0; from < len(groups); from += sumRows {
		for _, g := range groups[from:min(from+sumRows, len(groups))] {
			buf = binary.LittleEndian.AppendUint32(buf, g)
		}
		h.Write(buf)
		buf = buf[:0]
	}
	for _, is := range left {
		buf = append(buf, 0)
		if is {
			buf[len(buf)-1] = 1
		}
		if len(buf) == sumRows {
			h.Write(buf)
			buf = buf[:0]
		}
	}
	h.Write(buf)
	var values table.Vector
	some := make([]uint32, 0, sumRows)
	for i := range published {
		for from := 0; from < n; from += sumRows {
			some = some[:0]
			for g := from; g < min(from+sumRows, n); g++ {
				some = append(some, uint32(g))
			}
			published[i].Fill(&values, some)
			table.SumInto(h, &values, len(some))
		}
	}
	return [sha256.Size]byte(h.Sum(nil))
}

// sumRows is how many records or groups are summed at once.
const sumRows = 4096

// order is the secret order in which the records are written, nil where their own order is
// kept.
func (r *run) order(m *made) ([]uint32, error) {
	switch {
	case r.job.KeepOrder:
		return nil, nil
	case !r.job.Seeded():
		return shuffle.Permutation(r.result.Rows)
	}
	request, err := r.job.requestSum()
	if err != nil {
		return nil, err
	}
	sum := MadeSum(m.groups.Group, m.groups.Groups, m.left, m.published)
	return shuffle.Keyed(r.result.Rows, r.job.OrderKey(&Ordered{Source: r.source, Request: request, Made: sum}))
}

// summing reads by read, and takes the sum of the source where the order depends on it.
func (r *run) summing(ctx context.Context, read func() (*records.Table, error)) (*records.Table, error) {
	if !r.job.Seeded() || r.job.KeepOrder {
		return read()
	}
	table.KeepSum(r.job.Source)
	in, err := read()
	if err != nil {
		return nil, err
	}
	if r.source, err = table.Sum(ctx, r.job.Source); err != nil {
		in.Close()
		return nil, err
	}
	return in, nil
}
