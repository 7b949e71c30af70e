package ldp

import (
	"crypto/hmac"
	"crypto/md5"
	"crypto/sha256"
	"encoding/binary"
	"hash"
	"math"
	"math/big"

	"github.com/noren-privacy/noren"
	"github.com/noren-privacy/noren/noise"
)

// Params are the parameters of RAPPOR (Erlingsson, Pihur and Korolova 2014), in
// the letters of the reference's params file.
type Params struct {
	K int     `json:"k"` // Number of bits of the Bloom filter, 1 to 32
	H int     `json:"h"` // Number of hash functions, 1 to 16
	M int64   `json:"m"` // Number of cohorts, 1 to 2^32
	P float64 `json:"p"` // Probability that a 0 of the permanent response is sent as 1
	Q float64 `json:"q"` // Probability that a 1 is sent as 1, above P
	F float64 `json:"f"` // Share of the permanent response that is random
}

// Rule is how a client makes the permanent response from its secret. The server
// need not know it, but one client must never change its own: another rule is
// another permanent response, and costs a lifetime's loss again.
type Rule uint8

const (
	// Python is the rule of the reference Python client: f is brought up to a
	// multiple of 1/128, and the HMAC is over the Bloom bits alone, so a secret
	// must serve one question with one set of parameters (see [Rappor.MetricSecret]).
	Python Rule = iota
	// Cpp is the rule of the reference C++ client: f, as a float32, is brought
	// *down* to a multiple of 1/128, and the HMAC is over the encoder's name too.
	Cpp
)

// Rappor is RAPPOR with its parameters. It holds no state and is safe for
// concurrent use.
//
// It is byte-compatible with the reference Python client (google/rappor at
// a13fa964), and with its C++ client in Bloom filter and permanent response.
//
//   - Basic RAPPOR: H = 1, M = 1, and labels instead of words: EncodeLabel.
//   - One-time: P = 0, Q = 1, the instantaneous step does nothing.
//   - Basic One-time: both.
type Rappor struct {
	Params
	rule   Rule
	f128   uint8 // the f that runs, times 128
	p, q   prob
	encode string // Cpp: the encoder's name
}

// NewRappor checks the parameters of the Python rule. All faults are reported together.
func NewRappor(p Params) (*Rappor, error) {
	r := &Rappor{Params: p, rule: Python}
	if p.F >= 0 && p.F <= 1 {
		r.f128 = uint8(math.Ceil(p.F * 128)) // exact: F*128 is a float
	}
	return r.checked()
}

// NewCppRappor checks the parameters of the C++ rule, for the encoder of a name.
// Cohorts must be a power of two.
func NewCppRappor(p Params, encoder string) (*Rappor, error) {
	r := &Rappor{Params: p, rule: Cpp, encode: encoder}
	if p.F >= 0 && p.F <= 1 {
		r.f128 = uint8(float32(p.F) * 128)
	}
	return r.checked()
}

func (r *Rappor) checked() (*Rappor, error) {
	var faults noren.Texts
	fault := func(bad bool, format noren.Format, args ...any) {
		if bad {
			faults = append(faults, noren.Textf(format, args...))
		}
	}
	fault(r.K < 1 || r.K > 32, "k must lie between 1 and 32, the bytes of one HMAC-SHA256")
	fault(r.H < 1 || r.H > 16, "h must lie between 1 and 16, the bytes of one MD5")
	fault(r.M < 1 || r.M > 1<<32, "m must lie between 1 and 2^32")
	fault(r.rule == Cpp && r.M&(r.M-1) != 0, "m must be a power of two")
	for _, v := range []struct {
		name  string
		value float64
	}{{"f", r.F}, {"p", r.P}, {"q", r.Q}} {
		fault(!(v.value >= 0 && v.value <= 1), "%s is a probability", v.name)
	}
	fault(r.P >= r.Q, "p must be below q, or the report says nothing or the reverse")
	if len(faults) == 0 {
		r.p, r.q = up(r.P), down(r.Q)
		fault(math.IsInf(r.Loss().Report, 1),
			"these parameters give no epsilon: a bit that is never turned tells the value (take f above 0, or p above 0 and q below 1)")
	}
	if len(faults) > 0 {
		return nil, &noren.Error{Kind: noren.Usage, Where: noren.Phrase("RAPPOR parameters"), What: "%s", Args: []any{faults}}
	}
	return r, nil
}

// EffectiveF is the f that runs: a multiple of 1/128.
func (r *Rappor) EffectiveF() float64 { return float64(r.f128) / 128 }

// bitProbabilities are those of a reported 1 given a Bloom bit of 1 (q*) and of 0
// (p*), from the f, p and q that run: q* = f (p+q)/2 + (1-f) q, p* with p.
func (r *Rappor) bitProbabilities() (one, zero float64) {
	return rapporBits(r.EffectiveF(), r.p.float(), r.q.float())
}

func rapporBits(f, p, q float64) (one, zero float64) {
	return f*(p+q)/2 + (1-f)*q, f*(p+q)/2 + (1-f)*p
}

