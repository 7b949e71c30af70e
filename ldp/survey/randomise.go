package survey

import (
	"cmp"
	"crypto/hkdf"
	"crypto/sha256"
	"encoding/binary"

	"github.com/noren-privacy/noren"
	"github.com/noren-privacy/noren/ldp"
	"github.com/noren-privacy/noren/noise"
)

// keySize is the length of keys and secrets, in bytes.
const keySize = 32

// Devices holds the secrets of many devices as one key, for a program that makes
// their reports: the secret of a client is HKDF-SHA256 of the key and the
// client's id. The same key and id give the same permanent answers, round after
// round, which is what bounds the loss of a lifetime. Real devices have each their
// own. An answer is a function of the question, the domain and all parameters, too:
// surveys that differ in any have independent answers, and their losses add up.
type Devices struct {
	key    []byte
	finish bool
}

// Finishing are the devices with the permanent answers of the first version of the
// streams, for one survey that began under it (see [ldp.Longitudinal.Finishing]).
func (d *Devices) Finishing() *Devices { return &Devices{key: d.key, finish: true} }

// NewDevices returns the devices under a key of 32 bytes.
func NewDevices(key []byte) (*Devices, error) {
	if len(key) != keySize {
		return nil, fault("key", noren.Textf("must be %d random {byte|bytes}", keySize), noren.Text{})
	}
	return &Devices{key: append([]byte(nil), key...)}, nil
}

// NewKey draws a key.
func NewKey(src *noise.Source) ([]byte, error) {
	key := make([]byte, 0, keySize)
	for len(key) < keySize {
		w, err := src.Uint64()
		if err != nil {
			return nil, err
		}
		key = binary.LittleEndian.AppendUint64(key, w)
	}
	return key, nil
}

// secret is a client's own.
func (d *Devices) secret(client string) ([]byte, error) {
	return hkdf.Key(sha256.New, d.key, nil, "noren ldp device "+client, keySize)
}

// Remembers tells whether the mechanism keeps a secret on the device, so that
// repeated reports of a value that stays cost no more than a lifetime's loss.
func (s *Survey) Remembers() bool { return s.device != nil || s.rappor != nil }

// Randomise makes the report of one person with these values, the text of one
// value for each attribute. The device's secret is not kept: another report of
// the same person costs again. It is what the line of a file holds, without the
// client's id.
func (s *Survey) Randomise(src *noise.Source, values []string) (string, error) {
	if !s.Remembers() {
		return s.randomise(src, nil, values)
	}
	secret, err := NewKey(src)
	if err != nil {
		return "", err
	}
	return s.randomise(src, &device{secret: secret, question: cmp.Or(s.Question(), "once")}, values)
}

// RandomiseFor is Randomise for the device of a client. The survey must have a question
// where it remembers.
func (s *Survey) RandomiseFor(src *noise.Source, d *Devices, client string, values []string) (string, error) {
	secret, err := d.secret(client)
	if err != nil {
		return "", err
	}
	return s.randomise(src, &device{secret: secret, question: s.Question(), finish: d.finish}, values)
}

// device is what a report is made with: a secret and what its permanent answers are of.
type device struct {
	secret   []byte
	question string
	finish   bool // by the first version of the streams, which took the question as written
}

func (s *Survey) randomise(src *noise.Source, of *device, values []string) (string, error) {
	if len(values) != len(s.answers) {
		return "", &noren.Error{
			Kind: noren.Usage, What: "%d {value was|values were} given for %d {attribute|attributes}",
			Args: []any{len(values), len(s.answers)},
		}
	}
	a := &s.answers[0]
	switch {
	case s.multi != nil:
		return s.randomiseSeveral(src, values)
	case s.mean != nil:
		x, err := a.number(values[0])
		if err != nil {
			return "", err
		}
		symbol, err := s.mean.Randomise(src, x)
		return s.mean.Format(symbol), err
	case s.wave != nil:
		x, err := a.number(values[0])
		if err != nil {
			return "", err
		}
		cell, err := s.wave.Randomise(src, x)
		return s.wave.Format(cell), err
	case s.rappor != nil:
		return s.randomiseRappor(src, of, values[0])
	}
	label, err := a.labelOf(values[0])
	if err != nil {
		return "", err
	}
	var r ldp.Report
	if s.device != nil {
		var d *ldp.Device
		if of.finish {
			d, err = s.device.Finishing(of.secret, s.spec.Question)
		} else {
			d, err = s.device.Device(of.secret, of.question, s.domain)
		}
		if err != nil {
			return "", err
		}
		r, err = d.Report(src, label)
	} else {
		r, err = s.oracle.Randomise(src, label)
	}
	if err != nil {
		return "", err
	}
	return s.oracle.Format(r), nil
}

func (s *Survey) randomiseRappor(src *noise.Source, of *device, value string) (string, error) {
	var d *ldp.RapporDevice
	var err error
	if of.finish {
		d, err = s.rappor.Finishing(of.secret, s.spec.Question)
	} else {
		d, err = s.rappor.DeviceOf(of.secret, of.question, s.domain)
	}
	if err != nil {
		return "", err
	}
	var r ldp.RapporReport
	if s.kind == Words {
		r, err = d.Encode(src, []byte(value))
	} else {
		var label int
		if label, err = s.answers[0].labelOf(value); err == nil {
			r, err = d.EncodeLabel(src, label)
		}
	}
	if err != nil {
		return "", err
	}
	return s.rappor.Format(r), nil
}

func (s *Survey) randomiseSeveral(src *noise.Source, values []string) (string, error) {
	record := make([]float64, len(values))
	for j, text := range values {
		var err error
		if record[j], err = s.answers[j].value(text); err != nil {
			return "", &noren.Error{Kind: noren.KindOf(err), Where: noren.Textf("column %s", s.spec.Attributes[j].Column), Err: err}
		}
	}
	parts, err := s.multi.Randomise(src, record)
	if err != nil {
		return "", err
	}
	return s.multi.Format(parts), nil
}
