package survey

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"math"
	"slices"
	"strings"

	"github.com/noren-privacy/noren"
	"github.com/noren-privacy/noren/internal/meter"
	"github.com/noren-privacy/noren/ldp"
)

// KeyFile is the file of a key of devices: the key, and what it was used for. The first
// line is the key in hexadecimal digits, the second a JSON object. A file of the first
// version of the streams has the first line alone.
type KeyFile struct {
	// Version is that of the streams under which the key was made: 1 or 2.
	Version int `json:"version"`
	// Uses are the surveys that were answered, each once.
	Uses []Use `json:"uses"`

	key []byte
}

// Use is what a key answered of one survey. It names nothing of a person.
type Use struct {
	// Question of the survey.
	Question string `json:"question"`
	// Mechanism of the survey.
	Mechanism string `json:"mechanism"`
	// Stream of the permanent answers; see [Survey.Stream].
	Stream string `json:"stream"`
	// Columns are those that were reported under the question, each once.
	Columns []string `json:"columns,omitempty"`
	// Finishing says that the answers are those of the first version of the streams, and
	// First is the question as these have it: empty where the specification states none.
	Finishing bool   `json:"finishing,omitempty"`
	First     string `json:"first,omitempty"`
	// Rounds is the number of times that the survey was answered.
	Rounds int `json:"rounds"`
	// Records is the largest number of records of one person in a round.
	Records int `json:"records"`
	// Epsilon is the loss of one round of a person: of as many reports as it has records.
	Epsilon float64 `json:"epsilon"`
	// Lifetime is the loss of all reports of a person with one record whose value stays; 0
	// where nothing bounds it.
	Lifetime float64 `json:"lifetime,omitempty"`
}

// Cost is the loss of what a person answered whose values stayed: that of the one round, or
// that of a lifetime for each record, as records may differ in their value. Which of the
// records have equal values is not covered: equal values have one permanent answer. It is
// infinite where nothing bounds it.
func (u *Use) Cost() float64 {
	switch {
	case u.Rounds == 1 && !u.Finishing:
		return u.Epsilon
	case u.Lifetime == 0:
		return math.Inf(1)
	}
	return noren.ComposedLoss(u.Records, u.Lifetime)
}

// lossOfRound is the loss of n reports of a person, whatever the values, given which of them
// are equal: with n_j reports of value j it is the sum of [ldp.LossAfter] of all n_j, which
// is at most n times the largest loss of j reports divided by j. That can be more than n
// times the loss of one report.
func (s *Survey) lossOfRound(n int) float64 {
	loss := s.Loss()
	var m any = s.rappor
	if s.device != nil {
		m = s.device
	}
	if math.IsInf(loss.Lifetime, 1) { // no permanent answer: reports are independent given the value
		return noren.ComposedLoss(n, loss.Record)
	}
	each := loss.Record
	for j := 2; j <= min(n, mostTried); j++ {
		each = max(each, ldp.LossAfter(m, loss, j)/float64(j))
	}
	if n > mostTried {
		each = max(each, loss.Lifetime/mostTried)
	}
	if n == 1 {
		return each
	}
	return min(float64(n)*each*(1+0x1p-50), noren.ComposedLoss(n, loss.Lifetime))
}

// mostTried is the number of equal values up to which the loss of a round is computed; a
// larger number costs no more than a lifetime.
const mostTried = 64

// NewKeyFile is the file of a new key.
func NewKeyFile(key []byte) (*KeyFile, error) {
	if _, err := NewDevices(key); err != nil {
		return nil, err
	}
	return &KeyFile{Version: 2, key: slices.Clone(key)}, nil
}

// ParseKey reads a file of either version.
func ParseKey(name string, text []byte) (*KeyFile, error) {
	bad := &noren.Error{
		Kind: noren.Usage, Where: noren.File(name), What: "is no key of devices: 64 hexadecimal digits",
		Hint: "name a file that does not exist, and one is made",
	}
	first, rest, _ := bytes.Cut(bytes.TrimSpace(text), []byte("\n"))
	key, err := hex.DecodeString(strings.TrimSpace(string(first)))
	if err != nil || len(key) != keySize {
		return nil, bad
	}
	k := &KeyFile{Version: 1, key: key}
	rest = bytes.TrimSpace(rest)
	if len(rest) == 0 {
		return k, nil
	}
	if err := meter.Document(rest, noren.File(name)); err != nil {
		return nil, err
	}
	bad.Saying("what the key of the devices was used for is damaged").
		Hinted("restore the file from a copy: without it, the sum of the losses is not known")
	if json.Unmarshal(rest, k) != nil || k.Version < 1 || k.Version > 2 {
		return nil, bad
	}
	for _, u := range k.Uses {
		if u.Rounds < 1 || u.Records < 1 || !(u.Epsilon > 0 && u.Lifetime >= 0) || u.Stream == "" {
			return nil, bad
		}
	}
	return k, nil
}