// Loss is for what runs, f at its multiple of 1/128:
//
//	one report: h ln(q*(1-p*)/(p*(1-q*))),
//	for ever:   2 h ln((1-f/2)/(f/2)),
//
// and one report is no more than for ever (Erlingsson et al., theorems 1 and 2).
// Two words differ in at most 2h bits, h each way. The cohort is public and
// must not depend on the value.
//
// Both are computed in rationals of the thresholds that run, and rounded up: in floating
// point the differences of p and q near 1 have no digits.
func (r *Rappor) Loss() Loss {
	f := big.NewRat(int64(r.f128), 128)
	half := product(f, big.NewRat(1, 2))
	mean := product(big.NewRat(1, 2), sum(r.p.rat(), r.q.rat()))
	one, zero := sum(product(f, mean), product(not(f), r.q.rat())), sum(product(f, mean), product(not(f), r.p.rat()))
	l := Loss{Report: math.Inf(1), Lifetime: math.Inf(1)}
	times := func(n int, up, below *big.Rat) float64 {
		return float64(n) * logUp(new(big.Rat).Quo(up, below)) * (1 + 0x1p-50)
	}
	if below := product(zero, not(one)); below.Sign() > 0 {
		l.Report = times(r.H, product(one, not(zero)), below)
	}
	if f.Sign() > 0 {
		l.Lifetime = times(2*r.H, not(half), half)
	}
	l.Report = min(l.Report, l.Lifetime)
	l.Record = l.Report
	return l
}

// NominalLoss is Loss by the formulas in floating point for the parameters as given, as
// papers print it: f may lie between multiples of 1/128. It bounds nothing.
func (p Params) NominalLoss() Loss { return rapporLoss(p.H, p.F, p.P, p.Q) }

func rapporLoss(h int, f, p, q float64) Loss {
	one, zero := rapporBits(f, p, q)
	hashes := float64(h)
	l := Loss{Report: hashes * math.Log(one*(1-zero)/(zero*(1-one))), Lifetime: 2 * hashes * math.Log((1-f/2)/(f/2))}
	if zero == 0 || one == 1 {
		l.Report = math.Inf(1)
	}
	if f == 0 {
		l.Lifetime = math.Inf(1)
	}
	l.Report = min(l.Report, l.Lifetime)
	l.Record = l.Report
	return l
}

// Basic returns the parameters of Basic RAPPOR on k labels.
func Basic(k int, f, p, q float64) Params { return Params{K: k, H: 1, M: 1, P: p, Q: q, F: f} }

// OneTime returns the parameters of Basic One-time RAPPOR on k labels.
func OneTime(k int, f float64) Params { return Basic(k, f, 0, 1) }

// OneTimeF is the f for which Basic One-time RAPPOR costs epsilon:
// 2/(e^(epsilon/2)+1), from 2 ln((1-f/2)/(f/2)) = epsilon.
func OneTimeF(epsilon float64) float64 { return 2 / (math.Exp(epsilon/2) + 1) }

// RapporReport is what a RAPPOR device sends.
type RapporReport struct {
	Cohort uint32
	Bits   uint32
}

// RapporDevice is one client of RAPPOR: secret and cohort are its own, for one question
// with one set of parameters, and must stay the same for ever. It is not safe for
// concurrent use.
type RapporDevice struct {
	r      *Rappor
	cohort uint32
	mac    hash.Hash
	buf    []byte
	sum    [sha256.Size]byte
}

// Device returns the client of this secret, of 16 random bytes or more, in a cohort, 0 to
// M-1, which must be drawn at random once. Secret and cohort are for one question, one
// domain and one set of parameters: [Rappor.MetricSecret] and [Rappor.MetricCohort], or
// [Rappor.CppCohort], derive them.
func (r *Rappor) Device(secret []byte, cohort uint32) (*RapporDevice, error) {
	if err := checkSecret(secret); err != nil {
		return nil, err
	}
	return r.device(secret, cohort)
}

// device is Device for any secret: the vectors of the reference have shorter ones.
func (r *Rappor) device(secret []byte, cohort uint32) (*RapporDevice, error) {
	if int64(cohort) >= r.M {
		return nil, &noren.Error{Kind: noren.Usage, Where: "cohort", What: "must lie between 0 and m-1", Err: errCohort}
	}
	return &RapporDevice{r: r, cohort: cohort, mac: hmac.New(sha256.New, secret)}, nil
}

// DeviceOf returns the client of a device's secret for a question: the one of
// [Rappor.MetricSecret] in the cohort of [Rappor.MetricCohort].
func (r *Rappor) DeviceOf(secret []byte, question string, domain ...string) (*RapporDevice, error) {
	own, err := r.MetricSecret(secret, question, domain...)
	if err != nil {
		return nil, err
	}
	cohort, err := r.MetricCohort(secret, question, domain...)
	if err != nil {
		return nil, err
	}
	return r.Device(own, cohort)
}

