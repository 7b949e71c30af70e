package ldp

import (
	"crypto/hkdf"
	"crypto/sha256"
	"encoding/binary"
	"math"
	"math/bits"
	"strings"

	"github.com/noren-privacy/noren"
)

// The streams of a device are functions of its secret: its permanent answers and its
// cohort come out the same again without being remembered. Two uses of one stream with
// another threshold tell the value (a bit that rises between them is the true label's),
// so the message of each stream holds everything that fixes the distribution of what is
// drawn from it: the mechanism, the question, the domain and the probabilities. They are
// hashed into one identity; the labels below say what is drawn. docs/threat-model.md,
// "Randomness that is used once", has the proof that no two uses share a stream.
const (
	permanentStream = "noren ldp permanent 2"
	metricStream    = "noren ldp metric 2 "
	cohortStream    = "noren ldp cohort 2 "
)

// identity is the SHA-256 of all that fixes the distribution of a device's permanent
// answers. It holds nothing private.
type identity [sha256.Size]byte

// identityOf hashes parts with their lengths, so that no two lists of parts make one
// message. Every mechanism has a fixed number of parts before the names of the domain.
func identityOf(mechanism, question string, domain []string, parameters ...[]byte) identity {
	h := sha256.New()
	part := func(b []byte) {
		var size [4]byte
		binary.BigEndian.PutUint32(size[:], uint32(len(b)))
		h.Write(size[:])
		h.Write(b)
	}
	part([]byte("noren ldp stream 2"))
	part([]byte(mechanism))
	part([]byte(question))
	for _, p := range parameters {
		part(p)
	}
	for _, name := range domain {
		part([]byte(name))
	}
	return identity(h.Sum(nil))
}

// whole is a parameter that is a whole number.
func whole(v uint32) []byte { return binary.BigEndian.AppendUint32(nil, v) }

// real is a parameter that is a number, as IEEE 754.
func real(v float64) []byte { return binary.BigEndian.AppendUint64(nil, math.Float64bits(v)) }

// minSecret is the least length of a device's secret, in bytes.
const minSecret = 16

func checkSecret(secret []byte) error {
	if len(secret) < minSecret {
		return &noren.Error{Kind: noren.Usage, Where: "secret", What: "must be 16 random bytes or more"}
	}
	return nil
}

// checkQuestion refuses a question without a name: two of them would share their
// permanent answers, and whether a person's two values are equal would be seen.
func checkQuestion(question string) error {
	if strings.TrimSpace(question) == "" {
		return &noren.Error{
			Kind: noren.Usage, Where: "question", What: "is needed: permanent answers belong to one question",
			Hint: "give every question a name of its own",
		}
	}
	return nil
}

// identity of the permanent answers. Their probabilities follow from the mechanism, the
// number of labels and the loss of a lifetime, which are the same on every machine where
// the last bit of an exponential may not be. Reports are made from the permanent answer by
// fresh randomness, so that another loss of one report needs no other permanent answer,
// and costs no further lifetime.
func (m *Longitudinal) identity(question string, domain []string) identity {
	return identityOf("longitudinal-"+m.permanents, question, domain, whole(uint32(m.Domain())), real(m.loss.Lifetime))
}

// identity of the permanent responses: everything but p and q, which belong to the
// instantaneous step and need no other permanent response.
func (r *Rappor) identity(question string, domain []string) identity {
	return identityOf("rappor", question, domain, []byte{byte(r.rule)}, []byte(r.encode),
		whole(uint32(r.K)), whole(uint32(r.H)), binary.BigEndian.AppendUint64(nil, uint64(r.M)), whole(uint32(r.f128)))
}

// Stream identifies the permanent answers of a question: two surveys have the same one if
// and only if a secret gives them the same permanent answers. It is public.
func (m *Longitudinal) Stream(question string, domain ...string) [sha256.Size]byte {
	return m.identity(question, domain)
}

// Stream identifies the permanent responses and the cohort of a question: two surveys have
// the same one if and only if a secret gives them the same ones. It is public.
func (r *Rappor) Stream(question string, domain ...string) [sha256.Size]byte {
	return r.identity(question, domain)
}

// MetricSecret derives the secret for one question from a device's secret of 16 random
// bytes or more (HKDF-SHA256). The permanent response of the reference clients depends on
// the secret and the Bloom bits alone: with one secret for two questions, or for one with
// another f, equal bits have responses that are drawn from one stream. So question, domain
// (the names of the labels in their order, where they have names), rule, k, h, m and f go
// into the derivation; p and q do not, as a device may change them.
func (r *Rappor) MetricSecret(secret []byte, question string, domain ...string) ([]byte, error) {
	id, err := r.checkedIdentity(secret, question, domain)
	if err != nil {
		return nil, err
	}
	return hkdf.Key(sha256.New, secret, nil, metricStream+string(id[:]), sha256.Size)
}

// MetricCohort is the cohort of a device under the same arguments: uniform below M within
// a part in 2^32, and the same every time, as it follows from the secret.
func (r *Rappor) MetricCohort(secret []byte, question string, domain ...string) (uint32, error) {
	id, err := r.checkedIdentity(secret, question, domain)
	if err != nil {
		return 0, err
	}
	b, err := hkdf.Key(sha256.New, secret, nil, cohortStream+string(id[:]), 8)
	if err != nil {
		return 0, err
	}
	c, _ := bits.Mul64(binary.LittleEndian.Uint64(b), uint64(r.M))
	return uint32(c), nil
}

func (r *Rappor) checkedIdentity(secret []byte, question string, domain []string) (identity, error) {
	if err := checkSecret(secret); err != nil {
		return identity{}, err
	}
	if err := checkQuestion(question); err != nil {
		return identity{}, err
	}
	return r.identity(question, domain), nil
}
