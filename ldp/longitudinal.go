package ldp

import (
	"encoding/binary"
	"math"
	"math/big"
	"slices"

	"github.com/noren-privacy/noren"
	"github.com/noren-privacy/noren/noise"
)

// Longitudinal is a mechanism for a question that is asked repeatedly. Each
// label gets a permanent answer, made once, at a loss of Lifetime;
// every report randomises the permanent answer again, so that one report tells
// less, and reports of one device cannot be linked by being equal (Erlingsson et
// al. 2014; Arcolezi et al. 2022, L-GRR and L-OSUE).
//
// The permanent answer is a function of the device's secret, the label, and all that fixes
// its distribution (question, domain, number of labels and the probabilities of the first
// stage): nothing has to be remembered but the secret, of 16 random bytes or more. That
// the answers of a secret look random rests on HMAC-SHA256 being a pseudo-random
// function, and that no two surveys share them on SHA-256 having no collisions.
//
// The Oracle inside is for one report, as the collector needs it.
type Longitudinal struct {
	Oracle
	loss       Loss
	bits       bool
	on1, off1  prob // of the permanent answer: GRR's truth, or the bits'
	on2, off2  prob // of the report, given the permanent answer
	permanents string
}

// NewLongitudinalGRR returns two-stage generalised randomised response on k
// labels: the permanent answer costs lifetime, one report no more than report,
// which must be below.
//
// A GRR keeps the label with weight w = (e^eps-1)/(e^eps+k-1) and else answers
// any label, all alike; two in a row keep it with the product of their weights,
// and so are a GRR again. Its weight for report is given; dividing by the first
// stage's gives the second's.
func NewLongitudinalGRR(k int, lifetime, report float64) (*Longitudinal, error) {
	if err := checkStages(lifetime, report); err != nil {
		return nil, err
	}
	chain, err := NewGRR(k, report)
	if err != nil {
		return nil, err
	}
	first := grrTruth(k, lifetime)
	weight := func(p float64) float64 { return (p*float64(k) - 1) / float64(k-1) }
	w2 := weight(chain.truth.float()) / weight(first.float())
	second := down(w2 + (1-w2)/float64(k))
	// Exactly: p = p1 p2 + (1-p1)(1-p2)/(k-1), and the loss is ln(p (k-1)/(1-p)).
	p1, p2, others := first.rat(), second.rat(), big.NewRat(int64(k-1), 1)
	p := sum(product(p1, p2), product(not(p1), not(p2), new(big.Rat).Inv(others)))
	e := logUp(new(big.Rat).Quo(product(p, others), not(p)))
	return &Longitudinal{
		Oracle: chain, on1: first, on2: second, permanents: "grr",
		loss: Loss{Report: max(report, e), Record: max(report, e), Lifetime: lifetime},
	}, nil
}

// NewLongitudinalOUE returns two-stage optimised unary encoding on k labels: the
// permanent bits are OUE's at lifetime, each report turns every bit with one
// probability so that the whole is OUE at report, which must be below.
//
// With q1, q the probabilities of a wrong 1 in the first stage and in the whole,
// and s the second stage's probability of keeping a bit, q = q1 s + (1-q1)(1-s),
// so s = (1-q1-q)/(1-2 q1); the true bit is a fair coin before and after.
func NewLongitudinalOUE(k int, lifetime, report float64) (*Longitudinal, error) {
	if err := checkStages(lifetime, report); err != nil {
		return nil, err
	}
	if err := checkUnary(k, lifetime); err != nil {
		return nil, err
	}
	chain, err := NewOUE(k, report)
	if err != nil {
		return nil, err
	}
	first, err := NewOUE(k, lifetime)
	if err != nil {
		return nil, err
	}
	q1, q := first.other.float(), chain.other.float()
	keep := down((1 - q1 - q) / (1 - 2*q1))
	q1r, s := first.other.rat(), keep.rat()
	whole := sum(product(q1r, s), product(not(q1r), not(s)))
	e := logUp(new(big.Rat).Quo(not(whole), whole))
	return &Longitudinal{
		Oracle: chain, bits: true, on1: first.true, off1: first.other, on2: keep, off2: keep.not(), permanents: "oue",
		loss: Loss{Report: max(report, e), Record: max(report, e), Lifetime: lifetime},
	}, nil
}