// CppCohort is the cohort that the C++ client takes from its secret, of 16 bytes or more:
// the first four bytes, little end first, of HMAC-SHA256 over nothing, below M.
func (r *Rappor) CppCohort(secret []byte) (uint32, error) {
	if err := checkSecret(secret); err != nil {
		return 0, err
	}
	return r.cppCohort(secret), nil
}

func (r *Rappor) cppCohort(secret []byte) uint32 {
	mac := hmac.New(sha256.New, secret)
	return binary.LittleEndian.Uint32(mac.Sum(nil)) & uint32(r.M-1)
}

// Bloom returns the Bloom filter of a word in a cohort: bit D[i] mod k for each of
// the first h bytes of D = MD5(cohort, big end first, || word). Words are bytes;
// text is UTF-8, not normalised and not trimmed.
func (r *Rappor) Bloom(word []byte, cohort uint32) uint32 {
	var bits [16]uint32
	var out uint32
	for _, b := range r.hashBits(&bits, nil, word, cohort) {
		out |= 1 << b
	}
	return out
}

// hashBits are the h bits of a word, in order, repeats included. buf is scratch.
func (r *Rappor) hashBits(bits *[16]uint32, buf, word []byte, cohort uint32) []uint32 {
	buf = binary.BigEndian.AppendUint32(buf[:0], cohort)
	buf = append(buf, word...)
	sum := md5.Sum(buf)
	for i := range r.H {
		bits[i] = uint32(sum[i]) % uint32(r.K)
	}
	return bits[:r.H]
}

// Permanent returns the permanent randomised response of Bloom bits. Byte i of
// HMAC-SHA256(secret, bits, big end first) drives bit i: it is replaced if the
// upper seven bits are below 128 f, and then by the lowest bit. The C++ rule puts
// a byte 1 and the encoder's name before the bits.
func (d *RapporDevice) Permanent(bloom uint32) uint32 {
	d.mac.Reset()
	d.buf = d.buf[:0]
	if d.r.rule == Cpp {
		d.buf = append(append(d.buf, 1), d.r.encode...)
	}
	d.buf = binary.BigEndian.AppendUint32(d.buf, bloom)
	d.mac.Write(d.buf)
	d.mac.Sum(d.sum[:0])
	var uniform, mask uint32
	for i := range d.r.K {
		b := d.sum[i]
		uniform |= uint32(b&1) << i
		if b>>1 < d.r.f128 {
			mask |= 1 << i
		}
	}
	return bloom&^mask | uniform&mask
}

// Instantaneous combines a permanent response with the two masks of a report:
// pMask has each bit 1 with probability p, qMask with probability q.
func Instantaneous(permanent, pMask, qMask uint32) uint32 {
	return pMask&^permanent | qMask&permanent
}

// Encode makes a report of a word.
func (d *RapporDevice) Encode(src *noise.Source, word []byte) (RapporReport, error) {
	var bits [16]uint32
	var bloom uint32
	for _, b := range d.r.hashBits(&bits, d.buf, word, d.cohort) {
		bloom |= 1 << b
	}
	return d.report(src, bloom)
}

// EncodeLabel makes a report of a label below K without a Bloom filter, for Basic
// RAPPOR (H and M are 1).
func (d *RapporDevice) EncodeLabel(src *noise.Source, label int) (RapporReport, error) {
	if err := d.r.checkBasic(); err != nil {
		return RapporReport{}, err
	}
	if err := checkLabel(label, d.r.K); err != nil {
		return RapporReport{}, err
	}
	return d.report(src, 1<<label)
}

func (r *Rappor) checkBasic() error {
	if r.H != 1 || r.M != 1 {
		return &noren.Error{
			Kind: noren.Usage, Where: noren.Phrase("RAPPOR parameters"),
			What: "labels are for Basic RAPPOR, of one hash function and one cohort",
		}
	}
	return nil
}

// report randomises Bloom bits: both masks at once, p's in the lower half.
func (d *RapporDevice) report(src *noise.Source, bloom uint32) (RapporReport, error) {
	masks, err := lanes(src, d.r.p, d.r.q, math.MaxUint32<<32)
	if err != nil {
		return RapporReport{}, err
	}
	all := uint32(1<<d.r.K - 1)
	return RapporReport{
		Cohort: d.cohort,
		Bits:   Instantaneous(d.Permanent(bloom), uint32(masks), uint32(masks>>32)) & all,
	}, nil
}

// Oracle returns Basic RAPPOR as a mechanism for the frequencies of K labels, each
// report made by a device of its own: bits are set with q* for the label and p*
// for the others. It is for simulation, and for estimating: the reports of
// [RapporDevice.EncodeLabel] are its reports.
func (r *Rappor) Oracle() (*Unary, error) {
	if err := r.checkBasic(); err != nil {
		return nil, err
	}
	if err := checkDomain(r.K); err != nil {
		return nil, err
	}
	one, zero := r.bitProbabilities()
	return &Unary{k: r.K, true: down(one), other: up(zero), loss: r.Loss(), name: "basic-rappor"}, nil
}
