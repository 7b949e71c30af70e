package survey

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"strconv"

	"github.com/noren-privacy/noren/internal/identity"
)

// Question is the name of the question: the one that the specification states, or else the
// column of its one attribute. It is empty where there is neither.
func (s *Survey) Question() string { return cmp.Or(s.spec.Question, s.spec.Column) }

// texts adds texts to an identity.
func texts(d *identity.Data, list ...string) {
	for _, text := range list {
		d.Text(text)
	}
}

// domainHash is the SHA-256 of what the values of all attributes mean: the names of labels
// in their order and the one for all others, the edges of bins, or the range of a number.
func (s *Survey) domainHash() string {
	d := identity.NewData("noren ldp domain 1")
	for j := range s.answers {
		at := &s.spec.Attribute
		if s.kind == Several {
			at = &s.spec.Attributes[j]
			d.Text(at.Column)
		}
		a := &s.answers[j]
		switch {
		case a.label != nil:
			texts(d, "labels", at.Other, strconv.Itoa(len(a.names)))
			texts(d, a.names...)
		case at.Bins != nil: // as stated: computed edges may differ in the last bit between machines
			texts(d, "bins")
			d.Floats([]float64{at.Bins.Low, at.Bins.High, float64(at.Bins.Count)})
		case len(at.Edges) > 0:
			texts(d, "edges")
			d.Floats([]float64{at.EdgesEpsilon})
			d.Floats(at.Edges)
		case a.names != nil:
			texts(d, "size", strconv.Itoa(len(a.names)))
		case s.kind == Words:
			texts(d, "words")
		default:
			texts(d, "range")
			d.Floats([]float64{a.lo, a.hi, float64(at.Buckets)})
		}
	}
	return d.ID().String()
}

// SHA256 is the SHA-256, in hexadecimal digits, of the canonical form of the specification:
// the question, the domain, the mechanism and all its parameters as they run. It is what
// files of reports name. Surveys of equal SHA256 make reports by one distribution of one
// question. Names of files and of the column of a single attribute are not in it.
func (s *Survey) SHA256() string { return s.sha256Of(s.Question()) }

// SHA256For is SHA256 with the question of this name, for a survey without one.
func (s *Survey) SHA256For(question string) string { return s.sha256Of(cmp.Or(s.Question(), question)) }

// sha256Of is SHA256 for the question of this name.
func (s *Survey) sha256Of(question string) string {
	d := identity.NewData("noren ldp specification 1")
	sp := &s.spec
	switch {
	case s.rappor != nil:
		// One-time is RAPPOR at p = 0 and q = 1, and a wanted epsilon is an f.
		name, r := "rappor", s.rappor
		if s.kind == Shares {
			name = "basic-rappor"
		}
		texts(d, name, question)
		d.Floats([]float64{float64(r.K), float64(r.H), float64(r.M), r.EffectiveF(), r.P, r.Q})
	case s.multi != nil:
		texts(d, sp.Mechanism, question)
		d.Floats([]float64{sp.Epsilon, float64(s.multi.Sampled())})
	default:
		texts(d, sp.Mechanism, question)
		numbers := []float64{sp.Epsilon}
		if s.device != nil {
			numbers = append(numbers, s.device.Loss().Lifetime)
		}
		d.Floats(numbers)
	}
	d.Text(s.domain)
	return d.ID().String()
}

// Stream identifies the permanent answers of the survey: surveys of equal streams share
// them, and cost one lifetime together. It is empty where the mechanism has no memory.
func (s *Survey) Stream() string {
	var id [sha256.Size]byte
	switch {
	case s.device != nil:
		id = s.device.Stream(s.Question(), s.domain)
	case s.rappor != nil:
		id = s.rappor.Stream(s.Question(), s.domain)
	default:
		return ""
	}
	return hex.EncodeToString(id[:])
}