func checkStages(lifetime, report float64) error {
	if err := checkEpsilon(lifetime); err != nil {
		return err
	}
	if err := checkEpsilon(report); err != nil {
		return err
	}
	if report > 0.99*lifetime {
		return &noren.Error{
			Kind: noren.Usage, Where: "epsilon", What: "one report must cost clearly less than all reports of a lifetime (at most 0.99 of it)",
			Hint: "where people answer once only, take the mechanism without memory",
		}
	}
	return nil
}

// Name is the mechanism's.
func (m *Longitudinal) Name() string { return "longitudinal-" + m.permanents }

// Loss is what one report costs, and all reports of a label that does not change.
func (m *Longitudinal) Loss() Loss { return m.loss }

// Device is one person's side of a longitudinal mechanism. It holds the secret,
// and must be made from the same secret, question, domain and mechanism every time: another
// permanent answer to the same label costs a lifetime's loss again. It is not
// safe for concurrent use.
type Device struct {
	m       *Longitudinal
	secret  []byte
	message [][]byte // of the stream of the permanent answers; the label follows
}

// Device returns the device with this secret of 16 random bytes or more, for the question
// of this name. domain holds the names of the labels in their order, where they have names.
// Other questions, domains, mechanisms, numbers of labels and losses of a lifetime have
// independent permanent answers: their losses add up, and no more than that.
func (m *Longitudinal) Device(secret []byte, question string, domain ...string) (*Device, error) {
	if err := checkSecret(secret); err != nil {
		return nil, err
	}
	if err := checkQuestion(question); err != nil {
		return nil, err
	}
	id := m.identity(question, domain)
	return m.device(secret, []byte(permanentStream), id[:]), nil
}

func (m *Longitudinal) device(secret []byte, message ...[]byte) *Device {
	return &Device{m: m, secret: append([]byte(nil), secret...), message: message}
}

// Report makes the next report of a label.
func (d *Device) Report(src *noise.Source, label int) (Report, error) {
	m := d.m
	k := m.Domain()
	permanent, err := d.permanent(label)
	if err != nil {
		return Report{}, err
	}
	if m.bits {
		return permanent, randomiseBits(src, permanent.Bits, k, m.on2, m.off2)
	}
	v, err := respond(src, m.on2, k, int(permanent.Value))
	return Report{Value: uint32(v)}, err
}

// permanent is the permanent answer to a label.
func (d *Device) permanent(label int) (Report, error) {
	m := d.m
	k := m.Domain()
	if err := checkLabel(label, k); err != nil {
		return Report{}, err
	}
	p := newPRF(d.secret, append(slices.Clone(d.message), whole(uint32(label)))...)
	if m.bits {
		b := make([]uint64, (k+63)/64)
		b[label/64] = 1 << (label % 64)
		return Report{Bits: b}, randomiseBits(p, b, k, m.on1, m.off1)
	}
	v, err := respond(p, m.on1, k, label)
	return Report{Value: uint32(v)}, err
}

// Randomise makes a report of a device that is used once: with a secret of its
// own that is thrown away.
func (m *Longitudinal) Randomise(src *noise.Source, label int) (Report, error) {
	secret := make([]byte, 0, 32)
	for range 4 {
		w, err := src.Uint64()
		if err != nil {
			return Report{}, err
		}
		secret = binary.LittleEndian.AppendUint64(secret, w)
	}
	id := m.identity("", nil)
	return m.device(secret, []byte(permanentStream), id[:]).Report(src, label)
}

// rat is p, exactly.
func (p prob) rat() *big.Rat {
	if p.one {
		return big.NewRat(1, 1)
	}
	return new(big.Rat).SetFrac(new(big.Int).SetUint64(p.t), new(big.Int).Lsh(big.NewInt(1), 64))
}

func not(p *big.Rat) *big.Rat { return new(big.Rat).Sub(big.NewRat(1, 1), p) }

func sum(a, b *big.Rat) *big.Rat { return new(big.Rat).Add(a, b) }

func product(factors ...*big.Rat) *big.Rat {
	p := big.NewRat(1, 1)
	for _, f := range factors {
		p.Mul(p, f)
	}
	return p
}

// logUp is ln r for r >= 1, rounded up: one rounding of r, one of the logarithm,
// each of a part in 2^53 or less of 1 + ln r; 0 for r = 1.
func logUp(r *big.Rat) float64 {
	if r.Num().Cmp(r.Denom()) == 0 {
		return 0
	}
	f, _ := r.Float64()
	l := math.Log(f)
	return l + (1+l)*0x1p-51
}
