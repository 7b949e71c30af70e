package ledger

import (
	"fmt"
)

// replay is what the chain says the tables hold.
type replay struct {
	seq      int64
	hash     []byte
	ledger   string
	accounts map[int64]*account
	charges  map[string]*replayed
	hashes   [][]byte // of link i + 1
}

type replayed struct {
	body    chargeBody
	seq     int64 // of its charge
	end     int64 // of the link that ended it; 0 while reserved
	state   string
	reason  string
	release releaseBody
}

// lostAnswer is the reason of charges that were rolled forward: their cost was
// in the head file, their answer was not.
const lostAnswer = "its answer was lost with the database"

// fromCertificate is the reason of charges that only a certificate knew.
const fromCertificate = "recovered from its certificate"

func newReplay() *replay {
	return &replay{hash: make([]byte, 32), accounts: map[int64]*account{}, charges: map[string]*replayed{}}
}

// apply takes the next link. A link that does not follow, or says what the
// protocol cannot have said, is an error, after which the replay is of no use.
func (p *replay) apply(k *link) error {
	if !k.follows(p.seq, p.hash) {
		return fmt.Errorf("link %d does not follow link %d", k.Seq, p.seq)
	}
	p.seq, p.hash = k.Seq, k.Hash
	p.hashes = append(p.hashes, k.Hash)
	if err := p.take(k); err != nil {
		return fmt.Errorf("link %d (%s): %w", k.Seq, k.Kind, err)
	}
	return nil
}

func (p *replay) take(k *link) error {
	if (k.Kind == kindCreate) != (k.Seq == 1) {
		return fmt.Errorf("stands in the wrong place")
	}
	switch k.Kind {
	case kindCreate:
		var b createBody
		err := decodeBody(k.Body, &b)
		p.ledger = b.Ledger
		return err
	case kindGrant:
		var b grantBody
		if err := decodeBody(k.Body, &b); err != nil {
			return err
		}
		return p.grant(&b)
	case kindCharge, kindRecover:
		var b chargeBody
		if err := decodeBody(k.Body, &b); err != nil {
			return err
		}
		return p.charge(&b, k)
	case kindRelease:
		var b releaseBody
		if err := decodeBody(k.Body, &b); err != nil {
			return err
		}
		c, err := p.ending(b.Charge, k.Seq)
		if err != nil {
			return err
		}
		c.state, c.release = "released", b
	case kindForfeit:
		var b forfeitBody
		if err := decodeBody(k.Body, &b); err != nil {
			return err
		}
		c, err := p.ending(b.Charge, k.Seq)
		if err != nil {
			return err
		}
		c.state, c.reason = "forfeited", b.Reason
	case kindReconcile:
		var b reconcileBody
		if err := decodeBody(k.Body, &b); err != nil {
			return err
		}
		p.reconcile(&b, k.Seq)
	default:
		return fmt.Errorf("is of no known kind")
	}
	return nil
}

// ending finds a reserved charge, to be ended by link seq.
func (p *replay) ending(id string, seq int64) (*replayed, error) {
	c := p.charges[id]
	if c == nil || c.state != "reserved" {
		return nil, fmt.Errorf("ends charge %s, which is not reserved", id)
	}
	c.end = seq
	return c, nil
}

func (p *replay) grant(b *grantBody) error {
	a := p.accounts[b.Account]
	if a == nil {
		a = &account{id: b.Account, parent: b.Parent, kind: b.Kind, name: b.Name, unit: b.Unit, neighbours: b.Neighbours}
		p.accounts[b.Account] = a
	}
	if a.parent != b.Parent || a.kind != b.Kind || a.name != b.Name || a.unit != b.Unit || a.neighbours != b.Neighbours {
		return fmt.Errorf("changes what is fixed of account %d", b.Account)
	}
	a.fingerprint, a.path, a.capEps, a.capDelta = b.Fingerprint, b.Path, b.CapEps, b.CapDelta
	return a.within()
}

func (p *replay) charge(b *chargeBody, k *link) error {
	if p.charges[b.Charge] != nil {
		return fmt.Errorf("repeats charge %s", b.Charge)
	}
	c := &replayed{body: *b, seq: k.Seq, state: "reserved"}
	if k.Kind == kindRecover {
		c.state, c.reason, c.end = "forfeited", fromCertificate, k.Seq
	}
	p.charges[b.Charge] = c
	for _, n := range b.Lines {
		a := p.accounts[n.Account]
		if a == nil || n.Eps < 0 || n.Delta < 0 {
			return fmt.Errorf("charges account %d, which is not there, or less than nothing", n.Account)
		}
		a.spentEps += n.Eps
		a.spentDelta += n.Delta
		if k.Kind == kindRecover {
			a.capEps, a.capDelta = max(a.capEps, a.spentEps), max(a.capDelta, a.spentDelta)
		}
		if err := a.within(); err != nil {
			return err
		}
	}
	return nil
}

// reconcile forfeits what was rolled forward. Charges that a certificate
// brought back were forfeited from the start.
func (p *replay) reconcile(b *reconcileBody, seq int64) {
	for _, c := range p.charges {
		if c.body.Principal == recoveredBy {
			continue
		}
		if rolled(b, c.seq) || rolled(b, c.end) {
			c.state, c.reason, c.end = "forfeited", lostAnswer, seq
		}
	}
}

func rolled(b *reconcileBody, seq int64) bool { return b.From > 0 && b.From <= seq && seq <= b.To }

func (a *account) within() error {
	if a.spentEps < 0 || a.spentDelta < 0 || a.spentEps > a.capEps || a.spentDelta > a.capDelta {
		return fmt.Errorf("account %d is spent beyond its cap", a.id)
	}
	return nil
}
