package ldp

import (
	"crypto/hkdf"
	"crypto/sha256"
	"encoding/binary"
	"math/bits"
)

// Permanent answers of the first version of the streams. Their messages lack the
// probabilities and the domain: two surveys of one question with other epsilons share a
// stream, and together tell the value. They remain for one purpose: a survey that began
// under them goes on without a second lifetime. A secret may finish one survey so.

// Finishing is [Longitudinal.Device] with the permanent answers of the first version of
// the streams, for a survey that began under it. The loss of all its reports is that of
// one lifetime if the secret answered no other survey of this question by this mechanism
// on as many labels.
func (m *Longitudinal) Finishing(secret []byte, question string) (*Device, error) {
	if err := checkSecret(secret); err != nil {
		return nil, err
	}
	return m.device(secret, []byte("noren ldp permanent "+m.permanents), []byte(question), whole(uint32(m.Domain()))), nil
}

// Finishing is the device with the secret and the cohort that the first version of the
// streams derived from a device's secret and a metric, for a survey that began under it.
// The loss of all its reports is that of one lifetime if the secret answered no other
// survey of this metric.
func (r *Rappor) Finishing(secret []byte, metric string) (*RapporDevice, error) {
	own, err := FinishingSecret(secret, metric)
	if err != nil {
		return nil, err
	}
	b, err := hkdf.Key(sha256.New, secret, []byte("noren ldp cohort"), metric, 8)
	if err != nil {
		return nil, err
	}
	cohort, _ := bits.Mul64(binary.LittleEndian.Uint64(b), uint64(r.M))
	return r.Device(own, uint32(cohort))
}

// FinishingSecret is the secret that the first version of [Rappor.MetricSecret] derived:
// of the metric's name alone. It serves one metric with one f, k, h and m.
func FinishingSecret(secret []byte, metric string) ([]byte, error) {
	if err := checkSecret(secret); err != nil {
		return nil, err
	}
	return hkdf.Key(sha256.New, secret, nil, "noren rappor "+metric, sha256.Size)
}
