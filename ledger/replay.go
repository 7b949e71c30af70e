package ledger

import (
	"encoding/hex"

	"github.com/noren-privacy/noren"
)

// replay is what the chain says all tables hold.
type replay struct {
	*books
	charges map[string]*replayed
	notes   map[int64]grantNote // of the grants, by entry
	granted map[int64][]Version // of the data sets, by account: number, entry, hash, print
	hashes  [][]byte            // of entry i + 1
}

type replayed struct {
	body      chargeBody
	lines     []lineAfter
	seq       int64 // of its charge
	end       int64 // of the entry that ended it; 0 while reserved
	state     string
	reason    string
	recovered bool
	release   releaseBody
}

// lostAnswer is the reason of charges that were rolled forward: their cost was
// in the head file, their answer was not.
const lostAnswer noren.Term = "its answer was lost with the database"

// The reasons of recovered charges: see [recoveredBy], [recoveredRow] and [recoveredAmount].
const (
	fromCertificate noren.Term = "recovered from its certificate"
	fromRow         noren.Term = "an account's row said that more was spent than the chain"
	fromAmount      noren.Term = "the anchor or the server's store knew that more was spent"
)

// recoveredReason is the reason of the recovered charge b.
func (b *chargeBody) recoveredReason() noren.Term {
	switch noren.Term(b.Principal) {
	case recoveredRow:
		return fromRow
	case recoveredAmount:
		return fromAmount
	}
	return fromCertificate
}

func newReplay() *replay {
	return &replay{books: newBooks(), charges: map[string]*replayed{}, notes: map[int64]grantNote{}, granted: map[int64][]Version{}}
}

// apply takes the next entry: see [books.apply].
func (p *replay) apply(k *link) error {
	body, err := p.books.apply(k)
	if err != nil {
		return err
	}
	p.hashes = append(p.hashes, k.Hash)
	if err := p.record(k, body); err != nil {
		return noren.Reasonf("entry %d (%s): %s", k.Seq, k.Kind, err)
	}
	return nil
}

// record keeps what the entry k, whose body the books have taken, says of charges and
// versions.
func (p *replay) record(k *link, body any) (err error) {
	switch b := body.(type) {
	case *grantBody:
		p.notes[k.Seq] = *p.note
		if b.Version != 0 {
			v := Version{Number: int(b.Version), Link: k.Seq, Print: b.Fingerprint}
			hash, _ := hex.DecodeString(b.DefinitionHash) // the books have read it
			copy(v.DefinitionHash[:], hash)
			p.granted[b.Account] = append(p.granted[b.Account], v)
		}
	case *chargeBody:
		err = p.charge(b, k)
	case *releaseBody:
		var c *replayed
		if c, err = p.ending(b.Charge, k.Seq); err == nil {
			c.state, c.release = "released", *b
		}
	case *forfeitBody:
		var c *replayed
		if c, err = p.ending(b.Charge, k.Seq); err == nil {
			c.state, c.reason = "forfeited", b.Reason
		}
	case *reconcileBody:
		p.reconcile(b, k.Seq)
	}
	return err
}

// ending finds a reserved charge, to be ended by entry seq.
func (p *replay) ending(id string, seq int64) (*replayed, error) {
	c := p.charges[id]
	if c == nil || c.state != "reserved" {
		return nil, noren.Reasonf("ends charge %s, which is not reserved", id)
	}
	c.end = seq
	return c, nil
}

func (p *replay) charge(b *chargeBody, k *link) error {
	if p.charges[b.Charge] != nil {
		return noren.Reasonf("repeats charge %s", b.Charge)
	}
	c := &replayed{body: *b, lines: p.lines, seq: k.Seq, state: "reserved"}
	if k.Kind == kindRecover {
		c.recovered, c.state, c.reason, c.end = true, "forfeited", string(b.recoveredReason()), k.Seq
	}
	p.charges[b.Charge] = c
	return nil
}

// reconcile forfeits what was rolled forward. Recovered charges were forfeited
// from the start.
func (p *replay) reconcile(b *reconcileBody, seq int64) {
	for _, c := range p.charges {
		if c.recovered {
			continue
		}
		if rolled(b, c.seq) || rolled(b, c.end) {
			c.state, c.reason, c.end = "forfeited", string(lostAnswer), seq
		}
	}
}

func rolled(b *reconcileBody, seq int64) bool { return b.From > 0 && b.From <= seq && seq <= b.To }