// Encode writes the file, as ParseKey reads it.
func (k *KeyFile) Encode() ([]byte, error) {
	uses, err := json.Marshal(k)
	if err != nil {
		return nil, &noren.Error{What: "what a key was used for cannot be written", Err: err}
	}
	return slices.Concat(hex.AppendEncode(nil, k.key), []byte("\n"), uses, []byte("\n")), nil
}

// Devices are those of the key, for a survey: with the permanent answers of the first
// version of the streams where finishing says so.
func (k *KeyFile) Devices(finishing bool) *Devices {
	return &Devices{key: slices.Clone(k.key), finish: finishing}
}

func (k *KeyFile) find(stream string, finishing bool) *Use {
	for i := range k.Uses {
		if u := &k.Uses[i]; u.Stream == stream && u.Finishing == finishing {
			return u
		}
	}
	return nil
}

// checkQuestion refuses devices for a survey without a question.
func (s *Survey) checkQuestion(finishing bool) error {
	if strings.TrimSpace(s.Question()) == "" && !finishing {
		return fault("question", noren.Textf("is needed: permanent answers belong to one question"),
			noren.Textf("name the question, or the column that is reported"))
	}
	return nil
}

// AnswersAnew tells whether the next answers of the survey begin permanent answers anew
// though a survey under way may have others: the key was made under the first version of
// the streams, and has not answered this survey under the second; and it has answered none
// at all, or finishes this one.
func (k *KeyFile) AnswersAnew(s *Survey) bool {
	if k.Version != 1 || k.find(s.Stream(), false) != nil {
		return false
	}
	second := slices.ContainsFunc(k.Uses, func(u Use) bool { return !u.Finishing })
	return !second || k.find(s.Stream(), true) != nil
}

// Check tells whether the key may answer a survey. Finishing is refused for a key that was
// made under the second version of the streams, for a second survey, and for one that was
// answered under the second.
func (k *KeyFile) Check(s *Survey, finishing bool) error {
	if err := s.checkQuestion(finishing); err != nil || !finishing {
		return err
	}
	stream := s.Stream()
	if k.Version != 1 {
		return fault("finish", noren.Textf("the key was made by this version, and no survey under way began before it"),
			noren.Textf("leave it out"))
	}
	if k.find(stream, false) != nil {
		return fault("finish", noren.Textf("the key has answered this survey by this version already: both together cost two lifetimes"),
			noren.Textf("leave it out"))
	}
	for _, u := range k.Uses {
		if u.Finishing && u.Stream != stream {
			return fault("finish", noren.Textf("the key finishes another survey already, and its first answers serve one"),
				noren.Textf("leave it out"))
		}
		if u.Finishing && u.First != s.spec.Question {
			return fault("finish", noren.Textf("the key finishes this survey with the question stated as %q, and with %q its first answers are "+
				"others", u.First, s.spec.Question), noren.Textf("state the question as the survey began, or leave it out where it did not"))
		}
	}
	return nil
}

// OtherColumn is a column other than those of the survey that the key answered under the
// same permanent answers, "" where there is none. Two attributes of a person that are asked
// so cost more than one lifetime: whether their values are equal is seen.
func (k *KeyFile) OtherColumn(s *Survey, finishing bool) string {
	u := k.find(s.Stream(), finishing)
	if u == nil {
		return ""
	}
	for _, name := range u.Columns {
		if !slices.Contains(s.Columns(), name) {
			return name
		}
	}
	return ""
}

// Add notes that the key answers a survey once more, with this number of records of the
// person who has most.
func (k *KeyFile) Add(s *Survey, finishing bool, records int) error {
	if err := k.Check(s, finishing); err != nil {
		return err
	}
	stream, loss := s.Stream(), s.Loss()
	u := k.find(stream, finishing)
	if u == nil {
		k.Uses = append(k.Uses, Use{Question: s.Question(), Mechanism: s.Mechanism(), Stream: stream, Finishing: finishing})
		u = &k.Uses[len(k.Uses)-1]
		if finishing {
			u.First = s.spec.Question
		}
	}
	for _, name := range s.Columns() {
		if name != "" && !slices.Contains(u.Columns, name) {
			u.Columns = append(u.Columns, name)
		}
	}
	u.Rounds++
	u.Records = max(u.Records, records, 1)
	u.Epsilon = max(u.Epsilon, s.lossOfRound(max(records, 1)))
	if !math.IsInf(loss.Lifetime, 1) {
		u.Lifetime = max(u.Lifetime, loss.Lifetime)
	}
	return nil
}

// Sum is the loss of all that a person answered under the key, whose values stay: the sum
// over surveys, since their answers are independent. What a key of the first version
// answered before it was read by this one is not in it.
func (k *KeyFile) Sum() float64 {
	sum := 0.0
	for i := range k.Uses {
		sum = noren.AddedLoss(sum, k.Uses[i].Cost())
	}
	return sum
}
